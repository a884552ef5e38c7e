//! What a profile may choose about acknowledgements.

use base::Duration;

/// The ACK policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckConfig {
    /// Longest time data stays unacknowledged. RFC 9293 MUST-40: below 500 ms.
    pub delay: Duration,
    /// What that time is counted from.
    pub timer: AckTimer,
    /// Up to where an adaptive delay may grow; `delay` is where it begins. Below 500 ms, too.
    pub delay_max: Duration,
    /// Full-sized segments that make an ACK due at once. RFC 5681 §4.2: at most 2; 1 turns delaying off.
    pub every_segments: u32,
    /// That many segments at the start of a connection are acknowledged one by one, so that the peer's slow start is not
    /// held back. Zero turns it off; 65,535 and more are the same.
    pub quick_segments: u32,
    /// Whether they are again after a pause, when the peer begins with a small window again.
    pub quick_again: QuickAgain,
}

/// What delayed ACKs wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckTimer {
    /// The delay counts from the first segment that is not acknowledged.
    PerSegment,
    /// The delay is the period of one beat for all connections, at its multiples since the clock began: an ACK waits for the
    /// next, however close it is.
    Heartbeat,
    /// The delay follows the intervals at which data comes, and grows each time an ACK had to leave by itself. A connection on
    /// which replies follow data acknowledges with them; one without acknowledges more than one full-sized segment at once,
    /// and a small one as soon as it is read. A FIN that leaves this side open is delayed like data.
    Adaptive,
}

/// When segments are acknowledged one by one again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuickAgain {
    /// Only the connection's first ones are.
    Never,
    /// After no data came for longer than the retransmission timeout, which is when a sender restarts (RFC 5681 §4.1).
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
