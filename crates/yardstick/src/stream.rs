//! The kernel's TCP at either end, over the standard library's sockets.

use crate::clock::{SECOND, now};
use crate::options::Options;
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::TcpCongestion;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};

/// Bytes that are written or read at once.
const CHUNK: usize = 1 << 16;

/// Sends `bytes` zeros to `to`, with CUBIC. Prints how many segments the kernel of this namespace retransmitted.
pub(crate) fn source(options: &Options) -> Result<(), String> {
    let to: SocketAddr = options.get("to")?;
    let mut left: u64 = options.get("bytes")?;
    let failed = |error: std::io::Error| format!("sending to {to}: {error}");
    let mut stream = TcpStream::connect(to).map_err(failed)?;
    // No data has been sent yet: the congestion control starts with its initial window.
    setsockopt(&stream, TcpCongestion, &"cubic".into()).map_err(|errno| format!("CUBIC: {errno}"))?;
    let chunk = vec![0; CHUNK];
    while left > 0 {
        let len = left.min(CHUNK as u64) as usize;
        stream.write_all(&chunk[..len]).map_err(failed)?;
        left -= len as u64;
    }
    stream.shutdown(Shutdown::Write).map_err(failed)?;
    // The other end closes when it has read everything.
    stream.read(&mut [0]).map_err(failed)?;
    let table = std::fs::read_to_string("/proc/thread-self/net/snmp").map_err(|error| format!("snmp: {error}"))?;
    let count = |name: &str| counter(&table, name).ok_or_else(|| format!("the kernel does not count {name}"));
    println!("segments={} again={}", count("OutSegs")?, count("RetransSegs")?);
    Ok(())
}

/// A counter of the `Tcp` table: a line of names, followed by a line of numbers.
fn counter(table: &str, name: &str) -> Option<u64> {
    let mut lines = table.lines().filter_map(|line| line.strip_prefix("Tcp:"));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let at = names.split_whitespace().position(|other| other == name)?;
    numbers.split_whitespace().nth(at)?.parse().ok()
}

/// Accepts one connection at `on` and reads it to its end. Prints the bytes, and the seconds from the accept to the last byte.
pub(crate) fn sink(options: &Options) -> Result<(), String> {
    let on: SocketAddr = options.get("on")?;
    let failed = |error: std::io::Error| format!("listening on {on}: {error}");
    let listener = TcpListener::bind(on).map_err(failed)?;
    println!("ready=1");
    let (mut stream, _) = listener.accept().map_err(failed)?;
    let accepted = now();
    let (mut bytes, mut last, mut chunk) = (0, accepted, vec![0; CHUNK]);
    loop {
        let len = stream.read(&mut chunk).map_err(failed)?;
        if len == 0 {
            break;
        }
        bytes += len as u64;
        last = now();
    }
    println!("bytes={bytes} seconds={:.6}", (last - accepted) as f64 / SECOND as f64);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_below_their_names() {
        let table = "Ip: Forwarding\nIp: 1\nTcp: OutSegs RetransSegs\nTcp: 12 3\nUdp: OutDatagrams\nUdp: 9\n";
        assert_eq!((counter(table, "OutSegs"), counter(table, "RetransSegs")), (Some(12), Some(3)));
        assert_eq!(counter(table, "OutDatagrams"), None);
    }
}
