//! `longhaul headlines`: measures every published result again.

mod fit;
mod fit_table;
mod page;
mod table;

use crate::ab::{open_store, threads};
use crate::backend::BackendChoice;
use crate::failure::Failure;
use crate::output::{self, RowFormat};
use crate::progress;
use crate::progress::note;
use ::profiles::nearest;
use clap::Args;
use lab::headlines::{Backends, Claim, Evidence, Finding, Verdict, claims, evidence, find};
use lab::run::stamp;
use lab::{MockBackend, SimBackend, StaleSackBackend, Store};
use std::path::PathBuf;
use std::time::Instant;

/// Arguments of `longhaul headlines`.
///
/// Exit code 0 if no row is `not reproduced`, else 1: outside its band, and of the wrong sign or order.
#[derive(Args, Clone, Debug)]
pub struct HeadlinesArgs {
    /// How results are written to stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: RowFormat,
    /// Runs at the same time [default: one per processor].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    jobs: Option<u16>,
    /// Only these rows.
    #[arg(long, value_name = "ROW,…", value_delimiter = ',', num_args = 1..)]
    only: Vec<String>,
    /// Keep every run in DIR as tables in Parquet, and continue from the runs found there.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write the page: the table, and for each row what the traces show.
    #[arg(long, value_name = "FILE", conflicts_with = "only")]
    write: Option<PathBuf>,
    /// What makes the runs.
    #[arg(long, value_name = "BACKEND", default_value = "sim", hide = true)]
    backend: BackendChoice,
    /// Search leaves of servers and settings of experiments that no source states for combinations that reproduce more rows together.
    #[arg(long)]
    fit: bool,
    #[command(flatten)]
    fitting: fit::FitArgs,
}

/// Runs the command.
///
/// # Errors
/// When an option is wrong, a file cannot be written, or a row with a band is not reproduced.
pub fn run(args: &HeadlinesArgs) -> Result<(), Failure> {
    if args.fit {
        return fit::run(&fit::Job {
            rows: banded(&args.only)?,
            fitting: &args.fitting,
            backend: args.backend,
            jobs: args.jobs,
            out: args.out.as_deref(),
            write: args.write.as_deref(),
            format: args.format,
        });
    }
    let claims = choose(&args.only)?;
    let mut store = open_store(args.out.as_deref())?;
    let began = Instant::now();
    let evidence = make(args, &claims, store.as_mut())?;
    let findings: Vec<Finding> = claims.iter().map(|claim| find(claim, &evidence)).collect();
    let written = output::write(&match args.format {
        RowFormat::Table => table::for_people(&findings),
        RowFormat::Jsonl => findings.iter().map(|finding| table::jsonl(finding) + "\n").collect(),
    });
    if let Some(path) = &args.write {
        let mark = stamp::mark(claims::profiles(), stamp::Devices::Plain);
        let known = std::fs::read_to_string(path).unwrap_or_default();
        let text = page::text(&findings, &mark) + page::fit_of(&known).unwrap_or_default();
        crate::whole_file::write(path, &text)
            .map_err(|error| Failure::Failed(format!("--write {}: {error}", path.display())))?;
    }
    written?;
    conclude(&evidence, &findings, began)
}

/// Returns the rows in their order.
fn choose(only: &[String]) -> Result<Vec<&'static Claim>, Failure> {
    let known = || claims::all().map(|claim| claim.id);
    for name in only {
        if !known().any(|id| id == name) {
            let hint = nearest(name, known()).map_or_else(String::new, |id| format!("did you mean `{id}`? "));
            let all: Vec<&str> = known().collect();
            let all = all.join(", ");
            return Err(Failure::usage(format!("--only {name}: no such row; {hint}The rows are {all}")));
        }
    }
    Ok(claims::all().filter(|claim| only.is_empty() || only.iter().any(|name| name == claim.id)).collect())
}

/// Returns the rows that a fit judges.
fn banded(only: &[String]) -> Result<Vec<&'static Claim>, Failure> {
    let rows = choose(only)?;
    let without = rows.iter().find(|claim| claim.band.is_none()).filter(|_| !only.is_empty());
    if let Some(claim) = without {
        let id = claim.id;
        return Err(Failure::usage(format!(
            "--only {id}: a fit judges rows with a band, and `{id}` has none; leave it out"
        )));
    }
    Ok(rows.into_iter().filter(|claim| claim.band.is_some()).collect())
}

/// Makes the runs that the rows need, each one once.
fn make(args: &HeadlinesArgs, claims: &[&'static Claim], mut store: Option<&mut Store>) -> Result<Evidence, Failure> {
    let studies: Vec<_> = claims.iter().flat_map(|claim| claim.studies()).collect();
    let plans = evidence::plans(&studies).map_err(Failure::usage)?;
    let backends = match args.backend {
        BackendChoice::Sim => Backends { plain: &SimBackend, watching: &StaleSackBackend },
        BackendChoice::Mock => Backends { plain: &MockBackend, watching: &MockBackend },
        BackendChoice::Netns => return Err(Failure::usage("--backend netns: headlines come from the simulator")),
    };
    let jobs = threads(args.jobs);
    let runs = plans.iter().map(|(_, plan)| plan.runs.len() as u64).sum();
    let bar = progress::bar(runs, "{pos}/{len} runs {rate} {eta} left {msg}");
    let mut made = Evidence::default();
    for (study, plan) in plans {
        bar.set_message(study.name);
        made.make(study, plan, backends, jobs, store.as_deref_mut(), &mut |_| bar.inc(1))
            .map_err(|error| Failure::Failed(format!("{error}; what was written before is kept")))?;
    }
    bar.finish_and_clear();
    Ok(made)
}

fn conclude(evidence: &Evidence, findings: &[Finding], began: Instant) -> Result<(), Failure> {
    let runs: usize = evidence.all().map(|runs| runs.plan.runs.len()).sum();
    let packets: u64 = evidence.all().map(|runs| runs.packets).sum();
    note!(
        "done: {runs} runs, {packets} packets in {:.2} s; {}",
        began.elapsed().as_secs_f64(),
        table::reproduced(findings)
    );
    let banded = findings.iter().filter(|finding| finding.claim.band.is_some());
    let missed: Vec<&str> =
        banded.filter(|finding| finding.verdict == Verdict::NotReproduced).map(|finding| finding.claim.id).collect();
    if missed.is_empty() {
        return Ok(());
    }
    Err(Failure::Failed(format!("not reproduced: {}", missed.join(", "))))
}

#[cfg(test)]
mod tests;
