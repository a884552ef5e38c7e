//! `longhaul send` and `longhaul recv`: one connection from a TUN device to any TCP.

use crate::failure::LinkError;
use crate::progress;
use crate::serve::{LinkArgs, drive};
use crate::tracer::{OurEnd, Subject, Tracer};
use crate::transfer::{SummaryFormat, print_summary};
use crate::whole_file::WholeFile;
use clap::Args;
use indicatif::ProgressBar;
use net::{Ended, Hook, Payload, Transfer};
use std::cell::RefCell;
use std::fs::File;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use tcp::CloseReason;
use trace::Off;

/// Arguments of `longhaul send`.
#[derive(Args, Clone, Debug)]
pub struct SendArgs {
    #[command(flatten)]
    link: LinkArgs,
    /// Whom to send to.
    #[arg(value_name = "HOST:PORT")]
    remote: String,
    /// What to send.
    #[arg(value_name = "FILE", required_unless_present = "bytes", conflicts_with = "bytes")]
    file: Option<PathBuf>,
    /// Send this many bytes of a fixed pattern instead, with units as in 100MB or 64KiB; or the file of this name.
    #[arg(long, value_name = "N|FILE", value_parser = amount)]
    bytes: Option<Amount>,
    /// Write a trace: a directory with trace.parquet, trace.qlog and summary.json, for `longhaul view`.
    #[arg(long, value_name = "DIR")]
    trace: Option<PathBuf>,
}

/// The argument of `--bytes`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Amount {
    Bytes(u64),
    File(PathBuf),
}

fn amount(text: &str) -> Result<Amount, String> {
    match profiles::units::bytes(text) {
        Ok(bytes) => Ok(Amount::Bytes(bytes)),
        Err(_) if Path::new(text).is_file() => Ok(Amount::File(text.into())),
        Err(problem) => Err(format!("{problem}; nor is there a file of this name")),
    }
}

/// Arguments of `longhaul recv`.
#[derive(Args, Clone, Debug)]
pub struct RecvArgs {
    #[command(flatten)]
    link: LinkArgs,
    /// Remote host and port.
    #[arg(value_name = "HOST:PORT")]
    remote: String,
    /// Output file; without it the data is discarded.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Fail unless exactly this many bytes arrive, and keep the received part in FILE.part; units as in 100MB or 64KiB.
    #[arg(long, value_name = "N", value_parser = profiles::units::bytes)]
    bytes: Option<u64>,
    /// Write a trace of our end: a directory with trace.parquet, trace.qlog and summary.json, for `longhaul view`.
    #[arg(long, value_name = "DIR")]
    trace: Option<PathBuf>,
}

/// Sends, and reports the result.
///
/// # Errors
/// If the device is not available, the file cannot be read, or the connection ends abnormally.
pub fn send(args: &SendArgs) -> Result<(), LinkError> {
    let remote = resolve(&args.link, &args.remote)?;
    let (payload, total) = match (&args.file, &args.bytes) {
        (Some(path), _) | (None, Some(Amount::File(path))) => {
            let (file, len) = open(path)?;
            (Payload::Reader(Box::new(file)), len)
        }
        (None, Some(Amount::Bytes(bytes))) => (Payload::Pattern(*bytes), Some(*bytes)),
        (None, None) => unreachable!("clap asks for one of the two"),
    };
    let profile = args.link.profile()?;
    let tracer = tracer(args.trace.as_deref(), OurEnd::Sender, &args.link, &args.remote)?;
    let mut driver = args.link.driver()?;
    args.link.device().check_forwarding(remote.ip())?;
    let bar = progress_bar(total);
    let connecting = || anstream::eprintln!("connecting to {remote} …");
    let mut sender = net::Sender::new(remote, profile.config().clone(), payload, advance(bar.clone()));
    let (ended, limited) = match tracer {
        None => (drive(&mut driver, &mut sender, &mut Off, connecting), None),
        Some(mut tracer) => {
            let ended = drive(&mut driver, &mut sender, &mut tracer.observer, connecting);
            // The trace of a failed transfer is worth keeping.
            (ended, tracer.finish()?)
        }
    };
    bar.finish_and_clear();
    let ended = ended?;
    let transfer = sender.finish().map_err(LinkError::failed)?;
    let again = || "the same command sends it again from the beginning".to_owned();
    let concluded = conclude(&args.link, "sent", remote, (ended, transfer), again);
    if let (Some(limited), SummaryFormat::Text) = (limited, args.link.format()) {
        println!("limited by {limited}");
    }
    concluded.map(|_| ())
}

/// Begins a trace of one transfer, where one is asked for.
fn tracer(path: Option<&Path>, end: OurEnd, link: &LinkArgs, remote: &str) -> Result<Option<Tracer>, LinkError> {
    let Some(path) = path else { return Ok(None) };
    let mut settings = vec![("link.remote".to_owned(), remote.to_owned())];
    settings.extend(link.settings());
    let command = match end {
        OurEnd::Sender => "send",
        OurEnd::Receiver => "recv",
    };
    Tracer::new(path, Subject { command, profile: &*link.profile()?, settings }, end).map(Some)
}

/// Receives, and reports the result.
///
/// # Errors
/// If the device is not available, the file cannot be written, the connection ends abnormally, or the number of bytes differs
/// from the expected one.
pub fn recv(args: &RecvArgs) -> Result<(), LinkError> {
    let remote = resolve(&args.link, &args.remote)?;
    let tracer = tracer(args.trace.as_deref(), OurEnd::Receiver, &args.link, &args.remote)?;
    let (config, mut driver) = (args.link.config()?, args.link.driver()?);
    args.link.device().check_forwarding(remote.ip())?;
    // After the driver, which redirects signals: an earlier interruption then leaves no file.
    let create = |path: &Path| WholeFile::create(path).map_err(|error| cannot("write", path, &error));
    let file = args.file.as_deref().map(create).transpose()?.map(|file| Rc::new(RefCell::new(file)));
    let bar = progress_bar(args.bytes);
    let sink = file.clone().map(|file| Box::new(Shared(file)) as Box<dyn std::io::Write>);
    let mut receiver = net::Receiver::new(remote, config, sink, advance(bar.clone()));
    let connecting = || anstream::eprintln!("connecting to {remote} …");
    let ended = match tracer {
        None => drive(&mut driver, &mut receiver, &mut Off, connecting),
        Some(mut tracer) => {
            let ended = drive(&mut driver, &mut receiver, &mut tracer.observer, connecting);
            // The trace of a failed transfer is worth keeping.
            tracer.finish()?;
            ended
        }
    };
    bar.finish_and_clear();
    let ended = ended?;
    let cannot_write = |error| LinkError::failed(format!("cannot write what came: {error}; nothing of it is kept"));
    let transfer = receiver.finish().map_err(cannot_write)?;
    let mut file = file.map(|file| Rc::into_inner(file).expect("the receiver is gone").into_inner());
    let again = "the same command receives it again from the beginning";
    let ended = (ended, transfer);
    let concluded = conclude(&args.link, "received", remote, ended, || format!("{}; {again}", kept(file.take())));
    let came = concluded?.read.bytes;
    match args.bytes {
        // The peer closed normally, so only the count shows that this is not the requested file.
        Some(expected) if expected != came => {
            let file = kept(file);
            Err(LinkError::failed(format!("{remote} sent {came} bytes, not the {expected} of --bytes; {file}")))
        }
        _ => file.map_or(Ok(()), WholeFile::finish).map_err(cannot_write),
    }
}

/// Ends a file that differs from the request. Returns where the received part is.
fn kept(file: Option<WholeFile>) -> String {
    match file.map(WholeFile::keep_part) {
        Some(Ok(part)) => format!("what came is kept in {}", part.display()),
        Some(Err(error)) => format!("what came cannot be written: {error}; nothing of it is kept"),
        None => "nothing of it is kept".to_owned(),
    }
}

/// A file that is needed after the receiver has been dropped.
struct Shared(Rc<RefCell<WholeFile>>);

impl std::io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        self.0.borrow_mut().flush()
    }
}

fn open(path: &Path) -> Result<(File, Option<u64>), LinkError> {
    let file = File::open(path).map_err(|error| cannot("read", path, &error))?;
    let metadata = file.metadata().map_err(|error| cannot("read", path, &error))?;
    if metadata.is_dir() {
        return Err(LinkError::usage(format!("cannot read `{}`: it is a directory", path.display())));
    }
    Ok((file, metadata.is_file().then_some(metadata.len())))
}

fn cannot(verb: &str, path: &Path, error: &std::io::Error) -> LinkError {
    LinkError::usage(format!("cannot {verb} `{}`: {error}", path.display()))
}

/// Returns the host's first address of our own IP version.
fn resolve(link: &LinkArgs, remote: &str) -> Result<SocketAddr, LinkError> {
    let found = remote.to_socket_addrs();
    let mut found =
        found.map_err(|error| LinkError::usage(format!("`{remote}` cannot be resolved as HOST:PORT: {error}")))?;
    found
        .find(|address| link.device().speaks_to(address))
        .ok_or_else(|| LinkError::usage(format!("`{remote}` has no address of the IP version of --addr")))
}

/// The summary of a connection that there was, and whether it ended well; if not, `kept` says what there is, and how to
/// go on.
fn conclude(
    link: &LinkArgs,
    what: &str,
    remote: SocketAddr,
    (ended, transfer): (Ended, Option<Transfer>),
    kept: impl FnOnce() -> String,
) -> Result<Transfer, LinkError> {
    let connected = transfer.filter(|transfer| !transfer.elapsed.is_zero());
    let Some(connected) = connected else {
        let why = match (ended, transfer) {
            (Ended::Done, Some(transfer)) => transfer.end.to_string(),
            _ => "interrupted".to_owned(),
        };
        return Err(LinkError::failed(format!("cannot connect to {remote}: {why}; nothing was {what}")));
    };
    print_summary(link.format(), what, &connected);
    match (ended, connected.end) {
        (Ended::Done, CloseReason::Normal) => Ok(connected),
        (Ended::Done, reason) => Err(LinkError::failed(format!("{remote}: {reason}; {}", kept()))),
        (Ended::Stopped, _) => Err(LinkError::failed(format!("{remote}: interrupted; {}", kept()))),
    }
}

/// Shows bytes on stderr.
fn progress_bar(total: Option<u64>) -> ProgressBar {
    match total {
        Some(total) => progress::bar(total, "{bytes}/{total_bytes} {binary_bytes_per_sec} {eta} left"),
        None => progress::spinner("{bytes} {binary_bytes_per_sec}"),
    }
}

fn advance(bar: ProgressBar) -> Hook<u64> {
    Box::new(move |bytes| bar.set_position(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_may_be_a_number_a_size_or_a_file() {
        assert_eq!(amount("1000"), Ok(Amount::Bytes(1000)));
        assert_eq!(amount("100mb"), Ok(Amount::Bytes(100_000_000)));
        let this = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        assert_eq!(amount(this), Ok(Amount::File(this.into())));
        assert!(amount("no-such-thing").is_err_and(|problem| problem.contains("nor is there a file")));
    }
}
