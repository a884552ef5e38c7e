//! A driver polled by hand: what wakes it, and what does not.

use crate::two::server;
use longhaul_tokio::{Batch, Clock, Duration, Instant, Stack};
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, Wake, Waker};

/// A clock that the test sets, in seconds; it wakes no task.
#[derive(Clone, Default)]
struct ByHand(Arc<AtomicU64>);

impl Clock for ByHand {
    fn now(&mut self) -> Instant {
        Instant::ZERO + Duration::from_secs(self.0.load(Relaxed))
    }

    fn poll_until(&mut self, _: &mut Context<'_>, at: Instant) -> Poll<io::Result<()>> {
        if at <= self.now() { Poll::Ready(Ok(())) } else { Poll::Pending }
    }
}

/// Counts how often it is called.
#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// A SYN's timer is due and waits for the device: until that was read, neither the driver's own turn nor a call of the application
/// gives the driver anything to do.
#[test]
fn a_driver_that_waits_for_the_device_rests() {
    let (clock, bell) = (ByHand::default(), Arc::new(Bell::default()));
    let builder = Stack::builder().addresses(["10.0.0.1".parse().unwrap()]).clock(clock.clone());
    let (net, packets, driver) = builder.build().unwrap();
    let mut driver = pin!(driver);
    let waker = Waker::from(bell.clone());
    let mut drive = || assert!(driver.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    packets.reads_device();
    packets.device_is_empty();
    let mut connect = pin!(net.connect(server(80)));
    assert!(connect.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drive();
    let mut sent = Batch::default();
    assert_eq!(packets.try_recv(&mut sent, 8), Ok(1), "the SYN");
    clock.0.store(5, Relaxed);
    let before = bell.0.load(Relaxed);
    drive();
    assert_eq!(net.stats().connections, 1);
    assert_eq!(bell.0.load(Relaxed), before, "a driver that wakes itself would run on and on");
    assert_eq!(packets.try_recv(&mut sent, 8), Ok(0), "the SYN-ACK may be in the device");
    packets.device_is_empty();
    assert_eq!(bell.0.load(Relaxed), before + 1);
    drive();
    assert_eq!(packets.try_recv(&mut sent, 8), Ok(1), "the SYN again");
}
