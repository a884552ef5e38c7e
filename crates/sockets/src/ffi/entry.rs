//! How every entry point begins and ends: the plugin behind `userdata`, and POSIX's answer.

use crate::waiting::Plugin;
use libc::{c_int, c_void, ssize_t};
use nix::errno::Errno;

/// The plugin behind `userdata`.
///
/// # Safety
/// `userdata` is what the init function stored, and `free` has not been called.
pub(super) unsafe fn plugin<'a>(userdata: *mut c_void) -> &'a Plugin {
    // SAFETY: the caller's promise.
    unsafe { &*userdata.cast::<Plugin>() }
}

/// POSIX's return value of a call that returns a small number.
pub(super) fn number(result: Result<c_int, Errno>) -> c_int {
    result.unwrap_or_else(|error| {
        error.set();
        -1
    })
}

/// POSIX's return value of a call that returns nothing.
pub(super) fn status(result: Result<(), Errno>) -> c_int {
    number(result.map(|()| 0))
}

/// POSIX's return value of a call that moves bytes; no buffer is larger than the type can represent.
pub(super) fn count(result: Result<usize, Errno>) -> ssize_t {
    match result {
        Ok(len) => len as ssize_t,
        Err(error) => {
            error.set();
            -1
        }
    }
}
