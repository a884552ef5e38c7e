//! A stack of the library behind a TUN device: it and its tasks run until a signal ends them in peace, or a second one at once.

use crate::device::DeviceArgs;
use crate::failure::LinkError;
use crate::monitor::MonitorArgs;
use clap::Args;
use longhaul::tun::{Cidr, Tun};
use longhaul::{Driver, Net, Packets, RequestConfig, Stack};
use std::cell::RefCell;
use std::future::poll_fn;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{JoinSet, LocalSet};
use trace_io::each::EachConnection;

/// Resets leave the device within this time, or not at all.
const LAST_PACKETS: Duration = Duration::from_millis(500);

/// Arguments of commands that serve connections.
#[derive(Args, Clone, Debug)]
pub struct HostArgs {
    /// Connections at once; further ones wait.
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=60_000))]
    connections: u32,
    /// Connections without a byte for so long are reset; 0s means never.
    #[arg(long, value_name = "TIME", default_value = "10min", value_parser = profiles::units::duration)]
    idle: base::Duration,
    /// How long open connections have after Ctrl-C; a second Ctrl-C resets them at once.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = profiles::units::duration)]
    grace: base::Duration,
    /// Write a trace of each connection, into a directory inside of this one that bears its number, for `longhaul view`.
    #[arg(long, value_name = "DIR")]
    pub trace: Option<PathBuf>,
    /// Threads that share the work of TCP: each has a queue of the device, and connections by a hash of their addresses and ports.
    #[arg(long, value_name = "N", default_value = "1", value_parser = shards, conflicts_with = "trace")]
    shards: NonZeroU32,
    #[command(flatten)]
    monitor: MonitorArgs,
}

/// Reads a number of shards: as many as the kernel gives a device queues.
fn shards(text: &str) -> Result<NonZeroU32, String> {
    let valid = text.parse().ok().filter(|shards: &NonZeroU32| shards.get() <= 256);
    valid.ok_or_else(|| format!("`{text}` is not a number of shards; write one between 1 and 256"))
}

impl HostArgs {
    /// Returns the time after which an idle connection is reset, if any.
    pub fn idle(&self) -> Option<Duration> {
        (!self.idle.is_zero()).then(|| Duration::from_nanos(self.idle.as_nanos()))
    }

    /// Returns whether more than one thread does the work.
    pub fn is_sharded(&self) -> bool {
        self.shards > NonZeroU32::MIN
    }

    /// Returns whether other programs may look on.
    pub fn is_monitored(&self) -> bool {
        self.monitor.is_any()
    }
}

/// What a command asks of its stack beside the device.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// A second address, of the other IP version.
    pub second: Option<Cidr>,
    /// The stack stands for every destination.
    pub requests: Option<Requests>,
}

/// How many requests may wait for a decision.
#[derive(Clone, Copy, Debug)]
pub struct Requests {
    /// Before their handshake.
    pub undecided: u32,
    /// After it, when those are as many; zero answers no further ones.
    pub late: u32,
}

/// A stack, and what is done with it.
#[derive(Clone)]
pub struct Host {
    /// The stack.
    pub net: Net,
    tasks: Rc<RefCell<JoinSet<()>>>,
    /// For the tasks that may run at once.
    places: Arc<Semaphore>,
    stage: watch::Receiver<Stage>,
}

/// How long connections may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Open,
    /// They are to end, and have some time.
    Ending,
    /// They are reset.
    Cut,
}

/// How a host's work came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The work was done.
    Done,
    /// A signal came; so many connections were open.
    Interrupted(usize),
}

impl Host {
    /// Builds a stack on a new device and runs `work` until it ends or a signal comes. Then the connections have time until the grace
    /// has passed, or a second signal comes.
    ///
    /// # Errors
    /// If the device is not available or fails, and those of `work`.
    pub fn run<F: Future<Output = Result<(), LinkError>>>(
        device: &DeviceArgs,
        args: &HostArgs,
        wanted: &Wanted,
        traces: Option<EachConnection>,
        work: impl FnOnce(Self) -> F,
    ) -> Result<Ended, LinkError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| LinkError::failed(format!("cannot start a runtime: {error}")))?;
        let grace = Duration::from_nanos(args.grace.as_nanos());
        let config = device.profile()?.config().clone();
        let tasks = LocalSet::new();
        let ended = tasks.block_on(&runtime, async {
            let tuns = device.create_queues(args.shards, wanted.second)?;
            let addresses = [Some(device.address()), wanted.second.map(|second| second.address())];
            let builder = Stack::builder().addresses(addresses.into_iter().flatten()).device(tuns[0].caps());
            let mut builder = builder.config(config);
            if let Some(Requests { undecided, late }) = wanted.requests {
                let requests = RequestConfig { undecided_max: undecided, ..RequestConfig::default() };
                builder = builder.requests(requests).late_requests(late);
            }
            if let Some(traces) = traces {
                builder = builder.observer(traces);
            }
            let (net, packets, drivers) = builder.build_shards(args.shards).map_err(LinkError::usage)?;
            let mut ended = start(tuns.into_iter().zip(packets).zip(drivers))?;
            let moves = async {
                let failed = ended.recv().await.unwrap_or_else(|| "its stack has ended".to_owned());
                LinkError::failed(format!("the device {} failed: {failed}; is it still there?", device.name()))
            };
            let (end, stage) = watch::channel(Stage::Open);
            let places = Arc::new(Semaphore::new(args.connections as usize));
            let host = Self { net, tasks: Rc::default(), places, stage };
            let mut signals = Signals::new()?;
            // Removes its socket at the end.
            let _monitor = args.monitor.start(&host.net).await?;
            let work = work(host.clone());
            tokio::select! {
                done = work => { done?; host.end(&end, grace, &mut signals).await; Ok(Ended::Done) }
                failed = moves => Err(failed),
                () = signals.next() => {
                    let open = host.open();
                    if open > 0 {
                        let seconds = grace.as_secs_f64();
                        anstream::eprintln!("ending; still open: {open}, for at most {seconds} s; Ctrl-C resets what is open now");
                    }
                    Ok(Ended::Interrupted(host.end(&end, grace, &mut signals).await))
                }
            }
        });
        // A resolver that does not answer must not hold the program back.
        runtime.shutdown_background();
        ended
    }

    /// Waits for a place among the connections.
    pub async fn place(&self) -> OwnedSemaphorePermit {
        let place = self.places.clone().acquire_owned().await;
        place.expect("the places are never closed")
    }

    /// Starts a task for a connection, which gives up its place at its end, and is dropped when its time is over.
    pub fn spawn(&self, place: OwnedSemaphorePermit, connection: impl Future<Output = ()> + 'static) {
        let host = self.clone();
        self.spawn_to_end(place, async move {
            tokio::select! { () = connection => {}, () = host.cut() => {} }
        });
    }

    /// The same for a task that heeds [`Self::cut`] itself.
    pub fn spawn_to_end(&self, place: OwnedSemaphorePermit, connection: impl Future<Output = ()> + 'static) {
        self.open();
        self.tasks.borrow_mut().spawn_local(async move {
            connection.await;
            drop(place);
        });
    }

    /// Returns how many tasks run; forgets those that have ended.
    fn open(&self) -> usize {
        let mut tasks = self.tasks.borrow_mut();
        while tasks.try_join_next().is_some() {}
        tasks.len()
    }

    /// Waits until connections are to end.
    pub async fn ending(&self) {
        self.reach(Stage::Ending).await;
    }

    /// Waits until connections are to be reset.
    pub async fn cut(&self) {
        self.reach(Stage::Cut).await;
    }

    async fn reach(&self, wanted: Stage) {
        let mut stage = self.stage.clone();
        if stage.wait_for(|stage| *stage >= wanted).await.is_err() {
            std::future::pending().await
        }
    }

    /// Gives the connections time, resets what is left, and ends the stack. Returns how many were left.
    async fn end(&self, end: &watch::Sender<Stage>, grace: Duration, signals: &mut Signals) -> usize {
        let _ = end.send(Stage::Ending);
        let in_peace = async { tokio::join!(self.all_tasks(), self.net.shutdown(grace + LAST_PACKETS)) };
        tokio::select! {
            _ = tokio::time::timeout(grace, in_peace) => {}
            () = signals.next() => {}
        }
        let left = self.open();
        let _ = end.send(Stage::Cut);
        let _ = tokio::time::timeout(LAST_PACKETS, self.all_tasks()).await;
        self.tasks.borrow_mut().abort_all();
        // What was reset still has to leave.
        let _ = tokio::time::timeout(LAST_PACKETS, self.net.shutdown(Duration::ZERO)).await;
        left
    }

    async fn all_tasks(&self) {
        poll_fn(|cx| {
            let mut tasks = self.tasks.borrow_mut();
            loop {
                match tasks.poll_join_next(cx) {
                    Poll::Ready(None) => return Poll::Ready(()),
                    Poll::Ready(Some(_)) => {}
                    Poll::Pending => return Poll::Pending,
                }
            }
        })
        .await;
    }
}

/// Runs shards, each with its end of the device: the first beside the program's own tasks, each further one in a thread of its own.
/// Returns what says why the first of them ended.
fn start(shards: impl Iterator<Item = ((Tun, Packets), Driver)>) -> Result<UnboundedReceiver<String>, LinkError> {
    let (say, ended) = unbounded_channel();
    for (shard, ((tun, packets), driver)) in shards.enumerate() {
        let say = say.clone();
        let run = async move {
            tokio::spawn(driver);
            let moved = longhaul::tun::run(tun, packets).await;
            // If nothing waits for it any more, the program is ending.
            let _ = say.send(moved.err().map_or_else(|| "its stack has ended".to_owned(), |error| error.to_string()));
        };
        if shard == 0 {
            tokio::spawn(run);
            continue;
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| LinkError::failed(format!("cannot start a runtime: {error}")))?;
        let thread = std::thread::Builder::new().name(format!("shard {shard}"));
        let spawned = thread.spawn(move || runtime.block_on(run));
        spawned.map_err(|error| LinkError::failed(format!("cannot start a thread for shard {shard}: {error}")))?;
    }
    Ok(ended)
}

/// The signals that end a program.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn new() -> Result<Self, LinkError> {
        let of = |kind| signal(kind).map_err(|error| LinkError::failed(format!("signals: {error}")));
        Ok(Self { interrupt: of(SignalKind::interrupt())?, terminate: of(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        let (interrupt, terminate) = (pin!(self.interrupt.recv()), pin!(self.terminate.recv()));
        tokio::select! { _ = interrupt => {}, _ = terminate => {} }
    }
}
