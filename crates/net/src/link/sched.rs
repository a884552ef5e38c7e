//! Raises the priority of a thread: SCHED_DEADLINE if permitted, otherwise SCHED_FIFO.
//!
//! An ordinary thread waits behind other work. The kernel's server for ordinary threads suspends a SCHED_FIFO thread for up to 50
//! ms per second, but not a SCHED_DEADLINE thread, as long as that leaves a part of each period.
//!
//! With `kernel.rs` one of the two modules of the crate with `unsafe`: neither the standard library nor `nix` has the calls.
#![allow(unsafe_code)]

use libc::{SCHED_FLAG_RESET_ON_FORK, SYS_sched_getattr, SYS_sched_setattr, c_long, c_uint, sched_attr, syscall};

/// How a thread is scheduled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheduling {
    /// SCHED_DEADLINE: a part of every period is reserved for it.
    Deadline,
    /// SCHED_FIFO: before ordinary threads, but suspended for them at times.
    Fifo,
    /// As any other thread.
    #[default]
    Ordinary,
}

impl Scheduling {
    /// Returns a word for reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Deadline => "deadline",
            Self::Fifo => "fifo",
            Self::Ordinary => "ordinary",
        }
    }
}

/// A thread's demand for processor time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// Almost a whole processor: 4.5 of every 5 ms.
    Link,
    /// Less than half, so that a link and the stacks at both of its ends fit on two processors: 0.45 of every millisecond. The
    /// period is short because a thread that has used up its part waits for the rest of it, and congestion controls react to a
    /// gap of 2 ms between acknowledgements.
    Stack,
}

impl Share {
    /// Returns what SCHED_DEADLINE guarantees, and in which period, in nanoseconds.
    const fn runtime_and_period(self) -> (u64, u64) {
        match self {
            Self::Link => (4_500_000, 5_000_000),
            Self::Stack => (450_000, 1_000_000),
        }
    }
}

/// In the middle of SCHED_FIFO's range of 1 to 99: behind the kernel's own threads.
const FIFO_PRIORITY: u32 = 50;

/// The calling thread's raised priority, released on drop.
#[derive(Debug)]
pub struct Raised {
    before: sched_attr,
    now: Scheduling,
}

impl Raised {
    /// Raises the calling thread as far as permitted.
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
        // If other threads have reserved most of the processors, half is better than being suspended; in short periods, since
        // half of a long one would be a long wait.
        let now = if set(&deadline(most, period)) || set(&deadline(most / 10, period / 5)) {
            Scheduling::Deadline
        } else if set(&fifo) {
            Scheduling::Fifo
        } else {
            Scheduling::Ordinary
        };
        Self { before, now }
    }

    /// Returns its current scheduling.
    pub fn now(&self) -> Scheduling {
        self.now
    }
}

impl Drop for Raised {
    fn drop(&mut self) {
        set(&self.before);
    }
}

/// Makes threads that this one starts ordinary: SCHED_DEADLINE cannot be inherited.
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

/// Returns whether the kernel accepted.
fn set(attributes: &sched_attr) -> bool {
    // SAFETY: the kernel reads `size` bytes from a structure of that size, which outlives the call.
    unsafe { syscall(SYS_sched_setattr, THIS_THREAD, std::ptr::from_ref(attributes), NO_FLAGS) == 0 }
}

fn get() -> sched_attr {
    let mut attributes = ordinary();
    let size = size_of::<sched_attr>() as c_uint;
    // SAFETY: the kernel writes at most `size` bytes into a structure of that size, which outlives the call.
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
        // A raised thread starts ordinary threads.
        let child = std::thread::spawn(|| get().sched_policy).join().unwrap();
        assert_eq!(child, libc::SCHED_OTHER as u32);
        drop(raised);
        assert_eq!(get().sched_policy, before.sched_policy);
    }
}
