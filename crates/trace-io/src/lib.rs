//! Traces and captures as files: what a run recorded, and what others captured on a wire.
//!
//! A trace is a list of [`Record`]s and a [`Meta`] that describes the run. A trace directory ([`dir`]) holds it as Parquet for
//! analysis ([`table`], the only form that is read back), as qlog ([`qlog`]) and as pcapng ([`packets`]).
#![forbid(unsafe_code)]

pub mod capture;
pub mod dir;
pub mod each;
mod meta;
pub mod names;
pub mod packets;
pub mod page;
pub mod qlog;
pub mod recorder;
pub mod sheet;
pub mod summary;
pub mod table;

pub use meta::{End, Meta, Network};
pub use trace::{ConnId, Event, VERSION, VOCABULARY};

use base::Instant;
use std::path::{Path, PathBuf};

/// One event of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// When, on the clock of the trace.
    pub at: Instant,
    /// Which connection: an end of the flow, see [`Meta::ends`].
    pub conn: ConnId,
    /// What happened.
    pub event: Event,
}

/// What was observed of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// What ran.
    pub meta: Meta,
    /// In the order in which they happened.
    pub records: Vec<Record>,
}

/// Why a trace cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The operating system reports an error.
    #[error("`{}`: {error}", path.display())]
    Io {
        /// File or directory.
        path: PathBuf,
        /// Its reason.
        error: std::io::Error,
    },
    /// It is something else, or damaged.
    #[error("`{}` is not a longhaul trace: {problem}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// It uses another version of the vocabulary.
    #[error("`{}` is written in version {found} of the events, and this longhaul reads version {VERSION}: make the run again", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// The version.
        found: u32,
    },
}

impl TraceError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |error| Self::Io { path: path.to_owned(), error }
    }
}
