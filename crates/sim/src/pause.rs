//! A host that does not run for a while: its virtual machine was moved, its process waited for a processor.
//!
//! Nothing of the node happens in a pause: packets wait at its device, and its timers and applications are late. Afterwards all of it
//! happens at once, as on a machine that did not notice.

use base::{Duration, Instant};

/// A time in which a host does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// When it begins, counted from the start of the run.
    pub from: Duration,
    /// How long it lasts.
    pub length: Duration,
}

/// The pauses of a host that are not over.
#[derive(Debug)]
pub(crate) struct Pauses {
    /// Begin and end, the last ones first.
    left: Vec<(Instant, Instant)>,
    /// The end of the last pause that was asked about; never, before the first.
    resumed: Instant,
}

impl Default for Pauses {
    fn default() -> Self {
        Self::new(&[])
    }
}

impl Pauses {
    /// Pauses in any order; of two that overlap, the later one ends both.
    pub(crate) fn new(pauses: &[Pause]) -> Self {
        let ends = |pause: &Pause| {
            let from = Instant::ZERO + pause.from;
            (from, from + pause.length)
        };
        let mut left: Vec<(Instant, Instant)> = pauses.iter().map(ends).collect();
        left.sort_unstable();
        left.reverse();
        Self { left, resumed: Instant::MAX }
    }

    /// Returns when the host runs again, if it does not at `now`. Time must not decrease between calls.
    #[inline]
    pub(crate) fn end(&mut self, now: Instant) -> Option<Instant> {
        if self.left.is_empty() { None } else { self.end_of_next(now) }
    }

    /// Returns whether a pause ends at `now`: what waits at the device arrives at this moment.
    #[inline]
    pub(crate) fn resumes(&self, now: Instant) -> bool {
        self.resumed == now
    }

    #[cold]
    fn end_of_next(&mut self, now: Instant) -> Option<Instant> {
        let mut end = now;
        while let Some((_, until)) = self.left.last().filter(|(from, _)| *from <= end) {
            end = end.max(*until);
            if *until > now {
                break;
            }
            self.left.pop();
        }
        let pauses = end > now;
        if pauses {
            self.resumed = end;
        }
        pauses.then_some(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pauses(spans: &[(u64, u64)]) -> Pauses {
        let pause = |(from, length): &(u64, u64)| Pause {
            from: Duration::from_nanos(*from),
            length: Duration::from_nanos(*length),
        };
        Pauses::new(&spans.iter().map(pause).collect::<Vec<_>>())
    }

    #[test]
    fn a_host_pauses_from_the_first_moment_to_the_last_but_one() {
        let mut pauses = pauses(&[(20, 5), (10, 5)]);
        let ends: Vec<Option<u64>> =
            [9, 10, 14, 15, 19, 20, 30].map(|at| pauses.end(Instant::from_nanos(at)).map(Instant::as_nanos)).into();
        assert_eq!(ends, [None, Some(15), Some(15), None, None, Some(25), None]);
    }

    #[test]
    fn pauses_that_overlap_end_with_the_last() {
        let mut pauses = pauses(&[(10, 10), (15, 2), (20, 4)]);
        let mut now = Instant::from_nanos(12);
        while let Some(end) = pauses.end(now) {
            now = end;
        }
        assert_eq!(now.as_nanos(), 24);
        assert_eq!(pauses.end(Instant::from_nanos(40)), None);
    }
}
