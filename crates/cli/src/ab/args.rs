//! What one can ask of `longhaul ab`.

use crate::backend::BackendChoice;
use crate::output::ResultFormat;
use clap::Args;
use lab::RunName;
use std::path::PathBuf;

/// What makes runs in the simulator.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Threads of this process.
    Threads,
    /// The machines of a Ray cluster.
    Ray,
}

/// Arguments of `longhaul ab`.
#[derive(Args, Clone, Debug)]
pub struct AbArgs {
    /// A built-in experiment (see `longhaul experiments`), or the path of a TOML file.
    #[arg(value_name = "EXPERIMENT")]
    pub experiment: String,
    /// Profiles, arms of the experiment, or paths of profiles in TOML files; in real time also kernel:cubic, kernel:bbr and
    /// kernel:reno. The first is the reference, one named twice draws its own seeds.
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub arms: Vec<String>,
    /// Runs of each arm in each cell.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub iterations: Option<u32>,
    /// Add runs to each cell until its verdicts are clear, up to N of each arm (at most 1000). Its intervals then hold however
    /// often one looks at them; cells that stay open are `undecided`.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(9..=1000), conflicts_with = "run")]
    pub until_decided: Option<u32>,
    /// What arms are compared by: goodput, or a metric of which less or more is better, such as completion_p99_ms.
    #[arg(long, value_name = "METRIC", default_value = "goodput")]
    pub metric: String,
    /// Seed of all random streams.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Runs in parallel [default: one per processor; in real time always one].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub jobs: Option<u16>,
    /// Keep every run in DIR as tables in Parquet, DIR/runs and DIR/flows, and continue from the runs found there.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Keep what each flow sends, gets acknowledged, and may have in flight, second by second, in DIR/series, too; of the
    /// runs made now, since those found there are not made again.
    #[arg(long, requires = "out")]
    pub series: bool,
    /// Write results as one page, too, which opens in any browser and needs nothing else.
    #[arg(long, value_name = "FILE", conflicts_with = "run")]
    pub report: Option<PathBuf>,
    /// How results are written to stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: ResultFormat,
    /// Change a value: path.{rate,rtt,buffer,loss,drop,jitter,reorder.{probability,delay,mode,queues}}, flow.bytes, or a leaf of
    /// an arm's profile, as in server-2022.rto.min=200ms. Several values, separated by commas, make a sweep. A changed kind keeps
    /// the leaves that the new kind also has. The experiment's expectations are then not checked.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Make the cells that judge a tuned profile, instead of those for tuning: each look is a line in docs/holdout.md.
    #[arg(long)]
    pub hold_out: bool,
    /// Make forty cells that SEED draws from the ranges that the experiment declares.
    #[arg(long, value_name = "SEED", conflicts_with = "hold_out")]
    pub draw: Option<String>,
    /// Make only this run, named as in the message about a failed run.
    #[arg(long, value_name = "CELL/ARM/ITERATION", conflicts_with = "out")]
    pub run: Option<RunName>,
    /// Write the run's events to a file, one per line.
    #[arg(long, value_name = "FILE", requires = "run")]
    pub trace: Option<PathBuf>,
    /// What makes the runs: the simulator, or real time between two network namespaces of this machine, which needs root.
    #[arg(long, value_name = "sim|netns", default_value = "sim", hide_possible_values = true)]
    pub backend: BackendChoice,
    /// What makes runs in the simulator: threads of this process, or the machines of a Ray cluster, which write to `--out`.
    #[arg(
        long,
        value_name = "threads|ray",
        default_value = "threads",
        hide_possible_values = true,
        conflicts_with = "run"
    )]
    pub engine: Engine,
    /// The Ray cluster to use, HOST:PORT or `auto` [default: one that is started on this machine].
    #[arg(long, value_name = "ADDRESS", requires = "engine")]
    pub address: Option<String>,
    /// The interpreter that has the package `longhaul` and Ray.
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    pub python: String,
}
