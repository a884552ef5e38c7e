//! `longhaul analyze`: what limited the connections of a capture from elsewhere.

mod text;

use crate::failure::Failure;
use crate::{output, view};
use clap::{Args, ValueEnum};
use indicatif::ProgressBarIter;
use std::fs::File;
use std::path::{Path, PathBuf};
use trace_io::capture::{self, Analysis, Unreadable};

/// Arguments of `longhaul analyze`.
#[derive(Args, Clone, Debug)]
pub struct AnalyzeArgs {
    /// A capture: pcap or pcapng, also compressed by gzip.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// How many flows to show, those with the most bytes first.
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u32).range(1..))]
    flows: u32,
    /// One flow in full, by its number.
    #[arg(long, value_name = "ID", conflicts_with = "flows")]
    flow: Option<u64>,
    /// Write a page with the time–sequence view of the flow, by default of the largest one; `-` for stdout.
    #[arg(long, value_name = "FILE")]
    view: Option<PathBuf>,
    /// How the answer is written to stdout.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// One JSON object per flow, a line each; all flows unless one is chosen.
    Jsonl,
}

/// Runs the command.
///
/// # Errors
/// If the file cannot be read, or not to its end.
pub fn run(args: &AnalyzeArgs) -> Result<(), Failure> {
    let analysis = read(&args.file)?;
    if let Some(page) = &args.view {
        show(args, &analysis, page)?;
        if page.as_os_str() == "-" {
            return end(&args.file, &analysis);
        }
    }
    let text = match (args.format, args.flow) {
        (Format::Jsonl, wanted) => jsonl(&analysis, wanted)?,
        (Format::Text, None) => text::overview(&analysis, args.flows as usize),
        (Format::Text, Some(id)) => text::in_full(one(&analysis, id)?),
    };
    output::write(&text)?;
    end(&args.file, &analysis)
}

/// Returns an error about the file, after everything readable was reported.
fn end(path: &Path, analysis: &Analysis) -> Result<(), Failure> {
    match analysis.first_bad() {
        None => Ok(()),
        Some(bad) => {
            let (file, read) = (path.display(), analysis.packets);
            Err(Failure::Failed(format!("{file}: at offset {}: {}; read {read} packets", bad.offset, bad.problem)))
        }
    }
}

/// Reads the file again for one flow, and writes its page.
fn show(args: &AnalyzeArgs, analysis: &Analysis, page: &Path) -> Result<(), Failure> {
    let largest = analysis.flows.first().map(|flow| flow.flow);
    let id = args.flow.or(largest).ok_or_else(|| Failure::usage("--view: the capture holds no flow to show"))?;
    let found = one(analysis, id)?;
    let trace = with_progress(&args.file, |file| capture::records(file, id))?;
    let trace = trace.ok_or_else(|| Failure::usage(format!("{} has changed meanwhile", args.file.display())))?;
    let mut runs = report::from_trace(&trace);
    runs.iter_mut().for_each(|run| report::add_findings(run, found));
    view::write(&args.file.display().to_string(), &runs, page)
}

fn read(path: &Path) -> Result<Analysis, Failure> {
    with_progress(path, capture::analyze)
}

/// Reads a file while showing a progress bar.
fn with_progress<T>(
    path: &Path,
    read: impl FnOnce(ProgressBarIter<File>) -> Result<T, Unreadable>,
) -> Result<T, Failure> {
    let cannot = |error: &dyn std::fmt::Display| Failure::usage(format!("cannot read {}: {error}", path.display()));
    let file = File::open(path).map_err(|error| cannot(&error))?;
    let len = file.metadata().map_err(|error| cannot(&error))?.len();
    let bar = output::progress_bar(len, "{bytes}/{total_bytes} {binary_bytes_per_sec} {eta}");
    let found = read(bar.wrap_read(file)).map_err(|error| cannot(&error));
    bar.finish_and_clear();
    found
}

fn one(analysis: &Analysis, id: u64) -> Result<&capture::FlowReport, Failure> {
    let found = analysis.flows.iter().find(|flow| flow.flow == id);
    found.ok_or_else(|| {
        Failure::usage(format!("--flow {id}: no such flow; without it, the flows are listed with their numbers"))
    })
}

fn jsonl(analysis: &Analysis, wanted: Option<u64>) -> Result<String, Failure> {
    let line = |flow| serde_json::to_string(flow).expect("a report has no keys but names") + "\n";
    match wanted {
        Some(id) => one(analysis, id).map(line),
        None => Ok(analysis.flows.iter().map(line).collect()),
    }
}
