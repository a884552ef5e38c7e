//! `longhaul ab`: reads an experiment, runs it, and reports the results.

use crate::backend::BackendChoice;
use crate::failure::{Failure, cannot_trace};
use crate::interruption;
use crate::machine;
use crate::output::RowFormat;
use crate::{output, summary, table};
use ::profiles::nearest;
use clap::Args;
use lab::results::{self, Conditions};
use lab::spec::{Primary, Role};
use lab::{Backend, Experiment, Finished, MockBackend, Overrides, Plan, RunName, SimBackend};
use lab::{CellChoice, Store, StoreError, execute, spec};
use realtime::{NetnsBackend, Traced};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Arguments of `longhaul ab`.
#[derive(Args, Clone, Debug)]
pub struct AbArgs {
    /// A built-in experiment (see `longhaul experiments`), or the path of a TOML file.
    #[arg(value_name = "EXPERIMENT")]
    experiment: String,
    /// Profiles, arms of the experiment, or paths of profiles in TOML files; in real time also kernel:cubic, kernel:bbr and
    /// kernel:reno. The first is the reference, one named twice draws its own seeds.
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    arms: Vec<String>,
    /// Runs of each arm in each cell.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    iterations: Option<u32>,
    /// Add runs to each cell until its verdicts are clear, up to N of each arm (at most 1000). Its intervals then hold however
    /// often one looks at them; cells that stay open are `undecided`.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(9..=1000), conflicts_with = "run")]
    until_decided: Option<u32>,
    /// What arms are compared by: goodput, or a metric of which less or more is better, such as completion_p99_ms.
    #[arg(long, value_name = "METRIC", default_value = "goodput")]
    metric: String,
    /// Seed of all random streams.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Runs in parallel [default: one per processor; in real time always one].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    jobs: Option<u16>,
    /// Keep every run in DIR as tables in Parquet, DIR/runs and DIR/flows, and continue from the runs found there.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Keep what each flow sends, gets acknowledged, and may have in flight, second by second, in DIR/series, too; of the
    /// runs made now, since those found there are not made again.
    #[arg(long, requires = "out")]
    series: bool,
    /// How results are written to stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: RowFormat,
    /// Change a value: path.{rate,rtt,buffer,loss,drop,jitter,reorder.{probability,delay,mode,queues}}, flow.bytes, or a leaf of
    /// an arm's profile, as in server-2022.rto.min=200ms. Several values, separated by commas, make a sweep. A changed kind keeps
    /// the leaves that the new kind also has. The experiment's expectations are then not checked.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Make the cells that judge a tuned profile, instead of those for tuning: each look is a line in docs/holdout.md.
    #[arg(long)]
    hold_out: bool,
    /// Make forty cells that SEED draws from the ranges that the experiment declares.
    #[arg(long, value_name = "SEED", conflicts_with = "hold_out")]
    draw: Option<String>,
    /// Make only this run, named as in the message about a failed run.
    #[arg(long, value_name = "CELL/ARM/ITERATION", conflicts_with = "out")]
    run: Option<RunName>,
    /// Write the run's events to a file, one per line.
    #[arg(long, value_name = "FILE", requires = "run")]
    trace: Option<PathBuf>,
    /// What makes the runs: the simulator, or real time between two network namespaces of this machine, which needs root.
    #[arg(long, value_name = "sim|netns", default_value = "sim", hide_possible_values = true)]
    backend: BackendChoice,
}

/// Runs the command.
///
/// # Errors
/// If the experiment or an option is wrong, a run fails, or an expectation is not met.
pub fn run(args: &AbArgs) -> Result<(), Failure> {
    let mut plan = plan(args)?;
    if let Some(most) = args.until_decided.filter(|most| *most < plan.experiment.iterations) {
        let first = plan.experiment.iterations;
        return Err(Failure::usage(format!(
            "--until-decided {most}: each arm begins with {first} runs; name at least as many, or fewer with `--iterations`"
        )));
    }
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
        RowFormat::Table => table::ab(&plan, &rows),
        RowFormat::Jsonl => rows.iter().map(|row| results::jsonl(row) + "\n").collect(),
    });
    let Conditions { unmet, unchecked } =
        if args.run.is_none() { results::conditions(&plan, &rows) } else { Conditions::default() };
    complain(args, &plan, &finished, &unmet);
    written?;
    unchecked.iter().for_each(|sentence| anstream::eprintln!("note: {sentence}"));
    summary::print(&finished, elapsed);
    if finished.failures.is_empty() && unmet.is_empty() { Ok(()) } else { Err(Failure::Reported) }
}

fn plan(args: &AbArgs) -> Result<Plan, Failure> {
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
    store.notes().iter().for_each(|note| anstream::eprintln!("note: {note}"));
    machine::began(&mut store)?;
    Ok(Some(store))
}

/// Says which runs have no series although they are asked for.
fn without_series(store: Option<&Store>) {
    let lacking = store.map_or(0, Store::without_series);
    if lacking > 0 {
        anstream::eprintln!(
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
    let bar = output::progress_bar(plan.runs.len() as u64, "{pos}/{len} runs {eta}");
    let mut progress = |_: &lab::RunSpec| bar.inc(1);
    let began = Instant::now();
    let backend: &dyn Backend = match (&real, &trace) {
        (Some(real), _) => real,
        (None, Some(traced)) => traced,
        (None, None) if args.backend == BackendChoice::Mock => &MockBackend,
        (None, None) => &SimBackend,
    };
    let finished = match args.until_decided {
        None => execute(plan, backend, jobs, store, &mut progress),
        Some(most) => results::until_decided(plan, most, &mut |part| {
            bar.set_length(bar.position() + part.runs.len() as u64);
            execute(part, backend, jobs, store.as_deref_mut(), &mut progress)
        }),
    };
    drop(real);
    trace.map(Traced::finish).transpose().map_err(untraced)?;
    let elapsed = began.elapsed();
    bar.finish_and_clear();
    let finished = finished.map_err(|error| Failure::Failed(format!("{error}; what was written before is kept")))?;
    Ok((finished, elapsed))
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
        anstream::eprintln!(
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
            replay(args, plan, &[], Some(&name))
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
            replay(args, plan, &cell.swept, None)
        );
    }
}

/// Returns the command that repeats the same runs: one run by name, or one cell.
fn replay(args: &AbArgs, plan: &Plan, swept: &[(String, String)], run: Option<&RunName>) -> String {
    let program = std::env::args().next().unwrap_or_else(|| "longhaul".to_owned());
    let mut words = vec![program, "ab".to_owned(), args.experiment.clone()];
    let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
    if !args.arms.is_empty() {
        option("--arms", args.arms.join(","));
    }
    for set in args.set.iter().cloned().chain(swept.iter().map(|(key, value)| format!("{key}={value}"))) {
        option("--set", set);
    }
    if let (Some(most), None) = (args.until_decided, run) {
        option("--until-decided", most.to_string());
    }
    if args.metric != Primary::default().name {
        option("--metric", args.metric.clone());
    }
    if let Some(seed) = &args.draw {
        option("--draw", seed.clone());
    }
    option("--iterations", plan.experiment.iterations.to_string());
    option("--seed", plan.experiment.seed.to_string());
    match args.backend {
        BackendChoice::Sim => {}
        BackendChoice::Netns => option("--backend", "netns".to_owned()),
        BackendChoice::Mock => option("--backend", "mock".to_owned()),
    }
    if let Some(name) = run {
        option("--run", name.to_string());
    }
    if args.hold_out {
        words.push("--hold-out".to_owned());
    }
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./,:=%@+#".contains(c);
    if !word.is_empty() && !word.starts_with('#') && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_are_quoted_only_when_a_shell_would_change_them() {
        for (word, expected) in [
            ("path.rtt=25ms,50ms", "path.rtt=25ms,50ms"),
            ("1/a#2/3", "1/a#2/3"),
            ("a b", "'a b'"),
            ("", "''"),
            ("it's", "'it'\\''s'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
