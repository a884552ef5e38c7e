//! `longhaul unit N of M`: a part of an experiment, for batch systems that number their tasks.

use crate::ab;
use crate::failure::Failure;
use crate::{interruption, output, progress};
use clap::Args;
use lab::run::{Wanted, elsewhere};
use lab::{Overrides, Plan, SimBackend};
use std::path::PathBuf;

/// Arguments of `longhaul unit`.
#[derive(Args, Clone, Debug)]
pub struct UnitArgs {
    /// Which part, from 1.
    #[arg(value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    number: u32,
    /// The word `of`.
    #[arg(value_name = "of", value_parser = ["of"], hide_possible_values = true)]
    of: String,
    /// How many parts there are.
    #[arg(value_name = "M", value_parser = clap::value_parser!(u32).range(1..))]
    parts: u32,
    /// A built-in experiment (see `longhaul experiments`), or the path of a TOML file.
    #[arg(value_name = "EXPERIMENT")]
    experiment: String,
    /// Where the shards go: a folder that all tasks reach.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Compare these arms, as `ab --arms`.
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    arms: Vec<String>,
    /// Change a value, as `ab --set`.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Runs of each arm in each cell.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    iterations: Option<u32>,
    /// Seed of all random streams.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Keep series, too, as `ab --series`.
    #[arg(long)]
    series: bool,
}

/// Makes every Mth unit, one after the other. Units that are in the folder are not made again, and no lock is needed: a shard is there as a
/// whole or not at all.
///
/// # Errors
/// If the experiment, an option or the folder is wrong, or a run fails.
pub fn run(args: &UnitArgs) -> Result<(), Failure> {
    let UnitArgs { number, parts, .. } = *args;
    if number > parts {
        return Err(Failure::usage(format!("there is no part {number} of {parts}; parts are 1 to {parts}")));
    }
    let mut experiment = ab::find(&args.experiment)?;
    let overrides = Overrides {
        arms: args.arms.clone(),
        set: args.set.clone(),
        iterations: args.iterations,
        seed: args.seed,
        ..Overrides::default()
    };
    experiment.apply(&overrides).map_err(Failure::usage)?;
    let plan = Plan::new(experiment).map_err(Failure::usage)?;
    plan.can_be_simulated().map_err(Failure::usage)?;
    let plan = plan.without_repetitions();
    interruption::end_with(interruption::message(Some(&args.out)))
        .map_err(|errno| Failure::Failed(format!("signals: {errno}")))?;
    let tasks: Vec<elsewhere::Task> =
        elsewhere::all(&plan).into_iter().skip(number as usize - 1).step_by(parts as usize).collect();
    let runs: usize = tasks.iter().map(|task| task.runs.len()).sum();
    let wanted = if args.series { Wanted::Series } else { Wanted::Flows };
    let bar = progress::bar(runs as u64, "{pos}/{len} runs {rate} {eta} left");
    let mut failures = Vec::new();
    for task in &tasks {
        let failed = elsewhere::make(&plan, task, &SimBackend, &args.out, wanted);
        let cannot = |error| Failure::usage(format!("--out: {error}; or name another directory, which can be written"));
        failures.extend(failed.map_err(cannot)?);
        bar.inc(task.runs.len() as u64);
    }
    bar.finish_and_clear();
    for (index, failure) in &failures {
        anstream::eprintln!("error: run {}: {failure}", plan.name_of(&plan.runs[*index]));
    }
    let (units, failed) = (tasks.len(), failures.len());
    output::write(&format!("part {number} of {parts}: {units} units, {runs} runs, {failed} failed\n"))?;
    if failures.is_empty() { Ok(()) } else { Err(Failure::Reported) }
}
