//! The package for Python: built as a wheel, installed into an environment of its own, tested there.
//!
//! The wheel is built in the profile of tests, in the target directory that all builds share. The environment stays, so that only the first
//! time fetches what reads its tables.

use crate::needs;
use crate::runner::{Failure, Outcome, build_tests, root, run};
use std::fs;
use std::path::Path;
use std::process::Command;

const REQUIREMENTS: &str = "crates/python/tests/requirements.txt";

/// Builds the wheel and runs its tests.
pub fn test() -> Outcome {
    let place = root().join("target").join("python");
    let (environment, wheels) = (place.join("environment"), place.join("wheels"));
    let python = environment.join("bin").join("python");
    if !python.is_file() {
        run(Command::new(needs::provide_python()?).args(["-m", "venv"]).arg(&environment))?;
    }
    let pip = |arguments: &[&str]| {
        let mut command = Command::new(&python);
        command
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
            .args(arguments)
            .current_dir(root());
        command
    };
    run(&mut pip(&["--requirement", REQUIREMENTS]))?;
    // A wheel of another version would be found beside it.
    let _ = fs::remove_dir_all(&wheels);
    let mut build = Command::new(environment.join("bin").join("maturin"));
    run(build
        .args(["build", "--profile", "dev", "--locked", "--target-dir", "target", "--out"])
        .arg(&wheels)
        .current_dir(root()))?;
    // Tests compare what the program writes.
    build_tests(&["--locked"])?;
    run(pip(&["--no-deps", "--force-reinstall"]).arg(only_file(&wheels)?))?;
    run(Command::new(&python).args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider"]).current_dir(root()))
}

fn only_file(folder: &Path) -> Result<std::path::PathBuf, Failure> {
    let found = fs::read_dir(folder).ok().and_then(|mut entries| entries.next()).and_then(Result::ok);
    found
        .map(|entry| entry.path())
        .ok_or_else(|| Failure::Failed(format!("maturin left no wheel in {}", folder.display())))
}
