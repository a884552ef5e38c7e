//! Virtual or monotonic time in whole nanoseconds.
//!
//! `Instant` has no `now()`: a moment enters the core only as an argument. Arithmetic saturates, because a deadline beyond the
//! end of time is simply never reached, while a panic caused by a number from the network would be a bug.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub};

/// A span of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

/// A moment, in nanoseconds since an origin that the driver chooses (the start of a simulation, or of a process).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest span; used for "never".
    pub const MAX: Self = Self(u64::MAX);

    /// A span of `ns` nanoseconds.
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns)
    }
    /// A span of `us` microseconds.
    pub const fn from_micros(us: u64) -> Self {
        Self(us.saturating_mul(1_000))
    }
    /// A span of `ms` milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000_000))
    }
    /// A span of `s` seconds.
    pub const fn from_secs(s: u64) -> Self {
        Self(s.saturating_mul(1_000_000_000))
    }
    /// Whole nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
    /// Whole microseconds, rounded down.
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }
    /// Whole milliseconds, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }
    /// The difference, or zero when `other` is longer.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
    /// The distance between two spans, whichever is longer.
    pub const fn abs_diff(self, other: Self) -> Self {
        Self(self.0.abs_diff(other.0))
    }
    /// This span held between `low` and `high`.
    pub fn clamp_between(self, low: Self, high: Self) -> Self {
        self.max(low).min(high)
    }
    /// The span scaled by `num / den`, rounded down; `den` must not be zero.
    pub fn scale(self, num: u64, den: u64) -> Self {
        Self(u64::try_from(u128::from(self.0) * u128::from(num) / u128::from(den)).unwrap_or(u64::MAX))
    }
    /// Returns the smallest multiple of `tick` that is not shorter than this span; a zero `tick` returns it unchanged.
    pub fn round_up_to(self, tick: Self) -> Self {
        if tick.0 == 0 { self } else { Self(self.0.div_ceil(tick.0).saturating_mul(tick.0)) }
    }
    /// Whether this is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl Instant {
    /// The origin.
    pub const ZERO: Self = Self(0);
    /// The end of time; a deadline that is never reached.
    pub const MAX: Self = Self(u64::MAX);

    /// The moment `ns` nanoseconds after the origin.
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns)
    }
    /// Nanoseconds since the origin.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
    /// Time since `earlier`, or zero when `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
    /// The smallest moment not before this one that is a multiple of `tick` since the origin.
    pub fn round_up_to(self, tick: Duration) -> Self {
        Self(Duration(self.0).round_up_to(tick).0)
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}
impl AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
impl Mul<u32> for Duration {
    type Output = Self;
    fn mul(self, factor: u32) -> Self {
        Self(self.0.saturating_mul(u64::from(factor)))
    }
}
impl Div<u32> for Duration {
    type Output = Self;
    fn div(self, divisor: u32) -> Self {
        Self(self.0 / u64::from(divisor))
    }
}
impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}
impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}
impl Sub<Duration> for Instant {
    type Output = Self;
    fn sub(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

impl fmt::Display for Duration {
    /// Prints the shortest exact form among `s`, `ms`, `us` and `ns`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, name) in [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")] {
            if self.0 != 0 && self.0.is_multiple_of(unit) {
                return write!(f, "{}{name}", self.0 / unit);
            }
        }
        write!(f, "{}ns", self.0)
    }
}
impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ns", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case(0, "0ns")]
    #[test_case(1_500, "1500ns")]
    #[test_case(25_000_000, "25ms")]
    #[test_case(3_000_000_000, "3s")]
    fn prints_the_shortest_exact_form(ns: u64, text: &str) {
        assert_eq!(Duration::from_nanos(ns).to_string(), text);
    }

    #[test]
    fn arithmetic_saturates_at_both_ends_of_time() {
        assert_eq!(Instant::MAX + Duration::from_secs(1), Instant::MAX);
        assert_eq!(Instant::ZERO - Duration::from_secs(1), Instant::ZERO);
        assert_eq!(Instant::ZERO.since(Instant::MAX), Duration::ZERO);
        assert_eq!(Duration::MAX.scale(3, 2), Duration::MAX);
    }

    #[test_case(0, 10, 0)]
    #[test_case(1, 10, 10)]
    #[test_case(10, 10, 10)]
    #[test_case(11, 0, 11; "no tick, no rounding")]
    fn rounds_up_to_a_tick(ns: u64, tick: u64, expected: u64) {
        let rounded = Instant::from_nanos(ns).round_up_to(Duration::from_nanos(tick));
        assert_eq!(rounded, Instant::from_nanos(expected));
    }
}
