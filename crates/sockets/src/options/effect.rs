//! What has to be done when an option was set.

use libc::*;
use tcp::AckPace;

/// What setting an option requires besides storing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing: the option only returns what was set.
    Kept,
    /// The connection's settings change.
    Settings,
    /// Acknowledgements are sent sooner or later from now on.
    Pace(AckPace),
}

impl Effect {
    /// The effect of setting an option to this number.
    pub fn of(level: c_int, name: c_int, asked: c_int) -> Self {
        match (level, name, asked) {
            (SOL_TCP, TCP_QUICKACK, 0) => Self::Pace(AckPace::Delayed),
            // An even number requests one quick acknowledgement.
            (SOL_TCP, TCP_QUICKACK, _) => Self::Pace(if asked & 1 == 0 { AckPace::QuickOnce } else { AckPace::Quick }),
            (SOL_TCP | SOL_IP | SOL_IPV6, ..) | (SOL_SOCKET, SO_KEEPALIVE | SO_OOBINLINE, _) => Self::Settings,
            _ => Self::Kept,
        }
    }
}
