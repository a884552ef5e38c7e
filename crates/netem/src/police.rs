//! A policer: a token bucket that drops what exceeds it and keeps no queue, as access networks sell a rate.
//!
//! The bucket holds bytes and fills at the rate up to its size; it is full at the beginning. A packet that finds as many bytes as it is
//! long takes them and passes at once; any other is dropped and takes nothing (the single token bucket of RFC 2697 §3 without its
//! second bucket). Levels are exact to the fraction of a nanosecond in which a bit arrives. Draws nothing.

use crate::hop::{DropCause, Hop, HopKind, Offer, Packet};
use crate::rate::serialiser::BIT_NANOS;
use base::{Instant, Rate, Rng};

/// Rate and size of a token bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicerSpec {
    /// Rate at which it fills, in bits of IP packets per second.
    pub rate: Rate,
    /// Bytes that it holds; a packet longer than that never passes.
    pub burst: u64,
}

/// A token bucket at work.
#[derive(Debug)]
pub struct Policer {
    spec: PolicerSpec,
    /// What it holds, in bits of a thousand-millionth: one byte is `BIT_NANOS`, and a nanosecond adds the rate in bits per second.
    level: u128,
    /// When that was so.
    at: Instant,
}

impl Policer {
    /// Creates a full bucket.
    pub fn new(spec: PolicerSpec) -> Self {
        Self { spec, level: size(spec), at: Instant::ZERO }
    }
}

fn size(spec: PolicerSpec) -> u128 {
    u128::from(spec.burst) * u128::from(BIT_NANOS)
}

impl<P: Packet> Hop<P> for Policer {
    fn offer(&mut self, now: Instant, packet: P, _rng: &mut Rng) -> Offer<P> {
        let added = u128::from(now.since(self.at).as_nanos()) * u128::from(self.spec.rate.bits_per_sec());
        self.level = self.level.saturating_add(added).min(size(self.spec));
        self.at = now;
        let needed = u128::from(packet.wire_len()) * u128::from(BIT_NANOS);
        match self.level.checked_sub(needed) {
            Some(level) => {
                self.level = level;
                Offer::Forwards(now, packet)
            }
            None => Offer::Dropped(packet, DropCause::Policed),
        }
    }
    fn kind(&self) -> HopKind {
        HopKind::Police
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{drive, path_of, rate};
    use proptest::prelude::*;
    use test_case::test_case;

    fn policer(bps: u64, burst: u64) -> Policer {
        Policer::new(PolicerSpec { rate: rate(bps), burst })
    }

    /// A byte a microsecond, and three thousand at first.
    #[test_case(&[(0, 1_500), (0, 1_500), (0, 40)], &[0, 1]; "a full bucket at first")]
    #[test_case(&[(0, 3_000), (999_999, 1_000), (1_000_000, 1_000)], &[0, 2]; "a byte enough a nanosecond later")]
    #[test_case(&[(0, 3_000), (500_000, 501), (500_000, 500)], &[0, 2]; "what is dropped takes nothing")]
    #[test_case(&[(0, 3_001), (0, 3_000)], &[1]; "longer than the bucket")]
    #[test_case(&[(60_000_000_000, 3_000), (60_000_000_000, 1)], &[0]; "it holds no more than its size")]
    fn passes_what_the_bucket_holds(offers: &[(u64, u32)], passed: &[u64]) {
        let mut path = path_of(policer(8_000_000, 3_000));
        let outcome = drive(&mut path, offers);
        assert_eq!(outcome.arrivals.iter().map(|(_, index)| *index).collect::<Vec<_>>(), passed);
        assert!(outcome.drops.iter().all(|(_, cause)| *cause == DropCause::Policed));
        assert_eq!(path.stats().dropped.policed, (offers.len() - passed.len()) as u64);
    }

    #[test]
    fn a_part_of_a_nanosecond_is_not_lost() {
        // Three bits a second: a byte takes 2,666,666,666 and two thirds of a nanosecond, three bytes eight seconds.
        let offers = [
            (0, 3),
            (2_666_666_666, 1),
            (2_666_666_667, 1),
            (5_333_333_333, 1),
            (5_333_333_334, 1),
            (8_000_000_000, 1),
        ];
        let arrivals = drive(&mut path_of(policer(3, 3)), &offers).arrivals;
        assert_eq!(arrivals.iter().map(|(_, index)| *index).collect::<Vec<_>>(), [0, 2, 4, 5]);
    }

    proptest! {
        /// In no span of time more passes than the bucket and what flows in.
        #[test]
        fn no_span_passes_more_than_the_bucket_allows(
            bps in 1_000u64..10_000_000_000, burst in 0u64..20_000, gaps in proptest::collection::vec((0u64..200_000, 1u32..3_000), 1..80),
        ) {
            let offers: Vec<_> = gaps.iter().scan(0, |ns, (gap, len)| { *ns += gap; Some((*ns, *len)) }).collect();
            let arrivals = drive(&mut path_of(policer(bps, burst)), &offers).arrivals;
            for (first, (from, _)) in arrivals.iter().enumerate() {
                let mut bytes = 0;
                for (until, index) in &arrivals[first..] {
                    bytes += u128::from(offers[*index as usize].1);
                    let allowed = u128::from(burst) * u128::from(BIT_NANOS) + u128::from(until - from) * u128::from(bps);
                    prop_assert!(bytes * u128::from(BIT_NANOS) <= allowed);
                }
            }
        }
    }
}
