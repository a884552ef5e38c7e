//! Decides which source to serve next, in virtual time.
//!
//! A source has at most one entry, which moves when its time changes: the queue never holds a stale entry. Entries are ordered by
//! time, and at equal times in the order in which they were armed.
//!
//! A flat array holds the entries, and a linear search finds the minimum. Sources are nodes (packets wait inside their paths), so
//! there are a handful, and searching a handful beats a heap; with many it is still correct, only slower.

use base::Instant;

/// One entry: its time, and its age. `Instant::MAX` is "never".
#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Instant,
    /// Insertion number: breaks ties between equal times.
    number: u64,
}

/// Next times of a fixed set of sources.
#[derive(Clone, Debug)]
pub struct EventQueue {
    entries: Vec<Entry>,
    next_number: u64,
}

impl EventQueue {
    /// A queue for sources `0..sources`, none of which is armed.
    pub fn new(sources: usize) -> Self {
        Self { entries: vec![Entry { at: Instant::MAX, number: 0 }; sources], next_number: 0 }
    }

    /// Sets the time of `source`, replacing any earlier one; `Instant::MAX` is "never". An unchanged time keeps its place.
    #[inline]
    pub fn arm(&mut self, source: usize, at: Instant) {
        let entry = &mut self.entries[source];
        if entry.at != at {
            *entry = Entry { at, number: self.next_number };
            self.next_number += 1;
        }
    }

    /// Like [`Self::arm`], but never moves an entry to a later time.
    #[inline]
    pub fn arm_earlier(&mut self, source: usize, at: Instant) {
        if at < self.entries[source].at {
            self.arm(source, at);
        }
    }

    /// Removes and returns the first entry: its time and source; `None` if no source is armed.
    #[inline]
    pub fn pop(&mut self) -> Option<(Instant, usize)> {
        let mut first = 0;
        for index in 1..self.entries.len() {
            let (entry, best) = (self.entries[index], self.entries[first]);
            if (entry.at, entry.number) < (best.at, best.number) {
                first = index;
            }
        }
        let entry = self.entries.get_mut(first).filter(|entry| entry.at != Instant::MAX)?;
        let at = core::mem::replace(&mut entry.at, Instant::MAX);
        Some((at, first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ns: u64) -> Instant {
        Instant::from_nanos(ns)
    }

    #[test]
    fn equal_times_are_served_in_the_order_of_arming() {
        let mut queue = EventQueue::new(3);
        for source in [2, 0, 1] {
            queue.arm(source, at(5));
        }
        queue.arm(2, at(5));
        assert_eq!(core::iter::from_fn(|| queue.pop()).map(|(_, source)| source).collect::<Vec<_>>(), [2, 0, 1]);
    }

    #[test]
    fn an_entry_moved_and_moved_back_stands_behind_its_equals() {
        let mut queue = EventQueue::new(2);
        queue.arm(0, at(5));
        queue.arm(1, at(5));
        queue.arm(0, at(9));
        queue.arm(0, at(5));
        assert_eq!(queue.pop(), Some((at(5), 1)));
    }

    #[test]
    fn never_is_never() {
        let mut queue = EventQueue::new(1);
        queue.arm(0, at(1));
        queue.arm(0, Instant::MAX);
        assert_eq!(queue.pop(), None);
        assert_eq!(EventQueue::new(0).pop(), None);
    }

    proptest! {
        #[test]
        fn agrees_with_a_sorted_list(ops in prop::collection::vec((0usize..20, 0u64..6, 0u8..4), 0..200)) {
            let mut queue = EventQueue::new(20);
            // (time, insertion number, source)
            let mut model: Vec<(u64, usize, usize)> = Vec::new();
            for (number, (source, ns, op)) in ops.into_iter().enumerate() {
                let standing = model.iter().position(|entry| entry.2 == source);
                match op {
                    0 => {
                        model.sort_unstable();
                        let first = (!model.is_empty()).then(|| model.remove(0));
                        prop_assert_eq!(queue.pop(), first.map(|(ns, _, source)| (at(ns), source)));
                    }
                    1 => {
                        queue.arm_earlier(source, at(ns));
                        if standing.is_none_or(|index| ns < model[index].0) {
                            model.retain(|entry| entry.2 != source);
                            model.push((ns, number, source));
                        }
                    }
                    _ => {
                        queue.arm(source, at(ns));
                        if standing.is_none_or(|index| ns != model[index].0) {
                            model.retain(|entry| entry.2 != source);
                            model.push((ns, number, source));
                        }
                    }
                }
            }
        }
    }
}
