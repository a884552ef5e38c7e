//! Median runs as flent's data files.

mod document;

use crate::plan::{Plan, RunName};
use crate::results::rows::Row;
use crate::run::RunFailure;
use core::ops::ControlFlow;
use core::time::Duration;
use document::{MadeAt, document, file_names};
use flate2::{Compression, GzBuilder};
use std::fs::{File, create_dir_all, remove_file, rename};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Why data files of flent cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum FlentError {
    /// The time is none that their names can have.
    #[error("{} s after 1970 is later than the year 9999", .0.as_secs())]
    Time(Duration),
    /// The folder cannot be made.
    #[error("cannot make `{}`: {error}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write `{}`: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
    /// A file of that name holds something else, such as another comparison of the same name, time, arm and cell.
    #[error("`{}` holds other data; name another folder, or another time", .0.display())]
    Taken(PathBuf),
    /// A run fails now.
    #[error("run {name} failed: {failure}")]
    Run {
        /// Which one.
        name: RunName,
        /// Its reason.
        failure: RunFailure,
    },
}

/// Makes the median run of each row again, and writes it into a folder as flent's data; `rows` are all of the plan's, and `made_at`, the time
/// since 1970 at which the experiment was made, is in names and contents. Calls `step` after each file until it breaks off, and returns
/// how many files were written. The same runs and time give the same bytes.
///
/// # Errors
/// If a run fails, or a file cannot be written. A file that is there is not replaced unless it holds the same.
pub fn flent(
    plan: &Plan,
    rows: &[Row],
    made_at: Duration,
    folder: &Path,
    step: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<usize, FlentError> {
    let at = MadeAt::new(made_at).ok_or(FlentError::Time(made_at))?;
    create_dir_all(folder).map_err(|error| FlentError::Folder { path: folder.to_owned(), error })?;
    let mut written = 0;
    for (index, (row, name)) in rows.iter().zip(file_names(plan)).enumerate() {
        let (cell, arm) = (index / plan.arms.len(), index % plan.arms.len());
        let Some(run) = row.median_run.as_ref().and_then(|median| plan.run(cell, arm, median.iteration())) else {
            continue;
        };
        let (file, document) =
            document(plan, run, &at, &name).map_err(|failure| FlentError::Run { name: plan.name_of(run), failure })?;
        write(folder.join(file), &document.to_string())?;
        written += 1;
        if step().is_break() {
            break;
        }
    }
    Ok(written)
}

/// Writes a packed text as a whole or not at all.
fn write(path: PathBuf, text: &str) -> Result<(), FlentError> {
    let packed = pack(text);
    match std::fs::read(&path) {
        Ok(there) if there == packed => return Ok(()),
        Ok(_) => return Err(FlentError::Taken(path)),
        Err(_) => {}
    }
    let part = path.with_extension("part");
    let whole = || {
        let mut file = File::create(&part)?;
        file.write_all(&packed)?;
        file.sync_all()?;
        rename(&part, &path)
    };
    whole().map_err(|error| {
        // What cannot be removed has been named already, as what cannot be written.
        let _ = remove_file(&part);
        FlentError::File { path: path.clone(), error }
    })
}

/// Packs a text without a time of its own, so that the same text has the same bytes.
fn pack(text: &str) -> Vec<u8> {
    let mut packed = GzBuilder::new().write(Vec::new(), Compression::default());
    packed.write_all(text.as_bytes()).and_then(|()| packed.finish()).expect("memory takes all")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::rows;
    use crate::run::{SimBackend, execute};
    use crate::spec::{self, Overrides};
    use flate2::read::GzDecoder;
    use serde_json::Value;
    use std::collections::BTreeMap;

    const MADE_AT: Duration = Duration::from_secs(1_795_550_400);

    /// How the names of its files begin.
    const PREFIX: &str = "tcp_nup-2026_11_24T20_00_00.000000Z.wan_my_own_arm_path.rtt_";

    /// Two cells of a small experiment, and what came of it. The arms' names differ in signs alone.
    fn made() -> (Plan, Vec<Row>) {
        let mut experiment = spec::builtin("wan").unwrap();
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let set = texts(&["path.rtt=25ms,50ms", "flow.bytes=20kB"]);
        let arms = texts(&["rfc", "linux", "longhaul"]);
        experiment.apply(&Overrides { set, arms, iterations: Some(1), ..Overrides::default() }).unwrap();
        for (arm, name) in experiment.arms.iter_mut().zip(["my-own-arm", "my_own-arm", "my-own_arm"]) {
            name.clone_into(&mut arm.name);
        }
        let plan = Plan::new(experiment).unwrap();
        let rows = rows(&plan, &execute(&plan, &SimBackend, 1, None, &mut |_| {}).unwrap());
        (plan, rows)
    }

    fn written(plan: &Plan, rows: &[Row]) -> BTreeMap<String, Value> {
        let folder = tempfile::tempdir().unwrap();
        let count = flent(plan, rows, MADE_AT, folder.path(), &mut || ControlFlow::Continue(())).unwrap();
        let read = |entry: io::Result<std::fs::DirEntry>| {
            let entry = entry.unwrap();
            let document = serde_json::from_reader(GzDecoder::new(File::open(entry.path()).unwrap())).unwrap();
            (entry.file_name().into_string().unwrap(), document)
        };
        let found: BTreeMap<String, Value> = folder.path().read_dir().unwrap().map(read).collect();
        assert_eq!(found.len(), count);
        found
    }

    #[test]
    fn rows_whose_names_differ_in_signs_alone_have_a_file_each() {
        let (plan, mut rows) = made();
        let found = written(&plan, &rows);
        let titles: Vec<(&str, &str)> = found
            .iter()
            .map(|(name, document)| (&name[PREFIX.len()..], document["metadata"]["TITLE"].as_str().unwrap()))
            .collect();
        let expected = [
            ("25ms-2.flent.gz", "wan my_own-arm path.rtt=25ms"),
            ("25ms-3.flent.gz", "wan my-own_arm path.rtt=25ms"),
            ("25ms.flent.gz", "wan my-own-arm path.rtt=25ms"),
            ("50ms-2.flent.gz", "wan my_own-arm path.rtt=50ms"),
            ("50ms-3.flent.gz", "wan my-own_arm path.rtt=50ms"),
            ("50ms.flent.gz", "wan my-own-arm path.rtt=50ms"),
        ];
        assert_eq!(titles, expected);
        for (name, document) in &found {
            assert_eq!(document["metadata"]["DATA_FILENAME"].as_str(), Some(name.as_str()));
        }
        // A row without a run leaves the others their names.
        rows[0].median_run = None;
        let (mut others, first) = (found, format!("{PREFIX}25ms.flent.gz"));
        assert!(others.remove(&first).is_some());
        assert_eq!(written(&plan, &rows), others);
    }

    #[test]
    fn what_breaks_off_leaves_whole_files() {
        let (plan, rows) = made();
        let folder = tempfile::tempdir().unwrap();
        let mut left = 2;
        let mut step = || {
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        assert_eq!(flent(&plan, &rows, MADE_AT, folder.path(), &mut step).unwrap(), 2);
        assert_eq!(folder.path().read_dir().unwrap().count(), 2);
    }

    #[test]
    fn a_file_with_other_data_is_kept() {
        let (plan, rows) = made();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("{PREFIX}50ms.flent.gz"));
        let again = || flent(&plan, &rows, MADE_AT, folder.path(), &mut || ControlFlow::Continue(()));
        assert_eq!((again().unwrap(), again().unwrap()), (6, 6), "the same data may come again");
        std::fs::write(&path, "another comparison's").unwrap();
        let message = format!("`{}` holds other data; name another folder, or another time", path.display());
        assert_eq!(again().unwrap_err().to_string(), message);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "another comparison's");
        assert_eq!(folder.path().read_dir().unwrap().count(), 6, "no part is left");
    }

    #[test]
    fn what_cannot_be_written_is_named() {
        let (plan, rows) = made();
        let folder = tempfile::tempdir().unwrap();
        let refused = |made_at, folder: &Path| {
            flent(&plan, &rows, made_at, folder, &mut || ControlFlow::Continue(())).unwrap_err().to_string()
        };
        let milliseconds = Duration::from_secs(1_795_550_400_000);
        assert_eq!(refused(milliseconds, folder.path()), "1795550400000 s after 1970 is later than the year 9999");
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(refused(MADE_AT, &file).starts_with(&format!("cannot make `{}`: ", file.display())));
        std::fs::create_dir(folder.path().join(format!("{PREFIX}25ms.flent.gz"))).unwrap();
        assert!(refused(MADE_AT, folder.path()).contains("rtt_25ms.flent.gz`: "));
    }
}
