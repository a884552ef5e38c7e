//! What an option's handler may look at.

use crate::socket::Family;
use crate::sysctl::Sysctls;
use libc::{SOL_IP, SOL_IPV6, SOL_SOCKET, SOL_TCP, c_int};
use tcp::{AckPace, Details};

/// How far the socket has come, as far as options look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Neither opened nor listening.
    Fresh,
    /// It accepts connections.
    Listening,
    /// It was opened; perhaps it is over.
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
    /// What the connection reports of itself, if it exists.
    pub details: Option<&'a Details>,
    /// How the connection acknowledges at present.
    pub pace: Option<AckPace>,
    /// A listener's queue: how full, and how large.
    pub backlog: (u32, u32),
    /// Bytes that wait to be read, and to be acknowledged.
    pub queued: (u32, u32),
}

/// Whether a socket has options of this level. Those of IPv4 are a version 6 socket's, too.
pub(super) fn has_level(scene: &Scene<'_>, level: c_int) -> bool {
    matches!(level, SOL_SOCKET | SOL_TCP | SOL_IP) || (level == SOL_IPV6 && scene.family == Family::V6)
}
