//! The recovery of a slow start that may have overshot by far (draft-kazuho-ccwg-rapid-start-02 §3).
//!
//! With `β` the share of the window that a congestion signal usually leaves, and a constant `K`, the window becomes at once
//! `β + K(1 − β)` of what it was, and loses `K(1 − β)` of a byte for each byte that arrives and `β + K(1 − β)` for each that is
//! lost. All that was in flight either arrives or is lost, so that `β` of what arrived is left, however much was lost: of a full
//! path's worth, as if the window had never been larger. A third of the usual window is always left.
//!
//! Deviation: exactly as many bytes count as were in flight, so that what is sent afterwards does not lower the window again; what
//! is lost counts first. The period lasts until all that was sent before its first ACK is acknowledged.

use crate::sample::AckSample;
use base::{Bytes, Ratio, SeqNum};

const MILLION: u64 = 1_000_000;

/// One such recovery.
#[derive(Clone, Copy, Debug)]
pub struct Settling {
    /// In flight when it began, bytes.
    prior: Bytes,
    /// What the avoidance would have left of it.
    reduced: Bytes,
    /// `K(1 − β)` of `prior`.
    proportional: Bytes,
    arrived: Bytes,
    lost: Bytes,
    /// All before it is to be acknowledged.
    point: Option<SeqNum>,
}

impl Settling {
    /// Begins with `prior` bytes in flight, of which the avoidance would leave `reduced`; `share` is K.
    pub fn new(prior: Bytes, reduced: Bytes, share: Ratio) -> Self {
        let reduced = reduced.min(prior);
        let millionths = share.num() * MILLION / share.den();
        let proportional = (u64::from(prior - reduced) * millionths / MILLION) as Bytes;
        Self { prior, reduced, proportional, arrived: 0, lost: 0, point: None }
    }

    /// Lasts until all that was sent before the next ACK is acknowledged: a further signal came.
    pub fn prolonged(self) -> Self {
        Self { point: None, ..self }
    }

    /// Handles a loss.
    pub fn on_lost(&mut self, bytes: Bytes) {
        self.lost = self.lost.saturating_add(bytes).min(self.prior);
    }

    /// Handles an ACK. Returns whether the period is over.
    pub fn on_ack(&mut self, ack: &AckSample) -> bool {
        self.arrived = self.arrived.saturating_add(ack.delivered).min(self.prior);
        let point = *self.point.get_or_insert(ack.snd_nxt);
        !ack.snd_una.before(point)
    }

    /// Returns the window now, bytes.
    pub fn window(&self) -> Bytes {
        let (prior, reduced) = (u64::from(self.prior), u64::from(self.reduced));
        let at_once = reduced + u64::from(self.proportional);
        let lost = u64::from(self.lost);
        let arrived = u64::from(self.arrived).min(prior - lost);
        let gone = (at_once * lost + u64::from(self.proportional) * arrived) / prior.max(1);
        at_once.saturating_sub(gone).max(reduced / 3) as Bytes
    }

    /// Returns the window that the avoidance would have reduced to the present one: what the path holds, bytes.
    pub fn capacity(&self) -> Bytes {
        let whole = u64::from(self.window()) * u64::from(self.prior);
        whole.checked_div(self.reduced.into()).map_or(0, |capacity| capacity.min(self.prior.into()) as Bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::avoidance::ratio;
    use crate::testing::ack;
    use test_case::test_case;

    const SEGMENT: Bytes = 1_000;

    /// What is left at once, and for each thousandth that arrives and is lost, of a window of 300 segments with this β in tenths.
    #[test_case(5, 5, 6, 1, 3)]
    #[test_case(7, 9, 10, 1, 5)]
    #[test_case(8, 14, 15, 2, 15)]
    fn the_table_of_factors(beta: u32, num: u32, den: u32, arrives_num: u32, arrives_den: u32) {
        let prior = 300 * SEGMENT;
        let new = || Settling::new(prior, prior / 10 * beta, ratio(2, 3));
        assert!(new().window().abs_diff(prior * num / den) <= 1, "s");
        let after = |lost: Bytes, delivered: Bytes| {
            let mut settling = new();
            settling.on_lost(lost);
            settling.on_ack(&crate::sample::AckSample { delivered, ..ack(0, 0) });
            new().window() - settling.window()
        };
        assert!(after(30 * SEGMENT, 0).abs_diff(30 * SEGMENT * num / den) <= 1, "l");
        assert!(after(0, 30 * SEGMENT).abs_diff(30 * SEGMENT * arrives_num / arrives_den) <= 1, "a");
    }

    #[test_case(100, 200, 70; "the floor")]
    #[test_case(150, 150, 105)]
    #[test_case(200, 100, 140)]
    #[test_case(300, 0, 210)]
    fn what_is_left_is_the_usual_share_of_what_arrived(arrived: u32, lost: u32, expected: u32) {
        for at_first in [0, lost / 2, lost] {
            let mut settling = Settling::new(300 * SEGMENT, 210 * SEGMENT, ratio(2, 3));
            settling.on_lost(at_first * SEGMENT);
            for _ in 0..arrived {
                settling.on_ack(&crate::sample::AckSample { delivered: SEGMENT, ..ack(0, 0) });
            }
            settling.on_lost((lost - at_first) * SEGMENT);
            assert!(settling.window().abs_diff(expected * SEGMENT) <= 1, "{}", settling.window());
            // What arrives later was sent later.
            settling.on_ack(&crate::sample::AckSample { delivered: 100 * SEGMENT, ..ack(0, 0) });
            assert!(settling.window().abs_diff(expected * SEGMENT) <= 1);
            let capacity = expected * SEGMENT * 10 / 7;
            assert!(settling.capacity().abs_diff(capacity) <= 2, "{}", settling.capacity());
        }
    }

    #[test]
    fn it_lasts_until_all_that_was_sent_before_its_first_ack_is_acknowledged() {
        let at =
            |una: u32, nxt: u32| crate::sample::AckSample { snd_una: SeqNum(una), snd_nxt: SeqNum(nxt), ..ack(0, 0) };
        let mut settling = Settling::new(10, 7, ratio(2, 3));
        assert!(!settling.on_ack(&at(5, 100)));
        assert!(!settling.on_ack(&at(99, 300)));
        assert!(settling.on_ack(&at(100, 300)));
    }

    #[test]
    fn nothing_in_flight_leaves_nothing() {
        let settling = Settling::new(0, 0, ratio(2, 3));
        assert_eq!((settling.window(), settling.capacity()), (0, 0));
    }
}
