//! A run's time: first some that does not count, then some that does.

use crate::case::Case;
use crate::kernel::Kernel;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use std::time::{Duration, Instant};

/// How long a flow runs.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Not counted.
    pub warms_up: Duration,
    /// Counted.
    pub lasts: Duration,
}

/// What a run came to.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Data that the receiver's application has read.
    pub gbit: f64,
    /// Seconds.
    pub took: f64,
    /// Seconds of our side's thread.
    pub user: f64,
    pub system: f64,
}

impl Sample {
    pub fn gbit_per_second(&self) -> f64 {
        self.gbit / self.took
    }
}

/// Decides when a flow is over, and what it came to.
pub struct Watch {
    plan: Plan,
    kernel: Kernel,
    sends: bool,
    began: Instant,
    /// At the beginning of what counts: the time, bytes, user and system time.
    from: Option<(Instant, u64, f64, f64)>,
}

impl Watch {
    pub fn new(case: Case, plan: Plan, kernel: Kernel) -> Self {
        Self { plan, kernel, sends: case.sends, began: Instant::now(), from: None }
    }

    /// To be called often, with the bytes that our application has read so far. Returns the result when the time is over.
    pub fn look(&mut self, read: u64) -> Option<Sample> {
        let now = Instant::now();
        let bytes = || if self.sends { self.kernel.moved() } else { read };
        let Some((from, bytes_then, user_then, system_then)) = self.from else {
            if now - self.began >= self.plan.warms_up {
                let (user, system) = processor_time();
                self.from = Some((now, bytes(), user, system));
            }
            return None;
        };
        if now - from < self.plan.lasts {
            return None;
        }
        let (user, system) = processor_time();
        let gbit = (bytes() - bytes_then) as f64 * 8e-9;
        Some(Sample { gbit, took: (now - from).as_secs_f64(), user: user - user_then, system: system - system_then })
    }
}

/// User and system time of the calling thread, seconds.
fn processor_time() -> (f64, f64) {
    let usage = getrusage(UsageWho::RUSAGE_THREAD).expect("the kernel counts");
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6;
    (seconds(usage.user_time()), seconds(usage.system_time()))
}
