//! Sequence numbers modulo 2^32 (RFC 9293 §3.4) and half-open ranges of them.
//!
//! Comparison is serial: `a` is before `b` if the shortest way round the circle from `a` to `b` is forwards. `Ord` is missing,
//! because serial order is not transitive and a sorted collection of arbitrary numbers would be wrong.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

/// A TCP sequence number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SeqNum(pub u32);

impl SeqNum {
    /// `self` lies strictly before `other`.
    #[inline]
    pub const fn before(self, other: Self) -> bool {
        (self.0.wrapping_sub(other.0) as i32) < 0
    }
    /// `self` lies strictly after `other`.
    #[inline]
    pub const fn after(self, other: Self) -> bool {
        other.before(self)
    }
    /// `self` is `other` or lies before it.
    #[inline]
    pub const fn at_or_before(self, other: Self) -> bool {
        !self.after(other)
    }
    /// `self` is `other` or lies after it.
    #[inline]
    pub const fn at_or_after(self, other: Self) -> bool {
        !self.before(other)
    }
    /// Bytes from `earlier` up to `self`, going forwards round the circle.
    #[inline]
    pub const fn distance_from(self, earlier: Self) -> u32 {
        self.0.wrapping_sub(earlier.0)
    }
    /// The later of two.
    #[inline]
    pub const fn max(self, other: Self) -> Self {
        if self.before(other) { other } else { self }
    }
    /// The earlier of two.
    #[inline]
    pub const fn min(self, other: Self) -> Self {
        if other.before(self) { other } else { self }
    }
}

impl Add<u32> for SeqNum {
    type Output = Self;
    #[inline]
    fn add(self, bytes: u32) -> Self {
        Self(self.0.wrapping_add(bytes))
    }
}
impl AddAssign<u32> for SeqNum {
    #[inline]
    fn add_assign(&mut self, bytes: u32) {
        *self = *self + bytes;
    }
}
impl Sub<u32> for SeqNum {
    type Output = Self;
    #[inline]
    fn sub(self, bytes: u32) -> Self {
        Self(self.0.wrapping_sub(bytes))
    }
}
impl fmt::Display for SeqNum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The sequence numbers from `start` up to but not including `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SeqRange {
    /// First number inside.
    pub start: SeqNum,
    /// First number behind.
    pub end: SeqNum,
}

impl SeqRange {
    /// The range from `start` to `end`.
    #[inline]
    pub const fn new(start: SeqNum, end: SeqNum) -> Self {
        Self { start, end }
    }
    /// Bytes inside; zero when `end` is not after `start`.
    #[inline]
    pub const fn len(self) -> u32 {
        if self.start.before(self.end) { self.end.distance_from(self.start) } else { 0 }
    }
    /// Whether nothing lies inside.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }
    /// Whether `seq` lies inside.
    #[inline]
    pub const fn contains(self, seq: SeqNum) -> bool {
        self.start.at_or_before(seq) && seq.before(self.end)
    }
    /// Whether `seq` lies inside or is the end. A number that was noted long ago, and that the range has since left more than half the
    /// circle behind, is neither, where a comparison with one end alone would take it for a later one.
    #[inline]
    pub const fn reaches(self, seq: SeqNum) -> bool {
        seq.distance_from(self.start) <= self.end.distance_from(self.start)
    }
    /// Whether all of `other` lies inside.
    #[inline]
    pub const fn covers(self, other: Self) -> bool {
        self.start.at_or_before(other.start) && other.end.at_or_before(self.end)
    }
}
impl fmt::Display for SeqRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use test_case::test_case;

    #[test_case(5, 6, true)]
    #[test_case(u32::MAX - 5, 5, true; "across the wrap")]
    #[test_case(5, u32::MAX - 5, false; "backwards across the wrap")]
    #[test_case(7, 7, false; "not before itself")]
    fn before(a: u32, b: u32, expected: bool) {
        assert_eq!(SeqNum(a).before(SeqNum(b)), expected);
    }

    proptest! {
        #[test]
        fn agrees_with_unwrapped_numbers_within_half_the_circle(a: u64, ahead in 0u64..(1 << 31)) {
            let (x, y) = (SeqNum(a as u32), SeqNum(a.wrapping_add(ahead) as u32));
            prop_assert_eq!(x.before(y), ahead > 0);
            prop_assert_eq!(y.after(x), ahead > 0);
            prop_assert_eq!(u64::from(y.distance_from(x)), ahead);
            prop_assert_eq!(x.max(y), y);
            prop_assert_eq!(x.min(y), x);
        }

        #[test]
        fn a_range_contains_its_ends_as_documented(start: u32, len in 1u32..(1 << 30)) {
            let range = SeqRange::new(SeqNum(start), SeqNum(start) + len);
            prop_assert_eq!(range.len(), len);
            prop_assert!(range.contains(range.start) && !range.contains(range.end));
            prop_assert!(range.reaches(range.start) && range.reaches(range.end));
            prop_assert!(range.covers(range));
            prop_assert!(SeqRange::new(range.end, range.start).is_empty());
        }

        #[test]
        fn a_range_reaches_nothing_that_it_left_behind(start: u32, len in 0u32..(1 << 30), ago in 1u32..=!(1 << 30)) {
            let range = SeqRange::new(SeqNum(start), SeqNum(start) + len);
            prop_assert!(!range.reaches(range.start - ago));
        }
    }
}
