//! CUBIC (RFC 9438).
//!
//! The window follows a cubic function of the time since avoidance began, flat around the window at which congestion last
//! occurred, but is never below what Reno would have reached.
//!
//! Deviations: where the RFC says "for each ACK" (§4.2, §4.4), the code counts bytes, as §4.3 does for Reno's estimate, so that a
//! receiver that acknowledges rarely does not slow growth. `cwnd` is not lowered to `W_est` when the cubic was a little beyond
//! it, nor raised to it faster than slow start would (the bound of 1.5 windows may have limited it before). Fast convergence
//! (§4.7), β, C and the base of the reduction (§4.6) are data.

use super::cubic_math::{Curve, FRACTION_BITS, Ticks, fixed, times_share};
use super::{Avoidance, SsthreshBase, in_question, ratio, scaled};
use crate::control::CcPhase;
use crate::sample::{AckSample, CongestionEvent};
use crate::window::Window;
use base::{Bytes, Duration, Instant, Ratio};

/// CUBIC's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CubicConfig {
    /// β: the fraction of the window that remains, between 0 and 1.
    pub beta: Ratio,
    /// C: how steep the cubic is, in segments per cubic second; at most 1.
    pub c: Ratio,
    /// Whether a flow with a shrinking share yields faster.
    pub fast_convergence: FastConvergence,
    /// The quantity that β multiplies.
    pub ssthresh_base: SsthreshBase,
    /// How the cubic continues after a reduction that proved spurious.
    pub undone: Undone,
    /// How fast the estimate of Reno's window grows, the lower bound of the cubic's.
    pub reno_growth: RenoGrowth,
    /// Until a loss has shown the path's capacity, the window grows by at least this fraction of itself in a round trip: the
    /// divisor; `None` leaves growth to the cubic.
    pub blind_divisor: Option<u32>,
}

impl Default for CubicConfig {
    //= specs/rfc9438.md#window-growth
    //# C is 0.4.
    //= specs/rfc9438.md#multiplicative-decrease
    //# β is 0.7.
    /// RFC 9438 §4.1, §4.6 and §5: β 0.7, C 0.4, of what is outstanding, with fast convergence.
    fn default() -> Self {
        Self {
            beta: ratio(7, 10),
            c: ratio(4, 10),
            fast_convergence: FastConvergence::On,
            ssthresh_base: SsthreshBase::FlightSize,
            undone: Undone::Resumed,
            reno_growth: RenoGrowth::OneBeyondPrior,
            blind_divisor: None,
        }
    }
}

/// How fast the estimate of Reno's window grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenoGrowth {
    /// By α segments a round trip, and by one segment from `cwnd_prior` on (RFC 9438 §4.3).
    OneBeyondPrior,
    /// By α segments throughout.
    Steady,
}

/// How the cubic continues when a reduction is undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undone {
    /// It continues where it was (RFC 9438 §4.9.1).
    Resumed,
    /// Window and `ssthresh` return, but a new epoch begins, with the window before the reduction as its plateau.
    Anew,
}

//= specs/rfc9438.md#fast-convergence
//# Fast convergence can be turned off where one flow is alone.
/// Fast convergence (RFC 9438 §4.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastConvergence {
    /// The plateau is always the window at which congestion occurred.
    Off,
    /// When that window was below the last plateau, the new one is lower still, to make room for new flows.
    On,
}

/// The event before the next epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// Slow start that ended without congestion.
    SlowStart,
    /// A timeout and the slow start after it (§4.8).
    Timeout,
    /// A reduction.
    Reduction,
}

/// One period of avoidance; it holds everything that an ACK needs, computed once.
#[derive(Clone, Debug)]
struct Epoch {
    /// The RFC's `t_epoch`, moved forward by the time in which the window was not used.
    start: Instant,
    /// The last ACK, to compute that time.
    last_ack: Instant,
    curve: Curve,
    /// Reno's window (§4.3), bytes with [`FRACTION_BITS`] binary places.
    w_est: u64,
    /// Its growth by one round trip below `cwnd_prior`: α segments, in the same unit.
    alpha: u64,
}

/// A [`Ratio`] whose parts fit into 32 bits, as the configuration's bounds ensure. Every connection holds two of them.
#[derive(Clone, Copy, Debug)]
struct Fraction {
    num: u32,
    den: u32,
}

impl Fraction {
    fn of(ratio: Ratio) -> Self {
        let part = |value: u64| u32::try_from(value).expect("a configuration's fractions have at most six decimals");
        Self { num: part(ratio.num()), den: part(ratio.den()) }
    }
    fn ratio(self) -> Ratio {
        ratio(self.num.into(), self.den.into())
    }
}

/// The configuration's binary choices, in one byte to save memory per connection.
#[derive(Clone, Copy, Debug)]
struct Choices(u8);

impl Choices {
    const FAST_CONVERGENCE: u8 = 1;
    const BASE_IS_CWND: u8 = 2;
    const UNDONE_ANEW: u8 = 4;
    const STEADY_RENO: u8 = 8;

    fn of(config: &CubicConfig) -> Self {
        let chosen = |is: bool, bit: u8| if is { bit } else { 0 };
        Self(
            chosen(config.fast_convergence == FastConvergence::On, Self::FAST_CONVERGENCE)
                | chosen(config.ssthresh_base == SsthreshBase::Cwnd, Self::BASE_IS_CWND)
                | chosen(config.undone == Undone::Anew, Self::UNDONE_ANEW)
                | chosen(config.reno_growth == RenoGrowth::Steady, Self::STEADY_RENO),
        )
    }
    const fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }
    const fn ssthresh_base(self) -> SsthreshBase {
        if self.has(Self::BASE_IS_CWND) { SsthreshBase::Cwnd } else { SsthreshBase::FlightSize }
    }
}

/// The algorithm's state. The window of the last congestion (`w_max`) is the plateau of the epoch's curve: a signal sets it for
/// the epoch that follows the current one.
#[derive(Clone, Debug)]
pub struct Cubic {
    beta: Fraction,
    c: Fraction,
    choices: Choices,
    /// Zero for none.
    blind_divisor: u8,
    /// `cwnd` before the last reduction. Bytes.
    cwnd_prior: Bytes,
    origin: Origin,
    epoch: Epoch,
}

impl Cubic {
    /// Creates the state before the first avoidance.
    ///
    /// # Panics
    /// If a fraction of `config` has parts beyond 32 bits, which [`CcConfig::problems`](crate::CcConfig::problems) rejects.
    pub fn new(config: &CubicConfig) -> Self {
        let (start, curve) = (Instant::ZERO, Curve::default());
        let epoch = Epoch { start, last_ack: start, curve, w_est: 0, alpha: 0 };
        Self {
            beta: Fraction::of(config.beta),
            c: Fraction::of(config.c),
            choices: Choices::of(config),
            blind_divisor: config.blind_divisor.map_or(0, |divisor| u8::try_from(divisor).unwrap_or(u8::MAX)),
            cwnd_prior: 0,
            origin: Origin::SlowStart,
            epoch,
        }
    }

    //= specs/rfc9438.md#reno-friendly-region
    //# Each window's worth of acknowledged segments raises the estimate by α = 3 · (1 − β) / (1 + β) segments.
    /// Returns α of §4.3 in bytes per round trip: it makes Reno's average window with this β equal that of Reno with one half.
    fn alpha(&self, smss: Bytes) -> u64 {
        let beta = self.beta.ratio();
        let (num, den) = (beta.num(), beta.den());
        fixed(smss, ratio(den - num, den + num)) * 3
    }

    /// Adjusts to a segment size that changed within an epoch: the curve keeps its plateau and its position in time.
    #[cold]
    fn resize(&mut self, smss: Bytes) {
        self.epoch.curve.resize(self.c.ratio(), smss);
        self.epoch.alpha = self.alpha(smss);
    }

    //= specs/rfc9438.md#reno-friendly-region
    //# Each window's worth of acknowledged segments raises the estimate by α = 3 · (1 − β) / (1 + β) segments.
    //= specs/rfc9438.md#reno-friendly-region
    //# Once the estimate has come to `cwnd_prior`, α is 1.
    /// Adds the growth for `share` of a window (32 binary places) to Reno's estimate, and returns the estimate in bytes.
    #[inline]
    fn advance_w_est(&mut self, share: u64) -> Bytes {
        let one_segment = u64::from(self.epoch.curve.smss) << FRACTION_BITS;
        let caught_up =
            !self.choices.has(Choices::STEADY_RENO) && self.epoch.w_est >= u64::from(self.cwnd_prior) << FRACTION_BITS;
        let a_round_trip = if caught_up { one_segment } else { self.epoch.alpha };
        self.epoch.w_est += times_share(a_round_trip, share);
        (self.epoch.w_est >> FRACTION_BITS).min(u64::from(Window::MAX)) as Bytes
    }

    /// Returns the minimum growth for `acked` bytes while the path's capacity is unknown.
    #[inline]
    fn blind_growth(&self, acked: Bytes) -> Bytes {
        match (self.blind_divisor, self.origin) {
            (0, _) | (_, Origin::Reduction) => 0,
            (divisor, Origin::SlowStart | Origin::Timeout) => acked / Bytes::from(divisor),
        }
    }
}

impl Avoidance for Cubic {
    const PHASE: CcPhase = CcPhase::Cubic;

    //= specs/rfc9438.md#reno-friendly-region
    //# The estimate of Reno's window begins with the window of the stage's beginning.
    //= specs/rfc9438.md#timeout
    //# The first stage of avoidance after a timeout has K = 0 and its first window as W_max.
    //= specs/rfc9438.md#timeout
    //# The first stage of avoidance after a timeout has its first window as the estimate of Reno's window.
    //= specs/rfc9438.md#slow-start
    //# Slow start that ends without a loss sets `cwnd_prior` and W_max to the window, and K to 0.
    fn on_enter(&mut self, window: &Window, now: Instant) {
        let (cwnd, smss) = (window.cwnd(), window.smss());
        let w_max = match self.origin {
            Origin::Reduction => self.epoch.curve.w_max.max(cwnd),
            Origin::Timeout => cwnd,
            Origin::SlowStart => {
                self.cwnd_prior = cwnd;
                cwnd
            }
        };
        self.epoch = Epoch {
            start: now,
            last_ack: now,
            curve: Curve::new(cwnd, w_max, self.c.ratio(), smss),
            w_est: u64::from(cwnd) << FRACTION_BITS,
            alpha: self.alpha(smss),
        };
    }

    //= specs/rfc9438.md#window-growth
    //# The target is the cubic's value one smoothed RTT ahead, but at least the window and at most 1.5 windows.
    //= specs/rfc9438.md#window-growth
    //# Time in which an application limit kept the window from growing does not count towards t.
    //= specs/rfc9438.md#window-growth
    //# Only an ACK that acknowledges new data opens the window.
    //= specs/rfc9438.md#reno-friendly-region
    //# While the cubic is below the estimate, the window is the estimate.
    //= specs/rfc9438.md#concave-and-convex-regions
    //# Below W_max, an ACK of one segment opens the window by (target − cwnd) / cwnd segments.
    //= specs/rfc9438.md#concave-and-convex-regions
    //# From W_max on, an ACK of one segment opens the window by (target − cwnd) / cwnd segments.
    #[inline]
    fn on_ack(&mut self, ack: &AckSample, window: &Window) -> Bytes {
        let since_last = ack.now.since(self.epoch.last_ack);
        self.epoch.last_ack = ack.now;
        if !ack.cwnd_limited {
            self.epoch.start += since_last;
            return 0;
        }
        if ack.acked == 0 {
            return 0;
        }
        if self.epoch.curve.smss != window.smss() {
            self.resize(window.smss());
        }
        let cwnd = window.cwnd();
        // No ACK counts for more than a window. Its share of the window needs the only division here.
        let acked = ack.acked.min(cwnd);
        let share = (u64::from(acked) << 32) / u64::from(cwnd);
        let w_est = self.advance_w_est(share);
        let t = Ticks::of(ack.now.since(self.epoch.start));
        if w_est >= cwnd && self.epoch.curve.at(t) < w_est {
            return (w_est - cwnd).min(acked).max(self.blind_growth(acked));
        }
        let one_rtt_on = t + Ticks::of(ack.srtt.unwrap_or(Duration::ZERO));
        let target = self.epoch.curve.at(one_rtt_on).clamp(cwnd, cwnd + cwnd / 2);
        (times_share(u64::from(target - cwnd), share) as Bytes).max(self.blind_growth(acked))
    }

    //= specs/rfc9438.md#multiplicative-decrease
    //# The new `ssthresh` is β times what is in flight.
    //= specs/rfc9438.md#multiplicative-decrease
    //# A reduction remembers the window before it as `cwnd_prior`.
    //= specs/rfc9438.md#fast-convergence
    //# A reduction from below the last W_max sets W_max to cwnd · (1 + β) / 2.
    //= specs/rfc9438.md#fast-convergence
    //# Any other reduction sets W_max to the window before it.
    fn on_congestion(&mut self, window: &Window, event: &CongestionEvent, _now: Instant) -> Bytes {
        let cwnd = in_question(window, event);
        let beta = self.beta.ratio();
        let w_max = &mut self.epoch.curve.w_max;
        *w_max = if self.choices.has(Choices::FAST_CONVERGENCE) && cwnd < *w_max {
            // cwnd · (1 + β) / 2
            scaled(cwnd, ratio(beta.den() + beta.num(), 2 * beta.den()))
        } else {
            cwnd
        };
        self.cwnd_prior = cwnd;
        self.origin = match event {
            CongestionEvent::Timeout { .. } => Origin::Timeout,
            CongestionEvent::Loss { .. } | CongestionEvent::Ecn { .. } => Origin::Reduction,
        };
        scaled(self.choices.ssthresh_base().bytes(window, event), event.factor(beta))
    }

    //= specs/rfc9438.md#window-growth
    //# Time in which an application limit kept the window from growing does not count towards t.
    fn on_idle(&mut self, idle: Duration) {
        self.epoch.start += idle;
        self.epoch.last_ack += idle;
    }

    fn begins_anew_after_undo(&self) -> bool {
        self.choices.has(Choices::UNDONE_ANEW)
    }

    fn values(&self) -> [(&'static str, u64); 2] {
        [("w_max", u64::from(self.epoch.curve.w_max)), ("k_ms", self.epoch.curve.k.as_millis())]
    }
}

#[cfg(test)]
mod tests;
