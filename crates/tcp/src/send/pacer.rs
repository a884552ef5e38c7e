//! When the next segment may leave, for controllers that pace.
//!
//! Keeps one release time. A segment may leave once it has come; sending moves it forward by the segment's length at the
//! controller's rate. An idle sender gains at most one quantum.

use base::{Bytes, Instant};
use cc::Pacing;

/// The pacer's state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pacer {
    release: Instant,
}

impl Pacer {
    /// `None` when a segment may leave now, else when it may.
    #[inline]
    pub fn blocked_until(&self, pacing: Option<Pacing>, now: Instant) -> Option<Instant> {
        let at = match pacing {
            None => return None,
            Some(Pacing::Departure(at)) => at,
            Some(Pacing::Rate { .. }) => self.release,
        };
        (at > now).then_some(at)
    }
    /// A segment of `bytes` left.
    #[inline]
    pub fn on_sent(&mut self, pacing: Option<Pacing>, bytes: Bytes, now: Instant) {
        if let Some(Pacing::Rate { rate, quantum }) = pacing {
            let earliest = now - rate.time_for(u64::from(quantum.saturating_sub(bytes)));
            self.release = self.release.max(earliest) + rate.time_for(u64::from(bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Duration, Rate};

    fn pacing(quantum: Bytes) -> Option<Pacing> {
        // 8 Mbit/s: one microsecond an octet.
        Some(Pacing::Rate { rate: Rate::from_bits_per_sec(8_000_000).unwrap(), quantum })
    }

    #[test]
    fn an_idle_sender_may_burst_one_quantum_and_is_then_spaced() {
        let (mut pacer, mut now) = (Pacer::default(), Instant::from_nanos(1_000_000_000));
        let mut burst = 0;
        while pacer.blocked_until(pacing(4000), now).is_none() {
            pacer.on_sent(pacing(4000), 1000, now);
            burst += 1;
        }
        assert_eq!(burst, 4);
        now = pacer.blocked_until(pacing(4000), now).unwrap();
        pacer.on_sent(pacing(4000), 1000, now);
        let next = pacer.blocked_until(pacing(4000), now).unwrap();
        assert_eq!(next.since(now), Duration::from_micros(1000));
    }

    #[test]
    fn the_long_run_rate_is_the_controllers() {
        let (mut pacer, start) = (Pacer::default(), Instant::from_nanos(1_000_000_000));
        let mut now = start;
        for _ in 0..1000 {
            now = pacer.blocked_until(pacing(2000), now).unwrap_or(now);
            pacer.on_sent(pacing(2000), 1000, now);
        }
        // A thousand segments take 999 ms, less the one that the quantum let go early.
        assert_eq!(now.since(start), Duration::from_millis(998));
    }

    #[test]
    fn without_pacing_nothing_is_held() {
        assert_eq!(Pacer::default().blocked_until(None, Instant::ZERO), None);
        let at = Instant::from_nanos(5);
        assert_eq!(Pacer::default().blocked_until(Some(Pacing::Departure(at)), Instant::ZERO), Some(at));
    }
}
