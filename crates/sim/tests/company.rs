//! Several flows on one path: in both directions, with round-trip times of their own, watched over time.

use base::{Duration, Rate, Rng};
use longhaul_sim::{
    AuditSchedule, Delays, Direction, FlowSpec, Outcome, PerFlow, Scenario, Until, Watch, Workload, run,
};
use netem::{Buffer, FqCodel, PathSpec, QueueSpec};
use tcp::{Config, ValidConfig};

const ONE_WAY: Duration = Duration::from_millis(20);

fn config() -> ValidConfig {
    Config::default().validate().expect("the default")
}

fn flow(workload: Workload) -> FlowSpec {
    FlowSpec::new(config(), config(), workload)
}

/// 20 Mbit/s over 40 ms with a buffer of one bandwidth-delay product, for `flows`.
fn scenario(seed: u64, flows: Vec<FlowSpec>) -> Scenario {
    let rate = Rate::from_bits_per_sec(20_000_000);
    let forward = PathSpec { rate, buffer: Buffer::Bytes(100_000), ..PathSpec::ideal(ONE_WAY) };
    let mut scenario = Scenario::new(seed, forward, PathSpec::ideal(ONE_WAY));
    scenario.flows = flows;
    scenario
}

fn finish(scenario: &Scenario) -> Outcome {
    run(scenario, &mut trace::Off).unwrap_or_else(|failure| panic!("{failure}"))
}

/// Watches seconds.
fn watch(from: u64, until: u64) -> Option<Watch> {
    let [bin, from, until] = [1, from, until].map(Duration::from_secs);
    Some(Watch { bin, from, until, waits: PerFlow::On })
}

#[test]
fn a_round_trip_of_its_own_adds_to_the_shared_one() {
    for (own_ms, expected_ms) in [(0, 40), (35, 75), (160, 200)] {
        let mut ideal = scenario(1, vec![flow(Workload::Bytes(1_000))]);
        ideal.forward = PathSpec::ideal(ONE_WAY);
        ideal.flows[0].own_rtt = Duration::from_millis(own_ms);
        // Another one does not take part in it.
        ideal.flows.push(flow(Workload::Bytes(1_000)));
        let outcome = finish(&ideal);
        let min_rtt = |flow: usize| outcome.flows[flow].sender.info.unwrap().min_rtt.unwrap();
        assert_eq!([min_rtt(0), min_rtt(1)], [expected_ms, 40].map(Duration::from_millis));
    }
}

#[test]
fn data_goes_the_way_that_its_flow_says() {
    let back = FlowSpec { direction: Direction::Back, ..flow(Workload::Bytes(1_000_000)) };
    let outcome = finish(&scenario(1, vec![back.clone()]));
    assert!(outcome.flows[0].is_complete());
    assert!(outcome.reverse.offered_bytes > 1_000_000 && outcome.forward.offered_bytes < 100_000, "{outcome:?}");
    // Both at once: the ACKs of one wait behind the data of the other.
    let both = finish(&scenario(1, vec![flow(Workload::Bytes(5_000_000)), back]));
    assert!(both.flows.iter().all(longhaul_sim::FlowOutcome::is_complete));
    assert!(both.flows[1].elapsed() > outcome.flows[0].elapsed());
}

#[test]
fn a_run_ends_at_its_time_and_what_was_read_stands_in_its_bin() {
    let mut open = scenario(1, vec![flow(Workload::For(Duration::from_secs(60))); 2]);
    open.flows[1].start = Duration::from_millis(2_500);
    (open.until, open.watch) = (Until::At(Duration::from_secs(5)), watch(3, 5));
    let outcome = finish(&open);
    assert_eq!(outcome.virtual_time, Duration::from_secs(5));
    let [first, second] = [0, 1].map(|flow| &outcome.flows[flow]);
    assert!(first.sender.closed.is_none() && !first.is_complete());
    assert_eq!((first.bins.len(), &second.bins[..2]), (5, &[0, 0][..]));
    assert!(second.bins[2] > 0);
    let mut waits = Delays::default();
    [first, second].iter().for_each(|flow| waits.merge(&flow.waits));
    assert!(waits == outcome.delays && first.waits.packets() > 0 && second.waits.packets() > 0, "{waits:?}");
    for flow in [first, second] {
        assert_eq!(flow.bins.iter().sum::<u64>(), flow.bytes_read);
    }
    // 20 Mbit/s carry at most 2.5 MB a second, of which 40 in 1,500 bytes are headers; a packet may have come early.
    let together = first.bins[4] + second.bins[4];
    assert!((2_300_000..=2_435_000).contains(&together), "{together}");
}

#[test]
fn a_flow_stops_at_its_time_and_closes() {
    let mut two = scenario(1, vec![flow(Workload::For(Duration::from_secs(60))); 2]);
    (two.flows[0].start, two.flows[0].stop) = (Duration::from_secs(1), Some(Duration::from_secs(4)));
    two.flows[1].workload = Workload::Bytes(30_000_000);
    two.flows[1].stop = Some(Duration::from_secs(6));
    let outcome = finish(&two);
    assert!(outcome.flows.iter().all(longhaul_sim::FlowOutcome::is_complete), "{outcome:?}");
    let [first, second] = [0, 1].map(|flow| outcome.flows[flow].last_read.unwrap());
    // What was written before the end has to arrive, too: the send buffer holds several seconds of a slow share.
    assert!(first >= base::Instant::from_nanos(4_000_000_000) && second >= base::Instant::from_nanos(6_000_000_000));
    assert!(outcome.flows[1].bytes_written < 30_000_000);
}

#[test]
fn every_drop_is_of_some_flow() {
    let outcome = finish(&scenario(3, vec![flow(Workload::Bytes(3_000_000)); 3]));
    let by_flow: Vec<u64> = outcome.flows.iter().map(|flow| flow.dropped).collect();
    assert!(by_flow.iter().sum::<u64>() == outcome.forward.dropped.total(), "{by_flow:?}");
    assert!(by_flow.iter().all(|dropped| *dropped > 0), "{by_flow:?}");
}

#[test]
fn the_wait_at_the_bottleneck_is_that_of_its_queue() {
    // A short flow waits for nothing, but for the data behind the ACK of the handshake: 40 bytes take 16 µs.
    let mut idle = scenario(1, vec![flow(Workload::Bytes(1_000))]);
    idle.watch = watch(0, 100);
    let delays = finish(&idle).delays;
    assert_eq!([50, 75, 100].map(|percent| delays.quantile_us(percent)), [Some(0), Some(0), Some(16)], "{delays:?}");
    // A bulk transfer keeps a drop-tail queue of 40 ms half full, and a managed one near its target.
    let mut busy = scenario(1, vec![flow(Workload::For(Duration::from_secs(60)))]);
    (busy.until, busy.watch) = (Until::At(Duration::from_secs(30)), watch(10, 30));
    let unmanaged = finish(&busy).delays;
    busy.forward.queue = QueueSpec::FqCodel(FqCodel::default());
    busy.forward.buffer = Buffer::Packets(1_000);
    let managed = finish(&busy).delays;
    let p95 = [&unmanaged, &managed].map(|delays| delays.quantile_us(95).unwrap());
    assert!((24_000..=40_000).contains(&p95[0]) && p95[1] < 15_000, "{p95:?}");
}

#[test]
fn equals_share_equally_after_a_while() {
    for seed in 1..=3 {
        let mut two = scenario(seed, vec![flow(Workload::For(Duration::from_secs(200))); 2]);
        two.flows[1].start = Duration::from_millis(seed * 700);
        (two.until, two.watch) = (Until::At(Duration::from_secs(180)), watch(60, 180));
        let outcome = finish(&two);
        let [first, second] = [0, 1].map(|flow| outcome.flows[flow].bins[60..].iter().sum::<u64>());
        let share = first * 100 / (first + second);
        assert!((40..=60).contains(&share), "seed {seed}: {share} %");
    }
}

/// Flows of all kinds, with every checker after every step.
#[test]
fn many_flows_in_both_directions_come_through() {
    for seed in 0..12 {
        let mut rng = Rng::new(seed);
        let mut draw = |below: u64| rng.below(below);
        let flows = (0..60).map(|_| {
            let mut flow = flow(Workload::Bytes(1 + draw(60_000)));
            flow.start = Duration::from_millis(draw(2_000));
            flow.own_rtt = Duration::from_millis(draw(4) * 15);
            flow.direction = if draw(3) == 0 { Direction::Back } else { Direction::Forward };
            flow
        });
        let mut company = scenario(seed, flows.collect());
        if seed % 2 == 0 {
            company.forward.queue = QueueSpec::FqCodel(FqCodel::default());
            company.forward.buffer = Buffer::Packets(100);
        }
        company.audit = AuditSchedule::EveryStep;
        company.watch = watch(0, 100);
        let outcome = finish(&company);
        assert!(outcome.flows.iter().all(longhaul_sim::FlowOutcome::is_complete), "seed {seed}");
        assert_eq!(outcome, finish(&company), "seed {seed}");
    }
}
