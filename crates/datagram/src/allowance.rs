//! How often something may be done: a number per second, of which a second's worth may come in one burst.

use base::{Duration, Instant};

/// A token bucket, kept as the time at which it would be full again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    per_second: u32,
    until: Instant,
}

impl Allowance {
    pub fn new(per_second: u32) -> Self {
        Self { per_second, until: Instant::ZERO }
    }

    /// Returns whether it may be done once more.
    pub fn take(&mut self, now: Instant) -> bool {
        let second = Duration::from_secs(1);
        let Some(interval) = second.as_nanos().checked_div(u64::from(self.per_second)) else { return false };
        let next = self.until.max(now) + Duration::from_nanos(interval);
        let allowed = next <= now + second;
        if allowed {
            self.until = next;
        }
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case(0, 0, 0; "nothing is allowed")]
    #[test_case(5, 5, 2; "a burst, then at its rate")]
    fn allowed(per_second: u32, burst: usize, later: usize) {
        let mut allowance = Allowance::new(per_second);
        let taken = |allowance: &mut Allowance, at| (0..50).filter(|_| allowance.take(at)).count();
        let start = Instant::from_nanos(7);
        assert_eq!(taken(&mut allowance, start), burst);
        assert_eq!(taken(&mut allowance, start + Duration::from_millis(400)), later);
        assert_eq!(taken(&mut allowance, start + Duration::from_secs(60)), burst);
    }
}
