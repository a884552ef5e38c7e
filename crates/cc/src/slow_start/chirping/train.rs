//! Chirps one after the other: when each segment leaves, how many chirps a round allows, and which of them the ACKs show.

use super::analysis::Analysis;
use super::config::ChirpingConfig;
use crate::sample::{AckSample, SentSample};
use base::{Duration, Instant, SeqNum};
use std::collections::VecDeque;

/// Segments of the first two chirps, of the next two, and of all others.
const SIZES: [u8; 3] = [5, 8, 16];
/// From this chirp on rounds grow.
const GROWS_FROM: u32 = 6;
/// Units of a chirp in which a round's are counted.
const UNITS: u32 = 16;
/// Chirps that begin again before slow start continues without them.
const RESTARTS: u8 = 8;

/// Whether a chirp could be sent as it was planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begun {
    Usual,
    /// Too many chirps had to begin again.
    TooOften,
}

/// All chirps of a connection.
#[derive(Clone, Debug)]
pub(super) struct Trains {
    config: ChirpingConfig,
    /// The estimate of the mean gap.
    gap: Duration,
    srtt: Option<Duration>,
    round: Round,
    /// Chirps that have begun.
    begun: u32,
    leaving: Option<Leaving>,
    /// When the next segment may leave.
    next: Instant,
    restarts: u8,
    /// When the last segment left, and its end.
    last: Option<(Instant, SeqNum)>,
    /// Segments in flight, oldest first.
    sent: VecDeque<Sent>,
    /// The oldest chirp in flight, as far as it is acknowledged: the departure of its last segment, and what it shows.
    arriving: Option<(Instant, Analysis)>,
}

/// How many chirps leave before the next ones are allowed.
#[derive(Clone, Debug)]
struct Round {
    /// In [`UNITS`] of a chirp.
    chirps: u32,
    /// Its first chirp.
    first: u32,
    begun: u32,
    /// What the chirps that have begun take, end to end.
    length: Duration,
}

/// The chirp that is being sent.
#[derive(Clone, Debug)]
struct Leaving {
    gap: Duration,
    step: Duration,
    /// Segments that are still to leave.
    left: u8,
    guard: Duration,
    /// A longer gap is not the chirp's.
    late: Duration,
}

/// A segment in flight.
#[derive(Clone, Debug)]
struct Sent {
    end: SeqNum,
    at: Instant,
    chirp: u32,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    First,
    Inner,
    Last,
}

impl Trains {
    pub fn new(config: &ChirpingConfig) -> Self {
        Self {
            config: *config,
            gap: config.first_gap,
            srtt: None,
            round: Round { chirps: 2 * UNITS, first: 0, begun: 0, length: Duration::ZERO },
            begun: 0,
            leaving: None,
            next: Instant::ZERO,
            restarts: 0,
            last: None,
            sent: VecDeque::new(),
            arriving: None,
        }
    }

    pub const fn gap(&self) -> Duration {
        self.gap
    }

    /// Returns when the next segment may leave.
    pub const fn next(&self) -> Instant {
        self.next
    }

    pub fn size(&self) -> usize {
        size_of::<Self>() + self.sent.capacity() * size_of::<Sent>()
    }

    pub fn on_flight_start(&mut self, srtt: Option<Duration>) {
        self.srtt = self.srtt.or(srtt);
    }

    /// Returns the segments that the round still allows.
    pub fn allowed(&self) -> u32 {
        let chirps = (self.round.chirps / UNITS).saturating_sub(self.round.begun);
        let leaving = self.leaving.as_ref().map_or(0, |leaving| u32::from(leaving.left));
        chirps.saturating_mul(size(self.begun).into()).saturating_add(leaving)
    }

    /// Handles a departure, and plans the next one.
    pub fn on_sent(&mut self, sent: &SentSample) -> Begun {
        let last = self.last.replace((sent.now, sent.snd_nxt));
        if last.is_some_and(|(_, end)| !sent.snd_nxt.after(end)) {
            self.last = last;
            return Begun::Usual;
        }
        let late = self.leaving.as_ref().zip(last).is_some_and(|(leaving, (at, _))| sent.now.since(at) > leaving.late);
        let place = if late {
            self.restarts += 1;
            self.begun -= 1;
            self.plan();
            self.begun += 1;
            Place::First
        } else if self.leaving.is_some() {
            Place::Inner
        } else if self.round.begun < self.round.chirps / UNITS {
            let length = self.plan();
            self.round.begun += 1;
            self.round.length += length;
            self.begun += 1;
            Place::First
        } else {
            // A probe beyond the window.
            return Begun::Usual;
        };
        self.note(sent, place);
        if self.restarts > RESTARTS { Begun::TooOften } else { Begun::Usual }
    }

    /// Plans the next chirp. Returns how long it takes, end to end with another.
    fn plan(&mut self) -> Duration {
        let size = size(self.begun);
        let (gap, step) = shape(self.gap, self.config.geometry_percent, size);
        let length = (0..u32::from(size) - 1).fold(Duration::ZERO, |sum, nth| sum + gap.saturating_sub(step * nth));
        let share = self.srtt.map_or(Duration::ZERO, |srtt| srtt / (self.round.chirps / UNITS));
        let guard = share.saturating_sub(length).max(self.gap);
        self.leaving = Some(Leaving { gap, step, left: size, guard, late: gap * 2 });
        length + self.gap
    }

    /// Remembers a segment of the present chirp.
    fn note(&mut self, sent: &SentSample, place: Place) {
        let Some(leaving) = &mut self.leaving else { return };
        leaving.left -= 1;
        let (wait, place) = if leaving.left == 0 { (leaving.guard, Place::Last) } else { (leaving.gap, place) };
        leaving.gap = leaving.gap.saturating_sub(leaving.step);
        self.next = sent.now + wait;
        self.sent.push_back(Sent { end: sent.snd_nxt, at: sent.now, chirp: self.begun - 1, place });
        if place == Place::Last {
            self.leaving = None;
        }
    }

    /// Handles an ACK. Returns whether the chirps of the round would fill a round trip.
    pub fn on_ack(&mut self, ack: &AckSample) -> bool {
        self.srtt = ack.srtt.or(self.srtt);
        if self.srtt.is_some_and(|srtt| srtt <= self.round.length) {
            return true;
        }
        if ack.sacked > 0 {
            self.arriving = None;
        }
        let covered = self.sent.iter().take_while(|sent| !sent.end.after(ack.snd_una)).count();
        let newest = covered.checked_sub(1).and_then(|newest| self.sent.get(newest)).map(|newest| newest.at);
        let Some(delay) = newest.map(|at| ack.now.since(at)) else { return false };
        for _ in 0..covered {
            if let Some(sent) = self.sent.pop_front() {
                self.on_arrival(&sent, delay);
            }
        }
        false
    }

    /// Handles that a segment has arrived with this delay.
    fn on_arrival(&mut self, sent: &Sent, delay: Duration) {
        if sent.place == Place::First {
            self.arriving = Some((sent.at, Analysis::default()));
            if sent.chirp >= 2 && sent.chirp == self.round.first {
                self.start_round();
            }
            return;
        }
        if let Some((last, analysis)) = &mut self.arriving {
            analysis.on_segment(sent.at.since(*last), delay);
            *last = sent.at;
        }
        if sent.place == Place::Last {
            self.judge();
            if sent.chirp == 0 {
                self.start_round();
            }
        }
    }

    /// Takes what a whole chirp shows.
    fn judge(&mut self) {
        let Some(shown) = self.arriving.take().and_then(|(_, analysis)| analysis.finish()) else { return };
        let shown = shown.clamp_between(self.config.gap_min, self.config.gap_max);
        self.gap = (self.gap + shown) / 2;
    }

    fn start_round(&mut self) {
        let Round { chirps, begun, .. } = self.round;
        let grows = self.begun >= GROWS_FROM && begun >= chirps / UNITS;
        let gain = u64::from(chirps) * u64::from(self.config.gain_percent) / 100;
        let chirps = if grows { u32::try_from(gain).unwrap_or(u32::MAX) } else { chirps };
        self.round = Round { chirps, first: self.begun, begun: 0, length: Duration::ZERO };
    }
}

/// Returns the segments of a chirp.
const fn size(chirp: u32) -> u8 {
    match chirp {
        0 | 1 => SIZES[0],
        2 | 3 => SIZES[1],
        _ => SIZES[2],
    }
}

/// Returns the first gap of a chirp of `size` segments with this mean, and by how much each further one is shorter.
fn shape(mean: Duration, geometry_percent: u32, size: u8) -> (Duration, Duration) {
    let geometry = u64::from(geometry_percent);
    (mean.scale(geometry, 100), mean.scale(2 * (geometry - 100), 100 * u64::from(size)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    /// The prototype's first chirp: 200 µs on average.
    #[test_case(200, 200, 5, &[400, 320, 240, 160])]
    #[test_case(200, 200, 8, &[400, 350, 300, 250, 200, 150, 100])]
    #[test_case(160, 200, 16, &[320, 300, 280, 260, 240, 220, 200, 180, 160, 140, 120, 100, 80, 60, 40])]
    #[test_case(100, 150, 5, &[150, 130, 110, 90]; "a flatter one")]
    #[test_case(200, 300, 5, &[600, 440, 280, 120]; "a steeper one")]
    fn gaps_of_a_chirp(mean: u64, geometry_percent: u32, size: u8, gaps: &[u64]) {
        let (first, step) = shape(Duration::from_micros(mean), geometry_percent, size);
        let planned: Vec<u64> =
            (0..gaps.len() as u32).map(|nth| first.saturating_sub(step * nth).as_micros()).collect();
        assert_eq!(planned, gaps);
    }
}
