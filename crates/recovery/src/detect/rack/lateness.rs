//! Measures how late segments were that had been marked lost, instead of guessing.
//!
//! RFC 8985 §6.2 step 4 widens the reordering window by a quarter of the minimum RTT per round trip, up to the smoothed RTT. On a
//! path shorter than its reordering, that takes many rounds and stays too small: each late segment is retransmitted needlessly.
//! But a segment that arrives after it was marked lost reveals its lateness exactly: by the answer to its original or, if the
//! copy was faster, by the report of a duplicate.
//!
//! Owns: the segments last marked lost, until one of these two arrives, and the greatest lateness found.

use base::{Duration, Instant, SeqNum, SeqRange};

/// Segments remembered. One report suffices to know the lateness of all.
const CAPACITY: usize = 16;

/// Allocated when the first segment is marked lost.
#[derive(Clone, Debug)]
pub(super) struct Lateness {
    worst: Duration,
    given_up: [GivenUp; CAPACITY],
    /// Of the latest entry.
    at: u8,
}

#[derive(Clone, Copy, Debug)]
struct GivenUp {
    /// Empty when nothing is remembered here.
    range: SeqRange,
    sent_at: Instant,
}

impl Lateness {
    const NOTHING: GivenUp = GivenUp { range: SeqRange { start: SeqNum(0), end: SeqNum(0) }, sent_at: Instant::ZERO };

    pub fn new() -> Self {
        Self { worst: Duration::ZERO, given_up: [Self::NOTHING; CAPACITY], at: 0 }
    }

    /// Records that a segment that left only once, at `sent_at`, was marked lost.
    pub fn on_given_up(&mut self, range: SeqRange, sent_at: Instant) {
        self.at = (self.at + 1) % CAPACITY as u8;
        self.given_up[usize::from(self.at)] = GivenUp { range, sent_at };
    }

    /// Handles the late arrival of the original of `range`, or of a second copy: returns whether it was later than any before. An
    /// arrival more than `longest` after a round trip of `rtt` exceeds every window.
    pub fn on_arrival(&mut self, range: SeqRange, rtt: Duration, longest: Duration, now: Instant) -> bool {
        let mut is_greatest = false;
        for known in self.given_up.iter_mut().filter(|known| !known.range.is_empty() && range.covers(known.range)) {
            let late = now.since(known.sent_at).saturating_sub(rtt);
            if late > self.worst && late <= longest {
                self.worst = late;
                is_greatest = true;
            }
            *known = Self::NOTHING;
        }
        is_greatest
    }

    /// Drops the greatest lateness, because no segment was late for long enough.
    pub fn forget_worst(&mut self) {
        self.worst = Duration::ZERO;
    }

    /// Returns the window that would have tolerated the latest of them, and a quarter more, since the next one may be a little
    /// later.
    pub fn tolerance(&self, longest: Duration) -> Duration {
        (self.worst + self.worst / 4).min(longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    const RTT: Duration = Duration::from_millis(10);
    const LONGEST: Duration = Duration::from_millis(80);

    fn segment(n: u32) -> SeqRange {
        SeqRange::new(SeqNum(0) + n * 100, SeqNum(0) + (n + 1) * 100)
    }
    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// Segment `n` left after `n` milliseconds and was marked lost.
    fn given_up(segments: u32) -> Lateness {
        let mut lateness = Lateness::new();
        (0..segments).for_each(|n| lateness.on_given_up(segment(n), at(n.into())));
        lateness
    }

    #[test_case(1, segment(0), 12 => (true, 2); "what it took more than the others")]
    #[test_case(1, segment(0), 10 => (false, 0); "not late at all")]
    #[test_case(1, segment(0), 90 => (true, 80); "as late as any may be")]
    #[test_case(1, segment(0), 91 => (false, 0); "beyond every window")]
    #[test_case(1, segment(1), 12 => (false, 0); "something else")]
    #[test_case(3, SeqRange::new(SeqNum(0), SeqNum(300)), 15 => (true, 5); "of several, the latest")]
    #[test_case(17, segment(0), 30 => (false, 0); "forgotten for a younger one")]
    #[test_case(17, segment(1), 30 => (true, 19); "just remembered")]
    fn a_late_arrival_is_measured(known: u32, arrived: SeqRange, now_ms: u64) -> (bool, u64) {
        let mut lateness = given_up(known);
        let is_greatest = lateness.on_arrival(arrived, RTT, LONGEST, at(now_ms));
        (is_greatest, lateness.worst.as_millis())
    }

    #[test]
    fn each_is_measured_once_and_only_a_greater_lateness_is_reported() {
        let mut lateness = given_up(3);
        assert!(lateness.on_arrival(segment(1), RTT, LONGEST, at(21)));
        assert!(!lateness.on_arrival(segment(1), RTT, LONGEST, at(50)), "its second copy");
        assert!(!lateness.on_arrival(segment(2), RTT, LONGEST, at(21)), "less late");
        assert_eq!(lateness.worst, RTT);
        assert_eq!(lateness.tolerance(LONGEST), RTT + RTT / 4);
        lateness.forget_worst();
        assert!(lateness.on_arrival(segment(0), RTT, LONGEST, at(15)));
    }
}
