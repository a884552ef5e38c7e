//! An independent builder and reader of packets as the oracle.

use super::*;
use base::SeqNum;
use etherparse::PacketBuilder;
use proptest::prelude::*;
use test_case::test_case;
use wire::Timestamps;

/// A packet as a capturing program would see it, built by an independent library.
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
    let mut bytes = Vec::new();
    tcp.write(&mut bytes, &vec![7; payload]).unwrap();
    bytes
}

#[test_case(false, false; "fourth version, bare")]
#[test_case(false, true; "fourth version, time stamps")]
#[test_case(true, false; "sixth version, bare")]
#[test_case(true, true; "sixth version, time stamps")]
fn lengths_are_those_of_the_link_however_little_was_kept(v6: bool, options: bool) {
    let bytes = packet(v6, options, 500);
    let fixed = if v6 { 60 } else { 40 };
    let header = fixed + if options { 12 } else { 0 };
    for kept in 0..bytes.len() {
        let found = segment(&bytes[..kept], bytes.len());
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
    let change = |at: usize, byte: u8| {
        let mut bytes = packet(false, false, 10);
        bytes[at] = byte;
        segment(&bytes, bytes.len())
    };
    assert_eq!(change(9, 17), Err(Skipped::NotTcp));
    assert_eq!(change(7, 1), Err(Skipped::Fragment));
    assert_eq!(change(6, 0x20), Err(Skipped::Fragment));
    assert!(change(6, 0x40).is_ok(), "may not be cut, and was not");
    assert_eq!(change(0, 0x41), Err(Skipped::Malformed));
    assert_eq!(change(3, 30), Err(Skipped::Malformed));
    assert_eq!(change(32, 0x10), Err(Skipped::Malformed));
    assert_eq!(change(20, 0).map(|segment| segment.src.port()), Ok(0x00bb), "only the upper byte of port 443");
    let mut unchecked = packet(false, false, 10);
    unchecked[10] ^= 1;
    assert!(segment(&unchecked, unchecked.len()).is_ok(), "a device fills in the checksum");
}

#[test]
fn a_super_segment_without_a_length_is_as_long_as_the_frame_was() {
    let mut bytes = packet(false, false, 10);
    bytes[2..4].copy_from_slice(&[0, 0]);
    assert_eq!(segment(&bytes, 70_040).unwrap().payload_len, 70_000);
}

#[test]
fn segments_behind_extension_headers_are_found_and_fragments_skipped() {
    let plain = packet(true, false, 10);
    let with = |next: u8| {
        let mut bytes = [&plain[..40], &[6, 0, 1, 4, 0, 0, 0, 0], &plain[40..]].concat();
        bytes[6] = next;
        bytes[5] += 8;
        segment(&bytes, bytes.len())
    };
    for next in [0, 43, 60] {
        assert_eq!(with(next).unwrap().payload_len, 10);
    }
    assert_eq!(with(44), Err(Skipped::Fragment));
    assert_eq!(with(17), Err(Skipped::NotTcp));
}

proptest! {
    /// A packet that both this reader and an independent one accept means the same to both.
    #[test]
    fn others_read_the_same(v6: bool, options: bool, payload in 0_usize..40, at in 0_usize..80, byte: u8, cut in 0_usize..80) {
        let mut bytes = packet(v6, options, payload);
        bytes.truncate(bytes.len().saturating_sub(cut));
        if let Some(place) = bytes.get_mut(at) {
            *place = byte;
        }
        let ours = segment(&bytes, bytes.len());
        let theirs = etherparse::SlicedPacket::from_ip(&bytes);
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
