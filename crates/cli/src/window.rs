//! `longhaul window`: which receive window a path needs, what a given one allows, and how systems are configured.
//!
//! The arithmetic is that of the bandwidth-delay product: the bytes in flight until the first of them is acknowledged. A smaller
//! window limits the rate to one window per round trip.

mod settings;

use crate::failure::Failure;
use crate::output;
use base::{Duration, Rate};
use clap::{Args, ValueEnum};
use lab::window::{LARGEST, bits_per_sec, bytes, segments, shift};
use profiles::units;
use settings::Settings;
use std::fmt::Write;

/// Arguments of `longhaul window`.
#[derive(Args, Clone, Debug)]
pub struct WindowArgs {
    /// Rate of the slowest link, bits of payload per second.
    #[arg(long, value_name = "RATE", value_parser = units::rate)]
    rate: Rate,
    /// Round-trip time.
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    rtt: Duration,
    /// Additional delay that a round trip may have at times.
    #[arg(long, value_name = "TIME", value_parser = units::duration, default_value = "0")]
    jitter: Duration,
    /// Bytes of payload in a full segment.
    #[arg(long, value_name = "BYTES", default_value = "1460", value_parser = clap::value_parser!(u32).range(1..=65_495))]
    mss: u32,
    /// A window to check; by default the one that the path needs.
    #[arg(long, value_name = "BYTES", value_parser = units::bytes)]
    window: Option<u64>,
    /// Connections of a server that each have such a window.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    connections: Option<u64>,
    /// How the result is written to stdout.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// One JSON object.
    Json,
}

/// Longer round trips are probably typing errors.
const LONGEST: Duration = Duration::from_secs(3_600);

/// A path's requirements for a window.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Answer {
    /// Bytes in flight in a round trip, and in one with jitter, rounded up.
    product: u64,
    with_jitter: u64,
    /// Full segments that hold the latter.
    segments: u64,
    /// The window in question: the given one, or that of those segments.
    window: u64,
    /// RFC 7323's shift count.
    shift: u32,
    /// Payload bits per second that the window allows, and that the path then carries; with and without jitter.
    allows: u64,
    allows_at_worst: u64,
    rate: u64,
    /// The longest round trip in which the window keeps the link busy.
    covers: Duration,
}

/// Runs the command.
///
/// # Errors
/// If the numbers exceed what TCP can express.
pub fn run(args: &WindowArgs) -> Result<(), Failure> {
    let answer = answer(args).map_err(Failure::Usage)?;
    let settings = Settings::of(answer.window, answer.shift);
    output::write(&match args.format {
        Format::Text => text(args, &answer, &settings),
        Format::Json => json(args, &answer, &settings),
    })
}

fn answer(args: &WindowArgs) -> Result<Answer, String> {
    let (rtt, worst) = (args.rtt, args.rtt + args.jitter);
    if rtt.is_zero() {
        return Err("--rtt 0: a round trip takes time; `ping` tells how much, for example `--rtt 85ms`".to_owned());
    }
    if worst > LONGEST {
        return Err(format!(
            "--rtt {rtt} --jitter {}: more than an hour; was a unit meant to be smaller?",
            args.jitter
        ));
    }
    let rate = args.rate.bits_per_sec();
    let (product, with_jitter) = (bytes(rate, rtt), bytes(rate, worst));
    let segments = segments(with_jitter, args.mss);
    let needed = segments * u64::from(args.mss);
    let window = args.window.unwrap_or(needed);
    if window == 0 {
        return Err("--window 0: a closed window allows nothing; give a number of bytes, or leave it out".to_owned());
    }
    if window > LARGEST {
        let hint = "use several connections, or a smaller rate or round trip";
        return Err(format!("{window} bytes are more than TCP can announce, which is {LARGEST}: {hint}"));
    }
    Ok(Answer {
        product,
        with_jitter,
        segments,
        window,
        shift: shift(window),
        allows: bits_per_sec(window, rtt),
        allows_at_worst: bits_per_sec(window, worst),
        rate,
        covers: args.rate.time_for(window),
    })
}

impl Answer {
    /// Returns whether the window is smaller than the most bytes that may be in flight.
    fn is_limiting(&self) -> bool {
        self.allows_at_worst < self.rate
    }
}

fn text(args: &WindowArgs, answer: &Answer, settings: &Settings) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| writeln!(text, "{name:24} {value}").expect("a string takes it");
    line("bandwidth-delay product", format!("{} bytes in {}", answer.product, args.rtt));
    if !args.jitter.is_zero() {
        line("with jitter", format!("{} bytes in {}", answer.with_jitter, args.rtt + args.jitter));
    }
    line("segments", format!("{} of {} bytes", answer.segments, args.mss));
    let whose = if args.window.is_some() { "as given" } else { "whole segments" };
    line("window", format!("{} bytes ({whose})", answer.window));
    line("window scale", format!("shift {}", answer.shift));
    let limit = if answer.is_limiting() { "the window is the limit" } else { "the path is the limit" };
    line(
        "allows",
        format!("{} of {}: {limit}", megabits(answer.allows_at_worst.min(answer.rate)), megabits(answer.rate)),
    );
    line("covers a round trip of", milliseconds(answer.covers));
    if let Some(connections) = args.connections {
        let memory = u128::from(connections) * u128::from(answer.window);
        let shown = memory as f64 / 1e6;
        line("buffers of the server", format!("{shown:.1} MB for {connections} connections, each way"));
    }
    text.push('\n');
    text.push_str(&settings.text());
    text
}

fn json(args: &WindowArgs, answer: &Answer, settings: &Settings) -> String {
    let memory = args.connections.map(|n| (u128::from(n) * u128::from(answer.window)) as f64);
    let object = serde_json::json!({
        "bdp_bytes": answer.product,
        "bdp_with_jitter_bytes": answer.with_jitter,
        "segments": answer.segments,
        "window_bytes": answer.window,
        "shift": answer.shift,
        "allows_bps": answer.allows,
        "allows_with_jitter_bps": answer.allows_at_worst,
        "rate_bps": answer.rate,
        "window_limited": answer.is_limiting(),
        "covers_ms": answer.covers.as_nanos() as f64 / 1e6,
        "server_buffer_bytes": memory,
        "settings": settings.json(),
    });
    object.to_string() + "\n"
}

fn megabits(bps: u64) -> String {
    format!("{:.3} Mbit/s", bps as f64 / 1e6)
}

fn milliseconds(span: Duration) -> String {
    format!("{:.3} ms", span.as_nanos() as f64 / 1e6)
}

#[cfg(test)]
mod tests;
