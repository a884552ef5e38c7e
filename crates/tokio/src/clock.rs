//! The clocks that a driver can run by.

use base::{Duration, Instant};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Provides the time and waits for it.
pub trait Clock: Send + 'static {
    /// Returns the current time; never earlier than a previous result. The origin is the clock's own.
    fn now(&mut self) -> Instant;

    /// Waits until `at`; may end early, and remembers only the last task.
    ///
    /// # Errors
    /// If waiting itself fails; the driver then ends with the error.
    fn poll_until(&mut self, cx: &mut Context<'_>, at: Instant) -> Poll<io::Result<()>>;
}

/// The machine's monotonic clock; the default. On Linux a timer of the kernel ends its waits, some tens of microseconds late. Elsewhere
/// tokio's timer does, which is up to a millisecond late.
#[derive(Debug)]
pub struct SystemClock {
    origin: std::time::Instant,
    timer: timer::Timer,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self { origin: std::time::Instant::now(), timer: timer::Timer::default() }
    }
}

impl Clock for SystemClock {
    fn now(&mut self) -> Instant {
        Instant::from_nanos(nanos(self.origin.elapsed()))
    }

    fn poll_until(&mut self, cx: &mut Context<'_>, at: Instant) -> Poll<io::Result<()>> {
        let left = at.since(self.now());
        if left == Duration::ZERO { Poll::Ready(Ok(())) } else { self.timer.poll(cx, at, left) }
    }
}

/// tokio's clock, which a test can pause: time then advances to the next timer whenever every task waits. Timers are rounded up to
/// milliseconds, so that the order of events is meaningful and their exact time is not.
#[derive(Debug)]
pub struct TokioClock {
    origin: tokio::time::Instant,
    sleep: Option<Pin<Box<tokio::time::Sleep>>>,
}

impl TokioClock {
    /// A clock that begins now; to be called where tokio's time runs.
    pub fn new() -> Self {
        Self { origin: tokio::time::Instant::now(), sleep: None }
    }
}

impl Default for TokioClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TokioClock {
    fn now(&mut self) -> Instant {
        Instant::from_nanos(nanos(self.origin.elapsed()))
    }

    fn poll_until(&mut self, cx: &mut Context<'_>, at: Instant) -> Poll<io::Result<()>> {
        let until = self.origin + std::time::Duration::from_nanos(at.since(Instant::ZERO).as_nanos());
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
        if sleep.deadline() != until {
            sleep.as_mut().reset(until);
        }
        sleep.as_mut().poll(cx).map(Ok)
    }
}

/// Nanoseconds of a duration; 64 bits last for 584 years.
fn nanos(of: std::time::Duration) -> u64 {
    u64::try_from(of.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(target_os = "linux")]
mod timer {
    use crate::device::watch;
    use base::{Duration, Instant};
    use nix::sys::time::TimeSpec;
    use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
    use std::io;
    use std::os::fd::{AsFd, OwnedFd};
    use std::task::{Context, Poll, ready};
    use tokio::io::unix::AsyncFd;

    /// A descriptor timer, set only when it would ring too late: of deadlines that move on, most are never waited for.
    #[derive(Debug, Default)]
    pub struct Timer {
        fd: Option<(TimerFd, AsyncFd<OwnedFd>)>,
        /// When it rings.
        set: Option<Instant>,
    }

    impl Timer {
        /// Waits until `at`, which is `left` from now; may end early.
        pub fn poll(&mut self, cx: &mut Context<'_>, at: Instant, left: Duration) -> Poll<io::Result<()>> {
            let (fd, watched) = match &mut self.fd {
                Some(both) => both,
                empty => empty.insert(create()?),
            };
            if self.set.is_none_or(|set| set > at) {
                let left = std::time::Duration::from_nanos(left.as_nanos());
                fd.set(Expiration::OneShot(TimeSpec::from(left)), TimerSetTimeFlags::empty())?;
                self.set = Some(at);
            }
            let mut rang = ready!(watched.poll_read_ready(cx))?;
            // Reading resets it. A timer that was set anew since has nothing to read, and rings again.
            let _ = fd.wait();
            rang.clear_ready();
            self.set = None;
            Poll::Ready(Ok(()))
        }
    }

    fn create() -> io::Result<(TimerFd, AsyncFd<OwnedFd>)> {
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let fd = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
        let watched = watch(fd.as_fd())?;
        Ok((fd, watched))
    }
}

#[cfg(not(target_os = "linux"))]
mod timer {
    use base::{Duration, Instant};
    use std::future::Future;
    use std::io;
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use tokio::time::{Sleep, sleep};

    /// tokio's timer.
    #[derive(Debug, Default)]
    pub struct Timer {
        sleep: Option<(Instant, Pin<Box<Sleep>>)>,
    }

    impl Timer {
        /// Waits until `at`, which is `left` from now.
        pub fn poll(&mut self, cx: &mut Context<'_>, at: Instant, left: Duration) -> Poll<io::Result<()>> {
            let left = std::time::Duration::from_nanos(left.as_nanos());
            let (set, rings) = self.sleep.get_or_insert_with(|| (at, Box::pin(sleep(left))));
            if *set != at {
                *set = at;
                rings.as_mut().reset(tokio::time::Instant::now() + left);
            }
            rings.as_mut().poll(cx).map(Ok)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;

    async fn wait(clock: &mut dyn Clock, at: Instant) {
        while clock.now() < at {
            poll_fn(|cx| clock.poll_until(cx, at)).await.unwrap();
        }
    }

    #[tokio::test]
    async fn the_machine_s_clock_waits_again_for_an_earlier_and_for_a_later_time() {
        let mut clock = SystemClock::default();
        let from = clock.now();
        let far = from + Duration::from_secs(3_600);
        assert!(poll_fn(|cx| Poll::Ready(clock.poll_until(cx, far))).await.is_pending());
        for millis in [3, 5] {
            wait(&mut clock, from + Duration::from_millis(millis)).await;
        }
        assert!(clock.now() < far);
    }

    #[tokio::test(start_paused = true)]
    async fn a_paused_clock_advances_when_every_task_waits() {
        let mut clock = TokioClock::new();
        let until = Instant::ZERO + Duration::from_secs(86_400);
        wait(&mut clock, until).await;
        assert_eq!(clock.now(), until);
    }
}
