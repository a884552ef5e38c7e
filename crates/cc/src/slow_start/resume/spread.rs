//! How far apart the acknowledgements of the first flight come: whether the path carries what a jump would send.

use crate::sample::AckSample;
use base::{Bytes, Duration, Instant, Rate};

/// Hosts and aggregation delay an acknowledgement by as much without a word about the path.
const TOLERANCE: Duration = Duration::from_millis(1);

/// What is known of the first flight.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spread {
    /// When it began to leave, and when its last segment did.
    left: Option<(Instant, Instant)>,
    /// When its first acknowledgement came.
    begun: Option<Instant>,
    /// Bytes delivered since.
    bytes: Bytes,
    /// Whether its acknowledgements came as soon as the jump needs; `None` while too few came to tell.
    in_time: Option<bool>,
}

impl Spread {
    pub fn on_sent(&mut self, now: Instant) {
        if self.begun.is_none() {
            let (first, _) = *self.left.get_or_insert((now, now));
            self.left = Some((first, now));
        }
    }

    /// Compares what has come of the initial window with the rate at which the jump would leave.
    pub fn on_ack(&mut self, ack: &AckSample, jump: Rate, initial: Bytes) {
        let Some(begun) = self.begun else {
            self.begun = Some(ack.now);
            return;
        };
        self.bytes = self.bytes.saturating_add(ack.delivered);
        // The last acknowledgement may be delayed, so one before it has to count.
        if u64::from(self.bytes) * 10 < u64::from(initial) * 6 {
            return;
        }
        // A flight that left slowly cannot come sooner.
        let departure = self.left.map_or(Duration::ZERO, |(first, last)| last.since(first));
        let needed = jump.time_for(self.bytes.into()).max(departure) + TOLERANCE;
        self.in_time = Some(self.in_time == Some(true) || ack.now.since(begun) <= needed);
    }

    /// Returns whether the path delivers less than the jump would send.
    pub const fn is_too_slow(&self) -> bool {
        matches!(self.in_time, Some(false))
    }
}
