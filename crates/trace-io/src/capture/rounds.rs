//! A transfer in round trips: the flight of each, the queueing delay, and how the sender spent its time.
//!
//! A round ends when the sender knows that what it had sent at the beginning of the round has arrived (RFC 9438 §4.2 counts the
//! same way). The timestamp that the sender echoes shows what it knew, wherever the capture was made; without timestamps an
//! acknowledgement counts from its arrival at the sender, estimated by the shortest round trip.
//!
//! This file judges nothing. [`super::diagnosis`] does, when all rounds are known.

use super::window::{Doing, Shares};

/// Maximum number of rounds. Beyond it, neighbours are joined, except for the first ones.
const KEPT: usize = 256;
/// Rounds at the beginning that are never joined: slow start is among them.
const FIRST: usize = 32;

/// A sender that answers an acknowledgement does so within this time on a busy machine, in nanoseconds.
const CLOCKED: u64 = 2_000_000;
/// Segments of one burst are closer than this, even behind a slow link.
const PAUSE: u64 = 4_000_000;

/// One round trip of a sender, or some that were joined. Times are nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    /// Round trips that were joined.
    pub rounds: u32,
    /// When it began, and how long it took, idle time included.
    pub began: u64,
    pub took: u64,
    /// Time in which the sender had data in flight, an open window and nothing to repair.
    pub sending: u64,
    /// Time in which it repaired losses.
    pub recovering: u64,
    /// Part of `sending` that ended without an acknowledgement: more data came from the application.
    pub starved: u64,
    /// Bytes acknowledged in it.
    pub delivered: u64,
    /// Acknowledgements that said so.
    pub acks: u32,
    /// Most bytes in flight, as the sender knew, and the window that it had then.
    pub flight: u64,
    pub window: u64,
    /// Shortest round trips from the capture to the receiver, and to the sender.
    pub to_receiver: Option<u64>,
    pub to_sender: Option<u64>,
    /// Whether anything was sent again.
    pub has_loss: bool,
}

/// New bytes leave: what the sender knew then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving {
    pub end: u64,
    /// The first byte that it did not know to have arrived, and behind the last that it was allowed to send.
    pub una: u64,
    pub edge: u64,
    /// Since the sender sent last, and since it heard last.
    pub pause: u64,
    pub unheard: u64,
}

/// Rounds of one direction.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    done: Vec<Round>,
    now: Round,
    /// The round ends when this is known to have arrived.
    mark: u64,
    /// Time spent until the round began.
    before: [u64; 2],
}

fn spent(shares: &Shares) -> [u64; 2] {
    [shares.of(Doing::Sending) + shares.of(Doing::WindowLimited), shares.of(Doing::Recovering)]
}

fn shorter(known: &mut Option<u64>, sample: u64) {
    *known = Some(known.map_or(sample, |known| known.min(sample)));
}

impl Rounds {
    /// Bytes of memory.
    #[inline]
    pub fn heap(&self) -> usize {
        self.done.capacity() * size_of::<Round>()
    }

    /// New bytes leave; `shares` are up to date.
    #[inline]
    pub fn sent(&mut self, at: u64, leaving: &Leaving, shares: &Shares) {
        if leaving.unheard >= CLOCKED && leaving.pause >= PAUSE && self.now.rounds > 0 {
            self.now.starved += leaving.pause;
        }
        if self.now.rounds == 0 {
            self.begin(at, leaving, shares);
        } else if leaving.una >= self.mark {
            self.end(at, shares);
            self.begin(at, leaving, shares);
        }
        let flight = leaving.end.saturating_sub(leaving.una);
        if flight > self.now.flight {
            (self.now.flight, self.now.window) = (flight, leaving.edge.saturating_sub(leaving.una));
        }
    }

    /// So many bytes more have arrived.
    #[inline]
    pub fn delivered(&mut self, bytes: u64) {
        self.now.delivered += bytes;
        self.now.acks += 1;
    }

    pub fn reached_receiver(&mut self, sample: u64) {
        shorter(&mut self.now.to_receiver, sample);
    }
    pub fn came_from_sender(&mut self, sample: u64) {
        shorter(&mut self.now.to_sender, sample);
    }

    /// Something is sent again.
    pub fn lost(&mut self) {
        self.now.has_loss = true;
    }

    fn begin(&mut self, at: u64, leaving: &Leaving, shares: &Shares) {
        self.now = Round { rounds: 1, began: at, ..Round::default() };
        self.before = spent(shares);
        self.mark = leaving.end;
    }

    fn end(&mut self, at: u64, shares: &Shares) {
        let [sending, recovering] = spent(shares);
        self.now.took = at.saturating_sub(self.now.began);
        self.now.sending = sending - self.before[0];
        self.now.recovering = recovering - self.before[1];
        self.now.starved = self.now.starved.min(self.now.sending);
        self.done.push(self.now);
        if self.done.len() >= KEPT {
            join(&mut self.done);
        }
    }

    /// The capture ends.
    pub fn finish(&mut self, at: u64, shares: &Shares) {
        if self.now.rounds > 0 {
            self.end(at, shares);
            self.now = Round::default();
        }
    }

    pub fn all(&self) -> &[Round] {
        &self.done
    }
}

/// Joins neighbours, except for the first ones.
fn join(rounds: &mut Vec<Round>) {
    let later = rounds.split_off(FIRST);
    rounds.extend(later.chunks(2).map(|pair| match pair {
        [one, other] => one.and(other),
        _ => pair[0],
    }));
}

impl Round {
    fn and(&self, other: &Self) -> Self {
        let mean = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.midpoint(other)),
            _ => one.or(other),
        };
        let larger = if other.flight > self.flight { other } else { self };
        Self {
            rounds: self.rounds + other.rounds,
            began: self.began,
            took: self.took + other.took,
            sending: self.sending + other.sending,
            recovering: self.recovering + other.recovering,
            starved: self.starved + other.starved,
            delivered: self.delivered + other.delivered,
            acks: self.acks + other.acks,
            flight: larger.flight,
            window: larger.window,
            to_receiver: mean(self.to_receiver, other.to_receiver),
            to_sender: mean(self.to_sender, other.to_sender),
            has_loss: self.has_loss || other.has_loss,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Rounds of 100 ms: a flight of so many bytes leaves at once and is acknowledged at the end of the round.
    fn rounds(flights: &[u64]) -> Rounds {
        let (mut rounds, mut shares, mut next) = (Rounds::default(), Shares::default(), 0);
        for (nth, &flight) in flights.iter().enumerate() {
            let at = nth as u64 * 100 * MS;
            shares.turn_to(at, Doing::Sending);
            let leaving = Leaving { end: next + flight, una: next, edge: next + 500, pause: 0, unheard: 0 };
            rounds.sent(at, &leaving, &shares);
            rounds.reached_receiver(100 * MS);
            rounds.delivered(flight);
            next += flight;
        }
        let end = flights.len() as u64 * 100 * MS;
        shares.turn_to(end, Doing::Nothing);
        rounds.finish(end, &shares);
        rounds
    }

    #[test]
    fn a_round_ends_when_its_first_flight_has_arrived() {
        let rounds = rounds(&[10, 20, 40]);
        let seen: Vec<_> = rounds.all().iter().map(|round| (round.flight, round.window, round.sending / MS)).collect();
        assert_eq!(seen, [(10, 500, 100), (20, 500, 100), (40, 500, 100)]);
    }

    #[test]
    fn joined_rounds_keep_their_time_and_their_bytes() {
        let flights: Vec<u64> = (1..=2_000).collect();
        let rounds = rounds(&flights);
        assert!(rounds.all().len() <= KEPT);
        assert_eq!(rounds.all().iter().map(|round| round.sending).sum::<u64>(), 200_000 * MS);
        assert_eq!(rounds.all().iter().map(|round| round.delivered).sum::<u64>(), 2_001_000);
        assert_eq!(rounds.all().iter().map(|round| round.rounds).sum::<u32>(), 2_000);
        assert!(rounds.all().is_sorted_by_key(|round| round.began));
        assert_eq!(rounds.all()[FIRST - 1].flight, FIRST as u64);
    }

    #[test]
    fn time_that_no_acknowledgement_ended_is_the_applications() {
        let (mut rounds, mut shares) = (Rounds::default(), Shares::default());
        let mut leave = |at: u64, una, pause, unheard| {
            shares.turn_to(at * MS, Doing::Sending);
            let end = at + 10;
            rounds.sent(at * MS, &Leaving { end, una, edge: 500, pause: pause * MS, unheard: unheard * MS }, &shares);
        };
        leave(0, 0, 0, 0);
        leave(30, 0, 30, 30);
        leave(80, 0, 50, 1);
        leave(100, 20, 20, 0);
        shares.turn_to(900 * MS, Doing::Nothing);
        rounds.finish(900 * MS, &shares);
        let starved: Vec<u64> = rounds.all().iter().map(|round| round.starved / MS).collect();
        assert_eq!(starved, [30, 0]);
    }
}
