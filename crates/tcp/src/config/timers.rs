//! What a profile may choose about clocks and closing states: TIME-WAIT (RFC 9293 §3.6.1, RFC 1337, RFC 6191) and FIN-WAIT-2.

use base::Duration;

/// Clocks and closing states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimersConfig {
    /// Deadlines are rounded up to a multiple of this; zero for an exact clock.
    pub granularity: Duration,
    /// How long TIME-WAIT lasts: twice the maximum segment lifetime (RFC 9293 §3.6.1).
    pub time_wait: Duration,
    /// What a reset does in TIME-WAIT.
    pub time_wait_reset: TimeWaitReset,
    /// Whether the ACK of a segment that comes again in TIME-WAIT reports it.
    pub time_wait_duplicates: TimeWaitDuplicates,
    /// Whether a connection opened locally may end a TIME-WAIT.
    pub time_wait_reuse: TimeWaitReuse,
    /// How long a connection that the application has released waits in FIN-WAIT-2 for the peer's FIN; zero sends a reset instead
    /// of waiting.
    pub fin_wait_2: Duration,
}

/// What a reset does in TIME-WAIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeWaitReset {
    /// Nothing: the wait continues, so that old segments cannot hit a new connection (RFC 1337 §3, F1).
    Ignored,
    /// It ends the wait (RFC 9293 §3.10.7.4, second).
    Ends,
}

/// What an ACK in TIME-WAIT says of the segment that came again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeWaitDuplicates {
    /// A block reports it, as at any other time (RFC 2883 §4).
    Reported,
    /// Nothing: little is remembered of the connection, and the peer sends no more.
    Unreported,
}

/// Whether a connection opened locally may reuse the addresses and ports of one in TIME-WAIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeWaitReuse {
    /// It may not.
    Never,
    /// It may once the wait has lasted this long, provided that timestamps distinguish the segments of the two connections.
    After(Duration),
}

impl Default for TimersConfig {
    fn default() -> Self {
        Self {
            granularity: Duration::ZERO,
            time_wait: Duration::from_secs(60),
            time_wait_reset: TimeWaitReset::Ignored,
            time_wait_duplicates: TimeWaitDuplicates::Reported,
            time_wait_reuse: TimeWaitReuse::Never,
            fin_wait_2: Duration::from_secs(60),
        }
    }
}
