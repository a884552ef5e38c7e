//! Measures what packets from strangers cost a stack with its default guards, and how honest peers fare meanwhile. `cargo xtask
//! attacks` runs it and writes `docs/SECURITY.md`.
//!
//! Without an argument it lists the attacks. `attacks packets NAME` delivers the packets of one of them, each by a call of
//! [`attack_packet`], for which callgrind counts instructions, and prints what the stack held at most. `attacks beside` plays
//! handshakes and a transfer in virtual time, with and without a flood.

use base::{Duration, Instant, Rng, SeqNum};
use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use longhaul_tcp::config::{GuardConfig, ReceiveWindowConfig, SynCookies, TimestampConfig};
use longhaul_tcp::{
    Budget, ChecksumState, Config, Conn, DeviceCaps, Payload, RxFrame, Segmentation, Sent, Stack, StackConfig, StackCx,
    StackEvent, TxChecksum, TxFrame, ValidConfig, turn,
};
use std::collections::VecDeque;
use std::process::ExitCode;
use trace::Off;
use wire::{Ecn, Flags, Fragmentation, IpRepr, MAX_HEADER, Options, TcpRepr, Timestamps};

const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const PEER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));
const PORT: u16 = 80;
const BACKLOG: u32 = 128;
/// The peers' initial sequence number.
const IRS: SeqNum = SeqNum(5_000);
/// Attack packets per second, in the attacks and beside honest peers.
const RATE: u64 = 100_000;

/// One attack: its name, and how many packets to count after the ones that prepare the state.
struct Attack {
    name: &'static str,
    run: fn(&mut World),
}

const ATTACKS: [Attack; 9] = [
    Attack { name: "syn", run: |world| world.syn_flood(None) },
    Attack { name: "syn-timestamps", run: |world| world.syn_flood(Some(Timestamps { tsval: 77, tsecr: 0 })) },
    Attack { name: "ack", run: World::ack_flood },
    Attack { name: "closed-port", run: World::closed_port },
    Attack { name: "one-byte-holes", run: World::one_byte_holes },
    Attack { name: "joining-holes", run: World::joining_holes },
    Attack { name: "far-bytes", run: World::far_bytes },
    Attack { name: "time-wait", run: World::time_wait },
    Attack { name: "orphans", run: World::orphans },
];

/// A stack and the peak memory it was seen to hold.
struct World {
    stack: Stack,
    now: Instant,
    header: [u8; MAX_HEADER],
    answer: Answer,
    conn: Option<Conn>,
    memory_max: u64,
}

fn device() -> DeviceCaps {
    DeviceCaps { mtu: 1500, checksum: TxChecksum::Unneeded, segmentation: Segmentation::Off }
}

fn stack(address: IpAddr, seed: u64) -> Stack {
    let guards = GuardConfig::default();
    Stack::new(
        StackConfig { addresses: vec![address], device: device(), isn_secret: [seed, 2], guards },
        Rng::new(seed),
    )
}

fn valid(cfg: Config) -> ValidConfig {
    cfg.validate().expect("the configuration is valid")
}

/// Returns the `n`th of many source addresses.
fn source(n: u32) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from_bits(0x0b00_0000 + n))
}

/// The header of the last frame that left.
struct Answer {
    header: [u8; MAX_HEADER],
    len: usize,
}

impl Default for Answer {
    fn default() -> Self {
        Self { header: [0; MAX_HEADER], len: 0 }
    }
}

impl Answer {
    /// Returns the sequence number that follows the answer.
    fn next_seq(&self) -> SeqNum {
        wire::parse(&self.header[..self.len], 0).map(|(_, repr)| repr.seq + 1).expect("it was answered")
    }
}

/// Processes one packet.
#[inline(always)]
fn one_turn(stack: &mut Stack, now: Instant, header: &[u8], payload: Payload<'_>, answer: &mut Answer) {
    let frame = RxFrame {
        at: now,
        header: wire::Header::read(header),
        payload,
        gso_size: None,
        checksum: ChecksumState::Unneeded,
    };
    let mut tx = |frame: TxFrame<'_>| {
        answer.len = frame.header.len();
        answer.header[..answer.len].copy_from_slice(frame.header);
        Sent::Accepted
    };
    turn(stack, &mut StackCx::new(now, &mut Off), [frame], &mut tx, Budget::UNLIMITED);
}

/// The turn of an attack packet: what is counted. The name goes through a black box, or the compiler would make one function of this
/// and the next.
#[inline(never)]
fn attack_packet(stack: &mut Stack, now: Instant, header: &[u8], payload: Payload<'_>, answer: &mut Answer) {
    std::hint::black_box("attack");
    one_turn(stack, now, header, payload, answer);
}

/// Processes a packet that only prepares the state.
#[inline(never)]
fn prepare_packet(stack: &mut Stack, now: Instant, header: &[u8], payload: Payload<'_>, answer: &mut Answer) {
    one_turn(stack, now, header, payload, answer);
}

fn segment(port: u16, flags: Flags, seq: SeqNum, ack: Option<SeqNum>) -> TcpRepr {
    TcpRepr { src_port: port, dst_port: PORT, seq, ack, flags, window: 60_000, urgent: 0, options: Options::default() }
}

fn syn(port: u16, timestamps: Option<Timestamps>) -> TcpRepr {
    let mut repr = segment(port, Flags::SYN, IRS, None);
    repr.options =
        Options { mss: Some(1460), sack_permitted: true, window_scale: Some(7), timestamps, ..Options::default() };
    repr
}

impl World {
    fn new() -> Self {
        let (stack, now) = (stack(SERVER, 1), Instant::from_nanos(1_000_000_000));
        Self { stack, now, header: [0; MAX_HEADER], answer: Answer::default(), conn: None, memory_max: 0 }
    }

    fn listen(&mut self, cfg: Config) {
        self.stack.listen(PORT, BACKLOG, &valid(cfg)).expect("listens");
    }

    /// Delivers a segment from `src`; `answer` holds the reply.
    fn deliver(&mut self, src: IpAddr, repr: &TcpRepr, bytes: &[u8], counted: bool) {
        let fragmentation = Fragmentation::Forbidden;
        let ip = IpRepr { src, dst: SERVER, ttl: 64, dscp: 0, ecn: Ecn::NotEct, fragmentation };
        let len = wire::emit(&ip, repr, bytes.len() as u32, &mut self.header);
        self.now += Duration::from_nanos(1_000_000_000 / RATE);
        self.answer.len = 0;
        let (header, payload) = (&self.header[..len], Payload::Bytes(bytes));
        let call = if counted { attack_packet } else { prepare_packet };
        call(&mut self.stack, self.now, header, payload, &mut self.answer);
        self.memory_max = self.memory_max.max(self.stack.guarded_usage().memory);
        while let Some(event) = self.stack.poll_event() {
            if let StackEvent::Accepted { conn, .. } = event {
                self.stack.accept(conn);
                self.conn = Some(conn);
            }
        }
    }

    /// SYNs from new sources, starting with the first one, which finds the queue empty.
    fn syn_flood(&mut self, timestamps: Option<Timestamps>) {
        self.listen(Config::default());
        for n in 0..600 {
            self.deliver(source(n), &syn(999, timestamps), &[], true);
        }
    }

    /// ACKs that could acknowledge a cookie, while the stack accepts cookies.
    fn ack_flood(&mut self) {
        self.listen(Config::default());
        for n in 0..200 {
            self.deliver(source(n), &syn(999, None), &[], false);
        }
        for n in 0..600 {
            let guess = SeqNum(n * 0x0101_0101);
            self.deliver(source(1_000 + n), &segment(999, Flags::NONE, IRS + 1, Some(guess)), &[], true);
        }
    }

    fn closed_port(&mut self) {
        for n in 0..1_500 {
            self.deliver(source(n), &syn(999, None), &[], n >= 900);
        }
    }

    /// Opens a connection with a window of 16 MiB; returns the sequence number of our first byte.
    fn established(&mut self, port: u16) -> (Conn, SeqNum) {
        self.conn = None;
        self.deliver(PEER, &syn(port, None), &[], false);
        let ack = self.answer.next_seq();
        self.deliver(PEER, &segment(port, Flags::NONE, IRS + 1, Some(ack)), &[], false);
        self.deliver(PEER, &segment(port, Flags::NONE, IRS + 1, Some(ack)), b"0", false);
        self.deliver(PEER, &segment(port, Flags::NONE, IRS + 2, Some(ack)), b"1", false);
        (self.conn.expect("accepted"), ack)
    }

    fn wide() -> Config {
        let mut cfg = Config::default();
        cfg.receive.window = ReceiveWindowConfig::Fixed { bytes: 16 << 20 };
        cfg.receive.reassembly_max = None;
        cfg
    }

    /// Sends single bytes with gaps between them, up to the guard's limit of blocks and beyond.
    fn one_byte_holes(&mut self) {
        self.listen(Self::wide());
        let (_, ack) = self.established(1001);
        for n in 0..33_000u32 {
            let at = IRS + 4 + n * 2;
            self.deliver(PEER, &segment(1001, Flags::NONE, at, Some(ack)), b"x", n >= 32_400);
        }
    }

    /// Fills the limit of blocks, then sends segments that each join two blocks far from each other.
    fn joining_holes(&mut self) {
        self.listen(Self::wide());
        let (_, ack) = self.established(1001);
        for n in 0..33_000u32 {
            self.deliver(PEER, &segment(1001, Flags::NONE, IRS + 4 + n * 2, Some(ack)), b"x", false);
        }
        for n in 0..600u32 {
            let at = IRS + 5 + (n * 20_011 % 32_000) * 2;
            self.deliver(PEER, &segment(1001, Flags::NONE, at, Some(ack)), b"x", true);
        }
    }

    /// Sends bytes that each occupy a page, on many connections, until they exhaust the budget and beyond.
    fn far_bytes(&mut self) {
        self.listen(Self::wide());
        let peers: Vec<_> = (0..24u16).map(|n| (1_001 + n, self.established(1_001 + n).1)).collect();
        for n in 0..5_310u32 {
            for (port, ack) in &peers {
                // The last byte of a page, which is cleared up to there; the 5,295th byte of each connection exhausts the budget.
                let at = IRS + 1 + 4_095 + n * 2_048;
                self.deliver(PEER, &segment(*port, Flags::NONE, at, Some(*ack)), b"x", n >= 5_285);
            }
        }
    }

    /// Opens connections, closes them from our side and leaves them in TIME-WAIT, up to the cap and beyond.
    fn time_wait(&mut self) {
        self.listen(Config::default());
        for n in 0..16_500u32 {
            let counted = n >= 16_350;
            let src = source(n);
            self.conn = None;
            self.deliver(src, &syn(999, None), &[], counted);
            let ack = self.answer.next_seq();
            self.deliver(src, &segment(999, Flags::NONE, IRS + 1, Some(ack)), &[], counted);
            let conn = self.conn.expect("accepted");
            let mut off = Off;
            let cx = &mut StackCx::new(self.now, &mut off);
            self.stack.release(cx, conn);
            self.deliver(src, &segment(999, Flags::FIN, IRS + 1, Some(ack)), &[], counted);
            self.deliver(src, &segment(999, Flags::NONE, IRS + 2, Some(ack + 1)), &[], counted);
        }
    }

    /// Connections that close their window before data that a departed application has written, up to the cap and beyond.
    fn orphans(&mut self) {
        self.listen(Config::default());
        for n in 0..4_300u32 {
            let counted = n >= 4_000;
            let src = source(n);
            self.conn = None;
            self.deliver(src, &syn(999, None), &[], counted);
            let ack = self.answer.next_seq();
            let closed = TcpRepr { window: 0, ..segment(999, Flags::NONE, IRS + 1, Some(ack)) };
            self.deliver(src, &closed, &[], counted);
            let conn = self.conn.expect("accepted");
            let mut off = Off;
            let cx = &mut StackCx::new(self.now, &mut off);
            self.stack.write(cx, conn, &[0; 20_000]).expect("may write");
            self.stack.release(cx, conn);
            self.deliver(src, &closed, &[], counted);
        }
    }
}

/// A frame in flight and its arrival time, in ticks of one millisecond.
struct UnderWay {
    at: u64,
    header: Vec<u8>,
    payload: (u64, u32),
}

/// A server, a client 25 ms away over 100 Mbit/s, and optionally a SYN flood.
struct Beside {
    stacks: [Stack; 2],
    lines: [VecDeque<UnderWay>; 2],
    tick: u64,
    flood: bool,
    spoofed: u32,
}

/// Full segments per millisecond.
const LINE_RATE: usize = 8;
const ONE_WAY_MS: u64 = 25;

impl Beside {
    fn new(flood: bool, server: Config) -> Self {
        let mut stacks = [stack(SERVER, 1), stack(PEER, 2)];
        stacks[0].listen(PORT, BACKLOG, &valid(server)).expect("listens");
        Self { stacks, lines: [VecDeque::new(), VecDeque::new()], tick: 1_000, flood, spoofed: 0 }
    }

    fn now(&self) -> Instant {
        Instant::from_nanos(self.tick * 1_000_000)
    }

    /// Advances one millisecond: the flood, then arrivals at each end, then departures.
    fn step(&mut self) {
        self.tick += 1;
        let now = self.now();
        if self.flood {
            for _ in 0..RATE / 1_000 {
                let mut header = [0; MAX_HEADER];
                let (src, fragmentation) = (source(self.spoofed), Fragmentation::Forbidden);
                let ip = IpRepr { src, dst: SERVER, ttl: 64, dscp: 0, ecn: Ecn::NotEct, fragmentation };
                let len = wire::emit(&ip, &syn(999, None), 0, &mut header);
                prepare_packet(&mut self.stacks[0], now, &header[..len], Payload::Bytes(&[]), &mut Answer::default());
                self.spoofed += 1;
            }
        }
        for who in [0, 1] {
            let mut arrived = Vec::new();
            while arrived.len() < LINE_RATE && self.lines[who].front().is_some_and(|frame| frame.at <= self.tick) {
                arrived.extend(self.lines[who].pop_front());
            }
            let frames = arrived.iter().map(|frame| RxFrame {
                at: now,
                header: wire::Header::read(&frame.header),
                payload: Payload::Pattern { offset: frame.payload.0, len: frame.payload.1 },
                gso_size: None,
                checksum: ChecksumState::Unneeded,
            });
            let (to, at) = (&mut self.lines[1 - who], self.tick + ONE_WAY_MS);
            let mut tx = |frame: TxFrame<'_>| {
                let payload = match frame.payload {
                    Payload::Pattern { offset, len } => (offset, len),
                    Payload::Bytes(bytes) => (0, bytes.len() as u32),
                };
                to.push_back(UnderWay { at, header: frame.header.to_vec(), payload });
                Sent::Accepted
            };
            turn(&mut self.stacks[who], &mut StackCx::new(now, &mut Off), frames, &mut tx, Budget::UNLIMITED);
            self.drain_strangers();
        }
    }

    /// Discards answers to spoofed sources.
    fn drain_strangers(&mut self) {
        let peer = PEER;
        self.lines[1].retain(|frame| wire::parse(&frame.header, frame.payload.1).is_ok_and(|(ip, _)| ip.dst == peer));
    }

    /// Counts how many of `wanted` handshakes, one every two milliseconds, complete at both ends within three seconds.
    fn handshakes(&mut self, wanted: usize, client: &ValidConfig) -> usize {
        let (mut opened, mut ended, mut accepted) = (0, 0, 0);
        while opened < wanted || self.tick < 1_000 + 2 * wanted as u64 + 3_000 {
            if opened < wanted && self.tick.is_multiple_of(2) {
                let now = self.now();
                let to = SocketAddr::new(SERVER, PORT);
                let mut off = Off;
                let cx = &mut StackCx::new(now, &mut off);
                self.stacks[1].connect(cx, client, to).expect("connects");
                opened += 1;
            }
            self.step();
            while let Some(event) = self.stacks[0].poll_event() {
                if let StackEvent::Accepted { conn, .. } = event {
                    self.stacks[0].accept(conn);
                    accepted += 1;
                }
            }
            while let Some(event) = self.stacks[1].poll_event() {
                let connected = matches!(event, StackEvent::Conn { event: longhaul_tcp::ConnEvent::Connected, .. });
                ended += usize::from(connected);
            }
        }
        ended.min(accepted)
    }

    /// Returns the milliseconds until the server has read `len` bytes from a client.
    fn transfer(&mut self, len: u64, client: &ValidConfig) -> u64 {
        let to = SocketAddr::new(SERVER, PORT);
        let mut off = Off;
        let cx = &mut StackCx::new(self.now(), &mut off);
        let conn = self.stacks[1].connect(cx, client, to).expect("connects");
        let (mut written, mut read, mut server, began) = (0, 0, None, self.tick);
        while read < len {
            self.step();
            let now = self.now();
            while let Some(event) = self.stacks[0].poll_event() {
                if let StackEvent::Accepted { conn, .. } = event {
                    self.stacks[0].accept(conn);
                    server = Some(conn);
                }
            }
            while self.stacks[1].poll_event().is_some() {}
            if let Some(server) = server {
                let mut off = Off;
                let cx = &mut StackCx::new(now, &mut off);
                if let Ok(longhaul_tcp::Read::Data(n)) = self.stacks[0].read_pattern(cx, server, u64::MAX) {
                    read += n;
                }
                let mut off = Off;
                let cx = &mut StackCx::new(now, &mut off);
                written += self.stacks[1].write_pattern(cx, conn, len - written).unwrap_or(0);
            }
        }
        self.tick - began
    }
}

fn client(timestamps: TimestampConfig) -> ValidConfig {
    let mut cfg = Config::default();
    cfg.options.timestamps = timestamps;
    valid(cfg)
}

/// Measures handshakes and goodput with the flood, without it, and without cookies.
fn beside() {
    const HANDSHAKES: usize = 1_000;
    const BYTES: u64 = 20_000_000;
    for (name, timestamps) in [("without", TimestampConfig::Answer), ("with", TimestampConfig::Offer)] {
        let made = Beside::new(true, Config::default()).handshakes(HANDSHAKES, &client(timestamps));
        println!("handshakes {name} timestamps: {made} of {HANDSHAKES}");
    }
    let mut without = Config::default();
    without.handshake.cookies = Some(SynCookies::Off);
    let made = Beside::new(true, without).handshakes(HANDSHAKES, &client(TimestampConfig::Answer));
    println!("handshakes without cookies: {made} of {HANDSHAKES}");
    let [quiet, flooded] = [false, true].map(|flood| {
        // After a head start of one second the flood has filled the queue.
        let mut world = Beside::new(flood, Config::default());
        (0..1_000).for_each(|_| world.step());
        world.transfer(BYTES, &client(TimestampConfig::Offer))
    });
    println!("goodput: {flooded} ms beside the flood, {quiet} ms without, {} percent", 100 * quiet / flooded);
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => ATTACKS.iter().for_each(|attack| println!("{}", attack.name)),
        ["beside"] => beside(),
        ["packets", name] => {
            let Some(attack) = ATTACKS.iter().find(|attack| attack.name == name) else { return ExitCode::from(2) };
            let mut world = World::new();
            (attack.run)(&mut world);
            println!("memory {}", world.memory_max);
        }
        _ => return ExitCode::from(2),
    }
    ExitCode::SUCCESS
}
