//! How an endpoint guards itself against unacceptable segments: settings of RFC 5961 and of RFC 7323's check.

use base::Duration;

/// ACKs that answer segments the endpoint did not process (RFC 5961 §7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChallengeConfig {
    /// Maximum number of them per interval. Above one, each interval allows a random number between half and all of them.
    pub limit: u32,
    /// The interval, which starts with the first of them.
    pub interval: Duration,
    /// How to treat an acknowledgement of bytes that were never sent.
    pub unsent_ack: UnsentAck,
}

/// How to treat an acknowledgement of bytes that were never sent (RFC 9293 §3.10.7.4, fifth).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnsentAck {
    /// It is answered with an ACK.
    Answered,
    /// It is dropped in ESTABLISHED, and answered in other states.
    IgnoredInEstablished,
}

/// How to treat a segment without timestamps on a connection that uses them. Resets and SYNs need none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingTimestamps {
    /// It is dropped (RFC 7323 §3.2).
    Dropped,
    /// It is accepted as if its timestamp were in order.
    Accepted,
}

impl Default for ChallengeConfig {
    fn default() -> Self {
        Self { limit: 10, interval: Duration::from_secs(5), unsent_ack: UnsentAck::Answered }
    }
}
