//! The trace requested by `--so_flags=trace=FILE`: the stack's events as canonical text, written when the script ends.

use base::Instant;
use std::path::{Path, PathBuf};
use trace::{ConnId, Event, Observer, TextSink};

/// The observer of the stack.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// The events so far, if a file is to receive them.
    pub seen: Option<TextSink>,
    file: Option<PathBuf>,
}

impl Watch {
    pub fn new(path: Option<&Path>) -> Self {
        Self { seen: path.map(|_| TextSink::default()), file: path.map(Path::to_owned) }
    }
}

impl Observer for Watch {
    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        if let Some(seen) = &mut self.seen {
            seen.record(at, conn, event);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let (Some(seen), Some(file)) = (&self.seen, &self.file)
            && let Err(error) = std::fs::write(file, &seen.0)
        {
            eprintln!("longhaul: the trace cannot be written to `{}`: {error}", file.display());
        }
    }
}
