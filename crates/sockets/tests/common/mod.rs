//! A caller of the C interface: the calls with Rust's result types, and a peer that builds and parses packets.
#![allow(dead_code, reason = "each test program uses its part")]

use base::SeqNum;
use libc::{AF_INET, AF_INET6, IPPROTO_TCP, SOCK_STREAM, c_int, c_void, sockaddr, socklen_t};
use longhaul_packetdrill::abi::Interface;
use longhaul_packetdrill::packetdrill_interface_init;
use std::ffi::CString;
use std::net::{IpAddr, SocketAddr};
use wire::{Ecn, Flags, IpRepr, Options, TcpRepr};

/// The window the peer offers, and its first sequence number.
pub const PEER_WINDOW: u16 = 32_792;
pub const PEER_ISS: SeqNum = SeqNum(0);
/// Ends of the connection under test.
pub const LOCAL_PORT: u16 = 8_080;
pub const PEER_PORT: u16 = 40_000;

/// A loaded script.
pub struct Script {
    interface: Interface,
    pub family: c_int,
    pub local: SocketAddr,
    pub peer: SocketAddr,
}

// SAFETY: the interface is made for calls from two threads.
unsafe impl Send for Script {}
// SAFETY: as above.
unsafe impl Sync for Script {}

impl Drop for Script {
    fn drop(&mut self) {
        // SAFETY: no call follows.
        unsafe { self.interface.free.unwrap()(self.interface.userdata) }
    }
}

/// `Err` with the name of the error that the call left in `errno`.
pub type Answer<T> = Result<T, nix::errno::Errno>;

fn answer(result: i64) -> Answer<i32> {
    if result >= 0 { Ok(result as i32) } else { Err(nix::errno::Errno::last()) }
}

/// A packet from the stack, as the peer parses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub ip: IpRepr,
    pub tcp: TcpRepr,
    pub payload: Vec<u8>,
    /// Microseconds of the script's clock.
    pub at: i64,
}

impl Seen {
    pub fn has(&self, flags: Flags) -> bool {
        self.tcp.flags.contains(flags)
    }
}

/// An address in C's layout.
pub fn sockaddr_of(address: SocketAddr) -> Vec<u8> {
    let (family, len) = if address.is_ipv4() { (AF_INET, 16) } else { (AF_INET6, 28) };
    let mut bytes = vec![0; len];
    bytes[..2].copy_from_slice(&(family as u16).to_ne_bytes());
    bytes[2..4].copy_from_slice(&address.port().to_be_bytes());
    match address.ip() {
        IpAddr::V4(ip) => bytes[4..8].copy_from_slice(&ip.octets()),
        IpAddr::V6(ip) => bytes[8..24].copy_from_slice(&ip.octets()),
    }
    bytes
}

impl Script {
    pub fn new() -> Self {
        Self::with_flags("")
    }

    pub fn with_flags(flags: &str) -> Self {
        Self::between(flags, "192.168.0.1".parse().unwrap(), "192.0.2.1".parse().unwrap())
    }

    pub fn between(flags: &str, local: IpAddr, peer: IpAddr) -> Self {
        let text = CString::new(format!("local={local},{flags}")).unwrap();
        let mut interface = Interface::zeroed();
        // SAFETY: a string and a table.
        unsafe { packetdrill_interface_init(text.as_ptr(), &raw mut interface) };
        let family = if local.is_ipv4() { AF_INET } else { AF_INET6 };
        let (local, peer) = (SocketAddr::new(local, LOCAL_PORT), SocketAddr::new(peer, PEER_PORT));
        Self { interface, family, local, peer }
    }

    pub fn table(&self) -> &Interface {
        &self.interface
    }

    fn u(&self) -> *mut c_void {
        self.interface.userdata
    }

    pub fn socket(&self) -> c_int {
        // SAFETY: the table's contract, here and below.
        answer(unsafe { self.interface.socket.unwrap()(self.u(), self.family, SOCK_STREAM, IPPROTO_TCP) }.into())
            .unwrap()
    }
    pub fn bind(&self, fd: c_int, to: SocketAddr) -> Answer<i32> {
        let bytes = sockaddr_of(to);
        let (at, len) = (bytes.as_ptr().cast::<sockaddr>(), bytes.len() as socklen_t);
        answer(unsafe { self.interface.bind.unwrap()(self.u(), fd, at, len) }.into())
    }
    pub fn listen(&self, fd: c_int, backlog: c_int) -> Answer<i32> {
        answer(unsafe { self.interface.listen.unwrap()(self.u(), fd, backlog) }.into())
    }
    pub fn connect(&self, fd: c_int, to: SocketAddr) -> Answer<i32> {
        self.connect_bytes(fd, &sockaddr_of(to))
    }
    pub fn connect_bytes(&self, fd: c_int, bytes: &[u8]) -> Answer<i32> {
        let (at, len) = (bytes.as_ptr().cast::<sockaddr>(), bytes.len() as socklen_t);
        answer(unsafe { self.interface.connect.unwrap()(self.u(), fd, at, len) }.into())
    }
    /// The descriptor and the reported peer address.
    pub fn accept(&self, fd: c_int) -> Answer<(i32, Vec<u8>)> {
        let mut bytes = [0u8; 128];
        let mut len = bytes.len() as socklen_t;
        let at = bytes.as_mut_ptr().cast::<sockaddr>();
        let fd = answer(unsafe { self.interface.accept.unwrap()(self.u(), fd, at, &raw mut len) }.into())?;
        Ok((fd, bytes[..len as usize].to_vec()))
    }
    pub fn read(&self, fd: c_int, len: usize) -> Answer<Vec<u8>> {
        self.recv(fd, len, 0)
    }
    pub fn recv(&self, fd: c_int, len: usize, flags: c_int) -> Answer<Vec<u8>> {
        let mut bytes = vec![0u8; len];
        let at = bytes.as_mut_ptr().cast();
        let read = match flags {
            0 => unsafe { self.interface.read.unwrap()(self.u(), fd, at, len) },
            _ => unsafe { self.interface.recv.unwrap()(self.u(), fd, at, len, flags) },
        };
        bytes.truncate(answer(read as i64)? as usize);
        Ok(bytes)
    }
    pub fn write(&self, fd: c_int, bytes: &[u8]) -> Answer<i32> {
        answer(unsafe { self.interface.write.unwrap()(self.u(), fd, bytes.as_ptr().cast(), bytes.len()) } as i64)
    }
    pub fn send(&self, fd: c_int, bytes: &[u8], flags: c_int) -> Answer<i32> {
        answer(unsafe { self.interface.send.unwrap()(self.u(), fd, bytes.as_ptr().cast(), bytes.len(), flags) } as i64)
    }
    pub fn send_to(&self, fd: c_int, bytes: &[u8], flags: c_int, to: SocketAddr) -> Answer<i32> {
        let address = sockaddr_of(to);
        let (data, at) = (bytes.as_ptr().cast(), address.as_ptr().cast());
        let send_to = self.interface.sendto.unwrap();
        answer(unsafe { send_to(self.u(), fd, data, bytes.len(), flags, at, address.len() as socklen_t) } as i64)
    }
    pub fn close(&self, fd: c_int) -> Answer<i32> {
        answer(unsafe { self.interface.close.unwrap()(self.u(), fd) }.into())
    }
    pub fn shutdown(&self, fd: c_int, how: c_int) -> Answer<i32> {
        answer(unsafe { self.interface.shutdown.unwrap()(self.u(), fd, how) }.into())
    }
    pub fn set_nonblocking(&self, fd: c_int) {
        let set =
            unsafe { self.interface.fcntl.unwrap()(self.u(), fd, libc::F_SETFL, libc::O_RDWR | libc::O_NONBLOCK) };
        assert_eq!(set, 0);
    }
    pub fn fcntl(&self, fd: c_int, command: c_int) -> Answer<i32> {
        answer(unsafe { self.interface.fcntl.unwrap()(self.u(), fd, command) }.into())
    }
    pub fn ioctl(&self, fd: c_int, request: u64) -> Answer<i32> {
        let mut value: c_int = -1;
        answer(unsafe { self.interface.ioctl.unwrap()(self.u(), fd, request, &raw mut value) }.into())?;
        Ok(value)
    }
    pub fn getsockopt(&self, fd: c_int, level: c_int, name: c_int) -> Answer<i32> {
        let mut value: c_int = -1;
        let mut len = size_of::<c_int>() as socklen_t;
        let at = (&raw mut value).cast();
        answer(unsafe { self.interface.getsockopt.unwrap()(self.u(), fd, level, name, at, &raw mut len) }.into())?;
        Ok(value)
    }
    pub fn setsockopt(&self, fd: c_int, level: c_int, name: c_int, value: &[c_int]) -> Answer<i32> {
        let (at, len) = (value.as_ptr().cast(), size_of_val(value) as socklen_t);
        answer(unsafe { self.interface.setsockopt.unwrap()(self.u(), fd, level, name, at, len) }.into())
    }
    /// Which of the requested events a descriptor is ready for.
    pub fn poll(&self, fd: c_int, events: i16, timeout_ms: c_int) -> i16 {
        let mut entry = libc::pollfd { fd, events, revents: -1 };
        let ready = unsafe { self.interface.poll.unwrap()(self.u(), &raw mut entry, 1, timeout_ms) };
        assert_eq!(ready, i32::from(entry.revents != 0));
        entry.revents
    }

    /// Microseconds of the script's clock; reading it takes one.
    pub fn now(&self) -> i64 {
        let mut time = libc::timeval { tv_sec: 0, tv_usec: 0 };
        unsafe { self.interface.gettimeofday.unwrap()(self.u(), &raw mut time, std::ptr::null_mut()) };
        time.tv_sec * 1_000_000 + time.tv_usec
    }
    pub fn usleep(&self, us: u32) {
        assert_eq!(unsafe { self.interface.usleep.unwrap()(self.u(), us) }, 0);
    }

    /// Hands the stack a raw packet.
    pub fn deliver_raw(&self, bytes: &[u8]) {
        assert_eq!(unsafe { self.interface.netdev_send.unwrap()(self.u(), bytes.as_ptr().cast(), bytes.len()) }, 0);
    }
    /// The next raw packet and its time; `None` when no packet will come.
    pub fn receive_raw(&self) -> Option<(Vec<u8>, i64)> {
        let mut bytes = vec![0u8; 65_536];
        let (mut len, mut at) = (bytes.len(), 0);
        let receive = self.interface.netdev_receive.unwrap();
        let status = unsafe { receive(self.u(), bytes.as_mut_ptr().cast(), &raw mut len, &raw mut at) };
        assert_eq!(status, 0, "packetdrill would ask again without end");
        bytes.truncate(len);
        (len > 0).then_some((bytes, at))
    }

    /// A segment from the peer, without options.
    pub fn segment(&self, flags: Flags, seq: u32, ack: Option<SeqNum>) -> TcpRepr {
        TcpRepr {
            src_port: self.peer.port(),
            dst_port: self.local.port(),
            seq: PEER_ISS + seq,
            ack,
            flags,
            window: PEER_WINDOW,
            urgent: 0,
            options: Options::default(),
        }
    }
    pub fn deliver(&self, tcp: &TcpRepr, payload: &[u8]) {
        let ip = IpRepr {
            src: self.peer.ip(),
            dst: self.local.ip(),
            ttl: 255,
            dscp: 0,
            ecn: Ecn::NotEct,
            fragmentation: wire::Fragmentation::Forbidden,
        };
        let mut header = [0; wire::MAX_HEADER];
        let len = wire::emit(&ip, tcp, payload.len() as u32, &mut header);
        wire::checksum::fill(&mut header[..len], payload);
        self.deliver_raw(&[&header[..len], payload].concat());
    }
    /// The next packet, its checksums verified.
    pub fn receive(&self) -> Option<Seen> {
        let (bytes, at) = self.receive_raw()?;
        let split = wire::split(&bytes).expect("a TCP segment");
        assert_eq!(split.header.bytes().len() + split.payload.len(), bytes.len());
        let (ip, tcp) = split.header.parse(split.payload.len() as u32).expect("a valid header");
        assert!(wire::checksum::verify(&split.header, split.payload));
        Some(Seen { ip, tcp, payload: split.payload.to_vec(), at })
    }
    pub fn expect(&self) -> Seen {
        self.receive().expect("a packet")
    }

    /// A listening socket.
    pub fn listener(&self) -> c_int {
        let fd = self.socket();
        self.setsockopt(fd, libc::SOL_SOCKET, libc::SO_REUSEADDR, &[1]).unwrap();
        self.bind(fd, self.local).unwrap();
        self.listen(fd, 1).unwrap();
        fd
    }
    /// The peer opens a connection; returns our first sequence number.
    pub fn peer_opens(&self) -> SeqNum {
        let mut syn = self.segment(Flags::SYN, 0, None);
        syn.options.mss = Some(1_000);
        syn.options.sack_permitted = true;
        self.deliver(&syn, b"");
        let syn_ack = self.expect();
        assert!(syn_ack.has(Flags::SYN) && syn_ack.tcp.ack == Some(PEER_ISS + 1));
        self.deliver(&self.segment(Flags::NONE, 1, Some(syn_ack.tcp.seq + 1)), b"");
        syn_ack.tcp.seq
    }
    /// An accepted connection: its descriptor and our first sequence number.
    pub fn accepted(&self) -> (c_int, SeqNum) {
        let listener = self.listener();
        let iss = self.peer_opens();
        let (fd, _) = self.accept(listener).unwrap();
        self.close(listener).unwrap();
        (fd, iss)
    }
}
