//! Timer checker: after a turn the next deadline lies ahead, and a node served again at the same instant must make
//! progress.

use crate::outcome::Cause;
use base::Instant;

/// Turns without progress at one instant that are one too many. The first may be a deadline that was early, which stacks
/// are allowed to give.
const IDLE_TURNS: u32 = 2;

/// Watches the turns of all nodes.
#[derive(Debug)]
pub(crate) struct Timers {
    nodes: Vec<Idle>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Idle {
    at: Instant,
    turns: u32,
}

/// Whether a turn moved anything: a frame in or out, or a call of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Made,
    None,
}

impl Timers {
    pub(crate) fn new(nodes: usize) -> Self {
        Self { nodes: vec![Idle::default(); nodes] }
    }

    /// Checks a turn of `node` at `now`, after which it reported its next deadline.
    #[inline]
    pub(crate) fn after_turn(
        &mut self,
        node: usize,
        now: Instant,
        progress: Progress,
        deadline: Option<Instant>,
    ) -> Result<(), Cause> {
        if let Some(deadline) = deadline.filter(|deadline| *deadline < now) {
            return Err(Cause::TimerInPast { node, deadline });
        }
        let idle = &mut self.nodes[node];
        match progress {
            Progress::Made => idle.turns = 0,
            Progress::None if idle.at == now => idle.turns += 1,
            Progress::None => idle.turns = 1,
        }
        idle.at = now;
        if idle.turns >= IDLE_TURNS { Err(Cause::Livelock { node }) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: u64) -> Instant {
        Instant::from_nanos(ns)
    }

    #[test]
    fn a_deadline_in_the_past_is_named() {
        let mut timers = Timers::new(1);
        assert_eq!(timers.after_turn(0, at(5), Progress::Made, Some(at(5))), Ok(()));
        let late = timers.after_turn(0, at(5), Progress::Made, Some(at(4)));
        assert_eq!(late, Err(Cause::TimerInPast { node: 0, deadline: at(4) }));
    }

    #[test]
    fn two_turns_without_progress_at_one_instant_are_a_livelock() {
        let mut timers = Timers::new(2);
        assert_eq!(timers.after_turn(1, at(5), Progress::None, None), Ok(()));
        assert_eq!(timers.after_turn(0, at(5), Progress::None, None), Ok(()));
        assert_eq!(timers.after_turn(1, at(5), Progress::None, None), Err(Cause::Livelock { node: 1 }));
    }

    #[test]
    fn progress_or_time_begins_a_new_count() {
        let mut timers = Timers::new(1);
        for (ns, progress) in [(5, Progress::None), (6, Progress::None), (6, Progress::Made), (6, Progress::None)] {
            assert_eq!(timers.after_turn(0, at(ns), progress, None), Ok(()));
        }
    }
}
