//! Counts the instructions of packets of two active connections beside idle ones: beside 10, and beside 100,000.
//!
//! `cargo xtask bench` runs it and fails when the crowd costs twice as much. The connections take turns, so that the lookup never
//! finds the connection of the packet before.
#![expect(missing_docs, reason = "the macros make public items")]

use base::{Duration, Instant, Rng, SeqNum};
use core::net::{IpAddr, Ipv4Addr};
use gungraun::{Callgrind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main};
use longhaul_tcp::config::GuardConfig;
use longhaul_tcp::{
    Budget, ChecksumState, Config, Conn, DeviceCaps, Payload, Read, RxFrame, Segmentation, Sent, Stack, StackConfig,
    StackCx, StackEvent, TxChecksum, TxFrame, turn,
};
use trace::Off;
use wire::{Ecn, Flags, Fragmentation, IpRepr, MAX_HEADER, Options, TcpRepr};

const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const PORT: u16 = 80;
/// The peers' initial sequence number.
const IRS: SeqNum = SeqNum(5_000);
const SEGMENT: [u8; 1_000] = [7; 1_000];
/// Rounds of each benchmark: in each, a segment comes in, one leaves, and its ACK comes in.
const ROUNDS: u32 = 500;

/// One of the peers, and what it has sent and received.
struct Peer {
    address: IpAddr,
    conn: Conn,
    sent: u32,
    /// What it acknowledges.
    next: SeqNum,
}

struct World {
    stack: Stack,
    now: Instant,
    header: [u8; MAX_HEADER],
    /// The first number behind what has left last.
    answered: SeqNum,
    active: Vec<Peer>,
}

impl World {
    /// A stack with so many idle connections, opened between two that are not.
    fn with_idle(count: u32) -> Self {
        let device = DeviceCaps { mtu: 1500, checksum: TxChecksum::Unneeded, segmentation: Segmentation::Off };
        let guards = GuardConfig { memory_max: 1 << 30, ..GuardConfig::default() };
        let cfg = StackConfig { addresses: vec![SERVER], device, isn_secret: [1, 2], guards };
        let mut stack = Stack::new(cfg, Rng::new(1));
        let config = Config::default().validate().expect("the default is valid");
        stack.listen(PORT, 128, &config).expect("listens");
        let now = Instant::from_nanos(1_000_000_000);
        let mut world = Self { stack, now, header: [0; MAX_HEADER], answered: SeqNum(0), active: Vec::new() };
        let first = world.open(0);
        for number in 1..=count {
            world.open(number);
        }
        let last = world.open(count + 1);
        world.active = vec![first, last];
        // Entries of handshake timers come up.
        world.now += Duration::from_secs(10);
        world.turn(None);
        assert_eq!((world.stack.connections(), world.stack.next_deadline()), (count as usize + 2, None));
        world
    }

    /// Opens the connection of the `number`th peer.
    fn open(&mut self, number: u32) -> Peer {
        let address = IpAddr::V4(Ipv4Addr::from_bits(0x0b00_0000 + number));
        let options = Options { mss: Some(1460), sack_permitted: true, window_scale: Some(7), ..Options::default() };
        let syn = TcpRepr { options, ..segment(Flags::SYN, IRS, None) };
        self.deliver(address, &syn, &[]);
        let next = self.answered;
        self.deliver(address, &segment(Flags::NONE, IRS + 1, Some(next)), &[]);
        while let Some(event) = self.stack.poll_event() {
            if let StackEvent::Accepted { conn, .. } = event {
                self.stack.accept(conn);
                while self.stack.poll_event().is_some() {}
                return Peer { address, conn, sent: 0, next };
            }
        }
        panic!("connection {number} was not accepted");
    }

    fn deliver(&mut self, src: IpAddr, repr: &TcpRepr, bytes: &[u8]) {
        let fragmentation = Fragmentation::Forbidden;
        let ip = IpRepr { src, dst: SERVER, ttl: 64, dscp: 0, ecn: Ecn::NotEct, fragmentation };
        let len = wire::emit(&ip, repr, bytes.len() as u32, &mut self.header);
        self.now += Duration::from_micros(10);
        self.turn(Some((len, bytes)));
    }

    /// One turn, with a packet whose header lies in `self.header`, or without one.
    fn turn(&mut self, packet: Option<(usize, &[u8])>) {
        let Self { stack, now, header, answered, .. } = self;
        let frames = packet.into_iter().map(|(len, bytes)| RxFrame {
            at: *now,
            header: wire::Header::read(&header[..len]),
            payload: Payload::Bytes(bytes),
            gso_size: None,
            checksum: ChecksumState::Unneeded,
        });
        let mut tx = |frame: TxFrame<'_>| {
            let (_, repr) = wire::parse(frame.header, frame.payload.len()).expect("valid");
            *answered = repr.seq + frame.payload.len() + u32::from(repr.flags.contains(Flags::SYN));
            Sent::Accepted
        };
        turn(stack, &mut StackCx::new(*now, &mut Off), frames, &mut tx, Budget::UNLIMITED);
    }

    /// A segment comes in and is read, one leaves, and its ACK comes in.
    fn round(&mut self, peer: &mut Peer) {
        let at = IRS + 1 + peer.sent;
        self.deliver(peer.address, &segment(Flags::NONE, at, Some(peer.next)), &SEGMENT);
        peer.sent += SEGMENT.len() as u32;
        let mut read = [0; 2_000];
        let len = self.stack.read(&mut StackCx::new(self.now, &mut Off), peer.conn, &mut read);
        assert_eq!(len, Ok(Read::Data(SEGMENT.len() as u64)));
        assert_eq!(self.stack.write(&mut StackCx::new(self.now, &mut Off), peer.conn, &SEGMENT), Ok(SEGMENT.len()));
        self.turn(None);
        peer.next = self.answered;
        self.deliver(peer.address, &segment(Flags::NONE, IRS + 1 + peer.sent, Some(peer.next)), &[]);
        while self.stack.poll_event().is_some() {}
    }
}

fn segment(flags: Flags, seq: SeqNum, ack: Option<SeqNum>) -> TcpRepr {
    TcpRepr { src_port: 999, dst_port: PORT, seq, ack, flags, window: 60_000, urgent: 0, options: Options::default() }
}

/// The active connections take turns.
fn take_turns(mut world: World) -> World {
    let mut active = core::mem::take(&mut world.active);
    for number in 0..ROUNDS as usize {
        let whose = number % active.len();
        world.round(&mut active[whose]);
    }
    world.active = active;
    world
}

fn judge(world: World) {
    assert!(world.active.iter().all(|peer| peer.sent == ROUNDS / 2 * SEGMENT.len() as u32));
}

#[library_benchmark]
#[bench::rounds_500(args = (10), setup = World::with_idle, teardown = judge)]
fn beside_few(world: World) -> World {
    take_turns(world)
}

#[library_benchmark]
#[bench::rounds_500(args = (100_000), setup = World::with_idle, teardown = judge)]
fn beside_many(world: World) -> World {
    take_turns(world)
}

library_benchmark_group!(name = crowd, benchmarks = [beside_few, beside_many]);
main!(
    config = LibraryBenchmarkConfig::default().tool(Callgrind::with_args(["--cache-sim=no"])),
    library_benchmark_groups = crowd
);
