//! Paths that are more than a pipe under whole connections: what they drop is counted by its cause, and ACKs that are thinned lose
//! nothing.

use base::{Duration, Rate, Ratio};
use longhaul_sim::{FlowSpec, Outcome, Scenario, Workload, run};
use netem::{Buffer, LossSpec, PathSpec, PolicerSpec, ReleaseSpec};
use tcp::Config;
use test_case::test_case;

const ONE_WAY: Duration = Duration::from_millis(20);

/// 20 Mbit/s over 40 ms.
fn forward() -> PathSpec {
    let rate = Rate::from_bits_per_sec(20_000_000);
    PathSpec { rate, buffer: Buffer::Bytes(200_000), ..PathSpec::ideal(ONE_WAY) }
}

fn transfer(forward: PathSpec, reverse: PathSpec) -> Outcome {
    let config = Config::default().validate().expect("within bounds");
    let mut scenario = Scenario::new(5, forward, reverse);
    scenario.flows.push(FlowSpec::new(config.clone(), config, Workload::Bytes(3_000_000)));
    let outcome = run(&scenario, &mut trace::Off).unwrap_or_else(|failure| panic!("{failure}"));
    assert!(outcome.flows[0].is_complete());
    outcome
}

fn thin(ms: u64) -> PathSpec {
    PathSpec { thin: Some(Duration::from_millis(ms)), ..PathSpec::ideal(ONE_WAY) }
}

#[test]
fn thinned_acks_are_needless() {
    let outcome = transfer(forward(), thin(5));
    let dropped = outcome.reverse.dropped;
    assert!(dropped.thinned * 2 > outcome.reverse.offered, "{} of {}", dropped.thinned, outcome.reverse.offered);
    assert_eq!(
        (dropped.total(), outcome.flows[0].dropped, outcome.forward.dropped.policed),
        (0, outcome.forward.dropped.total(), 0)
    );
}

/// With losses every SACK block counts: a thinner that dropped one for good could cost a timeout.
#[test_case(None; "a smooth way back")]
#[test_case(Some(5); "one that comes in groups")]
fn thinned_acks_repair_as_well_as_all(gap: Option<u64>) {
    let release = gap.map(Duration::from_millis).map(|gap| ReleaseSpec { least: gap, most: gap });
    let lossy = || PathSpec { loss: LossSpec::Bernoulli(Ratio::new(1, 100).expect("a share")), ..forward() };
    let [all, few] = [PathSpec::ideal(ONE_WAY), thin(5)].map(|way| transfer(lossy(), PathSpec { release, ..way }));
    let timeouts = |outcome: &Outcome| outcome.flows[0].sender.info.expect("it connected").counters.timeouts;
    assert!(few.reverse.dropped.thinned > 100, "{}", few.reverse.dropped.thinned);
    assert_eq!((timeouts(&all), timeouts(&few)), (0, 0));
}

#[test]
fn what_a_policer_drops_is_counted_apart_and_keeps_its_rate() {
    let policer = PolicerSpec { rate: Rate::from_bits_per_sec(5_000_000).expect("not zero"), burst: 50_000 };
    let outcome = transfer(PathSpec { policer: Some(policer), ..forward() }, PathSpec::ideal(ONE_WAY));
    let (dropped, elapsed) = (outcome.forward.dropped, outcome.flows[0].elapsed().expect("it ended"));
    assert_eq!((dropped.policed, dropped.tail), (outcome.flows[0].dropped, 0));
    assert!(dropped.policed > 0);
    assert!(elapsed > policer.rate.time_for(3_000_000 - policer.burst), "{elapsed}");
}
