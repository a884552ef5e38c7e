//! The control: scripts that claim to hold for every correct TCP, against the kernel of this machine in real time.
//!
//! A script that fails here asserts something that is not standard, or is wrong. Real time on a busy machine may be late
//! once, so what fails is tried again with less company.

use drill::suite::{Claim, Ended, Suite, claim, scripts_below};
use std::path::{Path, PathBuf};
use std::time::Duration;

const TRIES: u32 = 6;

#[test]
fn standard_scripts_hold_for_the_kernel() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let standard = |script: &PathBuf| claim(script) == Ok(Claim::Standard);
    let mut scripts: Vec<PathBuf> = scripts_below(&folder).unwrap().into_iter().filter(standard).collect();
    assert!(!scripts.is_empty());
    let mut suite = Suite::new(env!("CARGO_BIN_EXE_longhaul-drill").into(), vec!["--kernel".into()]);
    suite.limit = Duration::from_secs(600);
    // Most of a run is waiting, so many go side by side.
    suite.jobs = 16;
    let mut failures = String::new();
    for _ in 0..TRIES {
        let reports = suite.run(&scripts, |_| {});
        let failed = reports.iter().filter(|report| report.ended != Ended::Passed);
        failures = failed.clone().map(|report| format!("\n{}", report.message)).collect();
        scripts = failed.map(|report| report.script.clone()).collect();
        if scripts.is_empty() {
            return;
        }
        suite.jobs = 1;
    }
    panic!("these scripts do not hold for the kernel:\n{failures}");
}
