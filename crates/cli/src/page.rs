//! A comparison as one self-contained HTML file: whether it can be written, and writing it.

use crate::failure::Failure;
use crate::progress::{self, note};
use crate::whole_file::WholeFile;
use lab::results::{self, Row};
use lab::{Finished, Plan};
use report::{Commands, Comparison};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;
use std::time::Duration;

fn refused(option: &str, path: &Path, why: &str) -> Failure {
    Failure::usage(format!("{option} {}: {why}; name a file in a folder that can be written", path.display()))
}

/// Checks that a page can be written, before anything is done for it.
///
/// # Errors
/// Names the option, the path and the remedy.
pub fn can_be_written(option: &str, path: &Path) -> Result<(), Failure> {
    if path.is_dir() {
        return Err(refused(option, path, "it is a directory"));
    }
    if path.as_os_str() == "-" {
        return if option == "--out" { Ok(()) } else { Err(refused(option, path, "stdout has the rows already")) };
    }
    WholeFile::create(path).map(drop).map_err(|error| refused(option, path, &error.to_string()))
}

/// Writes the page, and reports where it is.
///
/// # Errors
/// If it cannot be written.
pub fn write(
    option: &str,
    path: &Path,
    commands: &Commands,
    jobs: usize,
    (plan, finished, rows): (&Plan, &Finished, &[Row]),
) -> Result<(), Failure> {
    let conditions = results::conditions(plan, rows);
    let bar = progress::spinner("{msg} {elapsed}");
    bar.enable_steady_tick(Duration::from_millis(200));
    bar.set_message("making runs of several flows again");
    let courses = results::courses(plan, rows, jobs);
    bar.finish_and_clear();
    let page = Comparison { plan, finished, rows, conditions: &conditions, courses: &courses, commands };
    if path.as_os_str() == "-" {
        let mut out = BufWriter::new(io::stdout().lock());
        return page.write(&mut out).and_then(|()| out.flush()).map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe => Failure::Unread,
            _ => Failure::Failed(format!("cannot write to stdout: {error}")),
        });
    }
    let written = WholeFile::create(path).and_then(|mut out| {
        page.write(&mut out)?;
        out.finish()
    });
    written.map_err(|error| refused(option, path, &error.to_string()))?;
    note!("{}: open it in a browser; it needs nothing else", path.display());
    Ok(())
}
