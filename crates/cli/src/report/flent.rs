//! Median runs as flent's data files.

use crate::failure::Failure;
use crate::progress::{self, note};
use flate2::{Compression, GzBuilder};
use lab::results::{MadeAt, flent};
use lab::{Plan, Row};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use time::OffsetDateTime;
use time::macros::format_description;

/// Makes the median run of each row again, and writes it into a folder, under the name that flent would give it.
///
/// # Errors
/// If a run fails or a file cannot be written.
pub fn write(plan: &Plan, rows: &[Row], at_s: u64, folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::usage(format!("--flent: cannot make `{}`: {error}", folder.display())))?;
    let at = made_at(at_s);
    let bar = progress::bar(rows.len() as u64, "{pos}/{len} data files, {rate} {eta} left");
    let mut written = 0;
    for (index, row) in rows.iter().enumerate() {
        let (cell, arm) = (index / plan.arms.len(), index % plan.arms.len());
        let Some(run) = row.median_run.as_ref().and_then(|median| plan.run(cell, arm, median.iteration())) else {
            continue;
        };
        let document =
            flent(plan, run, &at).map_err(|error| Failure::Failed(format!("--flent: the run failed: {error}")))?;
        let name = document["metadata"]["DATA_FILENAME"].as_str().expect("a document has its name");
        let path = folder.join(name);
        // Without a time of its own, so that the same run has the same bytes.
        let packed = || -> std::io::Result<()> {
            let mut file = GzBuilder::new().write(File::create(&path)?, Compression::default());
            file.write_all(document.to_string().as_bytes())?;
            file.finish()?.sync_all()
        };
        packed().map_err(|error| Failure::Failed(format!("--flent: cannot write `{}`: {error}", path.display())))?;
        written += 1;
        bar.inc(1);
    }
    bar.finish_and_clear();
    note!("{}: {written} data files of flent", folder.display());
    Ok(())
}

fn made_at(unix_s: u64) -> MadeAt {
    let time = i64::try_from(unix_s).ok().and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok());
    let format = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].000000Z");
    let text = time.unwrap_or(OffsetDateTime::UNIX_EPOCH).format(format).expect("the format has what a time has");
    MadeAt { unix_s, text }
}

#[test]
fn times_are_as_flent_reads_them() {
    assert_eq!(made_at(1_795_550_400).text, "2026-11-24T20:00:00.000000Z");
    assert_eq!(made_at(0).text, "1970-01-01T00:00:00.000000Z");
}
