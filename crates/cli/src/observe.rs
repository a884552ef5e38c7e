//! One observed run of one flow: written to a trace directory on request, and summarised in any case.

use crate::failure::{self, Failure};
use crate::output;
use clap::Args;
use lab::run::observed::{self, Names, RECEIVER, SENDER};
use lab::run::simulate;
use lab::{Measured, RunSpec};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::{Display, Write};
use std::path::PathBuf;
use trace::SendCause;
use trace_io::Meta;
use trace_io::dir::{Directory, Packets};
use trace_io::packets::{HEADERS, WHOLE};
use trace_io::recorder::Both;
use trace_io::summary::{Count, Summarizer, Summary};

/// Where a trace goes.
#[derive(Args, Clone, Debug)]
pub struct TraceArgs {
    /// Write a trace: a directory with trace.parquet, trace.qlog, trace.pcapng and summary.json.
    #[arg(long, value_name = "DIR")]
    pub trace: Option<PathBuf>,
    /// Bytes of each packet that trace.pcapng keeps.
    #[arg(long, value_name = "BYTES", requires = "trace", default_value_t = HEADERS, value_parser = snaplen)]
    pub snaplen: usize,
    /// Of a run of several flows, how many the trace holds: the first of each group, then the second of each, and so on.
    #[arg(long, value_name = "N", requires = "trace", default_value = "4", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub flows: u32,
}

/// Headers are always kept.
fn snaplen(text: &str) -> Result<usize, String> {
    let bytes = text.parse().ok().filter(|bytes| (HEADERS..=WHOLE).contains(bytes));
    bytes.ok_or_else(|| format!("a number from {HEADERS}, which holds any header, to {WHOLE}, which holds any packet"))
}

/// The content of summary.json.
#[derive(Serialize)]
struct Written<'r> {
    run: &'r Meta,
    measured: &'r Measured,
    observed: &'r Summary,
}

/// Makes a run of one flow, and prints its result.
///
/// # Errors
/// If the run fails or its trace cannot be written.
pub fn make(names: &Names, run: &RunSpec, to: &TraceArgs) -> Result<(), Failure> {
    let meta = observed::meta(names, run);
    let mut summarizer = Summarizer::new(SENDER, RECEIVER);
    let failed = |failure: lab::RunFailure| Failure::Failed(format!("the run failed: {failure}"));
    let cannot_trace = |error: trace_io::TraceError| Failure::Usage(failure::cannot_trace(error));
    let (measured, summary) = match &to.trace {
        None => {
            let measured = simulate(run, &mut summarizer).map_err(failed)?;
            (measured, summarizer.finish())
        }
        Some(path) => {
            let packets = Packets { snaplen: to.snaplen, fill: tcp::fill_pattern };
            let directory = Directory::create(path, &meta, Some(packets)).map_err(cannot_trace)?;
            let mut both = Both(summarizer, directory);
            // The trace of a failed run is worth keeping.
            let made = simulate(run, &mut both);
            let Both(summarizer, directory) = both;
            let summary = summarizer.finish();
            let written = made.as_ref().ok().map(|measured| Written { run: &meta, measured, observed: &summary });
            directory.finish(&written).map_err(cannot_trace)?;
            (made.map_err(failed)?, summary)
        }
    };
    output::write(&text(&meta, run, &measured, &summary))
}

/// The summary for people; what limited the transfer comes last.
fn text(meta: &Meta, run: &RunSpec, measured: &Measured, summary: &Summary) -> String {
    let mut out = String::new();
    let mut line = |name: &str, value: String| {
        if !value.is_empty() {
            let _ = writeln!(out, "{name:<12}{value}");
        }
    };
    line("run", format!("{} with {}, iteration {}, seed {}", meta.experiment, meta.arm, meta.iteration, meta.seed));
    line("path", run.point.canonical().replace("path.", "").replace("flow.", ""));
    line("transfer", transfer(run, measured, summary));
    line("sent", sent(summary));
    line("again", causes(&summary.retransmitted));
    line("recovery", recovery(summary));
    line("RTT", rtt(summary));
    line("D-SACKs", format!("{} sent by the receiver, {} recognised", summary.dsacks.sent, summary.dsacks.recognised));
    line("reordering", reordering(summary));
    line("network", network(summary));
    line("limited by", limited(summary));
    out
}

fn transfer(run: &RunSpec, measured: &Measured, summary: &Summary) -> String {
    format!(
        "{} B in {:.3} s, {:.2} Mbit/s, {:.0} % of the shortest time; {:.1} ms of it for the handshake",
        measured.bytes,
        measured.elapsed_ns as f64 / 1e9,
        measured.goodput_mbps(),
        measured.efficiency(&run.point) * 100.0,
        summary.handshake_ns as f64 / 1e6
    )
}

fn total<'c>(counts: impl IntoIterator<Item = &'c Count>) -> Count {
    counts.into_iter().fold(Count::default(), |sum, count| Count {
        segments: sum.segments + count.segments,
        bytes: sum.bytes + count.bytes,
    })
}

fn sent(summary: &Summary) -> String {
    let carries_data = |cause| !matches!(cause, SendCause::Ack | SendCause::Syn | SendCause::Reset);
    let data = summary.sent.iter().filter(|(cause, _)| carries_data(**cause));
    let (all, again) = (total(data.map(|(_, count)| count)), total(summary.retransmitted.values()));
    let percent = again.bytes as f64 * 100.0 / (all.bytes as f64).max(1.0);
    format!("{} segments with data, {} of them again ({percent:.2} % of the bytes)", all.segments, again.segments)
}

fn causes(counts: &BTreeMap<SendCause, Count>) -> String {
    let parts = counts.iter().map(|(cause, count)| format!("{} {}", cause.name().replace('_', " "), count.segments));
    parts.collect::<Vec<_>>().join(", ")
}

fn recovery(summary: &Summary) -> String {
    let Summary { recoveries, timeouts, undone, lost, lost_again, .. } = summary;
    format!(
        "{recoveries} fast, {timeouts} by timeout, {undone} undone; {lost} segments given up for lost, {lost_again} of them again"
    )
}

fn rtt(summary: &Summary) -> String {
    let ms = |ns: u64| ns as f64 / 1e6;
    summary.rtt.map_or(String::new(), |rtt| {
        let (min, median, max) = (ms(rtt.min_ns), ms(rtt.median_ns), ms(rtt.max_ns));
        format!("{min:.3} ms at least, {median:.3} ms at the median, {max:.3} ms at most; {} samples", rtt.samples)
    })
}

fn reordering(summary: &Summary) -> String {
    match summary.reorderings {
        0 => "none seen by the sender".to_owned(),
        times => format!("seen {times} times by the sender, by {} bytes at most", summary.reordering_extent),
    }
}

/// Packets by what happened to them: `5 dropped (tail)`.
fn packets(counts: &BTreeMap<impl Display, u64>, what: &str) -> String {
    let all: Vec<String> = counts.iter().map(|(how, count)| format!("{count} {what} ({how})")).collect();
    if all.is_empty() { format!("none {what}") } else { all.join(", ") }
}

fn network(summary: &Summary) -> String {
    let (dropped, moved) = (&summary.network.dropped, &summary.network.reordered);
    format!(
        "{}, {}; queue {} bytes at most",
        packets(dropped, "dropped"),
        packets(moved, "out of order"),
        summary.network.max_backlog
    )
}

/// Formats shares of the time, the largest first.
pub(crate) fn limited(summary: &Summary) -> String {
    let shares = summary.limited.shares.iter();
    let parts = shares
        .map(|share| format!("{} {:.1} %", report::limit_name(share.by).unwrap_or(share.by.name()), share.percent));
    parts.collect::<Vec<_>>().join(", ")
}
