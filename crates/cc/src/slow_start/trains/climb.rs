//! Growth beside avoidance, as long as round trips show that the path has room.
//!
//! A loss does not end it by itself. Who loses by chance, lost little, and round trips were as short as ever: then the window
//! that avoidance leaves is climbed from again. Where a queue stood before the loss, or much was lost at once, as by a full queue or
//! a policer, avoidance grows alone until the next signal.

use base::{Bytes, Duration};

/// The margin of RFC 9406: an eighth of the round trip, but no less than a host's noise.
const DIVISOR: u64 = 8;
const LEAST_MARGIN: Duration = Duration::from_millis(2);
/// A queue of this part of the round trip counts as the reason of a loss.
const LOSS_DIVISOR: u64 = 32;
const LEAST_QUEUE: Duration = Duration::from_millis(1);
/// A recovery that loses more than this part of the window, and more than these segments, counts as congestion.
const MUCH_DIVISOR: Bytes = 32;
const FEW_SEGMENTS: Bytes = 3;
/// The first flight's delay counts as usual up to this much.
const MOST_DELAY: Duration = Duration::from_millis(60);
/// Rows in turn without room that end growth within a flight: jitter holds up one or two.
const ROWS: u8 = 3;

/// By how much an acknowledged byte opens the window, and what that is judged by.
#[derive(Clone, Debug)]
pub(super) struct Climb {
    pace: Pace,
    usual: Usual,
    /// Rows in turn that showed no room.
    rows: u8,
    /// The last row's shortest round trip; `None` since the last signal.
    last_row: Option<Duration>,
}

/// The round trip that shows no queue.
#[derive(Clone, Copy, Debug)]
enum Usual {
    /// The connection's shortest until the first flight ends, which left before the climb; jitter widens the margin.
    Unknown,
    /// The shortest of that flight: on a path with jitter none is much shorter.
    OfFirstFlight(Duration),
    /// The connection's shortest, behind the first signal: what was longer may have been others' queue, and other flows make round trips
    /// rise and fall, too.
    Shortest,
}

/// What one flight adds is seen in the next one, so the first pace lasts for two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    /// Avoidance grows alone until the next signal.
    Rest,
    /// Not at all: the flight is watched.
    None,
    Quarter,
    StillQuarter,
    Half,
    Whole,
}

impl Climb {
    pub const NEW: Self = Self { pace: Pace::Quarter, usual: Usual::Unknown, rows: 0, last_row: None };

    /// Returns whether the flight that is acknowledged left before the climb.
    pub const fn is_first_flight(&self) -> bool {
        matches!(self.usual, Usual::Unknown)
    }

    /// Returns whether avoidance grows alone until the next signal.
    pub fn rests(&self) -> bool {
        self.pace == Pace::Rest
    }

    /// Leaves growth to avoidance until the next signal.
    pub fn rest(&mut self) {
        self.pace = Pace::Rest;
    }

    /// Handles a congestion signal, behind which growth begins again unless a queue explains it; where no row is known since the last
    /// signal, as in the small windows of many flows, what held for that one holds for this. `shortest` is the connection's round trip.
    pub fn on_signal(&mut self, shortest: Duration) {
        self.usual = Usual::Shortest;
        let margin = shortest.scale(1, LOSS_DIVISOR).max(LEAST_QUEUE);
        let queued = self.last_row.take().map_or(self.rests(), |least| least > shortest + margin);
        self.pace = if queued { Pace::Rest } else { Pace::Quarter };
        self.rows = 0;
    }

    /// Handles that `lost` bytes of a window of `cwnd` were lost behind a signal.
    pub fn on_lost(&mut self, lost: Bytes, cwnd: Bytes, smss: Bytes) {
        if lost > (cwnd / MUCH_DIVISOR).max(smss.saturating_mul(FEW_SEGMENTS)) {
            self.rest();
        }
    }

    /// Returns by how much `acked` bytes open the window.
    pub const fn growth(&self, acked: Bytes) -> Bytes {
        match self.pace {
            Pace::Rest | Pace::None => 0,
            Pace::Quarter | Pace::StillQuarter => acked / 4,
            Pace::Half => acked / 2,
            Pace::Whole => acked,
        }
    }

    /// Handles a row of the flight, whose shortest round trip is `least`: what grew, waits. `shortest` is the connection's, `noise`
    /// the path's jitter.
    pub fn on_row(&mut self, least: Duration, shortest: Duration, noise: Duration) {
        self.last_row = Some(least);
        self.rows = if self.has_room(least, shortest, noise) { 0 } else { (self.rows + 1).min(ROWS) };
        if self.rows == ROWS && !self.rests() {
            self.pace = Pace::None;
        }
    }

    /// Handles the end of a flight, whose shortest round trip is `least`.
    pub fn on_flight(&mut self, least: Duration, shortest: Duration, noise: Duration) {
        if self.is_first_flight() {
            self.usual = Usual::OfFirstFlight(least.min(shortest + MOST_DELAY));
        }
        self.pace = self.pace.next(self.has_room(least, shortest, noise));
    }

    /// Returns whether round trips as short as this show room.
    fn has_room(&self, least: Duration, shortest: Duration, noise: Duration) -> bool {
        let (usual, noise) = match self.usual {
            Usual::Unknown => (shortest, noise),
            Usual::OfFirstFlight(usual) => (usual, noise),
            Usual::Shortest => (shortest, Duration::ZERO),
        };
        least <= usual + usual.scale(1, DIVISOR).max(LEAST_MARGIN).max(noise)
    }
}

impl Pace {
    const fn next(self, has_room: bool) -> Self {
        match self {
            Self::Rest => Self::Rest,
            _ if !has_room => Self::None,
            Self::None => Self::Quarter,
            Self::Quarter => Self::StillQuarter,
            Self::StillQuarter => Self::Half,
            Self::Half | Self::Whole => Self::Whole,
        }
    }
}
