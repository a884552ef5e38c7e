//! The reader accepts what the independent writer writes, and survives damaged files.

use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::{DataLink, Endianness, TsResolution};
use proptest::prelude::*;
use std::borrow::Cow;
use std::io::Write;
use std::time::Duration;
use test_case::test_matrix;

const FRAME: [u8; 30] = [9; 30];

fn pcap(resolution: TsResolution, endianness: Endianness) -> Vec<u8> {
    let header = PcapHeader { ts_resolution: resolution, endianness, datalink: DataLink::RAW, ..PcapHeader::default() };
    let mut writer = PcapWriter::with_header(Vec::new(), header).unwrap();
    for micros in [5, 7] {
        let at = Duration::new(1_700_000_000, micros * 1_000);
        writer.write_packet(&PcapPacket::new(at, 60, &FRAME)).unwrap();
    }
    writer.into_writer()
}

/// Two interfaces, the second counting microseconds, and a packet at each, of which one has a comment.
fn pcapng() -> Vec<u8> {
    let mut writer = PcapNgWriter::new(Vec::new()).unwrap();
    for (linktype, resolution) in [(DataLink::RAW, 9), (DataLink::ETHERNET, 6)] {
        let options = vec![InterfaceDescriptionOption::IfTsResol(resolution)];
        writer.write_pcapng_block(InterfaceDescriptionBlock { linktype, snaplen: 0, options }).unwrap();
    }
    for (interface_id, ticks) in [(0, 1_500_000_000), (1, 2_500_000)] {
        let comment = EnhancedPacketOption::Comment(Cow::Borrowed("why"));
        let block = EnhancedPacketBlock {
            interface_id,
            timestamp: Duration::from_nanos(ticks),
            original_len: 60,
            data: Cow::Borrowed(&FRAME),
            options: if interface_id == 0 { vec![comment] } else { Vec::new() },
        };
        writer.write_pcapng_block(block).unwrap();
    }
    writer.into_inner()
}

/// Time, link, interface and length of a packet.
type Seen = (u64, u32, u32, usize);

/// Returns each packet, and the error at the end.
fn read(bytes: &[u8]) -> (Vec<Seen>, Option<Broken>) {
    let mut file = File::open(bytes).unwrap();
    let mut packets = Vec::new();
    loop {
        match file.next() {
            Ok(Some(packet)) => {
                assert_eq!((packet.original_len, packet.data), (60, &FRAME[..]));
                packets.push((packet.at, packet.link, packet.interface, packet.data.len()));
            }
            Ok(None) => return (packets, None),
            Err(broken) => return (packets, Some(broken)),
        }
    }
}

#[test_matrix([TsResolution::MicroSecond, TsResolution::NanoSecond], [Endianness::Big, Endianness::Little])]
fn pcap_of_either_resolution_and_order_is_read(resolution: TsResolution, endianness: Endianness) {
    let base = 1_700_000_000_000_000_000;
    let expected = vec![(base + 5_000, 101, 0, 30), (base + 7_000, 101, 0, 30)];
    assert_eq!(read(&pcap(resolution, endianness)), (expected, None));
}

#[test]
fn interfaces_of_pcapng_have_their_own_clocks_and_links() {
    assert_eq!(read(&pcapng()), (vec![(1_500_000_000, 101, 0, 30), (2_500_000_000, 1, 1, 30)], None));
}

#[test]
fn interfaces_of_a_second_section_are_others() {
    let bytes = [pcapng(), pcapng()].concat();
    let (packets, broken) = read(&bytes);
    assert_eq!((packets.iter().map(|packet| packet.2).collect::<Vec<_>>(), broken), (vec![0, 1, 2, 3], None));
}

#[test]
fn gzip_is_seen_by_its_magic() {
    for plain in [pcapng(), pcap(TsResolution::NanoSecond, Endianness::Little)] {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(&plain).unwrap();
        let packed = packed.finish().unwrap();
        assert_eq!(read(&packed), read(&plain));
        let (packets, broken) = read(&packed[..packed.len() - 9]);
        assert!(packets.len() <= 2 && broken.is_some_and(|broken| broken.offset <= plain.len() as u64));
    }
}

#[test]
fn a_cut_file_gives_its_whole_packets_and_the_offset_of_the_rest() {
    let bytes = pcap(TsResolution::MicroSecond, Endianness::Little);
    let (first, second) = (24 + 46, 24 + 2 * 46);
    assert_eq!(bytes.len(), second);
    for len in 24..bytes.len() {
        let (packets, broken) = read(&bytes[..len]);
        let whole = usize::from(len >= first);
        assert_eq!(packets.len(), whole, "{len}");
        let expected = if len == 24 || len == first { None } else { Some(24 + 46 * whole as u64) };
        assert_eq!(broken.map(|broken| broken.offset), expected, "{len}");
    }
}

#[test]
fn a_packet_that_claims_too_much_is_where_the_file_ends() {
    let mut bytes = pcap(TsResolution::MicroSecond, Endianness::Little);
    bytes[70 + 8..70 + 12].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
    let (packets, broken) = read(&bytes);
    let expected = Broken { offset: 70, problem: "a packet claims 2147483647 bytes".to_owned() };
    assert_eq!((packets.len(), broken), (1, Some(expected)));
}

#[test]
fn options_without_an_end_and_names_that_are_no_text_do_not_matter() {
    let mut bytes = Vec::new();
    let mut block = |kind: u32, body: &[u8]| {
        let whole = body.len() as u32 + 12;
        bytes.extend([kind.to_le_bytes(), whole.to_le_bytes()].concat());
        bytes.extend(body);
        bytes.extend(whole.to_le_bytes());
    };
    block(SECTION, &[0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]);
    block(INTERFACE, &[101, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2, 0, 0xff, 0xfe, 0, 0, 9, 0, 1, 0, 3, 0, 0, 0]);
    let mut packet = [[0_u32, 0, 4_250, 30, 60].map(u32::to_le_bytes).concat(), FRAME.to_vec()].concat();
    packet.extend([0, 0]);
    block(ENHANCED_PACKET, &packet);
    block(SIMPLE_PACKET, &[&60_u32.to_le_bytes()[..], &FRAME, &[0, 0]].concat()[..34]);
    let mut file = File::open(&bytes[..]).unwrap();
    let first = file.next().unwrap().unwrap();
    assert_eq!((first.at, first.link, first.data), (4_250_000_000, 101, &FRAME[..]));
}

#[test]
fn what_is_not_a_capture_is_refused() {
    for bytes in [&b""[..], b"hello", &[0x1f, 0x8b, 1, 2, 3], &[0xa1, 0xb2, 0xc3, 0xd4], &[0; 100]] {
        assert!(matches!(File::open(bytes), Err(Unreadable::NotACapture)), "{bytes:?}");
    }
}

proptest! {
    #[test]
    fn damage_is_survived(at in 0_usize..400, byte: u8, cut in 0_usize..400) {
        for bytes in [pcapng(), pcap(TsResolution::MicroSecond, Endianness::Big)] {
            let mut bytes = bytes[..bytes.len() - cut.min(bytes.len())].to_vec();
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
            if let Ok(mut file) = File::open(&bytes[..]) {
                let mut last = 0;
                while let Ok(Some(packet)) = file.next() {
                    prop_assert!(packet.offset > last || last == 0);
                    last = packet.offset;
                }
            }
        }
    }
}
