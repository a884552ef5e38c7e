//! `runs.jsonl`: one line per finished run, on disk before the run counts as done.
//!
//! A sweep that was killed continues where it stopped: runs with a line in the file are not repeated. A run's identity is
//! everything that determines its result — digest of network, flow and configuration, seed, version — so the same file also works
//! for a sweep that was widened or whose arms were renamed. A version is the program's release and the stamp of the behaviour of
//! the arm's configuration (`stamp.rs`), so results survive code changes that do not change behaviour. Lines of another version
//! are kept but not used. A line truncated by a crash is dropped, with a warning. Lines are in the order in which runs finished;
//! nothing else in the file depends on the machine.

use crate::plan::difference::from_root;
use crate::plan::{Plan, RunSpec};
use crate::run::{Measured, stamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Name of the file in the directory that the user gives.
pub(crate) const FILE_NAME: &str = "runs.jsonl";

/// What identifies a result of one version: digest of the run, and its seed.
type RunKey = (String, u64);
/// Results of one run by version. Other code may have measured other things: they are `None` then.
type ByVersion = BTreeMap<String, Option<Measured>>;

/// What every line says, whichever version wrote it.
#[derive(Deserialize)]
struct Origin {
    version: String,
    spec: String,
    seed: u64,
}

/// Everything that determines a run, so that it can be repeated without its experiment, and its names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pub(crate) version: String,
    pub(crate) experiment: String,
    pub(crate) spec: String,
    pub(crate) path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) twin: Option<String>,
    pub(crate) arm: String,
    pub(crate) profile: Option<String>,
    pub(crate) iteration: u32,
    pub(crate) seed: u64,
    /// Leaves in which the arm differs from the root profile, or what it is instead of a profile.
    pub(crate) config: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) made_by: Option<String>,
}

impl Identity {
    pub(crate) fn new(plan: &Plan, run: &RunSpec) -> Self {
        let arm = &plan.arms[run.arm];
        Self {
            version: stamp::version_of(run),
            experiment: plan.experiment.name.clone(),
            spec: run.digest.clone(),
            path: run.point.canonical(),
            twin: run.twin.as_ref().map(|twin| twin.canonical()),
            arm: arm.label.clone(),
            profile: arm.spec.profile().map(|profile| profile.name.clone()),
            iteration: run.iteration,
            seed: run.seed,
            config: from_root(&run.ends),
            made_by: plan.made_by.clone(),
        }
    }
}

/// A line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Line {
    #[serde(flatten)]
    run: Identity,
    #[serde(flatten)]
    measured: Measured,
}

/// The open file.
#[derive(Debug)]
pub struct RunLog {
    file: File,
    path: PathBuf,
    known: BTreeMap<RunKey, ByVersion>,
    warning: Option<String>,
}

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The operating system reports an error.
    #[error("cannot write `{}`: {error}", path.display())]
    Io {
        /// File or directory.
        path: PathBuf,
        /// Its reason.
        error: io::Error,
    },
    /// Another process writes to it.
    #[error("`{}` is being written by another run of longhaul", .0.display())]
    Busy(PathBuf),
    /// It contains something else.
    #[error("`{}`, line {line} is not a longhaul result: {problem}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Counted from one.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
}

impl RunLog {
    /// Opens the file in `directory`, creating both if they are missing, and reads its contents.
    ///
    /// # Errors
    /// If it cannot be written, or was not written by longhaul.
    pub fn open(directory: &Path) -> Result<Self, LogError> {
        std::fs::create_dir_all(directory).map_err(|error| LogError::Io { path: directory.to_owned(), error })?;
        let path = directory.join(FILE_NAME);
        let failed = |error| LogError::Io { path: path.clone(), error };
        let options = OpenOptions::new().read(true).append(true).create(true).open(&path);
        let mut file = options.map_err(failed)?;
        file.try_lock().map_err(|_| LogError::Busy(path.clone()))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let warning = (whole < bytes.len())
            .then(|| format!("`{}`: the last line was cut off; it is dropped and its run made again", path.display()));
        let known = read_lines(&path, &bytes[..whole])?;
        if warning.is_some() {
            file.set_len(whole as u64).and_then(|()| file.seek(SeekFrom::End(0))).map_err(failed)?;
        }
        Ok(Self { file, path, known, warning })
    }

    /// Returns a warning about the file as it was found, if one is due.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// The result of a run that was made before.
    pub fn find(&self, run: &RunSpec) -> Option<Measured> {
        let by_version = self.known.get(&(run.digest.clone(), run.seed))?;
        by_version.get(&stamp::version_of(run)).copied().flatten()
    }

    /// Appends a finished run; it is on disk when this returns.
    ///
    /// # Errors
    /// When it is not.
    pub fn append(&mut self, plan: &Plan, run: &RunSpec, measured: Measured) -> Result<(), LogError> {
        let line = Line { run: Identity::new(plan, run), measured };
        let mut text = serde_json::to_string(&line).expect("a line has no maps with odd keys");
        text.push('\n');
        // A single write: a reader sees either a whole line or nothing.
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|error| LogError::Io { path: self.path.clone(), error })
    }
}

fn read_lines(path: &Path, bytes: &[u8]) -> Result<BTreeMap<RunKey, ByVersion>, LogError> {
    let mut known: BTreeMap<RunKey, ByVersion> = BTreeMap::new();
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty()) {
        let foreign = |error: serde_json::Error| LogError::Foreign {
            path: path.to_owned(),
            line: index + 1,
            problem: error.to_string(),
        };
        let origin: Origin = serde_json::from_slice(line).map_err(foreign)?;
        let measured = serde_json::from_slice(line).ok();
        known.entry((origin.spec, origin.seed)).or_default().insert(origin.version, measured);
    }
    Ok(known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Backend, MockBackend};
    use crate::spec;
    use crate::spec::Overrides;

    fn plan() -> Plan {
        let mut experiment = spec::builtin("wan").unwrap();
        experiment.apply(&Overrides { iterations: Some(2), ..Overrides::default() }).unwrap();
        Plan::new(experiment).unwrap()
    }

    fn fill(directory: &Path, runs: usize) -> Plan {
        let plan = plan();
        let mut log = RunLog::open(directory).unwrap();
        for run in plan.runs.iter().take(runs) {
            log.append(&plan, run, MockBackend.run(run).unwrap()).unwrap();
        }
        plan
    }

    #[test]
    fn what_was_written_is_found_again_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let plan = fill(directory.path(), 3);
        let log = RunLog::open(directory.path()).unwrap();
        assert_eq!(log.warning(), None);
        for (index, run) in plan.runs.iter().enumerate() {
            let expected = (index < 3).then(|| MockBackend.run(run).unwrap());
            assert_eq!(log.find(run), expected, "{index}");
        }
    }

    #[test]
    fn another_seed_or_configuration_is_another_run() {
        let directory = tempfile::tempdir().unwrap();
        let plan = fill(directory.path(), 1);
        let log = RunLog::open(directory.path()).unwrap();
        let mut other = plan.runs[0].clone();
        other.seed += 1;
        assert_eq!(log.find(&other), None);
        let mut other = plan.runs[0].clone();
        other.digest.push('0');
        assert_eq!(log.find(&other), None);
    }

    #[test]
    fn results_of_other_behaviour_are_kept_and_not_used() {
        let directory = tempfile::tempdir().unwrap();
        let plan = fill(directory.path(), 1);
        let path = directory.path().join(FILE_NAME);
        let text = std::fs::read_to_string(&path).unwrap();
        // Other code may have measured other things.
        let version = stamp::version_of(&plan.runs[0]);
        let other = text.replace(&version, "0.1.0+0123456789abcdef").replace("\"elapsed_ns\":", "\"took_ns\":");
        std::fs::write(&path, &other).unwrap();
        let mut log = RunLog::open(directory.path()).unwrap();
        assert_eq!((log.find(&plan.runs[0]), log.warning()), (None, None));
        log.append(&plan, &plan.runs[0], MockBackend.run(&plan.runs[0]).unwrap()).unwrap();
        drop(log);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), other + &text);
        assert!(RunLog::open(directory.path()).unwrap().find(&plan.runs[0]).is_some());
    }

    #[test]
    fn a_line_names_the_release_and_what_its_arm_does() {
        let directory = tempfile::tempdir().unwrap();
        let plan = fill(directory.path(), 2);
        let text = std::fs::read_to_string(directory.path().join(FILE_NAME)).unwrap();
        let version = |line: &str| serde_json::from_str::<Origin>(line).unwrap().version;
        let versions: Vec<String> = text.lines().map(version).collect();
        for version in &versions {
            let stamp = version.strip_prefix(concat!(env!("CARGO_PKG_VERSION"), "+")).unwrap();
            assert!(stamp.len() == 16 && stamp.bytes().all(|byte| byte.is_ascii_hexdigit()), "{version}");
        }
        assert_ne!(plan.runs[0].ends, plan.runs[1].ends);
        assert_ne!(versions[0], versions[1], "two profiles, two behaviours");
    }

    #[test]
    fn a_line_that_was_cut_off_is_dropped_with_a_warning_and_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        let plan = fill(directory.path(), 2);
        let path = directory.path().join(FILE_NAME);
        let text = std::fs::read(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 10]).unwrap();
        let mut log = RunLog::open(directory.path()).unwrap();
        assert!(log.warning().is_some_and(|warning| warning.contains("cut off")));
        assert!(log.find(&plan.runs[0]).is_some() && log.find(&plan.runs[1]).is_none());
        log.append(&plan, &plan.runs[1], MockBackend.run(&plan.runs[1]).unwrap()).unwrap();
        drop(log);
        assert_eq!(std::fs::read(&path).unwrap(), text);
    }

    #[test]
    fn a_foreign_file_is_refused_by_line_and_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        fill(directory.path(), 1);
        let path = directory.path().join(FILE_NAME);
        let mut text = std::fs::read_to_string(&path).unwrap();
        text.push_str("{\"a\":1}\n");
        std::fs::write(&path, &text).unwrap();
        let message = RunLog::open(directory.path()).unwrap_err().to_string();
        assert!(message.contains("line 2 is not a longhaul result"), "{message}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }

    #[test]
    fn two_writers_do_not_share_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let _first = RunLog::open(directory.path()).unwrap();
        assert!(matches!(RunLog::open(directory.path()), Err(LogError::Busy(_))));
    }

    #[test]
    fn a_directory_that_cannot_be_is_an_error_with_its_path() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        std::fs::write(&file, "").unwrap();
        let message = RunLog::open(&file.join("below")).unwrap_err().to_string();
        assert!(message.starts_with("cannot write `") && message.contains("file"), "{message}");
    }
}
