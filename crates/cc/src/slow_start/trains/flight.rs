//! One flight, as its acknowledgements show it.

use crate::sample::AckSample;
use crate::slow_start::round::RttMicros;
use base::{Bytes, Duration, Instant, Rate, SeqNum};

/// Acknowledgements are judged in rows of so many segments ...
const ROW_SEGMENTS: Bytes = 8;
/// ... and samples: a single one may have been held up.
const SAMPLES: u8 = 2;

/// The flight whose acknowledgements arrive.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    /// The first byte of the next one.
    end: SeqNum,
    bytes: Bytes,
    /// Its first acknowledgement: when, and what had been delivered on the connection, it included; `None` for a flight that is not
    /// judged.
    begun: Option<(Instant, u64)>,
    /// What left before the next acknowledgement belongs to no train.
    is_mixed: bool,
    least: RttMicros,
    /// The longest sample since the shortest one.
    longest: RttMicros,
    /// The most by which round trips rose and fell again.
    swing: RttMicros,
    previous: RttMicros,
    samples: u8,
    row: Row,
    /// The rate up to the last whole row, and that row's shortest round trip.
    last_row: Option<(Rate, RttMicros)>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    least: RttMicros,
    bytes: Bytes,
    samples: u8,
}

/// What an acknowledgement completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Completed {
    /// Nothing.
    Nothing,
    /// A row: its shortest round trip, and by how much that is longer than the flight's.
    Row { least: Duration, stretch: Duration },
    /// The flight before, of so many bytes, and its shortest round trip if it had enough samples. This acknowledgement is the first
    /// of the next flight.
    Flight { bytes: Bytes, least: Option<Duration> },
}

impl Row {
    const NEW: Self = Self { least: RttMicros::NONE, bytes: 0, samples: 0 };
}

impl Flight {
    /// Creates the state before the first acknowledgement; `first` is the first byte of data.
    pub const fn new(first: SeqNum) -> Self {
        Self {
            end: first,
            bytes: 0,
            begun: None,
            is_mixed: false,
            least: RttMicros::NONE,
            longest: RttMicros(0),
            swing: RttMicros(0),
            previous: RttMicros::NONE,
            samples: 0,
            row: Row::NEW,
            last_row: None,
        }
    }

    /// Returns its size.
    pub const fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// Returns whether it was seen from its beginning, and left as a train.
    pub const fn is_judged(&self) -> bool {
        self.begun.is_some()
    }

    /// Drops the measurements because some acknowledgements were not seen. What is under way left at other paces than a train's,
    /// as a recovery let it, and is not judged either.
    pub fn forget(&mut self) {
        *self = Self { is_mixed: true, ..Self::new(self.end) };
    }

    pub fn on_ack(&mut self, ack: &AckSample, smss: Bytes) -> Completed {
        if self.is_mixed {
            *self = Self::new(ack.snd_nxt);
        }
        if !ack.outstanding().reaches(self.end) {
            let completed = Completed::Flight { bytes: self.bytes, least: self.shortest() };
            *self = Self {
                bytes: ack.snd_nxt.distance_from(ack.snd_una).saturating_add(ack.acked),
                begun: Some((ack.now, ack.total_delivered)),
                ..Self::new(ack.snd_nxt)
            };
            self.sample(ack);
            return completed;
        }
        self.sample(ack);
        self.row.bytes = self.row.bytes.saturating_add(ack.delivered);
        if self.row.bytes < smss.saturating_mul(ROW_SEGMENTS) || self.row.samples < SAMPLES {
            return Completed::Nothing;
        }
        let Row { least, .. } = core::mem::replace(&mut self.row, Row::NEW);
        self.last_row = self.rate(ack).map(|rate| (rate, least));
        Completed::Row { least: span(least), stretch: span(RttMicros(least.0 - self.least.0)) }
    }

    fn sample(&mut self, ack: &AckSample) {
        let Some(rtt) = ack.rtt.map(RttMicros::of) else { return };
        // One sample alone may be that of a delayed acknowledgement.
        let pair = core::mem::replace(&mut self.previous, rtt).min(rtt);
        self.longest = self.longest.max(pair);
        let rise = self.longest.0.saturating_sub(self.least.0);
        self.swing = self.swing.max(RttMicros(rise.min(self.longest.0.saturating_sub(rtt.0))));
        if rtt <= self.least {
            (self.least, self.longest) = (rtt, rtt);
        }
        self.row.least = self.row.least.min(rtt);
        (self.samples, self.row.samples) = (self.samples.saturating_add(1), self.row.samples.saturating_add(1));
    }

    /// Returns the most by which round trips rose and fell again. A queue that a train fills only makes them longer, and one that
    /// empties only shorter.
    pub fn swing(&self) -> Duration {
        span(self.swing)
    }

    fn shortest(&self) -> Option<Duration> {
        (self.samples >= SAMPLES).then(|| span(self.least))
    }

    /// Returns the rate at which it arrives.
    pub fn rate(&self, ack: &AckSample) -> Option<Rate> {
        let (begun, delivered_before) = self.begun?;
        Rate::from_delivery(ack.total_delivered.checked_sub(delivered_before)?, ack.now.since(begun))
    }

    /// Returns the rate up to the last whole row, and what the path then held, its queue included: this rate for as long as that row
    /// was under way.
    pub fn full(&self) -> Option<(Rate, Bytes)> {
        let (rate, rtt) = self.last_row?;
        Some((rate, u32::try_from(rate.bytes_in(span(rtt))).ok()?))
    }
}

fn span(rtt: RttMicros) -> Duration {
    Duration::from_micros(rtt.0.into())
}
