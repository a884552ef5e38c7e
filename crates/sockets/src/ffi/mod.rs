//! The C side: the exported function and the entry points behind the table. The only unsafe code of the crate.
//!
//! Each entry point turns pointers into slices, calls [`Plugin`], and converts the result to POSIX's convention: a number, or -1
//! with the error in the calling thread's `errno`.
//!
//! # Safety
//! packetdrill promises what POSIX promises of the calls of the same names: a buffer has the length that is given with it,
//! an address the length of its family, a message header points to its parts. Nothing here keeps a pointer beyond the call
//! that brought it. `userdata` is what the init function stored, and is not used after `free`. Calls may come from two
//! threads; what they share is behind a lock.

mod device;
mod entry;
pub(crate) mod ethtool;
mod memory;
mod ready;
mod sockets;
mod transfer;

use crate::abi::{FcntlFn, Interface, IoctlFn};
use crate::flags::Flags;
use crate::waiting::Plugin;
use libc::{c_char, c_int, c_ulong, c_void};
use std::ffi::CStr;
use std::mem::transmute;

// Two threads call, so what they share must be `Send` and `Sync`; the compiler cannot check this through `userdata`.
const _: () = {
    const fn shared_between_threads<T: Send + Sync>() {}
    shared_between_threads::<Plugin>();
};

/// A function that C declares with `...`, as defined here: its last parameter takes the place of the first variadic argument,
/// which is passed in the same register where packetdrill runs. Without a variadic argument its value is arbitrary.
type FixedFcntl = unsafe extern "C" fn(*mut c_void, c_int, c_int, usize) -> c_int;
type FixedIoctl = unsafe extern "C" fn(*mut c_void, c_int, c_ulong, usize) -> c_int;

/// Fills packetdrill's table; called once per script, on the thread that will run the script's events.
///
/// # Safety
/// `interface` points to a writable table; `flags` is null or a string that ends in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn packetdrill_interface_init(flags: *const c_char, interface: *mut Interface) {
    // SAFETY: the caller's promise.
    let text = if flags.is_null() { c"" } else { unsafe { CStr::from_ptr(flags) } };
    let flags = Flags::read(&text.to_string_lossy(), &mut |complaint| eprintln!("longhaul: {complaint}"));
    let userdata = Box::into_raw(Box::new(Plugin::new(flags)));
    // SAFETY: the caller's promise.
    unsafe { *interface = table(userdata.cast()) };
}

fn table(userdata: *mut c_void) -> Interface {
    // SAFETY: on the systems whose calling convention this is, a variadic argument is passed like a named one.
    let fcntl = unsafe { transmute::<FixedFcntl, FcntlFn>(sockets::fcntl) };
    // SAFETY: as above.
    let ioctl = unsafe { transmute::<FixedIoctl, IoctlFn>(sockets::ioctl) };
    Interface {
        userdata,
        free: Some(free),
        socket: Some(sockets::socket),
        bind: Some(sockets::bind),
        listen: Some(sockets::listen),
        accept: Some(sockets::accept),
        connect: Some(sockets::connect),
        read: Some(transfer::read),
        readv: Some(transfer::readv),
        recv: Some(transfer::recv),
        recvfrom: Some(transfer::recvfrom),
        recvmsg: Some(transfer::recvmsg),
        write: Some(transfer::write),
        writev: Some(transfer::writev),
        send: Some(transfer::send),
        sendto: Some(transfer::sendto),
        sendmsg: Some(transfer::sendmsg),
        fcntl: Some(fcntl),
        ioctl: Some(ioctl),
        close: Some(sockets::close),
        shutdown: Some(sockets::shutdown),
        getsockopt: Some(sockets::getsockopt),
        setsockopt: Some(sockets::setsockopt),
        poll: Some(ready::poll),
        netdev_send: Some(device::netdev_send),
        netdev_receive: Some(device::netdev_receive),
        usleep: Some(device::usleep),
        gettimeofday: Some(device::gettimeofday),
        epoll_create: Some(ready::epoll_create),
        epoll_ctl: Some(ready::epoll_ctl),
        epoll_wait: Some(ready::epoll_wait),
        pipe: Some(ready::pipe),
        splice: Some(ready::splice),
    }
}

unsafe extern "C" fn free(userdata: *mut c_void) {
    // SAFETY: this is what the init function stored, and the caller does not use it afterwards.
    drop(unsafe { Box::from_raw(userdata.cast::<Plugin>()) });
}
