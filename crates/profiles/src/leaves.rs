//! The table of all leaves: the only place that connects a dotted path with a field of [`tcp::Config`].
//!
//! Kinds precede the leaves that depend on them, groups are in the order of the fields; tables show this order.

use crate::forms::{choice, kind, quantity};
use crate::groups::chunks; // variant: chunks
use crate::groups::{bbr3, chunk_costs, css, cubic, delay, hystart, pacing, ssthresh_base, stepped};
use crate::groups::{chirping, compound, exit_window, rapid, search, trains};
use crate::leaf::{Access, Leaf, Place, Unit};
use base::Duration;
use cc::bbr3::{ExtraAckedWindow, MarkMeaning};
use cc::{
    AvoidanceConfig, ControllerConfig, CubicConfig, CwndValidation, Detection, FastConvergence, GrowthCount,
    HystartConfig, HystartPpConfig, IdleRestart, PacedTrain, PacingConfig, RenoConfig, RenoGrowth, SlowStartConfig,
    SsthreshBase, Undone,
};
use cc::{
    ChirpingConfig, CompoundConfig, ExitWindow, Expected, LimitedConfig, PlateauConfig, RapidConfig, RoundTrip,
    SearchConfig, TrainsConfig, Unused,
};
use recovery::rto::MaxBound;
use recovery::rtt::{OvertakingSample, RttGains, RttVariation, SynEcho};
use recovery::tlp::AfterAck;
use recovery::undo::{DsackUndo, Eifel, FrtoDetection};
use recovery::{
    BlockCheck, BlockCheckVariant, DetectorConfig, DsackAdaptation, DupThreshConfig, EarlyAnswer, LimitedTransmit,
    LostRetransmission, PrrBound, PrrConfig, RackConfig, ReductionConfig, RttOf, TlpConfig,
};
use tcp::config::{
    AckTimer, AnnouncedMss, CountedFrom, Discovery, DrsConfig, EcnNegotiation, EcnResponse, EcnSynAgain, Farewell,
    FastOpenClient, FastOpenServer, MarkBeta, MissingTimestamps, MtuProbing, NagleConfig, OpeningErrors, PushConfig,
    QuickAgain, ReceiveWindowConfig, RetryLimit, SackConfig, SendAccounting, SendGrowth, SteppedConfig, SynAckAnswer,
    SynAckEcho, SynCookies, SynData, SynFin, TimeWaitDuplicates, TimeWaitReset, TimeWaitReuse, TimestampConfig,
    UnsaidMtu, UnsentAck, UrgentDelivery, UrgentPointer, WindowLevel, WindowProbe, WindowRounding, WindowScaleConfig,
    WindowShrinking, WrongAck,
};
use tcp::config::{ChunkRefill, ChunksConfig, SegmenterConfig}; // variant: chunks

/// Pacing by the window, when a profile that did not pace is switched to it: RFC 9002's margins and burst (§7.7).
const PACING: PacingConfig =
    PacingConfig::Window { slow_start_percent: 200, avoidance_percent: 125, quantum_segments: 10 };

/// The controller's reaction to lost retransmissions, as the default of a profile that leaves them to its reduction: the number
/// that RFC 6675 counts as a loss is attributed to chance.
const BY_CONTROLLER: LostRetransmission = LostRetransmission::ByController { beyond_segments: 3 };

/// Every leaf there is. What an application sets on its socket (keep-alive, a user timeout, a cork, the size of a buffer that
/// counts frames) has none: it is an option of a connection, and part of no system that a profile describes.
pub const LEAVES: &[Leaf] = &[
    quantity!("cc.initial_window.segments", Count, U32, |c| c.cc.initial_window.segments),
    quantity!("cc.initial_window.bytes_max", Bytes, MaybeU32, |c| c.cc.initial_window.bytes_max),
    kind!("cc.controller.kind", |c| c.cc.controller,
        "loss_based" => ControllerConfig::LossBased => ControllerConfig::LossBased,
        "bbr3" => ControllerConfig::Bbr3(_) => ControllerConfig::Bbr3(Box::default());
        ControllerConfig::Outside(_)),
    quantity!("cc.controller.drain_gain", Share, |c| bbr3(c).map(|bbr3| Place::Share(&mut bbr3.drain_gain))),
    quantity!("cc.controller.down_gain", Share, |c| bbr3(c).map(|bbr3| Place::Share(&mut bbr3.down_gain))),
    quantity!("cc.controller.startup_loss", Share, |c| bbr3(c).map(|bbr3| Place::Share(&mut bbr3.startup_loss))),
    quantity!("cc.controller.startup_loss_ranges", Count, |c| bbr3(c)
        .map(|bbr3| Place::U8(&mut bbr3.startup_loss_ranges))),
    choice!("cc.controller.extra_acked", |c| bbr3(c).map(|bbr3| &mut bbr3.extra_acked),
        "ten_rounds" => ExtraAckedWindow::TenRounds, "twice_five_rounds" => ExtraAckedWindow::TwiceFiveRounds),
    quantity!("cc.controller.extra_acked_max", Time, |c| bbr3(c)
        .map(|bbr3| Place::MaybeTime(&mut bbr3.extra_acked_max))),
    quantity!("cc.controller.probe_rtt_interval", Time, |c| bbr3(c)
        .map(|bbr3| Place::Time(&mut bbr3.probe_rtt_interval))),
    quantity!("cc.controller.min_rtt_window", Time, |c| bbr3(c).map(|bbr3| Place::Time(&mut bbr3.min_rtt_window))),
    quantity!("cc.controller.burst_halving", Time, |c| bbr3(c).map(|bbr3| Place::MaybeTime(&mut bbr3.burst_halving))),
    choice!("cc.controller.marks", |c| bbr3(c).map(|bbr3| &mut bbr3.marks),
        "loss" => MarkMeaning::Loss, "share" => MarkMeaning::Share, "nothing" => MarkMeaning::Nothing),
    kind!("cc.slow_start.kind", |c| c.cc.slow_start,
        "classic" => SlowStartConfig::Classic(_) => SlowStartConfig::default(),
        "hystart" => SlowStartConfig::Hystart(_) => SlowStartConfig::Hystart(HystartConfig::default()),
        "hystart_pp_css" => SlowStartConfig::HystartPpCss(_) => SlowStartConfig::HystartPpCss(HystartPpConfig::default()),
        "hystart_pp_lss" => SlowStartConfig::HystartPpLss(_) => SlowStartConfig::HystartPpLss(HystartPpConfig::default()),
        "search" => SlowStartConfig::Search(SearchConfig { expected: Expected::Sent, .. })
            => SlowStartConfig::Search(SearchConfig::SENT),
        "search_delivered" => SlowStartConfig::Search(SearchConfig { expected: Expected::TwiceDelivered, .. })
            => SlowStartConfig::Search(SearchConfig::DELIVERED),
        "limited" => SlowStartConfig::Limited(_) => SlowStartConfig::Limited(LimitedConfig::default()),
        "plateau" => SlowStartConfig::Plateau(_) => SlowStartConfig::Plateau(PlateauConfig::default()),
        "rapid" => SlowStartConfig::Rapid(_) => SlowStartConfig::Rapid(RapidConfig::default()),
        "chirping" => SlowStartConfig::Chirping(_) => SlowStartConfig::Chirping(ChirpingConfig::default()),
        "trains" => SlowStartConfig::Trains(_) => SlowStartConfig::Trains(TrainsConfig::default())),
    quantity!("cc.slow_start.limit_segments", Count, |c| Some(Place::MaybeU32(match &mut c.cc.slow_start {
        SlowStartConfig::Classic(classic) => &mut classic.limit_segments,
        SlowStartConfig::Hystart(hystart) => &mut hystart.limit_segments,
        SlowStartConfig::HystartPpCss(css) => &mut css.limit_segments,
        SlowStartConfig::HystartPpLss(lss) => &mut lss.limit_segments,
        SlowStartConfig::Search(search) => &mut search.limit_segments,
        SlowStartConfig::Limited(limited) => &mut limited.limit_segments,
        SlowStartConfig::Plateau(plateau) => &mut plateau.limit_segments,
        SlowStartConfig::Rapid(rapid) => &mut rapid.limit_segments,
        SlowStartConfig::Chirping(chirping) => &mut chirping.limit_segments,
        SlowStartConfig::Trains(trains) => &mut trains.limit_segments,
    }))),
    quantity!("cc.slow_start.low_window_segments", Count, |c| match &mut c.cc.slow_start {
        SlowStartConfig::Hystart(hystart) => Some(Place::U32(&mut hystart.low_window_segments)),
        SlowStartConfig::HystartPpLss(lss) => Some(Place::U32(&mut lss.tail.low_window_segments)),
        _ => None,
    }),
    quantity!("cc.slow_start.min_eta", Time, |c| delay(c).map(|delay| Place::Time(&mut delay.min_eta))),
    quantity!("cc.slow_start.max_eta", Time, |c| delay(c).map(|delay| Place::Time(&mut delay.max_eta))),
    quantity!("cc.slow_start.eta_divisor", Count, |c| delay(c).map(|delay| Place::U8(&mut delay.eta_divisor))),
    quantity!("cc.slow_start.rtt_samples", Count, |c| delay(c).map(|delay| Place::U8(&mut delay.rtt_samples))),
    choice!("cc.slow_start.delay_increase", |c| hystart(c).map(|hystart| &mut hystart.delay_increase),
        "off" => Detection::Off, "on" => Detection::On),
    choice!("cc.slow_start.ack_train", |c| hystart(c).map(|hystart| &mut hystart.ack_train),
        "off" => Detection::Off, "on" => Detection::On),
    quantity!("cc.slow_start.ack_delta", Time, |c| hystart(c).map(|hystart| Place::Time(&mut hystart.ack_delta))),
    choice!("cc.slow_start.paced_train", |c| hystart(c).map(|hystart| &mut hystart.paced_train),
        "whole_rtt" => PacedTrain::WholeRtt, "stretched" => PacedTrain::Stretched),
    quantity!("cc.slow_start.train_exit_percent", Count, |c| hystart(c)
        .map(|hystart| Place::U8(&mut hystart.train_exit_percent))),
    quantity!("cc.slow_start.unjudged_rounds", Count, |c| hystart(c)
        .map(|hystart| Place::U8(&mut hystart.unjudged_rounds))),
    quantity!("cc.slow_start.growth_divisor", Count, |c| css(c).map(|css| Place::U8(&mut css.growth_divisor))),
    quantity!("cc.slow_start.rounds", Count, |c| css(c).map(|css| Place::U8(&mut css.rounds))),
    quantity!("cc.slow_start.lss_divisor", Share, |c| match &mut c.cc.slow_start {
        SlowStartConfig::HystartPpLss(lss) => Some(Place::Share(&mut lss.tail.divisor)),
        _ => None,
    }),
    quantity!("cc.slow_start.threshold", Share, |c| search(c).map(|search| Place::Share(&mut search.threshold))),
    quantity!("cc.slow_start.window_percent", Count, |c| search(c)
        .map(|search| Place::U32(&mut search.window_percent))),
    choice!("cc.slow_start.unused", |c| search(c).map(|search| &mut search.unused),
        "measured" => Unused::Measured, "starts_over" => Unused::StartsOver),
    quantity!("cc.slow_start.doubling_segments", Count, |c| match &mut c.cc.slow_start {
        SlowStartConfig::Limited(limited) => Some(Place::U32(&mut limited.doubling_segments)),
        _ => None,
    }),
    quantity!("cc.slow_start.bdp_percent", Count, |c| match &mut c.cc.slow_start {
        SlowStartConfig::Plateau(plateau) => Some(Place::U32(&mut plateau.bdp_percent)),
        _ => None,
    }),
    quantity!("cc.slow_start.first_flight_segments", Count, |c| rapid(c)
        .map(|rapid| Place::U32(&mut rapid.first_flight_segments))),
    quantity!("cc.slow_start.queue_delay", Time, |c| rapid(c).map(|rapid| Place::Time(&mut rapid.queue_delay))),
    quantity!("cc.slow_start.queue_percent", Count, |c| rapid(c).map(|rapid| Place::U32(&mut rapid.queue_percent))),
    quantity!("cc.slow_start.recovery_share", Share, |c| rapid(c).map(|rapid| Place::Share(&mut rapid.recovery_share))),
    quantity!("cc.slow_start.first_gap", Time, |c| chirping(c).map(|chirping| Place::Time(&mut chirping.first_gap))),
    quantity!("cc.slow_start.gap_min", Time, |c| chirping(c).map(|chirping| Place::Time(&mut chirping.gap_min))),
    quantity!("cc.slow_start.gap_max", Time, |c| chirping(c).map(|chirping| Place::Time(&mut chirping.gap_max))),
    quantity!("cc.slow_start.geometry_percent", Count, |c| chirping(c)
        .map(|chirping| Place::U32(&mut chirping.geometry_percent))),
    quantity!("cc.slow_start.gain_percent", Count, |c| chirping(c)
        .map(|chirping| Place::U32(&mut chirping.gain_percent))),
    quantity!("cc.slow_start.growth_percent", Count, |c| trains(c)
        .map(|trains| Place::U32(&mut trains.growth_percent))),
    quantity!("cc.slow_start.stretch_divisor", Count, |c| trains(c)
        .map(|trains| Place::U32(&mut trains.stretch_divisor))),
    choice!("cc.slow_start.exit_window", |c| exit_window(c),
        "drained" => ExitWindow::Drained, "kept" => ExitWindow::Kept),
    kind!("cc.avoidance.kind", |c| c.cc.avoidance,
        "reno" => AvoidanceConfig::Reno(_) => AvoidanceConfig::Reno(RenoConfig::default()),
        "cubic" => AvoidanceConfig::Cubic(_) => AvoidanceConfig::Cubic(CubicConfig::default()),
        "compound" => AvoidanceConfig::Compound(_) => AvoidanceConfig::Compound(CompoundConfig::default())),
    quantity!("cc.avoidance.beta", Share, |c| match &mut c.cc.avoidance {
        AvoidanceConfig::Reno(reno) => Some(Place::Share(&mut reno.beta)),
        AvoidanceConfig::Cubic(cubic) => Some(Place::Share(&mut cubic.beta)),
        AvoidanceConfig::Compound(compound) => Some(Place::Share(&mut compound.beta)),
    }),
    quantity!("cc.avoidance.c", Share, |c| cubic(c).map(|cubic| Place::Share(&mut cubic.c))),
    choice!("cc.avoidance.fast_convergence", |c| cubic(c).map(|cubic| &mut cubic.fast_convergence),
        "off" => FastConvergence::Off, "on" => FastConvergence::On),
    choice!("cc.avoidance.undone", |c| cubic(c).map(|cubic| &mut cubic.undone),
        "resumed" => Undone::Resumed, "anew" => Undone::Anew),
    choice!("cc.avoidance.reno_growth", |c| cubic(c).map(|cubic| &mut cubic.reno_growth),
        "one_beyond_prior" => RenoGrowth::OneBeyondPrior, "steady" => RenoGrowth::Steady),
    quantity!("cc.avoidance.blind_divisor", Count, |c| cubic(c).map(|cubic| Place::MaybeU32(&mut cubic.blind_divisor))),
    quantity!("cc.avoidance.alpha", Share, |c| compound(c).map(|compound| Place::Share(&mut compound.alpha))),
    quantity!("cc.avoidance.gamma_gain", Share, |c| compound(c).map(|compound| Place::Share(&mut compound.gamma_gain))),
    quantity!("cc.avoidance.low_window_segments", Count, |c| compound(c)
        .map(|compound| Place::U32(&mut compound.low_window_segments))),
    choice!("cc.avoidance.round_rtt", |c| compound(c).map(|compound| &mut compound.round_rtt),
        "least" => RoundTrip::Least, "mean" => RoundTrip::Mean),
    choice!("cc.avoidance.ssthresh_base", |c| Some(ssthresh_base(c)),
        "flight_size" => SsthreshBase::FlightSize, "cwnd" => SsthreshBase::Cwnd),
    kind!("cc.pacing.kind", |c| c.cc.pacing,
        "off" => PacingConfig::Off => PacingConfig::Off, "window" => PacingConfig::Window { .. } => PACING),
    quantity!("cc.pacing.slow_start_percent", Count, |c| pacing(c).map(|of| Place::U32(of[0]))),
    quantity!("cc.pacing.avoidance_percent", Count, |c| pacing(c).map(|of| Place::U32(of[1]))),
    quantity!("cc.pacing.quantum_segments", Count, |c| pacing(c).map(|of| Place::U32(of[2]))),
    choice!("cc.validation", |c| Some(&mut c.cc.validation),
        "half_used" => CwndValidation::HalfUsed, "packets_out" => CwndValidation::PacketsOut),
    choice!("cc.idle_restart", |c| Some(&mut c.cc.idle_restart),
        "off" => IdleRestart::Off, "initial_window" => IdleRestart::InitialWindow,
        "halve_per_5min" => IdleRestart::HalvePerFiveMinutes, "halve_per_rto" => IdleRestart::HalvePerRto),
    choice!("cc.growth", |c| Some(&mut c.cc.growth),
        "acknowledged" => GrowthCount::Acknowledged, "delivered" => GrowthCount::Delivered),
    kind!("recovery.detector.kind", |c| c.recovery.detector,
        "dup_thresh" => DetectorConfig::DupThresh(_) => DetectorConfig::DupThresh(DupThreshConfig::default()),
        "rack" => DetectorConfig::Rack(_) => DetectorConfig::Rack(RackConfig::default()),
        "rack_ring" => DetectorConfig::RackRing(_) => DetectorConfig::RackRing(Default::default()), // variant: rack_ring
    ),
    quantity!("recovery.detector.dup_thresh", Count, |c| Some(Place::U32(match &mut c.recovery.detector {
        DetectorConfig::DupThresh(config) => &mut config.dup_thresh,
        DetectorConfig::Rack(config) => &mut config.dup_thresh,
        DetectorConfig::RackRing(config) => &mut config.dup_thresh, // variant: rack_ring
    }))),
    choice!("recovery.detector.dsack",
        |c| match &mut c.recovery.detector {
            DetectorConfig::Rack(rack) => Some(&mut rack.dsack),
            _ => None,
        },
        "off" => DsackAdaptation::Off, "on" => DsackAdaptation::On),
    quantity!("recovery.detector.lateness_max_srtts", Count, |c| match &mut c.recovery.detector {
        DetectorConfig::Rack(rack) => Some(Place::U8(&mut rack.lateness_max_srtts)),
        _ => None,
    }),
    choice!("recovery.detector.rtt_of",
        |c| match &mut c.recovery.detector {
            DetectorConfig::Rack(rack) => Some(&mut rack.rtt_of),
            _ => None,
        },
        "newest" => RttOf::Newest, "last_in_sequence" => RttOf::LastInSequence, "newest_in_turn" => RttOf::NewestInTurn),
    choice!("recovery.detector.early_answer",
        |c| match &mut c.recovery.detector {
            DetectorConfig::Rack(rack) => Some(&mut rack.early_answer),
            _ => None,
        },
        "min_rtt" => EarlyAnswer::MinRtt, "min_rtt_less_tick" => EarlyAnswer::MinRttLessTick,
        "half_min_rtt" => EarlyAnswer::HalfMinRtt),
    // variant: rack_ring {
    quantity!("recovery.detector.capacity", Count, |c| match &mut c.recovery.detector {
        DetectorConfig::RackRing(ring) => Some(Place::MaybeU32(&mut ring.capacity)),
        _ => None,
    }),
    // variant: rack_ring }
    kind!("recovery.blocks", |c| c.recovery.blocks,
        "rfc2883" => BlockCheck::Rfc2883 => BlockCheck::Rfc2883,
        // variant: dsack_check_rejected {
        "dsack_check_rejected" => BlockCheck::Variant(BlockCheckVariant::DsackCheckRejected)
            => BlockCheck::Variant(BlockCheckVariant::DsackCheckRejected),
        // variant: dsack_check_rejected }
        // variant: dsack_check_strict_right {
        "dsack_check_strict_right" => BlockCheck::Variant(BlockCheckVariant::DsackCheckStrictRight)
            => BlockCheck::Variant(BlockCheckVariant::DsackCheckStrictRight),
        // variant: dsack_check_strict_right }
    ),
    kind!("recovery.reduction.kind", |c| c.recovery.reduction,
        "pipe" => ReductionConfig::Pipe => ReductionConfig::Pipe,
        "prr" => ReductionConfig::Prr(_) => ReductionConfig::Prr(PrrConfig::default())),
    choice!("recovery.reduction.bound",
        |c| match &mut c.recovery.reduction {
            ReductionConfig::Prr(prr) => Some(&mut prr.bound),
            ReductionConfig::Pipe => None,
        },
        "safe_ack" => PrrBound::SafeAck, "crb" => PrrBound::Crb, "ssrb" => PrrBound::Ssrb),
    kind!("recovery.probe.kind", |c| c.recovery.probe,
        "none" => None => None, "tlp" => Some(_) => Some(TlpConfig::default())),
    quantity!("recovery.probe.max_ack_delay", Time, |c| {
        c.recovery.probe.as_mut().map(|tlp| Place::Time(&mut tlp.max_ack_delay))
    }),
    quantity!("recovery.probe.pto_min", Time, |c| {
        c.recovery.probe.as_mut().map(|tlp| Place::Time(&mut tlp.pto_min))
    }),
    choice!("recovery.probe.after_ack", |c| c.recovery.probe.as_mut().map(|tlp| &mut tlp.after_ack),
        "two_srtt" => AfterAck::TwoSrtt, "one_srtt" => AfterAck::OneSrtt),
    choice!("recovery.undo.dsack", |c| Some(&mut c.recovery.undo.dsack), "off" => DsackUndo::Off, "on" => DsackUndo::On),
    choice!("recovery.undo.eifel", |c| Some(&mut c.recovery.undo.eifel),
        "off" => Eifel::Off, "timestamps" => Eifel::Timestamps, "timestamps_or_rtt" => Eifel::TimestampsOrRtt),
    quantity!("recovery.undo.further_round_trips", Count, |c| Some(Place::U8(
        &mut c.recovery.undo.further_round_trips
    ))),
    choice!("recovery.undo.frto", |c| Some(&mut c.recovery.undo.frto),
        "off" => FrtoDetection::Off, "on" => FrtoDetection::On),
    kind!("recovery.lost_retransmission.kind", |c| c.recovery.lost_retransmission,
        "by_reduction" => LostRetransmission::ByReduction => LostRetransmission::ByReduction,
        "by_controller" => LostRetransmission::ByController { .. } => BY_CONTROLLER),
    quantity!("recovery.lost_retransmission.beyond_segments", Count, |c| match &mut c.recovery.lost_retransmission {
        LostRetransmission::ByController { beyond_segments } => Some(Place::U16(beyond_segments)),
        LostRetransmission::ByReduction => None,
    }),
    choice!("recovery.limited_transmit", |c| Some(&mut c.recovery.limited_transmit),
        "off" => LimitedTransmit::Off, "on" => LimitedTransmit::On),
    quantity!("rto.initial", Time, Time, |c| c.rto.initial),
    quantity!("rto.min", Time, Time, |c| c.rto.min),
    quantity!("rto.max", Time, Time, |c| c.rto.max),
    choice!("rto.max_bound", |c| Some(&mut c.rto.max_bound), "rfc6298" => MaxBound::Rfc6298, "free" => MaxBound::Free),
    quantity!("rto.granularity", Time, Time, |c| c.rto.granularity),
    quantity!("rtt.min_rtt_window", Time, Time, |c| c.rtt.min_rtt_window),
    choice!("rtt.gains", |c| Some(&mut c.rtt.gains),
        "per_sample" => RttGains::PerSample, "per_round_trip" => RttGains::PerRoundTrip),
    choice!("rtt.overtaking", |c| Some(&mut c.rtt.overtaking),
        "taken" => OvertakingSample::Taken, "passed_over" => OvertakingSample::PassedOver),
    choice!("rtt.syn_echo", |c| Some(&mut c.rtt.syn_echo),
        "ignored" => SynEcho::Ignored, "sampled" => SynEcho::Sampled),
    kind!("rtt.variation.kind", |c| c.rtt.variation,
        "smoothed" => RttVariation::Smoothed => RttVariation::Smoothed,
        "round_peak" => RttVariation::RoundPeak { .. } =>
            RttVariation::RoundPeak { floor: Duration::from_millis(200) }),
    quantity!("rtt.variation.floor", Time, |c| match &mut c.rtt.variation {
        RttVariation::RoundPeak { floor } => Some(Place::Time(floor)),
        RttVariation::Smoothed => None,
    }),
    quantity!("retries.data", Count, U32, |c| c.retries.data),
    choice!("retries.limit", |c| Some(&mut c.retries.limit), "count" => RetryLimit::Count, "time" => RetryLimit::Time),
    quantity!("retries.notify", Count, U32, |c| c.retries.notify),
    quantity!("retries.orphan", Count, MaybeU32, |c| c.retries.orphan),
    quantity!("retries.syn", Count, U32, |c| c.retries.syn),
    quantity!("retries.syn_linear", Count, U32, |c| c.retries.syn_linear),
    quantity!("retries.syn_ack", Count, U32, |c| c.retries.syn_ack),
    choice!("retries.counted_from", |c| Some(&mut c.retries.counted_from),
        "transmission" => CountedFrom::Transmission, "retransmission" => CountedFrom::Retransmission),
    choice!("retries.farewell", |c| Some(&mut c.retries.farewell),
        "silence" => Farewell::Silence, "reset" => Farewell::Reset),
    quantity!("retries.refused", Time, MaybeTime, |c| c.retries.refused),
    quantity!("ack.delay", Time, Time, |c| c.ack.delay),
    choice!("ack.timer", |c| Some(&mut c.ack.timer),
        "per_segment" => AckTimer::PerSegment, "heartbeat" => AckTimer::Heartbeat, "adaptive" => AckTimer::Adaptive),
    quantity!("ack.delay_max", Time, Time, |c| c.ack.delay_max),
    quantity!("ack.every_segments", Count, U32, |c| c.ack.every_segments),
    quantity!("ack.quick_segments", Count, U32, |c| c.ack.quick_segments),
    choice!("ack.quick_again", |c| Some(&mut c.ack.quick_again),
        "never" => QuickAgain::Never, "after_idle" => QuickAgain::AfterIdle),
    kind!("receive.window.kind", |c| c.receive.window,
        "fixed" => ReceiveWindowConfig::Fixed { .. } => ReceiveWindowConfig::Fixed { bytes: 65_535 },
        "auto_tuned" => ReceiveWindowConfig::AutoTuned(_) => ReceiveWindowConfig::AutoTuned(DrsConfig::default()),
        "drs" => ReceiveWindowConfig::Drs(_) => ReceiveWindowConfig::Drs(DrsConfig::DEPLOYED),
        "stepped" => ReceiveWindowConfig::Stepped(_) => ReceiveWindowConfig::Stepped(SteppedConfig::default())),
    quantity!("receive.window.bytes", Bytes, |c| match &mut c.receive.window {
        ReceiveWindowConfig::Fixed { bytes } => Some(Place::U32(bytes)),
        _ => None,
    }),
    quantity!("receive.window.initial", Bytes, |c| match &mut c.receive.window {
        ReceiveWindowConfig::Fixed { .. } => None,
        ReceiveWindowConfig::AutoTuned(drs) | ReceiveWindowConfig::Drs(drs) => Some(Place::U32(&mut drs.initial)),
        ReceiveWindowConfig::Stepped(stepped) => Some(Place::U32(&mut stepped.initial)),
    }),
    quantity!("receive.window.max", Bytes, |c| match &mut c.receive.window {
        ReceiveWindowConfig::AutoTuned(drs) | ReceiveWindowConfig::Drs(drs) => Some(Place::U32(&mut drs.max)),
        _ => None,
    }),
    choice!("receive.window.level", |c| stepped(c).map(|stepped| &mut stepped.level),
        "disabled" => WindowLevel::Disabled, "highly_restricted" => WindowLevel::HighlyRestricted,
        "restricted" => WindowLevel::Restricted, "normal" => WindowLevel::Normal,
        "experimental" => WindowLevel::Experimental),
    quantity!("receive.window.share", Share, |c| stepped(c).map(|stepped| Place::Share(&mut stepped.share))),
    quantity!("receive.window.factor_percent", Count, |c| stepped(c)
        .map(|stepped| Place::U32(&mut stepped.factor_percent))),
    choice!("receive.rounding", |c| Some(&mut c.receive.rounding),
        "bytes" => WindowRounding::Bytes, "segments" => WindowRounding::Segments,
        "segments_from_syn" => WindowRounding::SegmentsFromSyn),
    quantity!("receive.spare_segments", Count, U32, |c| c.receive.spare_segments),
    quantity!("receive.reassembly_max", Count, MaybeU32, |c| c.receive.reassembly_max),
    choice!("receive.urgent", |c| Some(&mut c.receive.urgent),
        "in_stream" => UrgentDelivery::InStream, "out_of_band" => UrgentDelivery::OutOfBand),
    choice!("receive.urgent_pointer", |c| Some(&mut c.receive.urgent_pointer),
        "following" => UrgentPointer::Following, "last" => UrgentPointer::Last),
    quantity!("send.buffer", Bytes, U32, |c| c.send.buffer),
    kind!("send.growth.kind", |c| c.send.growth,
        "fixed" => SendGrowth::Fixed => SendGrowth::Fixed,
        "with_window" => SendGrowth::WithWindow { .. } => SendGrowth::WithWindow { max: 4 << 20 }),
    quantity!("send.growth.max", Bytes, |c| match &mut c.send.growth {
        SendGrowth::WithWindow { max } => Some(Place::U32(max)),
        SendGrowth::Fixed => None,
    }),
    kind!("send.accounting.kind", |c| c.send.accounting,
        "bytes" => SendAccounting::Bytes => SendAccounting::Bytes,
        "chunks" => SendAccounting::Chunks { .. } => SendAccounting::Chunks { head: 640, record: 256 }),
    quantity!("send.accounting.head", Bytes, |c| chunk_costs(c).map(|(head, _)| Place::U32(head))),
    quantity!("send.accounting.record", Bytes, |c| chunk_costs(c).map(|(_, record)| Place::U32(record))),
    // variant: chunks {
    kind!("send.segmenter.kind", |c| c.send.segmenter,
        "stream" => SegmenterConfig::Stream => SegmenterConfig::Stream,
        "chunks" => SegmenterConfig::Chunks(_) => SegmenterConfig::Chunks(ChunksConfig::default())),
    quantity!("send.segmenter.bytes_max", Bytes, |c| chunks(c).map(|chunks| Place::U32(&mut chunks.bytes_max))),
    quantity!("send.segmenter.win_divisor", Count, |c| chunks(c).map(|chunks| Place::U32(&mut chunks.win_divisor))),
    quantity!("send.segmenter.min_segments", Count, |c| chunks(c).map(|chunks| Place::U32(&mut chunks.min_segments))),
    quantity!("send.segmenter.rtt_halving", Time, |c| chunks(c).map(|chunks| Place::Time(&mut chunks.rtt_halving))),
    choice!("send.segmenter.refill", |c| chunks(c).map(|chunks| &mut chunks.refill),
        "never" => ChunkRefill::Never, "to_segment" => ChunkRefill::ToSegment, "to_burst" => ChunkRefill::ToBurst),
    // variant: chunks }
    choice!("send.push", |c| Some(&mut c.send.push),
        "last_queued" => PushConfig::LastQueued, "writes" => PushConfig::Writes),
    choice!("send.nagle", |c| Some(&mut c.send.nagle),
        "rfc896" => NagleConfig::Rfc896, "minshall" => NagleConfig::Minshall, "off" => NagleConfig::Off),
    quantity!("send.sws_override", Time, Time, |c| c.send.sws_override),
    quantity!("send.persist_max", Time, Time, |c| c.send.persist_max),
    choice!("send.window_probe", |c| Some(&mut c.send.window_probe),
        "byte" => WindowProbe::Byte, "empty" => WindowProbe::Empty),
    choice!("send.shrinking", |c| Some(&mut c.send.shrinking),
        "taken" => WindowShrinking::Taken, "with_progress" => WindowShrinking::WithProgress),
    choice!("options.sack", |c| Some(&mut c.options.sack),
        "offer" => SackConfig::Offer, "without_duplicates" => SackConfig::WithoutDuplicates, "off" => SackConfig::Off),
    choice!("options.timestamps", |c| Some(&mut c.options.timestamps),
        "offer" => TimestampConfig::Offer, "answer" => TimestampConfig::Answer, "off" => TimestampConfig::Off),
    choice!("options.timestamps_missing", |c| Some(&mut c.options.timestamps_missing),
        "dropped" => MissingTimestamps::Dropped, "accepted" => MissingTimestamps::Accepted),
    kind!("options.window_scale.kind", |c| c.options.window_scale,
        "from_buffer" => WindowScaleConfig::FromBuffer => WindowScaleConfig::FromBuffer,
        "shift" => WindowScaleConfig::Shift(_) => WindowScaleConfig::Shift(8),
        "answer" => WindowScaleConfig::Answer => WindowScaleConfig::Answer,
        "off" => WindowScaleConfig::Off => WindowScaleConfig::Off),
    quantity!("options.window_scale.shift", Count, |c| match &mut c.options.window_scale {
        WindowScaleConfig::Shift(shift) => Some(Place::U8(shift)),
        _ => None,
    }),
    choice!("options.syn_ack_echo", |c| Some(&mut c.options.syn_ack_echo),
        "any" => SynAckEcho::Any, "of_our_syns" => SynAckEcho::OfOurSyns),
    choice!("ecn.negotiation", |c| Some(&mut c.ecn.negotiation),
        "off" => EcnNegotiation::Off, "answer" => EcnNegotiation::Answer, "offer" => EcnNegotiation::Offer),
    choice!("ecn.syn_again", |c| Some(&mut c.ecn.syn_again),
        "plain" => EcnSynAgain::Plain, "same_again" => EcnSynAgain::SameAgain),
    choice!("ecn.response", |c| Some(&mut c.ecn.response),
        "at_once" => EcnResponse::AtOnce, "by_reduction" => EcnResponse::ByReduction),
    kind!("ecn.mark_beta.kind", |c| c.ecn.mark_beta,
        "as_loss" => MarkBeta::AsLoss => MarkBeta::AsLoss, "own" => MarkBeta::Own { .. } => MarkBeta::own()),
    quantity!("ecn.mark_beta.share", Share, |c| match &mut c.ecn.mark_beta {
        MarkBeta::Own { beta } => Some(Place::Share(beta)),
        MarkBeta::AsLoss => None,
    }),
    choice!("handshake.syn_data", |c| Some(&mut c.handshake.syn_data),
        "queued" => SynData::Queued, "ignored" => SynData::Ignored),
    choice!("handshake.wrong_ack", |c| Some(&mut c.handshake.wrong_ack),
        "waits" => WrongAck::Waits, "retries" => WrongAck::Retries),
    choice!("handshake.syn_ack_answer", |c| Some(&mut c.handshake.syn_ack_answer),
        "at_once" => SynAckAnswer::AtOnce, "with_data" => SynAckAnswer::WithData),
    choice!("handshake.syn_fin", |c| Some(&mut c.handshake.syn_fin),
        "answered" => SynFin::Answered, "dropped" => SynFin::Dropped),
    kind!("handshake.cookies", |c| c.handshake.cookies,
        "stack" => None => None,
        "off" => Some(SynCookies::Off) => Some(SynCookies::Off),
        "when_full" => Some(SynCookies::WhenFull) => Some(SynCookies::WhenFull),
        "always" => Some(SynCookies::Always) => Some(SynCookies::Always)),
    quantity!("challenge.limit", Count, U32, |c| c.challenge.limit),
    quantity!("challenge.interval", Time, Time, |c| c.challenge.interval),
    choice!("challenge.unsent_ack", |c| Some(&mut c.challenge.unsent_ack),
        "answered" => UnsentAck::Answered, "ignored_in_established" => UnsentAck::IgnoredInEstablished),
    choice!("fastopen.client", |c| Some(&mut c.fastopen.client),
        "off" => FastOpenClient::Off, "with_cookie" => FastOpenClient::WithCookie,
        "without_cookie" => FastOpenClient::WithoutCookie),
    choice!("fastopen.server", |c| Some(&mut c.fastopen.server),
        "off" => FastOpenServer::Off, "with_cookie" => FastOpenServer::WithCookie,
        "without_cookie" => FastOpenServer::WithoutCookie),
    kind!("fastopen.pause.kind", |c| c.fastopen.pause,
        "none" => None => None, "after_timeouts" => Some(_) => Some(Duration::from_secs(3600))),
    quantity!("fastopen.pause.first", Time, |c| c.fastopen.pause.as_mut().map(Place::Time)),
    quantity!("timers.granularity", Time, Time, |c| c.timers.granularity),
    quantity!("timers.time_wait", Time, Time, |c| c.timers.time_wait),
    choice!("timers.time_wait_reset", |c| Some(&mut c.timers.time_wait_reset),
        "ignored" => TimeWaitReset::Ignored, "ends" => TimeWaitReset::Ends),
    choice!("timers.time_wait_duplicates", |c| Some(&mut c.timers.time_wait_duplicates),
        "reported" => TimeWaitDuplicates::Reported, "unreported" => TimeWaitDuplicates::Unreported),
    kind!("timers.time_wait_reuse.kind", |c| c.timers.time_wait_reuse,
        "never" => TimeWaitReuse::Never => TimeWaitReuse::Never,
        "after" => TimeWaitReuse::After(_) => TimeWaitReuse::After(Duration::from_secs(1))),
    quantity!("timers.time_wait_reuse.wait", Time, |c| match &mut c.timers.time_wait_reuse {
        TimeWaitReuse::After(wait) => Some(Place::Time(wait)),
        TimeWaitReuse::Never => None,
    }),
    quantity!("timers.fin_wait_2", Time, Time, |c| c.timers.fin_wait_2),
    quantity!("ip.ttl", Count, U8, |c| c.ip.ttl),
    choice!("path_mtu.discovery", |c| Some(&mut c.path_mtu.discovery),
        "off" => Discovery::Off, "on" => Discovery::On, "deaf" => Discovery::Deaf),
    quantity!("path_mtu.min_v4", Bytes, U16, |c| c.path_mtu.min_v4),
    choice!("path_mtu.unsaid", |c| Some(&mut c.path_mtu.unsaid),
        "plateau" => UnsaidMtu::Plateau, "least" => UnsaidMtu::Least),
    choice!("path_mtu.announced", |c| Some(&mut c.path_mtu.announced),
        "interface" => AnnouncedMss::Interface, "path" => AnnouncedMss::Path),
    quantity!("path_mtu.raise_after", Time, Time, |c| c.path_mtu.raise_after),
    choice!("path_mtu.probing", |c| Some(&mut c.path_mtu.probing),
        "off" => MtuProbing::Off, "after_black_hole" => MtuProbing::AfterBlackHole, "always" => MtuProbing::Always),
    quantity!("path_mtu.base_mss", Bytes, U16, |c| c.path_mtu.base_mss),
    quantity!("path_mtu.search_end", Bytes, U16, |c| c.path_mtu.search_end),
    quantity!("path_mtu.search_again", Time, Time, |c| c.path_mtu.search_again),
    quantity!("path_mtu.black_hole_timeouts", Count, U32, |c| c.path_mtu.black_hole_timeouts),
    choice!("icmp.opening", |c| Some(&mut c.icmp.opening), "hard" => OpeningErrors::Hard, "any" => OpeningErrors::Any),
];
