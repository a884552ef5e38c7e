//! Running the same segments at the same times through the simulator's driver and through two hosts of this crate gives
//! byte-identical traces: socket calls, raw packets and a clock moved by calls lead to the same turns.
//!
//! Both worlds fork their random streams by the same labels, so the same packets are lost or delayed. A path here never delivers
//! two packets at the same moment, since each of packetdrill's packets is a turn of its own.

use crate::flags::Flags;
use crate::host::Host;
use crate::socket::{Address, Sending, State};
use crate::waiting::Plugin;
use base::{Duration, Instant, Rate, Ratio, Rng};
use libc::{AF_INET, MSG_DONTWAIT, SHUT_WR, SOCK_NONBLOCK, SOCK_STREAM};
use netem::{Buffer, LossSpec, Path, PathSpec, ReorderSpec};
use nix::errno::Errno;
use sim::{FlowSpec, Scenario, Workload};
use std::net::SocketAddr;
use tcp::config::GuardConfig;
use tcp::{DeviceCaps, Segmentation, Stack, StackConfig, TxChecksum};
use test_case::test_case;
use trace::TextSink;

const BYTES: usize = 1_500_000;
/// The simulator's addresses and port.
const CLIENT: &str = "10.0.0.1";
const SERVER: &str = "10.0.0.2:5001";

/// A host with one socket, which carries the flow.
struct Side {
    plugin: Plugin,
    fd: i32,
    /// Bytes written or read.
    moved: usize,
    over: bool,
}

impl Side {
    /// The simulator's node with this label, as a host of this crate.
    fn new(address: SocketAddr, rng: &Rng) -> Self {
        let mut secret = rng.fork("isn");
        let device = DeviceCaps { mtu: 1_500, checksum: TxChecksum::Compute, segmentation: Segmentation::Off };
        let isn_secret = [secret.next_u64(), secret.next_u64()];
        let stack = StackConfig { addresses: vec![address.ip()], device, isn_secret, guards: GuardConfig::default() };
        let flags = Flags::read(&format!("local={}", address.ip()), &mut |complaint| panic!("{complaint}"));
        let mut host = Host::with_stack(flags, Stack::new(stack, rng.fork("stack")), Instant::ZERO);
        host.watch.seen = Some(TextSink::default());
        // A stack chooses its first port from its own random stream; for a socket the host chooses.
        host.next_port = 49_152 + rng.fork("stack").fork("ports").below(16_384) as u16;
        let fd = host.socket_call(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0).unwrap();
        host.socket_mut(fd).unwrap().config = tcp::Config::default();
        Self { plugin: Plugin::with_host(host), fd, moved: 0, over: false }
    }

    fn now(&self) -> Instant {
        self.plugin.call(|host| host.now())
    }

    /// The packets that leave, with the current time.
    fn packets(&self) -> Vec<Vec<u8>> {
        std::iter::from_fn(|| self.plugin.call(Host::fetch)).map(|(bytes, _)| bytes).collect()
    }

    fn next_deadline(&self) -> Instant {
        self.plugin.call(|host| host.next_deadline()).unwrap_or(Instant::MAX)
    }

    fn tcp_state(&self) -> tcp::State {
        self.plugin.call(|host| {
            let conn = host.socket(self.fd).unwrap().conn();
            conn.and_then(|conn| host.stack.endpoint(conn)).map_or(tcp::State::Closed, tcp::Endpoint::state)
        })
    }

    fn write_all(&mut self) {
        let connected = self.plugin.call(|host| host.connected(self.fd)).is_ok();
        if connected && self.moved == 0 {
            let mut bytes = vec![0; BYTES];
            tcp::fill_pattern(0, &mut bytes);
            // Both in one call, as the simulator's application does: no packet leaves in between.
            let mut sending = Sending::default();
            self.plugin
                .call(|host| {
                    host.send(self.fd, &[&bytes], 0, &mut sending).and_then(|_| host.shutdown(self.fd, SHUT_WR))
                })
                .unwrap();
            self.moved = sending.len;
        }
        let _ = self.plugin.receive(self.fd, &mut [&mut [0]], MSG_DONTWAIT);
    }

    fn read_all(&mut self) {
        if self.plugin.call(|host| matches!(host.socket(self.fd).unwrap().state, State::Listening(_))) {
            match self.plugin.accept(self.fd) {
                Ok((fd, _)) => self.fd = fd,
                Err(error) => return assert_eq!(error, Errno::EAGAIN),
            }
        }
        let mut bytes = vec![0; BYTES];
        loop {
            match self.plugin.receive(self.fd, &mut [&mut bytes], MSG_DONTWAIT) {
                Ok(0) if self.tcp_state() == tcp::State::CloseWait => {
                    return self.plugin.call(|host| host.shutdown(self.fd, SHUT_WR)).unwrap();
                }
                Ok(0) => return,
                Ok(len) => self.moved += len,
                Err(error) => return assert_eq!(error, Errno::EAGAIN),
            }
        }
    }

    /// Once both directions are closed, closes the socket as well.
    fn close_when_over(&mut self) {
        if !self.over && self.moved > 0 && matches!(self.tcp_state(), tcp::State::TimeWait | tcp::State::Closed) {
            self.plugin.close(self.fd).unwrap();
            self.over = true;
        }
    }
}

/// Traces of the client and the server.
fn by_this_crate(scenario: &Scenario) -> [String; 2] {
    let rng = Rng::new(scenario.seed);
    let mut paths: [Path<Vec<u8>>; 2] =
        [scenario.forward.build(&rng.fork("link/a→b")), scenario.reverse.build(&rng.fork("link/b→a"))];
    let remote: SocketAddr = SERVER.parse().unwrap();
    let client = Side::new(SocketAddr::new(CLIENT.parse().unwrap(), 0), &rng.fork("node/a"));
    let server = Side::new(remote, &rng.fork("node/b"));
    server
        .plugin
        .call(|host| host.bind(server.fd, Address::Inet(remote)).and_then(|()| host.listen(server.fd, 8)))
        .unwrap();
    assert_eq!(client.plugin.connect(client.fd, Address::Inet(remote)), Err(Errno::EINPROGRESS));
    let mut sides = [client, server];
    while !sides.iter().all(|side| side.over) {
        let mut now = Instant::ZERO;
        for (side, path) in sides.iter().zip(&mut paths) {
            now = side.now();
            side.packets().into_iter().for_each(|packet| path.offer(now, packet, &mut |_, _, _| {}));
        }
        let arrival = paths.iter().filter_map(Path::next_deadline).min().unwrap_or(Instant::MAX);
        let next = sides.iter().map(Side::next_deadline).min().unwrap().min(arrival);
        assert_ne!(next, Instant::MAX, "nothing will ever happen again");
        sides.iter().for_each(|side| side.plugin.sleep_for(next.since(now)));
        for (path, reader) in [(0, 1), (1, 0)] {
            while let Some((at, packet)) = paths[path].poll(next, &mut |_, _, _| {}) {
                assert_eq!(at, next, "an arrival was missed");
                sides[reader].plugin.netdev_send(&packet);
            }
        }
        sides[0].write_all();
        sides[1].read_all();
        sides.iter_mut().for_each(Side::close_when_over);
    }
    assert_eq!(sides[1].moved, BYTES);
    sides.map(|side| side.plugin.call(|host| host.watch.seen.take().unwrap().0))
}

/// Both of the simulator's traces, with connections counted from zero and the network's losses left out.
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

fn percent(percent: u64) -> Ratio {
    Ratio::new(percent, 100).unwrap()
}

#[test_case(1, 0; "a clean path")]
#[test_case(2, 1; "losses")]
#[test_case(3, 3; "many losses and packets that come late")]
fn traces_are_identical_to_the_simulators(seed: u64, losses: u64) {
    let ms = Duration::from_millis;
    let late = ReorderSpec::Late { probability: percent(1), extra: ms(5) };
    let path = PathSpec {
        rate: Rate::from_bits_per_sec(20_000_000),
        buffer: if losses > 0 { Buffer::Bytes(120_000) } else { Buffer::Unlimited },
        loss: LossSpec::Bernoulli(percent(losses)),
        reorder: if losses > 1 { late } else { ReorderSpec::None },
        ..PathSpec::ideal(ms(10))
    };
    let config = tcp::Config::default().validate().unwrap();
    let mut scenario = Scenario::new(seed, path.clone(), path);
    scenario.flows.push(FlowSpec::new(config.clone(), config, Workload::Bytes(BYTES as u64)));
    let (simulated, ours) = (by_the_simulator(&scenario), by_this_crate(&scenario));
    for (simulated, ours) in simulated.iter().zip(&ours) {
        let mut lines = simulated.lines().zip(ours.lines()).enumerate();
        if let Some((line, (one, other))) = lines.find(|(_, (one, other))| one != other) {
            panic!("line {line}:\nsimulated {one}\nours      {other}");
        }
        assert!(simulated.lines().count().abs_diff(ours.lines().count()) <= 2, "one trace goes on");
    }
    assert!(ours[0].contains("to=TIME-WAIT"), "the whole life of a connection is in the trace");
    assert_eq!(ours[0].contains("SegmentLost"), losses > 0);
}
