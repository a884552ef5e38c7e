//! Congestion controls by the names Linux gives them (`TCP_CONGESTION`, `tcp_congestion_control`).

use cc::{AvoidanceConfig, ClassicConfig, RenoConfig, SlowStartConfig, SsthreshBase};
use tcp::config::Config;

/// The profile that says what Linux calls `cubic`.
const LINUX: &str = "linux";
/// Bytes of a name, its end included (`TCP_CA_NAME_MAX`).
pub(crate) const NAME_LEN: usize = 16;

/// The name of what a configuration has.
pub(crate) fn name(config: &Config) -> &'static str {
    match config.cc.avoidance {
        AvoidanceConfig::Reno(_) => "reno",
        AvoidanceConfig::Cubic(_) => "cubic",
    }
}

/// The name as it is kept, if there is an algorithm of it.
pub(crate) fn known(wanted: &str) -> Option<&'static str> {
    ["reno", "cubic"].into_iter().find(|name| *name == wanted)
}

/// Takes the algorithm of this name; whether there is one. The initial window and pacing stay.
pub(crate) fn choose(config: &mut Config, wanted: &str) -> bool {
    if wanted == name(config) {
        return true;
    }
    match wanted {
        "reno" => {
            config.cc.slow_start = SlowStartConfig::Classic(ClassicConfig { limit_segments: None });
            // Half of the window and not of the flight, as everything there counts.
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
    true
}
