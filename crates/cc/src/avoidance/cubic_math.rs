//! CUBIC's arithmetic in integers: a cube root, time in binary fractions of a second, and the curve (RFC 9438 §4.2).
//!
//! Fixed point instead of floats keeps traces identical across machines. Time is counted in units of 2^-20 s (about a
//! microsecond), so that scaling a product back is a shift; an ACK costs no 128-bit division.

use crate::window::Window;
use base::{Bytes, Duration, Ratio};
use core::ops::Add;

/// Binary places of all fractions in this file.
pub const FRACTION_BITS: u32 = 20;

/// A span in units of 2^-20 s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticks(pub u64);

impl Ticks {
    /// Beyond this (twelve days) the curve exceeds every window, and a cube would overflow 128 bits.
    const MAX: u64 = 1 << 40;

    /// Converts `span`, rounded down to a tick and limited to twelve days.
    #[inline]
    pub fn of(span: Duration) -> Self {
        // 10^9 = 2^9 · 5^9: half of the scaling cancels, and the rest is a division by a constant.
        const FIVE_TO_THE_NINTH: u64 = 1_953_125;
        let ns = span.as_nanos().min(1 << 52);
        Self(((ns << (FRACTION_BITS - 9)) / FIVE_TO_THE_NINTH).min(Self::MAX))
    }
    /// Returns whole milliseconds.
    pub const fn as_millis(self) -> u64 {
        (self.0 * 1_000) >> FRACTION_BITS
    }
}

impl Add for Ticks {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// Returns the largest integer whose cube is at most `n`.
///
/// Determines one binary digit of the root at a time, from the top: at most 43 trial cubes, once per epoch.
pub fn cube_root(n: u128) -> u64 {
    let mut root: u128 = 0;
    let top = (u128::BITS - n.leading_zeros()).div_ceil(3);
    for bit in (0..top).rev() {
        let trial = root | (1 << bit);
        // Compares with `n / trial²`, because `trial³` may overflow.
        if trial <= n / (trial * trial) {
            root = trial;
        }
    }
    root as u64
}

/// `a · b`, where `b` has 32 binary places.
#[inline]
pub const fn times_share(a: u64, b: u64) -> u64 {
    ((a as u128 * b as u128) >> 32) as u64
}

/// `value · ratio` with [`FRACTION_BITS`] binary places.
pub fn fixed(value: Bytes, ratio: Ratio) -> u64 {
    let scaled = (u128::from(value) << FRACTION_BITS) * u128::from(ratio.num()) / u128::from(ratio.den());
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

/// `W_cubic(t) = C·(t − K)³ + W_max`, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Curve {
    /// When the curve returns to `w_max`, from the beginning of the epoch.
    pub k: Ticks,
    /// Its plateau, bytes.
    pub w_max: Bytes,
    /// Bytes of a segment.
    pub smss: Bytes,
    /// `C` in bytes per cubic second, with [`FRACTION_BITS`] binary places.
    steepness: u64,
}

impl Curve {
    //= specs/rfc9438.md#window-growth
    //# K is the cube root of (W_max − cwnd) / C, with the window of the stage's beginning.
    /// Returns the curve that begins at `start` and has its plateau at `w_max`, both in bytes; it is flat at first if `start` is
    /// not below `w_max`.
    pub fn new(start: Bytes, w_max: Bytes, c: Ratio, smss: Bytes) -> Self {
        let depth = u128::from(w_max.saturating_sub(start)) * u128::from(c.den());
        let cubic_ticks = (depth << (3 * FRACTION_BITS)) / (u128::from(c.num()) * u128::from(smss));
        Self { k: Ticks(cube_root(cubic_ticks)), w_max: w_max.max(start), smss, steepness: fixed(smss, c) }
    }

    /// Adjusts to segments of `smss` bytes; plateau and `k` stay.
    pub fn resize(&mut self, c: Ratio, smss: Bytes) {
        (self.smss, self.steepness) = (smss, fixed(smss, c));
    }

    //= specs/rfc9438.md#window-growth
    //# The cubic is C · (t − K)³ + W_max, with t the time since the present stage of avoidance began.
    /// Returns the target window `t` after the beginning of the epoch; between zero and [`Window::MAX`].
    #[inline]
    pub fn at(&self, t: Ticks) -> Bytes {
        let distance = u128::from(t.0.abs_diff(self.k.0).min(Ticks::MAX));
        // 2^40 ticks squared and scaled back need 60 bits, cubed 80, and a steepness below 2^36 makes that 116.
        let cubed = (((distance * distance) >> FRACTION_BITS) * distance) >> FRACTION_BITS;
        let bytes = (cubed * u128::from(self.steepness)) >> (2 * FRACTION_BITS);
        let bytes = bytes.min(u128::from(Window::MAX)) as Bytes;
        if t < self.k { self.w_max.saturating_sub(bytes) } else { (self.w_max + bytes).min(Window::MAX) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::avoidance::ratio;
    use proptest::prelude::*;
    use test_case::test_case;

    const C: Ratio = ratio(4, 10);

    #[test]
    fn cube_root_is_exact_for_every_small_number() {
        let mut root = 0_u64;
        for n in 0..2_000_000_u128 {
            if u128::from(root + 1).pow(3) <= n {
                root += 1;
            }
            assert_eq!(cube_root(n), root, "of {n}");
        }
    }

    #[test]
    fn cube_root_steps_exactly_at_perfect_cubes() {
        let largest = 6_981_463_658_331; // the largest root whose cube has 128 bits
        let powers = (1..43).flat_map(|bit| [(1_u64 << bit) - 1, 1 << bit, (1 << bit) + 1]);
        for root in powers.filter(|root| *root <= largest).chain([largest]) {
            let cube = u128::from(root).pow(3);
            assert_eq!(cube_root(cube), root);
            assert_eq!(cube_root(cube - 1), root - 1);
            assert_eq!(cube_root(cube + 1), root, "{root}");
        }
        assert_eq!(cube_root(u128::MAX), largest);
    }

    proptest! {
        #[test]
        fn cube_root_brackets_its_argument(n in 0..=u128::MAX) {
            let root = u128::from(cube_root(n));
            prop_assert!(root.pow(3) <= n);
            prop_assert!((root + 1).checked_pow(3).is_none_or(|above| above > n));
        }

        #[test]
        fn a_curve_never_falls(start in 0..Window::MAX, w_max in 0..Window::MAX, smss in 1..65_536_u32, t: u64, dt: u64) {
            let curve = Curve::new(start, w_max, C, smss);
            prop_assert!(curve.at(Ticks(t)) <= curve.at(Ticks(t) + Ticks(dt)));
            prop_assert!(curve.at(Ticks(t)) <= Window::MAX);
        }
    }

    #[test_case(Duration::ZERO, 0)]
    #[test_case(Duration::from_secs(1), 1 << 20)]
    #[test_case(Duration::from_millis(500), 1 << 19)]
    #[test_case(Duration::from_nanos(953), 0; "just below a tick")]
    #[test_case(Duration::from_nanos(954), 1; "just above a tick")]
    #[test_case(Duration::MAX, 1 << 40; "held")]
    fn ticks_of(span: Duration, ticks: u64) {
        assert_eq!(Ticks::of(span), Ticks(ticks));
    }

    // Segments of 1000 bytes: a byte is a thousandth of a segment, and the values are RFC 9438's in exact arithmetic with C = 0.4
    // and beta = 0.7.
    #[test_case(100, 4_217; "100 segments")]
    #[test_case(1_000, 9_085; "1000 segments")]
    #[test_case(10, 1_957; "10 segments")]
    fn k_in_milliseconds(w_max: Bytes, expected: u64) {
        assert_eq!(Curve::new(w_max * 700, w_max * 1_000, C, 1_000).k.as_millis(), expected);
    }

    #[test_case(100, [70_000, 86_681, 95_640, 99_279, 99_996, 100_192, 102_267, 108_620, 121_653, 143_764, 177_354])]
    #[test_case(1000, [700_000, 788_555, 857_705, 909_849, 947_388, 972_721, 988_249, 996_371, 999_488, 1_000_000, 1_000_306])]
    #[test_case(10, [7_000, 9_649, 10_000, 10_453, 13_409, 21_266, 36_426, 61_288, 98_252, 149_718, 218_087])]
    fn window_in_thousandths_of_a_segment_each_second(w_max: Bytes, expected: [Bytes; 11]) {
        let curve = Curve::new(w_max * 700, w_max * 1_000, C, 1_000);
        for (seconds, expected) in (0..).zip(expected) {
            let got = curve.at(Ticks::of(Duration::from_secs(seconds)));
            assert!(got.abs_diff(expected) <= 1, "{got} instead of {expected} after {seconds} s");
        }
    }

    #[test]
    fn a_start_above_the_plateau_becomes_the_plateau() {
        let curve = Curve::new(80_000, 70_000, C, 1_000);
        assert_eq!((curve.k, curve.w_max), (Ticks(0), 80_000));
        assert_eq!(curve.at(Ticks(0)), 80_000);
    }
}
