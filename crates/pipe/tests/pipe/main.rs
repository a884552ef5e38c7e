//! Packets through pipes: whole streams, bounds, wakers, and ends that go away.

mod outlet;
#[path = "../two/mod.rs"]
mod two;

use base::{Duration, Instant};
use longhaul_pipe::{Batch, Bounds, Closed, Next, PipeCounters, RunnerConfig, pipe};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use tcp::{Boundary, CloseReason, ConnEvent, Read, Segmentation, Source, StackCx, StackEvent};
use test_case::{test_case, test_matrix};
use trace::Off;
use two::{CLIENT, SERVER, Two, config, stack};

const NARROW: RunnerConfig = RunnerConfig {
    inbound: Bounds { packets: 2, bytes: 4_000 },
    outbound: Bounds { packets: 3, bytes: 4_000 },
    others: 1,
};

/// Counts how often it is called.
#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Bell {
    fn rings(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// A stream of pattern bytes arrives whole, although no queue ever holds more than a few packets and some are lost.
#[test_matrix(
    [Segmentation::Off, Segmentation::Tso { max_bytes: 64_000 }],
    [NARROW, RunnerConfig { inbound: Bounds { packets: 512, bytes: 1 << 20 }, outbound: Bounds { packets: 512, bytes: 1 << 20 }, others: 0 }],
    [0, 50]
)]
fn a_stream_arrives_whole(segmentation: Segmentation, cfg: RunnerConfig, loses: u64) {
    const BYTES: u64 = 2_000_000;
    let mut two = Two::new(segmentation, cfg);
    let (client, server) = two.connect(80);
    two.loses = loses;
    let (mut written, mut read, mut ended) = (0, 0, false);
    for _ in 0..200_000 {
        let (mut off, now) = (Off, two.now);
        let cx = &mut StackCx::new(now, &mut off);
        let stack = two.client.runner.stack();
        if written < BYTES {
            written += stack.write_with(cx, client, Source::Pattern(BYTES - written), Boundary::None).expect("writes");
            if written == BYTES {
                stack.shutdown(cx, client);
            }
        }
        two.settle();
        let (mut off, now) = (Off, two.now);
        let cx = &mut StackCx::new(now, &mut off);
        match two.server.runner.stack().read_pattern(cx, server, u64::MAX).expect("reads") {
            Read::Data(len) => read += len,
            Read::Fin => {
                ended = true;
                break;
            }
        }
        two.pass();
    }
    assert_eq!((written, read, ended), (BYTES, BYTES, true));
    let info = two.server.runner.stack().info(server).expect("exists");
    assert_eq!(info.mismatches, 0);
    let (sent, came) = (two.client.tunnel.counters(), two.server.tunnel.counters());
    assert_eq!((came.malformed, came.others, came.others_dropped), (0, 0, 0));
    assert!(loses > 0 || sent.outbound == came.inbound, "{sent:?} {came:?}");
    assert_eq!(cfg == NARROW, sent.outbound_full > 0, "{sent:?}");
}

#[test]
fn a_full_queue_holds_the_tunnel_back_and_drops_nothing() {
    let (mut runner, tunnel) = pipe(stack(CLIENT, Segmentation::Off), NARROW);
    let mut batch = Batch::default();
    (0..5).for_each(|nth| _ = batch.push(&[nth; 100]));
    assert_eq!((tunnel.try_send(&mut batch), batch.len()), (Ok(2), 3));
    assert_eq!((tunnel.try_send(&mut batch), batch.packets()[0].bytes()), (Ok(0), &[2; 100][..]));
    let bell = Arc::new(Bell::default());
    let waker = Waker::from(bell.clone());
    let cx = &mut Context::from_waker(&waker);
    assert_eq!(tunnel.poll_send(cx, &mut batch), Poll::Pending);
    assert_eq!(runner.run(Instant::from_nanos(1), &mut Off), Next::At(None));
    assert_eq!(bell.rings(), 1, "there is room");
    assert_eq!((tunnel.poll_send(cx, &mut batch), batch.len()), (Poll::Pending, 1));
    runner.run(Instant::from_nanos(2), &mut Off);
    assert_eq!((tunnel.poll_send(cx, &mut batch), batch.len()), (Poll::Ready(Ok(())), 0));
    runner.run(Instant::from_nanos(3), &mut Off);
    let mut expected = PipeCounters::default();
    (expected.inbound, expected.inbound_full, expected.malformed) = (5, 4, 5);
    assert_eq!(runner.counters(), expected);
}

/// More comes in than a turn takes, all the time; a lost SYN is still sent again after a second, and again after two more.
#[test]
fn a_busy_tunnel_holds_no_timer_back() {
    let (mut runner, tunnel) = pipe(stack(CLIENT, Segmentation::Off), RunnerConfig::default());
    let (mut off, mut now) = (Off, Instant::from_nanos(1_000));
    let cx = &mut StackCx::new(now, &mut off);
    runner.stack().connect(cx, &config(), ([10, 0, 0, 2], 80).into()).expect("connects");
    let mut batch = Batch::default();
    for _ in 0..400 {
        (batch.len()..600).for_each(|_| _ = batch.push(&[0; 20]));
        tunnel.try_send(&mut batch).expect("the stack is there");
        assert_eq!(runner.run(now, &mut Off), Next::Now);
        now += Duration::from_millis(10);
    }
    assert_eq!(runner.counters().outbound, 3, "{:?}", runner.counters());
}

/// A SYN's timer is due, and the SYN-ACK waits in the device: the runner asks before it sends the SYN again. When the device held
/// nothing, the SYN leaves.
#[test_case(true => 1; "the answer is in the device")]
#[test_case(false => 2; "the device is empty")]
fn a_timer_waits_until_the_device_was_read(answer: bool) -> u64 {
    let mut two = Two::new(Segmentation::Off, RunnerConfig::default());
    two.client.tunnel.reads_device();
    let bell = Arc::new(Bell::default());
    let waker = Waker::from(bell.clone());
    let asked = |two: &Two| two.client.tunnel.poll_asked(&mut Context::from_waker(&waker)).is_ready();
    let (mut off, now) = (Off, two.now);
    let cx = &mut StackCx::new(now, &mut off);
    two.client.runner.stack().connect(cx, &config(), (SERVER, 80).into()).expect("connects");
    two.client.tunnel.device_is_empty();
    two.settle();
    let (request, _) = two.server.runner.stack().poll_request().expect("a request");
    assert!(!asked(&two));
    let late = now + Duration::from_secs(1);
    assert_eq!(two.client.runner.run(late, &mut Off), Next::At(None), "the tunnel's answer wakes the runner");
    assert_eq!((asked(&two), bell.rings()), (true, 1));
    assert!(two.client.runner.poll_ready(&mut Context::from_waker(&waker)).is_pending());
    if answer {
        let cx = &mut StackCx::new(late, &mut off);
        two.server.runner.stack().accept_request(cx, request, &config()).expect("accepted");
        two.now = late;
        two.settle_server();
    }
    two.client.tunnel.device_is_empty();
    assert_eq!((asked(&two), bell.rings()), (false, 2));
    assert!(two.client.runner.poll_ready(&mut Context::from_waker(&waker)).is_ready());
    two.client.runner.run(late, &mut Off);
    let syns = two.client.runner.stack().iter().map(|(_, endpoint)| endpoint.counters().segments_sent).sum::<u64>();
    // The ACK of the handshake is not one of them.
    syns - u64::from(answer)
}

/// One packet fits into an empty queue however narrow its bounds, so that nothing waits without end.
#[test]
fn a_packet_larger_than_the_queue_goes_alone() {
    let (mut runner, tunnel) = pipe(stack(CLIENT, Segmentation::Off), NARROW);
    let mut batch = Batch::default();
    batch.push(&[0; 5_000]);
    batch.push(&[0; 1]);
    assert_eq!(tunnel.try_send(&mut batch), Ok(1));
    runner.run(Instant::from_nanos(1), &mut Off);
    assert_eq!(tunnel.try_send(&mut batch), Ok(1));
}

#[test]
fn who_waits_is_woken_when_it_is_worthwhile() {
    let (mut runner, tunnel) = pipe(stack(CLIENT, Segmentation::Off), NARROW);
    let bells: [Arc<Bell>; 2] = Default::default();
    let [receiving, running] = [0, 1].map(|index: usize| Waker::from(bells[index].clone()));
    let rings = || [bells[0].rings(), bells[1].rings()];
    let mut batch = Batch::default();
    assert_eq!(tunnel.poll_recv(&mut Context::from_waker(&receiving), &mut batch, 8), Poll::Pending);
    assert_eq!(runner.run(Instant::from_nanos(1), &mut Off), Next::At(None), "an idle stack has no timer");
    assert_eq!(runner.poll_ready(&mut Context::from_waker(&running)), Poll::Pending);
    let now = Instant::from_nanos(1_000);
    for port in 1..=5 {
        let mut off = Off;
        let cx = &mut StackCx::new(now, &mut off);
        runner.stack().connect(cx, &config(), ([10, 0, 0, 2], port).into()).expect("connects");
    }
    assert_eq!(rings(), [0, 0]);
    assert_eq!(runner.poll_ready(&mut Context::from_waker(&running)), Poll::Ready(()), "five SYNs wait");
    assert!(matches!(runner.run(now, &mut Off), Next::At(Some(_))));
    assert_eq!(rings(), [1, 0], "packets wait");
    assert_eq!(runner.poll_ready(&mut Context::from_waker(&running)), Poll::Pending, "the queue is full");
    assert_eq!(tunnel.poll_recv(&mut Context::from_waker(&receiving), &mut batch, 1), Poll::Ready(Ok(1)));
    assert_eq!(rings(), [1, 1], "there is room");
    assert_eq!(runner.poll_ready(&mut Context::from_waker(&running)), Poll::Ready(()));
    runner.run(now, &mut Off);
    assert_eq!(tunnel.try_recv(&mut batch, 8), Ok(3));
    runner.run(now, &mut Off);
    assert_eq!(tunnel.try_recv(&mut batch, 8), Ok(1), "none of the five is lost");
    assert_eq!(runner.poll_ready(&mut Context::from_waker(&running)), Poll::Pending);
    let mut sent = Batch::default();
    sent.push(&[0; 20]);
    tunnel.try_send(&mut sent).expect("the stack is there");
    assert_eq!(rings(), [1, 2], "a packet has come");
}

/// IPv4 headers of a datagram, of a fragment, and of nothing.
#[test_case(&[0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17] => (true, 0); "a datagram")]
#[test_case(&[0x45, 0, 0, 28, 0, 0, 0x20, 0, 64, 6] => (true, 0); "a fragment")]
#[test_case(&[0x15, 0, 0, 28, 0, 0, 0, 0, 64, 6] => (false, 1); "no ip version")]
#[test_case(&[0x45, 0, 9, 28, 0, 0, 0, 0, 64, 6] => (false, 1); "shorter than it claims")]
fn what_is_not_tcp(start: &[u8]) -> (bool, u64) {
    let (mut runner, tunnel) = pipe(stack(CLIENT, Segmentation::Off), NARROW);
    let mut bytes = [7; 28];
    bytes[..start.len()].copy_from_slice(start);
    let mut batch = Batch::default();
    (0..2).for_each(|_| _ = batch.push(&bytes));
    tunnel.try_send(&mut batch).expect("the stack is there");
    runner.run(Instant::from_nanos(1), &mut Off);
    let other = runner.take_other();
    let counters = runner.counters();
    assert!(other.as_ref().is_none_or(|packet| packet.bytes() == bytes));
    let handed_up = u64::from(other.is_some());
    assert_eq!((counters.others, counters.others_dropped), (handed_up, handed_up), "one waits, and one is too many");
    (other.is_some(), counters.malformed / 2)
}

#[test]
fn an_end_that_goes_away_is_noticed_by_the_other() {
    let (mut runner, tunnel) = pipe(stack(CLIENT, Segmentation::Off), NARROW);
    let now = Instant::from_nanos(1);
    let mut off = Off;
    let cx = &mut StackCx::new(now, &mut off);
    runner.stack().connect(cx, &config(), ([10, 0, 0, 2], 80).into()).expect("connects");
    runner.run(now, &mut Off);
    let mut batch = Batch::default();
    let bell = Arc::new(Bell::default());
    let waker = Waker::from(bell.clone());
    drop(runner);
    assert_eq!(tunnel.try_recv(&mut batch, 8), Ok(1), "what was sent is still received");
    assert_eq!(tunnel.poll_recv(&mut Context::from_waker(&waker), &mut batch, 8), Poll::Ready(Err(Closed)));
    batch.push(&[0; 20]);
    let sending = pin!(tunnel.send(&mut batch));
    assert_eq!(sending.poll(&mut Context::from_waker(&waker)), Poll::Ready(Err(Closed)));

    let (mut runner, tunnel) = pipe(stack(CLIENT, Segmentation::Off), NARROW);
    assert_eq!(runner.poll_ready(&mut Context::from_waker(&waker)), Poll::Pending);
    drop(tunnel);
    assert_eq!((bell.rings(), runner.is_cut_off()), (1, true));
    let conn = (1..=9).map(|port| {
        let mut off = Off;
        let cx = &mut StackCx::new(now, &mut off);
        runner.stack().connect(cx, &config(), ([10, 0, 0, 2], port).into()).expect("connects")
    });
    let conns: Vec<_> = conn.collect();
    let mut at = now;
    while let Next::At(Some(due)) = runner.run(at, &mut Off) {
        at = due.max(at + Duration::from_nanos(1));
    }
    let events = std::iter::from_fn(|| runner.stack().poll_event());
    let ended =
        |event: &StackEvent| matches!(event, StackEvent::Conn { event: ConnEvent::Closed(CloseReason::TimedOut), .. });
    let closed = events.filter(ended).count();
    assert_eq!((closed, runner.counters().outbound), (conns.len(), 0), "attempts time out as on a dead network");
}
