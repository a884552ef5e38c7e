//! A TUN device for smoltcp, with or without a virtio-net header in front of each packet.

use crate::case::{MTU, OURS, THEIRS};
use smoltcp::phy::{Checksum, Device, DeviceCapabilities, Medium, PacketMeta, RxToken, TxToken};
use smoltcp::time::Instant;
use std::net::Ipv4Addr;
use std::num::NonZeroUsize;
use std::os::fd::{AsFd, BorrowedFd};
use tun_rs::{DeviceBuilder, SyncDevice, VIRTIO_NET_HDR_GSO_TCPV4, VIRTIO_NET_HDR_LEN, VirtioNetHdr};

/// Bytes of the longest packet.
const LONGEST: usize = u16::MAX as usize;
/// The checksum of a packet is still to be computed.
const NEEDS_CSUM: u8 = 1;
const IP_HEADER: usize = 20;
/// Where TCP's checksum is in its header.
const CHECKSUM_AT: usize = 16;

pub struct Tun {
    device: SyncDevice,
    offload: bool,
    reads_into: Vec<u8>,
    writes_from: Vec<u8>,
}

impl Tun {
    /// Creates the device and brings it up.
    pub fn new(offload: bool) -> Self {
        let (kernel, ours) = (Ipv4Addr::from(THEIRS), Ipv4Addr::from(OURS));
        let builder = DeviceBuilder::new().name("smol0").offload(offload).mtu(MTU).ipv4(kernel, 24, None);
        let device = builder.build_sync().unwrap_or_else(|error| panic!("a TUN device beside {ours}: {error}"));
        device.set_nonblocking(true).expect("a descriptor that does not block");
        // As long as longhaul's.
        device.set_tx_queue_len(10_000).expect("a longer queue");
        let buffer = || vec![0; VIRTIO_NET_HDR_LEN + LONGEST];
        Self { device, offload, reads_into: buffer(), writes_from: buffer() }
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }

    /// Bytes in front of a packet.
    fn in_front(&self) -> usize {
        if self.offload { VIRTIO_NET_HDR_LEN } else { 0 }
    }
}

impl Device for Tun {
    type RxToken<'a> = Came<'a>;
    type TxToken<'a> = Leaves<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Came<'_>, Leaves<'_>)> {
        let front = self.in_front();
        let Self { device, offload, reads_into, writes_from } = self;
        let len = device.recv(reads_into).ok()?;
        let leaves = Leaves { device, offload: *offload, buf: writes_from, meta: PacketMeta::default() };
        Some((Came(&reads_into[front..len]), leaves))
    }

    fn transmit(&mut self, _: Instant) -> Option<Leaves<'_>> {
        let Self { device, offload, writes_from, .. } = self;
        Some(Leaves { device, offload: *offload, buf: writes_from, meta: PacketMeta::default() })
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut caps = DeviceCapabilities::default();
        (caps.medium, caps.max_transmission_unit) = (Medium::Ip, MTU.into());
        if self.offload {
            caps.checksum.tcp = Checksum::None;
            caps.segmentation.tcpv4 = NonZeroUsize::new(LONGEST);
        }
        caps
    }
}

pub struct Came<'a>(&'a [u8]);

impl RxToken for Came<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, work: F) -> R {
        work(self.0)
    }
}

pub struct Leaves<'a> {
    device: &'a SyncDevice,
    offload: bool,
    buf: &'a mut [u8],
    meta: PacketMeta,
}

impl TxToken for Leaves<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, work: F) -> R {
        let front = if self.offload { VIRTIO_NET_HDR_LEN } else { 0 };
        let (header, packet) = self.buf[..front + len].split_at_mut(front);
        let result = work(packet);
        if self.offload {
            let mut virtio = VirtioNetHdr {
                flags: NEEDS_CSUM,
                csum_start: IP_HEADER as u16,
                csum_offset: CHECKSUM_AT as u16,
                ..VirtioNetHdr::default()
            };
            if let Some(size) = self.meta.segmentation_offload_size {
                let data_offset = usize::from(packet[IP_HEADER + 12] >> 4) * 4;
                (virtio.gso_type, virtio.gso_size) = (VIRTIO_NET_HDR_GSO_TCPV4, size.get());
                virtio.hdr_len = (IP_HEADER + data_offset) as u16;
            }
            virtio.encode(header).expect("the length is the header's");
            let sum = pseudo_header_sum(packet);
            packet[IP_HEADER + CHECKSUM_AT..][..2].copy_from_slice(&sum.to_be_bytes());
        }
        // A packet for which there is no room is lost, as smoltcp has no way to take it back; TUN always has room.
        let _ = self.device.send(&self.buf[..front + len]);
        result
    }

    fn set_meta(&mut self, meta: PacketMeta) {
        self.meta = meta;
    }
}

/// The sum over addresses, protocol and length, which the kernel continues.
fn pseudo_header_sum(packet: &[u8]) -> u16 {
    let (words, _) = packet[12..IP_HEADER].as_chunks::<2>();
    let mut sum: u32 = words.iter().map(|word| u32::from(u16::from_be_bytes(*word))).sum();
    sum += u32::from(packet[9]) + (packet.len() - IP_HEADER) as u32;
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}
