//! Several stacks behind one device: whichever tunnel a packet is brought to, its flow's stack has it.

use base::{Duration, Instant, Rng};
use longhaul_pipe::{Batch, Bounds, Closed, Next, Runner, RunnerConfig, Tunnel, pipe, share};
use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use tcp::config::GuardConfig;
use tcp::{
    Boundary, Config, Conn, DeviceCaps, Read, Segmentation, Shards, Source, Stack, StackConfig, StackCx, StackEvent,
    TxChecksum, ValidConfig,
};
use trace::Off;

const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));
const SECRET: [u64; 2] = [3, 4];

fn config() -> ValidConfig {
    Config::default().validate().expect("the default is valid")
}

fn stack(address: IpAddr) -> Stack {
    let device = DeviceCaps { mtu: 1_500, checksum: TxChecksum::Compute, segmentation: Segmentation::Off };
    let guards = GuardConfig::default();
    Stack::new(StackConfig { addresses: vec![address], device, isn_secret: SECRET, guards }, Rng::new(7))
}

fn shards(count: u32) -> Shards {
    Shards::new(SECRET, NonZeroU32::new(count).expect("some"))
}

/// A server of so many shards, each of which listens on port 80.
fn server(count: u32, cfg: RunnerConfig) -> Vec<(Runner, Tunnel)> {
    let mut pipes: Vec<_> = (0..count).map(|_| pipe(stack(SERVER), cfg)).collect();
    share(&mut pipes, shards(count));
    pipes.iter_mut().for_each(|(runner, _)| runner.stack().listen(80, 64, &config()).expect("listens"));
    pipes
}

/// A client that opens connections to port 80.
struct Client {
    runner: Runner,
    tunnel: Tunnel,
}

impl Client {
    fn new() -> Self {
        let (runner, tunnel) = pipe(stack(CLIENT), RunnerConfig::default());
        Self { runner, tunnel }
    }

    fn connect(&mut self, now: Instant) -> Conn {
        let mut off = Off;
        self.runner.stack().connect(&mut StackCx::new(now, &mut off), &config(), (SERVER, 80).into()).expect("connects")
    }

    /// SYNs of so many connections, and the shard of each.
    fn syns(&mut self, count: usize, shards: Shards) -> Vec<(Vec<u8>, usize)> {
        let conns: Vec<_> = (0..count).map(|_| self.connect(Instant::from_nanos(1))).collect();
        while self.runner.run(Instant::from_nanos(1), &mut Off) == Next::Now {}
        let mut batch = Batch::default();
        assert_eq!(self.tunnel.try_recv(&mut batch, count), Ok(count));
        let tuples = conns.iter().map(|conn| self.runner.stack().endpoint(*conn).expect("exists").tuple());
        batch.packets().iter().zip(tuples).map(|(packet, tuple)| (packet.bytes().to_vec(), shards.of(&tuple))).collect()
    }
}

/// Thirty streams of pattern bytes to three shards, each packet brought to the next tunnel in turn.
#[test]
fn streams_arrive_whole_whichever_tunnel_brings_their_packets() {
    const BYTES: u64 = 100_000;
    let mut now = Instant::from_nanos(1_000_000_000);
    let (mut client, mut server) = (Client::new(), server(3, RunnerConfig::default()));
    let conns: Vec<_> = (0..30).map(|_| client.connect(now)).collect();
    let (mut left, mut coming) = (Batch::default(), Batch::default());
    let (mut written, mut carried) = (vec![0; conns.len()], 0);
    let mut streams: Vec<(usize, Conn, u64, bool)> = Vec::new();
    while streams.len() < conns.len() || streams.iter().any(|stream| !stream.3) {
        assert!(now < Instant::from_nanos(100_000_000_000), "{streams:?}");
        let mut off = Off;
        let cx = &mut StackCx::new(now, &mut off);
        for (conn, written) in conns.iter().zip(&mut written).filter(|(_, written)| **written < BYTES) {
            let stack = client.runner.stack();
            // Closed before it is open, a connection is given up.
            if !stack.endpoint(*conn).expect("exists").state().is_synchronized() {
                continue;
            }
            *written += stack.write_with(cx, *conn, Source::Pattern(BYTES - *written), Boundary::None).expect("writes");
            if *written == BYTES {
                stack.shutdown(cx, *conn);
            }
        }
        client.runner.run(now, &mut off);
        client.tunnel.try_recv(&mut left, 64).expect("the stack is there");
        for packet in left.packets() {
            coming.push(packet.bytes());
            carried += 1;
            assert_eq!(server[carried % 3].1.try_send(&mut coming), Ok(1));
        }
        for (shard, (runner, tunnel)) in server.iter_mut().enumerate() {
            runner.run(now, &mut off);
            while let Some(event) = runner.stack().poll_event() {
                if let StackEvent::Accepted { conn, .. } = event {
                    runner.stack().accept(conn);
                    streams.push((shard, conn, 0, false));
                }
            }
            let cx = &mut StackCx::new(now, &mut off);
            for (_, conn, read, ended) in streams.iter_mut().filter(|stream| stream.0 == shard) {
                match runner.stack().read_pattern(cx, *conn, u64::MAX).expect("reads") {
                    Read::Data(len) => *read += len,
                    Read::Fin => *ended = true,
                }
            }
            tunnel.try_recv(&mut left, 64).expect("the stack is there");
            client.tunnel.try_send(&mut left).expect("the stack is there");
        }
        now += Duration::from_millis(1);
    }
    for (shard, (runner, _)) in server.iter_mut().enumerate() {
        let here: Vec<_> = streams.iter().filter(|stream| stream.0 == shard).collect();
        assert!((5..=15).contains(&here.len()), "shard {shard} has {} of 30", here.len());
        let counters = runner.counters();
        assert!(counters.handed_over > counters.inbound / 2, "{counters:?}");
        let stack = runner.stack();
        for (_, conn, read, _) in here {
            let info = stack.info(*conn).expect("exists");
            assert_eq!(
                (*read, info.mismatches, shards(3).of(&stack.endpoint(*conn).expect("exists").tuple())),
                (BYTES, 0, shard)
            );
        }
        assert_eq!(stack.counters().no_connection, 0);
    }
}

/// Counts how often it is called.
#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_full_shard_holds_back_its_own_packets_and_wakes_whoever_brought_them() {
    let narrow = Bounds { packets: 2, bytes: 1 << 20 };
    let mut server = server(2, RunnerConfig { inbound: narrow, ..RunnerConfig::default() });
    let syns = Client::new().syns(24, shards(2));
    let of = |shard: usize| syns.iter().filter(move |syn| syn.1 == shard).map(|syn| &syn.0[..]);
    let (firsts, seconds): (Vec<_>, Vec<_>) = (of(0).take(2).collect(), of(1).take(3).collect());
    let mut batch = Batch::default();
    for packet in seconds.iter().chain(&firsts) {
        batch.push(packet);
    }
    let bell = Arc::new(Bell::default());
    let waker = Waker::from(bell.clone());
    let cx = &mut Context::from_waker(&waker);
    // The first tunnel's task waits for the second shard, whose own tunnel waits as well.
    assert_eq!(server[0].1.poll_send(cx, &mut batch), Poll::Pending);
    assert_eq!(batch.packets().iter().map(|packet| packet.bytes()).collect::<Vec<_>>(), [seconds[2]]);
    let mut own = Batch::default();
    own.push(seconds[2]);
    assert_eq!(server[1].1.poll_send(&mut Context::from_waker(Waker::noop()), &mut own), Poll::Pending);
    server[0].0.run(Instant::from_nanos(2), &mut Off);
    assert_eq!(bell.0.load(Ordering::Relaxed), 0, "there is room in another queue");
    server[1].0.run(Instant::from_nanos(2), &mut Off);
    assert_eq!(bell.0.load(Ordering::Relaxed), 1);
    assert_eq!(server[0].1.poll_send(cx, &mut batch), Poll::Ready(Ok(())));
    assert_eq!(server[1].1.counters().handed_over, 3);
    drop(server.pop());
    batch.push(seconds[0]);
    batch.push(firsts[0]);
    assert_eq!(server[0].1.try_send(&mut batch), Ok(2), "what is for a shard that is gone goes nowhere");
    server.iter_mut().for_each(|(runner, _)| assert_eq!(runner.counters().inbound, 3));
    let (runner, tunnel) = server.remove(0);
    drop(runner);
    batch.push(firsts[0]);
    assert_eq!(tunnel.try_send(&mut batch), Err(Closed));
}

/// A router's report about a flow goes where the flow is, and what is no flow's to the first shard.
#[test]
fn reports_go_to_the_flow_that_they_quote_and_what_is_left_to_the_first_shard() {
    let mut server = server(2, RunnerConfig { others: 8, ..RunnerConfig::default() });
    let remote = (CLIENT, 9).into();
    for own in 0..2 {
        let (mut off, now) = (Off, Instant::from_nanos(1));
        let (runner, tunnel) = &mut server[own];
        runner.stack().connect(&mut StackCx::new(now, &mut off), &config(), remote).expect("connects");
        while runner.run(now, &mut off) == Next::Now {}
        let mut syn = Batch::default();
        assert_eq!(tunnel.try_recv(&mut syn, 1), Ok(1));
        let mut report = Vec::new();
        let split = wire::split(syn.packets()[0].bytes()).expect("a segment");
        let kind = wire::IcmpKind::Unreachable(wire::Unreachable::Port);
        wire::icmp::emit(kind, CLIENT, split.header.bytes(), &mut report);
        let mut batch = Batch::default();
        batch.push(&report);
        assert_eq!(server[1 - own].1.try_send(&mut batch), Ok(1));
        let (runner, _) = &mut server[own];
        runner.run(now, &mut off);
        assert_eq!((runner.stack().counters().icmp, runner.counters().handed_over), (1, 1));
    }
    let mut batch = Batch::default();
    let mut datagram = vec![0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    datagram.extend([0; 8]);
    batch.push(&datagram);
    batch.push(&[]);
    assert_eq!(server[1].1.try_send(&mut batch), Ok(2));
    server[0].0.run(Instant::from_nanos(2), &mut Off);
    assert_eq!(server[0].0.take_other().map(|packet| packet.bytes().to_vec()), Some(datagram));
    assert_eq!(server[0].0.counters().handed_over, 3);
}
