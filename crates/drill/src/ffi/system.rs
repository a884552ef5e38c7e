//! System calls around a run: a network namespace, a TUN device, a packet socket, scheduling.

use libc::{c_int, c_void, sockaddr_ll, timespec};
use std::ffi::CString;
use std::io::Error;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const ETH_P_ALL: u16 = 3;
const PACKET_OUTGOING: u8 = 4;
/// Room for one packet.
const PACKET_BYTES: usize = 65_536 + 64;

/// Moves the calling thread into a new network namespace. Must be called before any other thread starts.
///
/// # Errors
/// The process lacks the privilege; the message says which.
pub fn enter_namespace() -> Result<(), String> {
    // SAFETY: no pointers.
    if unsafe { libc::unshare(libc::CLONE_NEWNET) } == 0 {
        return Ok(());
    }
    Err(format!(
        "a network namespace of its own: {}; run as root or with CAP_SYS_ADMIN and CAP_NET_ADMIN",
        Error::last_os_error()
    ))
}

/// The calling thread's id in the kernel.
pub fn thread_id() -> i32 {
    // SAFETY: no pointers.
    unsafe { libc::gettid() }
}

/// Requests real-time scheduling, so that a run in real time is disturbed less; the kernel may refuse.
pub fn prefer_realtime() {
    // SAFETY: the parameter outlives the call.
    unsafe {
        let parameter = libc::sched_param { sched_priority: libc::sched_get_priority_min(libc::SCHED_RR) };
        libc::sched_setscheduler(0, libc::SCHED_RR, &raw const parameter);
    }
}

/// A TUN device called `name`, with segmentation offload like that of an Ethernet card, non-blocking.
///
/// # Errors
/// The device cannot be created; the message says what is missing.
pub fn open_tun(name: &str) -> Result<OwnedFd, String> {
    const TUN_F_CSUM_TSO: libc::c_ulong = 0x01 | 0x02 | 0x04 | 0x08;
    let failed = |what: &str| format!("{what}: {}; it takes CAP_NET_ADMIN and /dev/net/tun", Error::last_os_error());
    // SAFETY: the path ends with a zero.
    let fd = unsafe { libc::open(c"/dev/net/tun".as_ptr(), libc::O_RDWR | libc::O_NONBLOCK | libc::O_CLOEXEC) };
    if fd < 0 {
        return Err(failed("opening /dev/net/tun"));
    }
    // SAFETY: just opened, and owned nowhere else.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: zeros are a valid request.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    request.ifr_name.iter_mut().zip(name.bytes()).for_each(|(to, from)| *to = from as _);
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as i16;
    // SAFETY: the request is of the type the call wants.
    if unsafe { libc::ioctl(fd.as_raw_fd(), libc::TUNSETIFF, &raw mut request) } < 0 {
        return Err(failed("creating the TUN device"));
    }
    // SAFETY: the argument is a number.
    if unsafe { libc::ioctl(fd.as_raw_fd(), libc::TUNSETOFFLOAD, TUN_F_CSUM_TSO) } < 0 {
        return Err(failed("giving the TUN device offload"));
    }
    Ok(fd)
}

/// A packet socket on `device` that reports when packets left.
pub fn sniff(device: &str) -> Result<OwnedFd, String> {
    let failed = |what: &str| format!("{what}: {}", Error::last_os_error());
    let protocol = c_int::from(ETH_P_ALL.to_be());
    // SAFETY: no pointers.
    let fd = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, protocol) };
    if fd < 0 {
        return Err(failed("opening a packet socket"));
    }
    // SAFETY: just opened, and owned nowhere else.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    let name = CString::new(device).unwrap_or_default();
    // SAFETY: the name ends with a zero.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    // SAFETY: zeros are a valid address.
    let mut address: sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = ETH_P_ALL.to_be();
    address.sll_ifindex = index as c_int;
    // SAFETY: address and length belong together.
    let bound =
        unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), size_of::<sockaddr_ll>() as libc::socklen_t) };
    let (stamps, room): (c_int, c_int) = (1, 8 << 20);
    // SAFETY: the values outlive the calls.
    let stamped = unsafe {
        let option = |name, value: *const c_int| {
            libc::setsockopt(fd.as_raw_fd(), libc::SOL_SOCKET, name, value.cast::<c_void>(), 4)
        };
        option(libc::SO_RCVBUFFORCE, &raw const room);
        option(libc::SO_TIMESTAMPNS, &raw const stamps)
    };
    if bound < 0 || stamped < 0 { Err(failed("setting up a packet socket")) } else { Ok(fd) }
}

/// Whether `fd` becomes readable within `wait_ms`.
pub fn readable(fd: &OwnedFd, wait_ms: i32) -> bool {
    let mut poll = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, as the count says.
    unsafe { libc::poll(&raw mut poll, 1, wait_ms) > 0 }
}

/// The next packet on a packet socket and the time it left, in microseconds since 1970; `None` if it was an incoming one.
pub fn sniffed(fd: &OwnedFd) -> Option<(Vec<u8>, i64)> {
    let mut packet = vec![0_u8; PACKET_BYTES];
    let mut control = [0_u64; 16];
    // SAFETY: zeros are valid for both.
    let (mut from, mut header): (sockaddr_ll, libc::msghdr) = unsafe { std::mem::zeroed() };
    let mut vector = libc::iovec { iov_base: packet.as_mut_ptr().cast(), iov_len: packet.len() };
    header.msg_name = (&raw mut from).cast();
    header.msg_namelen = size_of::<sockaddr_ll>() as libc::socklen_t;
    header.msg_iov = &raw mut vector;
    header.msg_iovlen = 1;
    header.msg_control = control.as_mut_ptr().cast();
    header.msg_controllen = size_of_val(&control);
    // SAFETY: every pointer of the header is valid and as long as it says.
    let length = unsafe { libc::recvmsg(fd.as_raw_fd(), &raw mut header, libc::MSG_DONTWAIT) };
    let length = usize::try_from(length).ok()?;
    if from.sll_pkttype != PACKET_OUTGOING {
        return None;
    }
    packet.truncate(length);
    // SAFETY: the kernel has filled the header; the only message requested is a time stamp.
    let at = unsafe {
        let message = libc::CMSG_FIRSTHDR(&raw const header);
        if message.is_null() || (*message).cmsg_type != libc::SCM_TIMESTAMPNS {
            return None;
        }
        let stamp: timespec = std::ptr::read_unaligned(libc::CMSG_DATA(message).cast());
        stamp.tv_sec * 1_000_000 + stamp.tv_nsec / 1_000
    };
    Some((packet, at))
}
