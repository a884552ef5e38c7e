//! Total time covered by intervals, each moment counted once; intervals are added in order of their ends.

use std::collections::VecDeque;

/// Number of disjoint intervals remembered. An older gap that a later interval would have filled stays a gap, so the total never
/// exceeds the true value.
const REMEMBERED: usize = 64;

/// A union of intervals of time, nanoseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Covered {
    /// Disjoint, in order of time.
    intervals: VecDeque<(u64, u64)>,
    /// Intervals before this time were dropped.
    floor: u64,
    total: u64,
}

impl Covered {
    /// Adds the time from `since` to `until`, which is not earlier than the end of any interval before.
    pub fn add(&mut self, since: u64, until: u64) {
        let mut since = since.max(self.floor);
        if until <= since {
            return;
        }
        let mut until = until;
        while let Some(&(start, end)) = self.intervals.back()
            && end >= since
        {
            self.total -= end - start;
            (since, until) = (since.min(start), until.max(end));
            self.intervals.pop_back();
        }
        if self.intervals.len() == REMEMBERED {
            self.floor = self.intervals.pop_front().map_or(self.floor, |(_, end)| end);
        }
        self.intervals.push_back((since, until));
        self.total += until - since;
    }

    /// Time that at least one interval covers.
    pub fn total(&self) -> u64 {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compared with a moment-by-moment model.
        #[test]
        fn each_moment_counts_once(mut intervals in prop::collection::vec((0_u64..200, 0_u64..200), 0..40)) {
            intervals.iter_mut().for_each(|(since, until)| if since > until { std::mem::swap(since, until) });
            intervals.sort_by_key(|&(_, until)| until);
            let (mut covered, mut moments) = (Covered::default(), [false; 200]);
            for (since, until) in intervals {
                covered.add(since, until);
                moments[since as usize..until as usize].fill(true);
            }
            prop_assert_eq!(covered.total(), moments.iter().filter(|&&is| is).count() as u64);
        }
    }

    #[test]
    fn of_more_gaps_than_are_remembered_the_total_errs_to_the_low_side() {
        let mut covered = Covered::default();
        for nth in 0..200 {
            covered.add(10 * nth, 10 * nth + 1);
        }
        assert_eq!(covered.total(), 200);
        covered.add(0, 2_000);
        assert!(covered.total() <= 2_000);
    }
}
