//! The table of all leaves: the one place that ties a dotted path to a field of [`Config`].
//!
//! Kinds stand before what depends on them, groups in the order of the fields; tables show this order.

use crate::groups::{chunks, css, cubic, delay, hystart, ssthresh_base, stepped};
use crate::leaf::{Access, Leaf, Place, Unit};
use base::Duration;
use cc::{
    AvoidanceConfig, CubicConfig, CwndValidation, Detection, FastConvergence, HystartConfig, HystartPpConfig,
    IdleRestart, PacingConfig, RenoConfig, SlowStartConfig, SsthreshBase,
};
use recovery::rtt::{RttGains, RttVariation};
use recovery::tlp::AfterAck;
use recovery::undo::{DsackUndo, Eifel, FrtoDetection};
use recovery::{
    BlockCheck, BlockCheckVariant, DetectorConfig, DsackAdaptation, DupThreshConfig, EarlyAnswer, LimitedTransmit,
    LostRetransmission, PrrBound, PrrConfig, RackConfig, ReductionConfig, TlpConfig,
};
use tcp::config::{
    AckTimer, ChunkRefill, ChunksConfig, CorkConfig, CountedFrom, Discovery, DrsConfig, EcnNegotiation, EcnResponse,
    EcnSynAgain, Farewell, FastOpenClient, FastOpenServer, KeepAliveConfig, MarkBeta, MtuProbing, NagleConfig,
    OpeningErrors, PushConfig, QuickAgain, ReceiveWindowConfig, RetryLimit, SackConfig, SegmenterConfig,
    SendAccounting, SendGrowth, SteppedConfig, SynAckEcho, TimestampConfig, UnsaidMtu, UnsentAck, WindowLevel,
    WindowProbe, WindowRounding, WindowScaleConfig,
};

/// A quantity that always applies, or (`?`) one that depends on the kind of its group.
macro_rules! quantity {
    ($path:literal, $unit:ident, $place:ident, |$c:ident| $field:expr) => {
        quantity!($path, $unit, |$c| Some(Place::$place(&mut $field)))
    };
    ($path:literal, $unit:ident, |$c:ident| $place:expr) => {
        Leaf { path: $path, access: Access::Quantity { unit: Unit::$unit, place: |$c| $place } }
    };
}

/// A choice among variants without data.
macro_rules! choice {
    ($path:literal, |$c:ident| $place:expr, $($word:literal => $variant:path),+) => {
        Leaf {
            path: $path,
            access: Access::Choice {
                words: &[$($word),+],
                get: |$c| {
                    let place = $place?;
                    Some(match place { $($variant => $word),+ })
                },
                set: |$c, word| {
                    let Some(place) = ({ $place }) else { return };
                    $(if word == $word { *place = $variant; })+
                },
            },
        }
    };
}

/// A choice among variants with data, which begin with their defaults.
macro_rules! kind {
    ($path:literal, |$c:ident| $field:expr, $($word:literal => $pattern:pat => $default:expr),+ $(,)?) => {
        Leaf {
            path: $path,
            access: Access::Choice {
                words: &[$($word),+],
                get: |$c| Some(match $field { $($pattern => $word),+ }),
                set: |$c, word| { $(if word == $word { $field = $default; })+ },
            },
        }
    };
}

/// Pacing by the window, when a profile that did not pace is told to: customary margins over `cwnd / srtt`.
const PACING: PacingConfig =
    PacingConfig::Window { slow_start_percent: 200, avoidance_percent: 120, quantum_segments: 2 };

/// The controller answers lost retransmissions, when a profile that left them to its reduction is told so: as many as make
/// a loss by RFC 6675's count are left to chance.
const BY_CONTROLLER: LostRetransmission = LostRetransmission::ByController { beyond_segments: 3 };

/// Every leaf there is.
pub const LEAVES: &[Leaf] = &[
    quantity!("cc.initial_window.segments", Count, U32, |c| c.cc.initial_window.segments),
    quantity!("cc.initial_window.bytes_max", Bytes, MaybeU32, |c| c.cc.initial_window.bytes_max),
    kind!("cc.slow_start.kind", |c| c.cc.slow_start,
        "classic" => SlowStartConfig::Classic(_) => SlowStartConfig::default(),
        "hystart" => SlowStartConfig::Hystart(_) => SlowStartConfig::Hystart(HystartConfig::default()),
        "hystart_pp_css" => SlowStartConfig::HystartPpCss(_) => SlowStartConfig::HystartPpCss(HystartPpConfig::default()),
        "hystart_pp_lss" => SlowStartConfig::HystartPpLss(_) => SlowStartConfig::HystartPpLss(HystartPpConfig::default())),
    quantity!("cc.slow_start.limit_segments", Count, |c| Some(Place::MaybeU32(match &mut c.cc.slow_start {
        SlowStartConfig::Classic(classic) => &mut classic.limit_segments,
        SlowStartConfig::Hystart(hystart) => &mut hystart.limit_segments,
        SlowStartConfig::HystartPpCss(css) => &mut css.limit_segments,
        SlowStartConfig::HystartPpLss(lss) => &mut lss.limit_segments,
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
    quantity!("cc.slow_start.growth_divisor", Count, |c| css(c).map(|css| Place::U8(&mut css.growth_divisor))),
    quantity!("cc.slow_start.rounds", Count, |c| css(c).map(|css| Place::U8(&mut css.rounds))),
    quantity!("cc.slow_start.lss_divisor", Share, |c| match &mut c.cc.slow_start {
        SlowStartConfig::HystartPpLss(lss) => Some(Place::Share(&mut lss.tail.divisor)),
        _ => None,
    }),
    kind!("cc.avoidance.kind", |c| c.cc.avoidance,
        "reno" => AvoidanceConfig::Reno(_) => AvoidanceConfig::Reno(RenoConfig::default()),
        "cubic" => AvoidanceConfig::Cubic(_) => AvoidanceConfig::Cubic(CubicConfig::default())),
    quantity!("cc.avoidance.beta", Share, |c| match &mut c.cc.avoidance {
        AvoidanceConfig::Reno(reno) => Some(Place::Share(&mut reno.beta)),
        AvoidanceConfig::Cubic(cubic) => Some(Place::Share(&mut cubic.beta)),
    }),
    quantity!("cc.avoidance.c", Share, |c| cubic(c).map(|cubic| Place::Share(&mut cubic.c))),
    choice!("cc.avoidance.fast_convergence", |c| cubic(c).map(|cubic| &mut cubic.fast_convergence),
        "off" => FastConvergence::Off, "on" => FastConvergence::On),
    choice!("cc.avoidance.ssthresh_base", |c| Some(ssthresh_base(c)),
        "flight_size" => SsthreshBase::FlightSize, "cwnd" => SsthreshBase::Cwnd),
    kind!("cc.pacing.kind", |c| c.cc.pacing,
        "off" => PacingConfig::Off => PacingConfig::Off, "window" => PacingConfig::Window { .. } => PACING),
    quantity!("cc.pacing.slow_start_percent", Count, |c| match &mut c.cc.pacing {
        PacingConfig::Window { slow_start_percent, .. } => Some(Place::U32(slow_start_percent)),
        PacingConfig::Off => None,
    }),
    quantity!("cc.pacing.avoidance_percent", Count, |c| match &mut c.cc.pacing {
        PacingConfig::Window { avoidance_percent, .. } => Some(Place::U32(avoidance_percent)),
        PacingConfig::Off => None,
    }),
    quantity!("cc.pacing.quantum_segments", Count, |c| match &mut c.cc.pacing {
        PacingConfig::Window { quantum_segments, .. } => Some(Place::U32(quantum_segments)),
        PacingConfig::Off => None,
    }),
    choice!("cc.validation", |c| Some(&mut c.cc.validation),
        "half_used" => CwndValidation::HalfUsed, "packets_out" => CwndValidation::PacketsOut),
    choice!("cc.idle_restart", |c| Some(&mut c.cc.idle_restart),
        "off" => IdleRestart::Off, "halve_per_rto" => IdleRestart::HalvePerRto),
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
    quantity!("rto.granularity", Time, Time, |c| c.rto.granularity),
    quantity!("rtt.min_rtt_window", Time, Time, |c| c.rtt.min_rtt_window),
    choice!("rtt.gains", |c| Some(&mut c.rtt.gains),
        "per_sample" => RttGains::PerSample, "per_round_trip" => RttGains::PerRoundTrip),
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
    quantity!("retries.user_timeout", Time, MaybeTime, |c| c.retries.user_timeout),
    choice!("retries.counted_from", |c| Some(&mut c.retries.counted_from),
        "transmission" => CountedFrom::Transmission, "retransmission" => CountedFrom::Retransmission),
    choice!("retries.farewell", |c| Some(&mut c.retries.farewell),
        "silence" => Farewell::Silence, "reset" => Farewell::Reset),
    kind!("keepalive.kind", |c| c.keepalive,
        "off" => KeepAliveConfig::Off => KeepAliveConfig::Off,
        "on" => KeepAliveConfig::On { .. } => KeepAliveConfig::AFTER_TWO_HOURS),
    quantity!("keepalive.idle", Time, |c| match &mut c.keepalive {
        KeepAliveConfig::On { idle, .. } => Some(Place::Time(idle)),
        KeepAliveConfig::Off => None,
    }),
    quantity!("keepalive.interval", Time, |c| match &mut c.keepalive {
        KeepAliveConfig::On { interval, .. } => Some(Place::Time(interval)),
        KeepAliveConfig::Off => None,
    }),
    quantity!("keepalive.count", Count, |c| match &mut c.keepalive {
        KeepAliveConfig::On { count, .. } => Some(Place::U32(count)),
        KeepAliveConfig::Off => None,
    }),
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
        "octets" => WindowRounding::Octets, "segments" => WindowRounding::Segments,
        "segments_from_syn" => WindowRounding::SegmentsFromSyn),
    quantity!("receive.spare_segments", Count, U32, |c| c.receive.spare_segments),
    quantity!("receive.reassembly_max", Count, MaybeU32, |c| c.receive.reassembly_max),
    quantity!("send.buffer", Bytes, U32, |c| c.send.buffer),
    kind!("send.growth.kind", |c| c.send.growth,
        "fixed" => SendGrowth::Fixed => SendGrowth::Fixed,
        "with_window" => SendGrowth::WithWindow { .. } => SendGrowth::WithWindow { max: 4 << 20 }),
    quantity!("send.growth.max", Bytes, |c| match &mut c.send.growth {
        SendGrowth::WithWindow { max } => Some(Place::U32(max)),
        SendGrowth::Fixed => None,
    }),
    kind!("send.accounting.kind", |c| c.send.accounting,
        "octets" => SendAccounting::Octets => SendAccounting::Octets,
        "chunks" => SendAccounting::Chunks { .. } => SendAccounting::Chunks { head: 640, record: 256 }),
    quantity!("send.accounting.head", Bytes, |c| match &mut c.send.accounting {
        SendAccounting::Chunks { head, .. } => Some(Place::U32(head)),
        SendAccounting::Octets => None,
    }),
    quantity!("send.accounting.record", Bytes, |c| match &mut c.send.accounting {
        SendAccounting::Chunks { record, .. } => Some(Place::U32(record)),
        SendAccounting::Octets => None,
    }),
    quantity!("send.notsent_lowat", Bytes, MaybeU32, |c| c.send.notsent_lowat),
    kind!("send.segmenter.kind", |c| c.send.segmenter,
        "stream" => SegmenterConfig::Stream => SegmenterConfig::Stream,
        "chunks" => SegmenterConfig::Chunks(_) => SegmenterConfig::Chunks(ChunksConfig::default())),
    quantity!("send.segmenter.bytes_max", Bytes, |c| chunks(c).map(|chunks| Place::U32(&mut chunks.bytes_max))),
    quantity!("send.segmenter.win_divisor", Count, |c| chunks(c).map(|chunks| Place::U32(&mut chunks.win_divisor))),
    quantity!("send.segmenter.min_segments", Count, |c| chunks(c).map(|chunks| Place::U32(&mut chunks.min_segments))),
    quantity!("send.segmenter.rtt_halving", Time, |c| chunks(c).map(|chunks| Place::Time(&mut chunks.rtt_halving))),
    choice!("send.segmenter.refill", |c| chunks(c).map(|chunks| &mut chunks.refill),
        "never" => ChunkRefill::Never, "from_next" => ChunkRefill::FromNext),
    choice!("send.push", |c| Some(&mut c.send.push),
        "last_queued" => PushConfig::LastQueued, "writes" => PushConfig::Writes),
    choice!("send.nagle", |c| Some(&mut c.send.nagle),
        "rfc896" => NagleConfig::Rfc896, "minshall" => NagleConfig::Minshall, "off" => NagleConfig::Off),
    choice!("send.cork", |c| Some(&mut c.send.cork), "off" => CorkConfig::Off, "on" => CorkConfig::On),
    quantity!("send.sws_override", Time, Time, |c| c.send.sws_override),
    quantity!("send.persist_max", Time, Time, |c| c.send.persist_max),
    choice!("send.window_probe", |c| Some(&mut c.send.window_probe),
        "octet" => WindowProbe::Octet, "empty" => WindowProbe::Empty),
    choice!("options.sack", |c| Some(&mut c.options.sack), "offer" => SackConfig::Offer, "off" => SackConfig::Off),
    choice!("options.timestamps", |c| Some(&mut c.options.timestamps),
        "offer" => TimestampConfig::Offer, "answer" => TimestampConfig::Answer, "off" => TimestampConfig::Off),
    kind!("options.window_scale.kind", |c| c.options.window_scale,
        "from_buffer" => WindowScaleConfig::FromBuffer => WindowScaleConfig::FromBuffer,
        "shift" => WindowScaleConfig::Shift(_) => WindowScaleConfig::Shift(8),
        "answer" => WindowScaleConfig::Answer => WindowScaleConfig::Answer,
        "off" => WindowScaleConfig::Off => WindowScaleConfig::Off),
    quantity!("options.window_scale.shift", Count, |c| match &mut c.options.window_scale {
        WindowScaleConfig::Shift(shift) => Some(Place::U8(shift)),
        _ => None,
    }),
    quantity!("options.mss_max", Bytes, MaybeU16, |c| c.options.mss_max),
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
    quantity!("fastopen.pending_max", Count, U32, |c| c.fastopen.pending_max),
    kind!("fastopen.pause.kind", |c| c.fastopen.pause,
        "none" => None => None, "after_timeouts" => Some(_) => Some(Duration::from_secs(3600))),
    quantity!("fastopen.pause.first", Time, |c| c.fastopen.pause.as_mut().map(Place::Time)),
    quantity!("timers.granularity", Time, Time, |c| c.timers.granularity),
    quantity!("timers.time_wait", Time, Time, |c| c.timers.time_wait),
    quantity!("timers.fin_wait_2", Time, Time, |c| c.timers.fin_wait_2),
    quantity!("ip.ttl", Count, U8, |c| c.ip.ttl),
    quantity!("ip.dscp", Count, U8, |c| c.ip.dscp),
    choice!("path_mtu.discovery", |c| Some(&mut c.path_mtu.discovery),
        "off" => Discovery::Off, "on" => Discovery::On, "deaf" => Discovery::Deaf),
    quantity!("path_mtu.min_v4", Bytes, U16, |c| c.path_mtu.min_v4),
    choice!("path_mtu.unsaid", |c| Some(&mut c.path_mtu.unsaid),
        "plateau" => UnsaidMtu::Plateau, "least" => UnsaidMtu::Least),
    quantity!("path_mtu.raise_after", Time, Time, |c| c.path_mtu.raise_after),
    choice!("path_mtu.probing", |c| Some(&mut c.path_mtu.probing),
        "off" => MtuProbing::Off, "after_black_hole" => MtuProbing::AfterBlackHole, "always" => MtuProbing::Always),
    quantity!("path_mtu.base_mss", Bytes, U16, |c| c.path_mtu.base_mss),
    quantity!("path_mtu.search_end", Bytes, U16, |c| c.path_mtu.search_end),
    quantity!("path_mtu.search_again", Time, Time, |c| c.path_mtu.search_again),
    quantity!("path_mtu.black_hole_timeouts", Count, U32, |c| c.path_mtu.black_hole_timeouts),
    choice!("icmp.opening", |c| Some(&mut c.icmp.opening), "hard" => OpeningErrors::Hard, "any" => OpeningErrors::Any),
];
