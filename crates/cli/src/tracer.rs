//! Traces of connections on a real network: of one transfer, or of each connection that is served.

use crate::failure::{self, LinkError};
use crate::observe::limited;
use crate::progress::note;
use lab::run::observed::{RECEIVER, meta_of_real};
use profiles::Profile;
use serde_json::json;
use std::path::Path;
use trace::ConnId;
use trace_io::dir::Directory;
use trace_io::each::EachConnection;
use trace_io::recorder::Both;
use trace_io::summary::Summarizer;
use trace_io::{End, Meta, TraceError};

/// Our end of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OurEnd {
    /// It writes, and perhaps reads as well.
    Sender,
    /// It reads only.
    Receiver,
}

impl OurEnd {
    fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
        }
    }
}

/// Observes one transfer.
pub struct Tracer {
    pub observer: Both<Summarizer, Directory>,
    meta: Meta,
    end: OurEnd,
}

/// What a trace is of: a command, its profile, and the settings that distinguish its runs.
#[derive(Clone, Debug)]
pub struct Subject<'s> {
    pub command: &'s str,
    pub profile: &'s Profile,
    pub settings: Vec<(String, String)>,
}

impl Tracer {
    /// Begins a trace in the directory `path`.
    pub fn new(path: &Path, subject: Subject<'_>, end: OurEnd) -> Result<Self, LinkError> {
        // A stack with one connection, whose number is 0.
        let conn = ConnId(0);
        let ends = vec![End { conn: conn.0, name: end.name().to_owned() }];
        let meta = Meta { ends, ..meta_of_real(subject.command, subject.profile, subject.settings) };
        let directory = Directory::create(path, &meta, None).map_err(cannot_trace)?;
        let summarizer = match end {
            OurEnd::Sender => Summarizer::new(conn, RECEIVER),
            OurEnd::Receiver => Summarizer::new(ConnId(u32::MAX), conn),
        };
        Ok(Self { observer: Both(summarizer, directory), meta, end })
    }

    /// Ends the trace. Returns what limited the transfer, if that was ours.
    pub fn finish(self) -> Result<Option<String>, LinkError> {
        let Self { observer: Both(summarizer, directory), meta, end } = self;
        let summary = summarizer.finish();
        directory.finish(&json!({ "run": meta, "observed": summary })).map_err(cannot_trace)?;
        Ok((end == OurEnd::Sender).then(|| limited(&summary)))
    }
}

/// Runs `work` with traces of each connection, in directories inside of `path`, if there is one; ends them, and says on stderr how many
/// there are.
pub fn each<T>(
    path: Option<&Path>,
    subject: Subject<'_>,
    end: OurEnd,
    work: impl FnOnce(Option<EachConnection>) -> Result<T, LinkError>,
) -> Result<T, LinkError> {
    let Some(path) = path else { return work(None) };
    let meta = meta_of_real(subject.command, subject.profile, subject.settings);
    let traces = EachConnection::new(path, meta, end.name()).map_err(cannot_trace)?;
    let done = work(Some(traces.clone()));
    let traced = traces.finish();
    let left_out = match traced.left_out {
        0 => String::new(),
        connections => format!("; {connections} more came while too many were traced"),
    };
    note!("traces of {} connections in {}{left_out}", traced.written, path.display());
    let done = done?;
    traced.failed.map_or(Ok(done), |failed| Err(cannot_trace(failed)))
}

fn cannot_trace(error: TraceError) -> LinkError {
    LinkError::Usage(failure::cannot_trace(error))
}
