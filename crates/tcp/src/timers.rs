//! One table of deadlines per endpoint.
//!
//! The timers that cover the flight exclude each other (RFC 8985 §8), so they share one slot with a kind; each of the others has
//! its own slot. `timeout.rs` stops an expired timer before handling it, hence a spurious call is a no-op.

use base::{Duration, Instant};
pub use trace::TimerKind;

//= specs/rfc8985.md#timers
//# The reordering, probe, retransmission and zero-window timers exclude each other.
/// Returns the slot of a timer. The closing states, which come after keep-alive, share its slot.
const fn slot(kind: TimerKind) -> usize {
    match kind {
        TimerKind::Retransmit | TimerKind::Reorder | TimerKind::TailProbe | TimerKind::Persist => 0,
        TimerKind::DelayedAck => 1,
        TimerKind::KeepAlive | TimerKind::FinWait2 | TimerKind::TimeWait => 2,
        TimerKind::Pace => 3,
    }
}

const SLOTS: usize = 4;

/// The deadlines of one endpoint.
#[derive(Clone, Debug)]
pub(crate) struct TimerTable {
    at: [Instant; SLOTS],
    kind: [TimerKind; SLOTS],
}

impl TimerTable {
    /// An empty table.
    pub fn new() -> Self {
        Self { at: [Instant::MAX; SLOTS], kind: [TimerKind::Retransmit; SLOTS] }
    }
    //= specs/rfc8985.md#timers
    //# Arming the reordering or the probe timer cancels whichever of the others runs.
    /// Sets `kind` to fire at `at`, rounded up to a clock whose ticks are `granularity` apart (zero for an exact one); replaces
    /// any timer in its slot. Returns the deadline.
    #[inline]
    pub fn arm(&mut self, kind: TimerKind, at: Instant, granularity: Duration) -> Instant {
        let at = if granularity.is_zero() { at } else { at.round_up_to(granularity) };
        self.at[slot(kind)] = at;
        self.kind[slot(kind)] = kind;
        at
    }
    /// Stops any timer in the slot of `kind`.
    #[inline]
    pub fn stop(&mut self, kind: TimerKind) {
        self.at[slot(kind)] = Instant::MAX;
    }
    /// Stops all.
    pub fn stop_all(&mut self) {
        self.at = [Instant::MAX; SLOTS];
    }
    /// Returns when `kind` fires, if it is armed.
    #[inline]
    pub fn deadline(&self, kind: TimerKind) -> Option<Instant> {
        let slot = slot(kind);
        (self.at[slot] != Instant::MAX && self.kind[slot] == kind).then_some(self.at[slot])
    }
    /// The earliest deadline.
    #[inline]
    pub fn next(&self) -> Option<Instant> {
        let earliest = self.at.iter().copied().fold(Instant::MAX, Instant::min);
        (earliest != Instant::MAX).then_some(earliest)
    }
    /// Stops and returns one timer that is due at `now`: the earliest, and among equals the first in slot order.
    pub fn take_due(&mut self, now: Instant) -> Option<TimerKind> {
        let slot = (0..SLOTS).min_by_key(|&slot| self.at[slot])?;
        if self.at[slot] == Instant::MAX || self.at[slot] > now {
            return None;
        }
        self.at[slot] = Instant::MAX;
        Some(self.kind[slot])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EXACT: Duration = Duration::ZERO;

    //= specs/rfc8985.md#timers
    //= type=test
    //# The reordering, probe, retransmission and zero-window timers exclude each other.
    //= specs/rfc8985.md#timers
    //= type=test
    //# Arming the reordering or the probe timer cancels whichever of the others runs.
    #[test]
    fn timers_of_one_slot_replace_each_other() {
        let mut table = TimerTable::new();
        table.arm(TimerKind::Retransmit, Instant::from_nanos(9), EXACT);
        table.arm(TimerKind::Reorder, Instant::from_nanos(20), EXACT);
        assert_eq!(table.deadline(TimerKind::Retransmit), None);
        assert_eq!(table.next(), Some(Instant::from_nanos(20)));
        table.stop(TimerKind::Persist);
        assert_eq!(table.next(), None);
    }

    #[test]
    fn a_coarse_clock_rounds_up() {
        let at = TimerTable::new().arm(TimerKind::Pace, Instant::from_nanos(1), Duration::from_millis(10));
        assert_eq!(at, Instant::from_nanos(10_000_000));
    }

    proptest! {
        //= specs/rfc8985.md#timers
        //= type=test
        //# The reordering, probe, retransmission and zero-window timers exclude each other.
        #[test]
        fn agrees_with_a_sorted_list(ops in prop::collection::vec((0usize..9, 0u64..50, 0u8..3), 0..60)) {
            let mut table = TimerTable::new();
            let mut model: Vec<(TimerKind, u64)> = Vec::new();
            for (kind, at, op) in ops {
                let kind = TimerKind::ALL[kind];
                match op {
                    0 => {
                        model.retain(|(k, _)| slot(*k) != slot(kind));
                        model.push((kind, at));
                        table.arm(kind, Instant::from_nanos(at), EXACT);
                    }
                    1 => {
                        model.retain(|(k, _)| slot(*k) != slot(kind));
                        table.stop(kind);
                    }
                    _ => {
                        model.sort_by_key(|(k, t)| (*t, slot(*k)));
                        let due = model.first().copied().filter(|(_, t)| *t <= at);
                        if due.is_some() { model.remove(0); }
                        prop_assert_eq!(table.take_due(Instant::from_nanos(at)), due.map(|(k, _)| k));
                    }
                }
                let earliest = model.iter().map(|(_, t)| Instant::from_nanos(*t)).min();
                prop_assert_eq!(table.next(), earliest);
            }
        }
    }
}
