//! An IP packet of any protocol on its way through a link, and how a super-segment becomes packets.
//!
//! Two kernels talk to each other here, and each leaves to its device what the other need not check: a packet keeps the
//! virtio-net header (virtio 1.2 §5.1.6) with which it was read, and is written with it. Only super-segments are not packets;
//! they are split when they are read, both TCP segments and trains of UDP datagrams.

use crate::offload::{GSO_ECN, GSO_UDP_L4, NEEDS_CSUM};
use crate::pool::Pool;
use netem::{Ecn, Packet};
use tun_rs::{VIRTIO_NET_HDR_GSO_TCPV4, VIRTIO_NET_HDR_GSO_TCPV6, VIRTIO_NET_HDR_LEN, VirtioNetHdr};
use wire::{Parts, Transport};

/// A plain packet (virtio 1.2 §5.1.6, `VIRTIO_NET_HDR_GSO_NONE`).
const GSO_NONE: u8 = 0;
/// Bytes of a UDP header (RFC 768).
const UDP_HEADER: usize = 8;
/// Bytes of a TCP header without options (RFC 9293 §3.1), and where its length is, in units of four.
const TCP_HEADER: usize = 20;
const DATA_OFFSET_AT: usize = 12;

/// Packets are boxed: moving one moves a pointer.
pub(crate) type Parcel = Box<Datagram>;

/// A virtio-net header and a plain IP packet, in the format of a device.
#[derive(Clone, Debug, Default)]
pub(crate) struct Datagram {
    bytes: Vec<u8>,
}

impl Datagram {
    /// Returns the frame to write to a device.
    pub(crate) fn frame(&self) -> &[u8] {
        &self.bytes
    }
}

impl Packet for Parcel {
    fn wire_len(&self) -> u32 {
        (self.bytes.len() - VIRTIO_NET_HDR_LEN) as u32
    }

    fn mark_ce(&mut self) -> bool {
        netem::ip::mark_ce(&mut self.bytes[VIRTIO_NET_HDR_LEN..])
    }

    fn ecn(&self) -> Ecn {
        netem::ip::ecn(&self.bytes[VIRTIO_NET_HDR_LEN..])
    }

    fn flow(&self) -> u64 {
        netem::ip::flow(&self.bytes[VIRTIO_NET_HDR_LEN..])
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn may_wait(&self) -> bool {
        netem::ack::is_pure(&self.bytes[VIRTIO_NET_HDR_LEN..])
    }

    fn supersedes(&self, older: &Self) -> bool {
        netem::ack::supersedes(&self.bytes[VIRTIO_NET_HDR_LEN..], &older.bytes[VIRTIO_NET_HDR_LEN..])
    }
}

fn get(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn put(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// One step of a ones'-complement sum.
fn add(a: u16, b: u16) -> u16 {
    let (sum, carry) = a.overflowing_add(b);
    sum + u16::from(carry)
}

/// Writes the packet of a frame into `packet` as a wire would carry it; computes a checksum that was left to the device.
pub(crate) fn finish_into(frame: &[u8], packet: &mut Vec<u8>) {
    let (header, bytes) = frame.split_at(VIRTIO_NET_HDR_LEN);
    let header = VirtioNetHdr::decode(header).expect("the length is the header's");
    packet.clear();
    packet.extend_from_slice(bytes);
    let (start, offset) = (usize::from(header.csum_start), usize::from(header.csum_offset));
    if header.flags & NEEDS_CSUM == 0 || start + offset + 2 > packet.len() {
        return;
    }
    let sum = !wire::checksum::ones_complement_sum(&packet[start..]);
    // Zero would mean that the checksum is absent (RFC 768), so it is sent as all ones.
    put(packet, start + offset, if sum == 0 { u16::MAX } else { sum });
}

/// A frame that is not a packet and contains none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable;

/// Splits a frame from a device into plain packets, one by one.
pub(crate) fn packets(
    frame: &[u8],
    pool: &mut Pool<Datagram>,
    mut each: impl FnMut(&mut Pool<Datagram>, Parcel),
) -> Result<(), Unreadable> {
    let (header, packet) = frame.split_at_checked(VIRTIO_NET_HDR_LEN).ok_or(Unreadable)?;
    let header = VirtioNetHdr::decode(header).map_err(|_| Unreadable)?;
    if packet.len() < TCP_HEADER {
        return Err(Unreadable); // Shorter than any IP header.
    }
    let gso_type = header.gso_type & !GSO_ECN;
    if gso_type == GSO_NONE {
        let mut whole = pool.take();
        whole.bytes.clear();
        whole.bytes.extend_from_slice(frame);
        each(pool, whole);
        return Ok(());
    }
    let train = Train::read(&header, gso_type, packet).ok_or(Unreadable)?;
    train.cut(pool, each);
    Ok(())
}

/// A super-segment with the borders found.
struct Train<'a> {
    transport: Transport,
    /// Where its transport header begins, and in there the checksum.
    csum_start: usize,
    csum_offset: usize,
    header: &'a [u8],
    payload: &'a [u8],
    size: u16,
}

impl<'a> Train<'a> {
    /// The headers give the boundaries: the length in a virtio-net header is only a hint.
    fn read(virtio: &VirtioNetHdr, gso_type: u8, packet: &'a [u8]) -> Option<Self> {
        let at = usize::from(virtio.csum_start);
        let (transport, transport_len) = match gso_type {
            VIRTIO_NET_HDR_GSO_TCPV4 | VIRTIO_NET_HDR_GSO_TCPV6 => {
                let words = packet.get(at + DATA_OFFSET_AT)? >> 4;
                (Transport::Tcp(at), (usize::from(words) * 4).max(TCP_HEADER))
            }
            GSO_UDP_L4 => (Transport::Udp(at), UDP_HEADER),
            _ => return None,
        };
        let (header, payload) = packet.split_at_checked(at + transport_len)?;
        let csum_offset = usize::from(virtio.csum_offset);
        let sound = virtio.flags & NEEDS_CSUM != 0 && csum_offset + 2 <= transport_len && virtio.gso_size > 0 && at > 0;
        sound.then_some(Self { transport, csum_start: at, csum_offset, header, payload, size: virtio.gso_size })
    }

    fn cut(&self, pool: &mut Pool<Datagram>, mut each: impl FnMut(&mut Pool<Datagram>, Parcel)) {
        let virtio = VirtioNetHdr {
            flags: NEEDS_CSUM,
            csum_start: self.csum_start as u16,
            csum_offset: self.csum_offset as u16,
            ..Default::default()
        };
        let mut front = [0; VIRTIO_NET_HDR_LEN];
        virtio.encode(&mut front).expect("the length is the header's");
        let mut parts = Parts::behind(self.transport, self.header, self.payload, Some(self.size));
        loop {
            let mut part = pool.take();
            part.bytes.clear();
            part.bytes.extend_from_slice(&front);
            let Some(payload) = parts.next_into(&mut part.bytes) else {
                return pool.put_back(part);
            };
            self.correct_sum(&mut part.bytes[VIRTIO_NET_HDR_LEN..], payload.len());
            part.bytes.extend_from_slice(payload);
            each(pool, part);
        }
    }

    /// If a checksum is still to be computed, the field holds the pseudo-header's sum, so far with the length of the whole.
    fn correct_sum(&self, header: &mut [u8], part_len: usize) {
        let at = self.csum_start + self.csum_offset;
        let shorter_by = (self.payload.len() - part_len) as u16;
        let sum = add(get(header, at), !shorter_by);
        put(header, at, sum);
    }
}

#[cfg(test)]
mod tests;
