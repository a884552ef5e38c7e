//! Runs packetdrill-style conformance scripts: against a stack behind packetdrill's C interface in virtual time, and against
//! the kernel over a TUN device in real time as a control of the scripts themselves.
//!
//! [`script`] is the language, [`Engine`] runs it against a [`stack::Stack`], [`run`] makes one run of a file in a network
//! namespace of its own, [`suite`] many of them side by side in child processes.
#![deny(unsafe_code)]

pub mod code;
pub mod config;
mod engine;
pub mod ffi;
pub mod packet;
pub mod run;
pub mod script;
pub mod stack;
pub mod suite;
mod symbols;

pub use engine::{Engine, Failure};
