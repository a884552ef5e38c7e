//! Idle processors sleep, and the deeper they sleep, the longer they take to wake up: some hundred microseconds on bare metal,
//! milliseconds where a host first has to schedule a virtual machine's processor.
//!
//! While a link runs, it asks the kernel for processors that wake up at once (the latency bound of its power management, which
//! applies as long as its file is open). This costs the power of processors that only seem idle.

use std::fs::{File, OpenOptions};
use std::io::Write;

/// Accepts the longest time that a processor may need to wake up, in microseconds, as a 32-bit integer.
const LATENCY_BOUND: &str = "/dev/cpu_dma_latency";

/// No deep sleep until this is dropped.
#[derive(Debug)]
pub(super) struct LightSleep {
    _bound: File,
}

impl LightSleep {
    /// Requests it; returns `None` if the kernel lacks the file or does not permit writing it. Then packets are later.
    pub(super) fn new() -> Option<Self> {
        let mut bound = OpenOptions::new().write(true).open(LATENCY_BOUND).ok()?;
        bound.write_all(&0_i32.to_ne_bytes()).ok()?;
        Some(Self { _bound: bound })
    }
}
