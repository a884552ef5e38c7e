//! A place in front of the queue for a processor: SCHED_DEADLINE where it is permitted, SCHED_FIFO where only that is.
//!
//! An ordinary thread waits its turn behind whatever else runs. One under SCHED_FIFO is put aside for up to 50 ms a second by
//! the kernel's server for ordinary threads; one under SCHED_DEADLINE is not, as long as it leaves a part of each period.
//!
//! With `kernel.rs` one of the two modules of the crate with `unsafe`: neither the standard library nor `nix` has the calls.
#![allow(unsafe_code)]

use libc::{SCHED_FLAG_RESET_ON_FORK, SYS_sched_getattr, SYS_sched_setattr, c_long, c_uint, sched_attr, syscall};

/// How a thread is scheduled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheduling {
    /// SCHED_DEADLINE: a part of every period is its own.
    Deadline,
    /// SCHED_FIFO: before ordinary threads, but put aside for them at times.
    Fifo,
    /// As any other thread.
    #[default]
    Ordinary,
}

impl Scheduling {
    /// A word for reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Deadline => "deadline",
            Self::Fifo => "fifo",
            Self::Ordinary => "ordinary",
        }
    }
}

/// What a thread needs of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// Almost all of one: 4.5 of every 5 ms.
    Link,
    /// Less than half, so that a link and the stacks at both of its ends have room on two processors: 0.45 of every
    /// millisecond. The period is short because who has used up its part waits for the rest of it, and congestion controls
    /// take a gap of 2 ms between acknowledgements for news.
    Stack,
}

impl Share {
    /// What SCHED_DEADLINE promises, and in which period, nanoseconds.
    const fn runtime_and_period(self) -> (u64, u64) {
        match self {
            Self::Link => (4_500_000, 5_000_000),
            Self::Stack => (450_000, 1_000_000),
        }
    }
}

/// In the middle of SCHED_FIFO's 1 to 99: behind what the kernel itself runs there.
const FIFO_PRIORITY: u32 = 50;

/// The calling thread's place in front, given up when dropped.
#[derive(Debug)]
pub struct Raised {
    before: sched_attr,
    now: Scheduling,
}

impl Raised {
    /// Raises the calling thread as far as it may be raised.
    pub fn new(share: Share) -> Self {
        let before = get();
        let (most, period) = share.runtime_and_period();
        let deadline = |runtime, period| sched_attr {
            sched_policy: libc::SCHED_DEADLINE as u32,
            sched_runtime: runtime,
            sched_deadline: period,
            sched_period: period,
            ..ordinary()
        };
        let fifo = sched_attr { sched_policy: libc::SCHED_FIFO as u32, sched_priority: FIFO_PRIORITY, ..ordinary() };
        // Where others have most of the processors' time already, half is better than to be put aside; in short periods, since
        // half of a long one is a long time to wait.
        let now = if set(&deadline(most, period)) || set(&deadline(most / 10, period / 5)) {
            Scheduling::Deadline
        } else if set(&fifo) {
            Scheduling::Fifo
        } else {
            Scheduling::Ordinary
        };
        Self { before, now }
    }

    /// How it is scheduled now.
    pub fn now(&self) -> Scheduling {
        self.now
    }
}

impl Drop for Raised {
    fn drop(&mut self) {
        set(&self.before);
    }
}

/// Threads that this one starts are ordinary: SCHED_DEADLINE cannot be inherited.
fn ordinary() -> sched_attr {
    sched_attr {
        size: size_of::<sched_attr>() as u32,
        sched_policy: libc::SCHED_OTHER as u32,
        sched_flags: SCHED_FLAG_RESET_ON_FORK as u64,
        sched_nice: 0,
        sched_priority: 0,
        sched_runtime: 0,
        sched_deadline: 0,
        sched_period: 0,
    }
}

const THIS_THREAD: c_long = 0;
const NO_FLAGS: c_uint = 0;

/// Whether the kernel agreed.
fn set(attributes: &sched_attr) -> bool {
    // SAFETY: the kernel reads `size` bytes from a structure that is that long and outlives the call.
    unsafe { syscall(SYS_sched_setattr, THIS_THREAD, std::ptr::from_ref(attributes), NO_FLAGS) == 0 }
}

fn get() -> sched_attr {
    let mut attributes = ordinary();
    let size = size_of::<sched_attr>() as c_uint;
    // SAFETY: the kernel writes at most `size` bytes into a structure that is that long and outlives the call.
    let done = unsafe { syscall(SYS_sched_getattr, THIS_THREAD, std::ptr::from_mut(&mut attributes), size, NO_FLAGS) };
    if done == 0 { attributes } else { ordinary() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_gets_its_old_place_back() {
        let before = get();
        let raised = Raised::new(Share::Link);
        let policy = match raised.now() {
            Scheduling::Deadline => libc::SCHED_DEADLINE,
            Scheduling::Fifo => libc::SCHED_FIFO,
            Scheduling::Ordinary => before.sched_policy as i32,
        };
        assert_eq!(get().sched_policy, policy as u32);
        // What a raised thread starts is ordinary.
        let child = std::thread::spawn(|| get().sched_policy).join().unwrap();
        assert_eq!(child, libc::SCHED_OTHER as u32);
        drop(raised);
        assert_eq!(get().sched_policy, before.sched_policy);
    }
}
