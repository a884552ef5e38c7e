//! When the next segment may leave, for controllers that pace: a token bucket in bytes.
//!
//! The bucket fills at the controller's rate and holds one quantum, so a sender that was silent sends at most one quantum at
//! once. It stores bytes rather than a release time, because the rate changes with every ACK: a release time granted at one rate
//! would overdraw the bucket at the next rate.
//!
//! A blocked sender waits for several segments' worth ([`BURST`]), not for one: then a fast connection needs one timer per burst.
//! A driver that wakes up late finds in the bucket the bytes it was late for, up to [`LATENESS`], beyond the quantum. So a
//! machine whose timers are tens of microseconds late still sends at the rate, in larger bursts, and with exact timers nothing
//! ever exceeds the quantum.

use base::{Bytes, Duration, Instant};
use cc::Pacing;

/// A blocked sender waits for the bytes that leave in this time, at least two segments and at most one quantum.
const BURST: Duration = Duration::from_millis(1);
/// Longest lateness of a driver that a blocked sender makes up for. A later driver counts as silent.
const LATENESS: Duration = Duration::from_millis(1);
/// Units of credit in one byte: a rate of one bit per second earns one unit per nanosecond, which avoids rounding.
const UNITS: i64 = 8_000_000_000;

/// The pacer's state.
#[derive(Clone, Debug)]
pub(crate) struct Pacer {
    /// Current credit in [`UNITS`] of a byte; negative after transmissions that the pacer does not control.
    credit: i64,
    /// When `credit` was last updated.
    counted: Instant,
    /// A blocked sender waits until this time; [`Instant::ZERO`] if none waits.
    until: Instant,
    /// When the timer of the last wait was served; earlier than `until` before that.
    served: Instant,
}

impl Default for Pacer {
    /// A full bucket.
    fn default() -> Self {
        Self { credit: i64::MAX, counted: Instant::ZERO, until: Instant::ZERO, served: Instant::ZERO }
    }
}

impl Pacer {
    /// Returns `None` when a segment of `size` bytes may leave now, else when to try again. Calls `pacing` and `ready`, the bytes
    /// that could leave without the pacer, only if needed.
    #[inline]
    pub fn blocked_until(
        &mut self,
        now: Instant,
        size: Bytes,
        pacing: impl FnOnce() -> Option<Pacing>,
        ready: impl FnOnce() -> Bytes,
    ) -> Option<Instant> {
        let needed = worth(size);
        if now == self.counted && now >= self.until && self.credit >= needed {
            return None;
        }
        match pacing() {
            None => {
                (self.credit, self.counted) = (i64::MAX, now);
                None
            }
            Some(Pacing::Departure(at)) => {
                // One segment leaves, and the next one asks again.
                (self.credit, self.counted) = (needed, now);
                self.until = if at > now { at } else { Instant::ZERO };
                (at > now).then_some(at)
            }
            Some(Pacing::Rate { rate, quantum }) => {
                let (bits_per_sec, depth) = (rate.bits_per_sec(), worth(quantum).max(needed));
                // Also during a wait: each part of the wait counts at the rate of that time.
                self.count(now, bits_per_sec, depth);
                if now < self.until {
                    return Some(self.until);
                }
                if self.credit >= needed {
                    self.until = Instant::ZERO;
                    return None;
                }
                let burst = earned(bits_per_sec, BURST).max(worth(2 * size)).min(depth);
                let wanted = burst.min(worth(ready())).max(needed);
                let missing = wanted.abs_diff(self.credit).div_ceil(bits_per_sec);
                self.until = now + Duration::from_nanos(missing);
                Some(self.until)
            }
        }
    }

    /// Adds the credit for the time since the last update.
    fn count(&mut self, now: Instant, bits_per_sec: u64, depth: i64) {
        let served = if self.served < self.until { now } else { self.served };
        let late = served.since(self.until);
        let waited = self.until != Instant::ZERO && late <= LATENESS;
        let most = if waited { depth.saturating_add(earned(bits_per_sec, late)) } else { depth };
        let gained = earned(bits_per_sec, now.since(self.counted));
        self.credit = self.credit.saturating_add(gained).min(most);
        self.counted = now;
    }

    /// Handles the timer of the wait. A sender that something else blocks from here on is not late.
    pub fn on_timer(&mut self, now: Instant) {
        if self.served < self.until && self.until <= now {
            self.served = now;
        }
    }

    /// Returns whether a sender waits at `now`.
    pub fn is_waiting(&self, now: Instant) -> bool {
        now < self.until
    }

    /// Returns the bytes that may leave now, for frames of several segments.
    #[inline]
    pub fn allowed(&self) -> Bytes {
        Bytes::try_from(self.credit / UNITS).unwrap_or(if self.credit < 0 { 0 } else { Bytes::MAX })
    }

    /// Accounts for departing segments with `bytes` of payload.
    #[inline]
    pub fn on_sent(&mut self, bytes: Bytes) {
        self.credit = self.credit.saturating_sub(worth(bytes));
    }
}

/// Returns the credit that `bytes` cost.
#[inline]
const fn worth(bytes: Bytes) -> i64 {
    (bytes as i64).saturating_mul(UNITS)
}

/// The credit that a rate earns in `span`.
#[inline]
fn earned(bits_per_sec: u64, span: Duration) -> i64 {
    i64::try_from(bits_per_sec.saturating_mul(span.as_nanos())).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
