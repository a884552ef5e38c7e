//! A stack and many hand-made peers: segments go in by port, parsed segments come out.

use crate::config::{Config, GuardConfig};
use crate::cx::StackCx;
use crate::pattern::Payload;
use crate::stack::{Conn, ListenOn, Stack, StackConfig, StackEvent};
use crate::testing::{PEER, US, plain_device, valid};
use crate::turn::{Budget, ChecksumState, RxFrame, Sent, TxFrame, turn};
use base::{Duration, Instant, Rng, SeqNum};
use core::net::IpAddr;
use trace::Off;
use wire::{Ecn, Flags, IpRepr, MAX_HEADER, Options, TcpRepr};

/// Our port, which the peers connect to.
pub(super) const PORT: u16 = 80;
/// Every peer's initial sequence number.
pub(super) const IRS: SeqNum = SeqNum(5_000);

pub(super) struct Bench {
    pub stack: Stack,
    pub now: Instant,
    pub sent: Vec<TcpRepr>,
    pub events: Vec<StackEvent>,
    /// Source address of the peers' segments.
    pub peer: IpAddr,
    /// Destination address of the peers' segments.
    pub us: IpAddr,
    /// Whether the device accepts frames.
    pub device: Sent,
}

impl Bench {
    pub fn new() -> Self {
        Self::guarded(GuardConfig::default())
    }

    /// A bench whose stack has these bounds.
    pub fn guarded(guards: GuardConfig) -> Self {
        let cfg = StackConfig { addresses: vec![US], device: plain_device(), isn_secret: [1, 2], guards };
        let (stack, now) = (Stack::new(cfg, Rng::new(1)), Instant::from_nanos(1_000_000_000));
        Self { stack, now, sent: Vec::new(), events: Vec::new(), peer: PEER, us: US, device: Sent::Accepted }
    }

    /// A bench with a listener on [`PORT`].
    pub fn listening(backlog: u32, cfg: Config) -> Self {
        Self::new().with_listener(backlog, cfg)
    }

    /// The same with a listener on [`PORT`].
    pub fn with_listener(self, backlog: u32, cfg: Config) -> Self {
        let mut bench = self;
        bench.stack.listen(PORT, backlog, &valid(cfg)).expect("listens");
        bench
    }

    pub fn cx<T>(&mut self, call: impl FnOnce(&mut Stack, &mut StackCx<'_, Off>) -> T) -> T {
        let result = call(&mut self.stack, &mut StackCx::new(self.now, &mut Off));
        self.run(None);
        result
    }

    /// A SYN of the peer at `port`.
    pub fn syn(port: u16) -> TcpRepr {
        let options = Options { mss: Some(1460), ..Options::default() };
        TcpRepr { options, ..Self::segment(port, Flags::SYN, IRS, None) }
    }

    pub fn segment(port: u16, flags: Flags, seq: SeqNum, ack: Option<SeqNum>) -> TcpRepr {
        let options = Options::default();
        TcpRepr { src_port: port, dst_port: PORT, seq, ack, flags, window: 60_000, urgent: 0, options }
    }

    /// Delivers a segment with `len` bytes; returns what left in response.
    pub fn deliver(&mut self, repr: TcpRepr, len: u32) -> Vec<TcpRepr> {
        let first = if repr.flags.contains(Flags::SYN) { repr.seq + 1 } else { repr.seq };
        let offset = u64::from(first.distance_from(IRS + 1));
        self.run(Some((repr, Payload::Pattern { offset, len })));
        core::mem::take(&mut self.sent)
    }

    /// Delivers a segment with these bytes; returns what left in response.
    pub fn deliver_bytes(&mut self, repr: TcpRepr, bytes: &[u8]) -> Vec<TcpRepr> {
        self.run(Some((repr, Payload::Bytes(bytes))));
        core::mem::take(&mut self.sent)
    }

    /// Sends a SYN from `port`; returns the answer, if any.
    pub fn syn_ack_for(&mut self, port: u16) -> Option<TcpRepr> {
        self.deliver(Self::syn(port), 0).first().copied()
    }

    /// Acknowledges our SYN-ACK as the peer at `port`.
    pub fn finish(&mut self, syn_ack: &TcpRepr) -> Vec<TcpRepr> {
        self.deliver(Self::segment(syn_ack.dst_port, Flags::NONE, IRS + 1, Some(syn_ack.seq + 1)), 0)
    }

    /// Runs a whole handshake; returns the connection, if one was reported.
    pub fn open(&mut self, port: u16) -> Option<Conn> {
        let syn_ack = self.syn_ack_for(port)?;
        self.events.clear();
        self.finish(&syn_ack);
        self.accepted()
    }

    /// Returns the connection that was reported last.
    pub fn accepted(&self) -> Option<Conn> {
        self.events.iter().rev().find_map(|event| match event {
            StackEvent::Accepted { conn, .. } => Some(*conn),
            StackEvent::Conn { .. } => None,
        })
    }

    pub fn waiting(&self) -> u32 {
        self.stack.waiting(ListenOn::from(PORT))
    }

    pub fn state(&self, conn: Conn) -> &'static str {
        self.stack.endpoint(conn).map_or("gone", |endpoint| endpoint.state().name())
    }

    /// Lets time pass; every deadline on the way gets its own turn.
    pub fn pass(&mut self, span: Duration) -> Vec<TcpRepr> {
        let end = self.now + span;
        while let Some(at) = self.stack.next_deadline().filter(|at| *at <= end) {
            self.now = at.max(self.now);
            self.run(None);
        }
        self.now = end;
        core::mem::take(&mut self.sent)
    }

    fn run(&mut self, segment: Option<(TcpRepr, Payload<'_>)>) {
        let mut header = [0; MAX_HEADER];
        let frame = segment.map(|(repr, payload)| {
            let ip = IpRepr {
                src: self.peer,
                dst: self.us,
                ttl: 64,
                dscp: 0,
                ecn: Ecn::NotEct,
                fragmentation: wire::Fragmentation::Forbidden,
            };
            let len = wire::emit(&ip, &repr, payload.len(), &mut header);
            let checksum = ChecksumState::Unneeded;
            RxFrame { at: self.now, header: wire::Header::read(&header[..len]), payload, gso_size: None, checksum }
        });
        let mut tx = |frame: TxFrame<'_>| {
            let (_, repr) = wire::parse(frame.header, frame.payload.len()).expect("what leaves can be parsed");
            if self.device == Sent::Accepted {
                self.sent.push(repr);
            }
            self.device
        };
        turn(&mut self.stack, &mut StackCx::new(self.now, &mut Off), frame, &mut tx, Budget::UNLIMITED);
        self.events.extend(core::iter::from_fn(|| self.stack.poll_event()));
    }
}
