//! BBR's Startup rule in front of a loss-based avoidance (draft-ietf-ccwg-bbr §5.3.1): slow start ends when the delivery rate has
//! stopped growing.
//!
//! [`FullPipe`] judges the rate of each round. As in BBR the window is at first bounded by a multiple of what the path was seen
//! to hold, its largest delivery rate times its smallest round trip: otherwise the three rounds that prove the pipe full would
//! multiply the window by eight.
//!
//! Only a connection's first slow start uses the rule.

use super::drain::{Drain, ExitWindow};
use super::limit::AckLimit;
use super::{ExitCause, SlowStart, Step};
use crate::control::CcPhase;
use crate::full_pipe::FullPipe;
use crate::sample::AckSample;
use crate::window::Window;
use base::{Bytes, Rate};

/// The rule's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlateauConfig {
    /// RFC 3465's `L`, in segments, until the first congestion signal; `None` for no limit.
    pub limit_segments: Option<u32>,
    /// Bound of the window, in percent of the largest delivery rate times the smallest round trip (`cwnd_gain`); from 200 to
    /// 1000.
    pub bdp_percent: u32,
    /// What becomes of the window.
    pub exit: ExitWindow,
}

impl Default for PlateauConfig {
    /// BBR's gain of 2, and a drain to what the path holds.
    fn default() -> Self {
        Self { limit_segments: None, bdp_percent: 200, exit: ExitWindow::Drained }
    }
}

impl PlateauConfig {
    pub(crate) fn check(&self, need: &mut impl FnMut(bool, &'static str, &str)) {
        let what = "must be between 200 and 1000";
        need((200..=1_000).contains(&self.bdp_percent), "cc.slow_start.bdp_percent", what);
    }
}

/// Slow start until the delivery rate stops growing.
#[derive(Clone, Debug)]
pub struct Plateau {
    limit: AckLimit,
    config: PlateauConfig,
    pipe: FullPipe,
    /// Largest delivery rate.
    fastest: Option<Rate>,
    /// The round ends when a segment that was sent after this many bytes had been delivered is acknowledged.
    round_end: u64,
    phase: Phase,
}

#[derive(Clone, Debug)]
enum Phase {
    Searching,
    Draining(Drain),
    Done,
}

impl Plateau {
    /// Creates the policy of a connection's first slow start.
    pub fn new(config: &PlateauConfig) -> Self {
        Self {
            limit: AckLimit::new(config.limit_segments),
            config: *config,
            pipe: FullPipe::default(),
            fastest: None,
            round_end: 0,
            phase: Phase::Searching,
        }
    }

    /// Takes the ACK's delivery rate. Returns whether the pipe is full.
    fn measure(&mut self, ack: &AckSample) -> bool {
        let Some((sample, rate)) = ack.rate.and_then(|sample| Some((sample, sample.rate()?))) else { return false };
        if !sample.app_limited || self.fastest.is_none_or(|fastest| rate > fastest) {
            self.fastest = self.fastest.max(Some(rate));
        }
        let begins = sample.prior_delivered >= self.round_end;
        if begins {
            self.round_end = ack.total_delivered;
        }
        begins && !sample.app_limited && self.pipe.on_round(rate)
    }

    /// Returns what the path was seen to hold, bytes.
    fn bdp(&self, ack: &AckSample) -> Option<u64> {
        Some(self.fastest?.bytes_in(ack.min_rtt?))
    }

    /// Returns by how much the window may grow up to its bound.
    fn room(&self, ack: &AckSample, window: &Window) -> Bytes {
        let Some(bdp) = self.bdp(ack) else { return Bytes::MAX };
        let bound = bdp.saturating_mul(u64::from(self.config.bdp_percent)) / 100;
        // A delivery of whole segments looks slower than it is by up to one of them at each end.
        let bound = bound.saturating_add(2 * u64::from(window.smss()));
        Bytes::try_from(bound.saturating_sub(u64::from(window.cwnd()))).unwrap_or(Bytes::MAX)
    }
}

impl SlowStart for Plateau {
    const PHASE: CcPhase = CcPhase::SlowStart;

    fn on_ack(&mut self, ack: &AckSample, window: &Window) -> Step {
        let bytes = self.limit.bytes(ack, window);
        match &mut self.phase {
            Phase::Done => return Step::Grow(bytes),
            Phase::Draining(drain) => {
                let step = drain.on_ack(ack.acked, window, ExitCause::Plateau);
                if matches!(step, Step::Exit { .. }) {
                    self.phase = Phase::Done;
                }
                return step;
            }
            Phase::Searching => {}
        }
        if !self.measure(ack) {
            return Step::Grow(bytes.min(self.room(ack, window)));
        }
        match (self.config.exit, self.bdp(ack)) {
            (ExitWindow::Drained, Some(bdp)) => {
                self.phase = Phase::Draining(Drain::to(Bytes::try_from(bdp).unwrap_or(Bytes::MAX)));
                Step::Turn(0)
            }
            (ExitWindow::Kept, _) | (_, None) => {
                self.phase = Phase::Done;
                Step::Exit { window: window.cwnd(), cause: ExitCause::Plateau }
            }
        }
    }

    fn on_congestion(&mut self) {
        (self.limit, self.phase) = (AckLimit::AFTER_CONGESTION, Phase::Done);
    }

    fn phase(&self) -> CcPhase {
        match self.phase {
            Phase::Searching | Phase::Done => Self::PHASE,
            Phase::Draining(_) => CcPhase::Draining,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ack;
    use crate::window::InitialWindow;
    use base::{Duration, RateSample};

    /// One ACK a round: the first of a flight of `flight` bytes, which arrived at `kbit` per second.
    fn round(total: u64, flight: u64, kbit: u64) -> AckSample {
        let sample = RateSample {
            delivered: kbit * 100 / 8,
            interval: Duration::from_millis(100),
            prior_delivered: total - flight,
            pipe_at_send: 0,
            lost: 0,
            app_limited: false,
        };
        let min_rtt = Some(Duration::from_millis(100));
        AckSample { rate: Some(sample), total_delivered: total, min_rtt, ..ack(0, 10_000) }
    }

    /// Runs rounds with these rates over a window of `segments`; returns the step of the last.
    fn steps(config: &PlateauConfig, segments: u32, rates: &[u64]) -> (Vec<Step>, Plateau) {
        let mut policy = Plateau::new(config);
        let window = Window::new(&InitialWindow::plain(segments), 1_000);
        let steps =
            rates.iter().zip(1..).map(|(&kbit, nth)| policy.on_ack(&round(10_000 * nth, 10_000, kbit), &window));
        (steps.collect(), policy)
    }

    const RISING: [u64; 11] = [1_170, 2_340, 4_670, 9_340, 18_700, 37_400, 74_800, 100_000, 100_000, 100_000, 100_000];

    #[test]
    fn the_third_round_on_the_plateau_ends_it_with_what_the_path_holds() {
        let config = PlateauConfig::default();
        let (seen, mut policy) = steps(&config, 2_000, &RISING);
        assert!(seen[..10].iter().all(|step| matches!(step, Step::Grow(_))));
        assert_eq!((seen[10], policy.phase()), (Step::Turn(0), CcPhase::Draining));
        // 100 Mbit/s for 100 ms are 1250 segments.
        let window = Window::new(&InitialWindow::plain(1_251), 1_000);
        let last = policy.on_ack(&ack(0, 3_000), &window);
        assert_eq!(last, Step::Exit { window: 1_250_000, cause: ExitCause::Plateau });
        let kept = PlateauConfig { exit: ExitWindow::Kept, ..config };
        let (seen, _) = steps(&kept, 2_000, &RISING);
        assert_eq!(seen[10], Step::Exit { window: 2_000_000, cause: ExitCause::Plateau });
    }

    #[test]
    fn the_window_is_bounded_by_twice_of_what_the_path_was_seen_to_hold() {
        let config = PlateauConfig::default();
        // 8 Mbit/s for 100 ms are 100 segments: 200 and two more.
        let grows = |segments| steps(&config, segments, &[8_000]).0[0];
        assert_eq!(grows(100), Step::Grow(10_000));
        assert_eq!(grows(195), Step::Grow(7_000));
        assert_eq!(grows(300), Step::Grow(0));
    }

    #[test]
    fn rates_that_the_application_limited_and_acks_within_a_round_prove_nothing() {
        let mut policy = Plateau::new(&PlateauConfig::default());
        let window = Window::new(&InitialWindow::plain(10), 1_000);
        for nth in 1..50 {
            let mut sample = round(10_000 * nth, 10_000, 100);
            if nth > 1 {
                sample.rate = sample.rate.map(|rate| RateSample { app_limited: true, ..rate });
            }
            assert!(matches!(policy.on_ack(&sample, &window), Step::Grow(_)));
        }
        let mut policy = Plateau::new(&PlateauConfig::default());
        for _ in 0..50 {
            let within = round(10_000, 10_000, 100);
            assert!(matches!(policy.on_ack(&within, &window), Step::Grow(_)), "one round");
        }
    }

    #[test]
    fn after_congestion_the_window_just_grows() {
        let mut policy = Plateau::new(&PlateauConfig::default());
        policy.on_congestion();
        let window = Window::new(&InitialWindow::plain(10), 1_000);
        for nth in 1..20 {
            assert_eq!(policy.on_ack(&round(10_000 * nth, 10_000, 100), &window), Step::Grow(1_000));
        }
    }
}
