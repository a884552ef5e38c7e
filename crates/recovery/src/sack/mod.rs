//! The meaning of SACK blocks (RFC 2018, RFC 2883).

mod classify;

pub use classify::{BlockClass, BlockCx, ClassifyBlock, RejectReason, SackBlock, rfc2883};
