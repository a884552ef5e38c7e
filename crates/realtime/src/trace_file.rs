//! The canonical trace of the runs, in a file: for `longhaul ab … --run … --trace FILE`. In virtual time it is a separate
//! backend, in real time the threads of a run share it.

use base::Instant;
use lab::run::simulate;
use lab::{Backend, Measured, RunFailure, RunSpec};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Mutex;
use trace::{ConnId, Event, Observer, write_line};

/// The file, and the simulator under its observation.
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
    /// If the file cannot be created.
    pub fn create(path: &Path) -> io::Result<Self> {
        let out = BufWriter::new(File::create(path)?);
        Ok(Self(Mutex::new(Sink { out, line: String::new(), error: None })))
    }

    /// Returns an observer for one of several threads.
    pub fn observer(&self) -> impl Observer + '_ {
        Shared(&self.0)
    }

    /// Writes out what is left.
    ///
    /// # Errors
    /// If some of it could not be written.
    pub fn finish(self) -> io::Result<()> {
        let mut sink = self.0.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        sink.error.take().map_or(Ok(()), Err)?;
        sink.out.flush()
    }
}

impl Backend for Traced {
    fn run(&self, spec: &RunSpec) -> Result<Measured, RunFailure> {
        let mut sink = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        simulate(spec, &mut *sink)
    }
}

/// Locks the file for each event.
struct Shared<'s>(&'s Mutex<Sink>);

impl Observer for Shared<'_> {
    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).record(at, conn, event);
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
