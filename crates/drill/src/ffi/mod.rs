//! All `unsafe` code: calls through packetdrill's table of functions, and the system calls of the control.
//!
//! The safe side passes owned memory ([`crate::stack::Call`]); pointers into it live only for one call. A stack behind the table
//! is trusted to honour the contracts of the calls.
#![allow(unsafe_code)]

mod kernel;
mod linked;
mod perform;
mod system;

pub use kernel::Kernel;
pub use linked::Linked;
pub use system::{enter_namespace, open_tun, prefer_realtime, thread_id};
