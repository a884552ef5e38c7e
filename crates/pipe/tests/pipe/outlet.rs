//! Frames that go straight into a device: nothing overtakes what goes the usual way, and the tunnel has its turn.

use super::two::{CLIENT, SERVER, Two, config, stack};
use super::{Bell, NARROW};
use base::Instant;
use longhaul_pipe::{Batch, Next, Outlet, Runner, RunnerConfig, Tunnel, pipe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use tcp::{Boundary, Payload, Read, Segmentation, Source, StackCx, TxFrame, fill_pattern};
use test_case::test_matrix;
use trace::Off;

const LARGE: Segmentation = Segmentation::Tso { max_bytes: 64_000 };

/// A device that takes what it is given, but for every so many-th frame; zero stands for none.
#[derive(Debug)]
struct Device {
    took: Arc<Mutex<Batch>>,
    given: u64,
    refuses: u64,
}

impl Outlet for Device {
    fn put(&mut self, frame: &TxFrame<'_>, left: &mut dyn FnMut(TxFrame<'_>)) {
        self.given += 1;
        if self.refuses > 0 && self.given.is_multiple_of(self.refuses) {
            return left(*frame);
        }
        let mut payload = vec![0; frame.payload.len() as usize];
        match frame.payload {
            Payload::Bytes(bytes) => payload.copy_from_slice(bytes),
            Payload::Pattern { offset, .. } => fill_pattern(offset, &mut payload),
        }
        let mut took = self.took.lock().unwrap();
        let packet = took.push(frame.header);
        packet.extend(&payload);
        (packet.gso_size, packet.checksum) = (frame.gso_size, frame.checksum);
    }
}

/// Every byte arrives in order: had a frame overtaken another, the server would have reported a gap, and segments were sent again.
#[test_matrix([Segmentation::Off, LARGE], [NARROW, RunnerConfig::default()], [0, 1, 2, 7])]
fn nothing_overtakes(segmentation: Segmentation, cfg: RunnerConfig, refuses: u64) {
    const BYTES: u64 = 2_000_000;
    let mut two = Two::new(segmentation, cfg);
    let took = Arc::new(Mutex::new(Batch::default()));
    two.client.straight = Some(took.clone());
    two.client.tunnel.set_outlet(Box::new(Device { took, given: 0, refuses }));
    let (client, server) = two.connect(80);
    let (mut written, mut read) = (0, 0);
    for _ in 0..20_000 {
        let (mut off, now) = (Off, two.now);
        let cx = &mut StackCx::new(now, &mut off);
        let source = Source::Pattern(BYTES - written);
        written += two.client.runner.stack().write_with(cx, client, source, Boundary::None).expect("writes");
        two.settle();
        let cx = &mut StackCx::new(now, &mut off);
        if let Read::Data(len) = two.server.runner.stack().read_pattern(cx, server, u64::MAX).expect("reads") {
            read += len;
        }
        if read == BYTES {
            break;
        }
        two.pass();
    }
    assert_eq!((written, read), (BYTES, BYTES));
    assert_eq!(two.server.runner.stack().info(server).expect("exists").mismatches, 0);
    let counters = two.client.runner.stack().endpoint(client).expect("exists").counters();
    assert_eq!(counters.segments_retransmitted, 0);
    let (sent, came) = (two.client.tunnel.counters(), two.server.tunnel.counters());
    assert_eq!(sent.outbound, came.inbound);
}

/// A stack with an outlet that counts and can be closed.
fn with_outlet() -> (Runner, Tunnel, Arc<Count>) {
    let (runner, tunnel) = pipe(stack(CLIENT, Segmentation::Off), RunnerConfig::default());
    let count = Arc::new(Count::default());
    tunnel.set_outlet(Box::new(Counting(count.clone())));
    (runner, tunnel, count)
}

#[derive(Debug, Default)]
struct Count {
    took: Mutex<u64>,
    is_blocked: AtomicBool,
}

impl Count {
    fn take(&self) -> u64 {
        std::mem::take(&mut self.took.lock().unwrap())
    }
}

#[derive(Debug)]
struct Counting(Arc<Count>);

impl Outlet for Counting {
    fn put(&mut self, frame: &TxFrame<'_>, left: &mut dyn FnMut(TxFrame<'_>)) {
        if self.0.is_blocked.load(Ordering::Relaxed) {
            return left(*frame);
        }
        *self.0.took.lock().unwrap() += 1;
    }
}

fn connect(runner: &mut Runner, now: Instant, ports: std::ops::Range<u16>) {
    for port in ports {
        let mut off = Off;
        let cx = &mut StackCx::new(now, &mut off);
        runner.stack().connect(cx, &config(), (SERVER, port).into()).expect("connects");
    }
}

#[test]
fn nothing_goes_straight_out_before_what_the_tunnel_holds() {
    let (mut runner, tunnel, count) = with_outlet();
    let (now, mut batch) = (Instant::from_nanos(1_000), Batch::default());
    let send = |runner: &mut Runner, first: u16| {
        connect(runner, now, first..first + 2);
        runner.run(now, &mut Off);
        count.take()
    };
    assert_eq!(send(&mut runner, 1), 0, "the tunnel has not had its turn");
    assert_eq!(tunnel.try_recv(&mut batch, 8), Ok(2));
    assert_eq!(send(&mut runner, 3), 0, "it holds packets that may not have left");
    assert_eq!(tunnel.try_recv(&mut batch, 8), Ok(2));
    assert_eq!(tunnel.try_recv(&mut batch, 8), Ok(0));
    assert_eq!(send(&mut runner, 5), 2);
    assert_eq!(send(&mut runner, 7), 2, "nothing has changed");
    count.is_blocked.store(true, Ordering::Relaxed);
    assert_eq!(send(&mut runner, 9), 0);
    count.is_blocked.store(false, Ordering::Relaxed);
    assert_eq!(send(&mut runner, 11), 0, "what the device did not take waits");
    assert_eq!(tunnel.try_recv(&mut batch, 8), Ok(4));
    assert_eq!(tunnel.try_recv(&mut batch, 8), Ok(0));
    assert_eq!(send(&mut runner, 13), 2);
    assert_eq!(runner.counters().outbound, 14);
}

#[test]
fn the_tunnel_has_its_turn_before_too_much_goes_straight_out() {
    let (mut runner, tunnel, count) = with_outlet();
    let bells: [Arc<Bell>; 2] = Default::default();
    let [receiving, running] = [0, 1].map(|index: usize| Waker::from(bells[index].clone()));
    let (now, mut batch) = (Instant::from_nanos(1_000), Batch::default());
    let mut turn = |rings: usize| {
        let polled = tunnel.poll_recv(&mut Context::from_waker(&receiving), &mut batch, 8);
        assert_eq!((polled, bells[1].rings()), (Poll::Pending, rings));
    };
    turn(0);
    // SYNs of 52 bytes: 256 KiB of them are 5,042.
    connect(&mut runner, now, 1..6_000);
    while runner.run(now, &mut Off) == Next::Now {}
    let first = count.take();
    assert_eq!(first, 5_042);
    assert_eq!((bells[0].rings(), runner.counters().outbound_full), (1, 0), "the tunnel is woken");
    assert_eq!(runner.poll_ready(&mut Context::from_waker(&running)), Poll::Pending);
    turn(1);
    assert_eq!(runner.poll_ready(&mut Context::from_waker(&running)), Poll::Ready(()));
    while runner.run(now, &mut Off) == Next::Now {}
    assert_eq!(first + count.take(), 5_999);
    turn(1);
}
