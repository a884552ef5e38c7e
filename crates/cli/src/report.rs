//! `longhaul report`: kept results as one self-contained HTML file, with pages of runs beside it and runs as flent's data on request.

mod runs;

use crate::ab::args::AbArgs;
use crate::ab::{self, again};
use crate::failure::Failure;
use crate::page;
use crate::progress::{self, note};
use clap::{Args, Parser, Subcommand};
use core::ops::ControlFlow;
use lab::results::FlentError;
use lab::{Plan, Row, Store, kept, results};
use serde_json::Value;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Arguments of `longhaul report`.
#[derive(Args, Clone, Debug)]
pub struct ReportArgs {
    /// The directory that was given to `longhaul ab --out`.
    #[arg(value_name = "DIR")]
    kept: PathBuf,
    /// The file to write, `-` for stdout; otherwise `report.html` in the directory.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Make the median run of each row again, and write it as a page of the viewer into a folder beside the report, which links to it: beside
    /// the reference's run of the same seed, or with the other flows.
    #[arg(long)]
    traces: bool,
    /// Make the median run of each row again, and write it as a data file of flent into this folder.
    #[arg(long, value_name = "FOLDER")]
    flent: Option<PathBuf>,
}

/// An earlier command line.
#[derive(Parser)]
struct Earlier {
    #[command(subcommand)]
    command: Made,
}

#[derive(Subcommand)]
enum Made {
    Ab(Box<AbArgs>),
}

/// Runs the command: the page of the last comparison that was kept there, without making a run.
///
/// # Errors
/// If the directory holds no comparison, or the page cannot be written.
pub fn run(args: &ReportArgs) -> Result<(), Failure> {
    let path = args.out.clone().unwrap_or_else(|| args.kept.join("report.html"));
    let last = last_comparison(&args.kept)?;
    let words = last.words;
    page::can_be_written("--out", &path)?;
    if args.traces && path.as_os_str() == "-" {
        return Err(Failure::usage(
            "--traces: pages of runs stand in a folder beside the report; name a file with --out",
        ));
    }
    let made = asked_by(&words)?;
    let mut plan = ab::plan(&made)?;
    let mut store =
        Store::open(&args.kept).map_err(|error| Failure::usage(format!("{}: {error}", shown(&args.kept))))?;
    let finished = ab::until_decided(&made, &mut plan, &mut |plan| Ok::<_, Failure>(kept(plan, &mut store)))?;
    let (found, all) = (finished.resumed, plan.runs.len());
    let line = again::command_line(&words[1..]);
    if found == 0 {
        return Err(Failure::usage(format!(
            "{}: of the {all} runs of its last comparison none is there, as this program would make them; `{line}` makes them",
            shown(&args.kept)
        )));
    }
    if found < all {
        note!("note: {} of {all} runs are missing; `{line}` makes them", all - found);
    }
    let mut commands = again::commands(&made, &plan, &words[1..]);
    let rows = results::rows(&plan, &finished);
    let simulated = |option| plan.can_be_simulated().map_err(|error| Failure::usage(format!("{option}: {error}")));
    if args.traces {
        simulated("--traces")?;
        commands.pages = runs::write(&plan, &rows, &path)?;
    }
    if let Some(folder) = &args.flent {
        simulated("--flent")?;
        write_flent(&plan, &rows, Duration::from_secs(last.at_s), folder)?;
    }
    page::write("--out", &path, &commands, ab::threads(None), (&plan, &finished, &rows))
}

fn write_flent(plan: &Plan, rows: &[Row], made_at: Duration, folder: &Path) -> Result<(), Failure> {
    let bar = progress::bar(rows.len() as u64, "{pos}/{len} data files, {rate} {eta} left");
    let written = results::flent(plan, rows, made_at, folder, &mut || {
        bar.inc(1);
        ControlFlow::Continue(())
    });
    bar.finish_and_clear();
    let written = written.map_err(|error| match error {
        FlentError::Folder { .. } | FlentError::Taken(_) => Failure::usage(format!("--flent: {error}")),
        _ => Failure::Failed(format!("--flent: {error}")),
    })?;
    note!("{}: {written} data files of flent", folder.display());
    Ok(())
}

/// The last comparison whose runs a directory keeps.
struct Last {
    words: Vec<String>,
    /// When it began, seconds since 1970.
    at_s: u64,
}

fn last_comparison(kept: &Path) -> Result<Last, Failure> {
    let path = kept.join("machine.jsonl");
    let refused = |why: String| {
        Failure::usage(format!(
            "{}: {why}; name a directory in which `longhaul ab EXPERIMENT --out DIR` kept its runs",
            shown(kept)
        ))
    };
    let text = std::fs::read_to_string(&path).map_err(|error| match error.kind() {
        ErrorKind::NotFound if kept.is_dir() => refused("no kept results are there".to_owned()),
        _ => refused(error.to_string()),
    })?;
    let began = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut comparisons = began.filter_map(|line| {
        let words: Vec<String> = serde_json::from_value(line.get("command")?.clone()).ok()?;
        Some(Last {
            words: again::without_quiet(&words),
            at_s: line.get("at_s").and_then(Value::as_u64).unwrap_or_default(),
        })
    });
    let last = comparisons.rfind(|last| last.words.get(1).is_some_and(|word| word == "ab"));
    last.ok_or_else(|| refused("no comparison of `longhaul ab` is noted there".to_owned()))
}

/// Reads the words of an earlier command line.
fn asked_by(words: &[String]) -> Result<AbArgs, Failure> {
    let unread = |why: &str| {
        let (line, why) = (again::command_line(&words[1..]), why.trim());
        Failure::usage(format!("the comparison was made by `{line}`, which this program does not read: {why}"))
    };
    match Earlier::try_parse_from(words) {
        Ok(Earlier { command: Made::Ab(args) }) => Ok(*args),
        Err(error) => Err(unread(error.to_string().lines().next().unwrap_or_default())),
    }
}

fn shown(path: &Path) -> String {
    format!("`{}`", path.display())
}
