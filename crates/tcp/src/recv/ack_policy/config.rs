//! What a profile may choose about acknowledgements.

use base::Duration;

/// The ACK policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckConfig {
    /// Longest time that data stays unacknowledged. RFC 9293 MUST-40: below 500 ms.
    pub delay: Duration,
    /// The start of that time.
    pub timer: AckTimer,
    /// Upper limit of an adaptive delay, which begins with `delay`. Also below 500 ms.
    pub delay_max: Duration,
    /// Full-sized segments that make an ACK due at once. RFC 5681 §4.2: at most 2; 1 turns delaying off.
    pub every_segments: u32,
    /// This many segments at the start of a connection are acknowledged individually, so as not to slow down the peer's slow
    /// start. Zero disables this; 65,535 and more are equivalent.
    pub quick_segments: u32,
    /// Whether to repeat this after a pause, when the peer restarts with a small window.
    pub quick_again: QuickAgain,
}

/// What delayed ACKs wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckTimer {
    /// The delay counts from the first unacknowledged segment.
    PerSegment,
    /// The delay is the period of one heartbeat for all connections, at its multiples since the clock began: an ACK waits for the
    /// next one, however close it is.
    Heartbeat,
    /// The delay follows the intervals between arrivals, and grows each time an ACK had to leave alone. If replies follow data,
    /// they carry the ACKs; otherwise an ACK covers more than one full-sized segment, and a small segment is acknowledged as soon
    /// as it is read. A FIN that leaves this side open is delayed like data.
    Adaptive,
}

/// When to acknowledge segments individually again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuickAgain {
    /// Never: only the connection's first ones are.
    Never,
    /// After a silence longer than the retransmission timeout, which is when a sender restarts (RFC 5681 §4.1).
    AfterIdle,
}

impl Default for AckConfig {
    fn default() -> Self {
        Self {
            delay: Duration::from_millis(40),
            timer: AckTimer::PerSegment,
            delay_max: Duration::from_millis(200),
            every_segments: 2,
            quick_segments: 16,
            quick_again: QuickAgain::Never,
        }
    }
}
