//! One call through the table of functions: builds pointers from the call's memory, and stores the results there.

use crate::stack::{Buffer, Call, EpollEvent, Message, PollFd, Returned};
use libc::{c_int, c_void, epoll_event, iovec, msghdr, pollfd, sockaddr, socklen_t};
use sockets::abi::Interface;
use std::ffi::CString;
use std::ptr::null_mut;

/// Calls the table's entry, or panics if it is null: packetdrill would call a null pointer.
macro_rules! call {
    ($table:expr, $name:ident, $($argument:expr),*) => {{
        let function = $table.$name.expect(concat!("the stack has no ", stringify!($name)));
        // SAFETY: the table is the stack's, and every pointer is valid for the call and has the length passed with it.
        i64::from(unsafe { function($table.userdata, $($argument),*) } as i32)
    }};
}

/// Makes `call` through `table`.
pub fn perform(table: &Interface, call: &mut Call) -> Returned {
    let value = match call {
        Call::Read { .. } | Call::Recv { .. } | Call::Recvfrom { .. } | Call::Readv { .. } | Call::Recvmsg { .. } => {
            receive(table, call)
        }
        Call::Write { .. } | Call::Send { .. } | Call::Sendto { .. } | Call::Writev { .. } | Call::Sendmsg { .. } => {
            transmit(table, call)
        }
        Call::Poll { .. } | Call::EpollCreate { .. } | Call::EpollCtl { .. } | Call::EpollWait { .. } => {
            ready(table, call)
        }
        Call::Open { .. } | Call::Sendfile { .. } => files(call),
        _ => control(table, call),
    };
    // SAFETY: always valid on the calling thread.
    Returned { value, errno: unsafe { *libc::__errno_location() } }
}

fn control(table: &Interface, call: &mut Call) -> i64 {
    match call {
        Call::Socket { domain, kind, protocol } => call!(table, socket, *domain, *kind, *protocol),
        Call::Bind { fd, address } => call!(table, bind, *fd, address.as_ptr().cast(), length(address)),
        Call::Connect { fd, address } => call!(table, connect, *fd, address.as_ptr().cast(), length(address)),
        Call::Listen { fd, backlog } => call!(table, listen, *fd, *backlog),
        Call::Accept { fd, address } => {
            let mut room = length(address);
            let value = call!(table, accept, *fd, address.as_mut_ptr().cast(), &raw mut room);
            address.truncate(room as usize);
            value
        }
        Call::Fcntl { fd, command, argument: None } => call!(table, fcntl, *fd, *command),
        Call::Fcntl { fd, command, argument: Some(argument) } => call!(table, fcntl, *fd, *command, *argument),
        Call::Ioctl { fd, request, value: None } => call!(table, ioctl, *fd, *request),
        Call::Ioctl { fd, request, value: Some(value) } => call!(table, ioctl, *fd, *request, &raw mut *value),
        Call::Close { fd } => call!(table, close, *fd),
        Call::Shutdown { fd, how } => call!(table, shutdown, *fd, *how),
        Call::Getsockopt { fd, level, name, value, length } => {
            value.resize(value.len().max(*length as usize), 0);
            call!(table, getsockopt, *fd, *level, *name, value.as_mut_ptr().cast(), &raw mut *length)
        }
        Call::Setsockopt { fd, level, name, value, length } => {
            value.resize(value.len().max(*length as usize), 0);
            call!(table, setsockopt, *fd, *level, *name, value.as_ptr().cast(), *length)
        }
        Call::Pipe { fds } => call!(table, pipe, fds.as_mut_ptr()),
        Call::Splice { fd_in, fd_out, length, flags } => {
            // packetdrill passes pointers to zero where a script says NULL.
            let (mut from, mut to) = (0_i64, 0_i64);
            call!(table, splice, *fd_in, &raw mut from, *fd_out, &raw mut to, *length, *flags)
        }
        other => unreachable!("{other:?} is handled elsewhere"),
    }
}

fn receive(table: &Interface, call: &mut Call) -> i64 {
    match call {
        Call::Read { fd, buffer } => {
            let (at, room) = raw(buffer);
            call!(table, read, *fd, at, room)
        }
        Call::Recv { fd, buffer, flags } => {
            let (at, room) = raw(buffer);
            call!(table, recv, *fd, at, room, *flags)
        }
        Call::Recvfrom { fd, buffer, flags, address } => {
            let (at, room) = raw(buffer);
            let mut address_room = length(address);
            let from: *mut sockaddr = address.as_mut_ptr().cast();
            call!(table, recvfrom, *fd, at, room, *flags, from, &raw mut address_room)
        }
        Call::Readv { fd, buffers } => {
            let vectors = vectors(buffers);
            call!(table, readv, *fd, vectors.as_ptr(), vectors.len() as c_int)
        }
        Call::Recvmsg { fd, message, flags } => {
            let mut vectors = vectors(&mut message.buffers);
            let mut header = header(message, &mut vectors);
            let value = call!(table, recvmsg, *fd, &raw mut header, *flags);
            message.flags = header.msg_flags;
            message.control.truncate(header.msg_controllen);
            value
        }
        other => unreachable!("{other:?} is handled elsewhere"),
    }
}

fn transmit(table: &Interface, call: &mut Call) -> i64 {
    match call {
        Call::Write { fd, buffer } => {
            let (at, length) = raw(buffer);
            call!(table, write, *fd, at, length)
        }
        Call::Send { fd, buffer, flags } => {
            let (at, length) = raw(buffer);
            call!(table, send, *fd, at, length, *flags)
        }
        Call::Sendto { fd, buffer, flags, address } => {
            let (at, count) = raw(buffer);
            call!(table, sendto, *fd, at, count, *flags, address.as_ptr().cast(), length(address))
        }
        Call::Writev { fd, buffers } => {
            let vectors = vectors(buffers);
            call!(table, writev, *fd, vectors.as_ptr(), vectors.len() as c_int)
        }
        Call::Sendmsg { fd, message, flags } => {
            let mut vectors = vectors(&mut message.buffers);
            let header = header(message, &mut vectors);
            call!(table, sendmsg, *fd, &raw const header, *flags)
        }
        other => unreachable!("{other:?} is handled elsewhere"),
    }
}

fn ready(table: &Interface, call: &mut Call) -> i64 {
    let native = |event: EpollEvent| epoll_event { events: event.events, u64: event.data };
    match call {
        Call::Poll { fds, timeout } => {
            let of = |fd: &PollFd| pollfd { fd: fd.fd, events: fd.events, revents: fd.revents };
            let mut raw: Vec<pollfd> = fds.iter().map(of).collect();
            let value = call!(table, poll, raw.as_mut_ptr(), raw.len() as libc::nfds_t, *timeout);
            fds.iter_mut().zip(raw).for_each(|(fd, raw)| fd.revents = raw.revents);
            value
        }
        Call::EpollCreate { size } => call!(table, epoll_create, *size),
        Call::EpollCtl { epfd, op, fd, event } => {
            let mut raw = native(*event);
            call!(table, epoll_ctl, *epfd, *op, *fd, &raw mut raw)
        }
        Call::EpollWait { epfd, events, timeout } => {
            let mut raw: Vec<epoll_event> = events.iter().copied().map(native).collect();
            let value = call!(table, epoll_wait, *epfd, raw.as_mut_ptr(), raw.len() as c_int, *timeout);
            *events = raw.iter().map(|raw| EpollEvent { events: raw.events, data: raw.u64 }).collect();
            value
        }
        other => unreachable!("{other:?} is handled elsewhere"),
    }
}

/// Calls that packetdrill makes itself, whatever the stack.
fn files(call: &Call) -> i64 {
    match call {
        Call::Open { path, flags } => {
            let path = CString::new(path.clone()).unwrap_or_default();
            // SAFETY: the path ends with a zero; a mode is read only where a file is created.
            i64::from(unsafe { libc::open(path.as_ptr(), *flags, 0o600) })
        }
        Call::Sendfile { fd_out, fd_in, offset, length } => {
            let mut offset = *offset;
            // SAFETY: the offset outlives the call.
            (unsafe { libc::sendfile(*fd_out, *fd_in, &raw mut offset, *length) }) as i64
        }
        other => unreachable!("{other:?} is handled elsewhere"),
    }
}

fn length(address: &[u8]) -> socklen_t {
    address.len() as socklen_t
}

fn raw(buffer: &mut Buffer) -> (*mut c_void, usize) {
    match buffer {
        Buffer::Bytes(bytes) => (bytes.as_mut_ptr().cast(), bytes.len()),
        Buffer::Null(length) => (null_mut(), *length),
    }
}

fn vectors(buffers: &mut [Vec<u8>]) -> Vec<iovec> {
    buffers.iter_mut().map(|buffer| iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() }).collect()
}

fn header(message: &mut Message, vectors: &mut [iovec]) -> msghdr {
    // SAFETY: an all-zero header is valid; its padding differs between systems, so it cannot be written as a literal.
    let mut header: msghdr = unsafe { std::mem::zeroed() };
    header.msg_name = if message.name.is_empty() { null_mut() } else { message.name.as_mut_ptr().cast() };
    header.msg_namelen = length(&message.name);
    header.msg_iov = vectors.as_mut_ptr();
    header.msg_iovlen = vectors.len();
    header.msg_control = if message.control.is_empty() { null_mut() } else { message.control.as_mut_ptr().cast() };
    header.msg_controllen = message.control.len();
    header.msg_flags = message.flags;
    header
}
