//! A device of this host that refuses packets: its queue is full and takes nothing for a while.
//!
//! The device reports the refusal to the sender at once, which a network never does. What leaves by itself (a reset, a SYN, a
//! bare acknowledgement, a probe) is gone like a packet on the way. Data was not sent: it keeps its place, counts for
//! nothing, and is tried again after `retries.refused`, for as long as the limits of retransmissions and window probes allow,
//! without the timeout being doubled. Where `retries.refused` is not set, data is gone like everything else.
//!
//! What would leave is found out by sending it from a copy, so that the rules of sending have one owner. A device refuses
//! seldom, and what that costs is of no account.

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
