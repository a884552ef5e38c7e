//! The result of a connection on stdout, for `serve`, `send` and `recv`.

use clap::ValueEnum;
use net::Transfer;
use serde_json::json;
use std::io::Write;

/// How a result is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SummaryFormat {
    /// One line for people.
    Text,
    /// One JSON object per line.
    Json,
}

/// Writes the result of a connection to stdout.
pub fn print_summary(format: SummaryFormat, what: &str, transfer: &Transfer) {
    let Transfer { end, elapsed, last_read, written, read, info } = transfer;
    let counters = &info.counters;
    let bytes = written.bytes.max(read.bytes);
    let seconds = elapsed.as_nanos() as f64 / 1e9;
    let goodput_mbps = if elapsed.is_zero() { 0.0 } else { bytes as f64 * 8.0 / seconds / 1e6 };
    let retransmitted_pct = match counters.bytes_sent {
        0 => 0.0,
        sent => counters.bytes_retransmitted as f64 * 100.0 / sent as f64,
    };
    let mut out = std::io::stdout().lock();
    // If stdout is closed, the summary is dropped.
    let _ = match format {
        SummaryFormat::Text => writeln!(
            out,
            "{what}: {end} after {seconds:.3} s; wrote {} bytes (crc32 {:08x}), read {} bytes (crc32 {:08x}), \
             {goodput_mbps:.1} Mbit/s; retransmitted {retransmitted_pct:.3} %, {} timeouts",
            written.bytes,
            written.crc.value(),
            read.bytes,
            read.crc.value(),
            counters.timeouts,
        ),
        SummaryFormat::Json => {
            let stream =
                |stream: &net::Stream| json!({"bytes": stream.bytes, "crc32": format!("{:08x}", stream.crc.value())});
            let line = json!({
                "what": what,
                "end": end.name(),
                "seconds": seconds,
                "last_byte_seconds": last_read.as_nanos() as f64 / 1e9,
                "goodput_mbps": goodput_mbps,
                "written": stream(written),
                "read": stream(read),
                "bytes_sent": counters.bytes_sent,
                "bytes_retransmitted": counters.bytes_retransmitted,
                "retransmitted_pct": retransmitted_pct,
                "fast_retransmits": counters.fast_retransmits,
                "rtos": counters.timeouts,
            });
            writeln!(out, "{line}")
        }
    };
    let _ = out.flush();
}
