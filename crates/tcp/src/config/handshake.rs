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
    /// What a listener does with a SYN that carries a FIN as well.
    pub syn_fin: SynFin,
    /// When the SYN-ACK of a connection that was opened here is acknowledged.
    pub syn_ack_answer: SynAckAnswer,
}

/// What becomes of data and a FIN in a SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SynData {
    /// They wait until the connection is established (RFC 9293 §3.10.7.2, third).
    Queued,
    /// The peer has to send them again.
    Ignored,
}

/// When the SYN-ACK of a connection that was opened here is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SynAckAnswer {
    /// At once (RFC 9293 §3.10.7.3, fourth).
    AtOnce,
    /// With the first data, or after `ack.delay_max` without any, if data is about to follow: some is buffered, a call that
    /// writes waits for the connection, the application asked for delayed ACKs or waits for data itself. The SYN-ACK counts as
    /// data received, so that our first data is taken for a reply to it.
    WithData,
}

/// What a listener does with a SYN that carries a FIN as well. It may be a whole stream in one segment, of which the FIN is
/// as good as data, or a probe that looks for gaps in packet filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SynFin {
    /// The SYN is answered; [`SynData`] says what becomes of the FIN (RFC 9293 §3.10.7.2, third: the other control bits are
    /// processed in SYN-RECEIVED).
    Answered,
    /// The segment is dropped. One that may end a TIME-WAIT ends it and is dropped then.
    Dropped,
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
        Self {
            syn_data: SynData::Queued,
            defer_accept: DeferAccept::Off,
            cookies: None,
            wrong_ack: WrongAck::Waits,
            syn_fin: SynFin::Answered,
            syn_ack_answer: SynAckAnswer::AtOnce,
        }
    }
}
