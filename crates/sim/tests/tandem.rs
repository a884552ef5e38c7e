//! Two bottlenecks in line: shares that are known exactly, what a way adds up to, and that nothing gets lost unseen.

use base::{Duration, Rate};
use longhaul_sim::{
    AuditSchedule, DatagramSpec, Device, Direction, FlowSpec, Hops, Outcome, Pause, PerFlow, Scenario, SecondHop,
    Sends, Until, Watch, Workload, run,
};
use netem::{Buffer, FqCodel, PathSpec, QueueSpec};
use tcp::Config;
use test_case::test_case;

/// Of each bottleneck, each way.
const ONE_WAY: Duration = Duration::from_millis(10);

fn rate(kbit: u64) -> Rate {
    Rate::from_bits_per_sec(kbit * 1_000).unwrap()
}

fn hop(kbit: u64) -> PathSpec {
    PathSpec {
        rate: Some(rate(kbit)),
        buffer: Buffer::Packets(1_000),
        queue: QueueSpec::FqCodel(FqCodel::default()),
        ..PathSpec::ideal(ONE_WAY)
    }
}

/// Two fair bottlenecks, for so many seconds.
fn scenario([first, second]: [u64; 2], seconds: u64) -> Scenario {
    let mut scenario = Scenario::new(1, hop(first), PathSpec::ideal(ONE_WAY));
    scenario.second = Some(SecondHop { forward: hop(second), reverse: PathSpec::ideal(ONE_WAY) });
    let [bin, from, until] = [1, 0, seconds].map(Duration::from_secs);
    scenario.until = Until::At(until);
    scenario.watch = Some(Watch { bin, from, until, waits: PerFlow::On });
    scenario
}

fn sent(sends: Sends, size: u32, hops: Hops) -> DatagramSpec {
    let (direction, own_rtt, start) = (Direction::Forward, Duration::ZERO, Duration::ZERO);
    DatagramSpec { sends, size, direction, hops, own_rtt, start, stop: None }
}

fn flow(hops: Hops, workload: Workload) -> FlowSpec {
    let config = Config::default().validate().unwrap();
    FlowSpec { hops, ..FlowSpec::new(config.clone(), config, workload) }
}

fn finish(scenario: &Scenario) -> Outcome {
    let outcome = run(scenario, &mut trace::Off).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(run(scenario, &mut trace::Off).as_ref(), Ok(&outcome), "the same seed, the same bits");
    outcome
}

/// What three flows that send 8 Mbit/s each get, in kbit/s: over both bottlenecks, the first, the second. Each bottleneck divides what
/// comes to it by max-min; what the second drops took room at the first.
#[test_case([6_000, 6_000], [3_000, 3_000, 3_000]; "equal bottlenecks")]
#[test_case([10_000, 4_000], [2_000, 5_000, 2_000]; "the second is tighter")]
#[test_case([4_000, 10_000], [2_000, 2_000, 8_000]; "the first is tighter, and the second full")]
#[test_case([4_000, 16_000], [2_000, 2_000, 8_000]; "the first is tighter, and the second has room")]
#[test_case([20_000, 10_000], [5_000, 8_000, 5_000]; "the first has room")]
fn constant_rates_behind_fair_queues_have_max_min_shares(rates: [u64; 2], kbit: [u64; 3]) {
    let mut scenario = scenario(rates, 40);
    let constant = |hops| sent(Sends::Rate(rate(8_000)), 1_200, hops);
    scenario.datagrams = [Hops::Both, Hops::First, Hops::Second].map(constant).to_vec();
    let outcome = finish(&scenario);
    for (flow, expected) in outcome.datagrams.iter().zip(kbit) {
        let got = flow.bins[10..].iter().sum::<u64>() * 8 * 1_200 / 1_172 / 30 / 1_000;
        assert!(got.abs_diff(expected) * 100 <= expected, "{got} kbit/s for {expected}: {flow:?}");
    }
}

/// Devices that take and deliver super-segments, and hosts that pause, stand at the ends of the whole way.
#[test]
fn hosts_are_as_on_a_way_with_one_bottleneck() {
    let mut scenario = scenario([10_000, 8_000], 30);
    scenario.flows =
        [Hops::Both, Hops::First, Hops::Second].map(|hops| flow(hops, Workload::Bytes(2_000_000))).to_vec();
    scenario.audit = AuditSchedule::EveryStep;
    (scenario.client_device, scenario.server_device) = (Device::SUPER_SEGMENTS, Device::SUPER_SEGMENTS);
    let pause = |ms| Pause { from: Duration::from_millis(ms), length: Duration::from_millis(300) };
    scenario.client_pauses = vec![pause(500)];
    scenario.server_pauses = vec![pause(1_500)];
    let outcome = finish(&scenario);
    assert!(outcome.flows.iter().all(longhaul_sim::FlowOutcome::is_complete), "{:?}", outcome.flows);
    let unpaused = Scenario { client_pauses: Vec::new(), server_pauses: Vec::new(), ..scenario };
    let ended = |outcome: &Outcome| outcome.flows.iter().map(|flow| flow.last_read).max();
    assert!(ended(&outcome) > ended(&finish(&unpaused)), "pauses take time");
}

#[test]
fn a_ping_takes_the_round_trips_of_what_it_crosses() {
    let mut scenario = scenario([10_000, 10_000], 5);
    let ping = |hops| sent(Sends::Pings(Duration::from_millis(100)), 64, hops);
    scenario.datagrams = [Hops::Both, Hops::First, Hops::Second].map(ping).to_vec();
    let outcome = finish(&scenario);
    for flow in &outcome.datagrams {
        // Pings leave together, and each transmission takes 51 us.
        assert!(flow.received >= 48 && flow.waits.quantile_us(100).unwrap() <= 110, "{flow:?}");
    }
    let second = &outcome.second.as_ref().unwrap()[0];
    // One of each leaves when the run ends.
    assert_eq!((second.apart, second.between, second.passed), (51, 50, 50));
    assert!(second.delays.packets() >= 99 && outcome.delays.packets() >= 99);
}

#[test]
fn three_long_flows_share_both_bottlenecks() {
    let mut scenario = scenario([20_000, 20_000], 30);
    scenario.audit = AuditSchedule::EveryStep;
    let long = Workload::For(Duration::from_secs(60));
    scenario.flows = [Hops::Both, Hops::First, Hops::Second].map(|hops| flow(hops, long)).to_vec();
    let outcome = finish(&scenario);
    let kbit = |flow: usize| outcome.flows[flow].bins[10..].iter().sum::<u64>() * 8 / 20 / 1_000;
    let [both, first, second] = [0, 1, 2].map(kbit);
    assert!((18_500..19_500).contains(&(both + first)), "{both} {first} {second}");
    assert!((18_500..19_500).contains(&(both + second)), "{both} {first} {second}");
    assert!((8_000..10_000).contains(&both), "fair queues at both: {both}");
    conserved(&outcome);
}

/// What enters a bottleneck leaves it, is dropped, or is inside; and what leaves the first enters the second or leaves the way.
fn conserved(outcome: &Outcome) {
    let [there, _] = outcome.second.as_ref().unwrap();
    let inside = |path: &netem::PathStats| {
        let out = path.delivered + path.dropped.total() + path.dropped.thinned;
        (path.offered + path.duplicated)
            .checked_sub(out)
            .unwrap_or_else(|| panic!("more came out than went in: {path:?}"))
    };
    assert!(inside(&outcome.forward) < 2_000 && inside(&there.path) < 2_000);
    assert_eq!(outcome.forward.delivered, there.passed + there.between);
    assert_eq!(there.path.offered, there.passed + there.apart);
}

/// A second bottleneck without delay that no packet waits at changes nothing.
#[test]
fn a_second_bottleneck_without_limits_is_as_none() {
    let transfer = |second: Option<SecondHop>| {
        let mut scenario = Scenario::new(7, hop(10_000), PathSpec::ideal(ONE_WAY));
        scenario.second = second;
        scenario.flows = vec![flow(Hops::Both, Workload::Bytes(2_000_000))];
        let outcome = finish(&scenario);
        assert!(outcome.flows[0].is_complete());
        (outcome.flows[0].last_read, outcome.forward, outcome.packets())
    };
    let ideal = || PathSpec::ideal(Duration::ZERO);
    assert_eq!(transfer(Some(SecondHop { forward: ideal(), reverse: ideal() })), transfer(None));
}
