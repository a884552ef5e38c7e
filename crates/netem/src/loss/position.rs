//! Loss by position in the stream: the segment that carries a given byte, or the last segments of the stream, lose their first
//! transmissions. No draws per packet.
//!
//! An index refers to another segment as soon as one endpoint sends, paces or repairs differently from another; a position refers
//! to the same data for all of them. A transmission counts when it is offered to this hop, so the hop belongs first on a path,
//! before any other that loses packets. Packets without a position pass unchanged and are not counted.

use super::Fate;
use crate::hop::{Hop, HopKind, Offer, Packet};
use base::{Instant, Rng};
use core::ops::Range;

/// Which segments are lost, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamLoss {
    /// Where in the stream.
    pub place: Place,
    /// How many transmissions are lost, the first one included.
    pub times: u32,
}

/// A place in the stream, in bytes of payload from its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The segment with one byte of this range, drawn once per path; not empty.
    Within(Range<u64>),
    /// Each of the last segments.
    Last {
        /// The number of segments.
        segments: u32,
        /// Bytes of the whole stream.
        stream: u64,
    },
}

/// Applies a list of [`StreamLoss`].
#[derive(Debug)]
pub struct ByPosition {
    targets: Vec<Target>,
    tails: Vec<Tail>,
    /// One past the highest position offered so far.
    sent_to: u64,
    /// Most bytes that one packet has carried so far: the expected segment size of the rest of the stream.
    largest: u64,
}

/// Packets with this byte are lost while losses remain.
#[derive(Debug)]
struct Target {
    byte: u64,
    left: u32,
}

#[derive(Debug)]
struct Tail {
    segments: u64,
    stream: u64,
    times: u32,
}

impl ByPosition {
    /// Draws the places that are given as ranges.
    ///
    /// # Panics
    /// If a range is empty.
    pub fn new(losses: &[StreamLoss], rng: &mut Rng) -> Self {
        let (mut targets, mut tails) = (Vec::new(), Vec::new());
        for StreamLoss { place, times } in losses {
            match place {
                Place::Within(range) => {
                    assert!(!range.is_empty(), "no byte lies in an empty range");
                    let byte = range.start + rng.below(range.end - range.start);
                    targets.push(Target { byte, left: *times });
                }
                Place::Last { segments, stream } => {
                    tails.push(Tail { segments: u64::from(*segments), stream: *stream, times: *times });
                }
            }
        }
        Self { targets, tails, sent_to: 0, largest: 1 }
    }

    fn decide(&mut self, range: &Range<u64>) -> Fate {
        self.largest = self.largest.max(range.end - range.start);
        if range.end > self.sent_to {
            self.sent_to = range.end;
            self.watch_tails(range.end);
        }
        let mut fate = Fate::Passes;
        for target in self.targets.iter_mut().filter(|target| target.left > 0 && range.contains(&target.byte)) {
            target.left -= 1;
            fate = Fate::Lost;
        }
        fate
    }

    /// Handles new bytes up to `end`: makes their last byte a target if few enough segments will follow.
    fn watch_tails(&mut self, end: u64) {
        for tail in &self.tails {
            let to_come = tail.stream.saturating_sub(end).div_ceil(self.largest);
            if to_come < tail.segments {
                self.targets.push(Target { byte: end - 1, left: tail.times });
            }
        }
    }
}

impl<P: Packet> Hop<P> for ByPosition {
    fn offer(&mut self, now: Instant, packet: P, _rng: &mut Rng) -> Offer<P> {
        let fate = match packet.stream() {
            Some(range) if !range.is_empty() => self.decide(&range),
            _ => Fate::Passes,
        };
        fate.apply(now, packet)
    }
    fn kind(&self) -> HopKind {
        HopKind::Drop
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presets::PathSpec;
    use base::{Duration, Rng};
    use proptest::prelude::*;
    use test_case::test_case;

    #[derive(Clone, Debug)]
    struct Piece(Option<Range<u64>>);

    impl Packet for Piece {
        fn wire_len(&self) -> u32 {
            40
        }
        fn mark_ce(&mut self) -> bool {
            false
        }
        fn duplicate(&self) -> Self {
            self.clone()
        }
        fn stream(&self) -> Option<Range<u64>> {
            self.0.clone()
        }
    }

    fn at(byte: u64, times: u32) -> StreamLoss {
        StreamLoss { place: Place::Within(byte..byte + 1), times }
    }
    fn last(segments: u32, stream: u64, times: u32) -> StreamLoss {
        StreamLoss { place: Place::Last { segments, stream }, times }
    }
    fn hop(losses: &[StreamLoss]) -> ByPosition {
        ByPosition::new(losses, &mut Rng::new(1))
    }
    fn is_lost(hop: &mut ByPosition, range: Range<u64>) -> bool {
        matches!(hop.offer(Instant::ZERO, Piece(Some(range)), &mut Rng::new(1)), Offer::Dropped(..))
    }
    /// Returns the first bytes of the packets that are lost among `starts`, each of `len` bytes or the rest of 1,000.
    fn lost(losses: &[StreamLoss], starts: &[u64], len: u64) -> Vec<u64> {
        let mut hop = hop(losses);
        starts.iter().copied().filter(|start| is_lost(&mut hop, *start..(*start + len).min(1_000))).collect()
    }

    const ONCE: [u64; 4] = [0, 300, 600, 900];

    #[test_case(&[at(299, 1)], &[0, 300, 0, 300], &[0]; "the last byte of a segment is in it")]
    #[test_case(&[at(300, 1)], &[0, 300, 0, 300], &[300]; "the byte after it is not")]
    #[test_case(&[at(300, 2)], &[0, 300, 600, 300, 300], &[300, 300]; "as often as was asked")]
    #[test_case(&[at(10, 1), at(20, 2)], &[0, 0, 0], &[0, 0]; "two bytes of one segment are lost together")]
    #[test_case(&[at(5_000, 1)], &ONCE, &[]; "beyond the end")]
    #[test_case(&[last(1, 1_000, 1)], &[0, 300, 600, 900, 900], &[900]; "the last one")]
    #[test_case(&[last(3, 1_000, 1)], &[0, 300, 600, 900, 300, 600, 900], &[300, 600, 900]; "the last three")]
    #[test_case(&[last(2, 1_000, 2)], &[0, 300, 600, 900, 900, 600, 600, 900], &[600, 900, 900, 600]; "each as often")]
    #[test_case(&[last(9, 1_000, 1)], &ONCE, &ONCE; "more than there are")]
    #[test_case(&[last(1, 1_000, 1), at(0, 1)], &ONCE, &[0, 900]; "both kinds together")]
    #[test_case(&[], &ONCE, &[]; "nothing")]
    fn loses_exactly(losses: &[StreamLoss], starts: &[u64], expected: &[u64]) {
        assert_eq!(lost(losses, starts, 300), expected);
    }

    #[test]
    fn a_repair_that_is_cut_differently_is_the_same_bytes() {
        let mut hop = hop(&[at(350, 2)]);
        assert!(is_lost(&mut hop, 300..600));
        assert!(!is_lost(&mut hop, 300..350));
        assert!(is_lost(&mut hop, 340..400));
        assert!(!is_lost(&mut hop, 300..600));
    }

    #[test]
    fn what_tells_no_position_passes() {
        let mut hop = hop(&[at(0, 1), last(9, 1_000, 1)]);
        for piece in [Piece(None), Piece(Some(0..0))] {
            assert!(matches!(hop.offer(Instant::ZERO, piece, &mut Rng::new(1)), Offer::Forwards(..)));
        }
        assert!(is_lost(&mut hop, 0..300));
    }

    proptest! {
        #[test]
        fn a_drawn_byte_lies_in_its_range_and_depends_on_the_seed_alone(seed: u64, start in 0u64..900, len in 1u64..100) {
            let spec = PathSpec {
                drops: vec![StreamLoss { place: Place::Within(start..start + len), times: 1 }],
                ..PathSpec::ideal(Duration::ZERO)
            };
            let lost = || {
                let mut path = spec.build(&Rng::new(seed));
                let mut lost = Vec::new();
                for byte in 0..1_000 {
                    let piece = Piece(Some(byte..byte + 1));
                    path.offer(Instant::ZERO, piece, &mut |piece, hop, _| lost.push((piece.0, hop)));
                }
                lost
            };
            let found = lost();
            prop_assert_eq!(found.len(), 1);
            let (piece, hop) = &found[0];
            prop_assert!((start..start + len).contains(&piece.as_ref().unwrap().start));
            prop_assert_eq!(*hop, HopKind::Drop);
            prop_assert_eq!(lost(), found);
        }
    }
}
