//! The script's time: virtual, and advanced only by calls.
//!
//! packetdrill reads the time before it makes any other call, for as long as its calibration takes in real time; how often it
//! does so differs from run to run. The stack's own time therefore begins with the first call about sockets or packets
//! ([`Clock::begin`]), and what the stack does from then on is the same in every run.

use base::{Duration, Instant};

/// What `gettimeofday` returns at the beginning: a fixed moment, in microseconds since 1970.
const EPOCH_US: i64 = 1_000_000_000_000_000;
/// Where the stack's time begins: late enough that no time the stack remembers lies before zero.
const STACK_EPOCH: Instant = Instant::from_nanos(1_000_000_000_000);
/// How far reading the clock advances it. packetdrill waits for a moment by polling the clock, so each read must take time.
const TICK: Duration = Duration::from_micros(1);

/// Virtual time on two scales: the stack's own, and the one packetdrill sees.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    now: Instant,
    /// `gettimeofday` at [`STACK_EPOCH`].
    offset_us: i64,
    began: bool,
}

impl Clock {
    pub fn new() -> Self {
        Self { now: STACK_EPOCH, offset_us: EPOCH_US, began: false }
    }

    /// A clock that begins at `now`, for tests that compare times with those of another world.
    #[cfg(test)]
    pub fn begun_at(now: Instant) -> Self {
        Self { now, offset_us: EPOCH_US, began: true }
    }

    /// The stack's current time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The first call has arrived, so the stack's time begins. Later calls change nothing.
    pub fn begin(&mut self) {
        self.began = true;
    }

    /// Time is asked for. Before the beginning this is all that passes; afterwards the caller moves the stack to the moment
    /// returned.
    pub fn tick(&mut self) -> Option<Instant> {
        if self.began {
            return Some(self.now + TICK);
        }
        self.offset_us += 1;
        None
    }

    /// Advances to `to`; never moves back.
    pub fn advance(&mut self, to: Instant) {
        self.now = self.now.max(to);
    }

    /// The time `at` as `gettimeofday` reports it: microseconds since 1970.
    pub fn wall_us(&self, at: Instant) -> i64 {
        // A script runs for hours of virtual time, far less than the 292,000 years at which this overflows.
        self.offset_us + (at.since(STACK_EPOCH).as_nanos() / 1_000) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stacks_time_does_not_depend_on_how_often_time_was_asked_for_before_it_began() {
        let mut clocks = [Clock::new(), Clock::new()];
        for _ in 0..1_000 {
            assert_eq!(clocks[1].tick(), None);
        }
        assert_eq!(clocks[1].wall_us(clocks[1].now()) - clocks[0].wall_us(clocks[0].now()), 1_000);
        for clock in &mut clocks {
            clock.begin();
            let next = clock.tick().unwrap();
            clock.advance(next);
        }
        assert_eq!(clocks[0].now(), clocks[1].now());
    }

    #[test]
    fn time_never_goes_back() {
        let mut clock = Clock::new();
        let later = clock.now() + Duration::from_millis(5);
        clock.advance(later);
        clock.advance(STACK_EPOCH);
        assert_eq!(clock.now(), later);
        assert_eq!(clock.wall_us(later), EPOCH_US + 5_000);
    }
}
