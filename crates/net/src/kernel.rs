//! Statistics of the kernel's own TCP about one of its connections: the two numbers of `TCP_INFO` that no counter of the
//! namespace has.
//!
//! With `link/sched.rs` one of the two modules of the crate with `unsafe`: neither the standard library nor `nix` supports the
//! option.
#![allow(unsafe_code)]

use nix::libc::{IPPROTO_TCP, TCP_INFO, getsockopt, socklen_t};
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// Totals of one of the kernel's connections, in bytes of payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelTotals {
    /// Sent, retransmissions included.
    pub bytes_sent: u64,
    /// Sent again.
    pub bytes_retransmitted: u64,
}

/// Offset in the kernel's answer.
const BYTES_SENT: usize = 200;
const BYTES_RETRANSMITTED: usize = 208;
const LEN: usize = 216;

/// Queries the kernel about a connected socket.
///
/// # Errors
/// If it is not a TCP socket, or the kernel is older than 4.19 and does not count.
pub fn kernel_totals(socket: &impl AsFd) -> io::Result<KernelTotals> {
    let mut answer = [0_u8; LEN];
    let mut len = LEN as socklen_t;
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: the kernel writes at most `len` bytes into an array of that length, and their number into `len`.
    let result = unsafe { getsockopt(fd, IPPROTO_TCP, TCP_INFO, answer.as_mut_ptr().cast(), &raw mut len) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    if (len as usize) < LEN {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let (words, _) = answer.as_chunks::<8>();
    let word = |at: usize| u64::from_ne_bytes(words[at / 8]);
    Ok(KernelTotals { bytes_sent: word(BYTES_SENT), bytes_retransmitted: word(BYTES_RETRANSMITTED) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixStream;

    #[test]
    fn what_was_sent_is_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut server = listener.accept().unwrap().0;
        client.write_all(&[0; 1234]).unwrap();
        server.read_exact(&mut [0; 1234]).unwrap();
        assert_eq!(kernel_totals(&client).unwrap(), KernelTotals { bytes_sent: 1234, bytes_retransmitted: 0 });
        assert_eq!(kernel_totals(&server).unwrap(), KernelTotals { bytes_sent: 0, bytes_retransmitted: 0 });
    }

    #[test]
    fn other_sockets_are_refused() {
        kernel_totals(&UnixStream::pair().unwrap().0).unwrap_err();
    }
}
