//! Detects whether a segment overtook others: a SACKed run no longer than the gap below it came by a shorter route.
//!
//! After a loss, or a late segment, the next segments arrive in order, and the SACKed data above the gap soon outgrows it. A
//! segment that took a shorter route is alone, far ahead of all earlier ones. Its round trip is not the path's, and neither a
//! minimum nor an average of round trips should include it.
//!
//! The first segment after a loss looks the same, and so does each one where every second one is lost. That costs a sample or
//! two.

use super::{Delivered, Flight, Scoreboard};
use base::SeqNum;

/// How the segment sent last arrived, among those that one ACK delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrival {
    /// After earlier segments, unless those are lost.
    #[default]
    InTurn,
    /// Ahead of earlier segments.
    Overtaking,
}

impl Scoreboard {
    /// Judges the segment sent last among those that the current ACK delivered. Costs a search among the SACKed ranges, and
    /// nothing if there are none.
    #[inline]
    pub fn arrival_of_newest(&self, delivered: &Delivered) -> Arrival {
        match (self.flight(), delivered.newest) {
            (Some(flight), Some(newest)) => flight.arrival_of(newest.xmit.end),
            _ => Arrival::InTurn,
        }
    }
}

impl Flight {
    fn arrival_of(&self, end: SeqNum) -> Arrival {
        let Some((run, below)) = self.ranges.ending_in(end) else { return Arrival::InTurn };
        let below = below.map_or(self.una, |below| below.end);
        let gap = run.start.distance_from(below);
        if gap >= run.len() { Arrival::Overtaking } else { Arrival::InTurn }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_sample::RateStamp;
    use base::{Instant, SeqRange};
    use test_case::test_case;

    const LAST: SeqNum = SeqNum(2_000u32.wrapping_sub(3_000));

    /// Twenty segments of 100 bytes, numbered from zero, of which these have been reported before.
    fn arrival_after(first: SeqNum, known: &[(u32, u32)], ack: u32, new: &[(u32, u32)]) -> Arrival {
        let mut board = Scoreboard::new(first);
        for n in 0..20 {
            let range = SeqRange::new(first + n * 100, first + (n + 1) * 100);
            board.on_sent(range, 0, RateStamp::default(), Instant::from_nanos(u64::from(n)));
        }
        let range = |&(from, to): &(u32, u32)| SeqRange::new(first + from * 100, first + to * 100);
        let [known, new] = [known, new].map(|blocks| blocks.iter().map(range).collect::<Vec<_>>());
        board.apply(first, &known, &mut Delivered::default());
        let mut delivered = Delivered::default();
        board.apply(first + ack * 100, &new, &mut delivered);
        board.arrival_of_newest(&delivered)
    }

    #[test_case(&[], 1, &[] => Arrival::InTurn; "the left edge moves")]
    #[test_case(&[], 20, &[] => Arrival::InTurn; "everything is acknowledged")]
    #[test_case(&[(5, 6)], 6, &[] => Arrival::InTurn; "what had overtaken is overtaken")]
    #[test_case(&[], 0, &[(5, 6)] => Arrival::Overtaking; "alone and far ahead")]
    #[test_case(&[(5, 6)], 0, &[(12, 13)] => Arrival::Overtaking; "another one")]
    #[test_case(&[], 0, &[(1, 2)] => Arrival::Overtaking; "behind a loss: perhaps a short cut")]
    #[test_case(&[(1, 2)], 0, &[(1, 3)] => Arrival::InTurn; "behind a loss: two in turn")]
    #[test_case(&[(2, 5)], 0, &[(2, 6)] => Arrival::InTurn; "behind two losses")]
    #[test_case(&[(5, 6), (12, 13)], 2, &[] => Arrival::InTurn; "the edge moves while others are ahead")]
    #[test_case(&[(1, 8)], 0, &[(14, 15)] => Arrival::Overtaking; "on a short cut above a loss")]
    #[test_case(&[(1, 8), (14, 15)], 0, &[(1, 9)] => Arrival::InTurn; "in turn above a loss")]
    #[test_case(&[], 0, &[] => Arrival::InTurn; "nothing is delivered")]
    fn a_run_that_is_no_longer_than_the_gap_beneath_it_overtook(
        known: &[(u32, u32)],
        ack: u32,
        new: &[(u32, u32)],
    ) -> Arrival {
        let found = arrival_after(SeqNum(0), known, ack, new);
        assert_eq!(arrival_after(LAST, known, ack, new), found, "where numbers wrap");
        found
    }
}
