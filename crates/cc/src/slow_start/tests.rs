//! All policies side by side, round by round, as snapshots.

use crate::algo::{
    AvoidanceConfig, CcConfig, ClassicConfig, CssConfig, HystartConfig, HystartPpConfig, LimitedConfig, LssConfig,
    PacedTrain, PacingConfig, PlateauConfig, RapidConfig, RenoConfig, SearchConfig, SlowStartConfig, build,
};
use crate::control::{CcPhase, CongestionControl};
use crate::sample::EpisodeKind;
use crate::testing::{Delays, Rounds, phase_name};
use crate::window::InitialWindow;
use base::{Bytes, Duration, Rng, SeqNum};
use core::fmt::Write;

const SEGMENT: Bytes = 1_000;

fn policies() -> [(&'static str, SlowStartConfig); 9] {
    [
        ("classic", SlowStartConfig::Classic(ClassicConfig { limit_segments: None })),
        ("hystart", SlowStartConfig::Hystart(HystartConfig::default())),
        ("css", SlowStartConfig::HystartPpCss(HystartPpConfig::<CssConfig>::default())),
        ("lss", SlowStartConfig::HystartPpLss(HystartPpConfig::<LssConfig>::default())),
        ("search", SlowStartConfig::Search(SearchConfig::SENT)),
        ("search, delivered", SlowStartConfig::Search(SearchConfig::DELIVERED)),
        ("limited", SlowStartConfig::Limited(LimitedConfig { limit_segments: None, ..LimitedConfig::default() })),
        ("plateau", SlowStartConfig::Plateau(PlateauConfig::default())),
        ("rapid", SlowStartConfig::Rapid(RapidConfig { first_flight_segments: 10, ..RapidConfig::default() })),
    ]
}

/// One row per round, one column per policy: the window in segments at the beginning of the round, and the phase. `before`
/// applies an event to a controller at the beginning of a round, and names it.
fn side_by_side(
    rounds: usize,
    path: impl Fn() -> Rounds,
    before: impl Fn(usize, &mut Rounds, &mut dyn CongestionControl) -> &'static str,
) -> String {
    let columns = policies().map(|(name, slow_start)| {
        let config = CcConfig {
            initial_window: InitialWindow::plain(10),
            slow_start,
            avoidance: AvoidanceConfig::Reno(RenoConfig::default()),
            ..CcConfig::default()
        };
        let (mut cc, mut path) = (build(&config, SEGMENT, SeqNum(0)), path());
        let mut column = vec![name.to_owned()];
        for round in 0..rounds {
            let mark = before(round, &mut path, &mut *cc);
            let phase = phase_name(cc.snapshot().phase);
            column.push(format!("{} {phase}{mark}", path.deliver(&mut *cc, EpisodeKind::Open)));
        }
        column
    });
    let mut text = String::new();
    for row in 0..=rounds {
        let label = row.checked_sub(1).map_or("round".to_owned(), |round| round.to_string());
        write!(text, "{label:>5}").expect("writing to a string");
        for column in &columns {
            write!(text, "  {:<22}", column[row]).expect("writing to a string");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

fn nothing(_: usize, _: &mut Rounds, _: &mut dyn CongestionControl) -> &'static str {
    ""
}

/// The path holds 200 segments and its queue 400: a window beyond both loses segments.
fn overflow(_: usize, path: &mut Rounds, cc: &mut dyn CongestionControl) -> &'static str {
    if cc.window().cwnd() <= 600 * SEGMENT {
        return "";
    }
    path.lose(cc);
    ", lost"
}

fn queue(segments_per_ack: u32) -> Rounds {
    Rounds::new(100, segments_per_ack).with(Delays::Queue { bdp: 200 })
}

#[test]
fn a_path_whose_round_trip_never_changes() {
    // ACKs are spread over the round, so that their train ends classic HyStart when they are close enough.
    let table = side_by_side(10, || Rounds::new(100, 1), nothing);
    insta::assert_snapshot!(table);
}

#[test]
fn a_paced_sender_is_allowed_a_train_of_a_whole_round_trip() {
    // Spread over the round, like a paced window, ACKs are one train; unpaced, half of it would suffice for an exit.
    let window = PacingConfig::Window { slow_start_percent: 200, avoidance_percent: 120, quantum_segments: 2 };
    for (pacing, paced_train, phase) in [
        (PacingConfig::Off, PacedTrain::WholeRtt, CcPhase::Cubic),
        (PacingConfig::Off, PacedTrain::Stretched, CcPhase::Cubic),
        (window.clone(), PacedTrain::WholeRtt, CcPhase::SlowStart),
        (window, PacedTrain::Stretched, CcPhase::SlowStart),
    ] {
        let slow_start = SlowStartConfig::Hystart(HystartConfig { paced_train, ..HystartConfig::default() });
        let mut cc = build(&CcConfig { slow_start, pacing, ..CcConfig::default() }, SEGMENT, SeqNum(0));
        let mut path = Rounds::new(100, 1);
        for _ in 0..6 {
            path.deliver(&mut *cc, EpisodeKind::Open);
        }
        assert_eq!(cc.snapshot().phase, phase);
    }
}

#[test]
fn a_path_whose_queue_grows_once_it_is_full() {
    let table = side_by_side(14, || queue(1), overflow);
    insta::assert_snapshot!(table);
}

#[test]
fn a_path_whose_queue_grows_with_delayed_acks() {
    let table = side_by_side(14, || queue(2), overflow);
    insta::assert_snapshot!(table);
}

#[test]
fn a_path_whose_queue_has_no_end() {
    let table = side_by_side(14, || queue(1), nothing);
    insta::assert_snapshot!(table);
}

#[test]
fn a_path_with_jitter() {
    let path = || Rounds::new(50, 1).with(Delays::Jitter(Duration::from_millis(60), Rng::new(7)));
    let table = side_by_side(12, path, nothing);
    insta::assert_snapshot!(table);
}

#[test]
fn a_loss_that_was_none_interrupts_and_the_search_goes_on() {
    let table = side_by_side(
        12,
        || queue(1),
        |round, path, cc| {
            if round != 3 {
                return overflow(round, path, cc);
            }
            path.seem_to_lose(cc);
            ", undone"
        },
    );
    insta::assert_snapshot!(table);
}
