//! Linux's socket layer over [`tcp::Stack`], in virtual time: calls, options, the namespace's settings, raw packets. It is also the
//! shared object through which packetdrill drives the TCP.
//!
//! packetdrill loads the library, calls [`packetdrill_interface_init`] once per script and drives the stack through the
//! table it gets ([`abi::Interface`]). From the outside in: `ffi` turns pointers into slices and holds everything unsafe;
//! `waiting` and `calls` decide which thread waits for what and move the clock; `host` with `socket` and `netdev` is what
//! happens at one moment of virtual time.
//!
//! ```text
//! packetdrill --so_filename=$PWD/target/release/liblonghaul_packetdrill.so [--so_flags=FLAGS] script.pkt
//! ```
//! FLAGS are words with commas between them: `profile=NAME` (or the path of a profile's file; `linux` if not said), `mtu=N`
//! (else the device's), `local=ADDRESS` (where sockets that are not bound connect from), `trace=FILE` (the stack's events).
#![deny(unsafe_code)]

pub mod abi;
mod calls;
mod clock;
mod control_message;
mod cut;
mod descriptor;
mod device;
mod epoll;
#[allow(unsafe_code, reason = "the C interface: pointers come in, slices go on")]
mod ffi;
mod flags;
mod host;
mod info;
mod metrics;
mod netdev;
mod netlink;
mod options;
#[cfg(test)]
mod parity;
mod pipe;
mod queue;
mod reports;
mod settings;
mod socket;
mod sysctl;
mod waiting;
mod wakes;
mod watch;

pub use ffi::packetdrill_interface_init;
