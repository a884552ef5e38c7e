//! The encodings that every run writes most, byte by byte.

use crate::support::emitted;
use base::{SeqNum, SeqRange};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use longhaul_wire::{Ecn, Flags, Header, IpRepr, Options, SackBlocks, TcpRepr, Timestamps, checksum};

const SRC: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
const DST: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 51, 100, 2));

const IP: IpRepr = IpRepr {
    src: SRC,
    dst: DST,
    ttl: 64,
    dscp: 0,
    ecn: Ecn::NotEct,
    fragmentation: longhaul_wire::Fragmentation::Forbidden,
};

const STAMPS: Timestamps = Timestamps { tsval: 0x0a0b0c0d, tsecr: 0x01020304 };

fn tcp(flags: Flags, ack: Option<u32>, options: Options) -> TcpRepr {
    TcpRepr {
        src_port: 0xc001,
        dst_port: 80,
        seq: SeqNum(0x11223344),
        ack: ack.map(SeqNum),
        flags,
        window: 0xfaf0,
        urgent: 0,
        options,
    }
}

#[test]
fn a_syn_with_everything_it_offers() {
    let options = Options {
        mss: Some(1460),
        window_scale: Some(8),
        sack_permitted: true,
        timestamps: Some(Timestamps { tsecr: 0, ..STAMPS }),
        ..Options::default()
    };
    let expected = [
        &[0x45, 0, 0, 60, 0, 0, 0x40, 0, 64, 6, 0x4e, 0x85, 192, 0, 2, 1, 198, 51, 100, 2][..],
        &[0xc0, 0x01, 0, 80, 0x11, 0x22, 0x33, 0x44, 0, 0, 0, 0, 0xa0, 0x02, 0xfa, 0xf0, 0, 0, 0, 0],
        &[2, 4, 0x05, 0xb4],
        &[4, 2, 8, 10, 0x0a, 0x0b, 0x0c, 0x0d, 0, 0, 0, 0],
        &[1, 3, 3, 8],
    ];
    assert_eq!(emitted(&IP, &tcp(Flags::SYN, None, options), 0), expected.concat());
}

#[test]
fn a_syn_without_timestamps() {
    let options = Options { mss: Some(1460), window_scale: Some(8), sack_permitted: true, ..Options::default() };
    let header = emitted(&IP, &tcp(Flags::SYN, None, options), 0);
    assert_eq!(header[40..], [2, 4, 0x05, 0xb4, 1, 1, 4, 2, 1, 3, 3, 8]);
}

#[test]
fn a_data_segment_with_timestamps() {
    let ip = IpRepr { dscp: 46, ecn: Ecn::Ect0, ..IP };
    let options = Options { timestamps: Some(STAMPS), ..Options::default() };
    let expected = [
        &[0x45, 0xba, 0x05, 0xdc, 0, 0, 0x40, 0, 64, 6, 0x48, 0x2b, 192, 0, 2, 1, 198, 51, 100, 2][..],
        &[0xc0, 0x01, 0, 80, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x80, 0x18, 0xfa, 0xf0, 0, 0, 0, 0],
        &[1, 1, 8, 10, 0x0a, 0x0b, 0x0c, 0x0d, 1, 2, 3, 4],
    ];
    assert_eq!(emitted(&ip, &tcp(Flags::PSH, Some(0x55667788), options), 1448), expected.concat());
}

#[test]
fn a_data_segment_of_ipv6_without_options() {
    let address = |last| IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, last));
    let ip = IpRepr {
        src: address(1),
        dst: address(2),
        ttl: 255,
        dscp: 46,
        ecn: Ecn::Ce,
        fragmentation: longhaul_wire::Fragmentation::Forbidden,
    };
    let expected = [
        &[0x6b, 0xb0, 0, 0, 0x05, 0xb4, 6, 255][..],
        &[0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        &[0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2],
        &[0xc0, 0x01, 0, 80, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x50, 0x11, 0xfa, 0xf0, 0, 0, 0, 0],
    ];
    assert_eq!(emitted(&ip, &tcp(Flags::FIN, Some(0x55667788), Options::default()), 1440), expected.concat());
}

fn sack(count: u32) -> SackBlocks {
    let mut blocks = SackBlocks::NONE;
    for i in 1..=count {
        blocks.push(SeqRange::new(SeqNum(i), SeqNum(i + 0x100)));
    }
    blocks
}

#[test]
fn an_ack_with_timestamps_holds_three_sack_blocks_of_four() {
    let options = Options { timestamps: Some(STAMPS), sack: sack(4), ..Options::default() };
    let header = emitted(&IP, &tcp(Flags::NONE, Some(1), options), 0);
    let expected = [
        &[1, 1, 8, 10, 0x0a, 0x0b, 0x0c, 0x0d, 1, 2, 3, 4][..],
        &[1, 1, 5, 26],
        &[0, 0, 0, 1, 0, 0, 1, 1],
        &[0, 0, 0, 2, 0, 0, 1, 2],
        &[0, 0, 0, 3, 0, 0, 1, 3],
    ];
    assert_eq!(header[40..], expected.concat());
    assert_eq!((header.len(), header[32]), (80, 0xf0));
}

#[test]
fn an_ack_without_timestamps_holds_four_sack_blocks() {
    let header = emitted(&IP, &tcp(Flags::NONE, Some(1), Options { sack: sack(4), ..Options::default() }), 0);
    assert_eq!(header[40..44], [1, 1, 5, 34]);
    assert_eq!(header[68..], [0, 0, 0, 4, 0, 0, 1, 4]);
}

#[test]
fn checksums_of_a_known_segment() {
    let mut header = emitted(&IP, &tcp(Flags::PSH, Some(0x55667788), Options::default()), 3);
    checksum::fill_partial(&mut header, 3);
    assert_eq!(header[36..38], [0xec, 0x54], "192.0 + 2.1 + 198.51 + 100.2 + protocol 6 + 23 bytes");
    checksum::fill(&mut header, b"abc");
    assert_eq!(header[36..38], [0x32, 0x98], "and the words of the header, and 61 62 63 00, complemented");
    assert!(checksum::verify(&Header::read(&header), b"abc"));
    assert!(!checksum::verify(&Header::read(&header), b"abd"));
    assert!(!checksum::verify(&Header::read(&header), b"abc\0"), "the length is summed too");
    assert!(!checksum::verify(&Header::read(b"abc"), b""), "three bytes are not a header with a right checksum");
}
