//! Runs packetdrill-style conformance scripts: against a stack behind packetdrill's C interface in virtual time, and against
//! the kernel over a TUN device in real time as a control of the scripts themselves.
//!
//! [`script`] is the language, [`Engine`] runs a script against a [`stack::Stack`], [`run`] runs one file once in its own network
//! namespace, [`suite`] runs many of them in parallel in child processes.
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
