//! From a row of a result back to its run: a row of the table of runs that `--out` keeps is a run, as is a line of `runs.jsonl`, which
//! earlier releases kept; a row of `--format jsonl` names the median one of its runs.
//!
//! A row contains everything that determines its run, so the experiment's file is not needed: path and flow in canonical form,
//! the leaves in which the arm differs from the root profile, and the seed. The reader verifies that it is the same run: the
//! digest must match, and so must the version, release and stamp of behaviour.

use crate::plan::{RunSpec, digest};
use crate::run::identity::Identity;
use crate::run::observed::Names;
use crate::run::stamp;
use crate::run::store::{LINES, identities};
use crate::spec::{Ends, Key, Point};
use serde::Deserialize;
use std::path::Path;
use std::sync::Arc;

/// A run that was made before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// What people called it.
    pub names: Names,
    /// How to repeat it.
    pub run: RunSpec,
}

/// The fields read from a row.
#[derive(Deserialize)]
struct Row {
    median_run: Option<Identity>,
}

/// Why a run cannot be repeated.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {problem}; {remedy}")]
pub struct ReplayError {
    place: String,
    problem: String,
    remedy: String,
}

/// Reads the run that row `row` of a result describes, counted from one. `result` is the directory of `--out`, whose runs count by
/// experiment, cell, iteration and arm, or a file of lines.
///
/// # Errors
/// When the row does not exist, is not a result, or other code made it.
pub fn read(result: &Path, row: usize) -> Result<Recorded, ReplayError> {
    let kept = if result.is_dir() {
        identities(result).map_err(|error| cannot_read(result, error.to_string()))?
    } else {
        Vec::new()
    };
    let is_table = !kept.is_empty();
    let path = if is_table || !result.is_dir() { result.to_owned() } else { result.join(LINES) };
    let (name, what) = (path.display(), if is_table { "row" } else { "line" });
    let error = |problem: String, remedy: &str| ReplayError {
        place: format!("`{name}`, {what} {row}"),
        problem,
        remedy: remedy.to_owned(),
    };
    let missing = |rows: usize| error(format!("no such {what}"), &format!("{what}s are 1 to {rows}"));
    let line = if is_table {
        let rows = kept.len();
        row.checked_sub(1).and_then(|index| kept.into_iter().nth(index)).ok_or_else(|| missing(rows))?
    } else {
        let text = std::fs::read_to_string(&path).map_err(|problem| cannot_read(&path, problem.to_string()))?;
        let line = row.checked_sub(1).and_then(|index| text.lines().nth(index));
        let line = line.ok_or_else(|| missing(text.lines().count()))?;
        match serde_json::from_str(line) {
            Ok(Row { median_run: Some(run) }) => run,
            _ => serde_json::from_str(line).map_err(|problem| {
                let remedy = "take the file as `ab --format jsonl` wrote it";
                error(format!("it is neither a longhaul run nor a row that names one: {problem}"), remedy)
            })?,
        }
    };
    repeatable(line, error)
}

/// Returns the run of a line, unless something else made it than what would make it again.
fn repeatable(line: Identity, error: impl Fn(String, &str) -> ReplayError) -> Result<Recorded, ReplayError> {
    if let Some(maker) = &line.made_by {
        return Err(error(format!("it was made by {maker}"), "only simulated runs can be made again"));
    }
    let version = line.version.clone();
    let found = again(line).map_err(|problem| error(problem, "take the line as `ab` wrote it"))?;
    let today = stamp::version_of(&found.run);
    if version != today {
        let problem = format!("it was made by version {version}, and what this program does is {today}");
        return Err(error(problem, "check out the code that made it, or make the comparison again"));
    }
    Ok(found)
}

fn cannot_read(path: &Path, problem: String) -> ReplayError {
    ReplayError {
        place: format!("`{}`", path.display()),
        problem,
        remedy: "name the directory that was given to `ab --out`, or a file of what `ab --format jsonl` printed"
            .to_owned(),
    }
}

fn again(line: Identity) -> Result<Recorded, String> {
    let twin = line.twin.as_deref().map(|text| point(text).map(Arc::new)).transpose()?;
    let point = point(&line.path)?;
    let root = profiles::builtin().iter().find(|profile| profile.extends.is_none()).expect("there is a root profile");
    let mut leaves: Vec<(String, String)> = line.config.into_iter().collect();
    // Kinds first: they determine which other leaves exist.
    leaves.sort_by_key(|(path, _)| !path.ends_with(".kind"));
    let ends = Ends::Profile(root.with(&leaves).map_err(|error| format!("its configuration: {error}"))?);
    if digest(&point, twin.as_deref(), &ends) != line.spec {
        return Err("path and configuration are not those that its `spec` is of".to_owned());
    }
    let names = Names { experiment: line.experiment, arm: line.arm, profile: line.profile };
    let (iteration, seed, digest) = (line.iteration, line.seed, line.spec);
    Ok(Recorded {
        names,
        run: RunSpec { cell: 0, arm: 0, iteration, seed, point: Arc::new(point), twin, ends: Arc::new(ends), digest },
    })
}

/// Parses canonical form: values may contain spaces, so a setting extends to the next key.
fn point(text: &str) -> Result<Point, String> {
    let mut settings: Vec<(&'static Key, String)> = Vec::new();
    for word in text.split(' ') {
        let key = word.split_once('=').and_then(|(key, value)| Some((Key::find(key)?, value)));
        match (key, settings.last_mut()) {
            (Some((key, value)), _) => settings.push((key, value.to_owned())),
            (None, Some((_, value))) => value.extend([" ", word]),
            (None, None) => return Err(format!("`{word}` is not a path setting")),
        }
    }
    let mut point = Point::default();
    for (key, value) in settings {
        key.set(&mut point, &value).map_err(|refusal| refusal.to_string())?;
    }
    Ok(point)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use crate::run::Measured;
    use crate::run::{Backend, RunFailure, Store, execute};
    use crate::spec;
    use crate::spec::Overrides;

    /// All runs of a comparison, on disk.
    fn results(directory: &Path, experiment: &str) -> Plan {
        let mut experiment = spec::builtin(experiment).unwrap();
        experiment.apply(&Overrides { iterations: Some(1), ..Overrides::default() }).unwrap();
        let plan = Plan::new(experiment).unwrap();
        keep(directory, &plan);
        plan
    }

    struct Quick;
    impl Backend for Quick {
        fn run(&self, _: &RunSpec) -> Result<Measured, RunFailure> {
            Ok(Measured::of_transfer(1, base::Duration::from_millis(1)))
        }
    }

    fn keep(directory: &Path, plan: &Plan) {
        execute(plan, &Quick, 1, Some(&mut Store::open(directory).unwrap()), &mut |_| {}).unwrap();
    }

    #[test]
    fn every_run_of_every_built_in_experiment_is_made_of_its_line() {
        for (experiment, _) in spec::BUILTIN {
            let directory = tempfile::tempdir().unwrap();
            let plan = results(directory.path(), experiment);
            let made = |run: &RunSpec, found: Recorded| {
                assert_eq!(found.run, RunSpec { cell: 0, arm: 0, ..run.clone() }, "{experiment}");
                assert_eq!(found.names.arm, plan.arms[run.arm].label);
            };
            let lines = identities(directory.path()).unwrap();
            assert_eq!(lines.len(), plan.runs.len());
            for (line, run) in lines.into_iter().zip(&plan.runs) {
                made(run, repeatable(line, |problem, _| panic!("{experiment}: {problem}")).unwrap());
            }
            // The whole way takes as long for each row as for all of them.
            let last = plan.runs.len();
            made(&plan.runs[last - 1], read(directory.path(), last).unwrap());
        }
    }

    /// A line contains the differences from the root profile. A leaf that a changed kind shares with the root's, at the root's
    /// value, is not among them, but must be restored nevertheless.
    #[test]
    fn an_arm_with_a_changed_kind_and_a_value_of_the_root_is_made_of_its_line() {
        let directory = tempfile::tempdir().unwrap();
        let mut experiment = spec::builtin("dsack").unwrap();
        let set = ["cc.slow_start.kind=hystart_pp_css", "cc.slow_start.limit_segments=2", "cc.avoidance.kind=reno"];
        let set = set.map(|set| format!("rfc.{set}")).to_vec();
        let arms = vec!["rfc".to_owned()];
        experiment.apply(&Overrides { set, arms, iterations: Some(1), ..Overrides::default() }).unwrap();
        let plan = Plan::new(experiment).unwrap();
        keep(directory.path(), &plan);
        assert_eq!(read(directory.path(), 1).unwrap().run.ends, plan.runs[0].ends);
    }

    fn refused(change: impl Fn(String) -> String, row: usize) -> String {
        let directory = tempfile::tempdir().unwrap();
        let plan = results(directory.path(), "dsack");
        std::fs::remove_dir_all(directory.path().join("runs")).unwrap();
        let line = |run| serde_json::to_string(&Identity::new(&plan, run)).unwrap() + "\n";
        let text: String = plan.runs.iter().map(line).collect();
        std::fs::write(directory.path().join(LINES), change(text)).unwrap();
        let message = read(directory.path(), row).unwrap_err().to_string();
        message.replace(&directory.path().display().to_string(), "DIR")
    }

    #[test]
    fn what_is_another_run_or_none_is_refused_with_what_would_be_right() {
        let same = |text| text;
        assert_eq!(refused(same, 0), "`DIR/runs.jsonl`, line 0: no such line; lines are 1 to 4");
        assert_eq!(refused(same, 5), "`DIR/runs.jsonl`, line 5: no such line; lines are 1 to 4");
        let other = refused(|text| text.replace("\"version\":\"", "\"version\":\"0."), 2);
        assert!(other.contains("line 2: it was made by version 0.0."), "{other}");
        assert!(other.contains(", and what this program does is 0."), "{other}");
        let faster = refused(|text| text.replace("rate=34500kbit", "rate=35Mbit"), 1);
        assert!(faster.contains("path and configuration are not those that its `spec` is of"), "{faster}");
        let real = refused(|text| text.replace("\"seed\":", "\"made_by\":\"netns\",\"seed\":"), 1);
        assert!(real.contains("only simulated runs can be made again"), "{real}");
        let none = refused(|_| "{\"cell\":1}\n".to_owned(), 1);
        assert!(none.contains("it is neither a longhaul run nor a row that names one: missing field"), "{none}");
    }

    #[test]
    fn a_result_that_is_not_there_is_named() {
        let message = read(Path::new("nowhere/at/all"), 1).unwrap_err().to_string();
        assert!(message.starts_with("`nowhere/at/all`: ") && message.contains("`ab --out`"), "{message}");
    }
}
