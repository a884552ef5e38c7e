//! The device seam: what the loop needs from a carrier of IP packets.

use std::io;
use std::os::fd::BorrowedFd;
use tcp::{ChecksumState, DeviceCaps};

/// What is known about a frame that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Bytes of the IP packet.
    pub len: usize,
    /// Segment size of a super-segment, or of a train of datagrams; `None` for a plain packet.
    pub gso_size: Option<u16>,
    /// Whether the TCP checksum is to be verified.
    pub checksum: ChecksumState,
}

/// A frame to write.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// IP and TCP header.
    pub header: &'a [u8],
    /// The segment's bytes.
    pub payload: &'a [u8],
    /// Segment size if the device is to segment the payload.
    pub gso_size: Option<u16>,
    /// `Device` if the checksum field only holds the pseudo-header sum.
    pub checksum: ChecksumState,
}

/// Carries IP packets, without ever blocking.
pub trait Device {
    /// Returns its capabilities for the stack.
    fn caps(&self) -> DeviceCaps;
    /// Returns the maximum number of frames that wait in it to be read.
    fn queue(&self) -> usize;
    /// Returns the descriptor that becomes readable or writable.
    fn fd(&self) -> BorrowedFd<'_>;
    /// Reads one packet into `buf`; bytes beyond the buffer are lost.
    ///
    /// # Errors
    /// `WouldBlock` if there is none; any other error ends the loop.
    fn receive(&mut self, buf: &mut [u8]) -> io::Result<Received>;
    /// Writes one packet.
    ///
    /// # Errors
    /// `WouldBlock` if the device has no room; any other error ends the loop.
    fn transmit(&mut self, frame: &Frame<'_>) -> io::Result<()>;
}
