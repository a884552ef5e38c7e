//! `longhaul run`: one run of one arm in one cell, and what limited its flows.

use crate::ab;
use crate::failure::Failure;
use crate::observe::TraceArgs;
use crate::progress::note;
use crate::several;
use clap::Args;
use lab::plan::Cell;
use lab::run::observed::Names;
use lab::{Overrides, Plan, RunName};

/// Arguments of `longhaul run`.
#[derive(Args, Clone, Debug)]
pub struct RunArgs {
    /// A built-in experiment (see `longhaul experiments`), or the path of a TOML file.
    #[arg(value_name = "EXPERIMENT")]
    experiment: String,
    /// A profile, an arm of the experiment, or the path of a profile in a TOML file [default: the experiment's first arm].
    #[arg(long, value_name = "ARM")]
    arm: Option<String>,
    /// Change a value, as for `longhaul ab`.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Which cell, if the experiment has a sweep.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    cell: u32,
    /// Which iteration; each has its own seeds.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    iteration: u32,
    /// Seed of all random streams.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    trace: TraceArgs,
}

/// Runs the command.
///
/// # Errors
/// When the experiment or an option is wrong, or the run fails.
pub fn run(args: &RunArgs) -> Result<(), Failure> {
    let mut experiment = ab::find(&args.experiment)?;
    let arm = args.arm.clone().or_else(|| experiment.arms.first().map(|arm| arm.name.clone()));
    let overrides = Overrides {
        arms: arm.into_iter().collect(),
        set: args.set.clone(),
        iterations: Some(args.iteration),
        seed: args.seed,
        ..Overrides::default()
    };
    experiment.apply(&overrides).map_err(Failure::usage)?;
    experiment.arms.iter().filter_map(|arm| arm.profile()).for_each(|profile| crate::profiles::warn(profile));
    let mut plan = Plan::new(experiment).map_err(Failure::usage)?;
    plan.can_be_simulated().map_err(Failure::usage)?;
    let cells = plan.cells.len();
    if args.cell as usize > cells {
        return Err(Failure::usage(format!("--cell {}: cells are 1 to {cells}", args.cell)));
    }
    if cells > 1 {
        let title = plan.cells[args.cell as usize - 1].title();
        note!("note: cell {} of {cells}: {title}; `--cell` chooses another", args.cell);
    }
    let arm = &plan.arms[0];
    let names = Names {
        experiment: plan.experiment.name.clone(),
        arm: title(&plan, &plan.cells[args.cell as usize - 1]),
        profile: arm.spec.profile().map(|profile| profile.name.clone()),
    };
    let name = RunName { cell: args.cell as usize, arm: arm.label.clone(), iteration: args.iteration };
    plan.keep_only(&name).map_err(Failure::usage)?;
    several::make(&names, &plan.runs[0], &args.trace)
}

/// Returns the arm's name with the leaves that `--set` changes, because its name alone denotes another TCP.
fn title(plan: &Plan, cell: &Cell) -> String {
    let label = &plan.arms[0].label;
    let swept: Vec<String> = cell.swept.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let is_swept = |set: &&String| cell.swept.iter().any(|(key, _)| set.starts_with(&format!("{key}=")));
    let all = plan.experiment.changed.iter().filter(|set| !is_swept(set)).chain(&swept);
    let own: Vec<&str> = all.filter_map(|set| set.strip_prefix(label.as_str())?.strip_prefix('.')).collect();
    if own.is_empty() { label.clone() } else { format!("{label} ({})", own.join(" ")) }
}
