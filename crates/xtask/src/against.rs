//! `cargo xtask bench --against COMMIT`: every counted row beside the same row of another commit.
//!
//! Both are built in one place, one after the other, with one build directory: the path of a crate is part of its symbols' names,
//! and those determine which functions are compiled together, so equal code in two places need not give equal counts. The place
//! is kept, and the next comparison builds only the differences.

use crate::bench::{BENCHES, Bench, Count, RUNNER, counts};
use crate::runner::{Failure, Outcome, capture, root, run};
use crate::tool::WhenAbsent;
use crate::{mirror, needs};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Against {
    /// As git understands it.
    pub commit: String,
    /// Rows that may exceed the limit, and why.
    pub named: Vec<Named>,
}

/// A row that may take more than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Name of the benchmark.
    pub row: String,
    /// Printed beside its ratio.
    pub reason: String,
}

/// Maximum excess of a row in millionths, unless it is named.
const LIMIT: u64 = 20_000;

/// Counts both and compares.
pub fn compare(against: &Against) -> Outcome {
    let place = root().join("target").join("against");
    let commit = Checkout::of(&against.commit, &place)?;
    needs::provide_valgrind()?;
    let Some(runner) = RUNNER.provide(WhenAbsent::Install)? else { return Ok(()) };
    let workspace = place.join("workspace");
    let count = |from: &Path| {
        mirror::update(from, &workspace, |_, content| Ok(Some(content)))?;
        let there: Vec<Bench> = BENCHES.into_iter().filter(|bench| workspace.join(bench.file).is_file()).collect();
        counts(&there, &runner, |command| {
            command.current_dir(&workspace).env("CARGO_TARGET_DIR", place.join("target"));
        })
    };
    let before = count(&commit.tree)?;
    let now = count(&root())?;
    let rows = rows(&before, &now, &against.named).map_err(Failure::Failed)?;
    println!("{:<14} {:>14} {:>14} {:>8}", "row", &commit.hash[..12], "now", "ratio");
    rows.iter().for_each(|row| println!("{}", row.line()));
    judge(&rows)
}

/// Another commit's files, which are removed on drop.
struct Checkout {
    hash: String,
    tree: PathBuf,
}

impl Checkout {
    fn of(commit: &str, place: &Path) -> Result<Self, Failure> {
        let hash = capture(&mut git(&["rev-parse", "--verify", "--quiet", &format!("{commit}^{{commit}}")]));
        let hash = hash.map_err(|_| Failure::Missing(format!("git knows no commit `{commit}`")))?;
        let hash = String::from_utf8_lossy(&hash).trim().to_owned();
        let tree = place.join("commit");
        fs::create_dir_all(place).map_err(|error| Failure::Failed(format!("{}: {error}", place.display())))?;
        // Leftovers of a killed comparison.
        let made = Self { hash, tree };
        made.remove();
        run(git(&["worktree", "add", "--quiet", "--detach", "--force"]).arg(&made.tree).arg(&made.hash))?;
        Ok(made)
    }

    fn remove(&self) {
        if self.tree.exists() {
            let _ = run(git(&["worktree", "remove", "--force"]).arg(&self.tree));
        }
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        self.remove();
    }
}

fn git(arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(root());
    command
}

/// A row on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    name: String,
    before: Option<u64>,
    now: Option<u64>,
    reason: Option<String>,
}

/// Returns the rows of both sides in today's order, followed by those that no longer exist.
fn rows(before: &[Count], now: &[Count], named: &[Named]) -> Result<Vec<Row>, String> {
    let find = |side: &[Count], name: &str| side.iter().find(|row| row.name == name).map(|row| row.instructions);
    let mut names: Vec<&str> = Vec::new();
    for count in now.iter().chain(before) {
        if !names.contains(&count.name.as_str()) {
            names.push(&count.name);
        }
    }
    if let Some(Named { row, .. }) = named.iter().find(|named| !names.contains(&named.row.as_str())) {
        return Err(format!("--named {row}: no such row; the rows are {}", names.join(", ")));
    }
    let reason = |name: &str| named.iter().find(|named| named.row == name).map(|named| named.reason.clone());
    let row = |name: &&str| Row {
        name: (*name).to_owned(),
        before: find(before, name),
        now: find(now, name),
        reason: reason(name),
    };
    Ok(names.iter().map(row).collect())
}

impl Row {
    /// Returns the excess in millionths; `None` if only one side has the row.
    fn excess(&self) -> Option<u64> {
        let (before, now) = self.before.zip(self.now)?;
        Some(now.saturating_sub(before) * 1_000_000 / before)
    }

    /// Returns whether it exceeds the limit, or no longer exists, so that its count is unknown.
    fn is_over(&self) -> bool {
        self.now.is_none() || self.excess() > Some(LIMIT)
    }

    fn line(&self) -> String {
        let number = |count: Option<u64>| count.map_or_else(|| "–".to_owned(), |count| count.to_string());
        let ratio = self.before.zip(self.now).map_or_else(
            || if self.now.is_none() { "gone".to_owned() } else { "new".to_owned() },
            |(before, now)| format!("{:.4}", now as f64 / before as f64),
        );
        let remark = match (&self.reason, self.is_over()) {
            (Some(reason), _) => format!("  named: {reason}"),
            (None, true) => "  over".to_owned(),
            (None, false) => String::new(),
        };
        format!("{:<14} {:>14} {:>14} {ratio:>8}{remark}", self.name, number(self.before), number(self.now))
    }
}

fn judge(rows: &[Row]) -> Outcome {
    if !rows.iter().any(|row| row.before.is_some() && row.now.is_some()) {
        return Err(Failure::Failed("no row is counted on both sides".to_owned()));
    }
    let over: Vec<&str> =
        rows.iter().filter(|row| row.is_over() && row.reason.is_none()).map(|row| row.name.as_str()).collect();
    if over.is_empty() {
        return Ok(());
    }
    Err(Failure::Failed(format!(
        "more than 2 % over, or gone: {}; make them cheaper, or name each with its reason: `--named ROW=REASON`",
        over.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(name: &str, instructions: u64) -> Count {
        Count { name: name.to_owned(), instructions, of: 1_000, what: "segment".to_owned() }
    }

    fn named(row: &str) -> Vec<Named> {
        vec![Named { row: row.to_owned(), reason: "a guard".to_owned() }]
    }

    #[test]
    fn two_percent_are_allowed_and_no_more() {
        let judged = |now| judge(&rows(&[count("a", 1_000_000)], &[count("a", now)], &[]).unwrap());
        assert_eq!(judged(1_020_000), Ok(()));
        assert_eq!(judged(1), Ok(()));
        assert!(judged(1_020_001 + 1).unwrap_err().text().contains("more than 2 % over, or gone: a;"));
    }

    #[test]
    fn a_named_row_may_take_more_and_shows_its_reason() {
        let found = rows(&[count("a", 100)], &[count("a", 150)], &named("a")).unwrap();
        assert_eq!(judge(&found), Ok(()));
        assert_eq!(found[0].line(), "a                         100            150   1.5000  named: a guard");
        let other = rows(&[count("a", 100)], &[count("a", 150)], &named("b")).unwrap_err();
        assert_eq!(other, "--named b: no such row; the rows are a");
    }

    #[test]
    fn a_new_row_is_shown_and_one_that_is_gone_has_to_be_named() {
        let found = rows(&[count("a", 100), count("gone", 5)], &[count("new", 7), count("a", 100)], &[]).unwrap();
        let lines: Vec<String> = found.iter().map(Row::line).collect();
        assert!(
            lines[0].ends_with("new") && lines[1].ends_with("1.0000") && lines[2].ends_with("gone  over"),
            "{lines:?}"
        );
        assert!(judge(&found).unwrap_err().text().contains("gone: gone;"));
        assert_eq!(judge(&rows(&[count("a", 1), count("gone", 5)], &[count("a", 1)], &named("gone")).unwrap()), Ok(()));
    }

    #[test]
    fn nothing_in_common_proves_nothing() {
        assert!(judge(&rows(&[], &[count("a", 1)], &[]).unwrap()).unwrap_err().text().contains("no row"));
    }
}
