//! Socket options through the C interface, compared with those of a socket of this machine's kernel: both get the same calls, and
//! both read the same namespace. Only options and values for which every kernel of the last ten years returns the same.

mod common;

use common::{Answer, Script};
use libc::*;
use nix::errno::Errno;
use test_case::test_case;

/// Numbers to which options are set.
const ASKED: [c_int; 17] = [-2, -1, 0, 1, 2, 7, 40, 64, 88, 127, 128, 255, 256, 1_000, 32_767, 32_768, c_int::MAX];

/// A value as it is returned: its bytes.
type Value = Answer<Vec<u8>>;

/// A provider of stream sockets.
trait Sockets {
    fn set(&self, level: c_int, name: c_int, value: &[u8]) -> Answer<()>;
    fn get(&self, level: c_int, name: c_int, room: usize) -> Value;
}

/// The kernel's; closed when dropped.
struct Kernel(c_int);

impl Kernel {
    fn new(family: c_int) -> Self {
        let fd = unsafe { socket(family, SOCK_STREAM, IPPROTO_TCP) };
        assert!(fd >= 0, "the kernel has sockets of the family {family}");
        Self(fd)
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        unsafe { close(self.0) };
    }
}

impl Sockets for Kernel {
    fn set(&self, level: c_int, name: c_int, value: &[u8]) -> Answer<()> {
        let status = unsafe { setsockopt(self.0, level, name, value.as_ptr().cast(), value.len() as socklen_t) };
        Errno::result(status).map(drop)
    }
    fn get(&self, level: c_int, name: c_int, room: usize) -> Value {
        let (mut value, mut len) = (vec![0u8; room], room as socklen_t);
        Errno::result(unsafe { getsockopt(self.0, level, name, value.as_mut_ptr().cast(), &raw mut len) })?;
        value.truncate(len as usize);
        Ok(value)
    }
}

/// Ours.
struct Ours<'a>(&'a Script, c_int);

impl<'a> Ours<'a> {
    fn new(script: &'a Script, family: c_int) -> Self {
        let table = script.table();
        let fd = unsafe { table.socket.unwrap()(table.userdata, family, SOCK_STREAM, IPPROTO_TCP) };
        Self(script, fd)
    }
}

impl Sockets for Ours<'_> {
    fn set(&self, level: c_int, name: c_int, value: &[u8]) -> Answer<()> {
        let table = self.0.table();
        let set = table.setsockopt.unwrap();
        let (at, len) = (value.as_ptr().cast(), value.len() as socklen_t);
        Errno::result(unsafe { set(table.userdata, self.1, level, name, at, len) }).map(drop)
    }
    fn get(&self, level: c_int, name: c_int, room: usize) -> Value {
        let table = self.0.table();
        let (mut value, mut len) = (vec![0u8; room], room as socklen_t);
        let get = table.getsockopt.unwrap();
        Errno::result(unsafe { get(table.userdata, self.1, level, name, value.as_mut_ptr().cast(), &raw mut len) })?;
        value.truncate(len as usize);
        Ok(value)
    }
}

/// What new sockets return after the option was set to each number.
fn answers<S: Sockets>(new: impl Fn() -> S, level: c_int, name: c_int) -> Vec<(c_int, Answer<()>, Value)> {
    let answer = |&asked: &c_int| {
        let socket = new();
        (asked, socket.set(level, name, &asked.to_ne_bytes()), socket.get(level, name, 4))
    };
    ASKED.iter().map(answer).collect()
}

#[test_case(AF_INET, SOL_SOCKET, SO_REUSEADDR)]
#[test_case(AF_INET, SOL_SOCKET, SO_KEEPALIVE)]
#[test_case(AF_INET, SOL_SOCKET, SO_TYPE)]
#[test_case(AF_INET, SOL_SOCKET, SO_ACCEPTCONN)]
#[test_case(AF_INET, SOL_SOCKET, SO_SNDBUF)]
#[test_case(AF_INET, SOL_SOCKET, SO_RCVBUF)]
#[test_case(AF_INET, SOL_SOCKET, SO_RCVLOWAT)]
#[test_case(AF_INET, SOL_SOCKET, SO_OOBINLINE)]
#[test_case(AF_INET, SOL_TCP, TCP_NODELAY)]
#[test_case(AF_INET, SOL_TCP, TCP_CORK)]
#[test_case(AF_INET, SOL_TCP, TCP_MAXSEG)]
#[test_case(AF_INET, SOL_TCP, TCP_KEEPIDLE)]
#[test_case(AF_INET, SOL_TCP, TCP_KEEPINTVL)]
#[test_case(AF_INET, SOL_TCP, TCP_KEEPCNT)]
#[test_case(AF_INET, SOL_TCP, TCP_SYNCNT)]
#[test_case(AF_INET, SOL_TCP, TCP_DEFER_ACCEPT)]
#[test_case(AF_INET, SOL_TCP, TCP_WINDOW_CLAMP)]
#[test_case(AF_INET, SOL_TCP, TCP_QUICKACK)]
#[test_case(AF_INET, SOL_TCP, TCP_USER_TIMEOUT)]
#[test_case(AF_INET, SOL_TCP, TCP_NOTSENT_LOWAT)]
#[test_case(AF_INET, SOL_TCP, TCP_INQ)]
#[test_case(AF_INET, SOL_IP, IP_TOS)]
#[test_case(AF_INET, SOL_IP, IP_TTL)]
#[test_case(AF_INET, SOL_IP, IP_MTU_DISCOVER)]
#[test_case(AF_INET, SOL_IP, IP_RECVERR)]
#[test_case(AF_INET, SOL_IP, IP_MTU)]
#[test_case(AF_INET, SOL_IPV6, IPV6_TCLASS; "not for version 4")]
#[test_case(AF_INET6, SOL_IPV6, IPV6_TCLASS)]
#[test_case(AF_INET6, SOL_IPV6, IPV6_UNICAST_HOPS)]
#[test_case(AF_INET6, SOL_IPV6, IPV6_V6ONLY)]
#[test_case(AF_INET6, SOL_IP, IP_TOS; "version 4 service on version 6")]
fn answers_are_the_kernels(family: c_int, level: c_int, name: c_int) {
    let script = Script::new();
    let ours = answers(|| Ours::new(&script, family), level, name);
    let kernels = answers(|| Kernel::new(family), level, name);
    assert_eq!(ours, kernels);
}

#[test_case(SOL_SOCKET, SO_REUSEADDR, 3)]
#[test_case(SOL_SOCKET, SO_LINGER, 4)]
#[test_case(SOL_SOCKET, SO_LINGER, 8)]
#[test_case(SOL_SOCKET, SO_RCVTIMEO, 8)]
#[test_case(SOL_SOCKET, SO_RCVTIMEO, 16)]
#[test_case(SOL_TCP, TCP_NODELAY, 0)]
#[test_case(SOL_TCP, TCP_NODELAY, 3)]
#[test_case(SOL_TCP, TCP_NODELAY, 8)]
#[test_case(SOL_TCP, TCP_INFO, 7)]
#[test_case(SOL_TCP, TCP_CONGESTION, 0)]
#[test_case(SOL_TCP, TCP_CONGESTION, 5)]
#[test_case(SOL_TCP, 200, 4; "no such option")]
#[test_case(SOL_IP, IP_TOS, 1)]
#[test_case(SOL_IP, IP_TOS, 0)]
#[test_case(SOL_IP, IP_TTL, 1)]
#[test_case(SOL_IP, IP_TTL, 0)]
#[test_case(999, 1, 4; "no such level")]
fn lengths_are_the_kernels(level: c_int, name: c_int, len: usize) {
    let script = Script::new();
    let (ours, kernels) = (Ours::new(&script, AF_INET), Kernel::new(AF_INET));
    let value = vec![1; len];
    assert_eq!(ours.set(level, name, &value), kernels.set(level, name, &value));
    // The values themselves are not all comparable, so compare their lengths.
    let length = |value: Value| value.map(|value| value.len());
    assert_eq!(length(ours.get(level, name, len)), length(kernels.get(level, name, len)));
}

/// As the packetdrill program calls it before it runs a script's code.
#[test]
fn what_a_scripts_code_reads_has_the_lengths_it_asserts() {
    let script = Script::new();
    let (fd, _) = script.accepted();
    let ours = Ours(&script, fd);
    assert_eq!(ours.get(SOL_TCP, TCP_INFO, 280).map(|info| (info.len(), info[0])), Ok((280, 1)));
    assert_eq!(ours.get(SOL_TCP, TCP_CC_INFO, 20).map(|info| info.len()), Ok(0));
    assert_eq!(ours.get(SOL_SOCKET, 55, 36).map(|info| info.len()), Ok(36));
}

#[test]
fn a_message_tells_how_much_is_left() {
    let script = Script::new();
    let (fd, iss) = script.accepted();
    script.setsockopt(fd, SOL_TCP, TCP_INQ, &[1]).unwrap();
    script.deliver(&script.segment(wire::Flags::PSH.with(wire::Flags::FIN), 1, Some(iss + 1)), &[0; 100]);
    assert_eq!((left_after(&script, fd, 40), left_after(&script, fd, 60)), (Some(61), Some(1)), "the FIN counts");
    script.setsockopt(fd, SOL_TCP, TCP_INQ, &[0]).unwrap();
    assert_eq!(left_after(&script, fd, 10), None);
}

/// Receives `len` bytes; returns how many are left according to a control message.
fn left_after(script: &Script, fd: c_int, len: usize) -> Option<c_int> {
    let (mut bytes, mut control) = (vec![0u8; len], [0u64; 8]);
    let mut piece = iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: len };
    let mut message: msghdr = unsafe { std::mem::zeroed() };
    (message.msg_iov, message.msg_iovlen) = (&raw mut piece, 1);
    (message.msg_control, message.msg_controllen) = (control.as_mut_ptr().cast(), size_of_val(&control));
    let table = script.table();
    let taken = unsafe { table.recvmsg.unwrap()(table.userdata, fd, &raw mut message, 0) };
    assert!(taken >= 0);
    let header = unsafe { CMSG_FIRSTHDR(&raw const message).as_ref() }?;
    assert_eq!((header.cmsg_level, header.cmsg_type, header.cmsg_len), (SOL_TCP, TCP_INQ, size_of::<cmsghdr>() + 4));
    Some(unsafe { CMSG_DATA(header).cast::<c_int>().read_unaligned() })
}
