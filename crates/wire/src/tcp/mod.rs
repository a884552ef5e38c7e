//! TCP headers (RFC 9293 §3.1) and options.

mod options;
pub(crate) mod packet;
mod repr;

pub use options::{MAX_SACK_BLOCKS, Options, SackBlocks, Timestamps};
pub use repr::{Flags, TcpRepr};
