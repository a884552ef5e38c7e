//! How a listener's handshakes go: data in SYNs, handshakes that wait for data, SYN cookies (RFC 4987).

use base::Duration;

/// Handshakes of connections that the peer opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandshakeConfig {
    /// What becomes of data and a FIN in a SYN that Fast Open does not take.
    pub syn_data: SynData,
    /// Whether a connection is established before data has arrived on it.
    pub defer_accept: DeferAccept,
    /// Whether SYNs are answered without keeping state; `None` leaves it to the stack's guards ([`super::GuardConfig`]).
    pub cookies: Option<SynCookies>,
    /// When a SYN leaves again that was answered by an ACK of something else.
    pub wrong_ack: WrongAck,
}

/// What becomes of data and a FIN in a SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SynData {
    /// They wait until the connection is established (RFC 9293 §3.10.7.2, third).
    Queued,
    /// The peer has to send them again.
    Ignored,
}

/// Whether a connection is established before data has arrived on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeferAccept {
    /// It is, by the ACK that ends the handshake.
    Off,
    /// Not within this time after the SYN: an ACK without data is ignored until then, and asked for again afterwards.
    For(Duration),
}

/// Whether SYNs are answered without keeping state (RFC 4987 §3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SynCookies {
    /// Never; when the SYN queue is full, SYNs are dropped.
    Off,
    /// While the SYN queue is full.
    WhenFull,
    /// Always.
    Always,
}

/// When a SYN leaves again that was answered by an ACK of something else, which a reset answers: the peer still has a connection
/// of an earlier life (RFC 9293 §3.5.1), and forgets it at the reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongAck {
    /// When its timeout is over.
    Waits,
    /// After two milliseconds, the first time.
    Retries,
}

impl Default for HandshakeConfig {
    fn default() -> Self {
        Self { syn_data: SynData::Queued, defer_accept: DeferAccept::Off, cookies: None, wrong_ack: WrongAck::Waits }
    }
}
