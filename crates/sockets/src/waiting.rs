//! Two threads and one clock.
//!
//! packetdrill's main thread runs a script's events and advances the clock; calls that may block run on a second thread, which
//! sleeps on the condition variable here until something has happened. Because time is virtual, main could run far ahead while a
//! released call is still returning. Hence a hand-over ([`Sleeper`]): after each change main lets the sleeper check, and before
//! advancing the clock it waits until a released call has read its end time.
//!
//! A call on main never waits for another thread: if it would block, only timers are run for it.

use crate::flags::Flags;
use crate::host::Host;
use base::{Duration, Instant};
use nix::errno::Errno;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::thread::{self, ThreadId};

/// How far ahead a call on main looks for something to happen: longer than any timer of the protocol runs, keep-alive's two
/// hours included.
const HORIZON: Duration = Duration::from_secs(4 * 3_600);
/// How long main waits for a released call to read its end time, in real time: effectively indefinitely for packetdrill, which
/// reads it at once. A program that does not read it must not hang.
const END_TIME_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(1);

/// What `userdata` points to.
#[derive(Debug)]
pub(crate) struct Plugin {
    shared: Mutex<Shared>,
    changed: Condvar,
    main: ThreadId,
}

#[derive(Debug)]
struct Shared {
    host: Host,
    sleeper: Sleeper,
}

/// The second thread, as main sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sleeper {
    /// No call sleeps.
    Absent,
    /// A call sleeps, until this moment at the latest.
    Asleep { until: Option<Instant> },
    /// Something has happened, and it is about to check.
    Called,
    /// It is returning and has not read its end time yet.
    Returning,
}

/// How long a call waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Not at all.
    None,
    /// For this long.
    For(Duration),
    /// As long as it takes.
    Endless,
}

type Locked<'a> = MutexGuard<'a, Shared>;

impl Plugin {
    /// Treats the current thread as main.
    pub fn new(flags: Flags) -> Self {
        Self::with_host(Host::new(flags))
    }

    /// As [`Self::new`], with an existing host.
    pub fn with_host(host: Host) -> Self {
        let shared = Mutex::new(Shared { host, sleeper: Sleeper::Absent });
        Self { shared, changed: Condvar::new(), main: thread::current().id() }
    }

    fn is_main(&self) -> bool {
        thread::current().id() == self.main
    }

    /// If one thread panics, the other can still report on the state; this crate has no better way to handle it.
    fn lock(&self) -> Locked<'_> {
        self.shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn wait<'a>(&self, locked: Locked<'a>) -> Locked<'a> {
        self.changed.wait(locked).unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// A call that does not block.
    pub fn call<T>(&self, work: impl FnOnce(&mut Host) -> T) -> T {
        let mut locked = self.lock();
        locked.host.begin();
        let result = work(&mut locked.host);
        locked.host.drive(None);
        drop(self.wake_sleeper(locked));
        result
    }

    /// A blocking call: repeats `attempt` while it returns `EAGAIN`, for as long as `wait` allows.
    ///
    /// # Errors
    /// The errors of `attempt`; `EAGAIN` when the time is up.
    pub fn call_blocking<T>(
        &self,
        wait: impl FnOnce(&Host) -> Wait,
        attempt: impl FnMut(&mut Host) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let mut locked = self.lock();
        locked.host.begin();
        let until = match wait(&locked.host) {
            Wait::None => Some(locked.host.now()),
            Wait::For(time) => Some(locked.host.now() + time),
            Wait::Endless => None,
        };
        if self.is_main() { self.try_on_main(locked, until, attempt) } else { self.sleep(locked, until, attempt) }
    }

    /// Waiting on main: no other thread advances the clock, so main runs the timers itself until the call succeeds.
    fn try_on_main<T>(
        &self,
        mut locked: Locked<'_>,
        until: Option<Instant>,
        mut attempt: impl FnMut(&mut Host) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let end = until.unwrap_or(locked.host.now() + HORIZON);
        loop {
            let result = attempt(&mut locked.host);
            locked.host.drive(None);
            locked = self.wake_sleeper(locked);
            if !matches!(result, Err(Errno::EAGAIN)) || locked.host.now() >= end {
                return result;
            }
            let next = next_event(&locked).filter(|at| *at < end);
            if next.is_none() && until.is_none() {
                // Nothing will ever release it.
                return result;
            }
            locked = self.step(locked, next.unwrap_or(end));
        }
    }

    /// Waiting on the second thread: it sleeps while main advances the clock.
    fn sleep<T>(
        &self,
        mut locked: Locked<'_>,
        until: Option<Instant>,
        mut attempt: impl FnMut(&mut Host) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let mut slept = false;
        let result = loop {
            let result = attempt(&mut locked.host);
            locked.host.drive(None);
            let over = until.is_some_and(|until| locked.host.now() >= until);
            if !matches!(result, Err(Errno::EAGAIN)) || over {
                break result;
            }
            slept = true;
            let asleep = Sleeper::Asleep { until };
            locked.sleeper = asleep;
            self.changed.notify_all();
            while locked.sleeper == asleep {
                locked = self.wait(locked);
            }
        };
        if slept {
            locked.sleeper = Sleeper::Returning;
            self.changed.notify_all();
        }
        result
    }

    /// Something has changed: the sleeper checks whether its call can continue, and main goes on after that.
    fn wake_sleeper<'a>(&self, mut locked: Locked<'a>) -> Locked<'a> {
        if self.is_main() && matches!(locked.sleeper, Sleeper::Asleep { .. }) {
            locked.sleeper = Sleeper::Called;
            self.changed.notify_all();
            while locked.sleeper == Sleeper::Called {
                locked = self.wait(locked);
            }
        }
        locked
    }

    /// Waits for a released call to read its end time, because the clock may not advance before that.
    fn let_returning_pass<'a>(&self, mut locked: Locked<'a>) -> Locked<'a> {
        let deadline = std::time::Instant::now() + END_TIME_TIMEOUT;
        while locked.sleeper == Sleeper::Returning {
            let left = deadline.saturating_duration_since(std::time::Instant::now());
            if left.is_zero() {
                locked.sleeper = Sleeper::Absent;
                break;
            }
            locked = self.changed.wait_timeout(locked, left).unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        }
        locked
    }

    /// Advances the clock to `to`; no event is due before that moment.
    fn step<'a>(&self, locked: Locked<'a>, to: Instant) -> Locked<'a> {
        let mut locked = self.let_returning_pass(locked);
        locked.host.clock.advance(to);
        locked.host.drive(None);
        self.wake_sleeper(locked)
    }

    /// Advances the clock to `to`, handling every event on the way at its own time.
    fn advance<'a>(&self, mut locked: Locked<'a>, to: Instant) -> Locked<'a> {
        while let Some(at) = next_event(&locked).filter(|at| *at <= to) {
            locked = self.step(locked, at);
        }
        if locked.host.now() < to {
            locked = self.step(locked, to);
        }
        locked
    }

    /// `gettimeofday`, in microseconds since 1970. Each call takes a tick, on the second thread as well: there packetdrill polls
    /// the clock until a blocking call is to begin. Only a released call reads its end time without a tick.
    pub fn time_of_day(&self) -> i64 {
        let mut locked = self.lock();
        if !self.is_main() && locked.sleeper == Sleeper::Returning {
            locked.sleeper = Sleeper::Absent;
            self.changed.notify_all();
        } else {
            locked = self.let_returning_pass(locked);
            if let Some(to) = locked.host.clock.tick() {
                locked = self.advance(locked, to);
            }
        }
        locked.host.clock.wall_us(locked.host.now())
    }

    /// `usleep`.
    pub fn sleep_for(&self, time: Duration) {
        let mut locked = self.lock();
        locked.host.begin();
        locked.host.send_what_others_wrote();
        locked.host.drive(None);
        let to = locked.host.now() + time;
        drop(self.advance(locked, to));
    }

    /// A packet arrives.
    pub fn netdev_send(&self, bytes: &[u8]) {
        let mut locked = self.let_returning_pass(self.lock());
        locked.host.begin();
        locked.host.send_what_others_wrote();
        locked.host.arrive(bytes);
        drop(self.wake_sleeper(locked));
    }

    /// The next packet with the moment it was sent; time passes until one is sent. Nothing when none will be, as far as can
    /// be seen.
    pub fn netdev_receive(&self) -> Option<(Vec<u8>, i64)> {
        let mut locked = self.lock();
        locked.host.begin();
        locked.host.send_what_others_wrote();
        locked.host.drive(None);
        let horizon = locked.host.now() + HORIZON;
        loop {
            // A released call may still send a packet at this moment.
            locked = self.let_returning_pass(locked);
            if let Some(packet) = locked.host.fetch() {
                return Some(packet);
            }
            let at = next_event(&locked).filter(|at| *at <= horizon)?;
            locked = self.step(locked, at);
        }
    }
}

/// The next event: a timer of the stack's, or the end of a sleeper's wait.
fn next_event(locked: &Locked<'_>) -> Option<Instant> {
    let wait = match locked.sleeper {
        Sleeper::Asleep { until } => until,
        _ => None,
    };
    locked.host.next_deadline().into_iter().chain(wait).min()
}
