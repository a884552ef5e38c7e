//! Parts are valid packets that continue each other.

use super::*;
use crate::packet::tests::{emitted, segment, v4, v6};
use crate::{Flags, TcpRepr};
use base::SeqNum;
use test_case::test_case;

fn header(version: u8, flags: Flags, payload_len: u32) -> Vec<u8> {
    let tcp = TcpRepr { seq: SeqNum(u32::MAX - 500), flags, ..segment() };
    emitted(&if version == 4 { v4() } else { v6() }, &tcp, payload_len)
}

#[test_case(4)]
#[test_case(6)]
fn parts_are_valid_packets_that_continue_each_other(version: u8) {
    let payload: Vec<u8> = (0..2500u32).map(|i| i as u8).collect();
    let flags = Flags::FIN.with(Flags::PSH).with(Flags::CWR);
    let header = header(version, flags, 2500);
    let mut parts = Parts::new(&header, &payload, Some(1000));
    let (mut seen, mut joined, mut seqs) = (Vec::new(), Vec::new(), Vec::new());
    let mut out = Vec::new();
    while let Some(part) = parts.next_into(&mut out) {
        let (_, tcp) = crate::parse(&out, part.len() as u32).unwrap();
        seen.push((part.len(), tcp.flags));
        seqs.push(tcp.seq.0);
        joined.extend_from_slice(part);
        out.clear();
    }
    assert_eq!(seen, [(1000, Flags::CWR), (1000, Flags::NONE), (500, Flags::FIN.with(Flags::PSH))]);
    assert_eq!(seqs, [u32::MAX - 500, 499, 1499], "sequence numbers wrap");
    assert_eq!(joined, payload);
}

#[test_case(0, None)]
#[test_case(0, Some(1000); "a bare acknowledgement marked as super segment")]
#[test_case(700, None)]
#[test_case(1000, Some(1000))]
fn a_plain_segment_is_its_only_part(len: usize, gso_size: Option<u16>) {
    let header = header(4, Flags::PSH, len as u32);
    let payload = vec![1; len];
    let mut parts = Parts::new(&header, &payload, gso_size);
    let mut out = Vec::new();
    assert_eq!(parts.next_into(&mut out), Some(&payload[..]));
    assert_eq!(out, header);
    assert_eq!(parts.next_into(&mut out), None);
}

#[test]
fn the_tcp_header_is_found_behind_ipv6_extension_headers() {
    let plain = header(6, Flags::NONE, 0);
    let mut extended = plain.clone();
    extended[6] = 0;
    extended.splice(40..40, [60, 0, 0, 0, 0, 0, 0, 0, 6, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!((offset_of_segment(&plain), offset_of_segment(&extended)), (40, 64));
}
