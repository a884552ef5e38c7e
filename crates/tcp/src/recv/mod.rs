//! The parts of the receive side: what has arrived, where it is stored, how much more may come, and what ACKs say about it.
//!
//! Each part owns one quantity and none owns a deadline: [`AckPolicy`] and [`AutoTune`] receive the time and return a decision.
//! `endpoint::receiver` composes them.

mod ack_policy;
mod assembler;
mod autotune;
mod buffer;
mod memory;
mod pages;
mod sack_gen;
mod window;

pub use ack_policy::{AckConfig, AckPace, AckTimer, QuickAgain};
pub use autotune::{DrsConfig, ReceiveWindowConfig, SteppedConfig, WindowLevel};

pub(crate) use ack_policy::{AckDecision, AckPolicy, Arriving, Surroundings};
pub(crate) use assembler::{Arrival, Assembler, BLOCK_BYTES};
pub(crate) use autotune::{AutoTune, Lent};
pub(crate) use buffer::ReceiveBuffer;
pub(crate) use memory::Memory;
pub(crate) use pages::PagePool;
pub(crate) use sack_gen::sack_blocks;
pub(crate) use window::ReceiveWindow;
