//! How much a link whose rate changes can have sent by each moment, and when it has sent so much: exact in both directions.
//!
//! The unit is a bit of a thousand-millionth of a second at one bit a second: a byte is `BIT_NANOS` of them, and a nanosecond adds the
//! rate in bits per second. Stretches are learnt as they are needed and forgotten behind the link, so a course may be endless; a moment
//! is found by bisection among those known.

use crate::course::{Course, Stretches};
use crate::rate::serialiser::BIT_NANOS;
use base::{Duration, Rate};
use std::collections::VecDeque;

/// What a link can have sent, over the stretches of a course.
#[derive(Clone, Debug)]
pub struct Capacity {
    ahead: Stretches,
    /// In order of time; never empty.
    known: VecDeque<Piece>,
    /// Whether the last of them lasts indefinitely.
    is_whole: bool,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    from_ns: u64,
    /// What was sent before.
    before: u128,
    /// Zero in an outage.
    bps: u64,
}

impl Piece {
    /// What was sent by `at_ns`, in this stretch or before.
    fn by(&self, at_ns: u64) -> u128 {
        self.before.saturating_add(u128::from(at_ns - self.from_ns) * u128::from(self.bps))
    }
}

impl Capacity {
    /// Creates the capacity of a link that follows `course`.
    pub fn new(course: &Course) -> Self {
        let mut ahead = course.stretches();
        let bps = ahead.next().and_then(|first| first.rate).map_or(0, Rate::bits_per_sec);
        Self { ahead, known: VecDeque::from([Piece { from_ns: 0, before: 0, bps }]), is_whole: false }
    }

    /// Returns the bytes that pass between two moments, rounded down.
    pub fn bytes_between(&mut self, from: Duration, until: Duration) -> u64 {
        let before = self.by(from);
        u64::try_from((self.by(until).saturating_sub(before)) / u128::from(BIT_NANOS)).unwrap_or(u64::MAX)
    }

    /// Returns when `bytes` have passed, the first of which begin at `from`; rounded up to a nanosecond.
    pub fn time_to_pass(&mut self, from: Duration, bytes: u64) -> Duration {
        let before = self.by(from);
        self.reached(before.saturating_add(u128::from(bytes) * u128::from(BIT_NANOS)))
    }

    /// Returns what was sent by `at`.
    pub(crate) fn by(&mut self, at: Duration) -> u128 {
        let at = at.as_nanos();
        self.learn(|last| last.from_ns > at);
        self.known[self.place(at)].by(at)
    }

    /// Returns the first moment by which so much was sent; the end of time if that never happens.
    pub(crate) fn reached(&mut self, work: u128) -> Duration {
        self.learn(|last| last.before >= work);
        let place = self.known.partition_point(|piece| piece.before < work).saturating_sub(1);
        let piece = self.known[place];
        let missing = work.saturating_sub(piece.before);
        let span = match missing {
            0 => Some(0),
            _ => missing
                .checked_add(u128::from(piece.bps).saturating_sub(1))
                .and_then(|sum| sum.checked_div(piece.bps.into())),
        };
        let span = span.and_then(|span| u64::try_from(span).ok());
        Duration::from_nanos(span.map_or(u64::MAX, |span| piece.from_ns.saturating_add(span)))
    }

    /// Returns the first moment at `at` or later that is not in an outage.
    pub(crate) fn open_from(&self, at: Duration) -> Duration {
        let at = at.as_nanos();
        let found = |capacity: &Self| {
            let mut later = capacity.known.range(capacity.place(at)..);
            later.find(|piece| piece.bps > 0).map(|piece| piece.from_ns.max(at))
        };
        let is_known = self.is_whole || self.known.back().is_some_and(|last| last.from_ns > at);
        let known = if is_known { found(self) } else { None };
        let open = known.or_else(|| {
            let mut further = self.clone();
            further.learn(|last| last.from_ns > at && last.bps > 0);
            found(&further)
        });
        Duration::from_nanos(open.unwrap_or(u64::MAX))
    }

    /// Forgets what a link no longer needs that is asked for nothing before `at` and nothing up to `work`.
    pub(crate) fn forget(&mut self, at: Duration, work: u128) {
        while self.known.get(1).is_some_and(|next| next.from_ns <= at.as_nanos() && next.before <= work) {
            self.known.pop_front();
        }
    }

    /// Learns stretches until the last one is far enough.
    fn learn(&mut self, is_enough: impl Fn(&Piece) -> bool) {
        while !self.is_whole {
            let last = self.known[self.known.len() - 1];
            if is_enough(&last) {
                return;
            }
            match self.ahead.next() {
                Some(next) => {
                    let from_ns = next.from.as_nanos();
                    let bps = next.rate.map_or(0, Rate::bits_per_sec);
                    self.known.push_back(Piece { from_ns, before: last.by(from_ns), bps });
                }
                None => self.is_whole = true,
            }
        }
    }

    /// The place of the stretch that `at_ns` is in.
    fn place(&self, at_ns: u64) -> usize {
        self.known.partition_point(|piece| piece.from_ns <= at_ns).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stretch::Stretch;
    use crate::testing::{ns, rate};
    use test_case::test_case;

    /// Eight bits a nanosecond, four from 100 on, nothing from 200 until 250, then sixteen.
    fn capacity() -> Capacity {
        let stretches = [(0, 8), (100, 4), (200, 0), (250, 16)].map(|(from, bits): (u64, u64)| {
            let rate = (bits > 0).then(|| rate(bits * 1_000_000_000));
            Stretch { from: ns(from), rate, delay: None }
        });
        Capacity::new(&Course::given(stretches.to_vec()).unwrap())
    }

    #[test_case(0, 0)]
    #[test_case(50, 50)]
    #[test_case(100, 100)]
    #[test_case(150, 125)]
    #[test_case(200, 150)]
    #[test_case(249, 150)]
    #[test_case(250, 150)]
    #[test_case(300, 250)]
    fn bytes_by(at: u64, bytes: u64) {
        assert_eq!(capacity().bytes_between(ns(0), ns(at)), bytes);
    }

    #[test_case(0, 0, 0)]
    #[test_case(0, 100, 100; "at the end of a stretch")]
    #[test_case(0, 101, 102; "into the next")]
    #[test_case(0, 150, 200; "before the outage")]
    #[test_case(0, 151, 251; "half a nanosecond is rounded up")]
    #[test_case(90, 60, 200; "later")]
    #[test_case(220, 2, 251; "from within the outage")]
    #[test_case(1_000, 2_000, 2_000)]
    fn passed(from: u64, bytes: u64, at: u64) {
        assert_eq!(capacity().time_to_pass(ns(from), bytes), ns(at));
    }

    #[test_case(5, 5)]
    #[test_case(199, 199)]
    #[test_case(200, 250)]
    #[test_case(249, 250)]
    #[test_case(900, 900)]
    fn open_from(at: u64, open: u64) {
        assert_eq!(capacity().open_from(ns(at)), ns(open));
    }
}
