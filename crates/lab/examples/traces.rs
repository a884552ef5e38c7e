//! Prints digests of the canonical traces of every built-in profile in every built-in experiment, on both kinds of device, one
//! per line: `EXPERIMENT/PROFILE/DEVICE=NUMBER`. `cargo xtask traces` keeps them in `docs/traces.txt`.
//!
//! A number covers all cells of the experiment with three seeds each, and no transfer larger than [`MOST`]. An arm that changes
//! leaves has separate lines, as `EXPERIMENT/arm ARM/DEVICE`.

use longhaul_lab::run::{scenario, stamp};
use longhaul_lab::spec::Flow;
use longhaul_lab::{Ends, Plan, RunSpec, spec};
use sim::Device;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use trace::Digest;

/// Enough for slow start, its losses and tens of round trips after them.
const MOST: u64 = 4_000_000;
const SEEDS: u32 = 3;
const DEVICES: [(&str, Device); 2] = [("plain", Device::PLAIN), ("super", Device::SUPER_SEGMENTS)];

/// A line to come.
struct Line {
    name: String,
    runs: Vec<RunSpec>,
    device: Device,
}

fn main() {
    let lines: Vec<Line> = spec::BUILTIN.iter().flat_map(|(name, _)| of_experiment(name)).collect();
    let next = AtomicUsize::new(0);
    let numbers = Mutex::new(vec![0; lines.len()]);
    let jobs = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(line) = lines.get(at) else { break };
                    let number = number(line);
                    numbers.lock().expect("no line panics")[at] = number;
                }
            });
        }
    });
    let numbers = numbers.into_inner().expect("no line panics");
    lines.iter().zip(numbers).for_each(|(line, number)| println!("{}={number:016x}", line.name));
}

fn of_experiment(name: &str) -> Vec<Line> {
    let mut experiment = spec::builtin(name).expect("it is built in");
    experiment.iterations = SEEDS;
    let plan = Plan::new(experiment).unwrap_or_else(|error| panic!("{name}: {error}"));
    // What is digested here are runs of one flow.
    let alone = |run: &&RunSpec| run.point.company.is_empty();
    let of_arm = |arm| distinct(plan.runs.iter().filter(alone).filter(|run| run.arm == arm).map(smaller));
    let mut lines = Vec::new();
    for profile in profiles::builtin() {
        let ends = Arc::new(Ends::Profile(profile.config().clone()));
        // The arms' ends do not matter here, so cells that differ only in them count as one.
        let runs = of_arm(0).into_iter().map(|run| RunSpec { ends: Arc::clone(&ends), ..run });
        lines.extend(on_both(&format!("{name}/{}", profile.name), &distinct(runs)));
    }
    for (at, arm) in plan.arms.iter().enumerate() {
        let runs = of_arm(at);
        let is_built_in = |ends: &Ends| {
            profiles::builtin()
                .iter()
                .any(|profile| matches!(ends, Ends::Profile(config) if config == profile.config()))
        };
        if !runs.iter().all(|run| is_built_in(&run.ends)) {
            lines.extend(on_both(&format!("{name}/arm {}", arm.label), &runs));
        }
    }
    lines
}

fn smaller(run: &RunSpec) -> RunSpec {
    let mut run = run.clone();
    if let Flow::Bytes(bytes) = &mut Arc::make_mut(&mut run.point).flow {
        *bytes = MOST.min(*bytes);
    }
    run
}

/// Drops runs that differ only in a seed drawn from the size of the transfer.
fn distinct(runs: impl Iterator<Item = RunSpec>) -> Vec<RunSpec> {
    let mut kept: Vec<RunSpec> = Vec::new();
    for run in runs {
        let same =
            |other: &RunSpec| other.iteration == run.iteration && other.point == run.point && other.ends == run.ends;
        if !kept.iter().any(same) {
            kept.push(run);
        }
    }
    kept
}

/// The lines of an experiment in which no flow is alone are none.
fn on_both(name: &str, runs: &[RunSpec]) -> Vec<Line> {
    let devices = DEVICES.iter().filter(|_| !runs.is_empty());
    devices
        .map(|(suffix, device)| Line { name: format!("{name}/{suffix}"), runs: runs.to_vec(), device: *device })
        .collect()
}

fn number(line: &Line) -> u64 {
    let mut digest = Digest::default();
    for run in &line.runs {
        let mut scenario = scenario(run).expect("a profile can be simulated");
        (scenario.client_device, scenario.server_device) = (line.device, line.device);
        stamp::run(&scenario, &mut digest);
    }
    digest.finish()
}
