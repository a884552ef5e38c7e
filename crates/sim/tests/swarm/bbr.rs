//! The worlds of the swarm with BBR at both ends: any deployed one, and what lies between them.

use crate::world::{self, Draw};
use base::{Duration, Ratio, Rng};
use cc::ControllerConfig;
use cc::bbr3::{Bbr3Config, ExtraAckedWindow, MarkMeaning};
use longhaul_sim::Scenario;
use tcp::{Config, ValidConfig};

/// The world of a seed, otherwise as it is.
pub fn world(seed: u64) -> Scenario {
    let mut scenario = world::random(seed);
    let mut rng = Rng::new(seed).fork("swarm/bbr");
    for flow in &mut scenario.flows {
        flow.client = with_bbr(&flow.client, &mut rng);
        flow.server = with_bbr(&flow.server, &mut rng);
    }
    // Its rate follows the path and not the window.
    scenario.burst_limit = None;
    scenario
}

fn with_bbr(config: &ValidConfig, rng: &mut Rng) -> ValidConfig {
    let percent = |percent| Ratio::new(percent, 100).expect("a share");
    let mut config = Config::clone(config);
    config.cc.controller = ControllerConfig::Bbr3(Box::new(Bbr3Config {
        drain_gain: percent(rng.pick(&[35, 50])),
        down_gain: percent(rng.pick(&[90, 91])),
        startup_loss: percent(rng.pick(&[1, 2])),
        startup_loss_ranges: rng.pick(&[1, 6, 8]),
        extra_acked: rng.pick(&[ExtraAckedWindow::TenRounds, ExtraAckedWindow::TwiceFiveRounds]),
        extra_acked_max: rng.pick(&[None, Some(Duration::from_millis(100))]),
        probe_rtt_interval: Duration::from_millis(rng.pick(&[100, 5_000, 10_000])),
        min_rtt_window: Duration::from_millis(rng.pick(&[200, 10_000])),
        burst_halving: rng.pick(&[None, Some(Duration::from_micros(512))]),
        marks: rng.pick(&[MarkMeaning::Loss, MarkMeaning::Share, MarkMeaning::Nothing]),
    }));
    config.validate().unwrap_or_else(|errors| panic!("{errors:?}"))
}
