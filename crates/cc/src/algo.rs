//! From configuration to controller.
//!
//! [`build`] is the only place that matches on configuration tags; after it the machine *is* the variant. Everything here
//! is plain data, so that a profile can name every leaf and two profiles can be compared leaf by leaf.

use crate::avoidance::{Avoidance, Compound, Cubic, DENOMINATOR_MAX, Reno, is_open};
pub use crate::avoidance::{CompoundConfig, RoundTrip};
pub use crate::avoidance::{CubicConfig, FastConvergence, RenoConfig, RenoGrowth, SsthreshBase, Undone};
use crate::bbr3::{Bbr3, Bbr3Config};
use crate::control::CongestionControl;
use crate::loss_based::LossBased;
use crate::outside::{Outside, OutsideConfig};
use crate::pacing::WindowPacing;
use crate::slow_start::ack_train::TrainTest;
pub use crate::slow_start::delay_increase::DelayIncreaseConfig;
use crate::slow_start::tail::{Css, Lss};
pub use crate::slow_start::tail::{CssConfig, LssConfig};
use crate::slow_start::{Chirping, Classic, Hystart, HystartPp, Limited, Plateau, Rapid, Search, SlowStart, Trains};
pub use crate::slow_start::{
    ChirpingConfig, ExitWindow, Expected, LimitedConfig, PlateauConfig, RapidConfig, TrainsConfig,
};
pub use crate::slow_start::{ClassicConfig, Detection, HystartConfig, HystartPpConfig, PacedTrain};
use crate::slow_start::{Resuming, SavedPath};
pub use crate::slow_start::{SearchConfig, Unused};
use crate::window::{InitialWindow, Window};
use base::{Bytes, Duration, Ratio, Rng, SeqNum};

/// The policy points of congestion control.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CcConfig {
    /// How much may be sent before the first ACK.
    pub initial_window: InitialWindow,
    /// What decides after that.
    pub controller: ControllerConfig,
    /// How the window opens at first.
    pub slow_start: SlowStartConfig,
    /// How it grows and shrinks afterwards.
    pub avoidance: AvoidanceConfig,
    /// Whether segments leave in bursts or spaced.
    pub pacing: PacingConfig,
    /// When the window counts as used, so that it may grow.
    pub validation: CwndValidation,
    /// How to treat an unused window.
    pub idle_restart: IdleRestart,
    /// Which bytes open the window.
    pub growth: GrowthCount,
    /// What an earlier connection found on the path, to begin with half of it (RFC 9959); `None` for nothing. It belongs to a
    /// connection and to no system.
    pub resume: Option<SavedPath>,
}

/// What decides how much may be in flight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ControllerConfig {
    /// Slow start, avoidance and pacing of [`CcConfig`].
    #[default]
    LossBased,
    /// BBRv3 (draft-ietf-ccwg-bbr), which has rules of its own instead of these; in a box, because the others need no room for them.
    Bbr3(Box<Bbr3Config>),
    /// A program's own, which has rules of its own instead of slow start, avoidance and pacing. No profile names it.
    Outside(OutsideConfig),
}

/// What an ACK opens the window by (RFC 5681 §3.1: what it newly acknowledges). The endpoint, which keeps the scoreboard,
/// applies it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GrowthCount {
    /// The bytes that the cumulative acknowledgement advanced by.
    #[default]
    Acknowledged,
    /// Of these and of newly SACKed bytes, those that no earlier ACK had reported; on a path that reorders more widely than loss
    /// detection tolerates, bytes that are only SACKed count as well. For senders that keep chunks; others use
    /// [`Self::Acknowledged`].
    Delivered,
}

/// When the window counts as used (RFC 7661 §4.1, RFC 9438 §5.8). The endpoint applies it, because it knows what was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CwndValidation {
    /// When it stopped a segment of the acknowledged flight or, in slow start, when half of it was in flight.
    #[default]
    HalfUsed,
    /// When it was filled in the last window of data or, in slow start, while it is less than twice the outstanding data. For
    /// senders that keep chunks, whose bursts rarely end where the window does; others use [`Self::HalfUsed`].
    PacketsOut,
}

/// How to treat an unused window. The endpoint applies it, because it has the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdleRestart {
    /// It stays.
    #[default]
    Off,
    /// A sender that sent nothing for more than one RTO restarts with the initial window (RFC 5681 §4.1).
    InitialWindow,
    /// It stays for five minutes, then is halved for each further five minutes, down to the initial window (RFC 7661 §4.4.3),
    /// whether the sender is silent or uses less than half of it.
    HalvePerFiveMinutes,
    /// After a pause it is halved for each RTO of the pause, down to the initial window (RFC 2861 §3.2). With
    /// [`CwndValidation::PacketsOut`], a window not filled for one RTO comes half way down to the part that was used.
    HalvePerRto,
}

/// Slow-start policies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlowStartConfig {
    /// Byte counting without an exit detector (RFC 5681, RFC 3465).
    Classic(ClassicConfig),
    /// Classic HyStart: the ACK train and the delay increase end slow start (Ha & Rhee 2011).
    Hystart(HystartConfig),
    /// HyStart++ with conservative slow start (RFC 9406).
    HystartPpCss(HystartPpConfig<CssConfig>),
    /// HyStart++ with limited slow start, as in its early drafts.
    HystartPpLss(HystartPpConfig<LssConfig>),
    /// SEARCH: delivery falls short of what was sent (draft-chung-ccwg-search).
    Search(SearchConfig),
    /// Limited slow start (RFC 3742).
    Limited(LimitedConfig),
    /// BBR's Startup rule: the delivery rate stops growing.
    Plateau(PlateauConfig),
    /// Rapid Start: three times the window in a round trip without a queue (draft-kazuho-ccwg-rapid-start).
    Rapid(RapidConfig),
    /// Paced Chirping: short trains with shrinking gaps show the rate.
    Chirping(ChirpingConfig),
    /// Flights that leave faster than the path carries them show its rate.
    Trains(TrainsConfig),
}

impl Default for SlowStartConfig {
    fn default() -> Self {
        Self::Classic(ClassicConfig::default())
    }
}

/// Avoidance algorithms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AvoidanceConfig {
    /// RFC 5681.
    Reno(RenoConfig),
    /// RFC 9438.
    Cubic(CubicConfig),
    /// Compound TCP (draft-sridharan-tcpm-ctcp).
    Compound(CompoundConfig),
}

impl Default for AvoidanceConfig {
    fn default() -> Self {
        Self::Cubic(CubicConfig::default())
    }
}

/// Departure of segments within the window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PacingConfig {
    /// As soon as the window allows.
    #[default]
    Off,
    /// At a multiple of `cwnd / srtt`.
    Window {
        /// Percent of `cwnd / srtt` while `cwnd < ssthresh`.
        slow_start_percent: u32,
        /// Percent of `cwnd / srtt` otherwise.
        avoidance_percent: u32,
        /// Largest burst, in segments.
        quantum_segments: u32,
    },
}

/// Builds the controller that `cfg` describes, for segments of `smss` bytes. `iss` is the initial sequence number: policies that
/// count rounds begin with the byte after it, and those that draw lots have a stream of their own for each such number.
///
/// # Panics
/// When [`CcConfig::problems`] would have found something, or `smss` is zero.
pub fn build(cfg: &CcConfig, smss: Bytes, iss: SeqNum) -> Box<dyn CongestionControl> {
    let problems = cfg.problems();
    assert!(problems.is_empty(), "{problems:?}");
    if let ControllerConfig::Bbr3(bbr3) = &cfg.controller {
        let rng = Rng::new(iss.0.into()).fork("bbr3");
        return Box::new(Bbr3::new(bbr3, Window::new(&cfg.initial_window, smss), rng));
    }
    if let ControllerConfig::Outside(outside) = &cfg.controller {
        return Box::new(Outside::new(outside, Window::new(&cfg.initial_window, smss), iss.0));
    }
    match &cfg.slow_start {
        SlowStartConfig::Classic(classic) => with_slow_start(cfg, smss, iss, Classic::new(classic)),
        SlowStartConfig::Hystart(hystart) => {
            let paces = cfg.pacing != PacingConfig::Off;
            let test = if paces { hystart.paced_train.test() } else { TrainTest::HalfRtt };
            with_slow_start(cfg, smss, iss, Hystart::new(hystart, iss + 1, test))
        }
        SlowStartConfig::HystartPpCss(css) => with_slow_start(cfg, smss, iss, HystartPp::<Css>::new(css, iss + 1)),
        SlowStartConfig::HystartPpLss(lss) => with_slow_start(cfg, smss, iss, HystartPp::<Lss>::new(lss, iss + 1)),
        SlowStartConfig::Search(search) => with_slow_start(cfg, smss, iss, Search::new(search)),
        SlowStartConfig::Limited(limited) => with_slow_start(cfg, smss, iss, Limited::new(limited)),
        SlowStartConfig::Plateau(plateau) => with_slow_start(cfg, smss, iss, Plateau::new(plateau)),
        SlowStartConfig::Rapid(rapid) => {
            let initial_window = InitialWindow::plain(rapid.first_flight_segments);
            with_slow_start(&CcConfig { initial_window, ..cfg.clone() }, smss, iss, Rapid::new(rapid))
        }
        SlowStartConfig::Chirping(chirping) => {
            let initial_window = InitialWindow::plain(ChirpingConfig::FIRST_FLIGHT_SEGMENTS);
            with_slow_start(&CcConfig { initial_window, ..cfg.clone() }, smss, iss, Chirping::new(chirping))
        }
        SlowStartConfig::Trains(trains) => with_slow_start(cfg, smss, iss, Trains::new(trains, iss + 1)),
    }
}

fn with_slow_start(cfg: &CcConfig, smss: Bytes, iss: SeqNum, slow_start: impl SlowStart) -> Box<dyn CongestionControl> {
    match &cfg.resume {
        Some(saved) => {
            let initial = cfg.initial_window.bytes(smss);
            with_policy(cfg, smss, Resuming::new(slow_start, saved, initial, iss + 1))
        }
        None => with_policy(cfg, smss, slow_start),
    }
}

fn with_policy(cfg: &CcConfig, smss: Bytes, slow_start: impl SlowStart) -> Box<dyn CongestionControl> {
    match &cfg.avoidance {
        AvoidanceConfig::Reno(reno) => with_avoidance(cfg, smss, slow_start, Reno::new(reno)),
        AvoidanceConfig::Cubic(cubic) => with_avoidance(cfg, smss, slow_start, Cubic::new(cubic)),
        AvoidanceConfig::Compound(compound) => with_avoidance(cfg, smss, slow_start, Compound::new(compound)),
    }
}

fn with_avoidance(
    cfg: &CcConfig,
    smss: Bytes,
    slow_start: impl SlowStart,
    avoidance: impl Avoidance,
) -> Box<dyn CongestionControl> {
    let pacing = match cfg.pacing {
        PacingConfig::Off => None,
        PacingConfig::Window { slow_start_percent, avoidance_percent, quantum_segments } => {
            let percent = |percent: u32| u16::try_from(percent).unwrap_or(u16::MAX);
            Some(WindowPacing::new(percent(slow_start_percent), percent(avoidance_percent), quantum_segments))
        }
    };
    Box::new(LossBased::new(Window::new(&cfg.initial_window, smss), slow_start, avoidance, pacing))
}

/// Percentages of the pacing rate: below, a window takes so much longer than its round trip to leave that pacing and not
/// congestion control decides; above, nothing is paced.
const PERCENT: core::ops::RangeInclusive<u32> = 50..=1_000;

impl CcConfig {
    /// Returns every leaf that is out of bounds: its dotted path, what is wrong, and which values are valid.
    pub fn problems(&self) -> Vec<(&'static str, String)> {
        let mut found = Vec::new();
        let mut need = |holds: bool, path, what: &str| {
            if !holds {
                found.push((path, what.to_owned()));
            }
        };
        need(self.initial_window.segments >= 1, "cc.initial_window.segments", "must be at least 1");
        let resumes = self.resume.is_none_or(|saved| saved.cwnd > 0 && !saved.rtt.is_zero());
        need(resumes, "cc.resume", "must have a window and a round trip, both above zero");
        need(self.initial_window.bytes_max != Some(0), "cc.initial_window.bytes_max", "must be at least 1, or absent");
        if let ControllerConfig::Bbr3(bbr3) = &self.controller {
            bbr3.check(&mut need);
        }
        self.slow_start.check(&mut need);
        match &self.avoidance {
            AvoidanceConfig::Reno(reno) => need(is_open(reno.beta), "cc.avoidance.beta", BETA),
            AvoidanceConfig::Cubic(cubic) => {
                need(is_open(cubic.beta), "cc.avoidance.beta", BETA);
                need(is_steepness(cubic.c), "cc.avoidance.c", "must be between 0.001 and 1, with at most six decimals");
                let divisor = cubic.blind_divisor.unwrap_or(1);
                need((1..=100).contains(&divisor), "cc.avoidance.blind_divisor", "must be from 1 to 100, or none");
            }
            AvoidanceConfig::Compound(compound) => compound.check(&mut need),
        }
        if let PacingConfig::Window { slow_start_percent, avoidance_percent, quantum_segments } = self.pacing {
            let what = "must be between 50 and 1000";
            need(PERCENT.contains(&slow_start_percent), "cc.pacing.slow_start_percent", what);
            need(PERCENT.contains(&avoidance_percent), "cc.pacing.avoidance_percent", what);
            need(quantum_segments >= 1, "cc.pacing.quantum_segments", "must be at least 1");
        }
        found
    }
}

impl SlowStartConfig {
    //= specs/rfc9406.md#conservative-slow-start
    //# The divisor of growth in CSS is at least 2.
    fn check(&self, need: &mut impl FnMut(bool, &'static str, &str)) {
        let (limit, delay) = match self {
            Self::Classic(classic) => (classic.limit_segments, None),
            Self::Hystart(hystart) => {
                let HystartConfig { low_window_segments, ack_delta, train_exit_percent, .. } = *hystart;
                need(train_exit_percent >= 100, "cc.slow_start.train_exit_percent", "must be at least 100");
                need(low_window_segments >= 2, LOW_WINDOW.0, LOW_WINDOW.1);
                need(SPACINGS.contains(&ack_delta), "cc.slow_start.ack_delta", "must be between 1us and 65ms");
                (hystart.limit_segments, Some(&hystart.delay))
            }
            Self::HystartPpCss(HystartPpConfig { limit_segments, delay, tail }) => {
                need(tail.growth_divisor >= 2, "cc.slow_start.growth_divisor", "must be at least 2");
                need(tail.rounds >= 1, "cc.slow_start.rounds", "must be at least 1");
                (*limit_segments, Some(delay))
            }
            Self::HystartPpLss(HystartPpConfig { limit_segments, delay, tail }) => {
                need(tail.low_window_segments >= 2, LOW_WINDOW.0, LOW_WINDOW.1);
                need(is_share(tail.divisor), "cc.slow_start.lss_divisor", "must be above 0, with at most six decimals");
                (*limit_segments, Some(delay))
            }
            Self::Search(search) => {
                search.check(need);
                (search.limit_segments, None)
            }
            Self::Limited(limited) => {
                limited.check(need);
                (limited.limit_segments, None)
            }
            Self::Plateau(plateau) => {
                plateau.check(need);
                (plateau.limit_segments, None)
            }
            Self::Rapid(rapid) => {
                rapid.check(need);
                (rapid.limit_segments, None)
            }
            Self::Chirping(chirping) => {
                chirping.check(need);
                (chirping.limit_segments, None)
            }
            Self::Trains(trains) => {
                trains.check(need);
                (None, None)
            }
        };
        need(limit != Some(0), "cc.slow_start.limit_segments", "must be at least 1, or absent");
        if let Some(DelayIncreaseConfig { min_eta, max_eta, eta_divisor, rtt_samples }) = delay {
            need(SPANS.contains(min_eta), "cc.slow_start.min_eta", SPAN);
            need(SPANS.contains(max_eta), "cc.slow_start.max_eta", SPAN);
            need(min_eta <= max_eta, "cc.slow_start.max_eta", "must not be below `cc.slow_start.min_eta`");
            need(*eta_divisor >= 1, "cc.slow_start.eta_divisor", "must be at least 1");
            need(*rtt_samples >= 1, "cc.slow_start.rtt_samples", "must be at least 1");
        }
    }
}

const LOW_WINDOW: (&str, &str) = ("cc.slow_start.low_window_segments", "must be at least 2");
/// Margins and spacings: counts of microseconds lose finer ones, and larger ones exceed the noise of a path.
const SPANS: core::ops::RangeInclusive<Duration> = Duration::from_micros(1)..=Duration::from_secs(10);
/// Spacings of ACKs: counts of microseconds lose finer ones, and ACKs that are further apart do not form a train.
const SPACINGS: core::ops::RangeInclusive<Duration> = Duration::from_micros(1)..=Duration::from_millis(65);
const SPAN: &str = "must be between 1us and 10s";
const BETA: &str = "must lie between 0 and 1, neither included, with at most six decimals";

fn is_share(share: Ratio) -> bool {
    !share.is_zero() && share.den() <= DENOMINATOR_MAX
}

fn is_steepness(c: Ratio) -> bool {
    c.num().saturating_mul(1_000) >= c.den() && c.den() <= DENOMINATOR_MAX
}

#[cfg(test)]
mod tests;
