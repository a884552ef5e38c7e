//! One of the two kernels: sockets in its namespace, echo requests, numbered datagrams, streams.

use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, recvmsg, setsockopt,
    socket, sockopt,
};
use nix::sys::time::TimeVal;
use nix::time::{ClockId, clock_gettime};
use std::io::{self, ErrorKind, IoSliceMut, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

/// After this long without a packet, no more are expected.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Longer than the longest delay of a packet.
const QUIET: Duration = Duration::from_millis(1_000);

/// A namespace, and its kernel's address there.
pub struct Kernel {
    namespace: String,
    address: IpAddr,
}

/// How fast datagrams are sent; each is an IP packet of 1500 bytes.
#[derive(Clone, Copy)]
pub enum Pace {
    /// One per this many microseconds.
    Every { micros: u64, packets: u32 },
    /// At a fraction of a rate.
    Share { of_bits_per_sec: u64, per_cent: u64, packets: u32 },
}

/// Datagrams in flight.
pub struct Sent {
    from: UdpSocket,
    to: UdpSocket,
    next: u32,
}

/// Payload of a datagram of 1500 bytes over IPv4.
const PAYLOAD: usize = 1_500 - 28;

/// A sender delayed by more than this does not catch up: its later packets have lost the pace.
const CATCH_UP: Duration = Duration::from_millis(200);

impl Kernel {
    pub fn in_namespace(namespace: &str, cidr: &str) -> Self {
        let (address, _) = cidr.split_once('/').unwrap();
        Self { namespace: namespace.to_owned(), address: address.parse().unwrap() }
    }

    fn inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        net::Namespace::open(&self.namespace).unwrap().run(work).unwrap()
    }

    /// Lets its connections ask for ECN (RFC 3168 §6.1.1).
    pub fn offer_ecn(&self) {
        self.inside(|| std::fs::write("/proc/sys/net/ipv4/tcp_ecn", "1").unwrap());
    }

    /// Names of the devices, sorted.
    pub fn devices(&self) -> Vec<String> {
        let table = self.inside(|| std::fs::read_to_string("/proc/thread-self/net/dev").unwrap());
        let mut names: Vec<String> =
            table.lines().filter_map(|line| Some(line.split_once(':')?.0.trim().to_owned())).collect();
        names.sort();
        names
    }

    /// Returns the round trips of echo requests (RFC 792), sent one after the other. The kernel's timestamps count, not the time
    /// at which this program ran.
    pub fn ping(&self, to: &Self, count: u16) -> Vec<Duration> {
        let IpAddr::V4(target) = to.address else { panic!("only over version four") };
        let protocol = SockProtocol::Icmp;
        let raw = self.inside(|| socket(AddressFamily::Inet, SockType::Raw, SockFlag::SOCK_CLOEXEC, protocol).unwrap());
        setsockopt(&raw, sockopt::ReceiveTimestampns, &true).unwrap();
        setsockopt(&raw, sockopt::ReceiveTimeout, &TimeVal::new(TIMEOUT.as_secs() as i64, 0)).unwrap();
        let target = SockaddrIn::from(std::net::SocketAddrV4::new(target, 0));
        (0..count)
            .map(|sequence| {
                std::thread::sleep(Duration::from_millis(5));
                let sent = clock_gettime(ClockId::CLOCK_REALTIME).unwrap();
                nix::sys::socket::sendto(raw.as_raw_fd(), &echo_request(sequence), &target, MsgFlags::empty()).unwrap();
                Duration::from(echo_reply(&raw, sequence)) - Duration::from(sent)
            })
            .collect()
    }

    /// Sends numbered datagrams, from zero.
    pub fn send(&self, to: &Self, pace: Pace) -> Sent {
        let (here, there) = (SocketAddr::new(self.address, 0), SocketAddr::new(to.address, 0));
        let receiver = to.inside(|| UdpSocket::bind(there).unwrap());
        setsockopt(&receiver, sockopt::RcvBufForce, &(16 << 20)).unwrap();
        let sender = self.inside(|| UdpSocket::bind(here).unwrap());
        sender.connect(receiver.local_addr().unwrap()).unwrap();
        send_at(pace, Sent { from: sender, to: receiver, next: 0 })
    }

    /// Sends more datagrams, continuing the numbers.
    pub fn send_more(&self, before: &Sent, pace: Pace) -> Sent {
        let (from, to) = (before.from.try_clone().unwrap(), before.to.try_clone().unwrap());
        send_at(pace, Sent { from, to, next: before.next })
    }

    /// Sends this many datagrams of this size in one call; returns what arrives.
    pub fn send_train(&self, to: &Self, count: u8, size: usize) -> Vec<Vec<u8>> {
        let (here, there) = (SocketAddr::new(self.address, 0), SocketAddr::new(to.address, 0));
        let receiver = to.inside(|| UdpSocket::bind(there).unwrap());
        let sender = self.inside(|| UdpSocket::bind(here).unwrap());
        setsockopt(&sender, sockopt::UdpGsoSegment, &(size as i32)).unwrap();
        let train: Vec<u8> = (0..count).flat_map(|index| vec![index; size]).collect();
        sender.send_to(&train, receiver.local_addr().unwrap()).unwrap();
        receiver.set_read_timeout(Some(TIMEOUT)).unwrap();
        let next = |_| {
            let mut bytes = vec![0; train.len()];
            let len = unless_interrupted(|| receiver.recv(&mut bytes)).expect("a datagram is missing");
            bytes.truncate(len);
            bytes
        };
        (0..count).map(next).collect()
    }

    /// Sends a stream; returns how many correct bytes arrived.
    pub fn stream(&self, to: &Self, bytes: u64) -> u64 {
        let (here, there) = (SocketAddr::new(self.address, 0), SocketAddr::new(to.address, 0));
        let listener = to.inside(|| TcpListener::bind(there).unwrap());
        let target = listener.local_addr().unwrap();
        assert!(target.is_ipv4() == here.is_ipv4());
        std::thread::scope(|scope| {
            let receiving = scope.spawn(|| receive(listener.accept().unwrap().0));
            let mut stream = self.inside(|| TcpStream::connect_timeout(&target, TIMEOUT).unwrap());
            stream.set_write_timeout(Some(TIMEOUT)).unwrap();
            let mut payload = vec![0; bytes as usize];
            tcp::fill_pattern(0, &mut payload);
            stream.write_all(&payload).unwrap();
            drop(stream);
            receiving.join().unwrap()
        })
    }
}

/// Calls again what a signal interrupts, as happens when a host freezes this process for a moment.
fn unless_interrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

fn receive(mut stream: TcpStream) -> u64 {
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let mut came = Vec::new();
    stream.read_to_end(&mut came).unwrap();
    let mut expected = vec![0; came.len()];
    tcp::fill_pattern(0, &mut expected);
    came.iter().zip(&expected).take_while(|(came, expected)| came == expected).count() as u64
}

fn send_at(pace: Pace, mut sent: Sent) -> Sent {
    let (gap, packets) = match pace {
        Pace::Every { micros, packets } => (Duration::from_micros(micros), packets),
        Pace::Share { of_bits_per_sec, per_cent, packets } => {
            (Duration::from_nanos(1_500 * 8 * 1_000_000_000 * 100 / (of_bits_per_sec * per_cent)), packets)
        }
    };
    let last = sent.next + packets;
    let mut due = Instant::now();
    while sent.next < last {
        let now = Instant::now();
        if now < due {
            std::thread::sleep(due - now);
        }
        due = due.max(now.checked_sub(CATCH_UP).unwrap_or(due)) + gap;
        let mut payload = [0; PAYLOAD];
        payload[..4].copy_from_slice(&sent.next.to_be_bytes());
        sent.from.send(&payload).unwrap();
        sent.next += 1;
    }
    sent
}

impl Sent {
    /// Returns the numbers of the datagrams that arrive, in order, until no more do.
    pub fn received(&self) -> Vec<u32> {
        self.received_at_least(0)
    }

    /// The same if some are known to take longer.
    pub fn received_at_least(&self, count: usize) -> Vec<u32> {
        let mut numbers = self.received_within(TIMEOUT, count);
        numbers.extend(self.received_within(QUIET, usize::MAX));
        numbers
    }

    fn received_within(&self, timeout: Duration, at_most: usize) -> Vec<u32> {
        self.to.set_read_timeout(Some(timeout)).unwrap();
        let mut payload = [0; PAYLOAD];
        let mut numbers = Vec::new();
        while numbers.len() < at_most
            && let Ok(len) = unless_interrupted(|| self.to.recv(&mut payload))
        {
            assert_eq!(len, PAYLOAD);
            numbers.push(u32::from_be_bytes(payload[..4].try_into().unwrap()));
        }
        numbers
    }
}

fn echo_request(sequence: u16) -> [u8; 64] {
    let mut message = [0; 64];
    message[0] = 8;
    message[6..8].copy_from_slice(&sequence.to_be_bytes());
    let sum = wire::checksum::ones_complement_sum(&message);
    message[2..4].copy_from_slice(&(!sum).to_be_bytes());
    message
}

/// Returns when the reply arrived, by the kernel's clock.
fn echo_reply(raw: &OwnedFd, sequence: u16) -> nix::sys::time::TimeSpec {
    loop {
        let mut bytes = [0; 1_500];
        let mut stamp = nix::cmsg_space!(nix::sys::time::TimeSpec);
        let (len, at) = {
            let mut into = [IoSliceMut::new(&mut bytes)];
            let message = recvmsg::<SockaddrIn>(raw.as_raw_fd(), &mut into, Some(&mut stamp), MsgFlags::empty());
            let message = message.expect("no echo came back");
            let stamped = message.cmsgs().unwrap().find_map(|control| match control {
                ControlMessageOwned::ScmTimestampns(at) => Some(at),
                _ => None,
            });
            (message.bytes, stamped.expect("the kernel stamps what it receives"))
        };
        let icmp = &bytes[20..len];
        if icmp[0] == 0 && icmp[6..8] == sequence.to_be_bytes() {
            return at;
        }
    }
}
