//! Everything `unsafe`: calls through packetdrill's table of functions, and the system calls of the control.
//!
//! The safe side hands over owned memory ([`crate::stack::Call`]); pointers into it live for the one call only. A stack
//! behind the table is trusted to honour the calls' contracts: that is what it is for.
#![allow(unsafe_code)]

mod kernel;
mod linked;
mod perform;
mod system;

pub use kernel::Kernel;
pub use linked::Linked;
pub use system::{enter_namespace, open_tun, prefer_realtime, thread_id};
