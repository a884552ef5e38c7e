//! The check of the path itself: datagrams at a fixed rate, whose arrivals show the path's rate and delay.

use crate::clock::{SECOND, nanos, now, wall};
use crate::options::Options;
use crate::priority;
use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt::ReceiveTimestampns};
use nix::sys::time::TimeSpec;
use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::Duration;

/// Payload of a datagram, bytes; with 28 bytes of headers it is a packet of 1500.
const PAYLOAD: usize = 1_472;

/// The same with its headers.
const PACKET: u64 = 1_500;

/// The receiver stops after this long without a datagram.
const QUIET: Duration = Duration::from_secs(2);

/// Sends `count` datagrams to `to`, at `rate` bits of IP packets per second. Each carries the time at which it left.
pub(crate) fn source(options: &Options) -> Result<(), String> {
    let to: SocketAddr = options.get("to")?;
    let (rate, count): (u64, u64) = (options.get("rate")?, options.get("count")?);
    let failed = |error: io::Error| format!("sending to {to}: {error}");
    let socket = UdpSocket::bind(("0.0.0.0", 0)).map_err(failed)?;
    priority::raise();
    let began = now();
    let mut datagram = [0; PAYLOAD];
    for index in 0..count {
        let due = began + index * PACKET * 8 * SECOND / rate;
        // A sender that wakes late sends what has become due meanwhile: the rate holds averaged over a buffer's length.
        std::thread::sleep(Duration::from_nanos(due.saturating_sub(now())));
        datagram[..8].copy_from_slice(&wall().to_be_bytes());
        socket.send_to(&datagram, to).map_err(failed)?;
    }
    println!("sent={count}");
    Ok(())
}

/// Receives at `on` until no more datagrams come. Prints how many came, the bits of IP packets per second from the first
/// to the last, and the tenth percentile of their delays. The kernel stamps them on arrival, so the time it takes to wake the
/// receiver is not counted as delay of the path.
pub(crate) fn sink(options: &Options) -> Result<(), String> {
    let on: SocketAddr = options.get("on")?;
    let failed = |error: io::Error| format!("receiving on {on}: {error}");
    let socket = UdpSocket::bind(on).map_err(failed)?;
    priority::raise();
    println!("ready=1");
    setsockopt(&socket, ReceiveTimestampns, &true).map_err(|error| failed(error.into()))?;
    let mut space = nix::cmsg_space!(TimeSpec);
    let mut datagram = [0; PAYLOAD];
    let (mut first, mut last, mut delays) = (0, 0, Vec::new());
    loop {
        let mut parts = [IoSliceMut::new(&mut datagram)];
        let received = match recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut space), MsgFlags::empty()) {
            Ok(received) => received,
            Err(Errno::EAGAIN) => break,
            Err(Errno::EINTR) => continue,
            Err(errno) => return Err(failed(errno.into())),
        };
        let stamp = |message| match message {
            ControlMessageOwned::ScmTimestampns(time) => Some(nanos(time)),
            _ => None,
        };
        let stamps = received.cmsgs().map_err(|error| failed(error.into()))?;
        let (PAYLOAD, Some(arrived)) = (received.bytes, stamps.filter_map(stamp).next()) else { continue };
        last = arrived;
        if delays.is_empty() {
            first = last;
            socket.set_read_timeout(Some(QUIET)).map_err(failed)?;
        }
        let left = u64::from_be_bytes(datagram[..8].try_into().expect("eight bytes"));
        // The wall clock may step.
        delays.push(last.saturating_sub(left));
    }
    delays.sort_unstable();
    let count = delays.len();
    let delay = delays.get(count / 10).copied().unwrap_or(0);
    let rate = (count.max(1) - 1) as f64 * (PACKET * 8) as f64 * SECOND as f64 / (last - first).max(1) as f64;
    println!("came={count} rate_bps={rate:.0} delay_us={:.1}", delay as f64 / 1e3);
    Ok(())
}
