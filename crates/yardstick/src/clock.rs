//! The machine's monotonic clock, which all its processes share.

use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};

/// Nanoseconds in a second.
pub(crate) const SECOND: u64 = 1_000_000_000;

/// The current wall-clock time, with which the kernel stamps received packets; in nanoseconds.
pub(crate) fn wall() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_REALTIME).expect("every kernel has a clock");
    nanos(time)
}

/// The nanoseconds of a time.
pub(crate) fn nanos(time: TimeSpec) -> u64 {
    time.tv_sec() as u64 * SECOND + time.tv_nsec() as u64
}

/// The current time, in nanoseconds since the machine started.
pub(crate) fn now() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("every kernel has a monotonic clock");
    nanos(time)
}
