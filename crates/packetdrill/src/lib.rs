//! packetdrill's shared object: socket calls and raw packets over [`tcp::Stack`], in virtual time.
//!
//! packetdrill loads the library, calls [`packetdrill_interface_init`] once per script and drives the stack through the
//! table it gets ([`abi::Interface`]). Everything unsafe — the exported function and the entry points that turn pointers
//! into slices — sits in `ffi`.
#![deny(unsafe_code)]

pub mod abi;
#[allow(unsafe_code, reason = "the C interface: pointers come in, slices go on")]
mod ffi;

#[cfg_attr(not(test), expect(dead_code, reason = "getsockopt calls it"))]
mod info;

pub use ffi::packetdrill_interface_init;
