//! State that waits for the end of the handshake: data that came with the peer's SYN (RFC 9293 §3.10.7.2 and §3.10.7.3), an
//! application that wants to be notified only once there is data, and a call that writes as soon as it can.
//!
//! Data in a SYN is kept in the receive buffer, but neither acknowledged nor delivered before the connection is established: a
//! SYN may be an old duplicate or a forgery. Fast Open, where it applies, does not wait.
//!
//! A listener may make connections wait for data: the ACK that ends the handshake is ignored until data comes with it or the time
//! has passed. Meanwhile the SYN-ACK is not retransmitted, because it has arrived; after that time it is, and the peer's answer
//! establishes the connection.
//!
//! A SYN-ACK needs no ACK of its own where data is about to follow: [`SynAckAnswer`].

use crate::config::DeferAccept;
use base::Instant;

/// State of the handshake, and what waits for its end.
#[derive(Clone, Debug, Default)]
pub(in crate::endpoint) struct Opening {
    /// An ACK has arrived and was ignored, because it carried no data.
    deferred: bool,
    /// A call of the application waits for the connection in order to write.
    writer: bool,
    /// The peer repeated its SYN, so we repeated our SYN-ACK.
    repeated: bool,
    /// The endpoint was rebuilt from the acknowledgement of a SYN cookie.
    rebuilt: bool,
}

impl Opening {
    /// Notes that the ACK that ends the handshake came without data, and is ignored.
    pub fn on_deferred(&mut self) {
        self.deferred = true;
    }

    /// Returns whether our SYN-ACK has arrived, although its acknowledgement was ignored.
    pub fn is_deferred(&self) -> bool {
        self.deferred
    }

    /// Sets whether a call waits for the connection in order to write once it is open.
    pub fn announce_writer(&mut self, waits: bool) {
        self.writer = waits;
    }

    /// Returns whether a call waits for the connection in order to write once it is open.
    pub fn has_writer(&self) -> bool {
        self.writer
    }

    /// Notes that the peer repeated its SYN. It is unknown which copy of our SYN-ACK will be acknowledged, so no RTT sample is
    /// taken (Karn). This does not count as a retry: no timer has expired, and a duplicated SYN must not shorten the wait for the
    /// peer.
    pub fn on_repeated_syn(&mut self) {
        self.repeated = true;
    }

    /// Returns whether the peer's SYN came more than once.
    pub fn is_repeated(&self) -> bool {
        self.repeated
    }

    /// Notes that the endpoint is rebuilt from the acknowledgement of a SYN cookie.
    pub fn on_rebuilt(&mut self) {
        self.rebuilt = true;
    }

    /// Returns whether the time at which the SYN-ACK left is unknown.
    pub fn is_rebuilt(&self) -> bool {
        self.rebuilt
    }
}

/// Returns whether a connection whose first SYN-ACK left at `began` may still wait for data.
pub(in crate::endpoint) fn may_defer(config: DeferAccept, began: Instant, now: Instant) -> bool {
    matches!(config, DeferAccept::For(wait) if now < began + wait)
}
