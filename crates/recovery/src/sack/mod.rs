//! The meaning of SACK blocks (RFC 2018, RFC 2883).

mod classify;
#[cfg(test)]
pub(crate) mod every_block;

pub use classify::{BlockClass, BlockCx, ClassifyBlock, RejectReason, SackBlock, rfc2883};
