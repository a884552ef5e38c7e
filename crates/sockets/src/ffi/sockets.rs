//! Entry points for a socket's life cycle and settings.

use super::entry::{number, plugin, status};
use super::memory::{address, bytes, put_address, room};
use libc::{FIONBIO, c_int, c_ulong, c_void, sockaddr, socklen_t};
use nix::errno::Errno;

pub(super) unsafe extern "C" fn socket(u: *mut c_void, domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    // SAFETY: the table's contract.
    let plugin = unsafe { plugin(u) };
    number(plugin.call(|host| host.socket_call(domain, kind, protocol)))
}

pub(super) unsafe extern "C" fn bind(u: *mut c_void, fd: c_int, at: *const sockaddr, len: socklen_t) -> c_int {
    // SAFETY: the table's contract.
    let (plugin, address) = unsafe { (plugin(u), address(at, len)) };
    status(address.and_then(|address| plugin.call(|host| host.bind(fd, address))))
}

pub(super) unsafe extern "C" fn listen(u: *mut c_void, fd: c_int, backlog: c_int) -> c_int {
    // SAFETY: the table's contract.
    let plugin = unsafe { plugin(u) };
    status(plugin.call(|host| host.listen(fd, backlog)))
}

pub(super) unsafe extern "C" fn accept(u: *mut c_void, fd: c_int, at: *mut sockaddr, len: *mut socklen_t) -> c_int {
    // SAFETY: the table's contract.
    let plugin = unsafe { plugin(u) };
    number(plugin.accept(fd).and_then(|(child, peer)| {
        // SAFETY: the table's contract.
        unsafe { put_address(peer, at, len)? };
        Ok(child)
    }))
}

pub(super) unsafe extern "C" fn connect(u: *mut c_void, fd: c_int, at: *const sockaddr, len: socklen_t) -> c_int {
    // SAFETY: the table's contract.
    let (plugin, address) = unsafe { (plugin(u), address(at, len)) };
    status(address.and_then(|address| plugin.connect(fd, address)))
}

/// `argument` is an `int` for the commands that have one.
pub(super) unsafe extern "C" fn fcntl(u: *mut c_void, fd: c_int, command: c_int, argument: usize) -> c_int {
    // SAFETY: the table's contract.
    let plugin = unsafe { plugin(u) };
    // An `int` occupies the lower half of its register.
    number(plugin.call(|host| host.fcntl(fd, command, argument as c_int)))
}

/// `argument` is a pointer to an `int`.
pub(super) unsafe extern "C" fn ioctl(u: *mut c_void, fd: c_int, request: c_ulong, argument: usize) -> c_int {
    // SAFETY: the table's contract.
    let plugin = unsafe { plugin(u) };
    let value = std::ptr::with_exposed_provenance_mut::<c_int>(argument);
    if value.is_null() {
        return status(Err(Errno::EFAULT));
    }
    // The only request that reads the caller's value.
    // SAFETY: the table's contract.
    let given = if request == FIONBIO { unsafe { *value } } else { 0 };
    status(plugin.call(|host| host.ioctl(fd, request, given)).map(|answer| {
        // SAFETY: the table's contract.
        unsafe { *value = answer };
    }))
}

pub(super) unsafe extern "C" fn close(u: *mut c_void, fd: c_int) -> c_int {
    // SAFETY: the table's contract.
    let plugin = unsafe { plugin(u) };
    status(plugin.close(fd))
}

pub(super) unsafe extern "C" fn shutdown(u: *mut c_void, fd: c_int, how: c_int) -> c_int {
    // SAFETY: the table's contract.
    let plugin = unsafe { plugin(u) };
    status(plugin.call(|host| host.shutdown(fd, how)))
}

pub(super) unsafe extern "C" fn getsockopt(
    u: *mut c_void,
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    len: *mut socklen_t,
) -> c_int {
    if len.is_null() {
        return status(Err(Errno::EFAULT));
    }
    // SAFETY: the table's contract.
    let (plugin, len) = unsafe { (plugin(u), &mut *len) };
    // SAFETY: the table's contract.
    let value = unsafe { room(value.cast::<u8>(), *len as usize) };
    status(value.and_then(|value| plugin.call(|host| host.getsockopt(fd, level, name, value))).map(|written| {
        // At most the room available, which was a `socklen_t`.
        *len = written as socklen_t;
    }))
}

pub(super) unsafe extern "C" fn setsockopt(
    u: *mut c_void,
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    len: socklen_t,
) -> c_int {
    // SAFETY: the table's contract.
    let (plugin, value) = unsafe { (plugin(u), bytes(value, len as usize)) };
    status(value.and_then(|value| plugin.call(|host| host.setsockopt(fd, level, name, value))))
}
