//! TCP headers (RFC 9293 §3.1) and options.

mod fast_open;
mod options;
pub(crate) mod packet;
mod repr;

pub use fast_open::{Cookie, FastOpen, FastOpenKind, MAX_COOKIE};
pub use options::{MAX_SACK_BLOCKS, Options, SackBlocks, Timestamps};
pub use repr::{Flags, TcpRepr};
