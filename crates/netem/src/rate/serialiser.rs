//! What takes packets off a queue: the seam, and a serialiser of fixed rate.
//!
//! The serialiser keeps the fraction of a nanosecond by which an exit time is rounded up, so that a busy link runs at exactly its
//! rate over any number of packets; a single exit is late by less than a nanosecond, never early.

use base::{Instant, Rate};
use core::fmt::Debug;

/// When a link sends: packets pass it one behind the other.
pub trait Service: Clone + Debug + Send {
    /// Moves the beginning of a trace from the start of time to `at`; call it before any packet passes.
    fn begin(&mut self, _at: Instant) {}
    /// Returns when the last bit of `len` bytes has left that follow all earlier ones and begin at `now` or later.
    fn exit(&mut self, now: Instant, len: u32) -> Instant;
    /// The same for a packet that has waited for the link, until the time that `begins` returned.
    fn follow(&mut self, ready: Instant, len: u32) -> Instant;
    /// Returns when a packet could begin to leave, at `at` or later; earlier packets have left by then.
    fn begins(&self, at: Instant) -> Instant;
    /// Starts behind packets of another link, the last of which leaves at `exit`; call it before any packet passes.
    fn start_behind(&mut self, exit: Instant);
}

/// 8 bits per byte, 10⁹ nanoseconds per second: `bytes × BIT_NANOS / bits per second` is a time in nanoseconds.
pub(crate) const BIT_NANOS: u64 = 8_000_000_000;

/// Virtual time of a link: when its last bit leaves, exactly.
#[derive(Clone, Debug)]
pub struct Serialiser {
    rate: Rate,
    /// The whole nanosecond of that moment …
    idle_from_ns: u64,
    /// … and the rest, in units of 1 / (bits per second) of a nanosecond; less than the rate.
    fraction: u64,
}

impl Serialiser {
    /// Creates an idle link that passes `rate`.
    pub fn new(rate: Rate) -> Self {
        Self { rate, idle_from_ns: 0, fraction: 0 }
    }

    #[cold]
    fn divide_wide(&self, len: u32) -> (u64, u64) {
        let bps = u128::from(self.rate.bits_per_sec());
        let scaled = u128::from(len) * u128::from(BIT_NANOS) + u128::from(self.fraction);
        // The quotient is below 2^32 · 8·10^9 / bps + 1 and the remainder below `bps`; only the slowest rates saturate.
        (u64::try_from(scaled / bps).unwrap_or(u64::MAX), (scaled % bps) as u64)
    }
}

impl Service for Serialiser {
    /// The exit time is rounded up to a nanosecond.
    #[inline]
    fn exit(&mut self, now: Instant, len: u32) -> Instant {
        if now.as_nanos() > self.idle_from_ns {
            (self.idle_from_ns, self.fraction) = (now.as_nanos(), 0);
        }
        let bps = self.rate.bits_per_sec();
        let (whole, fraction) = match u64::from(len).checked_mul(BIT_NANOS).and_then(|n| n.checked_add(self.fraction)) {
            Some(scaled) => (scaled / bps, scaled % bps),
            None => self.divide_wide(len),
        };
        self.idle_from_ns = self.idle_from_ns.saturating_add(whole);
        self.fraction = fraction;
        Instant::from_nanos(self.idle_from_ns.saturating_add(u64::from(fraction > 0)))
    }

    /// The packet follows its predecessor without a gap, to the fraction of a nanosecond.
    fn follow(&mut self, _ready: Instant, len: u32) -> Instant {
        self.exit(Instant::ZERO, len)
    }

    fn begins(&self, at: Instant) -> Instant {
        at
    }

    fn start_behind(&mut self, exit: Instant) {
        self.idle_from_ns = exit.as_nanos();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::rate;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn wide_and_narrow_division_agree(bps in 1u64.., len: u32, fraction: u64) {
            let serialiser = Serialiser { fraction: fraction % bps, ..Serialiser::new(rate(bps)) };
            let scaled = u128::from(len) * u128::from(BIT_NANOS) + u128::from(serialiser.fraction);
            let (whole, rest) = serialiser.divide_wide(len);
            prop_assert!(rest < bps);
            if u64::try_from(scaled / u128::from(bps)).is_ok() {
                prop_assert_eq!(u128::from(whole) * u128::from(bps) + u128::from(rest), scaled);
            }
        }
    }
}
