//! The virtio-net header (virtio 1.2 §5.1.6, in the form of the kernel's TUN driver: 10 bytes, the machine's byte order), which
//! says what is left to do for a packet.

use crate::device::{Frame, Received};
use tcp::ChecksumState;
use tun_rs::{VIRTIO_NET_HDR_GSO_TCPV4, VIRTIO_NET_HDR_GSO_TCPV6, VIRTIO_NET_HDR_LEN, VirtioNetHdr};

/// Flags (virtio 1.2 §5.1.6): the checksum is still to be computed; it was verified below.
pub(crate) const NEEDS_CSUM: u8 = 1;
const DATA_VALID: u8 = 2;
/// Added to the type of a super-segment: its sender uses ECN.
pub(crate) const GSO_ECN: u8 = 0x80;
/// A train of UDP datagrams (virtio 1.2 §5.1.6, `VIRTIO_NET_HDR_GSO_UDP_L4`).
pub(crate) const GSO_UDP_L4: u8 = 5;
/// Offset of the checksum in a TCP header.
const TCP_CHECKSUM_AT: u16 = 16;

/// Interprets the header in front of a packet of `len` bytes.
pub(crate) fn received(header: &[u8; VIRTIO_NET_HDR_LEN], len: usize) -> Received {
    let header = VirtioNetHdr::decode(header).expect("the length is the header's");
    let gso_size = match header.gso_type & !GSO_ECN {
        VIRTIO_NET_HDR_GSO_TCPV4 | VIRTIO_NET_HDR_GSO_TCPV6 | GSO_UDP_L4 => Some(header.gso_size),
        _ => None,
    };
    // A packet from this machine has no checksum yet; a forwarded one may have been verified on entry. No checksum covers a whole
    // super-segment, and the kernel merges only segments that were correct.
    let vouched_for = header.flags & (NEEDS_CSUM | DATA_VALID) != 0 || gso_size.is_some();
    let checksum = if vouched_for { ChecksumState::Device } else { ChecksumState::InHeader };
    Received { len, gso_size, checksum }
}

/// Returns the header that tells the kernel what is left to do for `frame`.
pub(crate) fn virtio_header(frame: &Frame<'_>) -> [u8; VIRTIO_NET_HDR_LEN] {
    let mut header = VirtioNetHdr::default();
    if frame.checksum == ChecksumState::Device {
        header.flags = NEEDS_CSUM;
        header.csum_start = wire::checksum::offset_of_segment(frame.header) as u16;
        header.csum_offset = TCP_CHECKSUM_AT;
    }
    if let Some(gso_size) = frame.gso_size {
        let version_4 = frame.header[0] >> 4 == 4;
        header.gso_type = if version_4 { VIRTIO_NET_HDR_GSO_TCPV4 } else { VIRTIO_NET_HDR_GSO_TCPV6 };
        header.gso_size = gso_size;
        header.hdr_len = frame.header.len() as u16;
    }
    let mut bytes = [0; VIRTIO_NET_HDR_LEN];
    header.encode(&mut bytes).expect("the length is the header's");
    bytes
}

#[cfg(test)]
mod tests;
