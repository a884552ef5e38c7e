//! The clock seam, and the machine's own clock behind it.

use base::Instant;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// The events for which the loop waits, in addition to time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// A packet to read.
    Readable,
    /// A packet to read, or room to write one.
    ReadableOrWritable,
}

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// The device may be ready, or the deadline has passed.
    Serve,
    /// The program was asked to end.
    Stop,
}

/// Provides the time and waits.
pub trait Clock {
    /// Returns the current time; never earlier than a previous result.
    fn now(&mut self) -> Instant;
    /// Waits until `fd` is ready or `until` has come; may return early.
    ///
    /// # Errors
    /// If waiting itself fails.
    fn wait(&mut self, fd: BorrowedFd<'_>, interest: Interest, until: Option<Instant>) -> io::Result<Wake>;
}

/// CLOCK_MONOTONIC, and `ppoll(2)` to wait by it.
#[derive(Debug, Default)]
pub struct MonotonicClock {
    signals: Option<SignalFd>,
}

impl MonotonicClock {
    /// A clock whose waits end with [`Wake::Stop`] when SIGINT or SIGTERM arrives.
    ///
    /// Both signals are blocked in the calling thread and in those it starts later: create the clock before any other thread.
    ///
    /// # Errors
    /// If the signals cannot be redirected.
    pub fn with_signals() -> io::Result<Self> {
        let stop: SigSet = [Signal::SIGINT, Signal::SIGTERM].into_iter().collect();
        stop.thread_block()?;
        let signals = SignalFd::with_flags(&stop, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
        Ok(Self { signals: Some(signals) })
    }
}

impl Clock for MonotonicClock {
    fn now(&mut self) -> Instant {
        let time = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("every kernel has a monotonic clock");
        Instant::from_nanos(time.tv_sec() as u64 * NANOS_PER_SEC + time.tv_nsec() as u64)
    }

    fn wait(&mut self, fd: BorrowedFd<'_>, interest: Interest, until: Option<Instant>) -> io::Result<Wake> {
        let timeout = until.map(|until| {
            let left = until.since(self.now()).as_nanos();
            TimeSpec::new((left / NANOS_PER_SEC) as i64, (left % NANOS_PER_SEC) as i64)
        });
        let events = match interest {
            Interest::Readable => PollFlags::POLLIN,
            Interest::ReadableOrWritable => PollFlags::POLLIN | PollFlags::POLLOUT,
        };
        let device = PollFd::new(fd, events);
        let polled = match &self.signals {
            Some(signals) => {
                let mut fds = [device, PollFd::new(signals.as_fd(), PollFlags::POLLIN)];
                ppoll(&mut fds, timeout, None).map(|_| fds[1].any() == Some(true))
            }
            None => ppoll(&mut [device], timeout, None).map(|_| false),
        };
        match polled {
            Ok(true) => Ok(Wake::Stop),
            Ok(false) | Err(Errno::EINTR) => Ok(Wake::Serve),
            Err(errno) => Err(errno.into()),
        }
    }
}

const NANOS_PER_SEC: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use base::Duration;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_wait_lasts_until_its_deadline_when_nothing_comes() {
        let (quiet, _peer) = UnixStream::pair().unwrap();
        let mut clock = MonotonicClock::default();
        let until = clock.now() + Duration::from_millis(2);
        assert_eq!(clock.wait(quiet.as_fd(), Interest::Readable, Some(until)).unwrap(), Wake::Serve);
        assert!(clock.now() >= until);
    }

    #[test]
    fn a_wait_without_a_deadline_ends_when_something_comes() {
        let (ready, mut peer) = UnixStream::pair().unwrap();
        peer.write_all(b"x").unwrap();
        let wake = MonotonicClock::default().wait(ready.as_fd(), Interest::Readable, None);
        assert_eq!(wake.unwrap(), Wake::Serve);
    }

    #[test]
    fn a_request_to_end_ends_the_wait() {
        // Blocked in this thread only, and sent to this thread only.
        let mut clock = MonotonicClock::with_signals().unwrap();
        nix::sys::signal::raise(Signal::SIGTERM).unwrap();
        let (quiet, _peer) = UnixStream::pair().unwrap();
        assert_eq!(clock.wait(quiet.as_fd(), Interest::Readable, None).unwrap(), Wake::Stop);
    }
}
