//! `longhaul experiments`: lists the built-in experiments, or shows one.

use crate::ab;
use crate::failure::Failure;
use crate::output;
use crate::table::paragraph;
use clap::Args;
use lab::plan::cells;
use lab::{Experiment, spec};

/// Width of the column of names.
const INDENT: usize = 17;

/// Arguments of `longhaul experiments`.
#[derive(Args, Clone, Debug)]
pub struct ExperimentsArgs {
    /// One to show: a built-in experiment, or the path of a TOML file.
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Print the file of the built-in experiment, as a template for one of your own.
    #[arg(long, requires = "name")]
    toml: bool,
}

/// Lists the built-in experiments, or shows one.
///
/// # Errors
/// If the experiment is unknown, or stdout is closed.
pub fn run(args: &ExperimentsArgs) -> Result<(), Failure> {
    let Some(name) = &args.name else { return list() };
    let experiment = ab::find(name)?;
    if !args.toml {
        return output::write(&describe(&experiment));
    }
    let text = spec::BUILTIN.iter().find(|(known, _)| known == name).map(|(_, text)| *text);
    output::write(text.ok_or_else(|| Failure::usage(format!("--toml: `{name}` is a file already")))?)
}

fn list() -> Result<(), Failure> {
    let built_in = spec::BUILTIN.iter().filter_map(|(name, _)| spec::builtin(name));
    let mut text: String = built_in.map(|experiment| describe(&experiment)).collect();
    text.push_str("Run one with `longhaul ab NAME`, or one of your own with `longhaul ab FILE.toml`.\n");
    output::write(&text)
}

fn describe(experiment: &Experiment) -> String {
    let Experiment { name, summary, source, iterations, .. } = experiment;
    let cells = cells(experiment).len();
    let arms: Vec<&str> = experiment.arms.iter().map(|arm| arm.name.as_str()).collect();
    let axes: Vec<String> =
        experiment.sweep.iter().map(|axis| format!("{} = {}", axis.key, axis.values.join(", "))).collect();
    let mut lines = vec![format!("{cells} cells × {iterations} runs of {}", arms.join(", "))];
    lines.extend(axes);
    if !source.is_empty() {
        lines.push(format!("source: {source}"));
    }
    let rest: String = lines.iter().map(|line| paragraph(&" ".repeat(INDENT), line)).collect();
    format!("{}{rest}\n", paragraph(&format!("{name:INDENT$}"), summary))
}
