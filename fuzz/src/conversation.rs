//! Any sequence of segments, application calls and waits against an endpoint, opened from either side: no panic, books that
//! balance after every step, a bounded number of answers, and a received stream that matches its positions.

use base::{Duration, Instant, Rng, SeqNum, SeqRange};
use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use recovery::{DetectorConfig, ReductionConfig};
use tcp::config::{GuardConfig, NagleConfig, ReceiveWindowConfig, TimestampConfig};
use tcp::{
    Budget, ChecksumState, Config, Conn, DeviceCaps, Payload, RxFrame, Segmentation, Sent, Stack, StackConfig, StackCx,
    StackEvent, TxChecksum, TxFrame, turn,
};
use trace::Off;
use wire::{Ecn, Flags, IpRepr, MAX_HEADER, Options, TcpRepr, Timestamps};

const US: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const PEER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));
const PORT: u16 = 80;
/// The peer's initial sequence number, close to the wrap.
const PEER_ISS: SeqNum = SeqNum(u32::MAX - 3000);

/// Bytes of one step: the action, and seven bytes of parameters.
const STEP: usize = 8;

/// Plays the input: one byte selects the configuration, each following group of eight is a step.
pub fn conversation(bytes: &[u8]) {
    let Some((&choice, steps)) = bytes.split_first() else { return };
    let mut game = Game::new(choice);
    for step in steps.as_chunks::<STEP>().0.iter().take(500) {
        game.step(step);
    }
    // Whatever came before, the passage of time alone must neither hang nor break the endpoint.
    for _ in 0..200 {
        game.wait(Duration::from_secs(120));
    }
}

struct Game {
    stack: Stack,
    conn: Option<Conn>,
    now: Instant,
    iss: SeqNum,
    local_port: u16,
    timestamps: bool,
}

fn config(choice: u8) -> Config {
    let mut cfg = Config::default();
    cfg.recovery.detector = match choice >> 1 & 3 {
        0 => DetectorConfig::DupThresh(Default::default()),
        1 => DetectorConfig::RackRing(Default::default()), // variant: rack_ring
        _ => DetectorConfig::Rack(Default::default()),
    };
    if choice & 64 != 0 {
        cfg.recovery.reduction = ReductionConfig::Prr(Default::default());
    }
    if choice & 8 != 0 {
        cfg.options.timestamps = TimestampConfig::Offer;
    }
    cfg.send.nagle = if choice & 16 != 0 { NagleConfig::Off } else { NagleConfig::Rfc896 };
    if choice & 32 != 0 {
        cfg.receive.window = ReceiveWindowConfig::Fixed { bytes: 2000 };
        cfg.send.buffer = 5000;
    }
    cfg
}

impl Game {
    fn new(choice: u8) -> Self {
        let device = DeviceCaps { mtu: 1500, checksum: TxChecksum::Unneeded, segmentation: Segmentation::Off };
        let stack_cfg = StackConfig { addresses: vec![US], device, isn_secret: [3, 4], guards: GuardConfig::default() };
        let cfg = config(choice).validate().expect("within bounds");
        let mut stack = Stack::new(stack_cfg, Rng::new(u64::from(choice)));
        let now = Instant::from_nanos(1_000_000_000);
        let (mut conn, mut local_port) = (None, PORT);
        if choice & 1 == 0 {
            let mut off = Off;
            let remote = SocketAddr::new(PEER, 7);
            let opened = stack.connect(&mut StackCx::new(now, &mut off), &cfg, remote).expect("a free port");
            local_port = stack.endpoint(opened).expect("just opened").tuple().local_port;
            conn = Some(opened);
        } else {
            stack.listen(PORT, 8, &cfg).expect("a free port");
        }
        let mut game = Self { stack, conn, now, iss: SeqNum(0), local_port, timestamps: choice & 8 != 0 };
        game.turn(None);
        game
    }

    fn step(&mut self, step: &[u8; STEP]) {
        let [what, a, b, c, d, e, f, g] = *step;
        let (x, y) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
        let mut off = Off;
        let mut cx = StackCx::new(self.now, &mut off);
        match (what & 15, self.conn) {
            (0..=7, _) => return self.segment(what, x, y, [e, f, g]),
            (8, _) => return self.wait(Duration::from_micros(u64::from(x) * u64::from(y))),
            (9, _) => return self.open_handshake(what),
            (10 | 11, Some(conn)) => drop(self.stack.write_pattern(&mut cx, conn, u64::from(x) * 8)),
            (12 | 13, Some(conn)) => drop(self.stack.read_pattern(&mut cx, conn, u64::from(x))),
            (14, Some(conn)) => self.stack.shutdown(&mut cx, conn),
            (15, Some(conn)) if e > 200 => self.stack.abort(&mut cx, conn),
            _ => {}
        }
        self.turn(None);
    }

    /// The segment with which a well-behaved peer would open.
    fn open_handshake(&mut self, what: u8) {
        let mut repr = self.repr(Flags::SYN, PEER_ISS);
        repr.ack = (self.local_port != PORT).then_some(self.iss + 1);
        repr.options = Options {
            mss: Some(1460),
            sack_permitted: what & 16 != 0,
            window_scale: (what & 32 != 0).then_some(3),
            timestamps: self.timestamps.then_some(Timestamps { tsval: 0, tsecr: 0 }),
            ..Options::default()
        };
        self.turn(Some((repr, 0)));
        if self.local_port == PORT {
            let mut repr = self.repr(Flags::NONE, PEER_ISS + 1);
            repr.ack = Some(self.iss + 1);
            repr.options.timestamps = self.timestamps.then_some(Timestamps { tsval: 0, tsecr: 0 });
            self.turn(Some((repr, 0)));
        }
    }

    /// Numbers are offsets from both sides' first bytes, so that most of them are relevant.
    fn segment(&mut self, what: u8, x: u16, y: u16, [e, f, g]: [u8; 3]) {
        let flags = match what >> 4 {
            0 => Flags::from_bits(e),
            1 => Flags::FIN,
            _ => Flags::NONE,
        };
        let seq = PEER_ISS + 1 + u32::from(x) - 64;
        let mut repr = self.repr(flags, seq);
        repr.ack = (what & 7 != 7).then_some(self.iss + 1 + u32::from(y) * 4 - 64);
        repr.window = u16::from_le_bytes([f, f & 0x7f]);
        if what & 4 != 0 {
            let start = self.iss + 1 + u32::from(y) * 4 + u32::from(e) * 64;
            repr.options.sack.push(SeqRange::new(start, start + u32::from(g) * 32));
            repr.options.sack.push(SeqRange::new(start - u32::from(f) * 8, start + u32::from(e) * 128));
        }
        if self.timestamps {
            repr.options.timestamps = Some(Timestamps { tsval: u32::from(f & 3), tsecr: u32::from(e) });
        }
        // The pattern has no bytes before its first.
        let len = if seq.before(PEER_ISS + 1) || flags.contains(Flags::SYN) { 0 } else { u32::from(g) * 6 };
        self.turn(Some((repr, len)));
    }

    fn repr(&self, flags: Flags, seq: SeqNum) -> TcpRepr {
        TcpRepr {
            src_port: 7,
            dst_port: self.local_port,
            seq,
            ack: None,
            flags,
            window: 60_000,
            urgent: 0,
            options: Options::default(),
        }
    }

    fn wait(&mut self, span: Duration) {
        let end = self.now + span;
        let mut turns = 0;
        while let Some(at) = self.stack.next_deadline().filter(|at| *at <= end) {
            self.now = at.max(self.now);
            self.turn(None);
            turns += 1;
            assert!(turns < 100_000, "timers fire without end");
        }
        self.now = end;
        self.turn(None);
    }

    fn turn(&mut self, segment: Option<(TcpRepr, u32)>) {
        let mut header = [0; MAX_HEADER];
        let frame = segment.map(|(repr, len)| {
            let ip = IpRepr {
                src: PEER,
                dst: US,
                ttl: 64,
                dscp: 0,
                ecn: Ecn::NotEct,
                fragmentation: wire::Fragmentation::Forbidden,
            };
            let offset = u64::from(repr.seq.distance_from(PEER_ISS + 1));
            (wire::emit(&ip, &repr, len, &mut header), Payload::Pattern { offset, len })
        });
        let at = self.now;
        let checksum = ChecksumState::Unneeded;
        let frame = frame.map(|(len, payload)| RxFrame {
            at,
            header: wire::Header::read(&header[..len]),
            payload,
            gso_size: None,
            checksum,
        });
        let (mut sent, mut iss) = (0, self.iss);
        let mut tx = |frame: TxFrame<'_>| {
            let (_, repr) = wire::parse(frame.header, frame.payload.len()).expect("what leaves is well-formed");
            if repr.flags.contains(Flags::SYN) {
                iss = repr.seq;
            }
            sent += 1;
            assert!(sent < 100_000, "answers without end");
            Sent::Accepted
        };
        let mut off = Off;
        turn(&mut self.stack, &mut StackCx::new(self.now, &mut off), frame, &mut tx, Budget::UNLIMITED);
        self.iss = iss;
        while let Some(event) = self.stack.poll_event() {
            if let StackEvent::Accepted { conn, .. } = event {
                self.stack.accept(conn);
                self.conn = Some(conn);
            }
        }
        if let Some(endpoint) = self.conn.and_then(|conn| self.stack.endpoint(conn)) {
            endpoint.audit().unwrap_or_else(|problem| panic!("{problem}"));
            assert_eq!(endpoint.info().mismatches, 0, "a byte at the wrong place");
        }
    }
}
