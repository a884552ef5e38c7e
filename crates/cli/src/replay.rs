//! `longhaul replay`: repeats a run of an earlier comparison under an observer.

use crate::failure::Failure;
use crate::observe::TraceArgs;
use crate::several;
use clap::Args;
use lab::run::recorded;
use std::path::PathBuf;

/// Arguments of `longhaul replay`.
#[derive(Args, Clone, Debug)]
pub struct ReplayArgs {
    /// The directory given to `longhaul ab --out`, or a file with the output of `longhaul ab --format jsonl`.
    #[arg(value_name = "RESULT")]
    result: PathBuf,
    /// Row of the result, counted from one; for a row that describes several runs, the median run by goodput.
    #[arg(value_name = "ROW")]
    row: usize,
    #[command(flatten)]
    trace: TraceArgs,
}

/// Runs the command.
///
/// # Errors
/// If the line does not exist, other code made it, or the run fails.
pub fn run(args: &ReplayArgs) -> Result<(), Failure> {
    let recorded = recorded::read(&args.result, args.row).map_err(Failure::usage)?;
    several::make(&recorded.names, &recorded.run, &args.trace)
}
