//! The second thread, which makes the blocking calls.
//!
//! The engine passes it a call and continues as soon as the call sleeps. Like packetdrill, it checks the thread's state as the
//! kernel reports it, so a stack must put a blocked caller to sleep instead of letting it spin.

use super::clock::{Clock, Due};
use crate::ffi::thread_id;
use crate::stack::{Call, Returned, Stack};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// How long another event may wait for a blocked call, in real time.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The thread of blocking calls.
#[derive(Debug)]
pub struct Worker {
    shared: Arc<Shared>,
    thread: i32,
}

/// A call and when to make it.
#[derive(Debug)]
pub struct Job {
    /// How script time maps to stack time.
    pub clock: Clock,
    /// When the call begins.
    pub due: Due,
    /// When the previous event was due.
    pub previous: Option<i64>,
    /// The call.
    pub call: Call,
}

/// A call that has returned.
#[derive(Debug)]
pub struct Finished {
    /// The call, with its results in memory.
    pub call: Call,
    /// Its return value; an error if the call started too late.
    pub returned: Result<Returned, String>,
    /// When it returned, by the stack's clock.
    pub at: i64,
}

#[derive(Debug, Default)]
enum Desk {
    #[default]
    Idle,
    Enqueued(Box<Job>),
    /// Taken by the worker, and not due yet.
    Waiting,
    Running,
    Done(Box<Finished>),
}

#[derive(Debug, Default)]
struct Shared {
    desk: Mutex<Desk>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Desk> {
        // A thread that panicked while holding the lock left the state unchanged, and therefore valid.
        self.desk.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn put(&self, desk: Desk) {
        *self.lock() = desk;
        self.changed.notify_all();
    }

    /// Waits until `ready` holds; `None` after `timeout`.
    fn await_desk(&self, timeout: Option<Duration>, ready: impl Fn(&Desk) -> bool) -> Option<MutexGuard<'_, Desk>> {
        let until = timeout.map(|timeout| Instant::now() + timeout);
        let mut desk = self.lock();
        while !ready(&desk) {
            let left = until.map_or(Duration::from_secs(3600), |until| until.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return None;
            }
            desk = self.changed.wait_timeout(desk, left).unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
        Some(desk)
    }
}

impl Worker {
    /// Starts the thread. It ends with the process: a call that never returns cannot be cancelled.
    pub fn start(stack: Arc<dyn Stack>) -> Self {
        let shared = Arc::new(Shared::default());
        let (sender, receiver) = std::sync::mpsc::channel();
        let theirs = Arc::clone(&shared);
        std::thread::spawn(move || {
            let _ = sender.send(thread_id());
            serve(&*stack, &theirs);
        });
        Self { shared, thread: receiver.recv().unwrap_or(0) }
    }

    /// Passes a call to the thread, and returns when the call sleeps or has returned.
    pub fn begin(&self, job: Job) {
        self.shared.put(Desk::Enqueued(Box::new(job)));
        drop(self.shared.await_desk(None, |desk| matches!(desk, Desk::Running | Desk::Done(_))));
        while matches!(*self.shared.lock(), Desk::Running) {
            std::thread::yield_now();
            if is_sleeping(self.thread) {
                return;
            }
        }
    }

    /// The call that has returned, if any. With `Wait::Some`, waits up to a second for a call in progress.
    ///
    /// # Errors
    /// The call has not returned.
    pub fn finished(&self, wait: Wait) -> Result<Option<Finished>, StillBlocked> {
        let timeout = if wait == Wait::Some { TIMEOUT } else { Duration::ZERO };
        let ready = |desk: &Desk| matches!(desk, Desk::Idle | Desk::Done(_));
        let Some(mut desk) = self.shared.await_desk(Some(timeout), ready) else { return Err(StillBlocked) };
        match std::mem::take(&mut *desk) {
            Desk::Done(finished) => Ok(Some(*finished)),
            _ => Ok(None),
        }
    }
}

/// Whether to wait for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Up to a second of real time.
    Some,
    /// Not at all.
    None,
}

/// A call is still in progress.
#[derive(Clone, Copy, Debug)]
pub struct StillBlocked;

fn serve(stack: &dyn Stack, shared: &Shared) {
    loop {
        let Some(mut desk) = shared.await_desk(None, |desk| matches!(desk, Desk::Enqueued(_))) else { continue };
        let Desk::Enqueued(job) = std::mem::replace(&mut *desk, Desk::Waiting) else { continue };
        drop(desk);
        let Job { clock, due, previous, mut call } = *job;
        if let Err(late) = clock.wait(stack, due, previous, "the call") {
            shared.put(Desk::Done(Box::new(Finished { call, returned: Err(late), at: stack.now() })));
            continue;
        }
        shared.put(Desk::Running);
        let returned = stack.perform(&mut call);
        // The stack may wait for this query before it lets time pass again: it marks the moment of the return.
        let at = stack.now();
        shared.put(Desk::Done(Box::new(Finished { call, returned: Ok(returned), at })));
    }
}

/// Whether the kernel reports that a thread of this process sleeps.
fn is_sleeping(thread: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/self/task/{thread}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, fields)| fields.starts_with('S'))
}
