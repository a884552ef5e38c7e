//! Configuration leaf by leaf, and one model that every buildable controller must agree with.

use super::*;
use crate::avoidance::SsthreshBase;
use crate::control::{CcPhase, Pacing, Resumption};
use crate::sample::{AckSample, CongestionEvent, EpisodeKind, LossSample, SentSample};
use crate::testing::{ack, lost};
use base::{Duration, Instant, RateSample};
use proptest::prelude::*;
use test_case::test_case;

#[test]
fn the_default_is_ten_segments_classic_cubic_and_no_pacing() {
    let config = CcConfig::default();
    assert_eq!(config.problems(), []);
    let cc = build(&config, 1_460, SeqNum(0));
    assert_eq!((cc.window().cwnd(), cc.snapshot().phase, cc.pacing()), (14_600, CcPhase::SlowStart, None));
    let AvoidanceConfig::Cubic(cubic) = config.avoidance else { panic!("not CUBIC") };
    assert_eq!((cubic.beta.num() * 10, cubic.c.num() * 10), (cubic.beta.den() * 7, cubic.c.den() * 4));
}

//= specs/rfc9406.md#rounds
//= type=test
//# A round ends when the SND.NXT of its beginning is acknowledged, and the next one begins.
/// A first round that began with a SACK before any data was acknowledged would take the SACK's round trip for its own minimum,
/// and miss that those of the flight are twice as long.
#[test_case(SlowStartConfig::Hystart(HystartConfig::default()); "HyStart")]
#[test_case(SlowStartConfig::HystartPpCss(HystartPpConfig::default()); "HyStart++")]
#[test_case(SlowStartConfig::HystartPpLss(HystartPpConfig::default()); "HyStart++ with limited slow start")]
fn the_first_round_begins_with_the_first_ack_of_data(slow_start: SlowStartConfig) {
    let initial_window = InitialWindow::plain(20);
    let mut cc = build(&CcConfig { slow_start, initial_window, ..CcConfig::default() }, 1_000, SeqNum(0));
    let mut on_ack = |acked: u32, rtt_ms: u64| {
        let rtt = Some(Duration::from_millis(rtt_ms));
        let min_rtt = Some(Duration::from_millis(100));
        let (snd_una, snd_nxt) = (SeqNum(1 + acked), SeqNum(20_001 + 2 * acked));
        let bytes = acked.min(1_000);
        let sample = ack(u64::from(acked) / 100, bytes);
        cc.on_ack(&AckSample { snd_una, snd_nxt, rtt, min_rtt, ..sample });
        cc.snapshot().phase
    };
    assert_eq!(on_ack(0, 100), CcPhase::SlowStart);
    let phases: Vec<_> = (1..=8).map(|segment| on_ack(1_000 * segment, 200)).collect();
    assert_eq!(phases[..7], [CcPhase::SlowStart; 7]);
    assert_ne!(phases[7], CcPhase::SlowStart, "eight samples are enough");
}

fn fraction(num: u64, den: u64) -> Ratio {
    Ratio::new(num, den).expect("a fraction")
}

fn with_cubic(change: impl FnOnce(&mut CubicConfig)) -> CcConfig {
    let mut cubic = CubicConfig::default();
    change(&mut cubic);
    CcConfig { avoidance: AvoidanceConfig::Cubic(cubic), ..CcConfig::default() }
}

fn with_slow_start(slow_start: SlowStartConfig) -> CcConfig {
    CcConfig { slow_start, ..CcConfig::default() }
}

fn with_hystart(change: impl FnOnce(&mut HystartConfig)) -> CcConfig {
    let mut hystart = HystartConfig::default();
    change(&mut hystart);
    with_slow_start(SlowStartConfig::Hystart(hystart))
}

fn with_css(change: impl FnOnce(&mut HystartPpConfig<CssConfig>)) -> CcConfig {
    let mut css = HystartPpConfig::<CssConfig>::default();
    change(&mut css);
    with_slow_start(SlowStartConfig::HystartPpCss(css))
}

fn with_lss(change: impl FnOnce(&mut HystartPpConfig<LssConfig>)) -> CcConfig {
    let mut lss = HystartPpConfig::<LssConfig>::default();
    change(&mut lss);
    with_slow_start(SlowStartConfig::HystartPpLss(lss))
}

fn with_search(change: impl FnOnce(&mut SearchConfig)) -> CcConfig {
    let mut search = SearchConfig::SENT;
    change(&mut search);
    with_slow_start(SlowStartConfig::Search(search))
}

fn with_rapid(change: impl FnOnce(&mut RapidConfig)) -> CcConfig {
    let mut rapid = RapidConfig::default();
    change(&mut rapid);
    with_slow_start(SlowStartConfig::Rapid(rapid))
}

fn with_chirping(change: impl FnOnce(&mut ChirpingConfig)) -> CcConfig {
    let mut chirping = ChirpingConfig::default();
    change(&mut chirping);
    with_slow_start(SlowStartConfig::Chirping(chirping))
}

fn with_trains(change: impl FnOnce(&mut TrainsConfig)) -> CcConfig {
    let mut trains = TrainsConfig::default();
    change(&mut trains);
    with_slow_start(SlowStartConfig::Trains(trains))
}

fn with_compound(change: impl FnOnce(&mut CompoundConfig)) -> CcConfig {
    let mut compound = CompoundConfig::default();
    change(&mut compound);
    CcConfig { avoidance: AvoidanceConfig::Compound(compound), ..CcConfig::default() }
}

fn with_resume(cwnd: Bytes, ms: u64) -> CcConfig {
    CcConfig { resume: Some(SavedPath { cwnd, rtt: Duration::from_millis(ms) }), ..CcConfig::default() }
}

fn with_plateau(bdp_percent: u32) -> CcConfig {
    with_slow_start(SlowStartConfig::Plateau(PlateauConfig { bdp_percent, ..PlateauConfig::default() }))
}

fn with_bbr3(change: impl FnOnce(&mut Bbr3Config)) -> CcConfig {
    let mut bbr3 = Bbr3Config::default();
    change(&mut bbr3);
    CcConfig { controller: ControllerConfig::Bbr3(Box::new(bbr3)), ..CcConfig::default() }
}

fn with_pacing(slow_start_percent: u32, avoidance_percent: u32, quantum_segments: u32) -> CcConfig {
    let pacing = PacingConfig::Window { slow_start_percent, avoidance_percent, quantum_segments };
    CcConfig { pacing, ..CcConfig::default() }
}

//= specs/rfc9406.md#conservative-slow-start
//= type=test
//# The divisor of growth in CSS is at least 2.
#[test_case(CcConfig { initial_window: InitialWindow::plain(0), ..CcConfig::default() }, "cc.initial_window.segments")]
#[test_case(
    CcConfig { initial_window: InitialWindow { segments: 1, bytes_max: Some(0) }, ..CcConfig::default() },
    "cc.initial_window.bytes_max"
)]
#[test_case(with_search(|search| search.threshold = fraction(1, 1)), "cc.slow_start.threshold")]
#[test_case(with_search(|search| search.threshold = Ratio::ZERO), "cc.slow_start.threshold"; "no threshold")]
#[test_case(with_search(|search| search.window_percent = 99), "cc.slow_start.window_percent")]
#[test_case(with_search(|search| search.window_percent = 1_001), "cc.slow_start.window_percent"; "a long window")]
#[test_case(with_search(|search| search.limit_segments = Some(0)), "cc.slow_start.limit_segments"; "SEARCH without growth")]
#[test_case(
    with_slow_start(SlowStartConfig::Limited(LimitedConfig { doubling_segments: 1, ..LimitedConfig::default() })),
    "cc.slow_start.doubling_segments"
)]
#[test_case(with_trains(|trains| trains.growth_percent = 49), "cc.slow_start.growth_percent")]
#[test_case(with_trains(|trains| trains.growth_percent = 401), "cc.slow_start.growth_percent")]
#[test_case(with_rapid(|rapid| rapid.first_flight_segments = 0), "cc.slow_start.first_flight_segments")]
#[test_case(with_rapid(|rapid| rapid.queue_delay = Duration::ZERO), "cc.slow_start.queue_delay")]
#[test_case(with_rapid(|rapid| rapid.queue_percent = 99), "cc.slow_start.queue_percent")]
#[test_case(with_rapid(|rapid| rapid.recovery_share = fraction(1, 1)), "cc.slow_start.recovery_share")]
#[test_case(with_chirping(|chirping| chirping.first_gap = Duration::from_micros(29)), "cc.slow_start.first_gap")]
#[test_case(with_chirping(|chirping| chirping.gap_min = Duration::ZERO), "cc.slow_start.gap_min")]
#[test_case(with_chirping(|chirping| chirping.gap_max = Duration::from_secs(2)), "cc.slow_start.gap_max")]
#[test_case(with_chirping(|chirping| chirping.geometry_percent = 100), "cc.slow_start.geometry_percent"; "equal gaps")]
#[test_case(with_chirping(|chirping| chirping.geometry_percent = 301), "cc.slow_start.geometry_percent")]
#[test_case(with_chirping(|chirping| chirping.gain_percent = 100), "cc.slow_start.gain_percent"; "no faster rounds")]
#[test_case(with_chirping(|chirping| chirping.gain_percent = 401), "cc.slow_start.gain_percent")]
#[test_case(with_compound(|compound| compound.beta = Ratio::ZERO), "cc.avoidance.beta"; "Compound leaves nothing")]
#[test_case(with_compound(|compound| compound.alpha = fraction(1, 1)), "cc.avoidance.alpha")]
#[test_case(with_compound(|compound| compound.gamma_gain = Ratio::ZERO), "cc.avoidance.gamma_gain")]
#[test_case(with_compound(|compound| compound.low_window_segments = 1), "cc.avoidance.low_window_segments")]
#[test_case(with_resume(0, 1), "cc.resume"; "nothing to resume")]
#[test_case(with_resume(1, 0), "cc.resume"; "no round trip")]
#[test_case(with_plateau(199), "cc.slow_start.bdp_percent")]
#[test_case(with_plateau(1_001), "cc.slow_start.bdp_percent"; "a bound beyond all paths")]
#[test_case(
    CcConfig { slow_start: SlowStartConfig::Classic(ClassicConfig { limit_segments: Some(0) }), ..CcConfig::default() },
    "cc.slow_start.limit_segments"
)]
#[test_case(with_hystart(|c| c.limit_segments = Some(0)), "cc.slow_start.limit_segments"; "hystart without growth")]
#[test_case(with_css(|c| c.limit_segments = Some(0)), "cc.slow_start.limit_segments"; "css without growth")]
#[test_case(with_lss(|c| c.limit_segments = Some(0)), "cc.slow_start.limit_segments"; "lss without growth")]
#[test_case(with_hystart(|c| c.low_window_segments = 1), "cc.slow_start.low_window_segments"; "hystart at one segment")]
#[test_case(with_lss(|c| c.tail.low_window_segments = 1), "cc.slow_start.low_window_segments"; "lss at one segment")]
#[test_case(with_hystart(|c| c.ack_delta = Duration::ZERO), "cc.slow_start.ack_delta")]
#[test_case(with_cubic(|c| c.blind_divisor = Some(0)), "cc.avoidance.blind_divisor"; "growth without bound")]
#[test_case(with_cubic(|c| c.blind_divisor = Some(101)), "cc.avoidance.blind_divisor"; "hardly any growth")]
#[test_case(with_hystart(|c| c.train_exit_percent = 99), "cc.slow_start.train_exit_percent")]
#[test_case(with_hystart(|c| c.delay.eta_divisor = 0), "cc.slow_start.eta_divisor")]
#[test_case(with_css(|c| c.delay.min_eta = Duration::ZERO), "cc.slow_start.min_eta"; "no margin")]
#[test_case(with_css(|c| c.delay.max_eta = Duration::from_millis(3)), "cc.slow_start.max_eta"; "below the least margin")]
#[test_case(with_css(|c| c.delay.max_eta = Duration::MAX), "cc.slow_start.max_eta"; "beyond all margins")]
#[test_case(with_lss(|c| c.delay.rtt_samples = 0), "cc.slow_start.rtt_samples")]
#[test_case(with_css(|c| c.tail.growth_divisor = 1), "cc.slow_start.growth_divisor")]
#[test_case(with_css(|c| c.tail.rounds = 0), "cc.slow_start.rounds")]
#[test_case(with_lss(|c| c.tail.divisor = Ratio::ZERO), "cc.slow_start.lss_divisor"; "no growth at all")]
#[test_case(with_lss(|c| c.tail.divisor = fraction(1, u64::MAX)), "cc.slow_start.lss_divisor"; "too fine a share")]
#[test_case(
    CcConfig {
        avoidance: AvoidanceConfig::Reno(RenoConfig { beta: Ratio::ONE, ..RenoConfig::default() }),
        ..CcConfig::default()
    },
    "cc.avoidance.beta";
    "reno that never reduces"
)]
#[test_case(with_cubic(|c| c.beta = Ratio::ZERO), "cc.avoidance.beta"; "nothing remains")]
#[test_case(with_cubic(|c| c.beta = Ratio::ONE), "cc.avoidance.beta"; "all remains")]
#[test_case(with_cubic(|c| c.beta = fraction(1, u64::MAX)), "cc.avoidance.beta"; "too fine a beta")]
#[test_case(with_cubic(|c| c.c = Ratio::ZERO), "cc.avoidance.c"; "a flat cubic")]
#[test_case(with_cubic(|c| c.c = fraction(1, 1_001)), "cc.avoidance.c"; "an almost flat cubic")]
#[test_case(with_bbr3(|c| c.drain_gain = Ratio::ZERO), "cc.controller.drain_gain"; "nothing leaves in Drain")]
#[test_case(with_bbr3(|c| c.drain_gain = fraction(1, u64::MAX)), "cc.controller.drain_gain"; "too fine a gain")]
#[test_case(with_bbr3(|c| c.down_gain = fraction(1, 21)), "cc.controller.down_gain"; "hardly anything leaves in Down")]
#[test_case(with_bbr3(|c| c.startup_loss = Ratio::ZERO), "cc.controller.startup_loss"; "any loss is too much")]
#[test_case(with_bbr3(|c| c.startup_loss_ranges = 0), "cc.controller.startup_loss_ranges"; "no loss is too much")]
#[test_case(with_bbr3(|c| c.probe_rtt_interval = Duration::ZERO), "cc.controller.probe_rtt_interval")]
#[test_case(with_bbr3(|c| c.min_rtt_window = Duration::MAX), "cc.controller.min_rtt_window")]
#[test_case(with_bbr3(|c| c.extra_acked_max = Some(Duration::ZERO)), "cc.controller.extra_acked_max")]
#[test_case(with_bbr3(|c| c.burst_halving = Some(Duration::ZERO)), "cc.controller.burst_halving")]
#[test_case(with_pacing(49, 100, 1), "cc.pacing.slow_start_percent")]
#[test_case(with_pacing(100, 1_001, 1), "cc.pacing.avoidance_percent")]
#[test_case(with_pacing(100, 100, 0), "cc.pacing.quantum_segments")]
fn a_leaf_out_of_bounds_is_named(config: CcConfig, path: &str) {
    let paths: Vec<&str> = config.problems().into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, [path]);
}

#[test]
fn every_problem_is_listed_at_once() {
    let config = CcConfig { initial_window: InitialWindow::plain(0), ..with_pacing(0, 0, 0) };
    assert_eq!(config.problems().len(), 4);
}

#[test]
#[should_panic(expected = "cc.avoidance.c")]
fn building_what_was_never_validated_is_a_programming_error() {
    build(&with_cubic(|c| c.c = Ratio::ZERO), 1_460, SeqNum(0));
}

fn any_beta() -> impl Strategy<Value = Ratio> {
    (1..1_000_u64).prop_map(|num| fraction(num, 1_000))
}

fn any_base() -> impl Strategy<Value = SsthreshBase> {
    prop_oneof![Just(SsthreshBase::FlightSize), Just(SsthreshBase::Cwnd)]
}

fn any_avoidance() -> impl Strategy<Value = AvoidanceConfig> {
    let reno = (any_beta(), any_base())
        .prop_map(|(beta, ssthresh_base)| AvoidanceConfig::Reno(RenoConfig { beta, ssthresh_base }));
    let convergence = prop_oneof![Just(FastConvergence::On), Just(FastConvergence::Off)];
    let undone = prop_oneof![Just(Undone::Resumed), Just(Undone::Anew)];
    let growth = prop_oneof![Just(RenoGrowth::OneBeyondPrior), Just(RenoGrowth::Steady)];
    let choices = (convergence, any_base(), undone, growth, proptest::option::of(1..=100_u32));
    let cubic = (any_beta(), 1..=1_000_u64, choices).prop_map(|(beta, c, choices)| {
        let (fast_convergence, ssthresh_base, undone, reno_growth, blind_divisor) = choices;
        let c = fraction(c, 1_000);
        AvoidanceConfig::Cubic(CubicConfig {
            beta,
            c,
            fast_convergence,
            ssthresh_base,
            undone,
            reno_growth,
            blind_divisor,
        })
    });
    let round_rtt = prop_oneof![Just(RoundTrip::Least), Just(RoundTrip::Mean)];
    let compound = (any_beta(), any_base(), any_beta(), any_beta(), 2..100_u32, round_rtt).prop_map(
        |(beta, ssthresh_base, alpha, gamma_gain, low_window_segments, round_rtt)| {
            AvoidanceConfig::Compound(CompoundConfig {
                beta,
                ssthresh_base,
                alpha,
                gamma_gain,
                low_window_segments,
                round_rtt,
            })
        },
    );
    prop_oneof![reno, cubic, compound, Just(AvoidanceConfig::default())]
}

fn any_detection() -> impl Strategy<Value = Detection> {
    prop_oneof![Just(Detection::Off), Just(Detection::On)]
}

fn any_paced_train() -> impl Strategy<Value = PacedTrain> {
    prop_oneof![Just(PacedTrain::WholeRtt), Just(PacedTrain::Stretched)]
}

prop_compose! {
    fn any_delay()(min_us in 1..10_000_u64, more_us in 0..10_000_u64, eta_divisor in 1..=u8::MAX, rtt_samples in 1..=10_u8)
        -> DelayIncreaseConfig
    {
        let (min_eta, max_eta) = (Duration::from_micros(min_us), Duration::from_micros(min_us + more_us));
        DelayIncreaseConfig { min_eta, max_eta, eta_divisor, rtt_samples }
    }
}

fn any_slow_start() -> impl Strategy<Value = SlowStartConfig> {
    fn any_limit() -> impl Strategy<Value = Option<u32>> {
        proptest::option::of(prop_oneof![1..=16_u32, any::<u32>().prop_map(|limit| limit.max(1))])
    }
    let classic = any_limit().prop_map(|limit_segments| SlowStartConfig::Classic(ClassicConfig { limit_segments }));
    let train = (any_detection(), any_paced_train(), 1..10_000_u64, 100..=u8::MAX, any::<u8>());
    let hystart = (any_limit(), 2..20_u32, any_delay(), any_detection(), train).prop_map(
        |(
            limit_segments,
            low_window_segments,
            delay,
            delay_increase,
            (ack_train, paced_train, delta_us, train_exit_percent, unjudged_rounds),
        )| {
            let ack_delta = Duration::from_micros(delta_us);
            SlowStartConfig::Hystart(HystartConfig {
                limit_segments,
                low_window_segments,
                delay,
                delay_increase,
                ack_train,
                ack_delta,
                paced_train,
                train_exit_percent,
                unjudged_rounds,
            })
        },
    );
    let css = (any_limit(), any_delay(), 2..=u8::MAX, 1..=6_u8).prop_map(
        |(limit_segments, delay, growth_divisor, rounds)| {
            let tail = CssConfig { growth_divisor, rounds };
            SlowStartConfig::HystartPpCss(HystartPpConfig { limit_segments, delay, tail })
        },
    );
    let lss =
        (any_limit(), any_delay(), 2..20_u32, 1..=1_000_u64).prop_map(|(limit_segments, delay, low, per_mille)| {
            let tail = LssConfig { low_window_segments: low, divisor: fraction(per_mille, 1_000) };
            SlowStartConfig::HystartPpLss(HystartPpConfig { limit_segments, delay, tail })
        });
    let search = (any_limit(), any_expected(), 1..1_000_u64, 100..=1_000_u32, any_unused(), any_exit()).prop_map(
        |(limit_segments, expected, per_mille, window_percent, unused, exit)| {
            let threshold = fraction(per_mille, 1_000);
            SlowStartConfig::Search(SearchConfig { limit_segments, expected, threshold, window_percent, unused, exit })
        },
    );
    let limited = (any_limit(), 2..1_000_u32).prop_map(|(limit_segments, doubling_segments)| {
        SlowStartConfig::Limited(LimitedConfig { limit_segments, doubling_segments })
    });
    let plateau = (any_limit(), 200..=1_000_u32, any_exit()).prop_map(|(limit_segments, bdp_percent, exit)| {
        SlowStartConfig::Plateau(PlateauConfig { limit_segments, bdp_percent, exit })
    });
    let rapid = (any_limit(), 1..=1_000_u32, 1..50_000_u64, 100..=1_000_u32, 1..1_000_u64).prop_map(
        |(limit_segments, first_flight_segments, delay_us, queue_percent, per_mille)| {
            let (queue_delay, recovery_share) = (Duration::from_micros(delay_us), fraction(per_mille, 1_000));
            SlowStartConfig::Rapid(RapidConfig {
                limit_segments,
                first_flight_segments,
                queue_delay,
                queue_percent,
                recovery_share,
            })
        },
    );
    prop_oneof![classic, hystart, css, lss, search, limited, plateau, rapid, any_chirping(), any_trains()]
}

fn any_trains() -> impl Strategy<Value = SlowStartConfig> {
    (50..=400_u32).prop_map(|growth_percent| SlowStartConfig::Trains(TrainsConfig { growth_percent }))
}

fn any_chirping() -> impl Strategy<Value = SlowStartConfig> {
    (prop::option::of(1..20_u32), 0..=100_u64, 1..=1_000_u64, 101..=300_u32, 101..=400_u32).prop_map(
        |(limit_segments, percent, gap_us, geometry_percent, gain_percent)| {
            let (gap_min, gap_max) = (Duration::from_micros(gap_us), Duration::from_micros(gap_us * 2));
            let first_gap = gap_min + gap_min.scale(percent, 100);
            SlowStartConfig::Chirping(ChirpingConfig {
                limit_segments,
                first_gap,
                gap_min,
                gap_max,
                geometry_percent,
                gain_percent,
            })
        },
    )
}

fn any_expected() -> impl Strategy<Value = Expected> {
    prop_oneof![Just(Expected::Sent), Just(Expected::TwiceDelivered)]
}

fn any_unused() -> impl Strategy<Value = Unused> {
    prop_oneof![Just(Unused::Measured), Just(Unused::StartsOver)]
}

fn any_exit() -> impl Strategy<Value = ExitWindow> {
    prop_oneof![Just(ExitWindow::Drained), Just(ExitWindow::Kept)]
}

prop_compose! {
    fn any_config()(
        segments in 1..=1_000_u32,
        bytes_max in proptest::option::of(1..=1_000_000_u32),
        slow_start in any_slow_start(),
        avoidance in any_avoidance(),
        pacing in prop_oneof![
            Just(PacingConfig::Off),
            (50..=1_000_u32, 50..=1_000_u32, 1..=64_u32).prop_map(|(slow_start_percent, avoidance_percent, quantum_segments)| {
                PacingConfig::Window { slow_start_percent, avoidance_percent, quantum_segments }
            }),
        ],
        resume in proptest::option::of((1..10_000_000_u32, 1..200_000_u64)),
    ) -> CcConfig {
        CcConfig {
            resume: resume.map(|(cwnd, us)| SavedPath { cwnd, rtt: Duration::from_micros(us) }),
            initial_window: InitialWindow { segments, bytes_max },
            slow_start,
            avoidance,
            pacing,
            ..CcConfig::default()
        }
    }
}

/// One event for a controller.
#[derive(Clone, Debug)]
enum Operation {
    Ack {
        wait: Duration,
        acked: Bytes,
        rtt: Option<Duration>,
        episode: EpisodeKind,
        cwnd_limited: bool,
    },
    /// A whole window of segments, each acknowledged on its own, all with this round trip.
    Round {
        rtt: Duration,
        cwnd_limited: bool,
    },
    Congestion(CongestionEvent),
    RecoveryExit,
    Idle(Duration),
    Smss(Bytes),
    Undo,
}

fn any_span() -> impl Strategy<Value = Duration> {
    prop_oneof![
        4 => (0..200_000_000_u64).prop_map(Duration::from_nanos),
        1 => any::<u64>().prop_map(Duration::from_nanos),
        1 => Just(Duration::ZERO),
    ]
}

fn any_bytes() -> impl Strategy<Value = Bytes> {
    prop_oneof![4 => 0..100_000_u32, 1 => any::<Bytes>(), 1 => Just(0)]
}

fn any_signal() -> impl Strategy<Value = CongestionEvent> {
    (any_bytes(), 0..4).prop_map(|(flight_size, kind)| match kind {
        0 => CongestionEvent::Loss { flight_size },
        1 => CongestionEvent::Ecn { flight_size, beta: None, least_segments: 1 },
        kind => CongestionEvent::Timeout { flight_size, first: kind == 2 },
    })
}

fn any_operation() -> impl Strategy<Value = Operation> {
    let episode = prop_oneof![Just(EpisodeKind::Open), Just(EpisodeKind::Recovery), Just(EpisodeKind::Loss)];
    let ack =
        (any_span(), any_bytes(), proptest::option::of(any_span()), episode, proptest::bool::weighted(0.8)).prop_map(
            |(wait, acked, rtt, episode, cwnd_limited)| Operation::Ack { wait, acked, rtt, episode, cwnd_limited },
        );
    let round = (0..40_000_u64, proptest::bool::weighted(0.8))
        .prop_map(|(us, cwnd_limited)| Operation::Round { rtt: Duration::from_micros(20_000 + us), cwnd_limited });
    prop_oneof![
        12 => ack,
        6 => round,
        2 => any_signal().prop_map(Operation::Congestion),
        2 => Just(Operation::RecoveryExit),
        1 => any_span().prop_map(Operation::Idle),
        1 => (1..=65_535_u32).prop_map(Operation::Smss),
        1 => Just(Operation::Undo),
    ]
}

/// The controller and its expected properties.
struct Model {
    cc: Box<dyn CongestionControl>,
    now: Instant,
    /// The window when the current or last episode began; `None` if there is nothing to undo.
    saved: Option<Window>,
    episode: EpisodeKind,
    una: SeqNum,
    min_rtt: Option<Duration>,
    delivered: u64,
    slow_start: SlowStartConfig,
    avoidance: AvoidanceConfig,
    resume: Option<SavedPath>,
}

/// Returns the most bytes by which an ACK of `acked` bytes may open the window in this phase, as each policy promises. Every
/// policy at most doubles the window in a round trip; that of chirps is what is in flight and what a round allows, whatever an ACK
/// covers.
fn promised(
    slow_start: &SlowStartConfig,
    avoidance: &AvoidanceConfig,
    phase: CcPhase,
    acked: Bytes,
    window: &Window,
) -> Bytes {
    let (limit, divisor) = match slow_start {
        SlowStartConfig::Classic(classic) => (classic.limit_segments, 1),
        SlowStartConfig::Hystart(hystart) => (hystart.limit_segments, 1),
        SlowStartConfig::HystartPpCss(css) => (css.limit_segments, Bytes::from(css.tail.growth_divisor)),
        SlowStartConfig::HystartPpLss(lss) => (lss.limit_segments, 1),
        SlowStartConfig::Search(search) => (search.limit_segments, 1),
        SlowStartConfig::Limited(limited) => (limited.limit_segments, 1),
        SlowStartConfig::Plateau(plateau) => (plateau.limit_segments, 1),
        SlowStartConfig::Rapid(rapid) => (rapid.limit_segments, 1),
        SlowStartConfig::Chirping(_) if window.in_slow_start() => return Bytes::MAX,
        SlowStartConfig::Chirping(chirping) => (chirping.limit_segments, 1),
        // A measured window replaces the present one, whatever an ACK covers.
        SlowStartConfig::Trains(_) if window.in_slow_start() => return Bytes::MAX,
        SlowStartConfig::Trains(_) => (None, 1),
    };
    let limited = acked.min(limit.map_or(Bytes::MAX, |limit| limit.saturating_mul(window.smss())));
    match phase {
        CcPhase::SlowStart if matches!(slow_start, SlowStartConfig::Rapid(_)) => limited.saturating_mul(2),
        CcPhase::SlowStart => limited,
        CcPhase::Css => limited / divisor,
        // A target below two segments leaves slow start at them.
        CcPhase::Draining => 0,
        // Once a round trip, by an eighth of the window's ¾th power: no more than the window.
        CcPhase::Compound => window.cwnd().max(window.smss()).saturating_mul(2),
        CcPhase::Lss if matches!(avoidance, AvoidanceConfig::Compound(_)) => window.cwnd().saturating_mul(2),
        // Avoidance, with which limited slow start competes by less than the acknowledged bytes. Reno's whole segment comes with
        // one ACK, however little that ACK covers.
        _ => acked.min(window.cwnd()).max(window.smss()),
    }
}

impl Model {
    fn new(config: &CcConfig, smss: Bytes) -> Self {
        Self {
            cc: build(config, smss, SeqNum(0)),
            now: Instant::ZERO,
            saved: None,
            episode: EpisodeKind::Open,
            una: SeqNum(1),
            min_rtt: None,
            delivered: 0,
            slow_start: config.slow_start.clone(),
            avoidance: config.avoidance.clone(),
            resume: config.resume,
        }
    }

    fn apply(&mut self, operation: &Operation) {
        match *operation {
            Operation::Ack { wait, acked, rtt, episode, cwnd_limited } => {
                self.now += wait;
                let nxt = self.una + acked / 2;
                self.on_ack(&AckSample { rtt, episode, cwnd_limited, ..crate::testing::ack(0, acked) }, nxt);
            }
            Operation::Round { rtt, cwnd_limited } => {
                let window = self.cc.window().clone();
                let nxt = self.una + window.cwnd();
                for _ in 0..(window.cwnd() / window.smss()).min(64) {
                    self.now += Duration::from_micros(500);
                    self.cc.on_sent(&SentSample { now: self.now, bytes: window.smss(), pipe: 0, snd_nxt: nxt });
                    let sample = crate::testing::ack(0, window.smss());
                    self.on_ack(&AckSample { rtt: Some(rtt), cwnd_limited, ..sample }, nxt);
                }
            }
            Operation::Congestion(event) => self.on_congestion(&event),
            Operation::RecoveryExit => {
                self.episode = EpisodeKind::Open;
                self.cc.on_recovery_exit(self.now);
            }
            Operation::Idle(idle) => {
                self.now += idle;
                self.cc.on_idle_restart(idle);
            }
            Operation::Smss(smss) => {
                self.cc.on_smss_change(smss);
                if let Some(saved) = &mut self.saved {
                    saved.set_smss(smss);
                }
            }
            Operation::Undo => {
                let saved = self.saved.take();
                assert_eq!(self.cc.undo(), saved.is_some());
                if let Some(saved) = saved {
                    assert!(self.cc.window().cwnd() >= saved.cwnd());
                    assert!(self.cc.window().ssthresh() >= saved.ssthresh());
                }
            }
        }
        self.check_bounds();
    }

    fn on_ack(&mut self, ack: &AckSample, nxt: SeqNum) {
        let (before, phase, recovering) =
            (self.cc.window().clone(), self.cc.snapshot().phase, self.cc.governs_recovery());
        let retreated = self.cc.resumption() == Some(Resumption::Retreated);
        self.una += ack.acked;
        self.min_rtt = ack.rtt.into_iter().chain(self.min_rtt).min();
        self.delivered += u64::from(ack.acked);
        let rate = ack.rtt.map(|interval| RateSample {
            delivered: u64::from(before.cwnd()),
            interval,
            prior_delivered: self.delivered.saturating_sub(u64::from(before.cwnd())),
            pipe_at_send: before.cwnd(),
            lost: 0,
            app_limited: !ack.cwnd_limited,
        });
        self.cc.on_ack(&AckSample {
            rate,
            total_delivered: self.delivered,
            now: self.now,
            srtt: ack.rtt,
            min_rtt: self.min_rtt,
            snd_una: self.una,
            snd_nxt: nxt.max(self.una),
            ..*ack
        });
        let after = self.cc.window();
        let chirps = matches!(self.slow_start, SlowStartConfig::Chirping(_)) && before.in_slow_start();
        let measures = chirps || matches!(self.slow_start, SlowStartConfig::Trains(_)) && before.in_slow_start();
        let lowers = recovering
            || measures
            || self.resume.is_some()
            || matches!(phase, CcPhase::Draining | CcPhase::Compound | CcPhase::Lss);
        assert!(lowers || after.cwnd() >= before.cwnd(), "an ACK lowered the window");
        let growth = after.cwnd().saturating_sub(before.cwnd());
        if (!ack.cwnd_limited && !chirps) || ack.episode == EpisodeKind::Recovery {
            assert_eq!(growth, 0);
        }
        let jump = self.resume.map_or(0, |saved| saved.cwnd / 2).saturating_sub(before.cwnd());
        // What grows back after a retreat is paced, and knows no `L`.
        let regrowth = if retreated { ack.acked } else { 0 };
        let most = promised(&self.slow_start, &self.avoidance, phase, ack.acked, &before).max(jump).max(regrowth);
        assert!(growth <= most, "{growth} for {} in {phase:?}", ack.acked);
        assert!(phase == CcPhase::Lss || !before.in_slow_start() || after.cwnd() <= before.ssthresh());
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        let before = self.cc.window().clone();
        let floor = 2 * before.smss();
        match (event, self.episode, &self.saved) {
            (CongestionEvent::Ecn { .. }, ..) => self.saved = None,
            (CongestionEvent::Timeout { flight_size: 0, .. }, ..) => {}
            (_, EpisodeKind::Recovery, Some(_)) => {}
            _ => (self.saved, self.episode) = (Some(before.clone()), EpisodeKind::Recovery),
        }
        if let CongestionEvent::Loss { flight_size } | CongestionEvent::Ecn { flight_size, .. } = event {
            let bytes = (*flight_size).min(before.smss());
            self.cc.on_lost(&LossSample { pipe_at_send: *flight_size, ..lost(self.now, bytes) });
        }
        self.cc.on_congestion(event, self.now);
        let after = self.cc.window();
        assert!(after.ssthresh() >= floor);
        assert!(after.cwnd() <= before.cwnd().max(floor), "a signal opened the window");
        let known = before.ssthresh().max(before.cwnd()).max(floor);
        assert!(after.ssthresh() <= known, "a signal promised more than was ever reached");
        match event {
            CongestionEvent::Timeout { .. } => assert_eq!(after.cwnd(), after.smss()),
            CongestionEvent::Loss { .. } => assert!(!after.in_slow_start()),
            CongestionEvent::Ecn { .. } => {}
        }
    }

    fn check_bounds(&self) {
        let window = self.cc.window();
        assert!((window.smss()..=Window::MAX).contains(&window.cwnd()));
        let snapshot = self.cc.snapshot();
        assert_eq!((snapshot.cwnd, snapshot.ssthresh), (window.cwnd(), window.ssthresh()));
        if let Some(Pacing::Rate { quantum, .. }) = self.cc.pacing() {
            assert!(quantum > 0);
        }
    }
}

proptest! {
    #[test]
    fn every_buildable_controller_keeps_the_invariants(
        config in any_config(),
        smss in prop_oneof![Just(1), Just(1_460), Just(65_535), 1..=65_535_u32],
        operations in proptest::collection::vec(any_operation(), 1..200),
    ) {
        prop_assert_eq!(config.problems(), vec![]);
        let mut model = Model::new(&config, smss);
        for operation in &operations {
            model.apply(operation);
        }
    }
}
