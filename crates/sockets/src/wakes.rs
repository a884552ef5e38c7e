//! What those who wait for a descriptor look at: what it is ready for, and how often something has happened to it.

/// `POLLIN` and its company; the numbers are epoll's, too.
pub(crate) type PollFlags = i16;

/// How often something has happened that a sleeper wants to know; what edge-triggered waiting compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wakes {
    /// Data, the peer's FIN, a new connection to accept, or the end.
    pub readable: u64,
    /// Room after there was too little, a handshake completed, or the end.
    pub writable: u64,
    /// A report on the error queue.
    pub reports: u64,
}
