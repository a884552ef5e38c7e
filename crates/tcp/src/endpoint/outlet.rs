//! Whether the device takes what leaves.

use crate::timers::TimerKind;

/// Whether the device accepts packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outlet {
    /// It does.
    Open,
    /// It does not.
    Refuses,
    /// It accepts them again; data that it rejected waits for its timer, a segment or a write.
    Reopened,
}

impl Outlet {
    /// The device takes packets from now on, or takes none.
    pub fn set(&mut self, refuses: bool) {
        *self = match (refuses, *self) {
            (true, _) => Self::Refuses,
            (false, Self::Refuses) => Self::Reopened,
            (false, outlet) => outlet,
        };
    }

    /// Something happened upon which data is tried again.
    pub fn reopen(&mut self) {
        if *self == Self::Reopened {
            *self = Self::Open;
        }
    }

    /// Lets a timer bring rejected data back, if it is one that covers data.
    pub fn on_timer(&mut self, kind: TimerKind) {
        if kind != TimerKind::DelayedAck && kind != TimerKind::KeepAlive {
            self.reopen();
        }
    }
}
