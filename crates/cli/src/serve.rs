//! `longhaul serve`: a server on a TUN device, and what `serve`, `send` and `recv` share: the device, the profile, the emulated
//! loss, and the summary.

mod counted;
mod service;
mod streams;
mod web;

use crate::device::DeviceArgs;
use crate::failure::LinkError;
use crate::host::{Ended as HostEnded, Host, HostArgs, Wanted};
use crate::tracer::{self, OurEnd, Subject};
use crate::transfer::{SummaryFormat, print_summary};
use base::{Duration, Ratio, Rng};
use clap::Args;
use net::{Driver, DriverConfig, DriverError, Ended, Impairment, MonotonicClock, Transfer, Tun};
use netem::{LossSpec, PathSpec};
use profiles::Profile;
use service::Service;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tcp::ValidConfig;
use trace::{Observer, Off};
use trace_io::each::EachConnection;

/// Arguments of `longhaul serve`.
#[derive(Args, Clone, Debug)]
pub struct ServeArgs {
    /// The service of the server.
    service: Service,
    /// What `http` serves: the files below this folder.
    #[arg(value_name = "DIR", required_if_eq("service", "http"))]
    dir: Option<PathBuf>,
    #[command(flatten)]
    link: LinkArgs,
    /// Port to listen on [default: 9 for discard, 7 for echo, 19 for chargen, 80 for http].
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// End after the first connection.
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    host: HostArgs,
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
/// If the device is not available or fails, or the options do not go together.
pub fn run(args: &ServeArgs) -> Result<(), LinkError> {
    let by_library = args.link.loss.is_none();
    if args.dir.is_some() && args.service != Service::Http {
        return Err(LinkError::usage(format!("DIR goes with `http`; {} serves no files", args.service.name())));
    }
    if !by_library
        && (!matches!(args.service, Service::Discard | Service::Echo)
            || args.host.is_monitored()
            || args.host.is_sharded())
    {
        let only = "--loss goes with discard and echo alone, without --control, --metrics and --shards";
        return Err(LinkError::usage(only));
    }
    let alone = |traces: Option<EachConnection>| match traces {
        Some(mut traces) => serve_alone(args, &mut traces),
        None => serve_alone(args, &mut Off),
    };
    let interrupted = if by_library { serve_streams(args)? } else { traced(args, alone)? };
    if interrupted {
        anstream::eprintln!("interrupted: every open connection was reset; the same command serves again");
    }
    Ok(())
}

/// Runs `work` with the traces that were asked for.
fn traced<T>(
    args: &ServeArgs,
    work: impl FnOnce(Option<EachConnection>) -> Result<T, LinkError>,
) -> Result<T, LinkError> {
    let end = if args.service == Service::Discard { OurEnd::Receiver } else { OurEnd::Sender };
    let subject = Subject { command: "serve", profile: &*args.link.profile()?, settings: args.link.settings() };
    tracer::each(args.host.trace.as_deref(), subject, end, work)
}

/// Serves by the library's streams. Returns whether connections were reset.
fn serve_streams(args: &ServeArgs) -> Result<bool, LinkError> {
    let web = args.dir.as_deref().map(web::Folder::open).transpose()?;
    let settings = streams::Settings {
        service: args.service,
        web,
        address: SocketAddr::new(args.link.device.address(), args.port.unwrap_or(args.service.port())),
        device: args.link.device.name().to_owned(),
        once: args.once,
        idle: args.host.idle(),
        format: args.link.format,
    };
    let run = |traces| {
        Host::run(&args.link.device, &args.host, &Wanted::default(), traces, |host| streams::run(host, settings))
    };
    let ended = traced(args, run)?;
    Ok(matches!(ended, HostEnded::Interrupted(1..)))
}

/// Serves by the loop that can lose packets. Returns whether it was interrupted.
fn serve_alone(args: &ServeArgs, observer: &mut impl Observer) -> Result<bool, LinkError> {
    let (name, port) = (args.service.name(), args.port.unwrap_or(args.service.port()));
    let (config, mut driver) = (args.link.config()?, args.link.driver()?);
    let connections = args.once.then_some(1);
    let format = args.link.format;
    let report: net::Hook<Transfer> = Box::new(move |transfer| print_summary(format, "served", transfer));
    let ready = || {
        println!("READY {name} {} on {}", SocketAddr::new(args.link.device.address(), port), args.link.device.name());
        let _ = std::io::stdout().flush();
    };
    let ended = if args.service == Service::Echo {
        drive(&mut driver, &mut net::Echo::new(port, config, connections, report), observer, ready)?
    } else {
        drive(&mut driver, &mut net::Discard::new(port, config, connections, report), observer, ready)?
    };
    Ok(ended == Ended::Stopped)
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
