//! When to give up on an unresponsive peer: retransmissions (RFC 9293 §3.8.3), the user timeout (§3.9.1) and keep-alive
//! (§3.8.4).

use base::Duration;

/// When to give up on a peer that does not acknowledge (RFC 9293 §3.8.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryConfig {
    /// Retransmissions of the same data before the application learns that the peer does not answer: R1, at least three.
    pub notify: u32,
    /// Retransmissions of the same data before the connection is given up: R2. Probes of a closed window that are not
    /// answered count like it.
    pub data: u32,
    /// How that number is held against a connection.
    pub limit: RetryLimit,
    /// The same once the application has released the connection, if it is to be fewer. A window that stays closed until
    /// probes leave at their slowest ends such a connection, too (RFC 6429 §4 allows it, to keep resources).
    pub orphan: Option<u32>,
    /// Retransmissions of a SYN before the attempt fails.
    pub syn: u32,
    /// That many retransmissions of a SYN before these leave without the timeout being doubled.
    pub syn_linear: u32,
    /// Retransmissions of a SYN-ACK before the attempt fails.
    pub syn_ack: u32,
    /// The user timeout: what may stay unacknowledged, or wait for a closed window, this long and no longer. It stands in
    /// for `data`.
    pub user_timeout: Option<Duration>,
    /// When the user timeout, and a limit in time, begin to count.
    pub counted_from: CountedFrom,
    /// What to send to a peer that is given up.
    pub farewell: Farewell,
    /// How long data waits that the host's own device refused, each time without the timeout being doubled; without it, what the
    /// device refuses is lost like a packet on the way.
    pub refused: Option<Duration>,
}

/// What to send to a peer whose silence ended a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Farewell {
    /// Nothing (RFC 9293 §3.10.8).
    Silence,
    /// A reset, in case it hears nothing but can be heard.
    Reset,
}

/// What a number of retransmissions limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryLimit {
    /// The number of retransmissions.
    Count,
    /// The time that so many take when the first waits `rto.min` and each further one twice as long, up to `rto.max`,
    /// whatever the timeout is in fact.
    Time,
}

/// The beginning of a silence.
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
    /// They are, and none carries data.
    On {
        /// How long nothing was heard before the first leaves.
        idle: Duration,
        /// How long each waits for an answer.
        interval: Duration,
        /// That many without an answer end the connection, unless there is a user timeout, which decides instead.
        count: u32,
    },
}

impl KeepAliveConfig {
    /// Probes as soon as RFC 9293 allows by default: after two hours.
    pub const AFTER_TWO_HOURS: Self =
        Self::On { idle: Duration::from_secs(7_200), interval: Duration::from_secs(75), count: 9 };
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
