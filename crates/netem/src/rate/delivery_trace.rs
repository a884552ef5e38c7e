//! A link whose rate follows a recorded trace of delivery opportunities, in mahimahi's format.
//!
//! A file holds a number of milliseconds a line, not decreasing: at each, the link may pass 1,500 bytes. After the last line the
//! file begins again, shifted by that time. As mahimahi does it, an opportunity carries 1,504 bytes and each packet takes four
//! more than its own, for a tunnel's header. A packet leaves at the opportunity that carries its last byte; the next one takes
//! what is left of it, unless it arrives later, and then that rest is lost.
//!
//! The trace is kept as four bytes a line and shared by all that use it; the next opportunity after a silent hour is found by
//! bisection.

use crate::capacity::Capacity;
use crate::course::Course;
use crate::rate::serialiser::{BIT_NANOS, Service};
use base::{Duration, Instant, Rate};
use core::fmt;
use std::sync::Arc;

/// Bytes that an opportunity carries, and bytes that each packet takes beside its own.
const BUDGET: u32 = 1_504;
const PER_PACKET: u32 = 4;
/// Bits for which an opportunity counts in a mean rate.
const NOMINAL_BITS: u128 = 12_000;
const NANOS_PER_MS: u64 = 1_000_000;

/// Times at which a link may pass a full packet, repeated without end.
#[derive(Clone, PartialEq, Eq)]
pub struct DeliveryTrace {
    /// In milliseconds, not decreasing; the last one is the period.
    times: Vec<u32>,
}

/// Why a text is not a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    /// The line, counted from one.
    pub line: usize,
    /// What is wrong.
    pub problem: String,
    /// What would be right.
    pub remedy: &'static str,
}

impl DeliveryTrace {
    /// Reads a file's text.
    ///
    /// # Errors
    /// At the first line that is not a number of milliseconds, is less than the one before, or ends the trace at zero.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let mut times: Vec<u32> = Vec::new();
        for (line, text) in (1..).zip(text.lines()) {
            let wrong = |problem, remedy| Err(TraceError { line, problem, remedy });
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let Some(time) = text.parse::<u32>().ok().filter(|_| digits) else {
                return match text {
                    "" => wrong("the line is empty".to_owned(), "write a number of milliseconds on each line"),
                    _ => {
                        wrong(format!("`{text}` is not a whole number of milliseconds below 2^32"), "write digits only")
                    }
                };
            };
            if let Some(before) = times.last().filter(|before| **before > time) {
                return wrong(format!("{time} comes after {before}"), "write times that do not decrease");
            }
            times.push(time);
        }
        match times.last() {
            None => Err(("the file has no line", "write a number of milliseconds on each line")),
            Some(0) => Err(("the last time is 0, so no time would ever pass", "end with a later time")),
            Some(_) => Ok(()),
        }
        .map_err(|(problem, remedy)| TraceError {
            line: times.len().max(1),
            problem: problem.to_owned(),
            remedy,
        })?;
        Ok(Self { times })
    }

    /// Returns the opportunities of a link that follows `course`, from its beginning until `span` has passed: one at the end of the
    /// millisecond in which another 1,500 bytes have passed. `None` if there is none, or `span` is longer than 2^32 milliseconds.
    ///
    /// The period ends with the last opportunity, at `span` or shortly before.
    pub fn of_course(course: &Course, span: Duration) -> Option<Self> {
        const FULL: u128 = 1_500 * BIT_NANOS as u128;
        let mut capacity = Capacity::new(course);
        let opportunities = (1..).map(|number: u128| capacity.reached(number * FULL)).take_while(|at| *at <= span);
        let times = opportunities.map(|at| u32::try_from(at.as_nanos().div_ceil(NANOS_PER_MS)).ok());
        let times: Option<Vec<u32>> = times.collect();
        times.filter(|times| !times.is_empty()).map(|times| Self { times })
    }

    /// Returns the mean rate, each opportunity counted as 1,500 bytes, rounded down to bits per second; at least one.
    pub fn mean_rate(&self) -> Rate {
        let bits = self.times.len() as u128 * NOMINAL_BITS * 1_000 / u128::from(self.period_ms());
        Rate::from_bits_per_sec(u64::try_from(bits).unwrap_or(u64::MAX).max(1)).expect("not zero")
    }

    /// Returns the times within a period, in milliseconds.
    pub fn times_ms(&self) -> &[u32] {
        &self.times
    }

    fn period_ms(&self) -> u64 {
        u64::from(*self.times.last().expect("a trace has a line"))
    }

    /// Returns the time of the opportunity with this number, counted over all repetitions.
    fn time(&self, number: u64) -> Instant {
        let lines = self.times.len() as u64;
        let ms = (number / lines).saturating_mul(self.period_ms());
        let ms = ms.saturating_add(u64::from(self.times[(number % lines) as usize]));
        Instant::from_nanos(ms.saturating_mul(NANOS_PER_MS))
    }

    /// Returns the number of the first opportunity at `at` or later.
    fn first_from(&self, at: Instant) -> u64 {
        let (ms, lines, period) = (at.as_nanos().div_ceil(NANOS_PER_MS), self.times.len() as u64, self.period_ms());
        // A repetition ends with its period: the last opportunity falls on it.
        let repetition = ms.saturating_sub(1) / period;
        let within = ms - repetition * period;
        let line = self.times.partition_point(|time| u64::from(*time) < within);
        repetition.saturating_mul(lines).saturating_add(line as u64)
    }
}

impl fmt::Debug for DeliveryTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeliveryTrace({} in {} ms)", self.times.len(), self.period_ms())
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}; {}", self.line, self.problem, self.remedy)
    }
}

impl core::error::Error for TraceError {}

/// A link that follows a trace.
#[derive(Clone, Debug)]
pub struct TraceLink {
    trace: Arc<DeliveryTrace>,
    /// When the trace begins.
    origin: Duration,
    /// Number of the opportunity that carried the last packet's last byte, and bytes left of it.
    number: u64,
    left: u32,
}

impl TraceLink {
    /// Creates a link at the beginning of the trace, which begins with the start of time.
    pub fn new(trace: Arc<DeliveryTrace>) -> Self {
        Self { trace, origin: Duration::ZERO, number: 0, left: BUDGET }
    }

    fn time(&self, number: u64) -> Instant {
        self.trace.time(number) + self.origin
    }

    fn first_from(&self, at: Instant) -> u64 {
        self.trace.first_from(Instant::ZERO + at.since(Instant::ZERO + self.origin))
    }
}

impl Service for TraceLink {
    fn begin(&mut self, at: Instant) {
        self.origin = at.since(Instant::ZERO);
    }

    fn exit(&mut self, now: Instant, len: u32) -> Instant {
        if self.time(self.number) < now {
            (self.number, self.left) = (self.first_from(now), BUDGET);
        }
        let mut rest = len.saturating_add(PER_PACKET);
        while rest > self.left {
            rest -= self.left;
            (self.number, self.left) = (self.number.saturating_add(1), BUDGET);
        }
        self.left -= rest;
        self.time(self.number)
    }

    fn follow(&mut self, ready: Instant, len: u32) -> Instant {
        self.exit(ready, len)
    }

    fn begins(&self, at: Instant) -> Instant {
        let current = self.time(self.number);
        if current < at {
            self.time(self.first_from(at))
        } else if self.left > 0 {
            current
        } else {
            self.time(self.number.saturating_add(1))
        }
    }

    fn start_behind(&mut self, exit: Instant) {
        (self.number, self.left) = (self.first_from(exit), BUDGET);
    }
}

#[cfg(test)]
mod tests;
