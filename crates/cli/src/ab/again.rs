//! Command lines that make runs again.

use super::args::AbArgs;
use crate::backend::BackendChoice;
use lab::Plan;
use lab::spec::{Key, Primary};
use report::Commands;

/// What people call it.
const PROGRAM: &str = "longhaul";

/// Returns the command that repeats the same runs: one run by name, or one cell.
pub fn replay(args: &AbArgs, plan: &Plan, swept: &[(String, String)], run: Option<&str>) -> String {
    let program = std::env::args().next().unwrap_or_else(|| PROGRAM.to_owned());
    let words = std::iter::once(program).chain(words(args, plan, swept, run));
    words.map(|word| quoted(&word)).collect::<Vec<_>>().join(" ")
}

/// Returns its words after the program.
fn words(args: &AbArgs, plan: &Plan, swept: &[(String, String)], run: Option<&str>) -> Vec<String> {
    let mut words = vec!["ab".to_owned(), args.experiment.clone()];
    let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
    if !args.arms.is_empty() {
        option("--arms", args.arms.join(","));
    }
    for set in args.set.iter().cloned().chain(swept.iter().map(|(key, value)| format!("{key}={value}"))) {
        option("--set", set);
    }
    if let (Some(most), None) = (args.until_decided, run) {
        option("--until-decided", most.to_string());
    }
    if args.metric != Primary::default().name {
        option("--metric", args.metric.clone());
    }
    if let Some(seed) = &args.draw {
        option("--draw", seed.clone());
    }
    option("--iterations", plan.experiment.iterations.to_string());
    option("--seed", plan.experiment.seed.to_string());
    match args.backend {
        BackendChoice::Sim => {}
        BackendChoice::Netns => option("--backend", "netns".to_owned()),
        BackendChoice::Mock => option("--backend", "mock".to_owned()),
    }
    if let Some(name) = run {
        option("--run", name.to_string());
    }
    if args.hold_out {
        words.push("--hold-out".to_owned());
    }
    words
}

/// Returns what the page of a comparison says of how to do it again; `words` are those after the program that made it.
pub fn commands(args: &AbArgs, plan: &Plan, words: &[String]) -> Commands {
    Commands {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        comparison: command_line(&without_quiet(words)),
        run: of_runs(args, plan),
        pages: Vec::new(),
    }
}

/// Returns the commands that make one run of each arm again and show it in the viewer, or, where `longhaul run` has no such arm or cell,
/// write its events. `{cell}` and `{iteration}` stand for the run's.
fn of_runs(args: &AbArgs, plan: &Plan) -> Vec<String> {
    (0..plan.arms.len()).map(|arm| shows_run(args, plan, arm).unwrap_or_else(|| traces_run(args, plan, arm))).collect()
}

fn shows_run(args: &AbArgs, plan: &Plan, arm: usize) -> Option<String> {
    let of_network = |setting: &str| Key::find(setting).is_some();
    let is_plain = args.backend == BackendChoice::Sim
        && !args.hold_out
        && args.draw.is_none()
        && plan.arms[arm].ordinal == 1
        && plan.experiment.sweep.iter().all(|axis| of_network(&axis.key))
        && args.set.iter().all(|set| set.split_once('=').is_some_and(|(key, _)| of_network(key)));
    if !is_plain {
        return None;
    }
    let mut words = vec!["run".to_owned(), args.experiment.clone()];
    args.set.iter().for_each(|set| words.extend(["--set".to_owned(), set.clone()]));
    words.extend(["--seed".to_owned(), plan.experiment.seed.to_string()]);
    words.extend(["--arm".to_owned(), args.arms.get(arm).unwrap_or(&plan.arms[arm].label).clone()]);
    let line = command_line(&words);
    let trace = format!("{}-{{cell}}-{{iteration}}", quoted(&plan.arms[arm].label));
    Some(format!(
        "{line} --cell {{cell}} --iteration {{iteration}} --trace {trace} && {PROGRAM} view {trace} -o {trace}.html"
    ))
}

fn traces_run(args: &AbArgs, plan: &Plan, arm: usize) -> String {
    let label = &plan.arms[arm].label;
    let line = command_line(&words(args, plan, &[], Some(&format!("{{cell}}/{label}/{{iteration}}"))));
    format!("{line} --trace {}-{{cell}}-{{iteration}}.txt", quoted(label))
}

/// Returns a command line as a shell takes it, from its words after the program.
pub fn command_line(words: &[String]) -> String {
    let own = words.iter().map(|word| quoted(word));
    std::iter::once(PROGRAM.to_owned()).chain(own).collect::<Vec<_>>().join(" ")
}

/// Returns the words without `--quiet`, which may stand anywhere: a comparison does not depend on its progress.
pub fn without_quiet(words: &[String]) -> Vec<String> {
    words.iter().filter(|word| *word != "--quiet").cloned().collect()
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./,:=%@+#".contains(c);
    if !word.is_empty() && !word.starts_with('#') && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_are_quoted_only_when_a_shell_would_change_them() {
        for (word, expected) in [
            ("path.rtt=25ms,50ms", "path.rtt=25ms,50ms"),
            ("1/a#2/3", "1/a#2/3"),
            ("a b", "'a b'"),
            ("", "''"),
            ("it's", "'it'\\''s'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
