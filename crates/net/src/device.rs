//! The device seam: what the loop needs of whatever carries IP packets.

use std::io;
use std::os::fd::BorrowedFd;
use tcp::{ChecksumState, DeviceCaps};

/// What is known about a frame that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Bytes of the IP packet.
    pub len: usize,
    /// Segment size of a super-segment; `None` for a plain packet.
    pub gso_size: Option<u16>,
    /// Whether the TCP checksum is to be verified.
    pub checksum: ChecksumState,
}

/// A frame to be written.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// IP and TCP header.
    pub header: &'a [u8],
    /// The segment's bytes.
    pub payload: &'a [u8],
    /// Segment size when the device is to cut the payload.
    pub gso_size: Option<u16>,
    /// `Device` when only the pseudo-header sum stands in the checksum field.
    pub checksum: ChecksumState,
}

/// Carries IP packets, without ever blocking.
pub trait Device {
    /// What it can do for the stack.
    fn caps(&self) -> DeviceCaps;
    /// Most frames that wait in it to be read.
    fn queue(&self) -> usize;
    /// What to wait on until it can be read or written.
    fn fd(&self) -> BorrowedFd<'_>;
    /// Reads one packet into `buf`; what does not fit is lost.
    ///
    /// # Errors
    /// `WouldBlock` when there is none; anything else ends the loop.
    fn receive(&mut self, buf: &mut [u8]) -> io::Result<Received>;
    /// Writes one packet.
    ///
    /// # Errors
    /// `WouldBlock` when the device has no room; anything else ends the loop.
    fn transmit(&mut self, frame: &Frame<'_>) -> io::Result<()>;
}
