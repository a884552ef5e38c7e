//! Entry points that move bytes.

use super::entry::{count, plugin};
use super::memory::{address, bytes, pieces, room, rooms, vector_count};
use crate::control_message::ControlMessage;
use libc::{c_int, c_void, iovec, msghdr, size_t, sockaddr, socklen_t, ssize_t};
use nix::errno::Errno;

pub(super) unsafe extern "C" fn read(u: *mut c_void, fd: c_int, buf: *mut c_void, len: size_t) -> ssize_t {
    // SAFETY: the table's contract.
    let (plugin, room) = unsafe { (plugin(u), room(buf.cast::<u8>(), len)) };
    count(room.and_then(|room| plugin.read(fd, &mut [room])))
}

pub(super) unsafe extern "C" fn readv(u: *mut c_void, fd: c_int, vector: *const iovec, pieces: c_int) -> ssize_t {
    // SAFETY: the table's contract.
    let plugin = unsafe { plugin(u) };
    // SAFETY: the table's contract.
    let rooms = vector_count(pieces).and_then(|pieces| unsafe { rooms(vector, pieces) });
    count(rooms.and_then(|mut rooms| plugin.read(fd, &mut rooms)))
}

pub(super) unsafe extern "C" fn recv(
    u: *mut c_void,
    fd: c_int,
    buf: *mut c_void,
    len: size_t,
    flags: c_int,
) -> ssize_t {
    // SAFETY: the table's contract.
    let (plugin, room) = unsafe { (plugin(u), room(buf.cast::<u8>(), len)) };
    count(room.and_then(|room| plugin.receive(fd, &mut [room], flags)))
}

/// On a stream it is `recv`: it returns no peer address.
pub(super) unsafe extern "C" fn recvfrom(
    u: *mut c_void,
    fd: c_int,
    buf: *mut c_void,
    len: size_t,
    flags: c_int,
    _at: *mut sockaddr,
    address_len: *mut socklen_t,
) -> ssize_t {
    // SAFETY: the table's contract.
    let received = unsafe { recv(u, fd, buf, len, flags) };
    if received >= 0 && !address_len.is_null() {
        // SAFETY: the table's contract.
        unsafe { *address_len = 0 };
    }
    received
}

pub(super) unsafe extern "C" fn recvmsg(u: *mut c_void, fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
    if message.is_null() {
        return count(Err(Errno::EFAULT));
    }
    // SAFETY: the table's contract.
    let (plugin, message) = unsafe { (plugin(u), &mut *message) };
    if flags & libc::MSG_ERRQUEUE != 0 {
        return count(plugin.receive_report(fd).map(|ancillary| {
            message.msg_namelen = 0;
            message.msg_flags = ancillary.flags;
            // SAFETY: the table's contract.
            unsafe { put_control(&ancillary.messages, message) };
            0
        }));
    }
    // SAFETY: the table's contract.
    let rooms = unsafe { rooms(message.msg_iov, message.msg_iovlen) };
    let received = rooms.and_then(|mut rooms| plugin.receive(fd, &mut rooms, flags));
    if received.is_ok() {
        message.msg_namelen = 0;
        message.msg_flags = 0;
        let messages = plugin.call(|host| host.control_messages(fd));
        // SAFETY: the table's contract.
        unsafe { put_control(&messages, message) };
    }
    count(received)
}

/// Writes control messages into the caller's buffer, as many as fit, and sets a flag when some were left out.
unsafe fn put_control(messages: &[ControlMessage], into: &mut msghdr) {
    // SAFETY: the table's contract.
    let room = unsafe { room(into.msg_control.cast::<u8>(), into.msg_controllen) }.unwrap_or_default();
    let mut at = 0;
    for message in messages {
        let bytes = message.encode();
        let Some(place) = room.get_mut(at..at + bytes.len()) else {
            into.msg_flags |= libc::MSG_CTRUNC;
            break;
        };
        place.copy_from_slice(&bytes);
        at += bytes.len();
    }
    into.msg_controllen = at;
}

pub(super) unsafe extern "C" fn write(u: *mut c_void, fd: c_int, buf: *const c_void, len: size_t) -> ssize_t {
    // SAFETY: the table's contract.
    unsafe { send(u, fd, buf, len, 0) }
}

pub(super) unsafe extern "C" fn writev(u: *mut c_void, fd: c_int, vector: *const iovec, len: c_int) -> ssize_t {
    // SAFETY: the table's contract.
    let plugin = unsafe { plugin(u) };
    // SAFETY: the table's contract.
    let pieces = vector_count(len).and_then(|len| unsafe { pieces(vector, len) });
    count(pieces.and_then(|pieces| plugin.send(fd, &pieces, 0)))
}

pub(super) unsafe extern "C" fn send(
    u: *mut c_void,
    fd: c_int,
    buf: *const c_void,
    len: size_t,
    flags: c_int,
) -> ssize_t {
    // SAFETY: the table's contract.
    let (plugin, bytes) = unsafe { (plugin(u), bytes(buf, len)) };
    count(bytes.and_then(|bytes| plugin.send(fd, &[bytes], flags)))
}

pub(super) unsafe extern "C" fn sendto(
    u: *mut c_void,
    fd: c_int,
    buf: *const c_void,
    len: size_t,
    flags: c_int,
    at: *const sockaddr,
    address_len: socklen_t,
) -> ssize_t {
    // SAFETY: the table's contract.
    let (plugin, bytes) = unsafe { (plugin(u), bytes(buf, len)) };
    // SAFETY: the table's contract.
    let to = if at.is_null() { Ok(None) } else { unsafe { address(at, address_len) }.map(Some) };
    count(bytes.and_then(|bytes| plugin.send_to(fd, &[bytes], flags, to?)))
}

pub(super) unsafe extern "C" fn sendmsg(u: *mut c_void, fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
    if message.is_null() {
        return count(Err(Errno::EFAULT));
    }
    // SAFETY: the table's contract.
    let (plugin, message) = unsafe { (plugin(u), &*message) };
    // SAFETY: the table's contract.
    let pieces = unsafe { pieces(message.msg_iov, message.msg_iovlen) };
    let to = match message.msg_name {
        name if name.is_null() || message.msg_namelen == 0 => Ok(None),
        // SAFETY: the table's contract.
        name => unsafe { address(name.cast(), message.msg_namelen) }.map(Some),
    };
    count(pieces.and_then(|pieces| plugin.send_to(fd, &pieces, flags, to?)))
}
