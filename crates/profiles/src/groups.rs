//! Groups of leaves that depend on a kind: returns them if the configuration has that kind.

use cc::bbr3::Bbr3Config;
use cc::{
    AvoidanceConfig, ControllerConfig, CssConfig, CubicConfig, DelayIncreaseConfig, HystartConfig, PacingConfig,
    SlowStartConfig, SsthreshBase,
};
use cc::{ChirpingConfig, CompoundConfig, ExitWindow, RapidConfig, SearchConfig, TrainsConfig};
use tcp::config::{ChunksConfig, SegmenterConfig}; // variant: chunks
use tcp::config::{Config, ReceiveWindowConfig, SendAccounting, SteppedConfig};

// variant: chunks {
pub(crate) fn chunks(config: &mut Config) -> Option<&mut ChunksConfig> {
    match &mut config.send.segmenter {
        SegmenterConfig::Chunks(chunks) => Some(chunks),
        SegmenterConfig::Stream => None,
    }
}
// variant: chunks }

/// What a chunk costs for its headers, and for its record.
pub(crate) fn chunk_costs(config: &mut Config) -> Option<(&mut u32, &mut u32)> {
    match &mut config.send.accounting {
        SendAccounting::Chunks { head, record } => Some((head, record)),
        SendAccounting::Bytes => None,
    }
}

pub(crate) fn bbr3(config: &mut Config) -> Option<&mut Bbr3Config> {
    match &mut config.cc.controller {
        ControllerConfig::Bbr3(bbr3) => Some(bbr3),
        ControllerConfig::LossBased | ControllerConfig::Outside(_) => None,
    }
}

/// Pacing's percentages in slow start and after it, and its quantum.
pub(crate) fn pacing(config: &mut Config) -> Option<[&mut u32; 3]> {
    match &mut config.cc.pacing {
        PacingConfig::Window { slow_start_percent, avoidance_percent, quantum_segments } => {
            Some([slow_start_percent, avoidance_percent, quantum_segments])
        }
        PacingConfig::Off => None,
    }
}

pub(crate) fn hystart(config: &mut Config) -> Option<&mut HystartConfig> {
    match &mut config.cc.slow_start {
        SlowStartConfig::Hystart(hystart) => Some(hystart),
        _ => None,
    }
}

pub(crate) fn css(config: &mut Config) -> Option<&mut CssConfig> {
    match &mut config.cc.slow_start {
        SlowStartConfig::HystartPpCss(css) => Some(&mut css.tail),
        _ => None,
    }
}

pub(crate) fn delay(config: &mut Config) -> Option<&mut DelayIncreaseConfig> {
    match &mut config.cc.slow_start {
        SlowStartConfig::Classic(_) => None,
        SlowStartConfig::Hystart(hystart) => Some(&mut hystart.delay),
        SlowStartConfig::HystartPpCss(css) => Some(&mut css.delay),
        SlowStartConfig::HystartPpLss(lss) => Some(&mut lss.delay),
        SlowStartConfig::Search(_)
        | SlowStartConfig::Limited(_)
        | SlowStartConfig::Plateau(_)
        | SlowStartConfig::Rapid(_)
        | SlowStartConfig::Chirping(_)
        | SlowStartConfig::Trains(_) => None,
    }
}

pub(crate) fn search(config: &mut Config) -> Option<&mut SearchConfig> {
    match &mut config.cc.slow_start {
        SlowStartConfig::Search(search) => Some(search),
        _ => None,
    }
}

pub(crate) fn rapid(config: &mut Config) -> Option<&mut RapidConfig> {
    match &mut config.cc.slow_start {
        SlowStartConfig::Rapid(rapid) => Some(rapid),
        _ => None,
    }
}

pub(crate) fn chirping(config: &mut Config) -> Option<&mut ChirpingConfig> {
    match &mut config.cc.slow_start {
        SlowStartConfig::Chirping(chirping) => Some(chirping),
        _ => None,
    }
}

pub(crate) fn trains(config: &mut Config) -> Option<&mut TrainsConfig> {
    match &mut config.cc.slow_start {
        SlowStartConfig::Trains(trains) => Some(trains),
        _ => None,
    }
}

pub(crate) fn exit_window(config: &mut Config) -> Option<&mut ExitWindow> {
    match &mut config.cc.slow_start {
        SlowStartConfig::Search(search) => Some(&mut search.exit),
        SlowStartConfig::Plateau(plateau) => Some(&mut plateau.exit),
        _ => None,
    }
}

pub(crate) fn cubic(config: &mut Config) -> Option<&mut CubicConfig> {
    match &mut config.cc.avoidance {
        AvoidanceConfig::Cubic(cubic) => Some(cubic),
        AvoidanceConfig::Reno(_) | AvoidanceConfig::Compound(_) => None,
    }
}

pub(crate) fn compound(config: &mut Config) -> Option<&mut CompoundConfig> {
    match &mut config.cc.avoidance {
        AvoidanceConfig::Compound(compound) => Some(compound),
        _ => None,
    }
}

pub(crate) fn ssthresh_base(config: &mut Config) -> &mut SsthreshBase {
    match &mut config.cc.avoidance {
        AvoidanceConfig::Reno(reno) => &mut reno.ssthresh_base,
        AvoidanceConfig::Cubic(cubic) => &mut cubic.ssthresh_base,
        AvoidanceConfig::Compound(compound) => &mut compound.ssthresh_base,
    }
}

pub(crate) fn stepped(config: &mut Config) -> Option<&mut SteppedConfig> {
    match &mut config.receive.window {
        ReceiveWindowConfig::Stepped(stepped) => Some(stepped),
        _ => None,
    }
}
