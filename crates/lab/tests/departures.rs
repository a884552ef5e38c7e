//! What the default profile and that of the RFCs send into the network fits a token bucket: 1.25 windows each smoothed
//! round trip, in slow start two, or the six of a train, and ten segments deep: the sender's own bucket holds nine, and a tail
//! probe, which does not wait for it, is the tenth. After silence, after one acknowledgement for a whole window, and through whole transfers.

use base::{Duration, Rate, Ratio};
use netem::{Buffer, LossSpec, PathSpec, ReorderSpec};
use sim::{AppPace, BurstLimit, Cause, FlowSpec, Outcome, Scenario, Workload, run};
use tcp::ValidConfig;
use test_case::test_matrix;
use trace::Off;

/// Both profiles with unpaced departures: the whole window after any pause, as soon as it is free.
const UNPACED: &[(&str, &str)] = &[("cc.pacing.kind", "off"), ("cc.idle_restart", "off")];

fn limit(profile: &str) -> BurstLimit {
    let slow_start_percent = if profile == "longhaul" { 600 } else { 200 };
    BurstLimit { slow_start_percent, avoidance_percent: 125, segments: 10 }
}

fn config(profile: &str, changes: &[(&str, &str)]) -> ValidConfig {
    let changes: Vec<_> = changes.iter().map(|&(path, value)| (path.to_owned(), value.to_owned())).collect();
    profiles::find(profile).expect("built in").with(&changes).expect("within bounds")
}

/// One gigabit each way, without losses, and a round trip of `rtt_ms`.
fn fast(profile: &str, flow: FlowSpec, rtt_ms: u64) -> Scenario {
    let half = Duration::from_millis(rtt_ms) / 2;
    let rate = Rate::from_bits_per_sec(1_000_000_000);
    let forward = PathSpec { rate, buffer: Buffer::Bytes(10_000_000), ..PathSpec::ideal(half) };
    limited(profile, Scenario::new(1, forward, PathSpec::ideal(half)), flow)
}

fn limited(profile: &str, mut scenario: Scenario, flow: FlowSpec) -> Scenario {
    scenario.burst_limit = Some(limit(profile));
    scenario.flows.push(flow);
    scenario
}

fn finish(scenario: &Scenario) -> Outcome {
    run(scenario, &mut Off).unwrap_or_else(|failure| panic!("{failure}"))
}

fn bursts(scenario: &Scenario) -> bool {
    matches!(run(scenario, &mut Off), Err(failure) if matches!(failure.cause, Cause::Burst { .. }))
}

/// Sends four megabytes, pauses, and sends as much again, twice.
fn with_pauses(profile: &str, changes: &[(&str, &str)], pause: Duration) -> Scenario {
    let config = config(profile, changes);
    let writer = AppPace::Chunks { bytes: 4_000_000, every: pause };
    fast(profile, FlowSpec { writer, ..FlowSpec::new(config.clone(), config, Workload::Bytes(12_000_000)) }, 20)
}

#[test_matrix(["longhaul", "rfc"], [2, 60, 3_600])]
fn what_leaves_after_silence_fits_the_bucket(profile: &str, pause_s: u64) {
    let pause = Duration::from_secs(pause_s);
    assert!(finish(&with_pauses(profile, &[], pause)).flows[0].is_complete());
    assert!(bursts(&with_pauses(profile, UNPACED, pause)), "the checker sees bursts");
}

#[test]
fn a_window_that_outlives_a_pause_saves_round_trips_after_it() {
    let elapsed = |restart| {
        let scenario = with_pauses("longhaul", &[("cc.idle_restart", restart)], Duration::from_secs(2));
        finish(&scenario).flows[0].elapsed().expect("complete")
    };
    let saved = elapsed("initial_window").saturating_sub(elapsed("halve_per_5min")) / 2;
    println!("saved after each pause: {saved}, on a path of 20 ms");
    assert!(saved > Duration::from_millis(60), "{saved}");
}

/// The receiver acknowledges once in twenty milliseconds, that is, once per window.
fn one_ack_a_window(profile: &str, changes: &[(&str, &str)]) -> Scenario {
    let server =
        config(profile, &[("ack.every_segments", "1000000"), ("ack.delay", "20ms"), ("ack.quick_segments", "0")]);
    fast(profile, FlowSpec::new(config(profile, changes), server, Workload::Bytes(16_000_000)), 20)
}

#[test_matrix(["longhaul", "rfc"])]
fn what_one_acknowledgement_of_a_window_releases_fits_the_bucket(profile: &str) {
    assert!(finish(&one_ack_a_window(profile, &[])).flows[0].is_complete());
    assert!(bursts(&one_ack_a_window(profile, UNPACED)), "the checker sees bursts");
}

#[derive(Clone, Copy)]
enum Weather {
    Clean,
    Losses,
    Lateness,
}

#[test_matrix(["longhaul", "rfc"], [25, 200], [Weather::Clean, Weather::Losses, Weather::Lateness])]
fn whole_transfers_fit_the_bucket(profile: &str, rtt_ms: u64, weather: Weather) {
    let half = Duration::from_millis(rtt_ms) / 2;
    let rate = Rate::from_bits_per_sec(100_000_000);
    let per_mille = Ratio::new(1, 1_000).expect("a share");
    let mut forward = PathSpec { rate, buffer: Buffer::Bytes(100_000), ..PathSpec::ideal(half) };
    match weather {
        Weather::Clean => forward.buffer = Buffer::Bytes(2_500_000),
        Weather::Losses => forward.loss = LossSpec::Bernoulli(per_mille),
        Weather::Lateness => {
            let extra = Duration::from_millis(5);
            forward.reorder = ReorderSpec::Late { probability: per_mille, extra };
        }
    }
    let config = config(profile, &[]);
    let flow = FlowSpec::new(config.clone(), config, Workload::Bytes(8_000_000));
    assert!(finish(&limited(profile, Scenario::new(1, forward, PathSpec::ideal(half)), flow)).flows[0].is_complete());
}
