//! The shortest round trip of about the last round, for Rapid Start (draft-kazuho-ccwg-rapid-start-02).
//!
//! Four spans of a quarter of the shortest round trip of the connection, so that a sample counts for about one of it, as in a
//! public implementation.

use super::round::RttMicros;
use base::{Duration, Instant};

/// Spans that are kept.
const SPANS: usize = 4;

/// The minima of the last spans.
#[derive(Clone, Debug)]
pub struct RttFloor {
    minima: [RttMicros; SPANS],
    current: u8,
    /// End of the current span.
    end: Instant,
}

impl RttFloor {
    /// No sample yet.
    pub const NONE: Self = Self { minima: [RttMicros::NONE; SPANS], current: 0, end: Instant::ZERO };

    /// Takes an ACK's sample, if it carries one. Returns the shortest of the last samples; `None` if there was none in the last
    /// spans.
    pub fn on_ack(&mut self, now: Instant, rtt: Option<Duration>, min_rtt: Duration) -> Option<Duration> {
        let span = min_rtt.scale(1, SPANS as u64).max(Duration::from_micros(1));
        if now >= self.end {
            let passed = now.since(self.end).as_nanos() / span.as_nanos() + 1;
            for _ in 0..passed.min(SPANS as u64) {
                self.current = (self.current + 1) % SPANS as u8;
                self.minima[usize::from(self.current)] = RttMicros::NONE;
            }
            self.end = now + span;
        }
        if let Some(rtt) = rtt {
            let least = &mut self.minima[usize::from(self.current)];
            *least = (*least).min(RttMicros::of(rtt));
        }
        let least = self.minima.into_iter().min().filter(|least| *least != RttMicros::NONE)?;
        Some(Duration::from_micros(least.0.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_counts_for_about_a_round_trip() {
        let mut floor = RttFloor::NONE;
        let ms = Duration::from_millis;
        let mut seen = Vec::new();
        for (at, rtt) in [(0, 100), (20, 120), (40, 130), (60, 140), (80, 150), (110, 160), (140, 170), (300, 200)] {
            seen.push(floor.on_ack(Instant::from_nanos(at * 1_000_000), Some(ms(rtt)), ms(100)));
        }
        let expected = [100, 100, 100, 100, 100, 100, 130, 200].map(|rtt| Some(ms(rtt)));
        assert_eq!(seen, expected);
        assert_eq!(floor.on_ack(Instant::from_nanos(900_000_000), None, ms(100)), None);
    }
}
