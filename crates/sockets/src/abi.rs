//! The table of functions that packetdrill and a shared object share: its layout, with the fields in order.
//!
//! packetdrill looks up one symbol, [`crate::packetdrill_interface_init`], hands it a zeroed [`Interface`] and calls the
//! stack through what it finds there. Conventions are POSIX's: a failed call returns -1 and leaves its error in `errno`.
//! The first argument of every function is [`Interface::userdata`].

use libc::{c_char, c_int, c_longlong, c_uint, c_ulong, c_void, epoll_event, iovec, msghdr, nfds_t, pollfd, size_t};
use libc::{sockaddr, socklen_t, ssize_t, timeval, timezone, useconds_t};

/// Releases what `userdata` points to.
pub type FreeFn = unsafe extern "C" fn(*mut c_void);
/// `socket(domain, type, protocol)`.
pub type SocketFn = unsafe extern "C" fn(*mut c_void, c_int, c_int, c_int) -> c_int;
/// `bind` and `connect`: take an address from the caller.
pub type AddressFn = unsafe extern "C" fn(*mut c_void, c_int, *const sockaddr, socklen_t) -> c_int;
/// `listen(fd, backlog)` and `shutdown(fd, how)`.
pub type NumberFn = unsafe extern "C" fn(*mut c_void, c_int, c_int) -> c_int;
/// `accept`: room for an address.
pub type AcceptFn = unsafe extern "C" fn(*mut c_void, c_int, *mut sockaddr, *mut socklen_t) -> c_int;
/// `read(fd, buf, len)`.
pub type ReadFn = unsafe extern "C" fn(*mut c_void, c_int, *mut c_void, size_t) -> ssize_t;
/// `readv` and `writev`.
pub type VectorFn = unsafe extern "C" fn(*mut c_void, c_int, *const iovec, c_int) -> ssize_t;
/// `recv(fd, buf, len, flags)`.
pub type RecvFn = unsafe extern "C" fn(*mut c_void, c_int, *mut c_void, size_t, c_int) -> ssize_t;
/// `recvfrom`: as `recv`, with room for an address.
pub type RecvFromFn =
    unsafe extern "C" fn(*mut c_void, c_int, *mut c_void, size_t, c_int, *mut sockaddr, *mut socklen_t) -> ssize_t;
/// `recvmsg(fd, message, flags)`.
pub type RecvMsgFn = unsafe extern "C" fn(*mut c_void, c_int, *mut msghdr, c_int) -> ssize_t;
/// `write(fd, buf, len)`.
pub type WriteFn = unsafe extern "C" fn(*mut c_void, c_int, *const c_void, size_t) -> ssize_t;
/// `send(fd, buf, len, flags)`.
pub type SendFn = unsafe extern "C" fn(*mut c_void, c_int, *const c_void, size_t, c_int) -> ssize_t;
/// `sendto`: as `send`, with an address.
pub type SendToFn =
    unsafe extern "C" fn(*mut c_void, c_int, *const c_void, size_t, c_int, *const sockaddr, socklen_t) -> ssize_t;
/// `sendmsg(fd, message, flags)`.
pub type SendMsgFn = unsafe extern "C" fn(*mut c_void, c_int, *const msghdr, c_int) -> ssize_t;
/// `fcntl(fd, command, ...)`: called with one further argument or none.
pub type FcntlFn = unsafe extern "C" fn(*mut c_void, c_int, c_int, ...) -> c_int;
/// `ioctl(fd, request, ...)`: called with one further argument, a pointer to an `int`.
pub type IoctlFn = unsafe extern "C" fn(*mut c_void, c_int, c_ulong, ...) -> c_int;
/// `close(fd)`.
pub type CloseFn = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;
/// `getsockopt(fd, level, name, value, length)`.
pub type GetOptionFn = unsafe extern "C" fn(*mut c_void, c_int, c_int, c_int, *mut c_void, *mut socklen_t) -> c_int;
/// `setsockopt(fd, level, name, value, length)`.
pub type SetOptionFn = unsafe extern "C" fn(*mut c_void, c_int, c_int, c_int, *const c_void, socklen_t) -> c_int;
/// `poll(fds, count, timeout)`; the timeout is in milliseconds of virtual time, negative for none.
pub type PollFn = unsafe extern "C" fn(*mut c_void, *mut pollfd, nfds_t, c_int) -> c_int;
/// A packet for the stack: a complete IP packet with correct checksums.
pub type NetdevSendFn = unsafe extern "C" fn(*mut c_void, *const c_void, size_t) -> c_int;
/// The stack's next packet. On entry the length is the room available, on return the packet's length, or zero when no packet will
/// come; the last argument receives the time it was sent, in microseconds of the same clock as `gettimeofday`.
pub type NetdevReceiveFn = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut size_t, *mut c_longlong) -> c_int;
/// `usleep(microseconds)`.
pub type UsleepFn = unsafe extern "C" fn(*mut c_void, useconds_t) -> c_int;
/// `gettimeofday`; the time zone is null.
pub type ClockFn = unsafe extern "C" fn(*mut c_void, *mut timeval, *mut timezone) -> c_int;
/// `epoll_create(size)`.
pub type EpollCreateFn = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;
/// `epoll_ctl(epfd, op, fd, event)`.
pub type EpollCtlFn = unsafe extern "C" fn(*mut c_void, c_int, c_int, c_int, *mut epoll_event) -> c_int;
/// `epoll_wait(epfd, events, max, timeout)`; the timeout as `poll`'s.
pub type EpollWaitFn = unsafe extern "C" fn(*mut c_void, c_int, *mut epoll_event, c_int, c_int) -> c_int;
/// `pipe(fds)`.
pub type PipeFn = unsafe extern "C" fn(*mut c_void, *mut c_int) -> c_int;
/// `splice(in, in_offset, out, out_offset, len, flags)`; it returns an `int`.
pub type SpliceFn = unsafe extern "C" fn(*mut c_void, c_int, *mut i64, c_int, *mut i64, size_t, c_uint) -> c_int;

/// The exported function: `flags` is what the user passed as `--so_flags`, or null.
pub type InitFn = unsafe extern "C" fn(*const c_char, *mut Interface);

/// `struct packetdrill_interface`: the order of the fields is the contract.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "each field is the call of its name; its type says how it is called")]
pub struct Interface {
    pub userdata: *mut c_void,
    pub free: Option<FreeFn>,
    pub socket: Option<SocketFn>,
    pub bind: Option<AddressFn>,
    pub listen: Option<NumberFn>,
    pub accept: Option<AcceptFn>,
    pub connect: Option<AddressFn>,
    pub read: Option<ReadFn>,
    pub readv: Option<VectorFn>,
    pub recv: Option<RecvFn>,
    pub recvfrom: Option<RecvFromFn>,
    pub recvmsg: Option<RecvMsgFn>,
    pub write: Option<WriteFn>,
    pub writev: Option<VectorFn>,
    pub send: Option<SendFn>,
    pub sendto: Option<SendToFn>,
    pub sendmsg: Option<SendMsgFn>,
    pub fcntl: Option<FcntlFn>,
    pub ioctl: Option<IoctlFn>,
    pub close: Option<CloseFn>,
    pub shutdown: Option<NumberFn>,
    pub getsockopt: Option<GetOptionFn>,
    pub setsockopt: Option<SetOptionFn>,
    pub poll: Option<PollFn>,
    pub netdev_send: Option<NetdevSendFn>,
    pub netdev_receive: Option<NetdevReceiveFn>,
    pub usleep: Option<UsleepFn>,
    pub gettimeofday: Option<ClockFn>,
    pub epoll_create: Option<EpollCreateFn>,
    pub epoll_ctl: Option<EpollCtlFn>,
    pub epoll_wait: Option<EpollWaitFn>,
    pub pipe: Option<PipeFn>,
    pub splice: Option<SpliceFn>,
}

impl Interface {
    /// A zeroed table, as packetdrill hands it to the shared object.
    pub const fn zeroed() -> Self {
        Self {
            userdata: std::ptr::null_mut(),
            free: None,
            socket: None,
            bind: None,
            listen: None,
            accept: None,
            connect: None,
            read: None,
            readv: None,
            recv: None,
            recvfrom: None,
            recvmsg: None,
            write: None,
            writev: None,
            send: None,
            sendto: None,
            sendmsg: None,
            fcntl: None,
            ioctl: None,
            close: None,
            shutdown: None,
            getsockopt: None,
            setsockopt: None,
            poll: None,
            netdev_send: None,
            netdev_receive: None,
            usleep: None,
            gettimeofday: None,
            epoll_create: None,
            epoll_ctl: None,
            epoll_wait: None,
            pipe: None,
            splice: None,
        }
    }
}

// 33 pointers, without holes.
const _: () = assert!(size_of::<Interface>() == 33 * size_of::<*const ()>());
