//! `runs.jsonl`: what earlier releases wrote in place of shards, a line for each run. It is read and left as it is.

use super::error::StoreError;
use crate::run::Measured;
use serde::Deserialize;
use std::io::ErrorKind;
use std::path::Path;

/// Name of the file in the directory that the user gives.
pub(crate) const FILE_NAME: &str = "runs.jsonl";

/// What identifies a result of one version: digest of the run, and its seed.
pub(super) type RunKey = (String, u64);
/// A line's run, its version, and its result, unless other code measured other things.
type Line = (RunKey, String, Option<Measured>);

/// What every line says, whichever version wrote it.
#[derive(Deserialize)]
struct Origin {
    version: String,
    spec: String,
    seed: u64,
}

/// Reads the file, if there is one, and says what of it counts.
///
/// # Errors
/// If it cannot be read, or was not written by longhaul.
pub(super) fn read(path: &Path) -> Result<Option<(Vec<Line>, String)>, StoreError> {
    let bytes = match std::fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        bytes => bytes.map_err(|error| StoreError::io(path, error))?,
    };
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let lines = bytes[..whole].split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty());
    let read = |(index, line): (usize, &[u8])| {
        let foreign = |error: serde_json::Error| StoreError::Line {
            path: path.to_owned(),
            line: index + 1,
            problem: error.to_string(),
        };
        let origin: Origin = serde_json::from_slice(line).map_err(foreign)?;
        Ok(((origin.spec, origin.seed), origin.version, serde_json::from_slice(line).ok()))
    };
    let lines: Vec<Line> = lines.map(read).collect::<Result<_, StoreError>>()?;
    let cut = if whole < bytes.len() { "; its last line was cut off, and does not count" } else { "" };
    let note = format!(
        "`{}` holds {} runs of an earlier release, which count and stay there; new ones become Parquet{cut}",
        path.display(),
        lines.len()
    );
    Ok(Some((lines, note)))
}
