//! `longhaul fidelity`: the same cells in the simulator and in real time, side by side.
//!
//! The crate `realtime` makes the comparison; this file has the arguments, the progress bar and the output.

mod args;
mod second;
mod second_table;
mod table;

use crate::ab::{open_store, threads};
use crate::failure::Failure;
use crate::interruption;
use crate::output::{self, RowFormat};
use crate::progress;
pub use args::FidelityArgs;
use args::PathKind;
use indicatif::ProgressBar;
use lab::run::stamp;
use lab::{Backend, Finished, Plan, SimBackend, Store, UsageError, execute};
use realtime::NetnsBackend;
use realtime::fidelity::{Comparison, Group, PAIRS, compare};

/// Runs the command.
///
/// # Errors
/// If an option is wrong, a privilege is missing, a run fails, or a cell is outside its band.
pub fn run(args: &FidelityArgs) -> Result<(), Failure> {
    match args.path {
        PathKind::First if args.busy || !args.cells.is_empty() => {
            Err(Failure::usage("--busy and --cells belong to the second path: add `--path second`"))
        }
        PathKind::First => compare_with_simulator(args),
        PathKind::Second if args.out.is_some() || !args.only.is_empty() => {
            Err(Failure::usage("--out and --only belong to the first path: leave out `--path second`"))
        }
        PathKind::Second => second::run(args),
    }
}

fn compare_with_simulator(args: &FidelityArgs) -> Result<(), Failure> {
    let groups: Vec<Group> = Group::ALL.into_iter().filter(|g| args.only.is_empty() || args.only.contains(g)).collect();
    let simulated = groups.iter().map(|group| group.plan(PAIRS.map(|pair| pair.0), args.runs(), args.seed));
    let simulated = simulated.collect::<Result<Vec<_>, _>>().map_err(Failure::usage)?;
    let real = groups.iter().map(|group| {
        let plan = group.plan(PAIRS.map(|pair| pair.1), args.runs(), args.seed)?;
        Ok(plan.made_by(NetnsBackend::maker()))
    });
    let real = real.collect::<Result<Vec<_>, UsageError>>().map_err(Failure::usage)?;
    // Check the output file before spending hours on the measurement.
    let page = args.write.as_deref().map(|path| table::Page::read(path, "fidelity")).transpose()?;
    let backend = NetnsBackend::new(&real[0], None, interruption::message(args.out.as_deref()))?;

    let mut comparisons = Vec::new();
    let mut stores = [open(args, "sim")?, open(args, "netns")?];
    let runs: usize = simulated.iter().chain(&real).map(|plan| plan.runs.len()).sum();
    let bar = progress::bar(runs as u64, "{pos}/{len} runs {rate} {eta} left");
    for ((group, sim), real) in groups.iter().zip(&simulated).zip(&real) {
        let there = make(sim, &SimBackend, threads(None), &mut stores[0], &bar)?;
        let here = make(real, &backend, 1, &mut stores[1], &bar)?;
        comparisons.extend(compare(*group, [(sim, &there), (real, &here)]));
    }
    bar.finish_and_clear();
    drop(backend);
    print(args, &comparisons, page)
}

fn open(args: &FidelityArgs, name: &str) -> Result<Option<Store>, Failure> {
    open_store(args.out.as_ref().map(|directory| directory.join(name)).as_deref())
}

fn make(
    plan: &Plan,
    backend: &dyn Backend,
    jobs: usize,
    store: &mut Option<Store>,
    bar: &ProgressBar,
) -> Result<Finished, Failure> {
    let finished = execute(plan, backend, jobs, store.as_mut(), &mut |_| bar.inc(1));
    let finished = finished.map_err(|error| Failure::Failed(format!("{error}; what was written before is kept")))?;
    match finished.failures.first() {
        None => Ok(finished),
        Some((index, failure)) => {
            let run = &plan.runs[*index];
            let (name, cell) = (plan.name_of(run), plan.cells[run.cell].title());
            Err(Failure::Failed(format!("run {name} ({cell}, seed {}) failed: {failure}", run.seed)))
        }
    }
}

/// Describes how the table was made: the command, the version, and other conditions.
fn headline(args: &FidelityArgs) -> String {
    let only: Vec<&str> = args.only.iter().map(|group| group.name()).collect();
    let only = if only.is_empty() { String::new() } else { format!(" --only {}", only.join(",")) };
    let mark = stamp::mark(["longhaul", "linux"], stamp::Devices::Both);
    format!(
        "{mark}\nMade by `longhaul fidelity{only} --iterations {n} --seed {} --write docs/fidelity.md`, release {}: {n} runs a side, {}.",
        args.seed,
        env!("CARGO_PKG_VERSION"),
        NetnsBackend::maker(),
        n = args.runs(),
    )
}

fn print(args: &FidelityArgs, comparisons: &[Comparison], page: Option<table::Page>) -> Result<(), Failure> {
    let written = output::write(&match args.format {
        RowFormat::Table => table::for_people(comparisons),
        RowFormat::Jsonl => comparisons.iter().map(|comparison| table::jsonl(comparison) + "\n").collect(),
    });
    page.map_or(Ok(()), |page| page.replace(&table::markdown(comparisons, &headline(args))))?;
    written?;
    let disturbed: usize = comparisons.iter().map(|comparison| comparison.disturbed).sum();
    if disturbed > 0 {
        anstream::eprintln!("warning: {disturbed} runs in real time were disturbed by the machine twice, and count");
    }
    let outside: Vec<String> = comparisons
        .iter()
        .filter(|comparison| !comparison.is_inside())
        .map(|comparison| format!("{} {} ({:.3})", comparison.cell, comparison.pair, comparison.ratio()))
        .collect();
    if outside.is_empty() {
        return Ok(());
    }
    let many = outside.len();
    Err(Failure::Failed(format!("{many} of {} comparisons are outside: {}", comparisons.len(), outside.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn args(iterations: u32) -> FidelityArgs {
        FidelityArgs {
            path: PathKind::First,
            iterations: Some(iterations),
            cells: Vec::new(),
            bytes: 0,
            busy: false,
            seed: 1,
            only: Vec::new(),
            out: None,
            format: RowFormat::Jsonl,
            write: None,
        }
    }

    #[test]
    fn the_page_says_what_made_its_table() {
        let args = FidelityArgs { only: vec![Group::Wan, Group::ReorderEarly], ..args(6) };
        let made = "Made by `longhaul fidelity --only wan,reorder-early --iterations 6 --seed 1 --write docs/fidelity.md`, release ";
        let text = headline(&args);
        let made = format!("-->\n\n{made}{}: 6 runs a side, netns on kernel ", env!("CARGO_PKG_VERSION"));
        assert!(text.starts_with("<!-- behaviour:\n") && text.contains(&made), "{text}");
    }
}
