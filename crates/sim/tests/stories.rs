//! Ten canonical runs as event streams: a change of behaviour becomes readable in a diff.
//!
//! Times are in nanoseconds of virtual time; connection 0 is the sender's, 1,000,000 the receiver's. The path carries 10 Mbit/s
//! with 50 ms each way, unless a test says otherwise.

use base::{Duration, Rate, Ratio};
use longhaul_sim::{AppPace, FlowSpec, Scenario, Workload, run};
use netem::{Buffer, LossSpec, PathSpec, ReorderSpec};
use recovery::{DetectorConfig, RecoveryConfig};
use tcp::Config;
use tcp::config::{ReceiveWindowConfig, TimestampConfig};
use trace::TextSink;

fn path() -> PathSpec {
    let rate = Rate::from_bits_per_sec(10_000_000);
    PathSpec { rate, buffer: Buffer::Unlimited, ..PathSpec::ideal(Duration::from_millis(50)) }
}

/// A path that loses the packets with these indices: 0 is the SYN, 1 the ACK of the SYN-ACK, 2 the first data.
fn losing(indices: &[u64]) -> PathSpec {
    PathSpec { loss: LossSpec::Mask(indices.to_vec()), ..path() }
}

fn config(detector: DetectorConfig) -> Config {
    let mut config = Config { recovery: RecoveryConfig { detector, ..Default::default() }, ..Config::default() };
    config.rto.min = Duration::from_millis(200);
    config.ack.quick_segments = 0;
    config
}

fn rack() -> Config {
    config(DetectorConfig::Rack(Default::default()))
}

fn story(forward: PathSpec, reverse: PathSpec, config: Config, bytes: u64) -> String {
    story_read_at(forward, reverse, config, bytes, AppPace::Unlimited)
}

fn story_read_at(forward: PathSpec, reverse: PathSpec, config: Config, bytes: u64, reader: AppPace) -> String {
    let mut scenario = Scenario::new(1, forward, reverse);
    let config = config.validate().expect("within bounds");
    scenario.flows.push(FlowSpec { reader, ..FlowSpec::new(config.clone(), config, Workload::Bytes(bytes)) });
    let mut sink = TextSink::default();
    let outcome = run(&scenario, &mut sink).unwrap_or_else(|failure| panic!("{failure}"));
    assert!(outcome.flows[0].is_complete());
    sink.0
}

fn back() -> PathSpec {
    PathSpec::ideal(Duration::from_millis(50))
}

#[test]
fn three_segments_and_a_farewell() {
    insta::assert_snapshot!(story(path(), back(), rack(), 4_000));
}

#[test]
fn a_lost_syn() {
    insta::assert_snapshot!(story(losing(&[0]), back(), rack(), 1_000));
}

#[test]
fn one_loss_among_ten_found_by_time() {
    insta::assert_snapshot!(story(losing(&[4]), back(), rack(), 14_600));
}

#[test]
fn one_loss_among_ten_found_by_count() {
    let counting = config(DetectorConfig::DupThresh(Default::default()));
    insta::assert_snapshot!(story(losing(&[4]), back(), counting, 14_600));
}

#[test]
fn a_lost_retransmission_found_by_time() {
    insta::assert_snapshot!(story(losing(&[4, 18]), back(), rack(), 35_040));
}

#[test]
fn a_lost_retransmission_that_counting_cannot_find() {
    let counting = config(DetectorConfig::DupThresh(Default::default()));
    insta::assert_snapshot!(story(losing(&[4, 18]), back(), counting, 35_040));
}

#[test]
fn a_lost_tail_waits_for_the_timer() {
    insta::assert_snapshot!(story(losing(&[5]), back(), rack(), 5_840));
}

#[test]
fn a_packet_that_comes_late_is_not_a_loss_once_reordering_is_known() {
    let late = ReorderSpec::Late { probability: Ratio::new(1, 8).expect("a ratio"), extra: Duration::from_millis(5) };
    insta::assert_snapshot!(story(PathSpec { reorder: late, ..path() }, back(), rack(), 29_200));
}

#[test]
fn a_reader_that_falls_asleep_closes_the_window() {
    let mut sleepy = rack();
    sleepy.receive.window = ReceiveWindowConfig::Fixed { bytes: 3_000 };
    let reader = AppPace::Chunks { bytes: 3_000, every: Duration::from_millis(1_500) };
    insta::assert_snapshot!(story_read_at(path(), back(), sleepy, 9_000, reader));
}

#[test]
fn duplicated_packets_are_reported_and_believed() {
    let mut stamped = rack();
    stamped.options.timestamps = TimestampConfig::Offer;
    let twice = PathSpec { duplicate: Ratio::new(1, 4).expect("a ratio"), ..path() };
    insta::assert_snapshot!(story(twice, back(), stamped, 14_600));
}
