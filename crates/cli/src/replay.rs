//! `longhaul replay`: a run of an earlier comparison once more, this time watched.

use crate::failure::Failure;
use crate::observe;
use clap::Args;
use lab::recorded;
use std::path::PathBuf;

/// Arguments of `longhaul replay`.
#[derive(Args, Clone, Debug)]
pub struct ReplayArgs {
    /// The directory that was given to `longhaul ab --out`, or the runs.jsonl in it.
    #[arg(value_name = "RESULT")]
    result: PathBuf,
    /// Which line of it, counted from one.
    #[arg(value_name = "ROW")]
    row: usize,
    /// Write a trace: a directory with trace.parquet, trace.qlog, trace.pcapng and summary.json.
    #[arg(long, value_name = "DIR")]
    trace: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// When there is no such line, other code made it, or the run fails.
pub fn run(args: &ReplayArgs) -> Result<(), Failure> {
    let recorded = recorded::read(&args.result, args.row).map_err(Failure::usage)?;
    observe::make(&recorded.names, &recorded.run, args.trace.as_deref())
}
