//! A trace directory: one run, recorded in several file formats.

use crate::packets::{Fill, PacketWriter};
use crate::qlog::QlogWriter;
use crate::recorder::{Recorder, Sink};
use crate::table::{self, TableWriter};
use crate::{Meta, Trace, TraceError};
use base::Instant;
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use trace::{ConnId, Event, Observer, PacketSent};

/// The events as a table, the form that is read back.
pub const TABLE: &str = "trace.parquet";
/// The events for readers of qlog.
pub const QLOG: &str = "trace.qlog";
/// The packets, with the events as comments.
pub const PACKETS: &str = "trace.pcapng";
/// Totals, and what limited the transfer.
pub const SUMMARY: &str = "summary.json";

/// The recording of packets.
#[derive(Clone, Copy, Debug)]
pub struct Packets {
    /// Bytes of each.
    pub snaplen: usize,
    /// Knows what they carry.
    pub fill: Fill,
}

/// A trace directory that a run fills.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    files: Vec<PathBuf>,
    recorder: Recorder<true>,
}

impl Directory {
    /// Creates the directory, or uses an existing one; files of an earlier trace are replaced. Without `packets` it has no packet
    /// file, and an old one is removed.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create(path: &Path, meta: &Meta, packets: Option<Packets>) -> Result<Self, TraceError> {
        std::fs::create_dir_all(path).map_err(TraceError::io(path))?;
        let mut files = Vec::new();
        let mut sinks: Vec<Box<dyn Sink>> = Vec::new();
        let mut add = |name: &str, make: &dyn Fn(BufWriter<File>) -> io::Result<Box<dyn Sink>>| {
            let file = path.join(name);
            let sink = File::create(&file).and_then(|out| make(BufWriter::with_capacity(1 << 18, out)));
            sinks.push(sink.map_err(TraceError::io(&file))?);
            files.push(file);
            Ok(())
        };
        add(TABLE, &|out| Ok(Box::new(TableWriter::new(out, meta)?)))?;
        add(QLOG, &|out| Ok(Box::new(QlogWriter::new(out, meta)?)))?;
        match packets {
            Some(Packets { snaplen, fill }) => {
                add(PACKETS, &|out| Ok(Box::new(PacketWriter::new(out, meta, snaplen, fill)?)))?;
            }
            None => remove(&path.join(PACKETS))?,
        }
        Ok(Self { path: path.to_owned(), files, recorder: Recorder::new(sinks) })
    }

    /// Ends the files, and writes the summary beside them.
    ///
    /// # Errors
    /// When one of them cannot be written.
    pub fn finish(self, summary: &impl Serialize) -> Result<(), TraceError> {
        let Self { path, files, recorder } = self;
        recorder.finish().map_err(|(index, error)| TraceError::io(&files[index])(error))?;
        let path = path.join(SUMMARY);
        let text = serde_json::to_string_pretty(summary).map_err(io::Error::other);
        text.and_then(|text| std::fs::write(&path, text + "\n")).map_err(TraceError::io(&path))
    }
}

impl Observer for Directory {
    const PACKETS: bool = true;
    #[inline]
    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        self.recorder.record(at, conn, event);
    }
    fn packet(&mut self, at: Instant, packet: &PacketSent<'_>) {
        self.recorder.packet(at, packet);
    }
}

/// A file of an earlier trace, if there is one.
fn remove(file: &Path) -> Result<(), TraceError> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(TraceError::io(file)(error)),
        _ => Ok(()),
    }
}

/// Writes a trace from memory; the table only.
///
/// # Errors
/// When the directory or the file cannot be written.
pub fn write(directory: &Path, trace: &Trace) -> Result<(), TraceError> {
    std::fs::create_dir_all(directory).map_err(TraceError::io(directory))?;
    let path = directory.join(TABLE);
    let file = BufWriter::new(File::create(&path).map_err(TraceError::io(&path))?);
    let written = TableWriter::new(file, &trace.meta).and_then(|mut writer| {
        writer.write(&trace.records)?;
        writer.finish()
    });
    written.map_err(TraceError::io(&path))
}

/// Reads a trace directory, or the table of one.
///
/// # Errors
/// If there is none, it is damaged, or another version of the program wrote it.
pub fn read(path: &Path) -> Result<Trace, TraceError> {
    let path = table_of(path);
    let file = File::open(&path).map_err(TraceError::io(&path))?;
    table::read(file, &path)
}

/// The table in a directory, or the file itself.
fn table_of(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(TABLE) } else { path.to_owned() }
}
