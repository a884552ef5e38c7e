//! `longhaul experiments`: lists the built-in experiments.

use crate::failure::Failure;
use crate::output;
use crate::table::paragraph;
use lab::plan::cells;
use lab::{Experiment, spec};

/// Width of the column of names.
const INDENT: usize = 17;

/// Lists the built-in experiments.
///
/// # Errors
/// If stdout is closed.
pub fn run() -> Result<(), Failure> {
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
