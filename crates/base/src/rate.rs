//! Data rates and delivery-rate samples.

use crate::{Bytes, Duration};
use core::fmt;

/// A data rate in bits per second; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// `bps` bits per second; `None` for zero.
    pub const fn from_bits_per_sec(bps: u64) -> Option<Self> {
        if bps == 0 { None } else { Some(Self(bps)) }
    }
    /// The rate that carries `bytes` in `span`, rounded down; `None` when that is zero or `span` is.
    pub fn from_delivery(bytes: u64, span: Duration) -> Option<Self> {
        let ns = u128::from(span.as_nanos());
        let bps = (u128::from(bytes) * 8 * 1_000_000_000).checked_div(ns)?;
        Self::from_bits_per_sec(u64::try_from(bps).unwrap_or(u64::MAX))
    }
    /// Bits per second.
    pub const fn bits_per_sec(self) -> u64 {
        self.0
    }
    /// Returns how long `bytes` take to pass, rounded up to a nanosecond.
    #[inline]
    pub fn time_for(self, bytes: u64) -> Duration {
        match bytes.checked_mul(8_000_000_000) {
            Some(scaled) => Duration::from_nanos(scaled.div_ceil(self.0)),
            None => self.time_for_wide(bytes),
        }
    }
    #[cold]
    fn time_for_wide(self, bytes: u64) -> Duration {
        let ns = (u128::from(bytes) * 8_000_000_000).div_ceil(u128::from(self.0));
        Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }
    /// Returns how many whole bytes pass in `span`.
    pub fn bytes_in(self, span: Duration) -> u64 {
        let bytes = u128::from(self.0) * u128::from(span.as_nanos()) / 8_000_000_000;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
    /// The rate scaled by `num / den`, rounded down but never to zero; `den` must not be zero.
    pub fn scale(self, num: u64, den: u64) -> Self {
        let bps = u128::from(self.0) * u128::from(num) / u128::from(den);
        Self(u64::try_from(bps).unwrap_or(u64::MAX).max(1))
    }
}

impl fmt::Display for Rate {
    /// Prints the shortest exact form among `Gbit`, `Mbit`, `kbit` and `bit`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, name) in [(1_000_000_000, "Gbit"), (1_000_000, "Mbit"), (1_000, "kbit")] {
            if self.0.is_multiple_of(unit) {
                return write!(f, "{}{name}", self.0 / unit);
            }
        }
        write!(f, "{}bit", self.0)
    }
}

/// One delivery-rate sample (draft-ietf-ccwg-bbr §4.1): what one ACK says about the speed of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// Bytes delivered between the sending of the newest acknowledged segment and now.
    pub delivered: u64,
    /// The longer of the send interval and the ACK interval of those bytes.
    pub interval: Duration,
    /// Total bytes delivered when that segment was sent: the start of the round it belongs to.
    pub prior_delivered: u64,
    /// Bytes that were in flight when that segment was sent, itself included.
    pub pipe_at_send: Bytes,
    /// Bytes marked lost between the sending of that segment and now.
    pub lost: u64,
    /// The sender had nothing more to send at that time, so the rate is a lower bound.
    pub app_limited: bool,
}

impl RateSample {
    /// The delivery rate; `None` when nothing was delivered or the interval is empty.
    pub fn rate(&self) -> Option<Rate> {
        Rate::from_delivery(self.delivered, self.interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use test_case::test_case;

    #[test_case(100_000_000, 1500, 120_000; "a full packet at 100 Mbit")]
    #[test_case(34_500_000, 1500, 347_827; "rounded up")]
    #[test_case(1, 1, 8_000_000_000; "slowest")]
    #[test_case(u64::MAX, 1, 1; "fastest")]
    fn time_for(bps: u64, bytes: u64, ns: u64) {
        assert_eq!(Rate::from_bits_per_sec(bps).unwrap().time_for(bytes).as_nanos(), ns);
    }

    #[test]
    fn zero_is_not_a_rate() {
        assert_eq!(Rate::from_bits_per_sec(0), None);
        assert_eq!(Rate::from_delivery(1, Duration::ZERO), None);
        assert_eq!(Rate::from_delivery(0, Duration::from_secs(1)), None);
    }

    proptest! {
        #[test]
        fn narrow_and_wide_arithmetic_agree(bps in 1u64.., bytes: u32) {
            let rate = Rate::from_bits_per_sec(bps).unwrap();
            prop_assert_eq!(rate.time_for(bytes.into()), rate.time_for_wide(bytes.into()));
        }

        #[test]
        fn what_passes_in_its_own_time_is_not_less(bps in 1_000u64..1_000_000_000_000, bytes: u32) {
            let rate = Rate::from_bits_per_sec(bps).unwrap();
            prop_assert!(rate.bytes_in(rate.time_for(bytes.into())) >= u64::from(bytes));
        }
    }
}
