//! What is rejected, and under which name; unusual packets that are accepted; lengths at their limits.

use super::*;
use crate::{Ecn, Flags, Fragmentation, Malformed, Options, Timestamps, checksum};
use base::SeqNum;
use test_case::test_case;

pub(crate) fn v4() -> IpRepr {
    IpRepr {
        src: [10, 0, 0, 1].into(),
        dst: [10, 0, 0, 2].into(),
        ttl: 64,
        dscp: 0,
        ecn: Ecn::NotEct,
        fragmentation: Fragmentation::Forbidden,
    }
}

pub(crate) fn v6() -> IpRepr {
    let address = |last| [0xfd00, 0, 0, 0, 0, 0, 0, last].into();
    IpRepr { src: address(1), dst: address(2), ..v4() }
}

pub(crate) fn segment() -> TcpRepr {
    TcpRepr {
        src_port: 40_000,
        dst_port: 80,
        seq: SeqNum(1),
        ack: Some(SeqNum(2)),
        flags: Flags::PSH,
        window: 500,
        urgent: 0,
        options: Options { timestamps: Some(Timestamps { tsval: 3, tsecr: 4 }), ..Options::default() },
    }
}

pub(crate) fn emitted(ip: &IpRepr, tcp: &TcpRepr, payload_len: u32) -> Vec<u8> {
    let mut out = [0xee; MAX_HEADER];
    let len = emit(ip, tcp, payload_len, &mut out);
    out[..len].to_vec()
}

const PAYLOAD: [u8; 7] = *b"payload";

fn packet(ip: IpRepr) -> Vec<u8> {
    [&emitted(&ip, &segment(), PAYLOAD.len() as u32), PAYLOAD.as_slice()].concat()
}

/// Corrects the checksum of an IPv4 header, so that a case tests only its own defect.
fn mend(packet: &mut [u8]) {
    let len = packet.len().min(usize::from(packet[0] & 0x0f) * 4);
    packet[10..12].fill(0);
    let sum = checksum::ones_complement_sum(&packet[..len]);
    packet[10..12].copy_from_slice(&(!sum).to_be_bytes());
}

fn read(raw: &[u8]) -> Result<(IpRepr, TcpRepr), Malformed> {
    let cut = split(raw)?;
    cut.header.parse(cut.payload.len() as u32)
}

#[test_case(|_| {} => Ok(()); "left alone")]
#[test_case(|p| p.truncate(0) => Err(Malformed::Truncated); "nothing")]
#[test_case(|p| p.truncate(19) => Err(Malformed::Truncated); "part of an IP header")]
#[test_case(|p| p[0] = 0x55 => Err(Malformed::IpVersion); "version 5")]
#[test_case(|p| p[0] = 0x44 => Err(Malformed::IpHeaderLength); "header of 16 bytes")]
#[test_case(|p| { p[0] = 0x4f; p[3] = 59 } => Err(Malformed::IpHeaderLength); "header beyond the packet")]
#[test_case(|p| p[3] = 60 => Err(Malformed::IpLength); "claims more than there is")]
#[test_case(|p| p[3] = 19 => Err(Malformed::IpLength); "claims less than a header")]
#[test_case(|p| p[2..4].fill(0) => Err(Malformed::IpLength); "claims nothing, and is not a super-segment")]
#[test_case(|p| p[3] = 39 => Err(Malformed::Truncated); "claims part of a TCP header")]
#[test_case(|p| p[3] = 51 => Err(Malformed::TcpHeaderLength); "claims part of the options")]
#[test_case(|p| p[3] = 52 => Ok(()); "claims no payload: the rest is padding")]
#[test_case(|p| p.resize(200, 0) => Ok(()); "padded behind")]
#[test_case(|p| p[6] = 0x20 => Err(Malformed::Fragment); "more fragments follow")]
#[test_case(|p| p[7] = 1 => Err(Malformed::Fragment); "not the first fragment")]
#[test_case(|p| p[9] = 17 => Err(Malformed::NotTcp); "another protocol")]
#[test_case(|p| p[32] = 0x40 => Err(Malformed::TcpHeaderLength); "data offset of 16 bytes")]
#[test_case(|p| p[32] = 0xf0 => Err(Malformed::TcpHeaderLength); "data offset beyond the packet")]
#[test_case(|p| p[32] |= 0x0f => Ok(()); "reserved bits")]
#[test_case(|p| p[20..22].fill(0) => Err(Malformed::ZeroPort); "source port zero")]
#[test_case(|p| p[22..24].fill(0) => Err(Malformed::ZeroPort); "destination port zero")]
#[test_case(|p| p[43] = 0 => Err(Malformed::OptionLength); "timestamps of no length")]
fn judges_v4(change: fn(&mut Vec<u8>)) -> Result<(), Malformed> {
    let mut raw = packet(v4());
    change(&mut raw);
    if raw.len() >= 20 {
        mend(&mut raw);
    }
    read(&raw).map(|meaning| assert_eq!(meaning, (v4(), segment())))
}

#[test]
fn a_packet_that_may_be_cut_keeps_its_identification() {
    let mut raw = packet(v4());
    raw[4..8].copy_from_slice(&[0xab, 0xcd, 0, 0]);
    mend(&mut raw);
    let ip = IpRepr { fragmentation: Fragmentation::Allowed { id: 0xabcd }, ..v4() };
    assert_eq!(read(&raw), Ok((ip, segment())));
    assert_eq!(packet(ip), raw);
}

#[test]
fn any_flipped_bit_of_an_ipv4_header_is_found() {
    let whole = emitted(&v4(), &segment(), 7);
    for bit in 0..160 {
        let mut header = whole.clone();
        header[bit / 8] ^= 1 << (bit % 8);
        assert!(parse(&header, 7).is_err(), "bit {bit}");
    }
}

#[test_case(|p| p[8] ^= 1 => Err(Malformed::IpChecksum); "of a field that nothing else checks")]
#[test_case(|p| p[10] ^= 1 => Err(Malformed::IpChecksum); "of the checksum itself")]
fn judges_the_ipv4_checksum(change: fn(&mut Vec<u8>)) -> Result<(), Malformed> {
    let mut raw = packet(v4());
    change(&mut raw);
    read(&raw).map(drop)
}

//= specs/rfc9293.md#network-layer
//= type=test
//# Options of the IP header are passed over.
#[test]
fn ipv4_options_are_skipped_and_covered_by_the_checksum() {
    let mut raw = packet(v4());
    raw.splice(20..20, [7, 7, 4, 1, 2, 3, 4, 0]);
    (raw[0], raw[3]) = (0x47, raw[3] + 8);
    mend(&mut raw);
    assert_eq!(read(&raw), Ok((v4(), segment())));
    raw[23] ^= 1;
    assert_eq!(read(&raw), Err(Malformed::IpChecksum));
}

#[test_case(|_| {} => Ok(()); "left alone")]
#[test_case(|p| p.truncate(39) => Err(Malformed::Truncated); "part of an IP header")]
#[test_case(|p| p[5] = 40 => Err(Malformed::IpLength); "claims more than there is")]
#[test_case(|p| p[5] = 19 => Err(Malformed::Truncated); "claims part of a TCP header")]
#[test_case(|p| p[5] = 32 => Ok(()); "claims no payload: the rest is padding")]
#[test_case(|p| p[5] = 0 => Err(Malformed::Truncated); "claims nothing, and is not a super-segment")]
#[test_case(|p| p.resize(200, 0) => Ok(()); "padded behind")]
#[test_case(|p| p[6] = 17 => Err(Malformed::NotTcp); "another protocol")]
#[test_case(|p| p[6] = 59 => Err(Malformed::NotTcp); "no next header")]
#[test_case(|p| p[1..4].copy_from_slice(&[0x0a, 0xbc, 0xde]) => Ok(()); "a flow label")]
#[test_case(|p| p[52] = 0x40 => Err(Malformed::TcpHeaderLength); "data offset of 16 bytes")]
#[test_case(|p| p[40..42].fill(0) => Err(Malformed::ZeroPort); "source port zero")]
fn judges_v6(change: fn(&mut Vec<u8>)) -> Result<(), Malformed> {
    let mut raw = packet(v6());
    change(&mut raw);
    read(&raw).map(|meaning| assert_eq!(meaning, (v6(), segment())))
}

const HOP_BY_HOP: (u8, &[u8]) = (0, &[0, 0, 5, 2, 0, 0, 1, 0]);
const ROUTING: (u8, &[u8]) = (43, &[0, 2, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
const FRAGMENT: (u8, &[u8]) = (44, &[0, 0, 0, 0, 0, 0, 0, 1]);
const DESTINATION: (u8, &[u8]) = (60, &[0, 0, 1, 4, 0, 0, 0, 0]);
const AUTHENTICATION: (u8, &[u8]) = (51, &[0, 4, 0, 0, 0, 0, 0, 0]);
const TOO_LONG: (u8, &[u8]) = (60, &[0, 255, 1, 4, 0, 0, 0, 0]);

#[test_case(&[HOP_BY_HOP] => Ok(()))]
#[test_case(&[HOP_BY_HOP, DESTINATION, ROUTING, DESTINATION] => Ok(()); "the recommended order")]
#[test_case(&[DESTINATION, HOP_BY_HOP] => Ok(()); "another order")]
#[test_case(&[FRAGMENT] => Err(Malformed::Fragment); "a fragment header although it is the whole")]
#[test_case(&[HOP_BY_HOP, FRAGMENT] => Err(Malformed::Fragment); "a fragment header behind others")]
#[test_case(&[AUTHENTICATION] => Err(Malformed::NotTcp))]
#[test_case(&[HOP_BY_HOP, TOO_LONG] => Err(Malformed::Truncated); "an extension header beyond the packet")]
fn judges_extension_headers(extensions: &[(u8, &[u8])]) -> Result<(), Malformed> {
    let mut raw = packet(v6());
    let mut at = 6;
    let chain: Vec<u8> = extensions.iter().flat_map(|(_, bytes)| *bytes).copied().collect();
    raw[5] += chain.len() as u8;
    raw.splice(40..40, chain);
    let mut offset = 40;
    for (kind, bytes) in extensions {
        raw[at] = *kind;
        (at, offset) = (offset, offset + bytes.len());
    }
    raw[at] = 6;
    checksum_survives(&mut raw);
    read(&raw).map(|meaning| assert_eq!(meaning, (v6(), segment())))
}

/// The pseudo-header omits extension headers (RFC 8200 §8.1): a checksum computed without them is correct with them.
fn checksum_survives(raw: &mut [u8]) {
    let Ok(Split { header, .. }) = split(raw) else { return };
    let len = header.bytes().len();
    let mut plain = emitted(&v6(), &segment(), PAYLOAD.len() as u32);
    checksum::fill(&mut plain, &PAYLOAD);
    raw[len - 16..len - 14].copy_from_slice(&plain[56..58]);
    assert!(checksum::verify(&Header::read(&raw[..len]), &PAYLOAD));
}

#[test_case(41 => Err(Malformed::Truncated); "one byte")]
#[test_case(47 => Err(Malformed::Truncated); "all but one")]
#[test_case(48 => Err(Malformed::Truncated); "half of what it claims")]
#[test_case(55 => Err(Malformed::Truncated); "one less than it claims")]
#[test_case(56 => Err(Malformed::Truncated); "whole, with nothing behind")]
fn an_extension_header_is_cut_short(len: usize) -> Result<(), Malformed> {
    let mut raw = packet(v6());
    (raw[6], raw[5]) = (60, (len - 40) as u8);
    (raw[40], raw[41]) = (6, 1);
    raw.truncate(len);
    read(&raw).map(drop)
}

#[test_case(v4(), 65_535 - 52, 65_535; "the longest IPv4 packet")]
#[test_case(v4(), 65_536 - 52, 0; "one byte more")]
#[test_case(v6(), 65_535 - 32, 65_535; "the longest IPv6 payload")]
#[test_case(v6(), 65_536 - 32, 0; "one byte more of IPv6")]
#[test_case(v4(), 500_000, 0; "a large super-segment")]
#[test_case(v4(), u32::MAX, 0; "the largest number")]
fn lengths_beyond_16_bits_are_zero(ip: IpRepr, payload_len: u32, field: u16) {
    let header = emitted(&ip, &segment(), payload_len);
    let at = if ip == v4() { 2 } else { 4 };
    assert_eq!(header[at..at + 2], field.to_be_bytes());
    assert_eq!(parse(&header, payload_len), Ok((ip, segment())));
    assert_eq!(parse(&header, 1), Err(Malformed::IpLength));
}

#[test_case(v4())]
#[test_case(v6())]
fn a_super_segment_without_a_length_is_taken_whole(ip: IpRepr) {
    let payload = vec![7; 70_000];
    let raw = [emitted(&ip, &segment(), 70_000), payload.clone()].concat();
    assert_eq!(split(&raw).unwrap().payload, payload);
    assert_eq!(read(&raw), Ok((ip, segment())));
}

#[test]
fn a_packet_whose_length_fits_must_state_it() {
    let mut raw = emitted(&v4(), &segment(), 65_536 - 52);
    raw.resize(65_535, 7);
    assert_eq!(split(&raw), Err(Malformed::IpLength));
    raw.push(7);
    assert_eq!(read(&raw), Ok((v4(), segment())));
}

#[test_case(6)]
#[test_case(8)]
fn the_payload_must_be_as_long_as_the_length_field_says(payload_len: u32) {
    for ip in [v4(), v6()] {
        assert_eq!(parse(&emitted(&ip, &segment(), 7), payload_len), Err(Malformed::IpLength));
    }
}

#[test]
fn a_header_ends_where_the_tcp_header_ends() {
    for ip in [v4(), v6()] {
        let raw = packet(ip);
        assert_eq!(parse(&raw, 0), Err(Malformed::TcpHeaderLength), "the payload is not part of the header");
        let cut = split(&raw).unwrap();
        assert_eq!((cut.header.bytes().len() + PAYLOAD.len(), cut.payload), (raw.len(), PAYLOAD.as_slice()));
    }
}

#[test]
fn every_prefix_of_a_packet_is_refused() {
    for ip in [v4(), v6()] {
        let raw = packet(ip);
        for len in 0..raw.len() {
            assert!(read(&raw[..len]).is_err(), "{len} bytes");
        }
    }
}

#[test_case(Flags::NONE, None)]
#[test_case(Flags::SYN, None)]
#[test_case(Flags::SYN.with(Flags::ECE).with(Flags::CWR), None)]
#[test_case(Flags::FIN.with(Flags::PSH).with(Flags::URG), Some(SeqNum(0)))]
#[test_case(Flags::RST, Some(SeqNum(u32::MAX)))]
fn control_bits_survive(flags: Flags, ack: Option<SeqNum>) {
    let tcp = TcpRepr { flags, ack, ..segment() };
    assert_eq!(parse(&emitted(&v4(), &tcp, 0), 0), Ok((v4(), tcp)));
}

#[test]
fn an_acknowledgement_number_without_its_bit_means_nothing() {
    let mut header = emitted(&v4(), &TcpRepr { ack: None, ..segment() }, 0);
    header[28..32].fill(0xff);
    assert_eq!(parse(&header, 0).unwrap().1.ack, None);
}

#[test]
#[should_panic(expected = "of no IP version")]
fn addresses_of_different_versions_are_the_callers_error() {
    emitted(&IpRepr { dst: v6().dst, ..v4() }, &segment(), 0);
}

#[test]
#[should_panic(expected = "never zero")]
fn a_zero_port_is_the_callers_error() {
    emitted(&v4(), &TcpRepr { dst_port: 0, ..segment() }, 0);
}

#[test]
#[should_panic(expected = "6 bits")]
fn a_code_point_beyond_6_bits_is_the_callers_error() {
    emitted(&IpRepr { dscp: 64, ..v6() }, &segment(), 0);
}
