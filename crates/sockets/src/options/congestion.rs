//! Congestion controls by their Linux names (`TCP_CONGESTION`, `tcp_congestion_control`).

use cc::{AvoidanceConfig, ClassicConfig, ControllerConfig, RenoConfig, SlowStartConfig, SsthreshBase};
use tcp::config::Config;

/// The profile that defines what Linux calls `cubic`.
const LINUX: &str = "linux";
/// Size of a name in bytes, including its terminator (`TCP_CA_NAME_MAX`).
pub(crate) const NAME_LEN: usize = 16;

/// The name of the algorithm in a configuration.
pub(crate) fn name(config: &Config) -> &'static str {
    match (&config.cc.controller, &config.cc.avoidance) {
        (ControllerConfig::Bbr3(_), _) => "bbr",
        (ControllerConfig::Outside(_), _) => "outside",
        (_, AvoidanceConfig::Reno(_)) => "reno",
        (_, AvoidanceConfig::Cubic(_)) => "cubic",
        (_, AvoidanceConfig::Compound(_)) => "compound",
    }
}

/// The name as it is stored, if an algorithm has that name.
pub(crate) fn known(wanted: &str) -> Option<&'static str> {
    ["reno", "cubic"].into_iter().find(|name| *name == wanted)
}

/// Selects the algorithm of this name; returns whether it exists. The initial window and pacing do not change.
pub(crate) fn choose(config: &mut Config, wanted: &str) -> bool {
    if wanted == name(config) {
        return true;
    }
    match wanted {
        "reno" => {
            config.cc.slow_start = SlowStartConfig::Classic(ClassicConfig { limit_segments: None });
            // Half of the window, not of the flight, because Linux computes with the window here.
            config.cc.avoidance =
                AvoidanceConfig::Reno(RenoConfig { ssthresh_base: SsthreshBase::Cwnd, ..RenoConfig::default() });
        }
        "cubic" => {
            let linux = profiles::get(LINUX).expect("it is built in").config();
            config.cc.slow_start = linux.cc.slow_start.clone();
            config.cc.avoidance = linux.cc.avoidance.clone();
        }
        _ => return false,
    }
    config.cc.controller = ControllerConfig::LossBased;
    true
}
