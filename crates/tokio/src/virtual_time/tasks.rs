//! The tasks of a world: run one at a time, in the order in which they were woken.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Wake, Waker};

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What wakers and spawners reach.
#[derive(Default)]
struct Queue {
    /// Tasks to poll, by number.
    woken: VecDeque<usize>,
    /// Tasks that were started and not polled yet.
    started: Vec<Task>,
}

type SharedQueue = Arc<Mutex<Queue>>;

fn lock(queue: &SharedQueue) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts tasks.
#[derive(Clone)]
pub struct Spawner(SharedQueue);

impl fmt::Debug for Spawner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spawner").finish_non_exhaustive()
    }
}

impl Spawner {
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        lock(&self.0).started.push(Box::pin(task));
    }
}

/// Wakes one task; several wakes before it runs count as one.
struct TaskWaker {
    number: usize,
    is_woken: AtomicBool,
    queue: SharedQueue,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        if !self.is_woken.swap(true, Relaxed) {
            lock(&self.queue).woken.push_back(self.number);
        }
    }
}

/// All tasks; a number is not used twice.
#[derive(Default)]
pub struct Tasks {
    tasks: Vec<Option<(Task, Arc<TaskWaker>)>>,
    queue: SharedQueue,
    left: usize,
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks").field("left", &self.left).finish_non_exhaustive()
    }
}

impl Tasks {
    pub fn spawner(&self) -> Spawner {
        Spawner(self.queue.clone())
    }

    /// Returns how many tasks have not ended.
    pub fn len(&self) -> usize {
        self.left + lock(&self.queue).started.len()
    }

    /// Returns whether a task can run.
    pub fn can_run(&self) -> bool {
        let queue = lock(&self.queue);
        !queue.woken.is_empty() || !queue.started.is_empty()
    }

    /// Polls the tasks that were woken so far. Returns whether there were any.
    pub fn run(&mut self) -> bool {
        let mut queue = lock(&self.queue);
        let (started, mut woken) = (std::mem::take(&mut queue.started), std::mem::take(&mut queue.woken));
        drop(queue);
        for task in started {
            let number = self.tasks.len();
            let waker = TaskWaker { number, is_woken: AtomicBool::new(true), queue: self.queue.clone() };
            self.tasks.push(Some((task, Arc::new(waker))));
            self.left += 1;
            woken.push_back(number);
        }
        let any = !woken.is_empty();
        for number in woken {
            self.poll(number);
        }
        any
    }

    fn poll(&mut self, number: usize) {
        let Some((task, waker)) = self.tasks.get_mut(number).and_then(Option::as_mut) else { return };
        waker.is_woken.store(false, Relaxed);
        let waker = Waker::from(waker.clone());
        if task.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
            self.tasks[number] = None;
            self.left -= 1;
        }
    }

    /// Returns the flag of a task that is polled from elsewhere, set at first.
    pub fn wanted(&self) -> Wanted {
        Wanted(Arc::new(Flag(AtomicBool::new(true))))
    }
}

/// Whether a task that is polled from elsewhere was woken.
pub struct Wanted(Arc<Flag>);

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Relaxed);
    }
}

impl Wanted {
    pub fn take(&self) -> bool {
        self.0.0.swap(false, Relaxed)
    }

    pub fn is_set(&self) -> bool {
        self.0.0.load(Relaxed)
    }

    pub fn waker(&self) -> Waker {
        Waker::from(self.0.clone())
    }
}
