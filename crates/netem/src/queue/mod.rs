//! Queues: what a bottleneck keeps, what it refuses, and packets waiting for their time.

pub mod droptail;
pub(crate) mod timed;
