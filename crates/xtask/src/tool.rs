//! Third-party programs that a step needs: pinned, and built once per machine below `target/tools`.

use crate::runner::{Failure, cargo, root, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A package from crates.io whose program has the package's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tool {
    /// Name of the package and of the program.
    pub name: &'static str,
    /// The version that counts; no other does.
    pub version: &'static str,
}

/// What to do on a machine that lacks the pinned version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenAbsent {
    /// Leave the step to CI.
    Skip,
    /// Build and install it.
    Install,
}

impl Tool {
    /// The program to call; `None` when it is absent and the step tolerates that.
    pub fn provide(&self, when_absent: WhenAbsent) -> Result<Option<PathBuf>, Failure> {
        let tools = root().join("target").join("tools");
        let own = tools.join("bin").join(self.name);
        if self.is_pinned_version(Path::new(self.name)) {
            return Ok(Some(self.name.into()));
        }
        if !self.is_installed_in(&tools) {
            if when_absent == WhenAbsent::Skip {
                let Self { name, version } = self;
                eprintln!(
                    "   skipped: {name} {version} is not installed; `cargo xtask test --deny` installs it, and CI does"
                );
                return Ok(None);
            }
            let package = format!("{}@{}", self.name, self.version);
            let mut install = cargo(&["install", "--quiet", "--locked", "--debug", &package, "--root"]);
            // It runs for a second but takes minutes to build, so build it without optimization.
            run(install.arg(&tools).env("CARGO_PROFILE_DEV_DEBUG", "false"))?;
        }
        if !self.is_installed_in(&tools) {
            return Err(Failure::Missing(format!("{} {} was installed but is not there", self.name, self.version)));
        }
        Ok(Some(own))
    }

    /// Whether a program reports that it is this one. Not every program has `--version`.
    fn is_pinned_version(&self, program: &Path) -> bool {
        let output = Command::new(program).arg("--version").output();
        output.is_ok_and(|output| self.is_said_by(&String::from_utf8_lossy(&output.stdout)))
    }

    fn is_said_by(&self, text: &str) -> bool {
        text.trim() == format!("{} {}", self.name, self.version)
    }

    /// Whether cargo has installed this version there.
    fn is_installed_in(&self, tools: &Path) -> bool {
        let ledger = fs::read_to_string(tools.join(".crates.toml")).unwrap_or_default();
        self.is_listed_in(&ledger) && tools.join("bin").join(self.name).is_file()
    }

    fn is_listed_in(&self, ledger: &str) -> bool {
        let entry = format!("\"{} {} (", self.name, self.version);
        ledger.lines().any(|line| line.starts_with(&entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2" };

    #[test]
    fn only_the_pinned_version_counts() {
        assert!(DENY.is_said_by("cargo-deny 0.20.2\n"));
        assert!(!DENY.is_said_by("cargo-deny 0.20.20\n"));
        assert!(!DENY.is_said_by(""));
    }

    #[test]
    fn cargos_ledger_lists_what_is_installed() {
        let source = "registry+https://github.com/rust-lang/crates.io-index";
        let ledger = format!("[v1]\n\"cargo-deny 0.20.2 ({source})\" = [\"cargo-deny\"]\n");
        assert!(DENY.is_listed_in(&ledger));
        assert!(!Tool { version: "0.20.20", ..DENY }.is_listed_in(&ledger));
        assert!(!Tool { name: "deny", ..DENY }.is_listed_in(&ledger));
    }

    #[test]
    fn a_program_that_is_not_there_has_no_version() {
        assert!(!DENY.is_pinned_version(Path::new("longhaul-no-such-program")));
    }
}
