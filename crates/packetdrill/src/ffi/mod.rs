//! The C side: the exported function and the entry points behind the table. The only unsafe code of the crate.
//!
//! # Safety
//! packetdrill promises what POSIX promises of the calls of the same names: a buffer has the length that is given with it,
//! an address the length of its family, a message header points to its parts. Nothing here keeps a pointer beyond the call
//! that brought it. `userdata` is what the init function stored, and is not used after `free`.

use crate::abi::Interface;
use libc::c_char;

/// Fills packetdrill's table; called once per script.
///
/// # Safety
/// `interface` points to a writable table; `flags` is null or a string that ends in a zero octet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn packetdrill_interface_init(flags: *const c_char, interface: *mut Interface) {
    let _ = flags;
    // SAFETY: the caller's promise.
    unsafe { *interface = Interface::zeroed() };
}
