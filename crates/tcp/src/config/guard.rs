//! How an endpoint guards itself against what does not belong: settings of RFC 5961 and of RFC 7323's check.

use base::Duration;

/// ACKs that answer segments which were not processed (RFC 5961 §7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChallengeConfig {
    /// Most of them in an interval. Of several, each interval allows between half and all of them, at random.
    pub limit: u32,
    /// The interval, which the first of them begins.
    pub interval: Duration,
    /// What becomes of an acknowledgement of bytes that were never sent.
    pub unsent_ack: UnsentAck,
}

/// What becomes of an acknowledgement of bytes that were never sent (RFC 9293 §3.10.7.4, fifth).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnsentAck {
    /// It is answered with an ACK.
    Answered,
    /// It is dropped in ESTABLISHED, and answered in other states.
    IgnoredInEstablished,
}

/// What becomes of a segment without timestamps on a connection that uses them. Resets and SYNs are judged without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingTimestamps {
    /// It is dropped (RFC 7323 §3.2).
    Dropped,
    /// It is taken as if its timestamp were in order.
    Accepted,
}

impl Default for ChallengeConfig {
    fn default() -> Self {
        Self { limit: 10, interval: Duration::from_secs(5), unsent_ack: UnsentAck::Answered }
    }
}
