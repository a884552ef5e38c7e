//! Programs in virtual time: the same futures that run under tokio, with emulated paths between their stacks, and time that passes only
//! when every task waits. An hour over a satellite takes a second, and the same seed gives the same bytes at the same nanosecond.
//!
//! [`World::run`] is the executor. Futures that need tokio's own runtime (its sockets, `tokio::time`, `spawn`) do not work in it; those
//! that only need tokio's traits do, such as `tokio::io::copy_bidirectional`, and so do channels and locks.
//!
//! ```
//! use longhaul_tokio::{Duration, Stack, virtual_time::{PathSpec, World}};
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//!
//! let mut world = World::new(1);
//! let build = |address: &str| Stack::builder().addresses([address.parse().unwrap()]).seed(1).clock(world.clock()).build().unwrap();
//! let ((client, one, first), (server, other, second)) = (build("10.0.0.1"), build("10.0.0.2"));
//! let path = PathSpec::ideal(Duration::from_millis(300));
//! world.link(one, other, [path.clone(), path]);
//! world.spawn(first);
//! world.spawn(second);
//! let greeting = world.run(async move {
//!     let listener = server.listen("0.0.0.0:80".parse().unwrap())?;
//!     let mut out = client.connect("10.0.0.2:80".parse().unwrap()).await?;
//!     out.write_all(b"hello").await?;
//!     let (mut stream, _) = listener.accept().await?;
//!     let mut greeting = [0; 5];
//!     stream.read_exact(&mut greeting).await?;
//!     std::io::Result::Ok(greeting)
//! }).unwrap().unwrap();
//! assert_eq!(&greeting, b"hello");
//! assert_eq!(world.now(), longhaul_tokio::Instant::ZERO + Duration::from_millis(900));
//! ```

mod link;
mod tasks;
mod time;

pub use netem::{LossSpec, PathSpec, ReorderSpec};
pub use time::{Sleep, VirtualClock};

use base::{Duration, Instant, Rng};
use link::Link;
use pipe::Tunnel;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll};
use tasks::Tasks;

/// Every task waits for something that will not come.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("every task waits, and nothing is on its way: at {at:?}, {tasks} tasks")]
pub struct Stuck {
    /// When it happened.
    pub at: Instant,
    /// Tasks that wait, besides the one that `run` was given.
    pub tasks: usize,
}

/// A clock, the tasks that live by it, and the paths between their stacks.
#[derive(Debug)]
pub struct World {
    clock: VirtualClock,
    tasks: Tasks,
    links: Vec<Link>,
    rng: Rng,
}

/// Starts tasks from within a world.
#[derive(Clone, Debug)]
pub struct Spawner(tasks::Spawner);

impl Spawner {
    /// Starts a task.
    pub fn spawn<T>(&self, task: impl Future<Output = T> + Send + 'static) {
        self.0.spawn(async move {
            task.await;
        });
    }
}

impl World {
    /// Creates a world at time zero; the seed determines what the paths do.
    pub fn new(seed: u64) -> Self {
        Self { clock: VirtualClock::default(), tasks: Tasks::default(), links: Vec::new(), rng: Rng::new(seed) }
    }

    /// Returns the clock, for [`crate::StackBuilder::clock`] and for [`VirtualClock::sleep`].
    pub fn clock(&self) -> VirtualClock {
        self.clock.clone()
    }

    /// Returns the present time.
    pub fn now(&self) -> Instant {
        self.clock.time()
    }

    /// Waits for some time.
    pub fn sleep(&self, time: Duration) -> Sleep {
        self.clock.sleep(time)
    }

    /// Starts a task.
    pub fn spawn<T>(&self, task: impl Future<Output = T> + Send + 'static) {
        self.spawner().spawn(task);
    }

    /// Returns what starts tasks from within others.
    pub fn spawner(&self) -> Spawner {
        Spawner(self.tasks.spawner())
    }

    /// Returns how many tasks have not ended.
    pub fn tasks(&self) -> usize {
        self.tasks.len()
    }

    /// Joins two stacks by a path in each direction: from the first to the second, and back. The stacks must send plain packets
    /// (no segmentation offload, checksums computed).
    pub fn link(&mut self, one: Tunnel, other: Tunnel, paths: [PathSpec; 2]) {
        let rng = self.rng.fork(&format!("link/{}", self.links.len()));
        self.links.push(Link::new(one, other, &paths, &rng));
    }

    /// Packets that the paths have lost, and that found a stack's queue full.
    pub fn dropped(&self) -> u64 {
        self.links.iter().map(Link::dropped).sum()
    }

    /// Runs all tasks until `main` ends, and returns its output. Can be called again.
    ///
    /// # Errors
    /// [`Stuck`] if nothing can happen any more and `main` has not ended.
    pub fn run<T>(&mut self, main: impl Future<Output = T>) -> Result<T, Stuck> {
        let mut main = pin!(main);
        let wanted = self.tasks.wanted();
        loop {
            if wanted.take() {
                let waker = wanted.waker();
                if let Poll::Ready(output) = main.as_mut().poll(&mut Context::from_waker(&waker)) {
                    return Ok(output);
                }
            }
            self.step(|| wanted.is_set())?;
        }
    }

    /// Runs until nothing happens any more: no task can run, no packet is on its way, and no timer is set. Returns how many tasks
    /// still wait.
    pub fn settle(&mut self) -> usize {
        while self.step(|| false).is_ok() {}
        self.tasks.len()
    }

    /// Runs the tasks that can run, moves packets, or else lets time pass. `is_wanted` says that the main task can run.
    fn step(&mut self, is_wanted: impl Fn() -> bool) -> Result<(), Stuck> {
        if self.tasks.run() {
            return Ok(());
        }
        let now = self.now();
        self.links.iter_mut().for_each(|link| link.carry(now));
        if self.tasks.can_run() || is_wanted() {
            return Ok(());
        }
        let arrival = self.links.iter().filter_map(Link::next_deadline).min();
        match [arrival, self.clock.next()].into_iter().flatten().min() {
            Some(next) => self.clock.advance(next),
            None => return Err(Stuck { at: now, tasks: self.tasks.len() }),
        }
        Ok(())
    }
}
