//! Release in groups: packets wait for their turn on a shared medium and leave together, as aggregated frames on Wi-Fi do.
//!
//! After a release the medium is closed for a gap. A packet that arrives meanwhile waits for its end, and so do all that follow until
//! then; they leave at one instant, in their order. A packet that arrives later leaves at once: gaps are never shorter than drawn, and
//! exactly as long where packets never stop. The group has no limit.
//!
//! Draws: one per packet, used if the packet opens a group, so that decisions stay aligned with packet indices; none if all gaps are equal.

use crate::hop::{Hop, HopKind, Offer, Packet};
use base::{Duration, Instant, Rng};

/// Gaps between releases: uniform between the two, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReleaseSpec {
    /// The shortest gap.
    pub least: Duration,
    /// The longest; not less.
    pub most: Duration,
}

/// A medium that is open at times.
#[derive(Debug)]
pub struct Release {
    spec: ReleaseSpec,
    /// When the last group leaves; `None` before the first.
    last: Option<Instant>,
}

impl Release {
    /// Creates a medium that is open.
    ///
    /// # Panics
    /// If the longest gap is shorter than the shortest.
    pub fn new(spec: ReleaseSpec) -> Self {
        assert!(spec.least <= spec.most, "the longest gap is shorter than the shortest");
        Self { spec, last: None }
    }

    fn gap(&self, rng: &mut Rng) -> Duration {
        let ReleaseSpec { least, most } = self.spec;
        if least == most {
            return least;
        }
        least + Duration::from_nanos(rng.below(most.saturating_sub(least).as_nanos().saturating_add(1)))
    }
}

impl<P: Packet> Hop<P> for Release {
    fn offer(&mut self, now: Instant, packet: P, rng: &mut Rng) -> Offer<P> {
        let gap = self.gap(rng);
        let leaves = match self.last {
            Some(last) if now <= last => last,
            Some(last) => now.max(last + gap),
            None => now,
        };
        self.last = Some(leaves);
        Offer::Forwards(leaves, packet)
    }
    fn kind(&self) -> HopKind {
        HopKind::Release
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at, drive, exit_of, full_sized, ns, path_of};
    use base::Rng;
    use proptest::prelude::*;
    use test_case::test_case;

    #[test_case(&[0, 1, 5, 10], &[0, 10, 10, 10]; "a group leaves when the gap is over")]
    #[test_case(&[0, 1, 11, 19, 20, 21], &[0, 10, 20, 20, 20, 30]; "groups follow each other by the gap")]
    #[test_case(&[0, 10, 25, 26], &[0, 10, 25, 35]; "a packet that finds the medium open leaves at once")]
    #[test_case(&[7, 7, 7], &[7, 7, 7]; "the first group leaves at once")]
    fn packets_leave_in_groups(arrivals: &[u64], exits: &[u64]) {
        let mut path = path_of(Release::new(ReleaseSpec { least: ns(10), most: ns(10) }));
        let offers: Vec<_> = arrivals.iter().map(|ns| (*ns, 40)).collect();
        let outcome = drive(&mut path, &offers);
        assert_eq!(outcome.arrivals.iter().map(|(ns, _)| *ns).collect::<Vec<_>>(), exits);
    }

    #[test]
    fn equal_gaps_draw_nothing_and_others_once_a_packet() {
        let draws = |least: u64, most: u64| {
            let (mut rng, mut shadow) = (Rng::new(3), Rng::new(3));
            let mut hop = Release::new(ReleaseSpec { least: ns(least), most: ns(most) });
            for index in 0..50 {
                exit_of(hop.offer(at(index * 2), full_sized(index), &mut rng));
            }
            (0..=50).find(|_| shadow == rng || shadow.below(6) > 6).expect("at most one each")
        };
        assert_eq!((draws(5, 5), draws(5, 10)), (0, 50));
    }

    proptest! {
        #[test]
        fn order_and_gaps_are_kept(least in 0u64..1_000, more in 0u64..1_000, gaps in proptest::collection::vec(0u64..700, 1..200), seed: u64) {
            let spec = ReleaseSpec { least: ns(least), most: ns(least + more) };
            let (mut hop, mut rng, mut now) = (Release::new(spec), Rng::new(seed), 0);
            let mut exits = Vec::new();
            for (index, gap) in (0..).zip(gaps) {
                now += gap;
                let exit = exit_of(hop.offer(at(now), full_sized(index), &mut rng)).as_nanos();
                prop_assert!(exit >= now && exit <= now + least + more);
                exits.push(exit);
            }
            prop_assert!(exits.is_sorted());
            exits.dedup();
            prop_assert!(exits.windows(2).all(|pair| pair[1] - pair[0] >= least));
        }
    }
}
