//! `cargo xtask traces`: hundreds of digests of canonical traces, the safety net for a change that must not alter behaviour.
//!
//! Stamps show within seconds that a profile behaves as before, over a few cells. The digests take minutes and cover more: every
//! profile in every built-in experiment, every script, thousands of swarm worlds. They are therefore not a step of CI, and their
//! file is useful only while it is newer than the last change of behaviour.

use crate::args::DocsMode;
use crate::runner::{Failure, Outcome, capture, cargo, root};
use std::collections::BTreeMap;
use std::fs;

const FILE: &str = "docs/traces.txt";
const HEADER: &str = "\
# Digests of canonical traces, a line each: experiment/profile/device, scripts/name, swarm/first seed of a thousand/device. Names of
# events and of what they speak of are left out. `cargo xtask traces` writes this file.
";
/// What prints the digests: arguments of `cargo run`.
const PRINTERS: [&[&str]; 3] = [
    &["--package", "longhaul-lab", "--example", "traces"],
    &["--package", "longhaul-sim", "--example", "worlds"],
    &["--package", "longhaul-drill", "--bin", "longhaul-drill", "--", "--digests", "crates/drill/scripts"],
];

/// Does it, and says what moved.
pub fn run(mode: DocsMode) -> Outcome {
    let mut today = HEADER.to_owned();
    for printer in PRINTERS {
        let output = capture(cargo(&["run", "--quiet"]).args(printer))?;
        today.push_str(&String::from_utf8_lossy(&output));
    }
    let path = root().join(FILE);
    let committed = fs::read_to_string(&path).unwrap_or_default();
    let moved = moved(&committed, &today);
    moved.iter().for_each(|name| println!("moved: {name}"));
    println!("{} of {} digests moved", moved.len(), lines(&today).len());
    match mode {
        DocsMode::Check if !moved.is_empty() => Err(Failure::Failed(format!(
            "{FILE} is out of date; after a change of behaviour, `cargo xtask traces` writes it"
        ))),
        DocsMode::Check => Ok(()),
        DocsMode::Write => fs::write(&path, today).map_err(|error| Failure::Failed(format!("{FILE}: {error}"))),
    }
}

fn lines(text: &str) -> BTreeMap<&str, &str> {
    text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('=')).collect()
}

/// The names whose digest has changed, is new, or is gone.
fn moved<'a>(committed: &'a str, today: &'a str) -> Vec<&'a str> {
    let (before, now) = (lines(committed), lines(today));
    let changed = now.iter().filter(|(name, number)| before.get(*name) != Some(number)).map(|(name, _)| *name);
    let gone = before.keys().filter(|name| !now.contains_key(*name)).copied();
    changed.chain(gone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_what_is_new_and_what_is_gone_has_moved() {
        let before = "# about\na/b=1\nc=2\nd=3\n";
        assert_eq!(moved(before, before), [""; 0]);
        assert_eq!(moved(before, "a/b=1\nc=9\ne=4\n"), ["c", "e", "d"]);
    }
}
