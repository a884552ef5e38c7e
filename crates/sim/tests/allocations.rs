//! The steady state allocates nothing: twice the bytes cost no more allocations, TCP on both ends included.

use base::{Duration, Rate};
use core::sync::atomic::{AtomicU64, Ordering};
use netem::{Buffer, Jitter, JitterKind, PathSpec};
use sim::{FlowSpec, Scenario, Workload, run};
use std::alloc::{GlobalAlloc, Layout, System};
use tcp::Config;
use tcp::config::ReceiveWindowConfig;
use trace::Off;

/// Counts what it passes on to the system's allocator.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: both calls go to the system's allocator unchanged; counting touches no memory of theirs.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations and packets of one transfer that the receiver's window keeps from losing anything.
fn cost(bytes: u64) -> (u64, u64) {
    let mut config = Config::default();
    config.receive.window = ReceiveWindowConfig::Fixed { bytes: 200_000 };
    let config = config.validate().unwrap();
    let mut forward = PathSpec::ideal(Duration::from_millis(10));
    forward.rate = Rate::from_bits_per_sec(100_000_000);
    forward.buffer = Buffer::Bytes(300_000);
    forward.jitter = Some(Jitter { max: Duration::from_micros(100), kind: JitterKind::KeepOrder });
    let mut scenario = Scenario::new(1, forward, PathSpec::ideal(Duration::from_millis(10)));
    scenario.flows.push(FlowSpec::new(config.clone(), config, Workload::Bytes(bytes)));
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let outcome = run(&scenario, &mut Off).unwrap();
    assert_eq!(outcome.forward.dropped.total(), 0);
    (ALLOCATIONS.load(Ordering::Relaxed) - before, outcome.packets())
}

#[test]
fn more_bytes_need_no_more_allocations() {
    cost(100_000);
    let (short, long) = (cost(10_000_000), cost(40_000_000));
    let packets = long.1 - short.1;
    assert!(packets > 20_000, "{packets} packets more");
    let allocations = long.0.saturating_sub(short.0);
    assert!(allocations < 20, "{allocations} allocations more for {packets} packets more");
}
