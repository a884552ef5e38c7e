//! How fast the path delivers while it is busy: the rate of its slowest link, from the spacing of acknowledgements.
//!
//! Packets leave a busy link spaced by their transmission times, and their acknowledgements keep that spacing (Keshav, packet
//! pairs, 1991). A sender that pauses leaves gaps, but most bytes still travel back to back. So the rate between
//! acknowledgements, weighted by bytes, is that of the link, even if it was rarely busy.

/// Buckets to each doubling of the rate.
const PER_OCTAVE: u32 = 4;
/// Doublings from one byte per second on.
const OCTAVES: u32 = 40;
/// Segments per sample: fewer show delayed acknowledgements rather than the link.
const SAMPLE: u64 = 2;

/// Acknowledgements at more than this many times the median rate were compressed on their way.
const CROWDED: u64 = 3;

/// Bytes by the rate at which they were delivered.
#[derive(Clone, Debug, Default)]
pub(super) struct Rates {
    /// Kilobytes in each bucket; nothing before the first sample.
    buckets: Vec<u32>,
    gathered: u64,
    since: Option<u64>,
}

impl Rates {
    /// Bytes of memory.
    pub fn heap(&self) -> usize {
        self.buckets.capacity() * size_of::<u32>()
    }

    /// Notes that `bytes` more are known to have arrived.
    #[inline]
    pub fn delivered(&mut self, at: u64, bytes: u64, mss: u64) {
        let Some(since) = self.since else {
            self.since = Some(at);
            return;
        };
        self.gathered += bytes;
        if self.gathered >= SAMPLE * mss && at > since {
            self.sample(self.gathered, at - since);
            (self.gathered, self.since) = (0, Some(at));
        }
    }

    /// Ignores the time up to the next sample, for instance after a loss.
    pub fn interrupt(&mut self) {
        (self.gathered, self.since) = (0, None);
    }

    #[inline]
    fn sample(&mut self, bytes: u64, took: u64) {
        if self.buckets.is_empty() {
            self.buckets = vec![0; (PER_OCTAVE * OCTAVES) as usize];
        }
        let rate = (u128::from(bytes) * 1_000_000_000 / u128::from(took)) as u64;
        let bucket = &mut self.buckets[place(rate)];
        *bucket = bucket.saturating_add((bytes >> 10).max(1) as u32);
    }

    /// Returns the rate of the link in bytes per second: that of all but a tenth of the bytes, unless jitter has compressed
    /// these.
    pub fn link(&self) -> Option<u64> {
        let crowded = CROWDED * self.quantile(1, 2)?;
        self.quantile(9, 10).map(|rate| rate.min(crowded))
    }

    /// Returns the rate, bytes per second, that `num / den` of the bytes did not exceed.
    pub fn quantile(&self, num: u64, den: u64) -> Option<u64> {
        let all: u64 = self.buckets.iter().map(|&bytes| u64::from(bytes)).sum();
        let mut left = all * num / den;
        for (place, &bytes) in self.buckets.iter().enumerate() {
            if bytes > 0 && u64::from(bytes) >= left {
                return Some(middle(place as u32));
            }
            left = left.saturating_sub(bytes.into());
        }
        None
    }
}

/// Returns the bucket of a rate: its octave, and the next bits as the place in it.
fn place(rate: u64) -> usize {
    let rate = rate.clamp(1, (1 << OCTAVES) - 1);
    let octave = rate.ilog2();
    let within = ((u128::from(rate) * u128::from(PER_OCTAVE)) >> octave) as u32 - PER_OCTAVE;
    (octave * PER_OCTAVE + within) as usize
}

/// Returns a rate in the middle of a bucket.
fn middle(place: u32) -> u64 {
    let (octave, within) = (place / PER_OCTAVE, place % PER_OCTAVE);
    let eighths = 2 * (PER_OCTAVE + within) + 1;
    ((1 << octave) * u64::from(eighths) / u64::from(2 * PER_OCTAVE)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_found_again_within_an_eighth() {
        for rate in [100, 12_345, 1_250_000, 12_500_000, 1_250_000_000, 125_000_000_000] {
            let found = middle(place(rate) as u32);
            assert!(found.abs_diff(rate) * 8 <= rate, "{rate}: {found}");
        }
        assert_eq!((place(0), place(u64::MAX)), (0, (PER_OCTAVE * OCTAVES) as usize - 1));
    }

    #[test]
    fn bursts_tell_the_links_rate_and_not_their_mean() {
        // Sixteen segments per 100 ms, a millisecond apart: a megabyte per second while any arrive.
        let (mut rates, mut at) = (Rates::default(), 0);
        for nth in 0..1_600 {
            at += if nth % 16 == 0 { 85_000_000 } else { 1_000_000 };
            rates.delivered(at, 1_000, 1_000);
        }
        let rate = rates.quantile(1, 2).unwrap();
        assert!((900_000..1_150_000).contains(&rate), "{rate}");
        assert_eq!(Rates::default().quantile(1, 2), None);
    }
}
