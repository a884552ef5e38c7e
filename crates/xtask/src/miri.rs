//! `cargo xtask miri`: runs the tests of crates with unsafe code under Miri, which checks every memory access.
//!
//! Not part of CI: Miri exists only for nightly toolchains, and takes minutes for what a processor does in seconds. It reports
//! what it cannot run: Miri models memory but not the kernel, so it cannot check a crate whose unsafe code consists of system
//! calls.

use crate::runner::{Failure, Outcome, root, run};
use std::process::{Command, Stdio};

/// A crate with unsafe code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unsafe {
    /// Directory under `crates/`.
    krate: &'static str,
    reach: Reach,
}

/// How far Miri comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// The tests it runs: arguments of `cargo miri test`.
    Runs(&'static [&'static str]),
    /// It cannot, for this reason.
    Cannot(&'static str),
}

/// Every crate with unsafe code in the part other crates use.
const CRATES: [Unsafe; 6] = [
    Unsafe {
        krate: "sockets",
        // The rest needs a kernel: descriptors, `ioctl`, files under /proc.
        reach: Reach::Runs(&["--package", "longhaul-sockets", "--lib", "ffi::memory"]),
    },
    Unsafe { krate: "drill", reach: Reach::Cannot("it opens a shared object and makes the script's system calls") },
    Unsafe { krate: "net", reach: Reach::Cannot("it asks the kernel for socket options and for a scheduling class") },
    Unsafe { krate: "tokio", reach: Reach::Cannot("it asks the kernel to watch a descriptor") },
    Unsafe {
        krate: "python",
        reach: Reach::Cannot("it is called by the interpreter, whose library Miri does not run"),
    },
    Unsafe { krate: "yardstick", reach: Reach::Cannot("it asks the kernel for a scheduling class") },
];

const INSTALL: &str = "`rustup toolchain install nightly --component miri,rust-src` installs it";

/// Runs what Miri can run, and names the rest.
pub fn check() -> Outcome {
    let has = |arguments: &[&str]| {
        let mut command = nightly(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    if !has(&["--version"]) {
        return Err(Failure::Missing(format!("not checked: no nightly toolchain is installed; {INSTALL}")));
    }
    if !has(&["miri", "--version"]) {
        return Err(Failure::Missing(format!("not checked: the nightly toolchain has no Miri; {INSTALL}")));
    }
    // Miri builds its own standard library once, from sources that need crates from the registry.
    run(&mut nightly(&["miri", "setup"])).map_err(|failure| {
        Failure::Missing(format!("not checked: Miri's standard library cannot be built here ({})", failure.text()))
    })?;
    let mut failures = Vec::new();
    for Unsafe { krate, reach } in CRATES {
        match reach {
            Reach::Cannot(why) => eprintln!("── {krate}: not checked, Miri cannot run it: {why}"),
            Reach::Runs(tests) => match run(nightly(&["miri", "test"]).args(tests)) {
                Ok(()) => eprintln!("── {krate}: checked"),
                Err(failure) => failures.push(format!("{krate}: {}", failure.text())),
            },
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(Failure::Failed(failures.join("\n"))) }
}

/// The nightly cargo, which rustup knows by its name; ours is pinned by the variable that rustup sets.
fn nightly(arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.arg("+nightly").args(arguments).current_dir(root());
    command.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO").env_remove("RUSTC").env_remove("RUSTDOC");
    command.env("CARGO_TARGET_DIR", root().join("target").join("miri"));
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// If you add unsafe code to another crate, say here whether Miri can run it.
    #[test]
    fn every_crate_with_unsafe_code_is_named() {
        let sources = tidy::rust_sources();
        let unsafe_code = |code: &str| {
            ["unsafe {", "unsafe fn ", "unsafe impl ", "unsafe extern "].iter().any(|word| code.contains(word))
        };
        let found = sources.iter().filter(|source| source.path.contains("/src/") && unsafe_code(&source.code));
        let found: BTreeSet<&str> = found.filter_map(tidy::Source::krate).collect();
        let named: BTreeSet<&str> = CRATES.iter().map(|one| one.krate).collect();
        assert_eq!(found, named);
    }
}
