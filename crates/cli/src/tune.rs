//! `longhaul tune`: which settings of a profile are best over experiments, or on one path, and how surely.

mod job;
mod sets;
mod table;

use crate::ab::{self, open_store, threads};
use crate::failure::Failure;
use crate::interruption;
use crate::output::{self, RowFormat};
use crate::progress;
use crate::progress::note;
use ::profiles::{Profile, find};
use clap::Args;
use indicatif::ProgressBar;
use job::Job;
use lab::tune::search::Task;
use lab::tune::{Choices, Found, Ground, Maker, Trials, search, sensitivity};
use lab::{Experiment, RunSpec, SimBackend, Store, StoreError};
use std::path::PathBuf;

/// Arguments of `longhaul tune`.
///
/// Without an experiment and without `--set` a default set is taken: what a default has to survive. With `--set` alone it is one path.
#[derive(Args, Clone, Debug)]
pub struct TuneArgs {
    /// Built-in experiments, or paths of TOML files; of listed cells those for tuning are taken.
    #[arg(value_name = "EXPERIMENT")]
    experiments: Vec<String>,
    /// The profile whose leaves are changed: its name, or the path of a TOML file.
    #[arg(long, value_name = "NAME", default_value = "longhaul")]
    profile: String,
    /// A leaf and the values to try, as in recovery.detector.lateness_max_srtts=4,16; with --sensitivity also a leaf alone. Without any, every
    /// leaf that differs from `rfc`: numbers half and half again as large, words as `rfc` has them.
    #[arg(long, value_name = "LEAF=VALUE,…")]
    leaf: Vec<String>,
    /// The profile beside which efficiency counts.
    #[arg(long, value_name = "NAME", default_value = "linux")]
    against: String,
    /// Change a value of the path, the flow or a host; several may follow each other, separated by commas.
    #[arg(long, value_name = "KEY=VALUE,…")]
    set: Vec<String>,
    /// Seed of the search; what it finds is confirmed with the next one. Seeds of experiments judge, and are refused.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    seed: u64,
    /// Runs of each setting in each cell; below 6 there are no intervals.
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=1000))]
    iterations: u32,
    /// The most runs to make.
    #[arg(long, value_name = "RUNS", default_value_t = 100_000, conflicts_with = "sensitivity")]
    budget: usize,
    /// Report what each leaf does alone, and which are candidates for deletion, instead of searching.
    #[arg(long)]
    sensitivity: bool,
    /// Runs in parallel [default: one per processor].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    jobs: Option<u16>,
    /// Keep every run in DIR as tables in Parquet, and continue from the runs found there.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How results are written to stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: RowFormat,
}

/// Runs the command.
///
/// # Errors
/// If an option is wrong, a run of the profile as it is fails, or a result cannot be written.
pub fn run(args: &TuneArgs) -> Result<(), Failure> {
    let (profile, against) = (find(&args.profile)?, find(&args.against)?);
    let choices = choices(args, &profile)?;
    let experiments = experiments(args)?;
    let ground = |seed| Ground::new(experiments.clone(), args.iterations, seed).map_err(Failure::usage);
    let job =
        Job { profile, against, choices, ground: ground(args.seed)?, seed: args.seed, iterations: args.iterations };
    let fresh = ground(args.seed + 1)?;
    let store = open_store(args.out.as_deref())?;
    interruption::end_with(interruption::message(args.out.as_deref()))
        .map_err(|errno| Failure::Failed(format!("signals: {errno}")))?;
    if args.sensitivity { leaf_by_leaf(args, &job, store) } else { look(args, &job, &fresh, store) }
}

/// Searches, and reports what was found.
fn look(args: &TuneArgs, job: &Job, fresh: &Ground, mut store: Option<Store>) -> Result<(), Failure> {
    let task = Task { profile: &job.profile, against: &job.against, choices: &job.choices, budget: args.budget };
    let least = job.ground.runs() * 3 + fresh.runs() * 3;
    if args.budget < least {
        return Err(Failure::usage(format!(
            "--budget {}: one value takes {least} runs, with the profile as it is, the reference and the confirmation; name at least as many, \
             or fewer with `--iterations`",
            args.budget
        )));
    }
    let found = made(args, store.as_mut(), |maker| search(&task, &job.ground, fresh, maker))?;
    output::write(&match args.format {
        RowFormat::Table => table::of_search(job, &found),
        RowFormat::Jsonl => table::jsonl_of_search(job, &found),
    })?;
    conclude(&found)
}

/// Reports what leaves do.
fn leaf_by_leaf(args: &TuneArgs, job: &Job, mut store: Option<Store>) -> Result<(), Failure> {
    let (found, failure) = made(args, store.as_mut(), |maker| {
        let mut trials = Trials::new(&job.ground, maker);
        let found = sensitivity(&job.profile, &job.against, &job.choices, &mut trials)?;
        Ok((found, trials.failure))
    })?;
    output::write(&match args.format {
        RowFormat::Table => table::of_leaves(job, &found),
        RowFormat::Jsonl => table::jsonl_of_leaves(job, &found),
    })?;
    failure.iter().for_each(|failure| anstream::eprintln!("warning: {failure}"));
    Ok(())
}

/// Makes runs, with a progress bar on a terminal.
fn made<T>(
    args: &TuneArgs,
    store: Option<&mut Store>,
    make: impl FnOnce(Maker<'_>) -> Result<T, StoreError>,
) -> Result<T, Failure> {
    let bar: ProgressBar = progress::bar(0, "{pos}/{len} runs {rate} {eta} left");
    let mut begins = |runs: usize| bar.inc_length(runs as u64);
    let mut done = |_: &RunSpec| bar.inc(1);
    let jobs = threads(args.jobs);
    let found = make(Maker { backend: &SimBackend, jobs, store, begins: &mut begins, done: &mut done });
    bar.finish_and_clear();
    found.map_err(|error| Failure::Failed(format!("{error}; what was written before is kept")))
}

fn conclude(found: &Found) -> Result<(), Failure> {
    found.failure.iter().for_each(|failure| anstream::eprintln!("warning: {failure}"));
    if found.out_of_budget {
        note!("note: the budget ended the search after {} runs; `--budget` allows more", found.runs);
    }
    Ok(())
}

/// Returns the leaves to change.
fn choices(args: &TuneArgs, profile: &Profile) -> Result<Vec<Choices>, Failure> {
    let named = |text: &String| match text.contains('=') {
        false if args.sensitivity => Choices::around(text, profile),
        _ => Choices::parse(text, profile),
    };
    let mut found: Vec<Choices> = Vec::new();
    for text in &args.leaf {
        let next = named(text).map_err(Failure::usage)?;
        if found.iter().any(|known| known.leaf == next.leaf) {
            return Err(Failure::usage(format!(
                "--leaf {text}: `{}` is named twice; name all values at once",
                next.leaf
            )));
        }
        found.push(next);
    }
    if args.leaf.is_empty() {
        found = Choices::of_profile(profile);
    }
    if found.is_empty() {
        let name = &profile.name;
        return Err(Failure::usage(format!(
            "--profile {name}: it differs from `rfc` in nothing; name leaves with `--leaf`"
        )));
    }
    Ok(found)
}

/// Returns the experiments, changed.
fn experiments(args: &TuneArgs) -> Result<Vec<Experiment>, Failure> {
    let set = sets::split(&args.set);
    match (args.experiments.as_slice(), set.is_empty()) {
        ([], true) => Ground::train().map_err(Failure::usage),
        ([], false) => Ground::path(set).map_err(Failure::usage),
        (names, _) => {
            names.iter().map(|name| Ground::changed(ab::find(name)?, set.clone()).map_err(Failure::usage)).collect()
        }
    }
}
