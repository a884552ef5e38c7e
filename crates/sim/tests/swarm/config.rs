//! Random configurations: every policy point of an endpoint, within its bounds.

use crate::world::Draw;
use base::{Duration, Ratio, Rng};
use cc::{AvoidanceConfig, CubicConfig, PacingConfig, SavedPath, SearchConfig, SlowStartConfig};
use longhaul_sim::BurstLimit;
use recovery::config::{BlockCheck, BlockCheckVariant, PrrBound, PrrConfig, ReductionConfig};
use recovery::config::{
    DetectorConfig, DsackAdaptation, DupThreshConfig, EarlyAnswer, LimitedTransmit, RackConfig, RttOf,
};
use recovery::tlp::AfterAck;
use recovery::undo::{DsackUndo, Eifel, FrtoDetection};
use recovery::{RecoveryConfig, TlpConfig, UndoConfig};
use tcp::config::{
    AckConfig, AckTimer, DrsConfig, NagleConfig, QuickAgain, ReceiveWindowConfig, SackConfig, SteppedConfig,
    TimestampConfig, WindowLevel, WindowRounding, WindowScaleConfig,
};
use tcp::{Config, ValidConfig};

/// Any valid configuration of one end.
pub fn random(rng: &mut Rng) -> ValidConfig {
    let mut config = Config::default();
    if !rng.once_in(4) {
        sending(rng, &mut config);
        receiving(rng, &mut config);
        options(rng, &mut config);
        beginning(&mut rng.fork("beginning"), &mut config);
    }
    config.validate().unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// Returns the limit for a sender's departures: the rates of its pacer, rounded up, and its bucket, with room for a tail probe
/// and for what the pacer does not control. `None` if the sender does not pace, or if its clock makes waits longer than
/// requested, and for chirps, whose gaps are the measurement.
pub fn departures(config: &ValidConfig) -> Option<BurstLimit> {
    match config.cc.pacing {
        _ if matches!(config.cc.slow_start, SlowStartConfig::Chirping(_)) => None,
        PacingConfig::Window { slow_start_percent, avoidance_percent, quantum_segments }
            if config.timers.granularity.is_zero() =>
        {
            // The first window leaves unpaced, followed by a bucket if its first acknowledgement comes early. A pacer that had
            // nothing to hold counts late, and at a rate that may have risen since: that is another bucket.
            let segments = quantum_segments + quantum_segments.max(config.cc.initial_window.segments) + 1;
            Some(BurstLimit { slow_start_percent, avoidance_percent: avoidance_percent + 5, segments })
        }
        _ => None,
    }
}

/// The same with another send buffer.
pub fn with_send_buffer(config: &ValidConfig, buffer: u32) -> ValidConfig {
    let mut config = Config::clone(config);
    config.send.buffer = buffer;
    config.validate().unwrap_or_else(|errors| panic!("{errors:?}"))
}

fn sending(rng: &mut Rng, config: &mut Config) {
    config.cc.avoidance = match rng.below(3) {
        0 => AvoidanceConfig::Reno(Default::default()),
        1 => AvoidanceConfig::Compound(Default::default()),
        _ => AvoidanceConfig::Cubic(CubicConfig::default()),
    };
    config.cc.slow_start = slow_start(rng);
    config.cc.initial_window.segments = rng.pick(&[1, 2, 10, 10, 64]);
    if rng.once_in(3) {
        let quantum_segments = rng.pick(&[1, 2, 10]);
        config.cc.pacing = PacingConfig::Window { slow_start_percent: 200, avoidance_percent: 120, quantum_segments };
    }
    let dup_thresh = rng.pick(&[1, 3, 3, 3, 10]);
    config.recovery.detector = match rng.below(3) {
        0 => DetectorConfig::DupThresh(DupThreshConfig { dup_thresh }),
        // variant: rack_ring {
        1 => {
            let capacity = rng.pick(&[None, Some(1), Some(4), Some(64)]);
            DetectorConfig::RackRing(recovery::variants::RackRingConfig { capacity, dup_thresh })
        }
        // variant: rack_ring }
        _ => {
            let dsack = rng.pick(&[DsackAdaptation::Off, DsackAdaptation::On]);
            let early_answer = rng.pick(&[EarlyAnswer::MinRtt, EarlyAnswer::HalfMinRtt]);
            let rtt_of = rng.pick(&[RttOf::Newest, RttOf::LastInSequence, RttOf::NewestInTurn]);
            let lateness_max_srtts = rng.pick(&[0, 1, 8]);
            DetectorConfig::Rack(RackConfig { dsack, dup_thresh, early_answer, rtt_of, lateness_max_srtts })
        }
    };
    repairing(rng, &mut config.recovery);
    config.recovery.blocks = rng.pick(&[
        BlockCheck::Rfc2883,
        BlockCheck::Rfc2883,
        BlockCheck::Variant(BlockCheckVariant::DsackCheckRejected), // variant: dsack_check_rejected
        BlockCheck::Variant(BlockCheckVariant::DsackCheckStrictRight), // variant: dsack_check_strict_right
    ]);
    let bound = rng.pick(&[PrrBound::SafeAck, PrrBound::Crb, PrrBound::Ssrb]);
    config.recovery.reduction = rng.pick(&[ReductionConfig::Pipe, ReductionConfig::Prr(PrrConfig { bound })]);
    config.rto.min = Duration::from_millis(rng.pick(&[1, 30, 200, 300, 1_000]));
    config.rto.initial = Duration::from_millis(rng.pick(&[1_000, 1_000, 3_000]));
    config.timers.granularity = Duration::from_millis(rng.pick(&[0, 0, 1, 10]));
    config.timers.time_wait = Duration::from_secs(rng.pick(&[1, 60, 240]));
    config.send.buffer = rng.scale(500, 1 << 20) as u32;
    config.send.nagle = rng.pick(&[NagleConfig::Rfc896, NagleConfig::Minshall, NagleConfig::Off]);
    config.send.persist_max = Duration::from_secs(rng.pick(&[1, 60]));
}

fn slow_start(rng: &mut Rng) -> SlowStartConfig {
    match rng.below(9) {
        0 => SlowStartConfig::Classic(Default::default()),
        1 => SlowStartConfig::Hystart(Default::default()),
        2 => SlowStartConfig::HystartPpCss(Default::default()),
        3 => SlowStartConfig::HystartPpLss(Default::default()),
        4 => SlowStartConfig::Search(SearchConfig::SENT),
        5 => SlowStartConfig::Search(SearchConfig::DELIVERED),
        6 => SlowStartConfig::Limited(Default::default()),
        7 => SlowStartConfig::Plateau(Default::default()),
        _ => SlowStartConfig::Rapid(Default::default()),
    }
}

/// Other ways to begin, with draws of their own, so that worlds without them stay as they were.
fn beginning(rng: &mut Rng, config: &mut Config) {
    if rng.once_in(10) {
        config.cc.slow_start = SlowStartConfig::Chirping(Default::default());
    }
    if rng.once_in(6) {
        let (cwnd, rtt) = (rng.scale(1_000, 8 << 20) as u32, Duration::from_micros(rng.scale(2, 500_000)));
        config.cc.resume = Some(SavedPath { cwnd, rtt });
    }
}

/// Probes, undo, and what leaves before a loss.
fn repairing(rng: &mut Rng, recovery: &mut RecoveryConfig) {
    let probe = TlpConfig {
        max_ack_delay: Duration::from_millis(rng.pick(&[0, 40, 200])),
        pto_min: Duration::from_millis(rng.pick(&[0, 10])),
        after_ack: rng.pick(&[AfterAck::TwoSrtt, AfterAck::OneSrtt]),
    };
    recovery.probe = (!rng.once_in(3)).then_some(probe);
    recovery.undo = UndoConfig {
        dsack: rng.pick(&[DsackUndo::Off, DsackUndo::On]),
        eifel: rng.pick(&[Eifel::Off, Eifel::Timestamps, Eifel::TimestampsOrRtt]),
        frto: rng.pick(&[FrtoDetection::Off, FrtoDetection::On]),
    };
    recovery.limited_transmit = rng.pick(&[LimitedTransmit::On, LimitedTransmit::On, LimitedTransmit::Off]);
}

fn receiving(rng: &mut Rng, config: &mut Config) {
    config.ack = AckConfig {
        delay: Duration::from_millis(rng.pick(&[0, 1, 40, 200, 499])),
        every_segments: rng.pick(&[1, 2, 2, 2, 8]),
        quick_again: rng.pick(&[QuickAgain::Never, QuickAgain::AfterIdle]),
        ..config.ack
    };
    if !config.ack.delay.is_zero() && rng.once_in(3) {
        config.ack.timer = AckTimer::Heartbeat;
    }
    let bytes = rng.scale(600, 1 << 20) as u32;
    let bounds = DrsConfig { initial: bytes, max: bytes * 4 };
    config.receive.window = match rng.below(6) {
        0 => ReceiveWindowConfig::AutoTuned(DrsConfig::default()),
        1 => ReceiveWindowConfig::Fixed { bytes },
        2 => ReceiveWindowConfig::AutoTuned(bounds),
        3 => ReceiveWindowConfig::Drs(bounds),
        _ => ReceiveWindowConfig::Stepped(stepped(rng)),
    };
    config.receive.rounding = rng.pick(&[WindowRounding::Bytes, WindowRounding::Segments]);
    config.receive.spare_segments = rng.pick(&[0, 0, 2]);
    config.receive.reassembly_max = rng.pick(&[None, Some(8_192), Some(16), Some(1)]);
}

fn stepped(rng: &mut Rng) -> SteppedConfig {
    use WindowLevel::{Disabled, Experimental, HighlyRestricted, Normal, Restricted};
    let level = rng.pick(&[Disabled, HighlyRestricted, Restricted, Normal, Experimental]);
    SteppedConfig {
        // At least three units of the field, or it would say "closed" too often.
        initial: rng.scale(600.max(3 << level.shift().unwrap_or(0)), 65_535) as u32,
        level,
        share: Ratio::new(rng.between(1, 4), 4).expect("a share"),
        factor_percent: rng.pick(&[100, 150, 200, 1_000]),
    }
}

/// The largest shift with units of at most a quarter of the buffer.
fn largest_shift(config: &Config) -> u64 {
    u64::from(config.receive.window.initial().ilog2()).saturating_sub(2).min(14)
}

fn options(rng: &mut Rng, config: &mut Config) {
    config.options.sack = rng.pick(&[SackConfig::Offer, SackConfig::Offer, SackConfig::Off]);
    config.options.timestamps = rng.pick(&[TimestampConfig::Offer, TimestampConfig::Answer, TimestampConfig::Off]);
    config.options.window_scale = match rng.below(4) {
        // The level decides the shift.
        _ if matches!(config.receive.window, ReceiveWindowConfig::Stepped(_)) => WindowScaleConfig::FromBuffer,
        0 => WindowScaleConfig::Off,
        // With units near the buffer's size the field could only say "closed".
        1 => WindowScaleConfig::Shift(rng.between(0, largest_shift(config)) as u8),
        _ => WindowScaleConfig::FromBuffer,
    };
    config.options.mss_max = rng.pick(&[None, None, None, Some(536), Some(88)]);
}
