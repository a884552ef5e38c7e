//! A run's time: first some that does not count, then some that does.

use crate::case::Case;
use crate::kernel::Kernel;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use nix::unistd::{SysconfVar, sysconf};
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
    /// Seconds of our side's thread or process.
    pub user: f64,
    pub system: f64,
}

impl Sample {
    pub fn gbit_per_second(&self) -> f64 {
        self.gbit / self.took
    }
}

/// Whose processor time counts.
#[derive(Clone, Copy, Debug)]
pub enum Whose {
    /// The calling thread's.
    Thread,
    /// That of all threads of the process with this number.
    Process(u32),
}

/// Decides when a flow is over, and what it came to.
pub struct Watch {
    plan: Plan,
    kernel: Kernel,
    sends: bool,
    whose: Whose,
    began: Instant,
    /// At the beginning of what counts: the time, bytes, user and system time.
    from: Option<(Instant, u64, f64, f64)>,
}

impl Watch {
    pub fn new(case: Case, plan: Plan, kernel: Kernel, whose: Whose) -> Self {
        Self { plan, kernel, sends: case.sends, whose, began: Instant::now(), from: None }
    }

    /// To be called often, with the bytes that our application has read so far. Returns the result when the time is over.
    pub fn look(&mut self, read: u64) -> Option<Sample> {
        let now = Instant::now();
        let bytes = || if self.sends { self.kernel.moved() } else { read };
        let Some((from, bytes_then, user_then, system_then)) = self.from else {
            if now - self.began >= self.plan.warms_up {
                let (user, system) = self.whose.processor_time();
                self.from = Some((now, bytes(), user, system));
            }
            return None;
        };
        if now - from < self.plan.lasts {
            return None;
        }
        let (user, system) = self.whose.processor_time();
        let gbit = (bytes() - bytes_then) as f64 * 8e-9;
        Some(Sample { gbit, took: (now - from).as_secs_f64(), user: user - user_then, system: system - system_then })
    }
}

impl Whose {
    /// User and system time, seconds.
    fn processor_time(self) -> (f64, f64) {
        match self {
            Self::Thread => {
                let usage = getrusage(UsageWho::RUSAGE_THREAD).expect("the kernel counts");
                let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6;
                (seconds(usage.user_time()), seconds(usage.system_time()))
            }
            Self::Process(id) => {
                let text = std::fs::read_to_string(format!("/proc/{id}/stat")).expect("the process runs");
                let (_, fields) = text.rsplit_once(") ").expect("its name is in brackets");
                // The fields that proc(5) numbers 14 and 15; the one after the name has the number 3.
                let mut ticks = fields.split(' ').skip(11).map(|field| field.parse::<f64>().expect("a number"));
                let a_second = sysconf(SysconfVar::CLK_TCK).expect("the kernel has ticks").expect("it counts by them");
                let mut next = || ticks.next().expect("the line has all fields") / a_second as f64;
                (next(), next())
            }
        }
    }
}
