//! State that waits for the end of the handshake: data that came with the peer's SYN (RFC 9293 §3.10.7.2 and §3.10.7.3), an
//! application that wants notice only once there is data, and a call that writes as soon as it may.
//!
//! Data in a SYN is kept in the receive buffer, but neither acknowledged nor delivered before the connection is established: a
//! SYN may be an old duplicate or a forgery. Fast Open, where it applies, does not wait.
//!
//! A listener may let connections wait for data: the ACK that ends the handshake is ignored until data comes with it, or the
//! time is over. The SYN-ACK is not sent again meanwhile, as it has arrived; when the time is over it is, and the peer's
//! answer counts.
//!
//! A SYN-ACK need not be acknowledged by itself where data is about to follow: [`SynAckAnswer`].

use crate::config::DeferAccept;
use base::Instant;

/// What is remembered of a handshake, and what waits for its end.
#[derive(Clone, Debug, Default)]
pub(in crate::endpoint) struct Opening {
    /// An ACK has arrived and was ignored, because it carried no data.
    deferred: bool,
    /// A call of the application waits for the connection and will write then.
    writer: bool,
    /// The peer repeated its SYN, and so did we our SYN-ACK.
    repeated: bool,
    /// The endpoint was made from the acknowledgement of a SYN cookie.
    rebuilt: bool,
}

impl Opening {
    /// The ACK that ends the handshake came without data, and is ignored.
    pub fn on_deferred(&mut self) {
        self.deferred = true;
    }

    /// Whether our SYN-ACK has arrived, although its acknowledgement was ignored.
    pub fn is_deferred(&self) -> bool {
        self.deferred
    }

    /// Says whether a call waits for the connection that writes as soon as it is open.
    pub fn announce_writer(&mut self, waits: bool) {
        self.writer = waits;
    }

    /// Whether a call waits for the connection that writes as soon as it is open.
    pub fn has_writer(&self) -> bool {
        self.writer
    }

    /// The peer's SYN came again. It is unknown which copy of our SYN-ACK will be acknowledged, so no RTT sample is taken
    /// (Karn). This does not count as a retry: no timer has expired, and a doubled SYN must not shorten the wait for the peer.
    pub fn on_repeated_syn(&mut self) {
        self.repeated = true;
    }

    /// Whether the peer's SYN came more than once.
    pub fn is_repeated(&self) -> bool {
        self.repeated
    }

    /// The endpoint is made from the acknowledgement of a SYN cookie.
    pub fn on_rebuilt(&mut self) {
        self.rebuilt = true;
    }

    /// Whether the time at which the SYN-ACK left is unknown.
    pub fn is_rebuilt(&self) -> bool {
        self.rebuilt
    }
}

/// Whether a connection may wait for data, given that its first SYN-ACK left at `began`.
pub(in crate::endpoint) fn may_defer(config: DeferAccept, began: Instant, now: Instant) -> bool {
    matches!(config, DeferAccept::For(wait) if now < began + wait)
}
