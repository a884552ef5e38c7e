//! Queues: what a bottleneck holds, what it drops, and packets that wait for a known time.

pub mod droptail;
pub(crate) mod timed;
