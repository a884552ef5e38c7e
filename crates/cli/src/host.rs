//! A stack of the library behind a TUN device: it and its tasks run until a signal ends them in peace, or a second one at once.

use crate::device::DeviceArgs;
use crate::failure::LinkError;
use longhaul::tun::Device;
use longhaul::{Net, Stack};
use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{JoinSet, LocalSet};

/// Resets leave the device within this time, or not at all.
const LAST_PACKETS: Duration = Duration::from_millis(500);

/// A stack, and what is done with it.
#[derive(Clone)]
pub struct Host {
    /// The stack.
    pub net: Net,
    tasks: Rc<RefCell<JoinSet<()>>>,
    /// For the tasks that may run at once.
    places: Arc<Semaphore>,
    /// Becomes true when connections are to end.
    ending: watch::Receiver<bool>,
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
    /// Builds a stack on a new device and runs `work` until it ends or a signal comes. Then the connections have time until `grace` has
    /// passed, or a second signal comes.
    ///
    /// # Errors
    /// If the device is not available or fails, and those of `work`.
    pub fn run<F: Future<Output = Result<(), LinkError>>>(
        device: &DeviceArgs,
        any_destination: bool,
        connections_max: usize,
        grace: Duration,
        work: impl FnOnce(Self) -> F,
    ) -> Result<Ended, LinkError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| LinkError::failed(format!("cannot start a runtime: {error}")))?;
        let config = device.profile()?.config().clone();
        let tasks = LocalSet::new();
        let ended = tasks.block_on(&runtime, async {
            let tun = device.create()?;
            let builder = Stack::builder().addresses([device.address()]).device(tun.caps()).config(config);
            let built = builder.any_destination(any_destination).build();
            let (net, packets, driver) = built.map_err(LinkError::usage)?;
            tokio::spawn(driver);
            let moves = tokio::spawn(longhaul::tun::run(tun, packets));
            let moves = async {
                let failed = match moves.await {
                    Ok(Err(error)) => error.to_string(),
                    Ok(Ok(())) => "its stack has ended".to_owned(),
                    Err(error) => error.to_string(),
                };
                LinkError::failed(format!("the device {} failed: {failed}; is it still there?", device.name()))
            };
            let (end, ending) = watch::channel(false);
            let places = Arc::new(Semaphore::new(connections_max));
            let host = Self { net, tasks: Rc::default(), places, ending };
            let mut signals = Signals::new()?;
            let work = work(host.clone());
            tokio::select! {
                done = work => { done?; host.end(&end, grace, &mut signals).await; Ok(Ended::Done) }
                failed = moves => Err(failed),
                () = signals.next() => {
                    let open = host.tasks.borrow_mut().len();
                    if open > 0 {
                        let seconds = grace.as_secs_f64();
                        anstream::eprintln!("ending: {open} connections are open and have {seconds} s; Ctrl-C resets them now");
                    }
                    host.end(&end, grace, &mut signals).await;
                    Ok(Ended::Interrupted(host.tasks.borrow_mut().len()))
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

    /// Starts a task for a connection, which gives up its place at its end.
    pub fn spawn(&self, place: OwnedSemaphorePermit, connection: impl Future<Output = ()> + 'static) {
        let mut tasks = self.tasks.borrow_mut();
        while tasks.try_join_next().is_some() {}
        tasks.spawn_local(async move {
            connection.await;
            drop(place);
        });
    }

    /// Waits until connections are to end.
    pub async fn ending(&self) {
        let mut ending = self.ending.clone();
        if ending.wait_for(|is_ending| *is_ending).await.is_err() {
            std::future::pending().await
        }
    }

    /// Gives the connections time, resets what is left, and ends the stack.
    async fn end(&self, end: &watch::Sender<bool>, grace: Duration, signals: &mut Signals) {
        let _ = end.send(true);
        let in_peace = async {
            let (all, stack) = (self.all_tasks(), self.net.shutdown(grace));
            tokio::join!(all, stack);
        };
        tokio::select! {
            _ = tokio::time::timeout(grace, in_peace) => {}
            () = signals.next() => {}
        }
        self.tasks.borrow_mut().abort_all();
        // What was dropped is reset: its packets still have to leave.
        let _ = tokio::time::timeout(LAST_PACKETS, self.net.shutdown(Duration::ZERO)).await;
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
