//! Decides when to wake up for a departure: earlier by this machine's usual lateness; then it stays awake.
//!
//! A timer fires after its deadline, by a few microseconds on bare metal and by some hundred in a virtual machine, where idle
//! processors have to be scheduled first. The margin follows the observations: it rises by a lot when a wake-up was later than
//! the margin, and falls by a little when it was not, which settles where all but one wake-up in thirty are on time.
//!
//! Staying awake takes processor time from the programs whose packets are carried. Only a share of the time may be spent so;
//! beyond it, departures are as late as the timer.

use base::{Duration, Instant};

/// Steps of the margin: with these it settles where one wake-up in thirty is too late.
const UP: Duration = Duration::from_micros(29);
const DOWN: Duration = Duration::from_micros(1);
const MARGIN_FIRST: Duration = Duration::from_micros(100);
const MARGIN_MAX: Duration = Duration::from_micros(300);

/// A third of the elapsed time may be spent awake; unused time accumulates up to this limit.
const SHARE: u64 = 3;
const SAVED_MAX: Duration = Duration::from_millis(1);

/// How to spend the time until a departure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alarm {
    /// Sleep until an event.
    None,
    /// Sleep until then.
    Ring {
        /// From now on.
        after: Duration,
        /// The same as a moment.
        at: Instant,
    },
    /// It is too close: look at the devices again instead.
    StayAwake,
}

/// What is known about this machine's timers, and the time that may still be spent awake.
#[derive(Debug)]
pub(super) struct WakeUps {
    margin: Duration,
    saved: Duration,
    /// When the link last was about to wait, and whether it stayed awake.
    last: Instant,
    awake: bool,
}

impl Default for WakeUps {
    fn default() -> Self {
        Self { margin: MARGIN_FIRST, saved: Duration::ZERO, last: Instant::ZERO, awake: false }
    }
}

impl WakeUps {
    /// Returns what to do at `now`, if no work is left before `departure`, if there is one.
    pub(super) fn alarm(&mut self, now: Instant, departure: Option<Instant>) -> Alarm {
        self.account(now);
        let Some(departure) = departure else {
            self.awake = false;
            return Alarm::None;
        };
        let left = departure.since(now);
        let margin = if self.saved.is_zero() { Duration::ZERO } else { self.margin };
        self.awake = left <= margin;
        if self.awake {
            Alarm::StayAwake
        } else {
            Alarm::Ring { after: left.saturating_sub(margin), at: departure - margin }
        }
    }

    /// Accounts for the time since the last call.
    fn account(&mut self, now: Instant) {
        let passed = now.since(self.last);
        self.saved = (self.saved + Duration::from_nanos(passed.as_nanos() / SHARE)).min(SAVED_MAX);
        if self.awake {
            self.saved = self.saved.saturating_sub(passed);
        }
        self.last = now;
    }

    /// Notes that the alarm fired, as observed at `now`.
    pub(super) fn rang(&mut self, alarm: Alarm, now: Instant) {
        if let Alarm::Ring { at, .. } = alarm {
            self.margin = match now.since(at) > self.margin {
                true => (self.margin + UP).min(MARGIN_MAX),
                false => self.margin.saturating_sub(DOWN),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(us: u64) -> Duration {
        Duration::from_micros(us)
    }

    /// Runs a link with one departure per millisecond on a machine whose timers are late; returns its final margin.
    fn margin_where_timers_are_late_by(late: impl Fn(u64) -> Duration) -> Duration {
        let mut wake_ups = WakeUps::default();
        for tick in 1..2_000 {
            let departure = Instant::ZERO + us(1_000 * tick);
            let mut now = departure - us(900);
            loop {
                match wake_ups.alarm(now, Some(departure)) {
                    alarm @ Alarm::Ring { after, .. } => {
                        now = now + after + late(tick);
                        wake_ups.rang(alarm, now);
                    }
                    Alarm::StayAwake => now += us(1),
                    Alarm::None => panic!("there is a departure"),
                }
                if now >= departure {
                    break;
                }
            }
        }
        wake_ups.margin
    }

    #[test]
    fn the_margin_follows_the_machine_s_timers() {
        let settled = |late: u64| margin_where_timers_are_late_by(|_| us(late)).as_micros();
        assert!(settled(0) <= 29);
        assert!((75..=105).contains(&settled(75)), "{}", settled(75));
        assert_eq!(settled(5_000), 300, "it is bounded");
        // One in fifty is very late: not worth a long wait before each.
        let mixed = margin_where_timers_are_late_by(|tick| if tick % 50 == 0 { us(250) } else { us(20) });
        assert!((20..=80).contains(&mixed.as_micros()), "{mixed}");
    }

    #[test]
    fn the_margin_is_learnt_where_there_is_no_time_to_stay_awake_too() {
        let mut wake_ups = WakeUps { margin: us(100), ..WakeUps::default() };
        for tick in 1..1_000 {
            wake_ups.saved = Duration::ZERO;
            wake_ups.last = Instant::ZERO + us(100 * tick);
            let alarm = wake_ups.alarm(wake_ups.last, Some(wake_ups.last + us(100)));
            let Alarm::Ring { after, at } = alarm else { panic!("awake with nothing saved") };
            assert_eq!((after, at), (us(100), wake_ups.last + us(100)));
            wake_ups.rang(alarm, at + us(20));
        }
        assert!((20..=50).contains(&wake_ups.margin.as_micros()), "{}", wake_ups.margin);
    }

    #[test]
    fn sleep_with_nothing_on_the_way_does_not_count() {
        let mut wake_ups = WakeUps { margin: us(100), ..WakeUps::default() };
        let start = Instant::ZERO + us(10_000);
        assert_eq!(wake_ups.alarm(start, Some(start + us(50))), Alarm::StayAwake);
        assert_eq!(wake_ups.alarm(start + us(50), None), Alarm::None);
        let later = start + us(10_000);
        assert_eq!(wake_ups.alarm(later, Some(later + us(100))), Alarm::StayAwake, "the time was not saved");
    }

    #[test]
    fn only_a_share_of_the_time_is_spent_awake() {
        let mut wake_ups = WakeUps { margin: us(100), ..WakeUps::default() };
        let (mut now, mut awake) = (Instant::ZERO, 0);
        // A departure every 50 µs: always closer than the margin.
        while now < Instant::ZERO + Duration::from_secs(1) {
            let departure = now + us(50);
            while now < departure {
                match wake_ups.alarm(now, Some(departure)) {
                    Alarm::Ring { after, .. } => now += after,
                    Alarm::StayAwake => {
                        awake += 1;
                        now += us(1);
                    }
                    Alarm::None => panic!("there is a departure"),
                }
            }
        }
        assert!((300_000..=345_000).contains(&awake), "{awake} µs of a second were spent awake");
    }
}
