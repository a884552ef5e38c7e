//! `longhaul experiments`: what is built in.

use crate::failure::Failure;
use crate::output;
use lab::{Experiment, spec, sweep};

/// Lists the built-in experiments.
///
/// # Errors
/// When nobody reads.
pub fn run() -> Result<(), Failure> {
    let built_in = spec::BUILTIN.iter().filter_map(|(name, _)| spec::builtin(name));
    let mut text: String = built_in.map(|experiment| describe(&experiment)).collect();
    text.push_str("Run one with `longhaul ab NAME`, or one of your own with `longhaul ab FILE.toml`.\n");
    output::write(&text)
}

fn describe(experiment: &Experiment) -> String {
    let Experiment { name, summary, source, iterations, .. } = experiment;
    let cells = sweep::cells(experiment).len();
    let arms: Vec<&str> = experiment.arms.iter().map(|arm| arm.name.as_str()).collect();
    let axes: Vec<String> =
        experiment.sweep.iter().map(|axis| format!("{} = {}", axis.key, axis.values.join(", "))).collect();
    let indent = format!("\n{:10}", "");
    let mut lines = vec![summary.clone(), format!("{cells} cells × {iterations} runs of {}", arms.join(", "))];
    lines.extend(axes);
    if !source.is_empty() {
        lines.push(format!("source: {source}"));
    }
    format!("{name:10}{}\n\n", lines.join(&indent))
}
