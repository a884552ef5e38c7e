//! `longhaul serve`: a server on a TUN device, and what `serve`, `send` and `recv` share: the device, the profile, the emulated
//! loss, and the summary.

use crate::device::DeviceArgs;
use crate::failure::LinkError;
use base::{Duration, Ratio, Rng};
use clap::{Args, ValueEnum};
use net::{Driver, DriverConfig, DriverError, Ended, Impairment, MonotonicClock, Transfer, Tun};
use netem::{LossSpec, PathSpec};
use profiles::Profile;
use serde_json::json;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use tcp::ValidConfig;
use trace::{Observer, Off};

/// What runs on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Service {
    /// Discards what it receives (RFC 863; port 9 by default).
    Discard,
    /// Sends back what it receives (RFC 862; port 7 by default).
    Echo,
}

/// Arguments of `longhaul serve`.
#[derive(Args, Clone, Debug)]
pub struct ServeArgs {
    /// The service of the server.
    service: Service,
    #[command(flatten)]
    link: LinkArgs,
    /// Port to listen on [default: 9 for discard, 7 for echo].
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// End after the first connection.
    #[arg(long)]
    once: bool,
}

/// The device and the stack behind it.
#[derive(Args, Clone, Debug)]
pub struct LinkArgs {
    #[command(flatten)]
    device: DeviceArgs,
    /// Packets lost at random in each direction, as `1%` or `0.01`; super-segments are split for it.
    #[arg(long, value_name = "PROBABILITY", value_parser = profiles::units::ratio)]
    loss: Option<Ratio>,
    /// Seed of the random streams of the loss.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// How the result is written to stdout.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: SummaryFormat,
}

/// How a result is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SummaryFormat {
    /// One line for people.
    Text,
    /// One JSON object per line.
    Json,
}

impl LinkArgs {
    /// Creates the device, with a stack that has no connection yet.
    pub fn driver(&self) -> Result<Driver<Tun, MonotonicClock>, LinkError> {
        // The clock comes first: it redirects signals, in this thread and in those started later.
        let clock = MonotonicClock::with_signals().map_err(|error| LinkError::failed(format!("signals: {error}")))?;
        let tun = self.device.create()?;
        let secret = random_words().map_err(|error| LinkError::failed(format!("/dev/urandom: {error}")))?;
        let lossy =
            self.loss.map(|loss| PathSpec { loss: LossSpec::Bernoulli(loss), ..PathSpec::ideal(Duration::ZERO) });
        let config = DriverConfig {
            addresses: vec![self.device.address()],
            isn_secret: [secret[0], secret[1]],
            rng: Rng::new(secret[2]),
            allowance: net::ALLOWANCE,
            impairment: Impairment { ingress: lossy.clone(), egress: lossy, seed: self.seed },
        };
        Ok(Driver::new(tun, clock, config))
    }

    /// The chosen profile.
    pub fn profile(&self) -> Result<Arc<Profile>, LinkError> {
        self.device.profile()
    }

    /// Returns the same, ready for building endpoints.
    pub fn config(&self) -> Result<ValidConfig, LinkError> {
        Ok(self.profile()?.config().clone())
    }

    /// Returns what distinguishes this link from others, for readers of a trace.
    pub fn settings(&self) -> Vec<(String, String)> {
        let mut settings = self.device.settings();
        settings.extend(self.loss.map(|loss| ("link.loss".to_owned(), profiles::units::show_percent(loss))));
        settings
    }

    /// The device alone.
    pub fn device(&self) -> &DeviceArgs {
        &self.device
    }

    /// How the result is to be written.
    pub fn format(&self) -> SummaryFormat {
        self.format
    }
}

/// Unpredictable bits for sequence numbers and ports (RFC 6528 §3, RFC 6056 §3).
fn random_words() -> std::io::Result<[u64; 3]> {
    let mut bytes = [0; 24];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let (words, _) = bytes.as_chunks::<8>();
    Ok([0, 1, 2].map(|index| u64::from_ne_bytes(words[index])))
}

/// Runs the server until it has served one connection, or indefinitely.
///
/// # Errors
/// If the device is not available or fails.
pub fn run(args: &ServeArgs) -> Result<(), LinkError> {
    let (name, default_port) = match args.service {
        Service::Discard => ("discard", 9),
        Service::Echo => ("echo", 7),
    };
    let port = args.port.unwrap_or(default_port);
    let (config, mut driver) = (args.link.config()?, args.link.driver()?);
    let connections = args.once.then_some(1);
    let format = args.link.format;
    let report: net::Hook<Transfer> = Box::new(move |transfer| print_summary(format, "served", transfer));
    let ready = || {
        println!("READY {name} {} on {}", SocketAddr::new(args.link.device.address(), port), args.link.device.name());
        let _ = std::io::stdout().flush();
    };
    let ended = match args.service {
        Service::Discard => {
            drive(&mut driver, &mut net::Discard::new(port, config, connections, report), &mut Off, ready)?
        }
        Service::Echo => drive(&mut driver, &mut net::Echo::new(port, config, connections, report), &mut Off, ready)?,
    };
    if ended == Ended::Stopped {
        anstream::eprintln!("interrupted: every open connection was reset; the same command serves again");
    }
    Ok(())
}

/// Starts an application, reports that, and runs it to its end.
pub fn drive<A: net::App>(
    driver: &mut Driver<Tun, MonotonicClock>,
    app: &mut A,
    observer: &mut impl Observer,
    started: impl FnOnce(),
) -> Result<Ended, LinkError> {
    driver.start(app, observer).map_err(|error| LinkError::failed(DriverError::from(error)))?;
    started();
    driver.run(app, observer).map_err(LinkError::failed)
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
