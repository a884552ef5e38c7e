//! What an advisor decides, and how the window follows it between two reports.

use crate::window::Window;
use base::{Bytes, Rate};

/// Acknowledged bytes to which growth below `ssthresh` refers.
const MILLION: u64 = 1_000_000;

/// What an advisor decides. A part that is `None` leaves what is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// The congestion window, bytes. A smaller one, and the answer to a signal, hold at once; a larger one opens with the ACKs of the next
    /// round, a share with each, because all at once would be a burst.
    pub window: Option<Bytes>,
    /// Below this window ACKs open it by `slow_start_ppm`, from it on by `avoidance`; bytes.
    pub ssthresh: Option<Bytes>,
    /// Growth below `ssthresh`: bytes for each million acknowledged bytes (RFC 5681 §3.1: a million). At first zero.
    pub slow_start_ppm: Option<u32>,
    /// Growth from `ssthresh` on: bytes for each window of acknowledged bytes (RFC 5681 §3.1: one SMSS). At first zero.
    pub avoidance: Option<Bytes>,
    /// Most bytes of one ACK that count below `ssthresh` (RFC 3465 §2.2, `L`). At first all.
    pub most_per_ack: Option<Bytes>,
    /// When segments leave: `Some(None)` sends as soon as the window allows, which is so at first.
    pub pace: Option<Option<Pace>>,
}

/// A pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The long-run rate of payload bytes.
    pub rate: Rate,
    /// Largest burst, bytes; at least one segment.
    pub quantum: Bytes,
}

/// The rules in force.
#[derive(Clone, Debug, Default)]
pub(super) struct Installed {
    slow_start_ppm: u32,
    avoidance: Bytes,
    most_per_ack: Option<Bytes>,
    pace: Option<Pace>,
    /// A window that is to open in this round.
    opening: Option<Opening>,
    /// What the last division left: a share of a byte, in units of the divisor.
    carry: u64,
}

/// A window that opens with the ACKs of a round.
#[derive(Clone, Debug)]
struct Opening {
    from: Bytes,
    to: Bytes,
    /// Bytes whose acknowledgement opens it, and those that are acknowledged.
    span: Bytes,
    acked: Bytes,
}

impl Installed {
    /// Opens the window from now on to `to` with the acknowledgement of `span` bytes.
    pub fn open(&mut self, window: &Window, to: Bytes, span: Bytes) {
        let from = window.cwnd();
        self.opening = (to > from).then_some(Opening { from, to, span: span.max(1), acked: 0 });
    }

    /// Ends the opening of a window.
    pub fn stop_opening(&mut self) {
        self.opening = None;
    }

    pub fn install(&mut self, rule: &Rule) {
        self.slow_start_ppm = rule.slow_start_ppm.unwrap_or(self.slow_start_ppm);
        self.avoidance = rule.avoidance.unwrap_or(self.avoidance);
        self.most_per_ack = rule.most_per_ack.or(self.most_per_ack);
        self.pace = rule.pace.unwrap_or(self.pace);
    }

    pub const fn pace(&self) -> Option<Pace> {
        self.pace
    }

    //= specs/rfc5681.md#slow-start-and-congestion-avoidance
    //# Slow start is used while the window is below `ssthresh`, and avoidance while it is above.
    /// Opens the window by an ACK of `acked` bytes.
    pub fn grow(&mut self, window: &mut Window, acked: Bytes) {
        if let Some(Opening { from, to, span, acked: so_far }) = &mut self.opening {
            *so_far = span.saturating_sub(*so_far).min(acked) + *so_far;
            let share = u64::from(*to - *from) * u64::from(*so_far) / u64::from(*span);
            let opened = *from + Bytes::try_from(share).unwrap_or(Bytes::MAX);
            window.set_cwnd(window.cwnd().max(opened));
        }
        let (by, over, room) = if window.in_slow_start() {
            let counted = acked.min(self.most_per_ack.unwrap_or(Bytes::MAX));
            (u64::from(counted) * u64::from(self.slow_start_ppm), MILLION, window.ssthresh() - window.cwnd())
        } else {
            // No ACK counts for more than a window, so that none opens it by more than a round trip would.
            let counted = u64::from(acked.min(window.cwnd()));
            (counted * u64::from(self.avoidance), u64::from(window.cwnd()), Bytes::MAX)
        };
        // The divisor changes with the window; what is left over is less than a byte of either.
        let total = by.saturating_add(self.carry.min(over - 1));
        self.carry = total % over;
        window.grow(Bytes::try_from(total / over).unwrap_or(Bytes::MAX).min(room));
    }
}
