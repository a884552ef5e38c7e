//! `cargo xtask advisories`: known vulnerabilities of the dependencies, by cargo-deny against RustSec's database.
//!
//! Outside CI: the database changes daily, so that the same commit may pass today and fail tomorrow, and it has to be downloaded.
//! Without a network nothing is checked, and the command reports that with exit code 2: an old database without findings proves
//! nothing.

use crate::deny::CARGO_DENY;
use crate::runner::{Failure, Outcome, root};
use crate::tool::WhenAbsent;
use std::process::{Command, Output};

/// Fetches the database and checks.
pub fn check() -> Outcome {
    let not_installed = |failure: Failure| match failure {
        Failure::Failed(text) => Failure::Missing(format!(
            "not checked: no network to install cargo-deny from, or it does not build here ({text}); run it where there is one"
        )),
        missing => missing,
    };
    let Some(program) = CARGO_DENY.provide(WhenAbsent::Install).map_err(not_installed)? else { return Ok(()) };
    let mut command = Command::new(program);
    command.args(["--workspace", "check", "advisories"]).current_dir(root());
    eprintln!("$ cargo-deny --workspace check advisories");
    let output =
        command.output().map_err(|error| Failure::Missing(format!("cargo-deny cannot be started: {error}")))?;
    let written = output_text(&output);
    eprint!("{written}");
    judge(output.status.success(), &written)
}

fn output_text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}

/// Messages of cargo-deny without a database.
const NO_DATABASE: [&str; 3] =
    ["failed to fetch advisory database", "failed to load advisory database", "failed to acquire advisory"];

/// What it says when it has checked and found nothing.
const CHECKED: &str = "advisories ok";

fn judge(success: bool, written: &str) -> Outcome {
    if let Some(line) = written.lines().find(|line| NO_DATABASE.iter().any(|words| line.contains(words))) {
        let line = line.trim();
        return Err(Failure::Missing(format!(
            "not checked: no network, or none that reaches RustSec's database ({line}); run it where there is one"
        )));
    }
    match (success, written.contains(CHECKED)) {
        (true, true) => return Ok(()),
        (true, false) => return Err(Failure::Missing(format!("not checked: cargo-deny did not say `{CHECKED}`"))),
        (false, _) => {}
    }
    Err(Failure::Failed(
        "cargo-deny objects; update what it names (`cargo update -p NAME`), or say in deny.toml why not".to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_network_nothing_is_claimed() {
        let written = "2026-11-22 [ERROR] failed to fetch advisory database https://github.com/rustsec/advisory-db\nCaused by: …\n";
        let failure = judge(false, written).unwrap_err();
        assert!(
            matches!(&failure, Failure::Missing(text) if text.starts_with("not checked: no network")),
            "{failure:?}"
        );
        assert!(judge(true, written).is_err(), "success without a database is none");
        let silent = judge(true, "").unwrap_err();
        assert!(
            matches!(&silent, Failure::Missing(text) if text.contains("did not say `advisories ok`")),
            "{silent:?}"
        );
    }

    #[test]
    fn a_weakness_fails_and_none_passes() {
        assert_eq!(judge(true, "advisories ok\n"), Ok(()));
        let failure = judge(false, "error[vulnerability]: …\nadvisories FAILED\n").unwrap_err();
        assert!(matches!(&failure, Failure::Failed(text) if text.contains("cargo update")), "{failure:?}");
    }
}
