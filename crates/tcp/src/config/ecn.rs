//! Explicit congestion notification as data (RFC 3168, RFC 8511).

use base::Ratio;

/// Explicit congestion notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EcnConfig {
    /// Whether it is negotiated.
    pub negotiation: EcnNegotiation,
    /// What a retransmitted SYN asks for.
    pub syn_again: EcnSynAgain,
    /// How the window is reduced after a mark.
    pub response: EcnResponse,
    /// By how much.
    pub mark_beta: MarkBeta,
}

/// Who may ask for ECN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnNegotiation {
    /// Neither side: ECN is neither offered nor answered.
    Off,
    /// The peer only: we accept its offer and make none.
    Answer,
    /// Both sides.
    Offer,
}

/// What a retransmitted SYN asks for: the first one may have been dropped because of its flags (RFC 3168 §6.1.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnSynAgain {
    /// Nothing: an answer to the first one is still accepted.
    Plain,
    /// ECN, like the first one.
    SameAgain,
}

/// How the window comes down after a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnResponse {
    /// At once: nothing leaves until the flight has shrunk; at a window of one segment, a timer must expire first (RFC 3168
    /// §6.1.2).
    AtOnce,
    /// By the algorithm of fast recovery, over a round trip, and to at least two segments.
    ByReduction,
}

/// What a mark multiplies the window by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkBeta {
    /// The same as a loss (RFC 3168 §6.1.2).
    AsLoss,
    /// In congestion avoidance a factor of its own, because a queue that marks is short (RFC 8511 §3).
    Own {
        /// The factor, greater than zero.
        beta: Ratio,
    },
}

impl MarkBeta {
    /// A separate factor, with RFC 8511's value for NewReno as the default.
    pub fn own() -> Self {
        Self::Own { beta: Ratio::new(4, 5).unwrap_or(Ratio::ONE) }
    }
}

impl Default for EcnConfig {
    /// Accept but do not offer: RFC 9293 §3.7.2 requires support; offering is a choice.
    fn default() -> Self {
        Self {
            negotiation: EcnNegotiation::Answer,
            syn_again: EcnSynAgain::Plain,
            response: EcnResponse::AtOnce,
            mark_beta: MarkBeta::AsLoss,
        }
    }
}
