//! A scripted peer for tests: one stack, hand-made segments in, parsed segments out, manual time.

use crate::config::{Config, GuardConfig, ValidConfig};
use crate::cx::StackCx;
use crate::endpoint::{Boundary, Source};
use crate::event::ConnEvent;
use crate::pattern::Payload;
use crate::stack::{Conn, DeviceCaps, Segmentation, Stack, StackConfig, StackEvent, TxChecksum};
use crate::turn::{Budget, ChecksumState, RxFrame, Sent, turn};
use base::{Duration, Instant, Rng, SeqNum, SeqRange};
use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use trace::{ConnId, Event, Off};
use wire::{Ecn, Flags, Fragmentation, IcmpKind, IpRepr, MAX_HEADER, Options, SackBlocks, TcpRepr};

pub(crate) const US: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
pub(crate) const PEER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));
/// The peer's initial sequence number, close to the wrap on purpose.
pub(crate) const PEER_ISS: SeqNum = SeqNum(u32::MAX - 2000);
pub(crate) const PEER_PORT: u16 = 7;
pub(crate) const MSS: u32 = 1460;
const FROM_PEER: IpRepr =
    IpRepr { src: PEER, dst: US, ttl: 64, dscp: 0, ecn: Ecn::NotEct, fragmentation: Fragmentation::Forbidden };

/// A segment that left, with relative numbers: our first byte and the peer's first byte have number 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Out {
    pub ip: IpRepr,
    pub seq: u32,
    pub len: u32,
    pub ack: Option<u32>,
    pub flags: Flags,
    pub window: u16,
    pub options: Options,
    /// The urgent pointer's field.
    pub urgent: u16,
    /// The ECN codepoint of the packet.
    pub ecn: Ecn,
}

impl Out {
    /// `(seq, len)` of a data segment.
    pub fn data(&self) -> (u32, u32) {
        (self.seq, self.len)
    }
}

pub(crate) struct Script {
    pub stack: Stack,
    pub now: Instant,
    pub conn: Conn,
    pub iss: SeqNum,
    pub local_port: u16,
    pub events: Vec<StackEvent>,
    pub out: Vec<Out>,
    /// The window in each of the peer's segments.
    pub peer_window: u16,
    /// The ECN codepoint of every packet from the peer.
    pub peer_ecn: Ecn,
    audit: bool,
    /// The peer's next sequence number.
    pub peer_seq: u32,
    /// The events so far, while somebody watches.
    trace: Option<Vec<(Instant, ConnId, Event)>>,
}

pub(crate) fn valid(cfg: Config) -> ValidConfig {
    cfg.validate().expect("a test's configuration is valid")
}

pub(crate) fn stack(device: DeviceCaps) -> Stack {
    Stack::new(
        StackConfig { addresses: vec![US], device, isn_secret: [1, 2], guards: GuardConfig::default() },
        Rng::new(1),
    )
}

pub(crate) fn plain_device() -> DeviceCaps {
    DeviceCaps { mtu: 1500, checksum: TxChecksum::Unneeded, segmentation: Segmentation::Off }
}

/// A device that segments frames of up to 64 KiB.
pub(crate) fn tso_device() -> DeviceCaps {
    DeviceCaps { segmentation: Segmentation::Tso { max_bytes: 65_535 }, ..plain_device() }
}

impl Script {
    /// An active open whose SYN has left.
    pub fn connecting(cfg: Config) -> Self {
        Self::connecting_on(cfg, plain_device())
    }

    pub fn connecting_on(cfg: Config, device: DeviceCaps) -> Self {
        let mut stack = stack(device);
        let now = Instant::from_nanos(1_000_000_000);
        let remote = SocketAddr::new(PEER, PEER_PORT);
        let conn = stack.connect(&mut StackCx::new(now, &mut Off), &valid(cfg), remote).expect("connects");
        let tuple = stack.endpoint(conn).expect("exists").tuple();
        let mut script = Self {
            stack,
            now,
            conn,
            iss: SeqNum(0),
            local_port: tuple.local_port,
            events: Vec::new(),
            out: Vec::new(),
            peer_window: 65_535,
            peer_ecn: Ecn::NotEct,
            audit: true,
            peer_seq: 1,
            trace: None,
        };
        script.run(None);
        script
    }

    /// An active open that the peer has answered with these options.
    pub fn established_with(cfg: Config, options: Options) -> Self {
        let mut script = Self::connecting(cfg);
        script.finish_handshake(options);
        script
    }

    pub fn finish_handshake(&mut self, options: Options) {
        self.out.clear();
        let mut syn_ack = self.segment(Flags::SYN, 0, Some(1));
        syn_ack.options = options;
        self.deliver(syn_ack, 0);
        self.out.clear();
    }

    /// The usual peer: MSS 1460, SACK, no timestamps, no scaling.
    pub fn established(cfg: Config) -> Self {
        Self::established_with(cfg, peer_options())
    }

    /// A passive open that has completed.
    pub fn accepted(cfg: Config) -> Self {
        let mut script = Self::accepted_after(cfg, 1);
        script.out.clear();
        script
    }

    /// A listener to which the peer has not sent anything yet.
    pub fn listening(cfg: Config) -> Self {
        let mut stack = stack(plain_device());
        stack.listen(PEER_PORT, 8, &valid(cfg)).expect("listens");
        let now = Instant::from_nanos(1_000_000_000);
        Self {
            stack,
            now,
            conn: Conn::for_tests(0),
            iss: SeqNum(0),
            local_port: PEER_PORT,
            events: Vec::new(),
            out: Vec::new(),
            peer_window: 65_535,
            peer_ecn: Ecn::NotEct,
            audit: true,
            peer_seq: 1,
            trace: None,
        }
    }

    /// A passive open that completes after the peer has sent its SYN `syns` times.
    pub fn accepted_after(cfg: Config, syns: u32) -> Self {
        let mut script = Self::listening(cfg);
        let mut syn = script.segment(Flags::SYN, 0, None);
        syn.options = peer_options();
        for _ in 0..syns {
            script.deliver(syn, 0);
        }
        let ack = script.segment(Flags::NONE, 1, Some(1));
        script.deliver(ack, 0);
        script
    }

    /// A segment from the peer, relative numbers.
    pub fn segment(&self, flags: Flags, seq: u32, ack: Option<u32>) -> TcpRepr {
        TcpRepr {
            src_port: if self.local_port == PEER_PORT { 40_000 } else { PEER_PORT },
            dst_port: self.local_port,
            seq: PEER_ISS + seq,
            ack: ack.map(|ack| self.iss + ack),
            flags,
            window: self.peer_window,
            urgent: 0,
            options: Options::default(),
        }
    }

    /// Delivers a segment that carries `len` bytes of the pattern and runs one turn.
    pub fn deliver(&mut self, repr: TcpRepr, len: u32) {
        let first = repr.seq + u32::from(repr.flags.contains(Flags::SYN));
        let offset = u64::from(first.distance_from(PEER_ISS + 1));
        self.run(Some((repr, Payload::Pattern { offset, len })));
    }

    /// A bare ACK.
    pub fn ack(&mut self, ack: u32) {
        let repr = self.segment(Flags::NONE, self.peer_seq, Some(ack));
        self.deliver(repr, 0);
    }

    /// Like [`Self::sack`], for flights so large that an audit after each ACK would take minutes.
    pub fn sack_unaudited(&mut self, ack: u32, blocks: &[(u32, u32)]) {
        self.audit = false;
        self.sack(ack, blocks);
        self.audit = true;
    }

    /// Delivers an ACK with SACK blocks.
    pub fn sack(&mut self, ack: u32, blocks: &[(u32, u32)]) {
        let mut repr = self.segment(Flags::NONE, self.peer_seq, Some(ack));
        for &(start, end) in blocks {
            repr.options.sack.push(SeqRange::new(self.iss + start, self.iss + end));
        }
        self.deliver(repr, 0);
    }

    /// Lets time pass; every deadline on the way gets its own turn.
    pub fn pass(&mut self, span: Duration) {
        let end = self.now + span;
        while let Some(at) = self.stack.next_deadline().filter(|at| *at <= end) {
            self.now = at.max(self.now);
            self.run(None);
        }
        self.now = end;
        self.run(None);
    }

    pub fn write(&mut self, len: u64) {
        self.stack.write_pattern(&mut StackCx::new(self.now, &mut Off), self.conn, len).expect("may write");
        self.run(None);
    }

    pub fn read(&mut self, max: u64) -> Result<crate::Read, crate::ReadError> {
        let result = self.stack.read_pattern(&mut StackCx::new(self.now, &mut Off), self.conn, max);
        self.run(None);
        result
    }

    pub fn write_with(&mut self, len: u64, boundary: Boundary) -> u64 {
        let taken = self
            .stack
            .write_with(&mut StackCx::new(self.now, &mut Off), self.conn, Source::Pattern(len), boundary)
            .expect("may write");
        self.run(None);
        taken
    }

    /// The events of what happens meanwhile.
    pub fn watch(&mut self, happens: impl FnOnce(&mut Self)) -> Vec<Event> {
        self.trace = Some(Vec::new());
        happens(self);
        self.trace.take().unwrap_or_default().into_iter().map(|(_, _, event)| event).collect()
    }

    // variant: chunks {
    /// Returns what left since the last call as `start:end`, each data frame preceded by its flags.
    pub fn frames(&mut self) -> Vec<String> {
        let frames = self.sent().into_iter().filter(|out| out.len > 0);
        let letters = |out: &Out| match (out.flags.contains(Flags::FIN), out.flags.contains(Flags::PSH)) {
            (true, true) => "FP. ",
            (true, false) => "F. ",
            (false, true) => "P. ",
            (false, false) => ". ",
        };
        frames.map(|out| format!("{}{}:{}", letters(&out), out.seq, out.seq + out.len)).collect()
    }
    // variant: chunks }

    pub fn reconfigure(&mut self, cfg: Config) {
        self.stack.reconfigure(&mut StackCx::new(self.now, &mut Off), self.conn, &valid(cfg));
        self.run(None);
    }

    pub fn shutdown(&mut self) {
        self.stack.shutdown(&mut StackCx::new(self.now, &mut Off), self.conn);
        self.run(None);
    }

    pub fn release(&mut self) {
        self.stack.release(&mut StackCx::new(self.now, &mut Off), self.conn);
        self.run(None);
    }

    pub fn abort(&mut self) {
        self.stack.abort(&mut StackCx::new(self.now, &mut Off), self.conn);
        self.run(None);
    }

    /// Returns what left since the last call.
    pub fn sent(&mut self) -> Vec<Out> {
        core::mem::take(&mut self.out)
    }

    /// `(seq, len)` of the data segments that left since the last call.
    pub fn data(&mut self) -> Vec<(u32, u32)> {
        self.sent().iter().filter(|out| out.len > 0).map(Out::data).collect()
    }

    pub fn state(&self) -> &'static str {
        self.stack.endpoint(self.conn).map_or("gone", |endpoint| endpoint.state().name())
    }

    pub fn info(&self) -> crate::TcpInfo {
        self.stack.info(self.conn).expect("the connection exists")
    }

    pub fn saw(&self, event: ConnEvent) -> bool {
        self.events.iter().any(|seen| matches!(seen, StackEvent::Conn { event: e, .. } if *e == event))
    }

    /// Delivers a report from the network about our segment that begins at `seq`.
    pub fn icmp(&mut self, kind: IcmpKind, seq: u32) {
        let mut quoted = self.segment(Flags::NONE, 0, None);
        (quoted.src_port, quoted.dst_port) = (quoted.dst_port, quoted.src_port);
        quoted.seq = self.iss + seq;
        let mut header = [0; MAX_HEADER];
        let len = wire::emit(&IpRepr { src: US, dst: PEER, ..FROM_PEER }, &quoted, MSS, &mut header);
        let mut message = Vec::new();
        wire::icmp::emit(kind, PEER, &header[..len], &mut message);
        self.run_frame(Some((&message, Payload::Bytes(&[]))));
    }

    fn run(&mut self, segment: Option<(TcpRepr, Payload<'_>)>) {
        let mut header = [0; MAX_HEADER];
        let ip = IpRepr { ecn: self.peer_ecn, ..FROM_PEER };
        let frame = segment.map(|(repr, payload)| (wire::emit(&ip, &repr, payload.len(), &mut header), payload));
        self.run_frame(frame.map(|(len, payload)| (&header[..len], payload)));
    }

    fn run_frame(&mut self, frame: Option<(&[u8], Payload<'_>)>) {
        let frame = frame.map(|(header, payload)| RxFrame {
            at: self.now,
            header: wire::Header::read(header),
            payload,
            gso_size: None,
            checksum: ChecksumState::Unneeded,
        });
        let (mut out, mut iss) = (Vec::new(), self.iss);
        let mut tx = |frame: crate::turn::TxFrame<'_>| {
            let (ip, repr) = wire::parse(frame.header, frame.payload.len()).expect("what leaves can be parsed");
            if repr.flags.contains(Flags::SYN) {
                iss = repr.seq;
            }
            out.push((ip, repr, frame.payload.len()));
            Sent::Accepted
        };
        match &mut self.trace {
            Some(trace) => turn(&mut self.stack, &mut StackCx::new(self.now, trace), frame, &mut tx, Budget::UNLIMITED),
            None => turn(&mut self.stack, &mut StackCx::new(self.now, &mut Off), frame, &mut tx, Budget::UNLIMITED),
        };
        self.iss = iss;
        for (ip, repr, len) in out {
            self.out.push(Out {
                ip,
                seq: repr.seq.distance_from(iss),
                len,
                ack: repr.ack.map(|ack| ack.distance_from(PEER_ISS)),
                flags: repr.flags,
                window: repr.window,
                options: repr.options,
                urgent: repr.urgent,
                ecn: ip.ecn,
            });
        }
        while let Some(event) = self.stack.poll_event() {
            if let StackEvent::Accepted { conn, .. } = event {
                self.conn = conn;
                self.stack.accept(conn);
            }
            self.events.push(event);
        }
        if let Some(endpoint) = self.stack.endpoint(self.conn).filter(|_| self.audit) {
            endpoint.audit().expect("the books balance");
        }
    }
}

pub(crate) fn peer_options() -> Options {
    Options { mss: Some(MSS as u16), sack_permitted: true, sack: SackBlocks::NONE, ..Options::default() }
}

/// A configuration without delayed ACKs, Nagle or window scaling, so that each script shows one mechanism.
pub(crate) fn quick() -> Config {
    let mut cfg = Config::default();
    cfg.send.nagle = crate::config::NagleConfig::Off;
    cfg.options.window_scale = crate::config::WindowScaleConfig::Off;
    cfg
}
