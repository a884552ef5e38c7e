//! The minimum RTT, and which samples may lower it.
//!
//! Owns: the windowed minimum and the sample that waits for confirmation. One sample far below all others does not prove a short
//! path: a peer that acknowledges data before it arrives, or a forger of ACKs, can cause it. The reordering window, slow start's
//! exit and the test for early answers follow the minimum for minutes, so the minimum needs a second sample from a segment sent
//! after the first one was taken: only a host that sees the connection can forge two such ACKs in a row.

use base::{Duration, Instant};

/// A sample below this fraction of the trusted RTT needs a second one.
const TRUSTED_SHARE: u32 = 8;
/// No sample is trusted yet, so each one needs a second.
const NOTHING: Duration = Duration::MAX;

/// How far users of the minimum may trust a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// It counts.
    Taken,
    /// It counts only for the smoothed RTT, and waits for a second one that agrees.
    Doubted,
}

/// The minimum RTT of a window, over trusted samples.
#[derive(Clone, Debug)]
pub(super) struct MinRtt {
    window: WindowedMin,
    /// Samples below this are doubted.
    trusted_from: Duration,
}

impl MinRtt {
    /// The handshake took `rtt`, which is trusted: a forged ACK would not have opened the connection.
    pub fn after_handshake(now: Instant, rtt: Duration) -> Self {
        Self { window: WindowedMin::new(now, rtt), trusted_from: rtt / TRUSTED_SHARE }
    }

    /// Starts without a sample from the handshake; `first` is in doubt like any other.
    pub fn after_first(first: Candidate) -> Self {
        Self { window: WindowedMin::new(first.at, first.rtt), trusted_from: NOTHING }
    }

    pub fn get(&self) -> Option<Duration> {
        (self.trusted_from != NOTHING).then(|| self.window.get())
    }

    /// Returns whether a sample is too short to be trusted on its own.
    #[inline]
    pub fn doubts(&self, rtt: Duration) -> bool {
        rtt < self.trusted_from
    }

    /// Takes a trusted sample into a minimum that remembers for `window`.
    #[inline]
    pub fn update(&mut self, window: Duration, now: Instant, rtt: Duration) {
        self.window.update(window, now, rtt);
    }

    /// Takes a sample that is not trusted on its own. Of two that agree the longer one counts, and is trusted from then on.
    /// `doubt` is the first of them, which its owner keeps with other state that few connections need.
    pub fn weigh(&mut self, doubt: &mut Option<Candidate>, window: Duration, now: Instant, rtt: Duration) -> Trust {
        let Some(first) = doubt.filter(|first| now.since(first.at) <= window) else {
            *doubt = Some(Candidate { at: now, rtt });
            return Trust::Doubted;
        };
        if first.at + rtt > now {
            // Sent before the first was taken: the same ACK, or the same error, may have caused it.
            return Trust::Doubted;
        }
        let agreed = first.rtt.max(rtt);
        *doubt = None;
        match self.trusted_from {
            NOTHING => self.window = WindowedMin::new(now, agreed),
            _ => self.window.update(window, now, agreed),
        }
        self.trusted_from = agreed / TRUSTED_SHARE;
        Trust::Taken
    }
}

/// A sample, and when it was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub at: Instant,
    pub rtt: Duration,
}

/// A running minimum over a window in constant space, after Kathleen Nichols: the best value, the best one since it, and the best
/// since that, so that a younger one is ready when the best grows too old. The candidates are renewed in the second quarter and
/// the second half of the window, so that not all of them are from its beginning.
#[derive(Clone, Debug)]
struct WindowedMin {
    best: [Candidate; 3],
}

impl WindowedMin {
    fn new(now: Instant, rtt: Duration) -> Self {
        Self { best: [Candidate { at: now, rtt }; 3] }
    }

    fn get(&self) -> Duration {
        self.best[0].rtt
    }

    //= specs/rfc8985.md#minimum-rtt
    //# The minimum RTT is that of a recent window, so that it can rise when the path becomes longer.
    #[inline]
    fn update(&mut self, window: Duration, now: Instant, rtt: Duration) {
        let new = Candidate { at: now, rtt };
        let best = &mut self.best;
        if rtt <= best[0].rtt || now.since(best[2].at) > window {
            *best = [new; 3];
            return;
        }
        if rtt <= best[1].rtt {
            (best[1], best[2]) = (new, new);
        } else if rtt <= best[2].rtt {
            best[2] = new;
        }
        let age = now.since(best[0].at);
        if age > window {
            *best = [best[1], best[2], new];
            if now.since(best[0].at) > window {
                *best = [best[1], best[2], new];
            }
        } else if best[1].at == best[0].at && age > window / 4 {
            (best[1], best[2]) = (new, new);
        } else if best[2].at == best[1].at && age > window / 2 {
            best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use test_case::test_case;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }
    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }
    const LONG: Duration = Duration::from_secs(300);

    /// Returns the minimum after these samples, each with its value in milliseconds and its time.
    fn least(mut min: MinRtt, mut doubt: Option<Candidate>, samples: &[(u64, u64)]) -> Option<Duration> {
        for &(now, rtt) in samples {
            if min.doubts(ms(rtt)) {
                min.weigh(&mut doubt, LONG, at(now), ms(rtt));
            } else {
                min.update(LONG, at(now), ms(rtt));
            }
        }
        min.get()
    }

    //= specs/rfc8985.md#minimum-rtt
    //= type=test
    //# The minimum RTT is that of a recent window, so that it can rise when the path becomes longer.
    #[test]
    fn the_minimum_rises_after_a_change_of_path() {
        let window = Duration::from_secs(10);
        let mut min = MinRtt::after_handshake(at(0), ms(20));
        for second in 1..=10 {
            min.update(window, at(second * 1_000), ms(80));
            assert_eq!(min.get(), Some(ms(20)));
        }
        min.update(window, at(11_000), ms(90));
        assert_eq!(min.get(), Some(ms(80)));
    }

    #[test]
    fn the_stand_ins_come_from_each_part_of_the_window() {
        let window = Duration::from_secs(10);
        let mut min = MinRtt::after_handshake(at(0), ms(20));
        for (second, sample, least) in [(3, 50, 20), (6, 80, 20), (8, 90, 20), (11, 100, 50), (14, 100, 80)] {
            min.update(window, at(second * 1_000), ms(sample));
            assert_eq!(min.get(), Some(ms(least)), "after {second} s");
        }
    }

    /// The window is ten seconds, its first sample 20 ms.
    #[test_case(&[(10_000, 100)], 20; "the first sample counts to the very end of the window")]
    #[test_case(&[(3_000, 50), (6_000, 80), (13_000, 100)], 50; "and so does the one that takes its place")]
    #[test_case(&[(3_000, 50), (6_000, 80), (13_001, 100)], 80; "but not beyond it")]
    fn a_sample_counts_as_long_as_the_window_is(samples: &[(u64, u64)], least: u64) {
        let mut min = MinRtt::after_handshake(at(0), ms(20));
        samples.iter().for_each(|&(now, sample)| min.update(Duration::from_secs(10), at(now), ms(sample)));
        assert_eq!(min.get(), Some(ms(least)));
    }

    #[test_case(&[(500, 50)], 50; "an eighth is trusted")]
    #[test_case(&[(500, 49)], 400; "less is not")]
    #[test_case(&[(500, 1), (600, 100)], 100; "one early ACK")]
    #[test_case(&[(500, 1), (501, 2), (502, 3)], 400; "several that were sent before the first was acknowledged")]
    #[test_case(&[(420, 20), (440, 20)], 20; "right after two round trips")]
    #[test_case(&[(420, 1), (440, 20)], 20; "of two that agree the longer one")]
    #[test_case(&[(420, 20), (440, 20), (450, 3)], 3; "an eighth of what is trusted now")]
    #[test_case(&[(420, 20), (440, 20), (450, 2)], 20; "and less than that")]
    #[test_case(&[(420, 1), (301_000, 2)], 400; "the first one is forgotten with the window")]
    fn one_sample_far_below_the_handshake_is_not_believed(samples: &[(u64, u64)], expected: u64) {
        assert_eq!(least(MinRtt::after_handshake(at(400), ms(400)), None, samples), Some(ms(expected)));
    }

    #[test_case(&[(100, 1)], None; "one is not enough")]
    #[test_case(&[(100, 1), (150, 100)], None; "sent before the first was acknowledged")]
    #[test_case(&[(100, 1), (200, 100)], Some(100); "the longer one of two")]
    #[test_case(&[(100, 100), (200, 90), (300, 95)], Some(95); "later ones as ever")]
    fn without_a_handshake_two_samples_are_needed(samples: &[(u64, u64)], expected: Option<u64>) {
        let first = Candidate { at: at(samples[0].0), rtt: ms(samples[0].1) };
        assert_eq!(least(MinRtt::after_first(first), Some(first), &samples[1..]), expected.map(ms));
    }

    proptest! {
        #[test]
        fn the_windowed_minimum_is_a_sample_of_the_window_and_not_above_the_latest(
            samples in prop::collection::vec((prop_oneof![9 => 0u64..40, 1 => 40u64..400], 1u64..1000), 1..200),
        ) {
            let window = ms(100);
            let (mut min, mut now, mut seen): (Option<WindowedMin>, _, _) = (None, Instant::ZERO, Vec::new());
            for (gap, rtt) in samples {
                now += ms(gap);
                match &mut min {
                    Some(min) => min.update(window, now, ms(rtt)),
                    None => min = Some(WindowedMin::new(now, ms(rtt))),
                }
                seen.push((now, ms(rtt)));
                let got = min.as_ref().unwrap().get();
                let young: Vec<Duration> =
                    seen.iter().filter(|(at, _)| now.since(*at) <= window).map(|(_, rtt)| *rtt).collect();
                prop_assert!(got <= ms(rtt));
                prop_assert!(young.contains(&got), "{got} is not among {young:?}");
            }
        }
    }
}
