//! Where and when runs were made: lines beside their results, which do not depend on any of it.

use crate::failure::Failure;
use lab::{Finished, Store};
use serde_json::{Value, json};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Notes that a command begins to make runs: its words, the program, the machine and the time.
///
/// # Errors
/// When it cannot be written.
pub fn began(store: &mut Store) -> Result<(), Failure> {
    let of_kernel = |name: &str| std::fs::read_to_string(format!("/proc/sys/kernel/{name}")).ok();
    let of_kernel = |name| of_kernel(name).map(|text| text.trim().to_owned());
    note(
        store,
        &json!({
            "event": "began",
            "at_s": seconds_since_1970(),
            "command": std::env::args().collect::<Vec<_>>(),
            "program": env!("CARGO_PKG_VERSION"),
            "checked": cfg!(debug_assertions),
            "host": of_kernel("hostname"),
            "system": std::env::consts::OS,
            "kernel": of_kernel("osrelease"),
            "processor": std::env::consts::ARCH,
            "processors": std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        }),
    )
}

/// Notes that it made them, and how long that took.
///
/// # Errors
/// When it cannot be written.
pub fn ended(store: &mut Store, finished: &Finished, took: Duration) -> Result<(), Failure> {
    let Finished { made, resumed, packets, jobs, .. } = finished;
    let (runs, known, seconds) = (made - finished.failures.len(), resumed, took.as_secs_f64());
    note(
        store,
        &json!({
            "event": "ended",
            "at_s": seconds_since_1970(),
            "took_s": seconds,
            "jobs": jobs,
            "runs": runs,
            "failed": finished.failures.len(),
            "known_before": known,
            "packets": packets,
        }),
    )
}

fn note(store: &mut Store, line: &Value) -> Result<(), Failure> {
    store.note_machine(&line.to_string()).map_err(|error| Failure::Failed(error.to_string()))
}

fn seconds_since_1970() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
