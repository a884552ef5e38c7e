//! The trace that `--so_flags=trace=FILE` asks for: the stack's events as canonical text, written when the script is over.

use base::Instant;
use std::path::{Path, PathBuf};
use trace::{ConnId, Event, Observer, TextSink};

/// Who watches the stack.
#[derive(Debug)]
pub(crate) enum Watch {
    /// Nobody.
    Nobody,
    /// Everything is kept for this file.
    File(PathBuf, TextSink),
}

impl Watch {
    pub fn new(path: Option<&Path>) -> Self {
        path.map_or(Self::Nobody, |path| Self::File(path.to_owned(), TextSink::default()))
    }
}

impl Observer for Watch {
    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        if let Self::File(_, sink) = self {
            sink.record(at, conn, event);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Self::File(path, sink) = self
            && let Err(error) = std::fs::write(&*path, &sink.0)
        {
            eprintln!("longhaul: the trace cannot be written to `{}`: {error}", path.display());
        }
    }
}
