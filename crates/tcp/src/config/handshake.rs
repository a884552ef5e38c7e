//! How a listener conducts handshakes: data in SYNs, handshakes that wait for data, SYN cookies (RFC 4987).

use base::Duration;

/// Handshakes of connections that the peer opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandshakeConfig {
    /// How to treat data and a FIN in a SYN that Fast Open does not accept.
    pub syn_data: SynData,
    /// Whether a connection is established before data has arrived on it.
    pub defer_accept: DeferAccept,
    /// Whether to answer SYNs without keeping state; `None` leaves it to the stack's guards ([`super::GuardConfig`]).
    pub cookies: Option<SynCookies>,
    /// When to send a SYN again after an ACK that acknowledges something else.
    pub wrong_ack: WrongAck,
    /// How a listener treats a SYN that also carries a FIN.
    pub syn_fin: SynFin,
    /// When to acknowledge the SYN-ACK of a connection opened locally.
    pub syn_ack_answer: SynAckAnswer,
}

/// How to treat data and a FIN in a SYN.
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
    /// With the first data, or after `ack.delay_max` without any, if data is about to follow: some is buffered, a writing call
    /// waits for the connection, or the application asked for delayed ACKs or waits for data itself. The SYN-ACK counts as data
    /// received, so that our first data counts as a reply to it.
    WithData,
}

/// How a listener treats a SYN that also carries a FIN. It may be a whole stream in one segment, whose FIN is as valid as its
/// data, or a probe that looks for gaps in packet filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SynFin {
    /// Answers the SYN; [`SynData`] determines what happens to the FIN (RFC 9293 §3.10.7.2, third: the other control bits are
    /// processed in SYN-RECEIVED).
    Answered,
    /// Drops the segment. If it may end a TIME-WAIT, it does so before it is dropped.
    Dropped,
}

/// Whether a connection is established before data has arrived on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeferAccept {
    /// It is, as soon as the ACK that completes the handshake arrives.
    Off,
    /// Not within this time after the SYN: until then an ACK without data is ignored; afterwards the SYN-ACK is sent again.
    For(Duration),
}

/// Whether to answer SYNs without keeping state (RFC 4987 §3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SynCookies {
    /// Never; when the SYN queue is full, SYNs are dropped.
    Off,
    /// While the SYN queue is full.
    WhenFull,
    /// Always.
    Always,
}

/// When to send a SYN again after an ACK that acknowledges something else. A reset answers that ACK: the peer still has an
/// earlier connection (RFC 9293 §3.5.1) and drops it at the reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongAck {
    /// When its retransmission timeout expires.
    Waits,
    /// After two milliseconds, for the first such ACK.
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
