//! An independent builder and reader of packets as the oracle.

use super::*;
use base::SeqNum;
use etherparse::PacketBuilder;
use proptest::prelude::*;
use test_case::test_case;
use wire::Timestamps;

/// As a capturing program would see it, made by others.
fn packet(v6: bool, options: bool, payload: usize) -> Vec<u8> {
    let builder = if v6 {
        PacketBuilder::ipv6([1; 16], [2; 16], 64)
    } else {
        PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
    };
    let mut tcp = builder.tcp(443, 5_000, 77, 1_234).ack(99).psh();
    if options {
        use etherparse::TcpOptionElement::{Noop, Timestamp};
        tcp = tcp.options(&[Noop, Noop, Timestamp(5, 6)]).unwrap();
    }
    let mut octets = Vec::new();
    tcp.write(&mut octets, &vec![7; payload]).unwrap();
    octets
}

#[test_case(false, false; "fourth version, bare")]
#[test_case(false, true; "fourth version, time stamps")]
#[test_case(true, false; "sixth version, bare")]
#[test_case(true, true; "sixth version, time stamps")]
fn lengths_are_those_of_the_link_however_little_was_kept(v6: bool, options: bool) {
    let octets = packet(v6, options, 500);
    let fixed = if v6 { 60 } else { 40 };
    let header = fixed + if options { 12 } else { 0 };
    for kept in 0..octets.len() {
        let found = segment(&octets[..kept], octets.len());
        if kept < fixed {
            assert_eq!(found, Err(Skipped::Short), "{kept}");
            continue;
        }
        let found = found.unwrap();
        assert_eq!((found.payload_len, found.tcp.seq, found.tcp.window), (500, SeqNum(77), 1_234));
        assert_eq!((found.tcp.ack, found.src.port(), found.dst.port()), (Some(SeqNum(99)), 443, 5_000));
        assert_eq!(found.options_whole, kept >= header);
        let stamps = (options && kept >= header).then_some(Timestamps { tsval: 5, tsecr: 6 });
        assert_eq!(found.tcp.options.timestamps, stamps);
    }
}

#[test]
fn what_is_not_a_segment_is_named() {
    let change = |at: usize, octet: u8| {
        let mut octets = packet(false, false, 10);
        octets[at] = octet;
        segment(&octets, octets.len())
    };
    assert_eq!(change(9, 17), Err(Skipped::NotTcp));
    assert_eq!(change(7, 1), Err(Skipped::Fragment));
    assert_eq!(change(6, 0x20), Err(Skipped::Fragment));
    assert!(change(6, 0x40).is_ok(), "may not be cut, and was not");
    assert_eq!(change(0, 0x41), Err(Skipped::Malformed));
    assert_eq!(change(3, 30), Err(Skipped::Malformed));
    assert_eq!(change(32, 0x10), Err(Skipped::Malformed));
    assert_eq!(change(20, 0).map(|segment| segment.src.port()), Ok(0x00bb), "only the upper octet of port 443");
    let mut unchecked = packet(false, false, 10);
    unchecked[10] ^= 1;
    assert!(segment(&unchecked, unchecked.len()).is_ok(), "a device fills in the checksum");
}

#[test]
fn a_super_segment_without_a_length_is_as_long_as_the_frame_was() {
    let mut octets = packet(false, false, 10);
    octets[2..4].copy_from_slice(&[0, 0]);
    assert_eq!(segment(&octets, 70_040).unwrap().payload_len, 70_000);
}

#[test]
fn segments_behind_extension_headers_are_found_and_fragments_skipped() {
    let plain = packet(true, false, 10);
    let with = |next: u8| {
        let mut octets = [&plain[..40], &[6, 0, 1, 4, 0, 0, 0, 0], &plain[40..]].concat();
        octets[6] = next;
        octets[5] += 8;
        segment(&octets, octets.len())
    };
    for next in [0, 43, 60] {
        assert_eq!(with(next).unwrap().payload_len, 10);
    }
    assert_eq!(with(44), Err(Skipped::Fragment));
    assert_eq!(with(17), Err(Skipped::NotTcp));
}

proptest! {
    /// What both this reader and an independent one take for a whole segment means the same to both.
    #[test]
    fn others_read_the_same(v6: bool, options: bool, payload in 0_usize..40, at in 0_usize..80, octet: u8, cut in 0_usize..80) {
        let mut octets = packet(v6, options, payload);
        octets.truncate(octets.len().saturating_sub(cut));
        if let Some(place) = octets.get_mut(at) {
            *place = octet;
        }
        let ours = segment(&octets, octets.len());
        let theirs = etherparse::SlicedPacket::from_ip(&octets);
        if let (Ok(ours), Ok(theirs)) = (ours, theirs)
            && let Some(etherparse::TransportSlice::Tcp(tcp)) = theirs.transport
        {
            prop_assert_eq!(ours.tcp.seq.0, tcp.sequence_number());
            prop_assert_eq!(ours.tcp.window, tcp.window_size());
            prop_assert_eq!((ours.src.port(), ours.dst.port()), (tcp.source_port(), tcp.destination_port()));
            prop_assert_eq!(ours.payload_len as usize, tcp.payload().len());
        }
    }
}
