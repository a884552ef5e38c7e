//! Script time and stack time: waiting for an event, and judging when something happened.
//!
//! The rules are packetdrill's, because a stack in virtual time depends on them: sleep until 20 µs before the event, then poll
//! the clock until the event is due; for the first event, only poll.

use crate::config::Config;
use crate::script::EventTime;
use crate::stack::Stack;

/// The last stretch before an event is spent polling the clock, not sleeping.
const SPIN_USECS: i64 = 20;
/// How long after the calibration the script begins.
const START_OFFSET_USECS: i64 = 250;
/// After this many equal readings a clock is considered stopped; packetdrill would poll indefinitely.
const STANDSTILL_READS: u32 = 10_000_000;
/// How often packetdrill reads the clock while it calibrates.
const CALIBRATION_READS: u32 = 10;

/// How script time maps to stack time.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    live_start: i64,
    tolerance_usecs: i64,
    tolerance_millipercent: i64,
}

/// When an event is due, in microseconds since the script began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// The due time, or the start of a range.
    pub from: i64,
    /// The end of a range.
    pub to: i64,
    /// Whether any time is acceptable.
    pub any: bool,
    /// Whether the time was given as absolute, not relative to another event.
    pub absolute: bool,
}

impl Clock {
    /// Starts script time shortly after the current moment.
    pub fn start(stack: &dyn Stack, config: &Config) -> Self {
        let mut now = 0;
        for _ in 0..CALIBRATION_READS {
            now = stack.now();
        }
        Self {
            live_start: now + START_OFFSET_USECS,
            tolerance_usecs: config.tolerance_usecs,
            tolerance_millipercent: config.tolerance_millipercent,
        }
    }

    /// Converts a stack time to microseconds since the script began.
    pub fn script(&self, live: i64) -> i64 {
        live - self.live_start
    }

    /// The reverse.
    pub fn live(&self, script: i64) -> i64 {
        script + self.live_start
    }

    /// When an event is due, given that the one it follows happened at `offset`.
    pub fn due(time: EventTime, offset: i64) -> Due {
        let (from, to, any, absolute) = match time {
            EventTime::Absolute(at) => (at, at, false, true),
            EventTime::AbsoluteRange(from, to) => (from, to, false, true),
            EventTime::Relative(after) => (offset + after, offset + after, false, false),
            EventTime::RelativeRange(from, to) => (offset + from, offset + to, false, false),
            EventTime::Any => (offset, offset, true, false),
        };
        Due { from, to, any, absolute }
    }

    /// Lets time pass until `due`, and checks that the moment has not been missed.
    ///
    /// # Errors
    /// The moment had already passed (the first event is never late), or the stack's clock does not move.
    pub fn wait(&self, stack: &dyn Stack, due: Due, previous: Option<i64>, what: &str) -> Result<(), String> {
        let until = self.live(due.from);
        let (mut before, mut same) = (i64::MAX, 0);
        loop {
            let left = until - stack.now();
            if left <= 0 {
                break;
            }
            same = if left == before { same + 1 } else { 0 };
            before = left;
            if same == STANDSTILL_READS {
                return Err(format!("the stack's clock stands still {left} us before {what}"));
            }
            if previous.is_some() && left > SPIN_USECS {
                stack.sleep(u32::try_from(left - SPIN_USECS).unwrap_or(u32::MAX));
            }
        }
        match previous {
            Some(_) => self.verify(due, previous, stack.now(), what),
            None => Ok(()),
        }
    }

    /// The tolerance for an event that comes `since` after the previous one.
    pub fn tolerance(&self, since: i64) -> i64 {
        let dynamic = i128::from(since) * i128::from(self.tolerance_millipercent) / 100_000;
        self.tolerance_usecs.max(i64::try_from(dynamic).unwrap_or(i64::MAX))
    }

    /// Checks that an event at `live` happened when it was due; `previous` is when the previous event was due.
    ///
    /// # Errors
    /// By how much it was early or late.
    pub fn verify(&self, due: Due, previous: Option<i64>, live: i64, what: &str) -> Result<(), String> {
        if due.any {
            return Ok(());
        }
        let tolerance = self.tolerance(previous.map_or(0, |previous| due.from - previous));
        let actual = self.script(live);
        if (due.from - tolerance..=due.to + tolerance).contains(&actual) {
            return Ok(());
        }
        let range = if due.from == due.to { String::new() } else { format!(" to {}", seconds(due.to)) };
        let expected = format!("{}{range}", seconds(due.from));
        Err(format!(
            "{what} expected at {expected} s, happened at {} s; tolerance {} s",
            seconds(actual),
            seconds(tolerance)
        ))
    }
}

/// Microseconds as seconds.
pub fn seconds(usecs: i64) -> String {
    let sign = if usecs < 0 { "-" } else { "" };
    format!("{sign}{}.{:06}", usecs.unsigned_abs() / 1_000_000, usecs.unsigned_abs() % 1_000_000)
}
