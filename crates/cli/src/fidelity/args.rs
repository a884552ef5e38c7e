//! Arguments of `longhaul fidelity`.

use crate::output::RowFormat;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use realtime::fidelity::Group;
use realtime::second::Cell;
use std::path::PathBuf;

/// Arguments of `longhaul fidelity`.
#[derive(Args, Clone, Debug)]
pub struct FidelityArgs {
    /// Which path in real time: the first is our own link, compared with the simulator; the second shares no code with us, and
    /// compares `longhaul send` with the kernel's CUBIC.
    #[arg(long, value_name = "PATH", default_value = "first")]
    pub(super) path: PathKind,
    /// Runs of each side in each cell; medians are compared [default: 3, and 8 over the second path].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) iterations: Option<u32>,
    /// Cells of the second path, as 37ms@60Mbit: round-trip time and rate; the buffer holds their product.
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', conflicts_with_all = ["only", "seed", "out"])]
    pub(super) cells: Vec<Cell>,
    /// Bytes of each transfer over the second path.
    #[arg(long, value_name = "N", default_value = "32MB", value_parser = profiles::units::bytes)]
    pub(super) bytes: u64,
    /// Keep one processor busy during the runs (second path).
    #[arg(long)]
    pub(super) busy: bool,
    /// Seed of all random streams.
    #[arg(long, value_name = "N", default_value = "1")]
    pub(super) seed: u64,
    /// Measure only these groups of cells.
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', value_parser = groups())]
    pub(super) only: Vec<Group>,
    /// Keep every run in DIR/sim and DIR/netns, and continue from the runs found there.
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// How results are written to stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(super) format: RowFormat,
    /// Replace the table in this Markdown file, between its two `fidelity` comments.
    #[arg(long, value_name = "FILE")]
    pub(super) write: Option<PathBuf>,
}

impl FidelityArgs {
    /// Returns the runs per side over the first path.
    pub(super) fn runs(&self) -> u32 {
        self.iterations.unwrap_or(3)
    }
}

/// Who made the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PathKind {
    /// `longhaul link`'s hops, as in `ab --backend netns`.
    First,
    /// An emulator without any of our code.
    Second,
}

/// Parses the name of a group.
fn groups() -> impl TypedValueParser<Value = Group> {
    let values = Group::ALL.map(|group| PossibleValue::new(group.name()).help(group.about()));
    PossibleValuesParser::new(values)
        .map(|name| Group::ALL.into_iter().find(|group| group.name() == name).expect("only their names are possible"))
}
