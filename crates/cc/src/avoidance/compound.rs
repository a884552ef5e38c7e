//! Compound TCP adds a window to Reno's that grows while the path has no queue (draft-sridharan-tcpm-ctcp-02).
//!
//! The congestion window is the sum of two parts: the loss part, which is Reno's, and the delay part `dwnd`. Once a round trip the
//! queue is estimated by how much longer the round was than the shortest one. While it is below γ segments, `dwnd` grows by
//! `α·win^¾ − 1` segments, otherwise it shrinks by the queue. γ follows the queue that Reno alone had before a loss.
//!
//! `dwnd` rests in small windows and until a whole round has been seen: after slow start, a recovery or a pause.
//!
//! Deviation: the shortest round trip is the connection's, whose memory is configured elsewhere, and stays after a timeout.

use super::{Avoidance, Reno, RenoConfig, SsthreshBase, ratio};
use crate::control::CcPhase;
use crate::sample::{AckSample, CongestionEvent};
use crate::window::Window;
use base::{Bytes, Duration, Instant, Ratio, SeqNum};

/// Round-trip samples of a round that is judged.
const SAMPLES: u32 = 3;
/// γ at first and at most, and at least; in thousandths of a segment.
const GAMMA: (u32, u32) = (30_000, 5_000);
/// Thousandths.
const MILLI: u64 = 1_000;
/// Larger windows than a hundred million segments grow as if they were no larger: their third power exceeds 128 bits.
const MILLI_SEGMENTS_MAX: u128 = 100_000_000_000;

/// Compound TCP's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompoundConfig {
    /// The fraction of the window that remains, between 0 and 1.
    pub beta: Ratio,
    /// The quantity that `beta` multiplies.
    pub ssthresh_base: SsthreshBase,
    /// α: how fast `dwnd` grows, between 0 and 1.
    pub alpha: Ratio,
    /// λ: how far γ follows a loss, between 0 and 1.
    pub gamma_gain: Ratio,
    /// In smaller windows, in segments, `dwnd` rests.
    pub low_window_segments: u32,
    /// Which round trip stands for a round.
    pub round_rtt: RoundTrip,
}

/// Which round trip stands for a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundTrip {
    /// The shortest.
    Least,
    /// The mean.
    Mean,
}

impl Default for CompoundConfig {
    /// The draft's numbers: α an eighth, β one half; 38 segments and λ one half as in public implementations.
    fn default() -> Self {
        Self {
            beta: ratio(1, 2),
            ssthresh_base: SsthreshBase::FlightSize,
            alpha: ratio(1, 8),
            gamma_gain: ratio(1, 2),
            low_window_segments: 38,
            round_rtt: RoundTrip::Least,
        }
    }
}

impl CompoundConfig {
    pub(crate) fn check(&self, need: &mut impl FnMut(bool, &'static str, &str)) {
        let what = "must lie between 0 and 1, neither included, with at most six decimals";
        need(super::is_open(self.beta), "cc.avoidance.beta", what);
        need(super::is_open(self.alpha), "cc.avoidance.alpha", what);
        need(super::is_open(self.gamma_gain), "cc.avoidance.gamma_gain", what);
        need(self.low_window_segments >= 2, "cc.avoidance.low_window_segments", "must be at least 2");
    }
}

/// The algorithm's state.
#[derive(Clone, Debug)]
pub struct Compound {
    config: CompoundConfig,
    loss_part: Reno,
    /// The delay part of the window, bytes.
    dwnd: Bytes,
    /// Shortest round trip.
    base: Duration,
    round: Option<Round>,
    /// γ, in thousandths of a segment.
    gamma: u32,
    /// The queue that the loss part had in the last round, in thousandths of a segment; `None` once it was used.
    queue_of_loss_part: Option<u32>,
    /// By how much the window shrinks, until it is applied.
    withdrawn: Bytes,
}

/// A round in progress.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// The right edge when it began.
    end: SeqNum,
    least: Duration,
    sum: Duration,
    samples: u32,
    /// The first one after a pause is seen in part.
    whole: bool,
}

impl Round {
    const fn new(ack: &AckSample, whole: bool) -> Self {
        Self { end: ack.snd_nxt, least: Duration::MAX, sum: Duration::ZERO, samples: 0, whole }
    }

    /// Returns the round trip that stands for it, if it was seen well enough.
    fn rtt(&self, of: RoundTrip) -> Option<Duration> {
        let rtt = match of {
            RoundTrip::Least => self.least,
            RoundTrip::Mean => self.sum.scale(1, self.samples.max(1).into()),
        };
        (self.whole && self.samples >= SAMPLES && !rtt.is_zero()).then_some(rtt)
    }
}

impl Compound {
    /// Creates the state before the first avoidance.
    pub fn new(config: &CompoundConfig) -> Self {
        let CompoundConfig { beta, ssthresh_base, .. } = *config;
        Self {
            config: *config,
            loss_part: Reno::new(&RenoConfig { beta, ssthresh_base }),
            dwnd: 0,
            base: Duration::MAX,
            round: None,
            gamma: GAMMA.0,
            queue_of_loss_part: None,
            withdrawn: 0,
        }
    }

    /// Takes an ACK's round trip. Returns that of the round that it ends.
    fn measure(&mut self, ack: &AckSample) -> Option<Duration> {
        self.base = ack.rtt.into_iter().chain(ack.min_rtt).fold(self.base, Duration::min);
        let round = self.round.get_or_insert(Round::new(ack, false));
        let mut ended = None;
        if !ack.outstanding().reaches(round.end) {
            ended = round.rtt(self.config.round_rtt);
            *round = Round::new(ack, true);
        }
        if let Some(rtt) = ack.rtt {
            (round.least, round.sum) = (round.least.min(rtt), round.sum + rtt);
            round.samples += 1;
        }
        ended
    }

    /// Judges a round that took `rtt`; returns the bytes by which `dwnd` grows.
    fn judge(&mut self, rtt: Duration, window: &Window, limited: bool) -> Bytes {
        let smss = u64::from(window.smss());
        let queued = |bytes: Bytes| {
            u64::from(bytes) - Duration::from_nanos(bytes.into()).scale(self.base.as_nanos(), rtt.as_nanos()).as_nanos()
        };
        let queue = queued(window.cwnd());
        let of_loss_part = queued(window.cwnd().saturating_sub(self.dwnd)) * MILLI / smss;
        self.queue_of_loss_part = Some(u32::try_from(of_loss_part).unwrap_or(u32::MAX));
        if window.cwnd() < self.config.low_window_segments.saturating_mul(window.smss()) {
            return 0;
        }
        if queue * MILLI >= u64::from(self.gamma) * smss {
            let withdrawn = Bytes::try_from(queue).unwrap_or(Bytes::MAX).min(self.dwnd);
            self.dwnd -= withdrawn;
            self.withdrawn = withdrawn;
            return 0;
        }
        let increase = if limited { increase(window, self.config.alpha) } else { 0 };
        self.dwnd = self.dwnd.saturating_add(increase);
        increase
    }

    /// γ follows the queue that the loss part had before a loss.
    fn follow(&mut self) {
        let Some(queue) = self.queue_of_loss_part.take() else { return };
        let (gain, gamma) = (self.config.gamma_gain, u64::from(self.gamma));
        let sample = u64::from(queue) * 3 / 4;
        let followed = (gamma * (gain.den() - gain.num()) + sample * gain.num()) / gain.den();
        self.gamma = (followed.min(GAMMA.0.into()) as u32).max(GAMMA.1);
    }
}

/// Returns `α·win^¾ − 1` segments in bytes, or none.
fn increase(window: &Window, alpha: Ratio) -> Bytes {
    let smss = u128::from(window.smss());
    let milli_segments = (u128::from(window.cwnd()) * 1_000 / smss).min(MILLI_SEGMENTS_MAX);
    // (win^3 · 10^12)^¼ = win^¾ · 10^3.
    let root = (milli_segments.pow(3) * 1_000).isqrt().isqrt();
    let milli = (root * u128::from(alpha.num()) / u128::from(alpha.den())).saturating_sub(1_000);
    Bytes::try_from(milli * smss / 1_000).unwrap_or(Bytes::MAX)
}

impl Avoidance for Compound {
    const PHASE: CcPhase = CcPhase::Compound;
    const SHRINKS: bool = true;

    fn on_enter(&mut self, window: &Window, now: Instant) {
        self.loss_part.on_enter(window, now);
        self.round = None;
    }

    fn on_ack(&mut self, ack: &AckSample, window: &Window) -> Bytes {
        let growth = self.loss_part.on_ack(ack, window);
        match self.measure(ack) {
            Some(rtt) => growth.saturating_add(self.judge(rtt, window, ack.cwnd_limited)),
            None => growth,
        }
    }

    fn withdrawn(&mut self) -> Bytes {
        core::mem::take(&mut self.withdrawn)
    }

    fn on_congestion(&mut self, window: &Window, event: &CongestionEvent, now: Instant) -> Bytes {
        let loss_part = window.cwnd().saturating_sub(self.dwnd);
        let reduced = self.loss_part.on_congestion(window, event, now);
        if let CongestionEvent::Timeout { .. } = event {
            (self.dwnd, self.gamma, self.queue_of_loss_part) = (0, GAMMA.0, None);
        } else {
            self.dwnd = reduced.saturating_sub(loss_part / 2);
            self.follow();
        }
        reduced
    }

    fn on_idle(&mut self, _idle: Duration) {
        self.round = None;
    }

    fn values(&self) -> [(&'static str, u64); 2] {
        [("dwnd", u64::from(self.dwnd)), ("gamma_milli", u64::from(self.gamma))]
    }
}

#[cfg(test)]
mod tests;
