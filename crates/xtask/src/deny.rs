//! Licences, bans and sources of all dependencies, checked by cargo-deny against `deny.toml`.
//!
//! Advisories need a network and change under one's feet, so they are not part of this.

use crate::runner::{Failure, Outcome, cargo, root, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The newest that builds with the pinned toolchain.
const VERSION: &str = "0.20.2";

/// What to do on a machine without the pinned cargo-deny.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenAbsent {
    /// Leave the check to CI.
    Skip,
    /// Build and install it below `target/tools`, once per machine.
    Install,
}

/// Runs the three checks.
pub fn check(when_absent: WhenAbsent) -> Outcome {
    let tools = root().join("target").join("tools");
    let own = tools.join("bin").join("cargo-deny");
    let program = match [PathBuf::from("cargo-deny"), own.clone()]
        .into_iter()
        .find(|program| is_pinned_version(program))
    {
        Some(program) => program,
        None if when_absent == WhenAbsent::Skip => {
            eprintln!(
                "   skipped: cargo-deny {VERSION} is not installed; `cargo xtask test --deny` installs it, and CI does"
            );
            return Ok(());
        }
        None => {
            let package = format!("cargo-deny@{VERSION}");
            run(cargo(&["install", "--quiet", "--locked", &package, "--root"]).arg(&tools))?;
            own
        }
    };
    if !is_pinned_version(&program) {
        return Err(Failure::Missing(format!("cargo-deny {VERSION} was installed but does not run")));
    }
    run(Command::new(program).args(["--workspace", "check", "licenses", "bans", "sources"]).current_dir(root()))
}

fn is_pinned_version(program: &Path) -> bool {
    let output = Command::new(program).arg("--version").output();
    output.is_ok_and(|output| says_pinned(&String::from_utf8_lossy(&output.stdout)))
}

fn says_pinned(text: &str) -> bool {
    text.trim() == format!("cargo-deny {VERSION}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_pinned_version_counts() {
        assert!(says_pinned("cargo-deny 0.20.2\n"));
        assert!(!says_pinned("cargo-deny 0.20.20\n"));
        assert!(!says_pinned(""));
    }

    #[test]
    fn a_program_that_is_not_there_has_no_version() {
        assert!(!is_pinned_version(Path::new("longhaul-no-such-program")));
    }
}
