//! Configuration leaf by leaf, and one model that every buildable controller must agree with.

use super::*;
use crate::avoidance::SsthreshBase;
use crate::control::Pacing;
use crate::sample::{AckSample, CongestionEvent, EpisodeKind};
use base::{Duration, Instant};
use proptest::prelude::*;
use test_case::test_case;

#[test]
fn the_default_is_ten_segments_classic_cubic_and_no_pacing() {
    let config = CcConfig::default();
    assert_eq!(config.problems(), []);
    let cc = build(&config, 1_460, SeqNum(0));
    assert_eq!((cc.window().cwnd(), cc.snapshot().phase, cc.pacing()), (14_600, "slow_start", None));
    let AvoidanceConfig::Cubic(cubic) = config.avoidance else { panic!("not CUBIC") };
    assert_eq!((cubic.beta.num() * 10, cubic.c.num() * 10), (cubic.beta.den() * 7, cubic.c.den() * 4));
}

fn fraction(num: u64, den: u64) -> Ratio {
    Ratio::new(num, den).expect("a fraction")
}

fn with_cubic(change: impl FnOnce(&mut CubicConfig)) -> CcConfig {
    let mut cubic = CubicConfig::default();
    change(&mut cubic);
    CcConfig { avoidance: AvoidanceConfig::Cubic(cubic), ..CcConfig::default() }
}

fn with_pacing(slow_start_percent: u32, avoidance_percent: u32, quantum_segments: u32) -> CcConfig {
    let pacing = PacingConfig::Window { slow_start_percent, avoidance_percent, quantum_segments };
    CcConfig { pacing, ..CcConfig::default() }
}

#[test_case(CcConfig { initial_window: InitialWindow::plain(0), ..CcConfig::default() }, "cc.initial_window.segments")]
#[test_case(
    CcConfig { initial_window: InitialWindow { segments: 1, bytes_max: Some(0) }, ..CcConfig::default() },
    "cc.initial_window.bytes_max"
)]
#[test_case(
    CcConfig { slow_start: SlowStartConfig::Classic(ClassicConfig { limit_segments: Some(0) }), ..CcConfig::default() },
    "cc.slow_start.limit_segments"
)]
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
    let cubic =
        (any_beta(), 1..=1_000_u64, convergence, any_base()).prop_map(|(beta, c, fast_convergence, ssthresh_base)| {
            AvoidanceConfig::Cubic(CubicConfig { beta, c: fraction(c, 1_000), fast_convergence, ssthresh_base })
        });
    prop_oneof![reno, cubic, Just(AvoidanceConfig::default())]
}

prop_compose! {
    fn any_config()(
        segments in 1..=1_000_u32,
        bytes_max in proptest::option::of(1..=1_000_000_u32),
        limit_segments in proptest::option::of(1..=u32::MAX),
        avoidance in any_avoidance(),
        pacing in prop_oneof![
            Just(PacingConfig::Off),
            (50..=1_000_u32, 50..=1_000_u32, 1..=64_u32).prop_map(|(slow_start_percent, avoidance_percent, quantum_segments)| {
                PacingConfig::Window { slow_start_percent, avoidance_percent, quantum_segments }
            }),
        ],
    ) -> CcConfig {
        CcConfig {
            initial_window: InitialWindow { segments, bytes_max },
            slow_start: SlowStartConfig::Classic(ClassicConfig { limit_segments }),
            avoidance,
            pacing,
        }
    }
}

/// One thing that may happen to a controller.
#[derive(Clone, Debug)]
enum Operation {
    Ack { wait: Duration, acked: Bytes, srtt: Option<Duration>, episode: EpisodeKind, cwnd_limited: bool },
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

fn any_octets() -> impl Strategy<Value = Bytes> {
    prop_oneof![4 => 0..100_000_u32, 1 => any::<Bytes>(), 1 => Just(0)]
}

fn any_signal() -> impl Strategy<Value = CongestionEvent> {
    (any_octets(), 0..4).prop_map(|(flight_size, kind)| match kind {
        0 => CongestionEvent::Loss { flight_size },
        1 => CongestionEvent::Ecn { flight_size },
        kind => CongestionEvent::Timeout { flight_size, first: kind == 2 },
    })
}

fn any_operation() -> impl Strategy<Value = Operation> {
    let episode = prop_oneof![Just(EpisodeKind::Open), Just(EpisodeKind::Recovery), Just(EpisodeKind::Loss)];
    let ack =
        (any_span(), any_octets(), proptest::option::of(any_span()), episode, proptest::bool::weighted(0.8)).prop_map(
            |(wait, acked, srtt, episode, cwnd_limited)| Operation::Ack { wait, acked, srtt, episode, cwnd_limited },
        );
    prop_oneof![
        12 => ack,
        2 => any_signal().prop_map(Operation::Congestion),
        2 => Just(Operation::RecoveryExit),
        1 => any_span().prop_map(Operation::Idle),
        1 => (1..=65_535_u32).prop_map(Operation::Smss),
        1 => Just(Operation::Undo),
    ]
}

/// The controller and what must be true of it.
struct Model {
    cc: Box<dyn CongestionControl>,
    now: Instant,
    /// `cwnd` when the current or last episode began; `None` when there is nothing to undo.
    saved: Option<Bytes>,
    episode: EpisodeKind,
}

impl Model {
    fn new(config: &CcConfig, smss: Bytes) -> Self {
        Self { cc: build(config, smss, SeqNum(0)), now: Instant::ZERO, saved: None, episode: EpisodeKind::Open }
    }

    fn apply(&mut self, operation: &Operation) {
        match *operation {
            Operation::Ack { wait, acked, srtt, episode, cwnd_limited } => {
                self.now += wait;
                self.on_ack(&AckSample { now: self.now, srtt, episode, cwnd_limited, ..crate::testing::ack(0, acked) });
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
                self.saved = self.saved.map(|saved| saved.max(smss));
            }
            Operation::Undo => {
                let saved = self.saved.take();
                assert_eq!(self.cc.undo(), saved.is_some());
                assert!(self.cc.window().cwnd() >= saved.unwrap_or(0));
            }
        }
        self.check_bounds();
    }

    fn on_ack(&mut self, ack: &AckSample) {
        let before = self.cc.window().clone();
        self.cc.on_ack(ack);
        let after = self.cc.window();
        assert!(after.cwnd() >= before.cwnd(), "an ACK lowered the window");
        let growth = after.cwnd() - before.cwnd();
        if !ack.cwnd_limited || ack.episode == EpisodeKind::Recovery {
            assert_eq!(growth, 0);
        }
        if before.in_slow_start() {
            // Slow start opens by what was acknowledged at most, and hence at most doubles in a round trip.
            assert!(growth <= ack.acked && after.cwnd() <= before.ssthresh());
        } else {
            // Reno's whole segment comes with one ACK, however little that acknowledges.
            let most = ack.acked.min(before.cwnd()).max(before.smss());
            assert!(growth <= most, "{growth} for {}", ack.acked);
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        let before = self.cc.window().clone();
        let floor = 2 * before.smss();
        match (event, self.episode, self.saved) {
            (CongestionEvent::Ecn { .. }, ..) => self.saved = None,
            (CongestionEvent::Timeout { flight_size: 0, .. }, ..) => {}
            (_, EpisodeKind::Recovery, Some(_)) => {}
            _ => (self.saved, self.episode) = (Some(before.cwnd()), EpisodeKind::Recovery),
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
