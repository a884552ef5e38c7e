//! When to give up on an unresponsive peer: retransmissions (RFC 9293 §3.8.3), the user timeout (§3.9.1) and keep-alive
//! (§3.8.4).

use base::Duration;

/// When to give up on a peer that does not acknowledge (RFC 9293 §3.8.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryConfig {
    /// R1: retransmissions of the same data before the application learns that the peer does not answer; at least three.
    pub notify: u32,
    /// R2: retransmissions of the same data before the connection is given up. Unanswered probes of a closed window count against
    /// the same limit.
    pub data: u32,
    /// How to compare a connection with that limit.
    pub limit: RetryLimit,
    /// The same limit after the application has released the connection, if it is lower. A window that stays closed until probes
    /// reach their longest interval also ends such a connection (RFC 6429 §4 allows it, to save resources).
    pub orphan: Option<u32>,
    /// Retransmissions of a SYN before the attempt fails.
    pub syn: u32,
    /// This many retransmissions of a SYN leave before the timeout starts to double.
    pub syn_linear: u32,
    /// Retransmissions of a SYN-ACK before the attempt fails.
    pub syn_ack: u32,
    /// User timeout: how long data may stay unacknowledged or wait for a closed window before the connection ends. It stands in
    /// for `data`.
    pub user_timeout: Option<Duration>,
    /// When the user timeout and a time limit start to count.
    pub counted_from: CountedFrom,
    /// What to send to a peer that is given up on.
    pub farewell: Farewell,
    /// How long to wait before resending data that the local device refused; the timeout is not doubled. Without it, refused data
    /// is lost like a packet on the way.
    pub refused: Option<Duration>,
}

/// What to send to a peer whose silence ended the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Farewell {
    /// Nothing (RFC 9293 §3.10.8).
    Silence,
    /// A reset, in case the peer still receives although nothing from it arrives.
    Reset,
}

/// What a number of retransmissions limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryLimit {
    /// The number of retransmissions.
    Count,
    /// The time that this many retransmissions take if the first waits `rto.min` and each further one twice as long, up to
    /// `rto.max`, whatever the actual timeout is.
    Time,
}

/// The start of a silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedFrom {
    /// The transmission of the oldest data outstanding, or the latest progress; the closing of the window.
    Transmission,
    /// The first retransmission, or the first probe of a closed window.
    Retransmission,
}

/// Keep-alive probes (RFC 9293 §3.8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepAliveConfig {
    /// None are sent.
    Off,
    /// Send them, without data.
    On {
        /// How long the connection must be silent before the first probe leaves.
        idle: Duration,
        /// How long to wait for the answer to each probe.
        interval: Duration,
        /// This many unanswered probes end the connection, unless there is a user timeout, which then decides.
        count: u32,
    },
}

impl Default for RetryConfig {
    fn default() -> Self {
        Self {
            notify: 3,
            data: 15,
            limit: RetryLimit::Count,
            orphan: None,
            syn: 7,
            syn_linear: 0,
            syn_ack: 7,
            user_timeout: None,
            counted_from: CountedFrom::Transmission,
            farewell: Farewell::Silence,
            refused: None,
        }
    }
}

impl Default for KeepAliveConfig {
    /// RFC 9293 MUST-25: off.
    fn default() -> Self {
        Self::Off
    }
}
