//! The contents of a connection's two buffers, in the terms of a socket (RFC 9293 §3.9.1).

use base::Bytes;

/// How full a connection's buffers are; bytes of payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queues {
    /// Received in order and not yet read.
    pub readable: u64,
    /// Everything up to the peer's FIN has been received.
    pub fin_received: bool,
    /// Written and not yet acknowledged, sent or not.
    pub unacknowledged: Bytes,
    /// Written and not yet sent.
    pub unsent: Bytes,
    /// Room in the send buffer.
    pub room: Bytes,
    /// Our FIN: whether it has a sequence number, and whether that is acknowledged.
    pub fin: FinProgress,
}

/// How far our FIN has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinProgress {
    /// The application has not closed this direction.
    Open,
    /// It waits behind data.
    Queued,
    /// It was sent.
    Sent,
    /// The peer has acknowledged it.
    Acknowledged,
}
