//! Licences, bans and sources of all dependencies, checked by cargo-deny against `deny.toml`.
//!
//! Advisories need a network and change daily: `cargo xtask advisories` checks them, outside CI.

use crate::runner::{Outcome, root, run};
use crate::tool::{Tool, WhenAbsent};
use std::process::Command;

/// The newest that builds with the pinned toolchain.
pub const CARGO_DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2" };

/// Runs the three checks.
pub fn check(when_absent: WhenAbsent) -> Outcome {
    let Some(program) = CARGO_DENY.provide(when_absent)? else { return Ok(()) };
    run(Command::new(program).args(["--workspace", "check", "licenses", "bans", "sources"]).current_dir(root()))
}
