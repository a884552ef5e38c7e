//! From configuration to controller.
//!
//! [`build`] is the only place that matches on configuration tags; after it the machine *is* the variant. Everything here
//! is plain data, so that a profile can name every leaf and two profiles can be compared leaf by leaf.

use crate::avoidance::{Avoidance, Cubic, Reno};
pub use crate::avoidance::{CubicConfig, FastConvergence, RenoConfig, SsthreshBase};
use crate::control::CongestionControl;
use crate::loss_based::LossBased;
use crate::pacing::WindowPacing;
pub use crate::slow_start::ClassicConfig;
use crate::slow_start::{Classic, SlowStart};
use crate::window::{InitialWindow, Window};
use base::{Bytes, Ratio, SeqNum};

/// The policy points of congestion control.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CcConfig {
    /// How much may be sent before the first ACK.
    pub initial_window: InitialWindow,
    /// How the window opens at first.
    pub slow_start: SlowStartConfig,
    /// How it grows and shrinks afterwards.
    pub avoidance: AvoidanceConfig,
    /// Whether segments leave in bursts or spaced.
    pub pacing: PacingConfig,
}

/// Slow-start policies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlowStartConfig {
    /// Byte counting without an exit detector (RFC 5681, RFC 3465).
    Classic(ClassicConfig),
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

/// The controller that `cfg` describes, for segments of `smss` octets. `iss` is where policies that count rounds by
/// sequence numbers begin; none of the present ones does.
///
/// # Panics
/// When [`CcConfig::problems`] would have found something, or `smss` is zero.
pub fn build(cfg: &CcConfig, smss: Bytes, _iss: SeqNum) -> Box<dyn CongestionControl> {
    let problems = cfg.problems();
    assert!(problems.is_empty(), "{problems:?}");
    match &cfg.slow_start {
        SlowStartConfig::Classic(classic) => with_slow_start(cfg, smss, Classic::new(classic)),
    }
}

fn with_slow_start(cfg: &CcConfig, smss: Bytes, slow_start: impl SlowStart) -> Box<dyn CongestionControl> {
    match &cfg.avoidance {
        AvoidanceConfig::Reno(reno) => with_avoidance(cfg, smss, slow_start, Reno::new(reno)),
        AvoidanceConfig::Cubic(cubic) => with_avoidance(cfg, smss, slow_start, Cubic::new(cubic)),
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
            Some(WindowPacing::new(slow_start_percent, avoidance_percent, quantum_segments))
        }
    };
    Box::new(LossBased::new(Window::new(&cfg.initial_window, smss), slow_start, avoidance, pacing))
}

/// Finer fractions than this are refused: they mean nothing and would strain the arithmetic.
const DENOMINATOR_MAX: u64 = 1_000_000;
/// Percentages of the pacing rate: below, a window takes longer than its round trip to leave by so much that pacing and
/// not congestion control decides; above, nothing is paced.
const PERCENT: core::ops::RangeInclusive<u32> = 50..=1_000;

impl CcConfig {
    /// Every leaf that is out of bounds: its dotted path, and what is wrong and would be right.
    pub fn problems(&self) -> Vec<(&'static str, String)> {
        let mut found = Vec::new();
        let mut need = |holds: bool, path, what: &str| {
            if !holds {
                found.push((path, what.to_owned()));
            }
        };
        need(self.initial_window.segments >= 1, "cc.initial_window.segments", "must be at least 1");
        need(self.initial_window.bytes_max != Some(0), "cc.initial_window.bytes_max", "must be at least 1, or absent");
        match &self.slow_start {
            SlowStartConfig::Classic(ClassicConfig { limit_segments }) => {
                need(*limit_segments != Some(0), "cc.slow_start.limit_segments", "must be at least 1, or absent");
            }
        }
        match &self.avoidance {
            AvoidanceConfig::Reno(reno) => need(is_open(reno.beta), "cc.avoidance.beta", BETA),
            AvoidanceConfig::Cubic(cubic) => {
                need(is_open(cubic.beta), "cc.avoidance.beta", BETA);
                need(is_steepness(cubic.c), "cc.avoidance.c", "must be between 0.001 and 1, with at most six decimals");
            }
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

const BETA: &str = "must lie between 0 and 1, neither included, with at most six decimals";

fn is_open(beta: Ratio) -> bool {
    !beta.is_zero() && beta.num() < beta.den() && beta.den() <= DENOMINATOR_MAX
}

fn is_steepness(c: Ratio) -> bool {
    c.num().saturating_mul(1_000) >= c.den() && c.den() <= DENOMINATOR_MAX
}

#[cfg(test)]
mod tests;
