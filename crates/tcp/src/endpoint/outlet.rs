//! State of the device's outlet: whether it accepts packets.

use crate::timers::TimerKind;

/// Whether the device accepts packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outlet {
    /// The device accepts packets.
    Open,
    /// The device rejects packets.
    Refuses,
    /// The device accepts packets again; data that it rejected waits for its timer, a segment or a write.
    Reopened,
}

impl Outlet {
    /// Notes whether the device rejects packets from now on.
    pub fn set(&mut self, refuses: bool) {
        *self = match (refuses, *self) {
            (true, _) => Self::Refuses,
            (false, Self::Refuses) => Self::Reopened,
            (false, outlet) => outlet,
        };
    }

    /// Allows rejected data to leave again, after an event that is an occasion to retry.
    pub fn reopen(&mut self) {
        if *self == Self::Reopened {
            *self = Self::Open;
        }
    }

    /// Allows rejected data to leave again when a timer expires that covers data.
    pub fn on_timer(&mut self, kind: TimerKind) {
        if kind != TimerKind::DelayedAck && kind != TimerKind::KeepAlive {
            self.reopen();
        }
    }
}
