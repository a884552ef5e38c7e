//! A trace directory: one run, each file a form of the same observation.

use crate::table::{self, TableWriter};
use crate::{Trace, TraceError};
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// The events as a table, the form that is read back.
pub const TABLE: &str = "trace.parquet";
/// The events for readers of qlog.
pub const QLOG: &str = "trace.qlog";
/// The packets, with the events as comments.
pub const PACKETS: &str = "trace.pcapng";
/// Totals, and what limited the transfer.
pub const SUMMARY: &str = "summary.json";

/// Writes a trace that is at hand; the table only.
///
/// # Errors
/// When the directory or the file cannot be written.
pub fn write(directory: &Path, trace: &Trace) -> Result<(), TraceError> {
    std::fs::create_dir_all(directory).map_err(TraceError::io(directory))?;
    let path = directory.join(TABLE);
    let file = BufWriter::new(File::create(&path).map_err(TraceError::io(&path))?);
    let written = TableWriter::new(file, &trace.meta).and_then(|mut writer| {
        trace.records.chunks(table::ROWS).try_for_each(|records| writer.write(records))?;
        writer.finish()
    });
    written.map_err(TraceError::io(&path))
}

/// Reads a trace directory, or the table of one.
///
/// # Errors
/// When there is none, or it is damaged, or another version of the program wrote it.
pub fn read(path: &Path) -> Result<Trace, TraceError> {
    let path = table_of(path);
    let file = File::open(&path).map_err(TraceError::io(&path))?;
    let mut reader = table::TableReader::new(file, &path)?;
    let mut records = Vec::new();
    while reader.read(&mut records)? {}
    Ok(Trace { meta: reader.into_meta(), records })
}

/// The table in a directory, or the file itself.
fn table_of(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(TABLE) } else { path.to_owned() }
}
