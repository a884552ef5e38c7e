//! Real-time scheduling. The only module here with `unsafe`: `nix` does not offer the call.
#![allow(unsafe_code)]

/// Gives this thread SCHED_FIFO. Returns whether it was allowed; without it, packets leave late on a busy machine, which
/// the lateness shows.
pub(crate) fn raise() -> bool {
    let parameters = libc::sched_param { sched_priority: 10 };
    // Timers of threads without real-time scheduling may otherwise be 50 µs late.
    let _ = nix::sys::prctl::set_timerslack(1);
    // SAFETY: the kernel reads a structure that outlives the call; zero means the calling thread.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) == 0 }
}
