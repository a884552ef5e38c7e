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
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
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

/// What `zstd --check` 1.5 makes of `pcap(TsResolution::NanoSecond, Endianness::Little)`.
const BY_ZSTD: [u8; 64] = [
    0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x58, 0x9d, 0x01, 0x00, 0x74, 0x02, 0x4d, 0x3c, 0xb2, 0xa1, 0x02, 0x00, 0x04, 0x00,
    0xff, 0xff, 0x00, 0x00, 0x65, 0x00, 0x00, 0x00, 0x00, 0xf1, 0x53, 0x65, 0x88, 0x13, 0x00, 0x00, 0x1e, 0x00, 0x00,
    0x00, 0x3c, 0x00, 0x00, 0x00, 0x09, 0x00, 0xf1, 0x53, 0x65, 0x58, 0x1b, 0x03, 0x00, 0xa3, 0x2a, 0x4b, 0xe0, 0x8e,
    0x17, 0xc4, 0x01, 0xf8, 0xed, 0x44, 0x93,
];

#[test]
fn zstd_is_seen_by_its_magic() {
    let plain = pcap(TsResolution::NanoSecond, Endianness::Little);
    assert_eq!(read(&BY_ZSTD), read(&plain));
    for plain in [pcapng(), plain] {
        let packed = compress_to_vec(&plain[..], CompressionLevel::Fastest);
        assert_eq!(read(&packed), read(&plain));
        // The decoder keeps a window of bytes until its frame is whole, which is all of so small a file.
        assert!(matches!(File::open(&packed[..packed.len() - 1]), Err(Unreadable::Packed(_))));
    }
}

#[test]
fn members_behind_each_other_and_empty_frames_are_one_file() {
    let plain = pcap(TsResolution::NanoSecond, Endianness::Little);
    let (first, second) = plain.split_at(60);
    let frames = [first, second].map(|part| compress_to_vec(part, CompressionLevel::Fastest));
    let empty = [0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
    let packed = [&empty[..], &frames[0], &empty, &frames[1], &empty].concat();
    assert_eq!(read(&packed), read(&plain));
    let (packets, broken) = read(&packed[..packed.len() - 1]);
    assert_eq!((packets.len(), broken.map(|broken| broken.packet)), (2, Some(3)));
}

#[test]
fn a_wrong_checksum_is_where_a_zstd_file_ends() {
    let mut packed = BY_ZSTD;
    packed[BY_ZSTD.len() - 1] ^= 1;
    let (packets, broken) = read(&packed);
    let problem = broken.unwrap().problem;
    assert!(packets.len() == 2 && problem.ends_with("the checksum of a Zstandard frame is wrong"), "{problem}");
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
    let problem = "a packet claims 2147483647 bytes".to_owned();
    let expected = Broken { packet: 2, offset: 70, problem, remedy: WHOLE };
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
    for bytes in [&b""[..], b"hello", &[0xa1, 0xb2, 0xc3, 0xd4], &[0; 100]] {
        assert!(matches!(File::open(bytes), Err(Unreadable::NotACapture)), "{bytes:?}");
    }
}

#[test]
fn what_cannot_be_unpacked_is_refused_with_what_helps() {
    for bytes in [&[0x1f, 0x8b, 1, 2, 3][..], &BY_ZSTD[..9]] {
        let error = File::open(bytes).err().unwrap().to_string();
        assert!(error.starts_with("not a whole gzip or zstd file: ") && error.contains("copy it again"), "{error}");
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
