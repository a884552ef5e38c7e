//! The control: runs the scripts that claim to hold for every correct TCP against this machine's kernel, in real time.
//!
//! A script that fails here asserts something that is not standard, or is wrong. A busy machine may occasionally be late in real
//! time, so a script that fails is retried with fewer others in parallel.

use longhaul_drill::suite::{Claim, Ended, Suite, claim, scripts_below};
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
    // Most of a run is spent waiting, so many runs go in parallel.
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
