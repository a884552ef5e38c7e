//! A backend that writes the canonical trace of the runs it makes: what `longhaul ab … --run … --trace FILE` uses.

use base::Instant;
use lab::{Backend, Measured, RunFailure, RunSpec, backend};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Mutex;
use trace::{ConnId, Event, Observer, write_line};

/// The simulator, watched.
#[derive(Debug)]
pub struct Traced(Mutex<Sink>);

#[derive(Debug)]
struct Sink {
    out: BufWriter<File>,
    line: String,
    error: Option<io::Error>,
}

impl Traced {
    /// Writes to `path`.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn create(path: &Path) -> io::Result<Self> {
        let out = BufWriter::new(File::create(path)?);
        Ok(Self(Mutex::new(Sink { out, line: String::new(), error: None })))
    }

    /// Writes out what is left.
    ///
    /// # Errors
    /// When anything could not be written.
    pub fn finish(self) -> io::Result<()> {
        let mut sink = self.0.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        sink.error.take().map_or(Ok(()), Err)?;
        sink.out.flush()
    }
}

impl Backend for Traced {
    fn run(&self, spec: &RunSpec) -> Result<Measured, RunFailure> {
        let mut sink = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        backend::simulate(spec, &mut *sink)
    }
}

impl Observer for Sink {
    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        self.line.clear();
        write_line(&mut self.line, at, conn, &event);
        if let Err(error) = self.out.write_all(self.line.as_bytes()) {
            self.error.get_or_insert(error);
        }
    }
}
