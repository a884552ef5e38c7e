//! How a sender spent its time, computed when all of its rounds are known.
//!
//! The path limits a round in which a queue stood before its slowest link, or in which the link delivered without pause.
//! Otherwise the sender was limited by a full receive window, by an application without data, by a window that was still
//! doubling, by a window that losses had reduced, or by a buffer that was entirely in flight. Thresholds were set on captures of
//! known situations (`tests/situations`), not on those used to evaluate them.

use super::rounds::Round;
use super::stream::Stream;
use super::window::Doing;

/// A queue stands if the shortest round trip of a round exceeds the path's by this much, and by an eighth of it.
const STANDING_LEAST: u64 = 3_000_000;
const STANDING_SHARE: u64 = 8;
/// The link was busy if it delivered this many tenths of its capacity.
const BUSY_TENTHS: u64 = 8;
/// The same while a queue stands, which is stronger evidence.
const STANDING_TENTHS: u64 = 2;
/// Number of acknowledgements that distinguish a queue from a delayed acknowledgement.
const ACKS: u32 = 8;
/// The receive window is full when the flight takes this many twentieths of it.
const FULL_TWENTIETHS: u64 = 17;
/// A window that doubles grows by this many tenths a round at least, delayed acknowledgements included.
const GROWS_TENTHS: u64 = 14;
/// A buffer is all in flight in rounds with this many tenths of the largest flight.
const FLAT_TENTHS: u64 = 8;
/// A sender with nothing to send for a fifth of its time is not limited by a buffer.
const STARVED_SHARE: u64 = 5;

/// Rounds after a loss in which a distant sender's pauses prove nothing.
const SHAKEN: usize = 8;
/// Segments of a first flight (RFC 6928).
const FIRST_FLIGHT: u64 = 10;

/// What limited the sender in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    Path,
    Window,
    Application,
    SlowStart,
    Losses,
    SendBuffer,
    Undetermined,
}

/// A sender's time in nanoseconds, each moment counted once, and related values.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Diagnosis {
    pub path: u64,
    pub window: u64,
    pub window_closed: u64,
    /// All data is acknowledged and none sent.
    pub idle: u64,
    /// Data was in flight, and the application had no more.
    pub starved: u64,
    pub slow_start: u64,
    pub losses: u64,
    pub timers: u64,
    pub send_buffer: u64,
    pub undetermined: u64,
    /// Rate of the narrowest link, bytes per second.
    pub link_rate: Option<u64>,
    /// For half of the time in which the path was the limit, the queue was at least this long, in nanoseconds.
    pub queue: u64,
    /// Largest flight of the rounds that the sender's buffer limited, bytes.
    pub buffer: u64,
    /// Most bytes in flight, as the sender knew.
    pub largest: u64,
    /// Rounds of slow start.
    pub doublings: u32,
}

/// Input of the judgement beyond the round itself.
struct Context {
    rate: Option<u64>,
    to_receiver: u64,
    to_sender: u64,
    largest: u64,
    /// Bytes that a sender may send at once at the beginning.
    first_flight: u64,
    is_starved: bool,
}

/// `halves` are the shortest round trips from the capture to the sender and to the receiver.
pub(super) fn of(stream: &Stream, halves: [Option<u64>; 2]) -> Diagnosis {
    let rounds = stream.rounds.all();
    let shares = &stream.window.shares;
    let mut found = Diagnosis {
        window_closed: shares.of(Doing::WindowClosed),
        idle: shares.of(Doing::Idle),
        timers: shares.of(Doing::WaitingForTimer),
        link_rate: stream.rates.link(),
        ..Diagnosis::default()
    };
    let sending: u64 = rounds.iter().map(|round| round.sending).sum();
    let starved: u64 = rounds.iter().map(|round| round.starved).sum();
    let shortest =
        |half: Option<u64>, of: fn(&Round) -> Option<u64>| rounds.iter().filter_map(of).chain(half).min().unwrap_or(0);
    let context = Context {
        rate: found.link_rate,
        to_receiver: shortest(halves[1], |round| round.to_receiver),
        to_sender: shortest(halves[0].filter(|_| stream.returns.count() > 0), |round| round.to_sender),
        largest: rounds.iter().map(|round| round.flight).max().unwrap_or(0),
        first_flight: FIRST_FLIGHT * stream.mss(),
        is_starved: starved * STARVED_SHARE >= sending,
    };
    let mut queues = Vec::new();
    let (mut peak, mut had_loss, mut last_loss) = (0, false, None);
    for (index, round) in rounds.iter().enumerate() {
        let next = rounds.get(index + 1).map_or(0, |next| next.flight);
        let doubles = round.flight * 10 >= peak * GROWS_TENTHS || next * 10 >= round.flight.max(peak) * GROWS_TENTHS;
        let grows = doubles && !had_loss && !round.has_loss;
        had_loss |= round.has_loss;
        last_loss = if round.has_loss { Some(index) } else { last_loss };
        let is_shaken = last_loss.is_some_and(|last| index - last < SHAKEN);
        let queue = round.queue(&context);
        let limit = limit(round, queue, grows, [had_loss, is_shaken], &context);
        found.add(limit, round);
        if limit == Limit::Path {
            queues.push((queue, round.sending + round.recovering));
        }
        peak = peak.max(round.flight);
    }
    found.largest = context.largest;
    found.queue = weighted_median(queues);
    found.undetermined += shares.total().saturating_sub(found.total());
    found
}

fn limit(round: &Round, queue: u64, grows: bool, [had_loss, is_shaken]: [bool; 2], context: &Context) -> Limit {
    let active = round.sending + round.recovering;
    let shortest = context.to_receiver + context.to_sender;
    let stands = queue >= STANDING_LEAST.max(shortest / STANDING_SHARE);
    let is_full = round.flight * 20 >= round.window * FULL_TWENTIETHS && round.window > 0;
    // Far from the sender, a queue and losses before the capture look like data that no acknowledgement triggered.
    let is_near = context.to_sender * 2 <= context.to_receiver;
    let starves = round.starved * 3 >= round.sending && round.sending > 0 && (is_near || !is_shaken);
    let is_busy = round.delivers(active, context.rate, BUSY_TENTHS);
    // A shorter route that some packets take looks like a queue for all others.
    let stands = stands && round.delivers(active, context.rate, STANDING_TENTHS);
    match () {
        () if is_full && !grows && (round.acks < ACKS * round.rounds || !stands) => Limit::Window,
        () if stands && (!starves || is_busy || !is_near) && round.acks >= ACKS / 2 => Limit::Path,
        () if starves && (!is_busy || round.flight < context.first_flight) => Limit::Application,
        () if grows => Limit::SlowStart,
        () if is_busy => Limit::Path,
        () if had_loss => Limit::Losses,
        () if context.is_starved => Limit::Application,
        () if round.flight * 10 < context.largest * FLAT_TENTHS => Limit::Undetermined,
        () => Limit::SendBuffer,
    }
}

impl Round {
    /// Returns by how much the shortest round trip of the round exceeds the path's.
    fn queue(&self, context: &Context) -> u64 {
        let beyond = |sample: Option<u64>, shortest: u64| sample.map_or(0, |sample| sample.saturating_sub(shortest));
        beyond(self.to_receiver, context.to_receiver) + beyond(self.to_sender, context.to_sender)
    }

    /// Returns whether the link delivered this many tenths of its capacity, as far as its acknowledgements show.
    fn delivers(&self, active: u64, rate: Option<u64>, tenths: u64) -> bool {
        let carried = |rate: u64| u128::from(rate) * u128::from(active) / 1_000_000_000;
        let needed = rate.map(|rate| carried(rate) * u128::from(tenths) / 10);
        // One acknowledgement for many packets does not preserve their spacing.
        self.acks >= ACKS / 2 * self.rounds
            && needed.is_some_and(|needed| active > 0 && u128::from(self.delivered) >= needed)
    }
}

impl Diagnosis {
    fn add(&mut self, limit: Limit, round: &Round) {
        // While the path is full, repairing a loss costs nothing that the path could have carried otherwise.
        let repairs = if limit == Limit::Path { &mut self.path } else { &mut self.losses };
        *repairs += round.recovering;
        let place = match limit {
            Limit::Path => &mut self.path,
            Limit::Window => &mut self.window,
            Limit::Application => &mut self.starved,
            Limit::SlowStart => &mut self.slow_start,
            Limit::Losses => &mut self.losses,
            Limit::SendBuffer => &mut self.send_buffer,
            Limit::Undetermined => &mut self.undetermined,
        };
        *place += round.sending;
        match limit {
            Limit::SlowStart => self.doublings += round.rounds,
            Limit::SendBuffer => self.buffer = self.buffer.max(round.flight),
            _ => {}
        }
    }

    pub fn application(&self) -> u64 {
        self.idle + self.starved
    }

    pub fn total(&self) -> u64 {
        let waiting = self.window_closed + self.idle + self.timers;
        let sending = self.path + self.window + self.starved + self.slow_start + self.losses;
        waiting + sending + self.send_buffer + self.undetermined
    }
}

/// Returns the value in the middle, by weight.
fn weighted_median(mut pairs: Vec<(u64, u64)>) -> u64 {
    pairs.sort_unstable();
    let half = pairs.iter().map(|&(_, weight)| weight).sum::<u64>() / 2;
    let mut sum = 0;
    let middle = pairs.iter().find(|&&(_, weight)| {
        sum += weight;
        sum >= half
    });
    middle.map_or(0, |&(value, _)| value)
}
