//! A frozen pseudo-random generator with named sub-streams.
//!
//! The algorithm (xoshiro256** seeded through SplitMix64, both by Blackman and Vigna) is part of the results: changing
//! one constant here changes every experiment ever published with this program. It is not for secrets.

use core::fmt;

/// A deterministic random stream.
#[derive(Clone, PartialEq, Eq)]
pub struct Rng {
    state: [u64; 4],
    seed: u64,
}

/// SplitMix64: turns any counter into well-mixed bits.
const fn split_mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Rng {
    /// The stream that belongs to `seed`.
    pub fn new(seed: u64) -> Self {
        let mut state = [0; 4];
        let mut counter = seed;
        for word in &mut state {
            *word = split_mix(counter);
            counter = counter.wrapping_add(0x9e37_79b9_7f4a_7c15);
        }
        Self { state, seed }
    }

    /// An independent stream named `label`, e.g. `link/a→b/loss`.
    ///
    /// It depends only on the seed and the label, not on earlier draws: adding a consumer does not shift any other.
    pub fn fork(&self, label: &str) -> Self {
        self.fork_bytes(label.as_bytes())
    }

    /// [`Self::fork`] with a label in a buffer.
    pub fn fork_bytes(&self, label: &[u8]) -> Self {
        // FNV-1a over the label; the seed enters before and after, so that equal labels under related seeds differ.
        let mut hash = 0xcbf2_9ce4_8422_2325 ^ split_mix(self.seed);
        for byte in label {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Self::new(split_mix(hash ^ self.seed.rotate_left(32)))
    }

    /// The next 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let result = self.state[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let shifted = self.state[1] << 17;
        self.state[2] ^= self.state[0];
        self.state[3] ^= self.state[1];
        self.state[1] ^= self.state[2];
        self.state[0] ^= self.state[3];
        self.state[2] ^= shifted;
        self.state[3] = self.state[3].rotate_left(45);
        result
    }

    /// A number from `0` up to but not including `bound`; zero when `bound` is zero. Draws exactly once.
    ///
    /// Multiply-and-shift; its bias of at most `bound / 2^64` is far below what any experiment can detect, and one draw per call
    /// keeps draws aligned with packet indices.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// True with probability `ratio`. Draws exactly once.
    #[inline]
    pub fn chance(&mut self, ratio: Ratio) -> bool {
        self.below(ratio.den) < ratio.num
    }
}

impl fmt::Debug for Rng {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rng(seed {:#x})", self.seed)
    }
}

/// A probability as a fraction; `num <= den`, `den > 0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ratio {
    num: u64,
    den: u64,
}

impl Ratio {
    /// Never.
    pub const ZERO: Self = Self { num: 0, den: 1 };
    /// Always.
    pub const ONE: Self = Self { num: 1, den: 1 };

    /// `num / den`; `None` when `den` is zero or `num` exceeds it.
    pub const fn new(num: u64, den: u64) -> Option<Self> {
        if den == 0 || num > den { None } else { Some(Self { num, den }) }
    }
    /// The numerator.
    pub const fn num(self) -> u64 {
        self.num
    }
    /// The denominator.
    pub const fn den(self) -> u64 {
        self.den
    }
    /// Whether this is never.
    pub const fn is_zero(self) -> bool {
        self.num == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published reference output of xoshiro256** for the state 1, 2, 3, 4.
    #[test]
    fn matches_the_reference_generator() {
        let mut rng = Rng { state: [1, 2, 3, 4], seed: 0 };
        let drawn: Vec<u64> = (0..5).map(|_| rng.next_u64()).collect();
        assert_eq!(drawn, [11520, 0, 1509978240, 1215971899390074240, 1216172134540287360]);
    }

    #[test]
    fn split_mix_matches_its_reference() {
        assert_eq!(split_mix(1234567), 6457827717110365317);
    }

    #[test]
    fn the_algorithm_is_frozen() {
        let mut rng = Rng::new(1).fork("link/a→b/loss");
        let drawn: Vec<u64> = (0..3).map(|_| rng.next_u64()).collect();
        assert_eq!(drawn, FROZEN);
    }
    const FROZEN: [u64; 3] = [5874625661189465542, 5332800564398886296, 16986782842738345894];

    #[test]
    fn a_fork_does_not_depend_on_what_was_drawn_before() {
        let mut parent = Rng::new(7);
        let before = parent.fork("x");
        parent.next_u64();
        assert_eq!(before, parent.fork("x"));
        assert_ne!(before, parent.fork("y"));
    }

    #[test]
    fn chance_is_never_at_zero_and_always_at_one() {
        let mut rng = Rng::new(3);
        assert!((0..1000).all(|_| !rng.chance(Ratio::ZERO)));
        assert!((0..1000).all(|_| rng.chance(Ratio::ONE)));
    }

    #[test]
    fn chance_hits_about_as_often_as_it_says() {
        let (mut rng, one_percent) = (Rng::new(42), Ratio::new(1, 100).unwrap());
        let hits = (0..100_000).filter(|_| rng.chance(one_percent)).count();
        assert!((900..1100).contains(&hits), "{hits} hits in 100,000 at 1 %");
    }

    #[test]
    fn impossible_fractions_are_refused() {
        assert_eq!(Ratio::new(1, 0), None);
        assert_eq!(Ratio::new(2, 1), None);
    }
}
