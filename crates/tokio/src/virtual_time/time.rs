//! The time of a world, and who waits for it.

use crate::clock::Clock;
use base::{Duration, Instant};
use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// A clock that stands still until [`super::World::run`] advances it. Clones show the same time, and each waits for one time of its own.
#[derive(Debug, Default)]
pub struct VirtualClock {
    shared: Arc<Mutex<Timers>>,
    /// The place of this clone's timer.
    timer: Option<(Instant, u64)>,
}

#[derive(Debug, Default)]
struct Timers {
    now: Instant,
    /// By time, and at one time in the order in which they were set.
    waiting: BTreeMap<(Instant, u64), Waker>,
    set: u64,
}

impl Clone for VirtualClock {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone(), timer: None }
    }
}

impl VirtualClock {
    fn lock(&self) -> MutexGuard<'_, Timers> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the present time.
    pub fn time(&self) -> Instant {
        self.lock().now
    }

    /// Waits for some time.
    pub fn sleep(&self, time: Duration) -> Sleep {
        Sleep { until: self.time() + time, clock: self.clone() }
    }

    /// Returns the time of the next timer.
    pub(super) fn next(&self) -> Option<Instant> {
        self.lock().waiting.first_key_value().map(|((at, _), _)| *at)
    }

    /// Advances to `at`, and wakes who waited for that.
    pub(super) fn advance(&self, at: Instant) {
        let mut timers = self.lock();
        let now = timers.now.max(at);
        timers.now = now;
        let later = timers.waiting.split_off(&(now, u64::MAX));
        let due = std::mem::replace(&mut timers.waiting, later);
        drop(timers);
        due.into_values().for_each(Waker::wake);
    }

    fn forget(&mut self) {
        if let Some(timer) = self.timer.take() {
            self.lock().waiting.remove(&timer);
        }
    }
}

impl Clock for VirtualClock {
    fn now(&mut self) -> Instant {
        self.time()
    }

    fn poll_until(&mut self, cx: &mut Context<'_>, at: Instant) -> Poll<io::Result<()>> {
        if self.time() >= at {
            self.forget();
            return Poll::Ready(Ok(()));
        }
        if self.timer.is_none_or(|(set, _)| set != at) {
            self.forget();
            let mut timers = self.lock();
            timers.set += 1;
            let place = (at, timers.set);
            drop(timers);
            self.timer = Some(place);
        }
        if let Some(place) = self.timer {
            self.lock().waiting.insert(place, cx.waker().clone());
        }
        Poll::Pending
    }
}

impl Drop for VirtualClock {
    fn drop(&mut self) {
        self.forget();
    }
}

/// Ends at a time.
#[derive(Debug)]
#[must_use = "nothing waits unless it is awaited"]
pub struct Sleep {
    until: Instant,
    clock: VirtualClock,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let until = self.until;
        self.clock.poll_until(cx, until).map(drop)
    }
}
