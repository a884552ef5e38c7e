//! The units shared by all crates: time, sequence numbers, byte counts, rates and a frozen random generator.
//!
//! This crate knows no protocol. Everything is an integer, so that the same inputs give the same bits on every machine and in
//! every build profile.
#![forbid(unsafe_code)]
#![deny(clippy::float_arithmetic, clippy::disallowed_methods, clippy::disallowed_types)]

mod rate;
mod rng;
mod seq;
mod time;
mod units;

pub use rate::{Rate, RateSample};
pub use rng::{Ratio, Rng};
pub use seq::{SeqNum, SeqRange};
pub use time::{Duration, Instant};
pub use units::Bytes;
