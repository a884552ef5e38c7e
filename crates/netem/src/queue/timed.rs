//! Packets that wait for a known time: sorted by time, first come first served at equal times.
//!
//! One sorted ring: a packet that overtakes no other is appended, one that does is inserted. The cost is the number of packets
//! between it and the nearer end, a handful for the reordering of real paths (a late packet waits near the end, an early one goes
//! near the front); only wide reordering jitter at a high rate costs noticeably more.

use base::Instant;
use std::collections::VecDeque;

#[derive(Debug)]
pub(crate) struct TimedQueue<P> {
    entries: VecDeque<(Instant, P)>,
}

impl<P> TimedQueue<P> {
    pub(crate) fn new() -> Self {
        Self { entries: VecDeque::new() }
    }

    #[inline]
    pub(crate) fn push(&mut self, at: Instant, packet: P) {
        match self.entries.back() {
            Some(&(last, _)) if at < last => self.insert(at, packet),
            _ => self.entries.push_back((at, packet)),
        }
    }

    fn insert(&mut self, at: Instant, packet: P) {
        let place = self.entries.partition_point(|(other, _)| *other <= at);
        self.entries.insert(place, (at, packet));
    }

    /// The time of the next packet; the end of time when there is none.
    #[inline]
    pub(crate) fn next_at(&self) -> Instant {
        self.entries.front().map_or(Instant::MAX, |(at, _)| *at)
    }

    /// The next packet, if its time has come.
    #[inline]
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<(Instant, P)> {
        let (at, _) = self.entries.front()?;
        if *at <= now { self.entries.pop_front() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn gives_packets_back_by_time_and_then_by_arrival(times in proptest::collection::vec(0u64..20, 0..60)) {
            let mut queue = TimedQueue::new();
            for (index, ns) in times.iter().enumerate() {
                queue.push(Instant::from_nanos(*ns), index);
            }
            let mut model: Vec<_> = times.iter().map(|ns| Instant::from_nanos(*ns)).zip(0..).collect();
            model.sort();
            let taken: Vec<_> = core::iter::from_fn(|| queue.pop_due(Instant::from_nanos(20))).collect();
            prop_assert_eq!(taken, model);
        }
    }

    #[test]
    fn keeps_what_is_not_due() {
        let mut queue = TimedQueue::new();
        assert_eq!(queue.next_at(), Instant::MAX);
        queue.push(Instant::from_nanos(5), ());
        assert_eq!(queue.next_at(), Instant::from_nanos(5));
        assert_eq!(queue.pop_due(Instant::from_nanos(4)), None);
        assert_eq!(queue.pop_due(Instant::from_nanos(5)), Some((Instant::from_nanos(5), ())));
    }
}
