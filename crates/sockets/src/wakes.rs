//! What those who wait for a descriptor look at: what it is ready for, and how often something has happened to it.

/// `POLLIN` and the like; the numbers are also epoll's.
pub(crate) type PollFlags = i16;

/// How often an event that a sleeper waits for has happened; edge-triggered waiting compares these counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wakes {
    /// Data, the peer's FIN, a new connection to accept, or the end.
    pub readable: u64,
    /// Room after a shortage, a completed handshake, or the end.
    pub writable: u64,
    /// A report on the error queue.
    pub reports: u64,
}
