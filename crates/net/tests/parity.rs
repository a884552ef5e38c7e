//! Tests that the same segments through the simulator's driver and through the real-time loop, on fake devices and a fake clock,
//! give byte-identical traces.
//!
//! The simulator runs a scenario as usual: described payload, no checksums, all in virtual time. The other world has two
//! [`Driver`]s: real packets with real checksums go through device reads and writes, `wire::split` and the applications of
//! this crate. The client's driver runs as on a TUN device, and its clock's wait advances the world; the server's is
//! stepped from there. Both worlds fork their random streams by the same labels, so the same packets are lost, late and
//! duplicated.

use base::{Duration, Instant, Rate, Ratio, Rng};
use longhaul_net::{
    Clock, Device, Discard, Driver, DriverConfig, Ended, Frame, Impairment, Interest, Payload, Received, Sender, Wake,
};
use netem::{Buffer, LossSpec, Path, PathSpec, ReorderSpec};
use sim::{FlowSpec, Scenario, Workload};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixDatagram;
use std::rc::Rc;
use tcp::{ChecksumState, DeviceCaps, Segmentation, TxChecksum};
use test_case::test_case;
use trace::TextSink;

const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));
const PORT: u16 = 5_001;
const MTU: u16 = 1_500;

/// The medium of the fake devices, and the one clock.
struct Ether {
    now: Instant,
    /// Towards the server and towards the client.
    paths: [Path<Vec<u8>>; 2],
    /// Packets that have arrived and were not read yet, by reader: the client is 0.
    inboxes: [VecDeque<Vec<u8>>; 2],
}

impl Ether {
    /// Advances the clock and delivers everything that is due.
    fn advance(&mut self, now: Instant) {
        self.now = now;
        for (path, reader) in [(0, 1), (1, 0)] {
            while let Some((at, packet)) = self.paths[path].poll(now, &mut |_, _, _| {}) {
                assert_eq!(at, now, "an arrival was missed");
                self.inboxes[reader].push_back(packet);
            }
        }
    }

    fn next_arrival(&self) -> Instant {
        self.paths.iter().filter_map(Path::next_deadline).min().unwrap_or(Instant::MAX)
    }
}

/// A port of the medium. The descriptor is real but never ready: only the fake clock waits for it.
struct FakeDevice {
    ether: Rc<RefCell<Ether>>,
    side: usize,
    fd: UnixDatagram,
}

impl Device for FakeDevice {
    fn caps(&self) -> DeviceCaps {
        DeviceCaps { mtu: MTU, checksum: TxChecksum::Compute, segmentation: Segmentation::Off }
    }
    fn queue(&self) -> usize {
        512
    }
    fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
    fn receive(&mut self, buf: &mut [u8]) -> io::Result<Received> {
        let packet = self.ether.borrow_mut().inboxes[self.side].pop_front().ok_or(io::ErrorKind::WouldBlock)?;
        buf[..packet.len()].copy_from_slice(&packet);
        Ok(Received { len: packet.len(), gso_size: None, checksum: ChecksumState::InHeader })
    }
    fn transmit(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        assert_eq!((frame.checksum, frame.gso_size), (ChecksumState::InHeader, None));
        let ether = &mut *self.ether.borrow_mut();
        let packet = [frame.header, frame.payload].concat();
        ether.paths[self.side].offer(ether.now, packet, &mut |_, _, _| {});
        Ok(())
    }
}

/// The server's clock only provides the time.
struct Watch(Rc<RefCell<Ether>>);

impl Clock for Watch {
    fn now(&mut self) -> Instant {
        self.0.borrow().now
    }
    fn wait(&mut self, _: BorrowedFd<'_>, _: Interest, _: Option<Instant>) -> io::Result<Wake> {
        panic!("a step never waits")
    }
}

/// The client's clock: only its waits advance the time, for the whole world.
struct World {
    ether: Rc<RefCell<Ether>>,
    server: Rc<RefCell<Server>>,
}

struct Server {
    driver: Driver<FakeDevice, Watch>,
    app: Discard,
    trace: TextSink,
    wake: Instant,
}

impl Server {
    fn step(&mut self) {
        let wake = self.driver.step(&mut self.app, &mut self.trace).unwrap();
        self.wake = wake.unwrap_or(Instant::MAX);
    }
}

impl Clock for World {
    fn now(&mut self) -> Instant {
        self.ether.borrow().now
    }
    fn wait(&mut self, _: BorrowedFd<'_>, interest: Interest, until: Option<Instant>) -> io::Result<Wake> {
        assert_eq!(interest, Interest::Readable, "the device always has room");
        let until = until.unwrap_or(Instant::MAX);
        loop {
            let next = self.ether.borrow().next_arrival().min(self.server.borrow().wake).min(until);
            assert_ne!(next, Instant::MAX, "nothing will ever happen again");
            self.ether.borrow_mut().advance(next);
            let for_whom = self.ether.borrow().inboxes.each_ref().map(|inbox| !inbox.is_empty());
            if for_whom[1] || self.server.borrow().wake <= next {
                self.server.borrow_mut().step();
            }
            if for_whom[0] || until <= next {
                return Ok(Wake::Serve);
            }
        }
    }
}

/// Both traces of the real loop: the client's and the server's.
fn by_the_loop(scenario: &Scenario, bytes: u64) -> [String; 2] {
    let rng = Rng::new(scenario.seed);
    let paths = [scenario.forward.build(&rng.fork("link/a→b")), scenario.reverse.build(&rng.fork("link/b→a"))];
    let ether = Rc::new(RefCell::new(Ether { now: Instant::ZERO, paths, inboxes: Default::default() }));
    let device = |side| FakeDevice { ether: ether.clone(), side, fd: UnixDatagram::unbound().unwrap() };
    let config = |address, label| {
        let rng = rng.fork(label);
        let mut secret = rng.fork("isn");
        DriverConfig {
            addresses: vec![address],
            isn_secret: [secret.next_u64(), secret.next_u64()],
            rng: rng.fork("stack"),
            impairment: Impairment::default(),
            // Time stands still while the application works.
            allowance: usize::MAX,
        }
    };
    let flow = &scenario.flows[0];
    let mut server = Server {
        driver: Driver::new(device(1), Watch(ether.clone()), config(SERVER, "node/b")),
        app: Discard::new(PORT, flow.server.clone(), Some(1), Box::new(|_| {})),
        trace: TextSink::default(),
        wake: Instant::MAX,
    };
    server.driver.start(&mut server.app, &mut server.trace).unwrap();
    let server = Rc::new(RefCell::new(server));

    let mut world = World { ether: ether.clone(), server: server.clone() };
    let clock = World { ether: ether.clone(), server: server.clone() };
    let mut client = Driver::new(device(0), clock, config(CLIENT, "node/a"));
    let remote = (SERVER, PORT).into();
    let mut sender = Sender::new(remote, flow.client.clone(), Payload::Pattern(bytes), Box::new(|_| {}));
    let mut trace = TextSink::default();
    client.start(&mut sender, &mut trace).unwrap();
    assert_eq!(client.run(&mut sender, &mut trace).unwrap(), Ended::Done);
    // The client is in TIME-WAIT; its last acknowledgement may still be in flight, or lost.
    while !longhaul_net::App::is_done(&server.borrow().app) {
        let until = client.step(&mut sender, &mut trace).unwrap();
        world.wait(UnixDatagram::unbound().unwrap().as_fd(), Interest::Readable, until).unwrap();
    }
    let served = server.borrow().trace.0.clone();
    [trace.0, served]
}

/// Returns both traces of the simulator, as each node sees them: connections counted from zero, without the network's losses.
fn by_the_simulator(scenario: &Scenario) -> [String; 2] {
    let mut trace = TextSink::default();
    sim::run(scenario, &mut trace).unwrap();
    let mut nodes = [String::new(), String::new()];
    for line in trace.0.lines().filter(|line| !line.contains(" Hop")) {
        let (at, rest) = line.split_once(' ').unwrap();
        let (conn, event) = rest.split_once(' ').unwrap();
        let conn: u32 = conn.parse().unwrap();
        let node = (conn / sim::CONN_IDS_PER_NODE) as usize;
        nodes[node] += &format!("{at} {} {event}\n", conn % sim::CONN_IDS_PER_NODE);
    }
    nodes
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn percent(percent: u64) -> Ratio {
    Ratio::new(percent, 100).unwrap()
}

fn bottleneck(delay: Duration) -> PathSpec {
    let rate = Rate::from_bits_per_sec(20_000_000);
    PathSpec { rate, buffer: Buffer::Bytes(60_000), ..PathSpec::ideal(delay) }
}

fn assert_parity(seed: u64, forward: PathSpec, reverse: PathSpec, config: tcp::Config) -> String {
    const BYTES: u64 = 1_500_000;
    let config = config.validate().unwrap();
    let mut scenario = Scenario::new(seed, forward, reverse);
    scenario.flows.push(FlowSpec::new(config.clone(), config, Workload::Bytes(BYTES)));
    let (simulated, looped) = (by_the_simulator(&scenario), by_the_loop(&scenario, BYTES));
    for (simulated, looped) in simulated.iter().zip(&looped) {
        let lines = simulated.lines().zip(looped.lines());
        if let Some((line, (one, other))) = lines.enumerate().find(|(_, (one, other))| one != other) {
            panic!("seed {seed}, line {line}:\nsimulated {one}\nlooped    {other}");
        }
        assert_eq!(simulated.lines().count(), looped.lines().count(), "one trace goes on");
    }
    let [client, _] = looped;
    client
}

/// Not an ideal path: that delivers a whole window at one instant, which no device does and the loop reads in batches.
#[test]
fn traces_are_identical_on_a_clean_path() {
    let clean = PathSpec { buffer: Buffer::Unlimited, ..bottleneck(ms(10)) };
    let client = assert_parity(1, clean.clone(), clean, tcp::Config::default());
    assert!(client.contains("to=TIME-WAIT"), "the whole life of a connection is in the trace");
    assert!(!client.contains("SegmentLost"));
}

#[test]
fn traces_are_identical_through_a_bottleneck_that_overflows() {
    let client = assert_parity(2, bottleneck(ms(20)), PathSpec::ideal(ms(20)), tcp::Config::default());
    assert!(client.contains("SegmentLost"));
}

#[test_case(3; "seed 3")]
#[test_case(4; "seed 4")]
#[test_case(5; "seed 5")]
fn traces_are_identical_with_loss_reordering_and_copies_both_ways(seed: u64) {
    let bad = PathSpec {
        loss: LossSpec::Bernoulli(percent(2)),
        reorder: ReorderSpec::Late { probability: percent(1), extra: ms(5) },
        duplicate: percent(1),
        ..bottleneck(ms(10))
    };
    let client = assert_parity(seed, bad.clone(), bad, tcp::Config::default());
    assert!(client.contains("SegmentLost") && client.contains("retransmit=1"));
}

#[test]
fn traces_are_identical_with_timestamps() {
    let mut config = tcp::Config::default();
    config.options.timestamps = tcp::config::TimestampConfig::Offer;
    let lossy = PathSpec { loss: LossSpec::Bernoulli(percent(1)), ..bottleneck(ms(30)) };
    assert_parity(6, lossy.clone(), lossy, config);
}
