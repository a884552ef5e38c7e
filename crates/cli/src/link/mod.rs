//! `longhaul link`: joins two devices by an emulated path until it is stopped; `link set` and `link stats` talk to a running
//! link.
//!
//! The link runs in a separate thread with higher priority. This one waits for signals, for requests, and for the end.

mod control;
mod ends;
mod leftovers;
mod pairs;
mod paths;
mod reports;

use crate::failure::Failure;
use crate::output;
use clap::{Args, Subcommand};
use control::Control;
use net::{Link, LinkConfig, LinkError, LinkHandle, LinkReport, Scheduling, TunError};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeSpec;
use paths::Paths;
use reports::View;
use std::fs::{File, OpenOptions, Permissions};
use std::os::fd::AsFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Arguments of `longhaul link`.
#[derive(Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct LinkArgs {
    #[command(subcommand)]
    command: Option<LinkCommand>,
    /// One end: dev=NAME,addr=ADDRESS/PREFIX and optionally ns=NAMESPACE, more addr=, mtu=BYTES. The device is created, and so is
    /// the namespace unless it exists; both are removed at the end if they were created. IPv6 is off unless an IPv6 address is
    /// given.
    #[arg(long, value_name = "KEY=VALUE,…", required = true)]
    a: Option<String>,
    /// The other end.
    #[arg(long, value_name = "KEY=VALUE,…", required = true)]
    b: Option<String>,
    #[command(flatten)]
    directions: Directions,
    /// Seed of the random streams.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// End after this time, for example 10s or 500ms; seconds without a unit.
    #[arg(long = "for", visible_alias = "seconds", value_name = "DURATION")]
    lasting: Option<String>,
    /// Write the packets at both ends to a file, as pcapng.
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Socket for `link set` and `link stats` [default: longhaul-link-PID.sock in /run, or in XDG_RUNTIME_DIR unless root].
    #[arg(long, value_name = "PATH")]
    control: Option<PathBuf>,
}

/// What happens to packets.
#[derive(Args, Clone, Debug)]
struct Directions {
    /// From a to b: rate=100mbit (unlimited without it), delay=50ms, buffer=1bdp (of both delays; or bytes as 64kB, or 400pkt),
    /// loss=1% or bursts=0.5%/4, policer=20mbit/64kB, release=1ms..5ms (in groups), thin=5ms (ACKs),
    /// changes="10s rate=5mbit + 12s outage=300ms", model=lte/mean=20mbit (or leo, 5g, wifi), jitter=1ms, reorder=1%/5ms/late (or early; or 4x8/2ms/queues), duplicate=1%.
    #[arg(long, value_name = "KEY=VALUE,…")]
    ab: Option<String>,
    /// From b to a.
    #[arg(long, value_name = "KEY=VALUE,…")]
    ba: Option<String>,
}

#[derive(Clone, Debug, Subcommand)]
enum LinkCommand {
    /// Change a running link; packets in flight are not affected.
    Set {
        #[command(flatten)]
        directions: Directions,
        /// The link's socket, if several are running.
        #[arg(long, value_name = "PATH")]
        control: Option<PathBuf>,
    },
    /// Show a running link's statistics.
    Stats {
        /// The link's socket, if several are running.
        #[arg(long, value_name = "PATH")]
        control: Option<PathBuf>,
    },
}

/// Runs the command.
///
/// # Errors
/// If an option is wrong, a privilege is missing, or a device fails.
pub fn run(args: &LinkArgs) -> Result<(), Failure> {
    match &args.command {
        Some(LinkCommand::Set { directions, control }) => set(directions, control.as_deref()),
        Some(LinkCommand::Stats { control }) => output::write(&(control::ask(control.as_deref(), "stats")? + "\n")),
        None => emulate(args),
    }
}

fn set(directions: &Directions, control: Option<&Path>) -> Result<(), Failure> {
    let Directions { ab, ba } = directions;
    if ab.is_none() && ba.is_none() {
        return Err(Failure::usage("link set: nothing to change; write for example --ab rate=50mbit"));
    }
    let either = |text: &Option<String>| text.clone().unwrap_or_default();
    control::ask(control, &format!("set {}\t{}", either(ab), either(ba))).map(drop)
}

fn emulate(args: &LinkArgs) -> Result<(), Failure> {
    let text = |end: &Option<String>| end.clone().expect("clap asks for both ends");
    let (a, b) = (ends::read("--a", &text(&args.a))?, ends::read("--b", &text(&args.b))?);
    let mut paths = Paths::new(args.seed);
    paths.change(args.directions.ab.as_deref(), args.directions.ba.as_deref())?;
    let [(_, ab), (_, ba)] = paths.specs()?;
    let until = args.lasting.as_deref().map(lasting).transpose()?.map(|lasting| Instant::now() + lasting);
    if a.namespace == b.namespace {
        anstream::eprintln!(
            "warning: both ends are in one namespace, where the kernel hands packets between its own addresses over without \
             the link; give one end `ns=NAME`"
        );
    }
    // Signals are redirected before any thread starts.
    let signals = signals().map_err(|error| Failure::Failed(format!("signals: {error}")))?;
    let names = format!("{a}, {b}");
    let pcap = args.pcap.as_deref().map(create).transpose()?;
    leftovers::remove().map_err(Failure::usage)?;
    let missing = leftovers::missing([&a.namespace, &b.namespace]);
    let mut link = Link::open(&LinkConfig { a, b, ab, ba, seed: args.seed }).map_err(cannot)?;
    let _note = leftovers::Note::write(&missing)
        .map_err(|error| Failure::Failed(format!("cannot note which namespaces were made: {error}")))?;
    if let Some(file) = pcap {
        link.capture(file).map_err(cannot)?;
    }
    let control = Control::listen(args.control.as_deref())?;
    let mut running = Running::start(link, paths, View::new())?;
    let ready = output::write(&format!("READY {names}, control {}\n", control.path().display()));
    let served = ready.and_then(|()| running.serve(&signals, &control, until));
    // However the link ended, remove what it created.
    let report = running.finish()?;
    served?;
    if report.unmodelled_drops() > 0 {
        anstream::eprintln!(
            "warning: {} packets were lost that the model did not lose: the machine was too slow, or a device was down",
            report.unmodelled_drops()
        );
    }
    output::write(&format!("{}\n", reports::object(&report)))?;
    match (&report.captured.error, &args.pcap) {
        (Some(error), Some(path)) => Err(Failure::Failed(format!("--pcap {}: {error}", path.display()))),
        _ => Ok(()),
    }
}

/// Creates a file that no other user can read: it will hold other people's traffic.
fn create(path: &Path) -> Result<File, Failure> {
    let private = || {
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
        // The file may exist; a pipe or a terminal stays unchanged.
        if file.metadata()?.is_file() {
            file.set_permissions(Permissions::from_mode(0o600))?;
        }
        Ok(file)
    };
    private().map_err(|error: std::io::Error| {
        Failure::usage(format!("--pcap {}: cannot write: {error}; name a file that can be made", path.display()))
    })
}

/// A bare number is in seconds.
fn lasting(text: &str) -> Result<Duration, Failure> {
    let with_unit =
        if text.trim().ends_with(|c: char| c.is_ascii_digit()) { format!("{text}s") } else { text.to_owned() };
    let lasting = profiles::units::duration(&with_unit);
    lasting
        .map(|lasting| Duration::from_nanos(lasting.as_nanos()))
        .map_err(|problem| Failure::usage(format!("--for {text}: {problem}")))
}

fn signals() -> nix::Result<SignalFd> {
    let ours: SigSet = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGUSR1].into_iter().collect();
    ours.thread_block()?;
    SignalFd::with_flags(&ours, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
}

/// Classifies a failure to make the link: by the command line or the machine's set-up, or by a temporary condition.
fn cannot(error: LinkError) -> Failure {
    match &error {
        LinkError::Namespace(_) | LinkError::ByPosition => Failure::usage(error),
        LinkError::Device(TunError::SetUp { .. }) => Failure::Failed(error.to_string()),
        LinkError::Device(_) => Failure::usage(error),
        _ => Failure::Failed(error.to_string()),
    }
}

/// A link at work.
struct Running {
    handle: LinkHandle,
    thread: JoinHandle<Result<LinkReport, LinkError>>,
    /// Reaches end of file when the thread ends.
    alive: UnixStream,
    paths: Paths,
    view: View,
}

/// Interval between two updates of the view.
const VIEW: Duration = Duration::from_millis(250);

/// What a signal asks for.
enum Signalled {
    GoOn,
    Stop,
}

impl Running {
    fn start(link: Link, paths: Paths, view: View) -> Result<Self, Failure> {
        let handle = link.handle();
        let pair = UnixStream::pair();
        let (alive, theirs) =
            pair.map_err(|error| Failure::Failed(format!("cannot make a pair of sockets: {error}")))?;
        let thread = std::thread::spawn(move || {
            let report = link.run();
            drop(theirs);
            report
        });
        let running = Self { handle, thread, alive, paths, view };
        // An answer shows that the link runs; without one, the end will give the reason.
        if let Some(report) = running.handle.report() {
            warn(report.scheduling);
        }
        Ok(running)
    }

    /// Handles requests and signals until it is time to stop.
    fn serve(&mut self, signals: &SignalFd, control: &Control, until: Option<Instant>) -> Result<(), Failure> {
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Ok(());
            }
            let timeout = [left, self.view.is_seen().then_some(VIEW)].into_iter().flatten().min();
            let readable = |fd| PollFd::new(fd, PollFlags::POLLIN);
            let mut fds = [readable(signals.as_fd()), readable(control.fd()), readable(self.alive.as_fd())];
            match ppoll(&mut fds, timeout.map(TimeSpec::from_duration), None) {
                Ok(_) | Err(nix::errno::Errno::EINTR) => {}
                Err(errno) => return Err(Failure::Failed(format!("cannot wait: {errno}"))),
            }
            let [signalled, asked, ended] = fds.map(|fd| fd.any() == Some(true));
            if ended {
                return Ok(());
            }
            if asked {
                control.serve(|request| self.answer(request));
            }
            if signalled && let Signalled::Stop = self.obey(signals)? {
                return Ok(());
            }
            if self.view.is_seen()
                && let Some(report) = self.handle.report()
            {
                self.view.show(report);
            }
        }
    }

    fn obey(&self, signals: &SignalFd) -> Result<Signalled, Failure> {
        while let Ok(Some(signal)) = signals.read_signal() {
            if signal.ssi_signo != Signal::SIGUSR1 as u32 {
                return Ok(Signalled::Stop);
            }
            let stats = self.stats()?;
            self.view.aside(|| output::write(&format!("{stats}\n")))?;
        }
        Ok(Signalled::GoOn)
    }

    fn stats(&self) -> Result<String, Failure> {
        let report = self.handle.report().ok_or_else(|| Failure::Failed(String::new()))?;
        Ok(reports::object(&report).to_string())
    }

    fn answer(&mut self, request: &str) -> Result<String, Failure> {
        if request == "stats" {
            return self.stats();
        }
        let Some((ab, ba)) = request.strip_prefix("set ").and_then(|words| words.split_once('\t')) else {
            return Err(Failure::usage(format!("a link does not understand `{request}`; it knows `set` and `stats`")));
        };
        let before = self.paths.specs()?;
        self.paths.change(Some(ab), Some(ba))?;
        for (old, (way, new)) in before.into_iter().zip(self.paths.specs()?) {
            if old.1 != new {
                self.handle.set(way, new);
            }
        }
        Ok(String::new())
    }

    /// Stops the link, if it has not ended; returns its report.
    fn finish(self) -> Result<LinkReport, Failure> {
        self.handle.stop();
        let ended = self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        self.view.close();
        ended.map_err(|error| Failure::Failed(error.to_string()))
    }
}

fn warn(scheduling: Scheduling) {
    let how = match scheduling {
        Scheduling::Deadline => return,
        Scheduling::Fifo => "under SCHED_FIFO: the kernel puts it aside for up to 50 ms at times",
        Scheduling::Ordinary => "as any other thread: packets leave late whenever the machine is busy",
    };
    anstream::eprintln!(
        "warning: the link runs {how}; SCHED_DEADLINE needs CAP_SYS_NICE (root, or `setcap cap_sys_nice+ep`) and room \
         for 45 % of a processor"
    );
}
