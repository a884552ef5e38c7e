//! A trace directory for each connection of a stack.

use crate::dir::Directory;
use crate::summary::{Summarizer, Summary};
use crate::{End, Meta, TraceError};
use base::Instant;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use trace::{ConnId, Event, Observer, State};

/// Connections that are traced at once: each has two threads that write.
const AT_ONCE: usize = 32;

/// Writes a trace directory for each connection, named by its number, inside of one directory. Clones share all of it, so that one can
/// observe while another ends it.
#[derive(Clone, Debug)]
pub struct EachConnection(Arc<Mutex<Shared>>);

/// What was traced.
#[derive(Debug, Default)]
pub struct Traced {
    /// Connections with a trace.
    pub written: u64,
    /// Connections without one, because too many were traced at that time.
    pub left_out: u64,
    /// The first directory that could not be written. No connection was traced after it.
    pub failed: Option<TraceError>,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    meta: Meta,
    /// What a connection's own end is called.
    end: &'static str,
    open: BTreeMap<ConnId, Observed>,
    /// The number of the next connection.
    next: u32,
    traced: Traced,
    is_over: bool,
}

/// One connection.
#[derive(Debug)]
struct Observed {
    directory: Directory,
    summarizer: Summarizer,
    meta: Meta,
}

/// The content of summary.json.
#[derive(Serialize)]
struct Written<'r> {
    run: &'r Meta,
    observed: &'r Summary,
}

impl EachConnection {
    /// Traces into directories inside of `path`, which is created. `meta` describes every connection but for its end, which is called
    /// `end`: `sender` or `receiver`.
    ///
    /// # Errors
    /// If the directory cannot be created.
    pub fn new(path: &Path, meta: Meta, end: &'static str) -> Result<Self, TraceError> {
        std::fs::create_dir_all(path).map_err(TraceError::io(path))?;
        let (path, open, traced) = (path.to_owned(), BTreeMap::new(), Traced::default());
        Ok(Self(Arc::new(Mutex::new(Shared { path, meta, end, open, next: 0, traced, is_over: false }))))
    }

    /// Ends the traces of connections that are still open; later events are ignored. Returns what was traced.
    pub fn finish(&self) -> Traced {
        let mut shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((_, observed)) = shared.open.pop_first() {
            shared.end(observed);
        }
        shared.is_over = true;
        std::mem::take(&mut shared.traced)
    }
}

impl Shared {
    /// Returns the trace of a connection, a new one for a new connection; none for what follows its end, and for what belongs to no
    /// connection.
    fn observed(&mut self, conn: ConnId) -> Option<&mut Observed> {
        if conn.0 >= self.next && conn.0 < u32::MAX {
            self.next = conn.0 + 1;
            if self.open.len() == AT_ONCE || self.traced.failed.is_some() {
                self.traced.left_out += 1;
                return None;
            }
            match self.begin(conn) {
                Ok(observed) => drop(self.open.insert(conn, observed)),
                Err(failed) => self.fail(failed),
            }
        }
        self.open.get_mut(&conn)
    }

    fn begin(&self, conn: ConnId) -> Result<Observed, TraceError> {
        let ends = vec![End { conn: conn.0, name: self.end.to_owned() }];
        let meta = Meta { iteration: conn.0 + 1, ends, ..self.meta.clone() };
        let directory = Directory::create(&self.path.join(conn.0.to_string()), &meta, None)?;
        Ok(Observed { directory, summarizer: Summarizer::new(conn, ConnId(u32::MAX)), meta })
    }

    fn end(&mut self, Observed { directory, summarizer, meta }: Observed) {
        let summary = summarizer.finish();
        match directory.finish(&Written { run: &meta, observed: &summary }) {
            Ok(()) => self.traced.written += 1,
            Err(failed) => self.fail(failed),
        }
    }

    fn fail(&mut self, failed: TraceError) {
        self.traced.failed.get_or_insert(failed);
    }
}

impl Observer for EachConnection {
    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        let mut shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if shared.is_over {
            return;
        }
        let Some(observed) = shared.observed(conn) else { return };
        observed.summarizer.record(at, conn, event);
        observed.directory.record(at, conn, event);
        if let Event::StateChanged { to: State::Closed, .. } = event
            && let Some(observed) = shared.open.remove(&conn)
        {
            shared.end(observed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dir;

    fn state(from: State, to: State) -> Event {
        Event::StateChanged { from, to }
    }

    #[test]
    fn each_connection_has_a_trace_of_its_own_events_until_it_is_closed() {
        let root = tempfile::tempdir().unwrap();
        let meta = Meta { vocabulary: crate::VERSION, ..Meta::default() };
        let traces = EachConnection::new(&root.path().join("t"), meta, "sender").unwrap();
        let mut observer = traces.clone();
        let at = Instant::from_nanos;
        observer.record(at(1), ConnId(0), state(State::SynSent, State::Established));
        observer.record(at(2), ConnId(1), state(State::SynReceived, State::Established));
        observer.record(at(3), ConnId(0), state(State::Established, State::Closed));
        // Behind its end, and of no connection.
        observer.record(at(4), ConnId(0), Event::ReceiveBuffer { bytes: 1 });
        observer.record(at(4), ConnId(u32::MAX), Event::ReceiveBuffer { bytes: 1 });
        observer.record(at(5), ConnId(1), Event::ReceiveBuffer { bytes: 1 });
        let traced = traces.finish();
        assert!(traced.failed.is_none() && (traced.written, traced.left_out) == (2, 0), "{traced:?}");
        observer.record(at(6), ConnId(2), Event::ReceiveBuffer { bytes: 1 });
        let read = |number: &str| dir::read(&root.path().join("t").join(number)).unwrap();
        let times = |number| read(number).records.iter().map(|record| record.at.as_nanos()).collect::<Vec<_>>();
        assert_eq!((times("0"), times("1")), (vec![1, 3], vec![2, 5]));
        assert_eq!((read("1").meta.iteration, read("1").meta.ends[0].conn), (2, 1));
        assert!(!root.path().join("t/2").exists());
    }

    #[test]
    fn more_than_can_be_traced_at_once_are_left_out_and_counted() {
        let root = tempfile::tempdir().unwrap();
        let traces = EachConnection::new(root.path(), Meta::default(), "receiver").unwrap();
        let mut observer = traces.clone();
        for number in 0..AT_ONCE as u32 + 3 {
            observer.record(Instant::ZERO, ConnId(number), Event::ReceiveBuffer { bytes: 1 });
        }
        observer.record(Instant::ZERO, ConnId(0), state(State::Established, State::Closed));
        observer.record(Instant::ZERO, ConnId(99), Event::ReceiveBuffer { bytes: 1 });
        let traced = traces.finish();
        assert_eq!((traced.written, traced.left_out), (AT_ONCE as u64 + 1, 3));
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_named() {
        let root = tempfile::tempdir().unwrap();
        let traces = EachConnection::new(root.path(), Meta::default(), "sender").unwrap();
        std::fs::write(root.path().join("0"), "in the way").unwrap();
        let mut observer = traces.clone();
        observer.record(Instant::ZERO, ConnId(0), Event::ReceiveBuffer { bytes: 1 });
        observer.record(Instant::ZERO, ConnId(1), Event::ReceiveBuffer { bytes: 1 });
        let traced = traces.finish();
        assert_eq!((traced.written, traced.left_out), (0, 1));
        assert!(traced.failed.unwrap().to_string().contains("/0"));
    }
}
