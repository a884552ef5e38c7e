//! One observed run, of one flow or of several: of several, what each got, and what limited those that a trace holds.

use crate::failure::{self, Failure};
use crate::observe::{self, TraceArgs, limited};
use crate::output;
use crate::progress::note;
use base::Instant;
use lab::run::observed::Names;
use lab::run::several::{FlowResult, Only, each_flow, meta_of, traced};
use lab::run::simulate;
use lab::spec::Orders;
use lab::{Measured, RunFailure, RunSpec};
use serde::Serialize;
use std::fmt::Write;
use trace::{ConnId, Event, Observer};
use trace_io::dir::{Directory, Packets};
use trace_io::recorder::Both;
use trace_io::summary::{Summarizer, Summary};
use trace_io::{Meta, TraceError};

/// Most flows that are printed.
const PRINTED: usize = 24;

/// The content of summary.json.
#[derive(Serialize)]
struct Written<'r> {
    run: &'r Meta,
    measured: &'r Measured,
    flows: &'r [FlowResult],
    observed: Vec<Observed<'r>>,
}

/// The totals of a flow that the trace holds.
#[derive(Serialize)]
struct Observed<'r> {
    flow: &'r str,
    #[serde(flatten)]
    summary: &'r Summary,
}

/// Makes a run, and prints its result.
///
/// # Errors
/// If the run fails or its trace cannot be written.
pub fn make(names: &Names, run: &RunSpec, to: &TraceArgs) -> Result<(), Failure> {
    if run.point.company.is_empty() {
        return observe::make(names, run, to);
    }
    let failed = |failure: RunFailure| Failure::Failed(format!("the run failed: {failure}"));
    let cannot_trace = |error: TraceError| Failure::Usage(failure::cannot_trace(error));
    // Which connection is whose, only the run itself says: it is made first, and then the same again under observers.
    let flows = each_flow(run).map_err(failed)?;
    let chosen = traced(&flows, to.flows as usize);
    let meta = meta_of(names, run, &chosen);
    let summaries = Summaries::new(&chosen);
    let (measured, summaries) = match &to.trace {
        None => {
            let mut only = Only::new(&chosen, summaries);
            let measured = simulate(run, &mut only).map_err(failed)?;
            (measured, only.into_inner().finish())
        }
        Some(path) => {
            let packets = Packets { snaplen: to.snaplen, fill: tcp::fill_pattern };
            let directory = Directory::create(path, &meta, Some(packets)).map_err(cannot_trace)?;
            let mut only = Only::new(&chosen, Both(summaries, directory));
            // The trace of a failed run is worth keeping.
            let made = simulate(run, &mut only);
            let Both(summaries, directory) = only.into_inner();
            let summaries = summaries.finish();
            let observed = chosen.iter().zip(&summaries).map(|(flow, summary)| Observed { flow: &flow.name, summary });
            let observed = observed.collect();
            let written = made.as_ref().ok().map(|measured| Written { run: &meta, measured, flows: &flows, observed });
            directory.finish(&written).map_err(cannot_trace)?;
            (made.map_err(failed)?, summaries)
        }
    };
    if to.trace.is_some() && chosen.len() < flows.len() {
        let names: Vec<&str> = chosen.iter().map(|flow| flow.name.as_str()).collect();
        let (some, all, names) = (chosen.len(), flows.len(), names.join(", "));
        note!("note: the trace holds {some} of {all} flows: {names}; `--flows` changes how many");
    }
    let limits: Vec<(&str, String)> =
        chosen.iter().zip(&summaries).map(|(flow, summary)| (flow.name.as_str(), limited(summary))).collect();
    output::write(&text(&meta, run, &measured, &flows, &limits))
}

/// Totals of each flow that is traced.
struct Summaries {
    /// Sender and receiver, in the order of the flows.
    ends: Vec<[ConnId; 2]>,
    each: Vec<Summarizer>,
}

impl Summaries {
    fn new(traced: &[&FlowResult]) -> Self {
        let ends: Vec<[ConnId; 2]> = traced.iter().filter_map(|flow| flow.ends).collect();
        let each = ends.iter().map(|[sender, receiver]| Summarizer::new(*sender, *receiver)).collect();
        Self { ends, each }
    }

    fn finish(self) -> Vec<Summary> {
        self.each.into_iter().map(Summarizer::finish).collect()
    }
}

impl Observer for Summaries {
    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        if let Some(flow) = self.ends.iter().position(|ends| ends.contains(&conn)) {
            self.each[flow].record(at, conn, event);
        }
    }
}

/// The summary for people: the path, what the flows share, and a line for each of them.
fn text(meta: &Meta, run: &RunSpec, measured: &Measured, flows: &[FlowResult], limits: &[(&str, String)]) -> String {
    let mut out = String::new();
    let mut line = |name: &str, value: String| {
        // Writing to a `String` cannot fail.
        let _ = writeln!(out, "{name:<12}{value}");
    };
    line("run", format!("{} with {}, iteration {}, seed {}", meta.experiment, meta.arm, meta.iteration, meta.seed));
    line("path", run.point.canonical().replace("path.", "").replace("flow.", ""));
    if let Some(all) = measured.company {
        let jain = all.jain_ppm.map_or(String::new(), |jain| format!("Jain's index {:.3}, ", jain as f64 / 1e6));
        let (share, used) = (all.share_ppm as f64 / 1e4, all.use_ppm as f64 / 1e4);
        let wait = all
            .wait_p95_us
            .map_or(String::new(), |us| format!(", wait {:.1} ms at the 95th percentile", us as f64 / 1e3));
        line("together", format!("{share:.1} % for the arm, {jain}path used to {used:.1} %{wait}"));
    }
    if run.point.company.orders == Orders::Both {
        line(
            "order",
            "the line above is the mean of both orders; what follows, and the trace, is the order as given".to_owned(),
        );
    }
    out + &table(run, flows)
        + &limits.iter().map(|(name, limit)| format!("{name:<14}limited by {limit}\n")).collect::<String>()
}

/// A line a flow, with what it got in the window.
fn table(run: &RunSpec, flows: &[FlowResult]) -> String {
    let window = run.point.company.window;
    let micros = window.until.saturating_sub(window.from).as_nanos() as f64 / 1e3;
    let percent = |value: Option<f64>, decimals: usize| {
        value.map_or_else(|| "–".to_owned(), |value| format!("{value:.decimals$}"))
    };
    let mut out = format!(
        "\n{:<14}{:>9}{:>14}{:>9}{:>9}{:>9}{:>9}\n",
        "flow", "start s", "MB in window", "Mbit/s", "share %", "again %", "dropped"
    );
    for flow in flows.iter().take(PRINTED) {
        let again = flow.bytes_sent.zip(flow.bytes_retransmitted).filter(|(sent, _)| *sent > 0);
        let _ = writeln!(
            out,
            "{:<14}{:>9.2}{:>14.3}{:>9.2}{:>9}{:>9}{:>9}",
            flow.name,
            flow.start_ns as f64 / 1e9,
            flow.bytes as f64 / 1e6,
            flow.bytes as f64 * 8.0 / micros,
            percent(flow.share_ppm.map(|share| share as f64 / 1e4), 1),
            percent(again.map(|(sent, again)| again as f64 * 100.0 / sent as f64), 2),
            flow.dropped
        );
    }
    if flows.len() > PRINTED {
        let _ = writeln!(out, "and {} more; summary.json of a trace lists all", flows.len() - PRINTED);
    }
    out + "\n"
}
