//! Datagrams beside connections: what a constant rate loses, how long a ping waits, and that queues tell them apart.

use base::{Duration, Rate, Ratio};
use longhaul_sim::{
    DatagramOutcome, DatagramSpec, Direction, FlowSpec, Hops, IpVersion, Outcome, PerFlow, Scenario, Sends, Until,
    Watch, Workload, run,
};
use netem::{Buffer, FqCodel, LossSpec, PathSpec, QueueSpec};
use tcp::Config;
use test_case::test_case;

const ONE_WAY: Duration = Duration::from_millis(20);

fn rate(mbit: u64) -> Rate {
    Rate::from_bits_per_sec(mbit * 1_000_000).unwrap()
}

fn datagrams(sends: Sends, size: u32) -> DatagramSpec {
    let (direction, own_rtt, start) = (Direction::Forward, Duration::ZERO, Duration::ZERO);
    DatagramSpec { sends, size, direction, hops: Hops::Both, own_rtt, start, stop: None }
}

fn pings() -> DatagramSpec {
    datagrams(Sends::Pings(Duration::from_millis(200)), 64)
}

/// 20 Mbit/s over 40 ms with a buffer of one bandwidth-delay product, for ten seconds.
fn scenario(datagrams: Vec<DatagramSpec>) -> Scenario {
    let forward = PathSpec { rate: Some(rate(20)), buffer: Buffer::Bytes(100_000), ..PathSpec::ideal(ONE_WAY) };
    let mut scenario = Scenario::new(1, forward, PathSpec::ideal(ONE_WAY));
    let [bin, from, until] = [1, 0, 10].map(Duration::from_secs);
    (scenario.datagrams, scenario.until) = (datagrams, Until::At(until));
    scenario.watch = Some(Watch { bin, from, until, waits: PerFlow::Off });
    scenario
}

fn finish(scenario: &Scenario) -> Outcome {
    let outcome = run(scenario, &mut trace::Off).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(run(scenario, &mut trace::Off).as_ref(), Ok(&outcome), "the same seed, the same bits");
    outcome
}

fn with_bulk(mut scenario: Scenario) -> Scenario {
    let config = Config::default().validate().unwrap();
    scenario.flows.push(FlowSpec::new(config.clone(), config, Workload::For(Duration::from_secs(60))));
    scenario
}

#[test_case(IpVersion::V4; "version 4")]
#[test_case(IpVersion::V6; "version 6")]
fn a_stream_of_constant_rate_arrives_whole_where_there_is_room(ip: IpVersion) {
    let outcome = finish(&Scenario { ip, ..scenario(vec![datagrams(Sends::Rate(rate(5)), 1_200)]) });
    let [DatagramOutcome { sent, received, dropped, bins, waits, .. }] = &outcome.datagrams[..] else { panic!() };
    // 5 Mbit/s are 520.8 datagrams of 1,200 bytes a second; the last eleven are on their way.
    assert_eq!((*sent, *received, *dropped, waits.packets()), (5_209, 5_198, 0, 0));
    let payload = if ip == IpVersion::V4 { 1_172 } else { 1_152 };
    assert_eq!(
        (bins.len(), bins[1..].iter().all(|bytes| bytes / payload == 520 || bytes / payload == 521)),
        (10, true)
    );
    assert_eq!(outcome.forward.offered_bytes, 5_209 * 1_200);
}

#[test]
fn what_a_rate_above_the_path_s_exceeds_is_lost() {
    let outcome = finish(&scenario(vec![datagrams(Sends::Rate(rate(30)), 1_500)]));
    let DatagramOutcome { sent, received, dropped, .. } = outcome.datagrams[0];
    assert_eq!(dropped, outcome.forward.dropped.total());
    assert!((320..=335).contains(&(dropped * 1_000 / sent)), "a third of {sent} has no room: {dropped}");
    assert!((16_500..16_700).contains(&received), "20 Mbit/s carry 1,667 a second: {received}");
}

#[test]
fn a_ping_on_empty_paths_waits_for_nothing_wherever_it_goes() {
    let mut both = vec![pings(), DatagramSpec { direction: Direction::Back, ..pings() }];
    both[1].own_rtt = Duration::from_millis(35);
    let mut empty = scenario(both);
    empty.reverse.rate = Some(rate(1));
    for outcome in finish(&empty).datagrams {
        assert_eq!((outcome.sent, outcome.received, outcome.dropped, outcome.bins.len()), (51, 50, 0, 0));
        assert_eq!((outcome.waits.packets(), outcome.waits.quantile_us(100)), (50, Some(0)));
    }
}

#[test]
fn a_ping_waits_behind_others_unless_the_queue_tells_flows_apart() {
    let mut shared = with_bulk(scenario(vec![pings()]));
    shared.watch = shared.watch.map(|watch| Watch { from: Duration::from_secs(3), ..watch });
    let behind = &finish(&shared).datagrams[0].waits;
    assert!(behind.quantile_us(95).unwrap() > 20_000, "a buffer of 40 ms: {behind:?}");
    shared.forward.queue = QueueSpec::FqCodel(FqCodel::default());
    shared.forward.buffer = Buffer::Packets(1_000);
    let apart = &finish(&shared).datagrams[0].waits;
    // One full packet in service takes 600 µs.
    assert!(apart.packets() == 35 && apart.quantile_us(100).unwrap() <= 600, "{apart:?}");
}

#[test]
fn lost_pings_and_echoes_are_counted() {
    let mut lossy = scenario(vec![pings()]);
    let fifth = LossSpec::Bernoulli(Ratio::new(1, 5).unwrap());
    (lossy.forward.loss, lossy.reverse.loss) = (fifth.clone(), fifth);
    let DatagramOutcome { sent, received, dropped, waits, .. } = &finish(&lossy).datagrams[0];
    assert!(*dropped > 8 && received + dropped == sent - 1, "one is on its way: {sent} {received} {dropped}");
    assert_eq!(waits.packets(), *received);
}

#[test]
fn datagrams_stop_at_their_time_and_do_not_end_a_run() {
    let mut stopping = with_bulk(scenario(vec![pings()]));
    stopping.datagrams[0].stop = Some(Duration::from_secs(4));
    stopping.flows[0].workload = Workload::Bytes(1_000);
    let outcome = finish(&stopping);
    assert_eq!((outcome.datagrams[0].sent, outcome.datagrams[0].received), (20, 20));
    stopping.until = Until::Closed;
    let outcome = finish(&stopping);
    assert!(outcome.flows[0].is_complete() && outcome.datagrams[0].sent < 5, "{outcome:?}");
}
