//! `longhaul replay`: a run of an earlier comparison once more, this time watched.

use crate::failure::Failure;
use crate::observe::{self, TraceArgs};
use clap::Args;
use lab::run::recorded;
use std::path::PathBuf;

/// Arguments of `longhaul replay`.
#[derive(Args, Clone, Debug)]
pub struct ReplayArgs {
    /// The directory that was given to `longhaul ab --out`, or a file of what `longhaul ab --format jsonl` printed.
    #[arg(value_name = "RESULT")]
    result: PathBuf,
    /// Which line of it, counted from one; of a row that describes several runs, the one in the middle by goodput.
    #[arg(value_name = "ROW")]
    row: usize,
    #[command(flatten)]
    trace: TraceArgs,
}

/// Runs the command.
///
/// # Errors
/// When the line does not exist, other code made it, or the run fails.
pub fn run(args: &ReplayArgs) -> Result<(), Failure> {
    let recorded = recorded::read(&args.result, args.row).map_err(Failure::usage)?;
    observe::make(&recorded.names, &recorded.run, &args.trace)
}
