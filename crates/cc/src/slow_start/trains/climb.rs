//! Growth beside avoidance, as long as round trips show that the path has room.

use base::{Bytes, Duration};

/// The margin of RFC 9406: an eighth of the round trip, but no less than a host's noise.
const DIVISOR: u64 = 8;
const LEAST_MARGIN: Duration = Duration::from_millis(2);
/// Jitter counts up to this much.
pub(super) const MOST_NOISE: Duration = Duration::from_millis(60);
/// Rows in turn without room that end growth within a flight: jitter holds up one or two.
const ROWS: u8 = 3;

/// By how much an acknowledged byte opens the window, and what that is judged by.
#[derive(Clone, Debug)]
pub(super) struct Climb {
    pace: Pace,
    /// The shortest round trip of the first flight, which left before the climb: on a path with jitter none is much shorter.
    /// `None` until that flight ends.
    at_first: Option<Duration>,
    /// Rows in turn that showed no room.
    rows: u8,
}

/// What one flight adds is seen in the next one, so the first pace lasts for two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    /// Not at all: the flight is watched.
    None,
    Quarter,
    StillQuarter,
    Half,
    Whole,
}

impl Climb {
    /// Begins with a flight that is to be watched.
    pub const NEW: Self = Self { pace: Pace::None, at_first: None, rows: 0 };

    /// Returns whether the flight that is acknowledged left before the climb.
    pub const fn is_first_flight(&self) -> bool {
        self.at_first.is_none()
    }

    /// Returns by how much `acked` bytes open the window.
    pub const fn growth(&self, acked: Bytes) -> Bytes {
        match self.pace {
            Pace::None => 0,
            Pace::Quarter | Pace::StillQuarter => acked / 4,
            Pace::Half => acked / 2,
            Pace::Whole => acked,
        }
    }

    /// Handles a row of the flight, whose shortest round trip is `least`: what grew, rests. `shortest` is the connection's, `noise`
    /// the path's jitter.
    pub fn on_row(&mut self, least: Duration, shortest: Duration, noise: Duration) {
        self.rows = if self.has_room(least, shortest, noise) { 0 } else { (self.rows + 1).min(ROWS) };
        if self.rows == ROWS {
            self.pace = Pace::None;
        }
    }

    /// Handles the end of a flight, whose shortest round trip is `least`.
    pub fn on_flight(&mut self, least: Duration, shortest: Duration, noise: Duration) {
        self.at_first.get_or_insert(least.min(shortest + MOST_NOISE));
        self.pace = if self.has_room(least, shortest, noise) { self.pace.faster() } else { Pace::None };
    }

    /// Returns whether round trips as short as this show room.
    fn has_room(&self, least: Duration, shortest: Duration, noise: Duration) -> bool {
        let usual = self.at_first.unwrap_or(shortest);
        least <= usual + usual.scale(1, DIVISOR).max(LEAST_MARGIN).max(noise)
    }
}

impl Pace {
    const fn faster(self) -> Self {
        match self {
            Self::None => Self::Quarter,
            Self::Quarter => Self::StillQuarter,
            Self::StillQuarter => Self::Half,
            Self::Half | Self::Whole => Self::Whole,
        }
    }
}
