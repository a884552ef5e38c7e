//! Processors that have nothing to do sleep, and the deeper, the longer they take to wake up: some hundred microseconds on bare
//! metal, milliseconds where a host has to bring a virtual machine's processor back first.
//!
//! While a link runs, the kernel is asked for processors that wake up at once (the latency bound of its power management, which
//! lasts as long as its file is open). It costs the power of processors that only seem idle.

use std::fs::{File, OpenOptions};
use std::io::Write;

/// Takes the longest time that a processor may need to wake up, microseconds, as an integer of 32 bits.
const LATENCY_BOUND: &str = "/dev/cpu_dma_latency";

/// No deep sleep until this is dropped.
#[derive(Debug)]
pub(super) struct LightSleep {
    _bound: File,
}

impl LightSleep {
    /// Asks for it; `None` where the kernel does not have it or its file may not be written. Then packets are later.
    pub(super) fn new() -> Option<Self> {
        let mut bound = OpenOptions::new().write(true).open(LATENCY_BOUND).ok()?;
        bound.write_all(&0_i32.to_ne_bytes()).ok()?;
        Some(Self { _bound: bound })
    }
}
