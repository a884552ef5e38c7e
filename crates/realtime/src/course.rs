//! The time of a run of several flows.

use base::Instant;
use net::{Clock, MonotonicClock};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Interval at which a waiting flow checks whether the run was given up.
const GLANCE: Duration = Duration::from_millis(100);

/// The time of a run.
#[derive(Clone, Copy)]
pub struct Course<'r> {
    /// Its start.
    pub began: Instant,
    /// The end of its window.
    pub until: base::Duration,
    /// Whether the run was given up.
    pub stop: &'r AtomicBool,
}

impl Course<'_> {
    /// Returns the time since the start of the run.
    pub fn now(&self) -> base::Duration {
        MonotonicClock::default().now().since(self.began)
    }

    /// Returns whether the window has ended, or the run was given up.
    pub fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.now() >= self.until
    }

    /// Waits for a time of the run, or for its end.
    pub fn wait_for(&self, time: base::Duration) {
        let due = self.began + time;
        while !self.is_over() {
            let left = due.since(MonotonicClock::default().now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(Duration::from_nanos(left.as_nanos()).min(GLANCE));
        }
    }

    /// An empty bin for each second of the run.
    pub fn bins(&self) -> Vec<u64> {
        vec![0; (self.until.as_nanos() / SECOND) as usize]
    }
}

/// Counts bytes in the second of the run in which they were read.
pub fn count(bins: &mut [u64], at: base::Duration, bytes: u64) {
    if let Some(bin) = bins.get_mut((at.as_nanos() / SECOND) as usize) {
        *bin += bytes;
    }
}

const SECOND: u64 = 1_000_000_000;
