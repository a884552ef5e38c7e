//! Runs in virtual time.

use crate::plan::RunSpec;
use crate::run::backend::{Backend, RunFailure};
use crate::run::company;
use crate::run::hosts::{equip, receiver, removed, sender};
use crate::run::ideal::ideal_time;
use crate::run::measured::Measured;
use crate::run::network::{paths, second};
use crate::run::parts::{Kept, Made, Seconds, Wanted};
use crate::run::startup;
use crate::spec::{Ends, Flow};
use base::Duration;
use sim::{FlowSpec, Outcome, Scenario, Workload};
use trace::Observer;

/// The simulator.
#[derive(Clone, Copy, Debug, Default)]
pub struct SimBackend;

impl Backend for SimBackend {
    fn run(&self, spec: &RunSpec) -> Result<Measured, RunFailure> {
        simulate(spec, &mut trace::Off)
    }

    fn run_in_parts(&self, spec: &RunSpec, wanted: Wanted) -> Result<Made, RunFailure> {
        let mut kept = Kept::default();
        match wanted {
            Wanted::Nothing => self.run(spec).map(Made::from),
            Wanted::Flows => Ok(made(spec, &mut trace::Off, Some(&mut kept)).map(|found| kept.made(found, None))?),
            Wanted::Series => {
                let mut seconds = Seconds::default();
                let found = made(spec, &mut seconds, Some(&mut kept))?;
                Ok(kept.made(found, Some(&seconds)))
            }
        }
    }
}

/// Makes a run in the simulator under `observer`. A run that loses segments by position has a twin without losses, which is not
/// observed: the difference is the cost of the losses.
///
/// # Errors
/// As [`Backend::run`].
pub fn simulate<O: Observer>(spec: &RunSpec, observer: &mut O) -> Result<Measured, RunFailure> {
    made(spec, observer, None)
}

/// The same, with the flows of what is observed, if they are asked for.
fn made<O: Observer>(spec: &RunSpec, observer: &mut O, kept: Option<&mut Kept>) -> Result<Measured, RunFailure> {
    let mut found = if spec.point.company.is_empty() {
        simulate_alone(spec, observer, kept)?
    } else {
        company::simulate(spec, observer, kept)?
    };
    if let Some(twin) = spec.of_twin() {
        found.twin_ns = Some(simulate(&twin, &mut trace::Off)?.elapsed_ns);
    }
    Ok(found)
}

/// Makes a run of one flow.
fn simulate_alone<O: Observer>(
    spec: &RunSpec,
    observer: &mut O,
    kept: Option<&mut Kept>,
) -> Result<Measured, RunFailure> {
    let mut scenario = scenario(spec)?;
    let mut found = simulate_one(spec, &scenario, observer, kept)?;
    if !scenario.client_pauses.is_empty() {
        let ideal = ideal_time(&spec.point, spec.seed, found.bytes);
        let sent = ideal.saturating_sub(spec.point.whole_rtt() / 2);
        found.removed_ns = Some(removed(&scenario.client_pauses, &spec.point, Duration::ZERO, sent).as_nanos());
    }
    if !scenario.forward.drops.is_empty() {
        scenario.forward.drops.clear();
        found.undropped_ns = Some(simulate_one(spec, &scenario, &mut trace::Off, None)?.elapsed_ns);
    }
    Ok(found)
}

fn simulate_one<O: Observer>(
    spec: &RunSpec,
    scenario: &Scenario,
    observer: &mut O,
    kept: Option<&mut Kept>,
) -> Result<Measured, RunFailure> {
    let made = startup::run((scenario, &spec.point), |_| true, observer);
    let (outcome, startup) = made.map_err(|failure| RunFailure(failure.to_string()))?;
    if let Some(kept) = kept {
        kept.note(&spec.point, &[], &outcome);
    }
    Ok(Measured { startup, ..measured(&outcome)?.with_path(&spec.point, spec.seed, &outcome.along()) })
}

/// For a run of several flows.
const ONE_FLOW: &str = "this needs a run of one flow, and the run has several: set `flow.company` to none";

/// Returns a run of one flow as a scenario. Both ends are the arm's.
///
/// # Errors
/// When the ends are not a profile, or the run has several flows.
pub fn scenario(spec: &RunSpec) -> Result<Scenario, RunFailure> {
    let Ends::Profile(config) = &*spec.ends else {
        return Err(RunFailure("only profiles can be simulated: make the run with `--backend netns`".to_owned()));
    };
    let point = &spec.point;
    if !point.company.is_empty() {
        return Err(RunFailure(ONE_FLOW.to_owned()));
    }
    let [forward, reverse] = paths(point, spec.seed);
    let mut scenario = Scenario::new(spec.seed, forward, reverse);
    scenario.second = second(point);
    equip(&mut scenario, point);
    let workload = match point.flow {
        Flow::Bytes(bytes) => Workload::Bytes(bytes),
        Flow::Seconds(span) => Workload::For(span),
    };
    scenario.flows.push(FlowSpec::new(sender(point, config)?, receiver(point, config), workload));
    Ok(scenario)
}

pub(crate) fn measured(outcome: &Outcome) -> Result<Measured, RunFailure> {
    let flow = outcome.flows.first().expect("a run has one flow");
    let ended = |what: &str, end: &sim::EndOutcome| match end.closed {
        Some(reason) => format!("{what} {reason}"),
        None => format!("{what} never connected"),
    };
    let incomplete = || {
        RunFailure(format!(
            "the flow did not come through: {} of {} bytes read; {}, {}",
            flow.bytes_read,
            flow.bytes_written,
            ended("sender:", &flow.sender),
            ended("receiver:", &flow.receiver)
        ))
    };
    let elapsed = flow.elapsed().filter(|span| flow.is_complete() && !span.is_zero()).ok_or_else(incomplete)?;
    let (sender, receiver) = flow.sender.info.zip(flow.receiver.info).ok_or_else(incomplete)?;
    Ok(Measured {
        bytes: flow.bytes_read,
        elapsed_ns: elapsed.as_nanos(),
        dropped: outcome.along().dropped.total(),
        packets: outcome.packets(),
        ..Measured::of_profile(flow.bytes_read, elapsed, &sender, &receiver)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use crate::run::{MockBackend, ideal_time};
    use crate::spec;
    use crate::spec::Overrides;
    use base::Duration;
    use netem::{Buffer, LossSpec, PathSpec, ReorderSpec};

    fn plan(experiment: &str, set: &[&str]) -> Plan {
        let mut experiment = spec::builtin(experiment).unwrap();
        let set = set.iter().map(|text| (*text).to_owned()).collect();
        experiment.apply(&Overrides { set, iterations: Some(1), ..Overrides::default() }).unwrap();
        Plan::new(experiment).unwrap()
    }

    #[test]
    fn a_cell_becomes_the_path_that_its_words_describe() {
        let plan = plan("reorder", &["path.rtt=25ms", "flow.bytes=1MB", "path.loss=1%"]);
        let scenario = scenario(&plan.runs[0]).unwrap();
        let one_percent = base::Ratio::new(1, 100).unwrap();
        assert_eq!(scenario.forward.delay, Duration::from_micros(12_500));
        assert_eq!(scenario.forward.buffer, Buffer::Bytes(312_500));
        assert_eq!(scenario.forward.loss, LossSpec::Bernoulli(one_percent));
        let late = ReorderSpec::Late { probability: one_percent, extra: Duration::from_millis(5) };
        assert_eq!(scenario.forward.reorder, late);
        assert_eq!(scenario.reverse, PathSpec::ideal(Duration::from_micros(12_500)));
        assert_eq!(scenario.flows[0].workload, Workload::Bytes(1_000_000));
        assert_eq!(scenario.flows[0].client, scenario.flows[0].server);
    }

    #[test]
    fn the_same_data_is_lost_whoever_sends_it() {
        let plan = plan("wan", &["path.rtt=25ms", "flow.bytes=300kB", "path.drop=100kB..200kB x2 + last 3"]);
        assert_eq!(scenario(&plan.runs[0]).unwrap().forward.drops.len(), 2);
        for run in &plan.runs {
            let found = SimBackend.run(run).unwrap();
            assert_eq!(found.dropped, 5, "{run:?}");
            let (repair, beyond_the_twin) =
                (found.repair_rtts(&run.point), found.elapsed_ns - found.undropped_ns.unwrap());
            assert_eq!(repair, Some(beyond_the_twin as f64 / 25e6));
            assert!(repair > Some(1.0), "three segments lost at the end take a round trip or more");
        }
    }

    #[test]
    fn decisions_of_a_managed_queue_are_counted_apart() {
        let run = |queue: &str| {
            let plan = plan("wan", &["path.rtt=25ms", "flow.bytes=2MB", &format!("path.queue={queue}")]);
            SimBackend.run(&plan.runs[0]).unwrap()
        };
        let plain = run("droptail");
        assert_eq!((plain.aqm_drops, plain.marks), (None, None));
        assert!(!serde_json::to_string(&plain).unwrap().contains("marks"), "lines of such runs stay as they were");
        let managed = run("codel target=1ms interval=10ms limit=100pkt");
        let (aqm, marks) = (managed.aqm_drops.unwrap(), managed.marks.unwrap());
        assert!(aqm > 0 && managed.dropped >= aqm && marks == 0, "{managed:?}");
    }

    #[test]
    fn ideal_time_is_handshake_packets_and_half_a_round_trip() {
        let plan = plan("wan", &["path.rtt=100ms", "flow.bytes=32MB"]);
        // 21,918 packets of 1,500 bytes at 100 Mbit/s take 2.63016 s.
        let expected = Duration::from_micros(100_000 + 2_630_160 + 50_000);
        assert_eq!(ideal_time(&plan.runs[0].point, 1, 32_000_000), expected);
    }

    #[test]
    fn a_simulated_flow_is_faster_than_nothing_and_slower_than_ideal() {
        let plan = plan("wan", &["path.rtt=25ms", "flow.bytes=300kB"]);
        for run in &plan.runs {
            let found = SimBackend.run(run).unwrap();
            let efficiency = found.efficiency(&run.point);
            assert!(efficiency > 0.05 && efficiency <= 1.0, "{efficiency}");
            assert_eq!(found.bytes, 300_000);
            assert!(found.packets > 300);
            assert_eq!(SimBackend.run(run), Ok(found));
        }
    }

    #[test]
    fn a_timed_flow_ends_and_delivers_what_was_written() {
        let plan = plan("wan", &["path.rtt=25ms", "flow.seconds=0.5"]);
        let found = SimBackend.run(&plan.runs[0]).unwrap();
        assert!(found.bytes > 100_000 && found.elapsed_ns > 500_000_000, "{found:?}");
    }

    #[test]
    fn goodput_is_payload_bits_a_microsecond() {
        let plan = plan("wan", &["path.rtt=25ms", "flow.bytes=1MB"]);
        let found = MockBackend.run(&plan.runs[1]).unwrap();
        assert_eq!(found.elapsed_ns, 1_000_000 * 2 * 8_000);
        assert!((found.goodput_mbps() - 0.5).abs() < 1e-12);
    }
}
