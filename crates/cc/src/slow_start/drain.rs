//! A window that comes down to what the path holds, after a detector found it full (SEARCH; CCWG at IETF 126).
//!
//! One byte in three that are acknowledged is not replaced, so that the queue that the detector needed drains within a few round
//! trips while the sender never falls silent. `ssthresh` is set at the end, as after conservative slow start.

use super::{ExitCause, Step};
use crate::window::Window;
use base::Bytes;

/// Acknowledged bytes for each byte that leaves the window.
const ACKED_PER_BYTE: Bytes = 3;

/// What becomes of the window when a detector ends slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitWindow {
    /// It comes down to what was delivered in a round trip.
    Drained,
    /// It stays.
    Kept,
}

/// A window on its way down.
#[derive(Clone, Copy, Debug)]
pub struct Drain {
    target: Bytes,
    /// Acknowledged bytes not yet answered; fewer than three.
    credit: Bytes,
}

impl Drain {
    /// Comes down to `target`, bytes.
    pub const fn to(target: Bytes) -> Self {
        Self { target, credit: 0 }
    }

    /// Handles an ACK of `acked` bytes; the last one exits for `cause`.
    pub fn on_ack(&mut self, acked: Bytes, window: &Window, cause: ExitCause) -> Step {
        let counted = self.credit.saturating_add(acked);
        self.credit = counted % ACKED_PER_BYTE;
        let lowered = window.cwnd().saturating_sub(counted / ACKED_PER_BYTE);
        if lowered <= self.target {
            return Step::Exit { window: self.target.min(window.cwnd()), cause };
        }
        Step::Set(lowered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::InitialWindow;

    #[test]
    fn one_segment_goes_for_three_acknowledged_until_the_target() {
        let mut window = Window::new(&InitialWindow::plain(10), 1_000);
        let mut drain = Drain::to(8_500);
        let mut steps = Vec::new();
        for acked in [1_000, 2_000, 1_000, 500, 1] {
            let step = drain.on_ack(acked, &window, ExitCause::Shortfall);
            steps.push(step);
            if let Step::Set(bytes) = step {
                window.set_cwnd(bytes);
            }
        }
        let sets = [9_667, 9_000, 8_667, 8_500].map(Step::Set);
        assert_eq!(steps[..3], sets[..3]);
        assert_eq!(steps[3], Step::Exit { window: 8_500, cause: ExitCause::Shortfall });
    }

    #[test]
    fn a_target_above_the_window_exits_at_once_and_opens_nothing() {
        let window = Window::new(&InitialWindow::plain(10), 1_000);
        let step = Drain::to(20_000).on_ack(0, &window, ExitCause::Plateau);
        assert_eq!(step, Step::Exit { window: 10_000, cause: ExitCause::Plateau });
    }
}
