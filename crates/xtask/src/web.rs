//! The pages, the trace viewer and the report: their sources are in `web/`, and their builds are committed, so that cargo does not need
//! Node.
//!
//! The same sources give the same bytes; the check rebuilds the pages, compares, and tests them in a browser.

use crate::args::DocsMode;
use crate::runner::{Failure, Outcome, build_tests, root, run};
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Where builds are kept.
const BUILT: &str = "crates/report/assets";
const PAGES: [&str; 2] = ["viewer.html", "report.html"];

/// Builds the pages, or reports whether the builds are up to date and work.
pub fn build_or_check(mode: DocsMode) -> Outcome {
    npm(&["ci", "--ignore-scripts", "--no-audit", "--no-fund"])?;
    npm(&["run", "check"])?;
    let committed = root().join(BUILT);
    if mode == DocsMode::Write {
        return build(&committed);
    }
    let fresh = root().join("target").join("pages");
    build(&fresh)?;
    PAGES.iter().try_for_each(|page| same(&committed.join(page), &fresh.join(page)))?;
    // They show traces and results of the program.
    build_tests(&["--locked"])?;
    run(npm_command(&["test"]).env("LONGHAUL", root().join("target").join("debug").join("longhaul")))
}

fn npm(arguments: &[&str]) -> Outcome {
    run(&mut npm_command(arguments))
}

fn npm_command(arguments: &[&str]) -> Command {
    let mut command = Command::new("npm");
    command.args(arguments).current_dir(root().join("web"));
    command
}

fn build(folder: &Path) -> Outcome {
    let arguments = [OsStr::new("build.mjs"), folder.as_os_str()];
    run(Command::new("node").args(arguments).current_dir(root().join("web")))
}

fn same(committed: &Path, fresh: &Path) -> Outcome {
    let read = |path: &Path| {
        fs::read(path).map_err(|error| Failure::Failed(format!("{} cannot be read: {error}", path.display())))
    };
    if read(committed)? == read(fresh)? {
        return Ok(());
    }
    let page = committed.display();
    Err(Failure::Failed(format!("{page} is not what web/ builds; `cargo xtask web` writes it")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_that_differs_is_reported_with_the_remedy() {
        let directory = std::env::temp_dir().join(format!("longhaul-xtask-web-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let (old, new) = (directory.join("old"), directory.join("new"));
        fs::write(&old, "a").unwrap();
        fs::write(&new, "b").unwrap();
        assert!(same(&old, &new).unwrap_err().text().contains("`cargo xtask web` writes it"));
        assert_eq!(same(&old, &old), Ok(()));
        assert!(same(&old, &directory.join("none")).unwrap_err().text().contains("cannot be read"));
        fs::remove_dir_all(&directory).unwrap();
    }
}
