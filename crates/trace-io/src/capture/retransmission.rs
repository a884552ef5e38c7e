//! Why a segment was retransmitted: loss detection (RFC 6675, RFC 8985 §6), a tail loss probe (RFC 8985 §7), a timeout (RFC
//! 6298), or a closed window (RFC 9293 §3.8.6.1).
//!
//! A capture does not show the sender's reasons, so they are inferred from what the sender knew and how long it had been silent:
//! an answer to an acknowledgement leaves at once or within a reordering window, which is at most a round trip (RFC 8985 §6.2),
//! while a probe waits for two round trips and a timeout for one plus four times its variation. Which of several retransmissions
//! were needless is not decided here: the receiver's D-SACK reports it (RFC 2883).

use std::collections::VecDeque;

/// Duplicate acknowledgements that announce a loss (RFC 5681 §3.2).
pub(super) const DUP_THRESH: u32 = 3;
/// Lower limit of all timers; a busy machine may delay its answers to acknowledgements by this much.
const SHORTEST_TIMER: u64 = 2_000_000;
/// The assumed round trip if none was measured.
const UNKNOWN_ROUND_TRIP: u64 = 100_000_000;
/// A probe of a single segment waits this long for a delayed acknowledgement (RFC 8985 §7.2), and we a little longer.
const DELAYED_ACK: u64 = 250_000_000;
/// Retransmissions that may still prove needless.
const REMEMBERED: usize = 4_096;

/// Why a segment was sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// Later segments arrived.
    Fast,
    /// A timer, before the timeout: the last segment once more.
    TailProbe,
    /// The timeout itself.
    Timeout,
    /// What followed a timeout, until all that was in flight at that time is acknowledged.
    AfterTimeout,
    /// The window is closed.
    WindowProbe,
    /// No reason is visible here.
    Unexplained,
}

/// What the sender knew when it retransmitted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Circumstances {
    /// Since it last sent anything, or could have heard of an acknowledgement.
    pub silence: u64,
    /// Since it last sent these bytes.
    pub since_sent: u64,
    pub smoothed: Option<u64>,
    pub variation: u64,
    /// Later bytes are known to have arrived, or three duplicate acknowledgements came.
    pub evidence: bool,
    /// These are the last bytes it has sent, and the first that are not acknowledged.
    pub is_last: bool,
    pub is_first: bool,
    pub window_closed: bool,
    /// A probe was sent already, and nothing acknowledged since.
    pub has_probed: bool,
    /// SACK is in use, without which no probes are sent.
    pub sack: bool,
    pub start: u64,
}

/// A recovery, from its first retransmission until all that was sent before it is acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Episode {
    #[default]
    None,
    Fast {
        point: u64,
    },
    Timeout {
        point: u64,
    },
}

impl Episode {
    pub fn is_over(self, ack: u64) -> bool {
        match self {
            Self::None => false,
            Self::Fast { point } | Self::Timeout { point } => ack >= point,
        }
    }
}

/// Judges one retransmission.
pub(super) fn cause(now: &Circumstances, episode: Episode) -> Cause {
    if now.window_closed {
        return Cause::WindowProbe;
    }
    let smoothed = now.smoothed.unwrap_or(UNKNOWN_ROUND_TRIP);
    let by_timer = now.silence >= (smoothed + smoothed / 2).max(SHORTEST_TIMER)
        && now.since_sent >= (smoothed + now.variation).max(SHORTEST_TIMER);
    if by_timer {
        let alone = now.is_last && now.is_first;
        let soon = now.since_sent <= 2 * smoothed + DELAYED_ACK;
        let may_probe = now.sack && !now.has_probed && now.is_last;
        return if may_probe && (!alone || soon) { Cause::TailProbe } else { Cause::Timeout };
    }
    match episode {
        Episode::Timeout { point } if now.start < point => Cause::AfterTimeout,
        Episode::Fast { point } if now.start < point => Cause::Fast,
        _ if now.evidence => Cause::Fast,
        _ => Cause::Unexplained,
    }
}

/// Retransmissions that a D-SACK may prove needless.
#[derive(Debug, Default)]
pub(super) struct Repeats(VecDeque<Repeat>);

#[derive(Clone, Copy, Debug)]
struct Repeat {
    start: u64,
    end: u64,
    /// Bytes of it that the receiver had twice, so far.
    is_proved: bool,
}

impl Repeats {
    /// Bytes of memory.
    pub fn heap(&self) -> usize {
        self.0.capacity() * size_of::<Repeat>()
    }

    pub fn sent(&mut self, start: u64, end: u64) {
        if self.0.len() == REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back(Repeat { start, end, is_proved: false });
    }

    /// Notes that the receiver got these bytes twice: returns whether an unproved retransmission of them was known.
    pub fn prove(&mut self, start: u64, end: u64) -> bool {
        let matching = |repeat: &&mut Repeat| !repeat.is_proved && repeat.start < end && start < repeat.end;
        let found = self.0.iter_mut().find(matching);
        found.map(|repeat| repeat.is_proved = true).is_some()
    }
}

#[cfg(test)]
mod tests;
