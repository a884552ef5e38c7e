//! Whether the device takes what leaves.

use crate::timers::TimerKind;

/// Whether the device takes packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outlet {
    /// It does.
    Open,
    /// It does not.
    Refuses,
    /// It does again; data that it refused waits for its timer, a segment or a write.
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

    /// A timer brings refused data back, if it is one that watches over data.
    pub fn on_timer(&mut self, kind: TimerKind) {
        if kind != TimerKind::DelayedAck && kind != TimerKind::KeepAlive {
            self.reopen();
        }
    }
}
