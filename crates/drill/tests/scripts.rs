//! All scripts of this repository, against this project's TCP in virtual time: each passes, twice with the same packets.

use longhaul_drill::suite::{Claim, Ended, Report, Suite, claim, scripts_below};
use std::path::{Path, PathBuf};
use std::time::Duration;

fn scripts() -> Vec<PathBuf> {
    scripts_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts")).unwrap()
}

fn suite() -> Suite {
    let mut suite = Suite::new(env!("CARGO_BIN_EXE_longhaul-drill").into(), vec!["--verbose".into()]);
    suite.limit = Duration::from_secs(120);
    suite
}

/// The failures with their messages, one per line.
fn table(reports: &[Report]) -> String {
    let failed = reports.iter().filter(|report| report.ended != Ended::Passed);
    failed.map(|report| format!("\n{:?}: {}", report.ended, report.message)).collect()
}

#[test]
fn every_script_passes_twice_with_the_same_packets() {
    let scripts = scripts();
    let first = suite().run(&scripts, |_| {});
    let failures = table(&first);
    assert!(failures.is_empty(), "{} scripts were run; these failed:\n{failures}", first.len());
    let second = suite().run(&scripts, |_| {});
    for (first, second) in first.iter().zip(&second) {
        assert_eq!(first.log, second.log, "{}: the second run differs", first.script.display());
    }
    // Scripts without packets test only calls.
    let silent = first.iter().filter(|report| report.log.is_empty()).count();
    assert!(silent * 10 < first.len(), "no packet was seen of {silent} scripts");
}

#[test]
fn every_script_says_what_it_claims() {
    let wrong: Vec<String> = scripts().iter().filter_map(|script| claim(script).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(scripts().iter().any(|script| claim(script) == Ok(Claim::Standard)));
}
