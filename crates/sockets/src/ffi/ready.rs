//! Entry points about readiness, and pipes.

use super::entry::{number, plugin, status};
use super::memory::room;
use libc::{c_int, c_uint, c_void, epoll_event, nfds_t, pollfd, size_t};
use nix::errno::Errno;

pub(super) unsafe extern "C" fn poll(u: *mut c_void, fds: *mut pollfd, len: nfds_t, timeout_ms: c_int) -> c_int {
    // SAFETY: the table's contract.
    let (plugin, entries) = unsafe { (plugin(u), room(fds, len as usize)) };
    number(entries.and_then(|entries| plugin.poll(entries, timeout_ms)))
}

pub(super) unsafe extern "C" fn epoll_create(u: *mut c_void, size: c_int) -> c_int {
    // SAFETY: the table's contract.
    let plugin = unsafe { plugin(u) };
    number(plugin.call(|host| host.epoll_create(size)))
}

pub(super) unsafe extern "C" fn epoll_ctl(
    u: *mut c_void,
    epfd: c_int,
    op: c_int,
    fd: c_int,
    event: *mut epoll_event,
) -> c_int {
    // SAFETY: the table's contract.
    let (plugin, event) = unsafe { (plugin(u), event.as_ref().copied()) };
    status(plugin.call(|host| host.epoll_ctl(epfd, op, fd, event)))
}

pub(super) unsafe extern "C" fn epoll_wait(
    u: *mut c_void,
    epfd: c_int,
    events: *mut epoll_event,
    max: c_int,
    timeout_ms: c_int,
) -> c_int {
    let max = match usize::try_from(max) {
        Ok(max) if max > 0 => max,
        _ => return status(Err(Errno::EINVAL)),
    };
    // SAFETY: the table's contract.
    let (plugin, events) = unsafe { (plugin(u), room(events, max)) };
    // At most `max`, which was an `int`.
    number(events.and_then(|events| plugin.epoll_wait(epfd, events, timeout_ms)).map(|len| len as c_int))
}

pub(super) unsafe extern "C" fn pipe(u: *mut c_void, fds: *mut c_int) -> c_int {
    // SAFETY: the table's contract: room for two.
    let (plugin, room) = unsafe { (plugin(u), room(fds, 2)) };
    status(room.and_then(|room| {
        room.copy_from_slice(&plugin.call(|host| host.pipe())?);
        Ok(())
    }))
}

/// Offsets apply to seekable files; packetdrill passes pointers to zero where a script gives none.
pub(super) unsafe extern "C" fn splice(
    u: *mut c_void,
    from: c_int,
    _from_offset: *mut i64,
    to: c_int,
    _to_offset: *mut i64,
    len: size_t,
    flags: c_uint,
) -> c_int {
    // SAFETY: the table's contract.
    let plugin = unsafe { plugin(u) };
    // The caller's type is an `int`: no script moves more than that at once.
    number(plugin.splice(from, to, len, flags).map(|moved| moved as c_int))
}
