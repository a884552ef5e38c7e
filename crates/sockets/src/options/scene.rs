//! What an option's handler may look at.

use crate::socket::Family;
use crate::sysctl::Sysctls;
use libc::{SOL_IP, SOL_IPV6, SOL_SOCKET, SOL_TCP, c_int};
use tcp::{AckPace, Details};

/// The state of the socket, as far as options depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Neither opened nor listening.
    Fresh,
    /// It accepts connections.
    Listening,
    /// It was opened; the connection may have ended.
    Opened,
}

/// Whether the socket has an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    No,
    Yes,
}

/// What an option's handler may look at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene<'a> {
    pub family: Family,
    pub stage: Stage,
    pub bound: Bound,
    pub sysctls: &'a Sysctls,
    /// What the connection reports about itself, if it exists.
    pub details: Option<&'a Details>,
    /// How the connection acknowledges at present.
    pub pace: Option<AckPace>,
    /// A listener's queue: its length and its capacity.
    pub backlog: (u32, u32),
    /// Bytes waiting to be read, and bytes waiting to be acknowledged.
    pub queued: (u32, u32),
}

/// Whether a socket has options of this level. An IPv6 socket has those of IPv4, too.
pub(super) fn has_level(scene: &Scene<'_>, level: c_int) -> bool {
    matches!(level, SOL_SOCKET | SOL_TCP | SOL_IP) || (level == SOL_IPV6 && scene.family == Family::V6)
}
