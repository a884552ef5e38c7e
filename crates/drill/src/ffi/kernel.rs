//! The control: the same calls to the machine's kernel, with packets through a TUN device in the namespace.
//!
//! Packets are sniffed with a packet socket and not read from the device, because the kernel stamps them there with the
//! moment they left, however late this process wakes up. They still have to be read from the device, or the kernel would
//! believe them queued.

use super::perform::perform;
use super::system;
use crate::stack::{Call, Returned, Stack};
use libc::{
    c_int, c_uint, c_ulong, c_void, epoll_event, iovec, msghdr, nfds_t, pollfd, size_t, sockaddr, socklen_t, ssize_t,
};
use sockets::abi::{FcntlFn, Interface, IoctlFn};
use std::os::fd::{AsRawFd, OwnedFd};

/// Size of the header that a TUN device with offload puts before each packet.
const VNET_HEADER: usize = 10;

/// The kernel as a stack under test.
#[derive(Debug)]
pub struct Kernel {
    table: Interface,
    tun: OwnedFd,
    sniffer: OwnedFd,
    /// Segment size at which the kernel may cut injected packets; 0 leaves them whole.
    segment: u16,
}

// SAFETY: the table contains stateless functions.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

impl Kernel {
    /// Uses the device behind `tun`, which must be up.
    ///
    /// # Errors
    /// Packets cannot be captured on it.
    pub fn new(tun: OwnedFd, device: &str, segment: Option<u16>) -> Result<Self, String> {
        let sniffer = system::sniff(device)?;
        Ok(Self { table: table(), tun, sniffer, segment: segment.unwrap_or(0) })
    }

    /// Reads from the device the packets already captured, as a driver would complete its transmissions.
    fn drain(&self) {
        let mut scrap = [0_u8; 64];
        // SAFETY: the buffer has the stated size; the descriptor does not block.
        while unsafe { libc::read(self.tun.as_raw_fd(), scrap.as_mut_ptr().cast(), scrap.len()) } > 0 {}
    }
}

impl Stack for Kernel {
    fn perform(&self, call: &mut Call) -> Returned {
        perform(&self.table, call)
    }

    fn send(&self, packet: &[u8]) -> Result<(), String> {
        let mut header = [0_u8; VNET_HEADER];
        if self.segment != 0 {
            header[1] = if packet[0] >> 4 == 6 { 4 } else { 1 };
            header[4..6].copy_from_slice(&self.segment.to_ne_bytes());
        }
        let frame = [&header, packet].concat();
        // SAFETY: the frame is valid for the call.
        let value = unsafe { libc::write(self.tun.as_raw_fd(), frame.as_ptr().cast(), frame.len()) };
        if value < 0 { Err(format!("writing to the device: {}", std::io::Error::last_os_error())) } else { Ok(()) }
    }

    fn receive(&self, deadline: i64) -> Result<(Vec<u8>, i64), String> {
        loop {
            let wait = (deadline - self.now()).max(0) / 1_000;
            if !system::readable(&self.sniffer, i32::try_from(wait).unwrap_or(i32::MAX)) {
                return Err("no packet came in time".into());
            }
            self.drain();
            if let Some(packet) = system::sniffed(&self.sniffer) {
                return Ok(packet);
            }
        }
    }

    fn sleep(&self, usecs: u32) {
        std::thread::sleep(std::time::Duration::from_micros(u64::from(usecs)));
        self.drain();
    }

    fn now(&self) -> i64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since.map_or(0, |since| i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}

/// Functions of the table that map to the system call of the same name.
macro_rules! forward {
    ($($name:ident($($argument:ident: $of:ty),*) -> $result:ty;)*) => {$(
        unsafe extern "C" fn $name(_: *mut c_void, $($argument: $of),*) -> $result {
            // SAFETY: the caller's pointers are passed on unchanged.
            unsafe { libc::$name($($argument),*) }
        }
    )*};
}

forward! {
    socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
    bind(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int;
    connect(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int;
    listen(fd: c_int, backlog: c_int) -> c_int;
    shutdown(fd: c_int, how: c_int) -> c_int;
    accept(fd: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int;
    read(fd: c_int, buffer: *mut c_void, length: size_t) -> ssize_t;
    readv(fd: c_int, vectors: *const iovec, count: c_int) -> ssize_t;
    recv(fd: c_int, buffer: *mut c_void, length: size_t, flags: c_int) -> ssize_t;
    recvfrom(fd: c_int, buffer: *mut c_void, length: size_t, flags: c_int, address: *mut sockaddr,
             room: *mut socklen_t) -> ssize_t;
    recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t;
    write(fd: c_int, buffer: *const c_void, length: size_t) -> ssize_t;
    writev(fd: c_int, vectors: *const iovec, count: c_int) -> ssize_t;
    send(fd: c_int, buffer: *const c_void, length: size_t, flags: c_int) -> ssize_t;
    sendto(fd: c_int, buffer: *const c_void, length: size_t, flags: c_int, address: *const sockaddr,
           room: socklen_t) -> ssize_t;
    sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t;
    close(fd: c_int) -> c_int;
    getsockopt(fd: c_int, level: c_int, name: c_int, value: *mut c_void, length: *mut socklen_t) -> c_int;
    setsockopt(fd: c_int, level: c_int, name: c_int, value: *const c_void, length: socklen_t) -> c_int;
    poll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int;
    epoll_create(size: c_int) -> c_int;
    epoll_ctl(epfd: c_int, op: c_int, fd: c_int, event: *mut epoll_event) -> c_int;
    epoll_wait(epfd: c_int, events: *mut epoll_event, max: c_int, timeout: c_int) -> c_int;
    pipe(fds: *mut c_int) -> c_int;
}

unsafe extern "C" fn splice(
    _: *mut c_void,
    fd_in: c_int,
    _: *mut i64,
    fd_out: c_int,
    _: *mut i64,
    length: size_t,
    flags: c_uint,
) -> c_int {
    // SAFETY: pipes and sockets require null offsets.
    let value = unsafe { libc::splice(fd_in, std::ptr::null_mut(), fd_out, std::ptr::null_mut(), length, flags) };
    value as c_int
}

/// The third argument is a number or garbage; the command decides which, and the kernel knows the command.
unsafe extern "C" fn fcntl(_: *mut c_void, fd: c_int, command: c_int, argument: usize) -> c_int {
    // SAFETY: the kernel reads the argument only where the command has one.
    unsafe { libc::fcntl(fd, command, argument) }
}

unsafe extern "C" fn ioctl(_: *mut c_void, fd: c_int, request: c_ulong, argument: usize) -> c_int {
    // SAFETY: as for fcntl; a pointer argument is the caller's.
    unsafe { libc::ioctl(fd, request, argument) }
}

fn table() -> Interface {
    type Fcntl = unsafe extern "C" fn(*mut c_void, c_int, c_int, usize) -> c_int;
    type Ioctl = unsafe extern "C" fn(*mut c_void, c_int, c_ulong, usize) -> c_int;
    Interface {
        socket: Some(socket),
        bind: Some(bind),
        connect: Some(connect),
        listen: Some(listen),
        shutdown: Some(shutdown),
        accept: Some(accept),
        read: Some(read),
        readv: Some(readv),
        recv: Some(recv),
        recvfrom: Some(recvfrom),
        recvmsg: Some(recvmsg),
        write: Some(write),
        writev: Some(writev),
        send: Some(send),
        sendto: Some(sendto),
        sendmsg: Some(sendmsg),
        // SAFETY: a variadic caller passes its third argument in the register where this function expects it.
        fcntl: Some(unsafe { std::mem::transmute::<Fcntl, FcntlFn>(fcntl) }),
        // SAFETY: as above.
        ioctl: Some(unsafe { std::mem::transmute::<Ioctl, IoctlFn>(ioctl) }),
        close: Some(close),
        getsockopt: Some(getsockopt),
        setsockopt: Some(setsockopt),
        poll: Some(poll),
        epoll_create: Some(epoll_create),
        epoll_ctl: Some(epoll_ctl),
        epoll_wait: Some(epoll_wait),
        pipe: Some(pipe),
        splice: Some(splice),
        ..Interface::zeroed()
    }
}
