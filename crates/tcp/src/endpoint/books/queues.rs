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
    /// Progress of our FIN.
    pub fin: FinProgress,
}

/// Progress of our FIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinProgress {
    /// The application has not closed this direction.
    Open,
    /// The FIN waits behind data.
    Queued,
    /// The FIN was sent.
    Sent,
    /// The peer has acknowledged the FIN.
    Acknowledged,
}
