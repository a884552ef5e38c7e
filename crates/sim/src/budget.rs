//! Limits of a run: exceeding one is a failure with a name, never a hang.

use base::{Duration, Instant};
use core::fmt;

/// The resources that a run may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetSpec {
    /// Times a node may be served.
    pub steps: u64,
    /// Virtual time.
    pub virtual_time: Duration,
    /// Packets inside any one path at once.
    pub packets_in_flight: usize,
}

impl Default for BudgetSpec {
    /// Far more than any experiment of this project needs, but finite: some hours of one processor, ten hours of virtual time,
    /// some gigabytes of packets.
    fn default() -> Self {
        Self { steps: 10_000_000_000, virtual_time: Duration::from_secs(36_000), packets_in_flight: 10_000_000 }
    }
}

/// What can be exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// [`BudgetSpec::steps`].
    Steps,
    /// [`BudgetSpec::virtual_time`].
    VirtualTime,
    /// [`BudgetSpec::packets_in_flight`].
    PacketsInFlight,
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Steps => "steps",
            Self::VirtualTime => "virtual time",
            Self::PacketsInFlight => "packets in flight",
        })
    }
}

/// What is left.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    spec: BudgetSpec,
    steps: u64,
}

/// Queues are checked once in this many steps; a step adds at most a few windows of packets.
const QUEUE_CHECK_STEPS: u64 = 256;

impl Budget {
    pub(crate) fn new(spec: BudgetSpec) -> Self {
        Self { spec, steps: 0 }
    }

    /// Steps taken so far.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Counts one step at `now`; `in_flight` returns the number of packets in the fullest path.
    ///
    /// # Errors
    /// Names what is exhausted.
    #[inline]
    pub(crate) fn spend(&mut self, now: Instant, in_flight: impl FnOnce() -> usize) -> Result<(), Resource> {
        self.steps += 1;
        let what = if self.steps > self.spec.steps {
            Resource::Steps
        } else if now.as_nanos() > self.spec.virtual_time.as_nanos() {
            Resource::VirtualTime
        } else if self.steps.is_multiple_of(QUEUE_CHECK_STEPS) && in_flight() > self.spec.packets_in_flight {
            Resource::PacketsInFlight
        } else {
            return Ok(());
        };
        Err(what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_failure(spec: BudgetSpec, step: Duration, in_flight: usize) -> (u64, Resource) {
        let mut budget = Budget::new(spec);
        let mut now = Instant::ZERO;
        loop {
            now += step;
            if let Err(what) = budget.spend(now, || in_flight) {
                return (budget.steps(), what);
            }
        }
    }

    #[test]
    fn each_resource_ends_by_its_name() {
        let spec = BudgetSpec { steps: 1_000, virtual_time: Duration::from_secs(1), packets_in_flight: 50 };
        assert_eq!(first_failure(spec, Duration::ZERO, 50), (1_001, Resource::Steps));
        assert_eq!(first_failure(spec, Duration::from_millis(10), 50), (101, Resource::VirtualTime));
        assert_eq!(first_failure(spec, Duration::ZERO, 51), (QUEUE_CHECK_STEPS, Resource::PacketsInFlight));
    }
}
