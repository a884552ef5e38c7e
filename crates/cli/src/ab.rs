//! `longhaul ab`: reads an experiment, runs it, and reports the results.

pub mod again;
pub mod args;
pub mod engine;

use crate::backend::BackendChoice;
use crate::failure::{Failure, cannot_trace};
use crate::interruption;
use crate::machine;
use crate::output::ResultFormat;
use crate::progress;
use crate::progress::note;
use crate::{output, page, summary, table};
use ::profiles::nearest;
use args::AbArgs;
use lab::results::{self, Conditions};
use lab::spec::{Primary, Role};
use lab::{Backend, Experiment, Finished, MockBackend, Overrides, Plan, SimBackend};
use lab::{CellChoice, Store, StoreError, execute, spec};
use realtime::{NetnsBackend, Traced};
use std::path::Path;
use std::time::Instant;

/// Runs the command.
///
/// # Errors
/// If the experiment or an option is wrong, a run fails, or an expectation is not met.
pub fn run(args: &AbArgs) -> Result<(), Failure> {
    let mut plan = plan(args)?;
    args.report.as_deref().map_or(Ok(()), |path| page::can_be_written("--report", path))?;
    if let Some(most) = args.until_decided.filter(|most| *most < plan.experiment.iterations) {
        let first = plan.experiment.iterations;
        return Err(Failure::usage(format!(
            "--until-decided {most}: each arm begins with {first} runs; name at least as many, or fewer with `--iterations`"
        )));
    }
    engine::make(args)?;
    let mut store = open_store(args.out.as_deref())?;
    if args.series {
        store = store.map(Store::with_series).transpose().map_err(cannot_use)?;
    }
    let (finished, elapsed) = make(args, &mut plan, store.as_mut())?;
    store.as_mut().map_or(Ok(()), |store| machine::ended(store, &finished, elapsed))?;
    without_series(store.as_ref());
    disturbances(&plan, &finished);
    let rows = results::rows(&plan, &finished);
    let written = output::write(&match args.format {
        ResultFormat::Table => table::ab(&plan, &rows),
        ResultFormat::Jsonl => rows.iter().map(|row| results::jsonl(row) + "\n").collect(),
        ResultFormat::Csv => results::csv(&rows),
        ResultFormat::Markdown => table::markdown(&plan, &rows),
    });
    let Conditions { unmet, unchecked } =
        if args.run.is_none() { results::conditions(&plan, &rows) } else { Conditions::default() };
    complain(args, &plan, &finished, &unmet);
    written?;
    if let Some(path) = &args.report {
        let commands = again::commands(args, &plan, &std::env::args().skip(1).collect::<Vec<_>>());
        page::write("--report", path, &commands, threads(args.jobs), (&plan, &finished, &rows))?;
    }
    unchecked.iter().for_each(|sentence| note!("note: {sentence}"));
    summary::print(&finished, elapsed);
    if finished.failures.is_empty() && unmet.is_empty() { Ok(()) } else { Err(Failure::Reported) }
}

/// Unfolds what the command asks for.
///
/// # Errors
/// If the experiment or an option is wrong.
pub fn plan(args: &AbArgs) -> Result<Plan, Failure> {
    let mut experiment = find(&args.experiment)?;
    let overrides = Overrides {
        arms: args.arms.clone(),
        set: args.set.clone(),
        iterations: args.iterations,
        seed: args.seed,
        cells: match &args.draw {
            Some(seed) => CellChoice::Drawn(seed.clone()),
            None if args.hold_out => CellChoice::Of(Role::HoldOut),
            None => CellChoice::Of(Role::Train),
        },
    };
    experiment.apply(&overrides).map_err(Failure::usage)?;
    experiment.arms.iter().filter_map(|arm| arm.profile()).for_each(|profile| crate::profiles::warn(profile));
    let mut plan = Plan::new(experiment).map_err(Failure::usage)?;
    plan.primary = Primary::find(&args.metric).map_err(|refusal| Failure::usage(refusal.at("--metric")))?;
    match args.backend {
        BackendChoice::Sim => {
            plan.can_be_simulated().map_err(Failure::usage)?;
            plan = plan.without_repetitions();
        }
        BackendChoice::Netns if args.series => {
            return Err(Failure::usage(
                "--series: only the simulator keeps series; leave it out with `--backend netns`",
            ));
        }
        BackendChoice::Netns => plan = plan.made_by(NetnsBackend::maker()),
        BackendChoice::Mock => {}
    }
    if let Some(name) = &args.run {
        plan.keep_only(name).map_err(Failure::usage)?;
    }
    Ok(plan)
}

/// Finds a built-in experiment by its name, or a file by its path.
pub fn find(name: &str) -> Result<Experiment, Failure> {
    if let Some(experiment) = spec::builtin(name) {
        return Ok(experiment);
    }
    let path = Path::new(name);
    if !name.ends_with(".toml") && !name.contains(std::path::MAIN_SEPARATOR) && !path.is_file() {
        let known: Vec<&str> = spec::BUILTIN.iter().map(|(name, _)| *name).collect();
        let hint =
            nearest(name, known.iter().copied()).map_or(String::new(), |word| format!("did you mean `{word}`? "));
        let known = known.join(", ");
        return Err(Failure::usage(format!(
            "unknown experiment `{name}`: {hint}Built in are {known}; a path to a TOML file also works"
        )));
    }
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("cannot read the experiment `{name}`: {error}")))?;
    let stem = path.file_stem().map_or_else(|| name.into(), |stem| stem.to_string_lossy());
    Ok(spec::read(&stem, name, &text)?)
}

/// Opens the results kept in `directory`, if one is named; says what is worth knowing of them.
///
/// # Errors
/// If the directory cannot hold results.
pub fn open_store(directory: Option<&Path>) -> Result<Option<Store>, Failure> {
    let Some(directory) = directory else { return Ok(None) };
    let mut store = Store::open(directory).map_err(cannot_use)?;
    store.notes().iter().for_each(|note| note!("note: {note}"));
    machine::began(&mut store)?;
    Ok(Some(store))
}

/// Says which runs have no series although they are asked for.
fn without_series(store: Option<&Store>) {
    let lacking = store.map_or(0, Store::without_series);
    if lacking > 0 {
        note!(
            "note: {lacking} of these runs were kept without series and are not made again; name another directory with \
             `--out` for series of all"
        );
    }
}

/// Returns the requested number of threads, or the number of processors.
pub fn threads(asked: Option<u16>) -> usize {
    asked.map_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get), usize::from)
}

/// Says why a directory for results is rejected, and how to fix it.
fn cannot_use(error: StoreError) -> Failure {
    Failure::usage(format!("--out: {error}; or name another directory, which can be written"))
}

/// Makes the runs, with a progress bar on a terminal.
fn make(
    args: &AbArgs,
    plan: &mut Plan,
    mut store: Option<&mut Store>,
) -> Result<(Finished, std::time::Duration), Failure> {
    let jobs = jobs(args);
    let untraced = |error: std::io::Error| {
        let path = args.trace.as_deref().unwrap_or(Path::new("")).display();
        Failure::Usage(cannot_trace(format_args!("`{path}`: {error}")))
    };
    let trace = args.trace.as_deref().map(Traced::create).transpose().map_err(untraced)?;
    let message = interruption::message(args.out.as_deref());
    let real = match args.backend {
        BackendChoice::Netns => Some(NetnsBackend::new(plan, trace.as_ref(), message)?),
        BackendChoice::Sim | BackendChoice::Mock => {
            interruption::end_with(message).map_err(|errno| Failure::Failed(format!("signals: {errno}")))?;
            None
        }
    };
    let bar = progress::bar(plan.runs.len() as u64, "{pos}/{len} runs {rate} {eta} left");
    let mut progress = |_: &lab::RunSpec| bar.inc(1);
    let began = Instant::now();
    let backend: &dyn Backend = match (&real, &trace) {
        (Some(real), _) => real,
        (None, Some(traced)) => traced,
        (None, None) if args.backend == BackendChoice::Mock => &MockBackend,
        (None, None) => &SimBackend,
    };
    let finished = until_decided(args, plan, &mut |part| {
        bar.set_length(bar.position() + part.runs.len() as u64);
        execute(part, backend, jobs, store.as_deref_mut(), &mut progress)
    });
    drop(real);
    trace.map(Traced::finish).transpose().map_err(untraced)?;
    let elapsed = began.elapsed();
    bar.finish_and_clear();
    let finished = finished.map_err(|error| Failure::Failed(format!("{error}; what was written before is kept")))?;
    Ok((finished, elapsed))
}

/// Makes the runs of a plan, and adds more until cells are decided, if that is asked for.
///
/// # Errors
/// Those of `make`.
pub fn until_decided<E>(
    args: &AbArgs,
    plan: &mut Plan,
    make: &mut dyn FnMut(&Plan) -> Result<Finished, E>,
) -> Result<Finished, E> {
    match args.until_decided {
        None => make(plan),
        Some(most) => results::until_decided(plan, most, make),
    }
}

/// Returns the number of parallel runs. In real time a run must not share the machine, not even with another run.
fn jobs(args: &AbArgs) -> usize {
    if args.backend == BackendChoice::Netns {
        if args.jobs.is_some_and(|jobs| jobs > 1) {
            anstream::eprintln!("warning: --jobs: runs in real time are made one after the other");
        }
        return 1;
    }
    threads(args.jobs)
}

/// Reports which runs in real time the machine disturbed.
fn disturbances(plan: &Plan, finished: &Finished) {
    let names = |wanted: fn(&lab::Punctuality) -> bool| -> Vec<String> {
        let runs = plan.runs.iter().zip(&finished.measured);
        let of = |(run, measured): (_, &Option<lab::Measured>)| {
            measured.and_then(|measured| measured.punctuality).filter(wanted).map(|_| plan.name_of(run).to_string())
        };
        runs.filter_map(of).collect()
    };
    let (again, disturbed) = (names(|run| run.attempts > 1), names(|run| run.disturbed));
    if !again.is_empty() {
        let late = realtime::LATE;
        note!(
            "note: {} runs were made twice, because packets left more than {late} late: {}",
            again.len(),
            again.join(", ")
        );
    }
    if !disturbed.is_empty() {
        anstream::eprintln!(
            "warning: {} of them were disturbed again, and count nevertheless: {}",
            disturbed.len(),
            disturbed.join(", ")
        );
    }
}

/// Number of failures shown in full; more would be repetitive.
const SHOWN: usize = 5;

fn complain(args: &AbArgs, plan: &Plan, finished: &Finished, unmet: &[(usize, String)]) {
    for (index, failure) in finished.failures.iter().take(SHOWN) {
        let run = &plan.runs[*index];
        let name = plan.name_of(run);
        let (cell, seed) = (plan.cells[run.cell].title(), run.seed);
        anstream::eprintln!(
            "error: run {name} ({cell}, seed {seed}) failed: {failure}\n  replay: {}",
            again::replay(args, plan, &[], Some(&name.to_string()))
        );
    }
    if finished.failures.len() > SHOWN {
        anstream::eprintln!("error: {} more runs failed", finished.failures.len() - SHOWN);
    }
    for (cell, complaint) in unmet {
        let cell = &plan.cells[*cell];
        let title = cell.title();
        anstream::eprintln!(
            "error: {title}, seed {}: {complaint}\n  replay: {}",
            plan.experiment.seed,
            again::replay(args, plan, &cell.swept, None)
        );
    }
}
