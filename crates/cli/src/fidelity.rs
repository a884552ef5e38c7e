//! `longhaul fidelity`: the same cells in the simulator and in real time, side by side.
//!
//! Two pairs in each cell: our own TCP in both, which shows what the simulator leaves out, and the `linux` profile against
//! the kernel's CUBIC, which shows what the profile leaves out. Both sides of a pair have the same seeds, hence the same
//! decisions for each packet index.

mod second;
mod table;

use crate::ab::{open_log, threads};
use crate::failure::Failure;
use crate::interruption;
use crate::output;
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use lab::run::stamp;
use lab::{Backend, Finished, Overrides, Plan, Row, RunLog, SimBackend, execute, results, spec};
use realtime::NetnsBackend;
use second::Cell;
use std::path::PathBuf;

/// Arguments of `longhaul fidelity`.
#[derive(Args, Clone, Debug)]
pub struct FidelityArgs {
    /// Which path in real time: the first is our own link, compared with the simulator; the second shares no code with us,
    /// and `longhaul send` is compared there with the kernel's CUBIC.
    #[arg(long, value_name = "PATH", default_value = "first")]
    path: PathKind,
    /// Runs of each side in each cell; medians are compared [default: 3, and 8 over the second path].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    iterations: Option<u32>,
    /// Cells of the second path, as 37ms@60Mbit: round-trip time and rate; the buffer holds the product of both.
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', conflicts_with_all = ["only", "seed", "out"])]
    cells: Vec<Cell>,
    /// Bytes of each transfer over the second path.
    #[arg(long, value_name = "N", default_value = "32MB", value_parser = profiles::units::bytes)]
    bytes: u64,
    /// Keep one processor busy meanwhile (second path).
    #[arg(long)]
    busy: bool,
    /// Where all random streams start.
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,
    /// Only these groups of cells.
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', value_enum)]
    only: Vec<Group>,
    /// Keep every run in DIR/sim and DIR/netns, and go on from what is there.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How results are written to stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
    /// Replace the table in this Markdown file, between its two `fidelity` comments.
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Table,
    /// One JSON object per cell and pair.
    Jsonl,
}

impl FidelityArgs {
    /// Runs of a side over the first path.
    fn runs(&self) -> u32 {
        self.iterations.unwrap_or(3)
    }
}

/// Who made the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PathKind {
    /// `longhaul link`'s hops, as `ab --backend netns` has them.
    First,
    /// An emulator with no code of ours.
    Second,
}

/// Cells that are one experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Group {
    /// Clean paths.
    Wan,
    /// One packet in a hundred comes late.
    Reorder,
    /// One packet in a hundred takes a short cut.
    ReorderEarly,
    /// Random loss.
    Loss,
    /// A short path with much reordering.
    Dsack,
}

/// What is compared: an arm of the simulator with one of real time.
const PAIRS: [(&str, &str); 2] = [("longhaul", "longhaul"), ("linux", "kernel:cubic")];

/// One line of the result.
#[derive(Clone, Debug, PartialEq)]
struct Comparison {
    cell: String,
    pair: String,
    sim_mbps: f64,
    real_mbps: f64,
    band: f64,
    /// Real runs that the machine disturbed, also the second time.
    disturbed: usize,
}

impl Comparison {
    fn ratio(&self) -> f64 {
        self.real_mbps / self.sim_mbps
    }

    fn is_inside(&self) -> bool {
        (self.ratio() - 1.0).abs() <= self.band
    }
}

impl Group {
    const ALL: [Self; 5] = [Self::Wan, Self::Reorder, Self::ReorderEarly, Self::Loss, Self::Dsack];

    /// The experiment that is varied, and how.
    fn origin(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Wan => ("wan", &["flow.bytes=32MB"]),
            Self::Reorder => ("reorder", &["flow.bytes=32MB"]),
            Self::ReorderEarly => ("reorder", &["flow.bytes=32MB", "path.reorder.mode=early"]),
            Self::Loss => ("wan", &["path.rtt=100ms", "path.loss=0.01%,0.1%,1%", "flow.bytes=32MB"]),
            Self::Dsack => ("dsack", &[]),
        }
    }

    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// How far apart the two sides may be.
    fn band(self, pair: usize) -> f64 {
        match (self, pair) {
            // A few losses decide, and they meet other segments.
            (Self::Loss, _) => 0.25,
            (_, 0) => 0.05,
            _ => 0.10,
        }
    }

    fn plan(self, args: &FidelityArgs, arms: [&str; 2]) -> Result<Plan, Failure> {
        let (name, set) = self.origin();
        let mut experiment = spec::builtin(name).expect("it is built in");
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let (arms, set) = (owned(&arms), owned(set));
        let overrides = Overrides { arms, set, iterations: Some(args.runs()), seed: Some(args.seed) };
        experiment.apply(&overrides).map_err(Failure::usage)?;
        Plan::new(experiment).map_err(Failure::usage)
    }

    /// A cell's name in the table: the group and what it sweeps.
    fn title(self, cell: &lab::plan::Cell) -> String {
        let axis = if self == Self::Loss { "path.loss" } else { "path.rtt" };
        let found = cell.swept.iter().find(|(key, _)| key == axis);
        found.map_or_else(|| self.name(), |(_, value)| format!("{} {value}", self.name()))
    }
}

/// Runs the command.
///
/// # Errors
/// When an option is wrong, a privilege is missing, a run fails, or a cell is outside its band.
pub fn run(args: &FidelityArgs) -> Result<(), Failure> {
    match args.path {
        PathKind::First if args.busy || !args.cells.is_empty() => {
            Err(Failure::usage("--busy and --cells belong to the second path: add `--path second`"))
        }
        PathKind::First => compare_with_simulator(args),
        PathKind::Second if args.out.is_some() || !args.only.is_empty() => {
            Err(Failure::usage("--out and --only belong to the first path: leave out `--path second`"))
        }
        PathKind::Second => second::run(args),
    }
}

fn compare_with_simulator(args: &FidelityArgs) -> Result<(), Failure> {
    let groups: Vec<Group> = Group::ALL.into_iter().filter(|g| args.only.is_empty() || args.only.contains(g)).collect();
    let simulated = groups.iter().map(|group| group.plan(args, PAIRS.map(|pair| pair.0)));
    let simulated = simulated.collect::<Result<Vec<_>, _>>()?;
    let real = groups.iter().map(|group| {
        let plan = group.plan(args, PAIRS.map(|pair| pair.1))?;
        Ok(plan.made_by(NetnsBackend::maker()))
    });
    let real = real.collect::<Result<Vec<_>, Failure>>()?;
    // What stands in the file is read before hours are spent on what it is to say.
    let page = args.write.as_deref().map(|path| table::Page::read(path, "fidelity")).transpose()?;
    let backend = NetnsBackend::new(&real[0], None, interruption::message(args.out.as_deref()))?;

    let mut comparisons = Vec::new();
    let mut logs = [open(args, "sim")?, open(args, "netns")?];
    let runs: usize = simulated.iter().chain(&real).map(|plan| plan.runs.len()).sum();
    let bar = ProgressBar::new(runs as u64);
    bar.set_style(ProgressStyle::with_template("{bar:40} {pos}/{len} runs {eta}").expect("the template is right"));
    for ((group, sim), real) in groups.iter().zip(&simulated).zip(&real) {
        let there = make(sim, &SimBackend, threads(None), &mut logs[0], &bar)?;
        let here = make(real, &backend, 1, &mut logs[1], &bar)?;
        comparisons.extend(compare(*group, [(sim, &there), (real, &here)]));
    }
    bar.finish_and_clear();
    drop(backend);
    tell(args, &comparisons, page)
}

fn open(args: &FidelityArgs, name: &str) -> Result<Option<RunLog>, Failure> {
    open_log(args.out.as_ref().map(|directory| directory.join(name)).as_deref())
}

fn make(
    plan: &Plan,
    backend: &dyn Backend,
    jobs: usize,
    log: &mut Option<RunLog>,
    bar: &ProgressBar,
) -> Result<Finished, Failure> {
    let finished = execute(plan, backend, jobs, log.as_mut(), &mut |_| bar.inc(1));
    let finished = finished.map_err(|error| Failure::Failed(format!("{error}; what was written before is kept")))?;
    match finished.failures.first() {
        None => Ok(finished),
        Some((index, failure)) => {
            let run = &plan.runs[*index];
            let (name, cell) = (plan.name_of(run), plan.cells[run.cell].title());
            Err(Failure::Failed(format!("run {name} ({cell}, seed {}) failed: {failure}", run.seed)))
        }
    }
}

/// The pairs of every cell of a group; the plans of both sides have the same cells, and each has an arm of every pair.
fn compare(group: Group, sides: [(&Plan, &Finished); 2]) -> Vec<Comparison> {
    let [there, here] = sides.map(|(plan, finished)| results::rows(plan, finished));
    let median = |row: &Row| row.goodput_mbps.median.expect("a side of which a run failed is not compared");
    let compare = |(index, (sim, real)): (usize, (&Row, &Row))| {
        let arm = index % PAIRS.len();
        Comparison {
            cell: group.title(&sides[0].0.cells[index / PAIRS.len()]),
            pair: format!("{}/{}", sim.arm, real.arm),
            sim_mbps: median(sim),
            real_mbps: median(real),
            band: group.band(arm),
            disturbed: real.disturbed_runs.unwrap_or(0),
        }
    };
    there.iter().zip(&here).enumerate().map(compare).collect()
}

/// What made the table: the command, the version, and what decides besides.
fn headline(args: &FidelityArgs) -> String {
    let only: Vec<String> = args.only.iter().map(|group| group.name()).collect();
    let only = if only.is_empty() { String::new() } else { format!(" --only {}", only.join(",")) };
    let mark = stamp::mark(["longhaul", "linux"], stamp::Devices::Both);
    format!(
        "{mark}\nMade by `longhaul fidelity{only} --iterations {n} --seed {} --write docs/fidelity.md`, release {}: {n} runs a side, {}.",
        args.seed,
        env!("CARGO_PKG_VERSION"),
        NetnsBackend::maker(),
        n = args.runs(),
    )
}

fn tell(args: &FidelityArgs, comparisons: &[Comparison], page: Option<table::Page>) -> Result<(), Failure> {
    let told = output::write(&match args.format {
        Format::Table => table::for_people(comparisons),
        Format::Jsonl => comparisons.iter().map(|comparison| table::jsonl(comparison) + "\n").collect(),
    });
    page.map_or(Ok(()), |page| page.replace(&table::markdown(comparisons, &headline(args))))?;
    told?;
    let disturbed: usize = comparisons.iter().map(|comparison| comparison.disturbed).sum();
    if disturbed > 0 {
        anstream::eprintln!("warning: {disturbed} runs in real time were disturbed by the machine twice, and count");
    }
    let outside: Vec<String> = comparisons
        .iter()
        .filter(|comparison| !comparison.is_inside())
        .map(|comparison| format!("{} {} ({:.3})", comparison.cell, comparison.pair, comparison.ratio()))
        .collect();
    if outside.is_empty() {
        return Ok(());
    }
    let many = outside.len();
    Err(Failure::Failed(format!("{many} of {} comparisons are outside: {}", comparisons.len(), outside.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn args(iterations: u32) -> FidelityArgs {
        FidelityArgs {
            path: PathKind::First,
            iterations: Some(iterations),
            cells: Vec::new(),
            bytes: 0,
            busy: false,
            seed: 1,
            only: Vec::new(),
            out: None,
            format: Format::Jsonl,
            write: None,
        }
    }

    #[test]
    fn both_sides_of_a_pair_have_the_same_cells_and_seeds() {
        let mut titles = Vec::new();
        for group in Group::ALL {
            let sim = group.plan(&args(2), PAIRS.map(|pair| pair.0)).unwrap();
            let real = group.plan(&args(2), PAIRS.map(|pair| pair.1)).unwrap();
            assert_eq!(sim.cells, real.cells);
            assert!(sim.runs.iter().zip(&real.runs).all(|(a, b)| (a.seed, a.arm) == (b.seed, b.arm)));
            titles.extend(sim.cells.iter().map(|cell| group.title(cell)));
        }
        assert_eq!(titles.len(), 16);
        assert_eq!(
            [&titles[0], &titles[8], &titles[13], &titles[15]],
            ["wan 25ms", "reorder-early 25ms", "loss 0.1%", "dsack"]
        );
    }

    #[test]
    fn the_page_says_what_made_its_table() {
        let args = FidelityArgs { only: vec![Group::Wan, Group::ReorderEarly], ..args(6) };
        let made = "Made by `longhaul fidelity --only wan,reorder-early --iterations 6 --seed 1 --write docs/fidelity.md`, release ";
        let text = headline(&args);
        let made = format!("-->\n\n{made}{}: 6 runs a side, netns on kernel ", env!("CARGO_PKG_VERSION"));
        assert!(text.starts_with("<!-- behaviour:\n") && text.contains(&made), "{text}");
    }

    #[test]
    fn a_cell_s_arms_are_paired_in_their_order() {
        let plan = Group::Loss.plan(&args(1), PAIRS.map(|pair| pair.0)).unwrap();
        let made = execute(&plan, &lab::MockBackend, 1, None, &mut |_| ()).unwrap();
        let found = compare(Group::Loss, [(&plan, &made), (&plan, &made)]);
        assert_eq!(found.len(), 6);
        assert_eq!((found[3].cell.as_str(), found[3].pair.as_str()), ("loss 0.1%", "linux/linux"));
        // The stand-in's second arm is half as fast as its first.
        assert!((found[2].sim_mbps / found[3].real_mbps - 2.0).abs() < 1e-6);
    }

    #[test]
    fn a_pair_is_inside_when_its_ratio_is_within_the_band_on_either_side() {
        let of = |real_mbps| Comparison {
            cell: "wan 25ms".into(),
            pair: "longhaul/longhaul".into(),
            sim_mbps: 80.0,
            real_mbps,
            band: 0.05,
            disturbed: 0,
        };
        for (real, inside) in [(76.1, true), (75.9, false), (83.9, true), (84.1, false)] {
            assert_eq!(of(real).is_inside(), inside, "{real}");
        }
    }
}
