//! The check of the path itself: datagrams at a set rate, whose arrival tells the path's rate and delay.

use crate::clock::{SECOND, now};
use crate::options::Options;
use crate::priority;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

/// Payload of a datagram, bytes; with 28 of headers it is a packet of 1500.
const PAYLOAD: usize = 1_472;

/// The same with its headers.
const PACKET: u64 = 1_500;

/// The receiver ends after this long without a datagram.
const QUIET: Duration = Duration::from_secs(2);

/// Sends `count` datagrams to `to`, `rate` bits of IP packets in a second. Each tells when it left.
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
        // Whoever wakes late sends what has become due meanwhile: the rate holds over a buffer's length.
        std::thread::sleep(Duration::from_nanos(due.saturating_sub(now())));
        datagram[..8].copy_from_slice(&now().to_be_bytes());
        socket.send_to(&datagram, to).map_err(failed)?;
    }
    println!("sent={count}");
    Ok(())
}

/// Receives at `on` until nothing comes any more. Prints how many came, the bits of IP packets in a second from the first
/// to the last, and the tenth percentile of their delays: what it takes to wake the receiver is not the path's, and varies.
pub(crate) fn sink(options: &Options) -> Result<(), String> {
    let on: SocketAddr = options.get("on")?;
    let failed = |error: io::Error| format!("receiving on {on}: {error}");
    let socket = UdpSocket::bind(on).map_err(failed)?;
    priority::raise();
    println!("ready=1");
    let mut datagram = [0; PAYLOAD];
    let (mut first, mut last, mut delays) = (0, 0, Vec::new());
    loop {
        match socket.recv(&mut datagram) {
            Ok(PAYLOAD) => {}
            Ok(_) => continue,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => break,
            Err(error) => return Err(failed(error)),
        }
        last = now();
        if delays.is_empty() {
            first = last;
            socket.set_read_timeout(Some(QUIET)).map_err(failed)?;
        }
        let left = u64::from_be_bytes(datagram[..8].try_into().expect("eight bytes"));
        delays.push(last - left);
    }
    delays.sort_unstable();
    let count = delays.len();
    let delay = delays.get(count / 10).copied().unwrap_or(0);
    let rate = (count.max(1) - 1) as f64 * (PACKET * 8) as f64 * SECOND as f64 / (last - first).max(1) as f64;
    println!("came={count} rate_bps={rate:.0} delay_us={:.1}", delay as f64 / 1e3);
    Ok(())
}
