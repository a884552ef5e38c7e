//! Virtio headers read and written.

use super::*;
use base::SeqNum;
use std::net::IpAddr;
use test_case::test_case;
use wire::{Ecn, Flags, IpRepr, MAX_HEADER, Options, TcpRepr};

fn header(version: u8, flags: Flags, payload_len: u32) -> Vec<u8> {
    let address = |host: u8| -> IpAddr {
        if version == 4 { [10, 9, 0, host].into() } else { [0xfd09, 0, 0, 0, 0, 0, 0, host.into()].into() }
    };
    let ip = IpRepr {
        src: address(1),
        dst: address(2),
        ttl: 64,
        dscp: 0,
        ecn: Ecn::NotEct,
        fragmentation: wire::Fragmentation::Forbidden,
    };
    let tcp = TcpRepr {
        src_port: 9,
        dst_port: 50_000,
        seq: SeqNum(u32::MAX - 500),
        ack: Some(SeqNum(7)),
        flags,
        window: 1000,
        urgent: 0,
        options: Options::default(),
    };
    let mut bytes = [0; MAX_HEADER];
    let len = wire::emit(&ip, &tcp, payload_len, &mut bytes);
    bytes[..len].to_vec()
}

fn virtio(flags: u8, gso_type: u8, gso_size: u16) -> [u8; VIRTIO_NET_HDR_LEN] {
    let mut bytes = [0; VIRTIO_NET_HDR_LEN];
    VirtioNetHdr { flags, gso_type, gso_size, ..Default::default() }.encode(&mut bytes).unwrap();
    bytes
}

#[test_case(0, 0, 0 => (None, ChecksumState::InHeader); "a packet as on a wire")]
#[test_case(1, 0, 0 => (None, ChecksumState::Device); "from this machine")]
#[test_case(2, 0, 0 => (None, ChecksumState::Device); "verified below")]
#[test_case(1, 1, 1448 => (Some(1448), ChecksumState::Device); "super segment, version four")]
#[test_case(1, 0x84, 1428 => (Some(1428), ChecksumState::Device); "super segment, version six, with congestion bits")]
#[test_case(1, 5, 1400 => (Some(1400), ChecksumState::Device); "a train of datagrams")]
fn what_a_virtio_header_says(flags: u8, gso_type: u8, gso_size: u16) -> (Option<u16>, ChecksumState) {
    let received = received(&virtio(flags, gso_type, gso_size), 60);
    assert_eq!(received.len, 60);
    (received.gso_size, received.checksum)
}

#[test_case(4, 20, VIRTIO_NET_HDR_GSO_TCPV4)]
#[test_case(6, 40, VIRTIO_NET_HDR_GSO_TCPV6)]
fn a_super_segment_is_described_to_the_kernel(version: u8, csum_start: u16, gso_type: u8) {
    let header = header(version, Flags::NONE, 3000);
    let frame = Frame { header: &header, payload: &[0; 3000], gso_size: Some(1448), checksum: ChecksumState::Device };
    let virtio = VirtioNetHdr::decode(&virtio_header(&frame)).unwrap();
    assert_eq!((virtio.flags, virtio.csum_start, virtio.csum_offset), (1, csum_start, 16));
    assert_eq!((virtio.gso_type, virtio.gso_size), (gso_type, 1448));
    assert_eq!(usize::from(virtio.hdr_len), header.len());
}

#[test]
fn a_finished_packet_asks_for_nothing() {
    let header = header(4, Flags::NONE, 0);
    let frame = Frame { header: &header, payload: &[], gso_size: None, checksum: ChecksumState::InHeader };
    assert_eq!(virtio_header(&frame), [0; VIRTIO_NET_HDR_LEN]);
}
