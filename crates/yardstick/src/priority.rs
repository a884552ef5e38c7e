//! Scheduling before other processes. The only module here with `unsafe`: `nix` does not know the call.
#![allow(unsafe_code)]

/// Gives this thread SCHED_FIFO. Returns whether it was allowed; without it, packets leave late on a busy machine, which
/// the lateness shows.
pub(crate) fn raise() -> bool {
    let parameters = libc::sched_param { sched_priority: 10 };
    // Timers of threads that are not in real time may be 50 µs late otherwise.
    let _ = nix::sys::prctl::set_timerslack(1);
    // SAFETY: the kernel reads a structure that outlives the call; zero names the calling thread.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) == 0 }
}
