//! `longhaul analyze`: what limited the connections of a capture from elsewhere.

mod text;

use crate::failure::Failure;
use crate::progress;
use crate::{interruption, output, view};
use clap::{Args, ValueEnum};
use std::fs::File;
use std::io::{IsTerminal, Read, Seek, stdin};
use std::path::{Path, PathBuf};
use trace_io::capture::{self, Analysis, Broken, Host, Only, Unreadable};

/// Arguments of `longhaul analyze`.
#[derive(Args, Clone, Debug)]
pub struct AnalyzeArgs {
    /// A capture: pcap or pcapng, also compressed by gzip or zstd; `-` reads one from stdin.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Only connections of this address, or of an address in this network; repeat it for more.
    #[arg(long = "host", value_name = "ADDRESS[/BITS]")]
    hosts: Vec<Host>,
    /// Only connections with this TCP port at an end; repeat it for more.
    #[arg(long = "port", value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    ports: Vec<u16>,
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
/// If the file cannot be read, or not to its end; if no connection is left of those that were asked for.
pub fn run(args: &AnalyzeArgs) -> Result<(), Failure> {
    let only = Only { hosts: args.hosts.clone(), ports: args.ports.clone() };
    let mut input = Input::open(&args.file)?;
    if args.view.is_some() {
        // The page takes a second reading.
        input = input.kept()?;
    }
    let analysis = input.read(|file| capture::analyze_only(file, &only))?;
    if let Some(page) = &args.view {
        show(args, &only, input, &analysis, page)?;
        if page.as_os_str() == "-" {
            return end(args, &analysis);
        }
    }
    let text = match (args.format, args.flow) {
        (Format::Jsonl, wanted) => jsonl(&analysis, wanted)?,
        (Format::Text, None) => text::overview(&analysis, args.flows as usize),
        (Format::Text, Some(id)) => text::in_full(one(&analysis, id)?),
    };
    output::write(&text)?;
    end(args, &analysis)
}

/// Returns an error about the file, after everything readable was reported.
fn end(args: &AnalyzeArgs, analysis: &Analysis) -> Result<(), Failure> {
    let file = named(&args.file);
    if let Some(Broken { packet, offset, problem, remedy }) = analysis.first_bad() {
        return Err(Failure::Failed(format!("{file}: packet {packet}, at offset {offset}: {problem}; {remedy}")));
    }
    if analysis.flows.is_empty() && analysis.of_others > 0 {
        let others = analysis.of_others;
        return Err(Failure::Failed(format!(
            "{file}: none of its {others} TCP packets is of a connection that --host and --port ask for; without them, all are listed"
        )));
    }
    Ok(())
}

/// Reads the capture again for one flow, and writes its page.
fn show(args: &AnalyzeArgs, only: &Only, input: Input, analysis: &Analysis, page: &Path) -> Result<(), Failure> {
    let largest = analysis.flows.first().map(|flow| flow.flow);
    let id = args.flow.or(largest).ok_or_else(|| Failure::usage("--view: the capture holds no flow to show"))?;
    let found = one(analysis, id)?;
    let trace = input.again()?.read(|file| capture::records(file, only, id))?;
    let name = named(&args.file);
    let trace = trace.ok_or_else(|| Failure::usage(format!("{name} has changed meanwhile")))?;
    let mut runs = report::from_trace(&trace);
    runs.iter_mut().for_each(|run| report::add_findings(run, found));
    view::write(&name, &runs, page)
}

/// Names a capture in messages.
fn named(path: &Path) -> String {
    if path.as_os_str() == "-" { "stdin".to_owned() } else { path.display().to_string() }
}

/// An open capture.
struct Input {
    name: String,
    /// The file; `None` for stdin.
    file: Option<File>,
}

impl Input {
    fn open(path: &Path) -> Result<Self, Failure> {
        let name = named(path);
        if path.as_os_str() != "-" {
            let file = File::open(path).map_err(|error| cannot(&name, &error))?;
            return Ok(Self { name, file: Some(file) });
        }
        if stdin().is_terminal() {
            let remedy = "pipe a capture in: `tcpdump -w - | longhaul analyze -`";
            return Err(Failure::usage(format!("stdin is a terminal; {remedy}")));
        }
        interruption::leave_to_the_writer().map_err(|errno| Failure::Failed(format!("signals: {errno}")))?;
        Ok(Self { name, file: None })
    }

    /// Copies stdin to a temporary file, so that it can be read twice.
    fn kept(mut self) -> Result<Self, Failure> {
        if self.file.is_none() {
            let keep = || {
                let mut file = tempfile::tempfile()?;
                std::io::copy(&mut stdin().lock(), &mut file)?;
                file.rewind()?;
                Ok(file)
            };
            self.file = Some(keep().map_err(|error: std::io::Error| cannot(&self.name, &error))?);
        }
        Ok(self)
    }

    fn again(mut self) -> Result<Self, Failure> {
        let rewound = self.file.as_mut().map_or(Ok(()), Seek::rewind);
        rewound.map_err(|error| cannot(&self.name, &error))?;
        Ok(self)
    }

    /// Reads it from where it is, and shows the progress.
    fn read<T>(&mut self, read: impl FnOnce(&mut dyn Read) -> Result<T, Unreadable>) -> Result<T, Failure> {
        let found = match &self.file {
            Some(file) => {
                let len = file.metadata().map_err(|error| cannot(&self.name, &error))?.len();
                let bar = progress::bar(len, "{bytes}/{total_bytes} {binary_bytes_per_sec} {eta} left");
                let found = read(&mut bar.wrap_read(file));
                bar.finish_and_clear();
                found
            }
            None => {
                let bar = progress::spinner("{bytes} {binary_bytes_per_sec}");
                let found = read(&mut bar.wrap_read(stdin().lock()));
                bar.finish_and_clear();
                found
            }
        };
        found.map_err(|error| cannot(&self.name, &error))
    }
}

fn cannot(name: &str, error: &dyn std::fmt::Display) -> Failure {
    Failure::usage(format!("cannot read {name}: {error}"))
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
