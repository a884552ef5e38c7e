//! tshark's own analysis of the same captures, flag by flag.
//!
//! Duplicate acknowledgements, closed and full windows and D-SACKs are the same for both. tshark's *spurious* is what was
//! acknowledged before it passed, which we count under that name; it says nothing of D-SACKs. Retransmissions differ by one
//! rule, [`late_or_again`].

use super::*;
use pcap_file::pcap::{PcapPacket, PcapReader, PcapWriter};
use std::collections::BTreeMap;
use std::process::Command;
use test_case::test_case;

const FLAGS: [&str; 8] = [
    "tcp.analysis.retransmission",
    "tcp.analysis.fast_retransmission",
    "tcp.analysis.spurious_retransmission",
    "tcp.analysis.out_of_order",
    "tcp.analysis.duplicate_ack",
    "tcp.analysis.zero_window",
    "tcp.analysis.window_full",
    "tcp.options.sack.dsack_le",
];

/// How many packets have each flag.
fn analysed(capture: &[u8]) -> BTreeMap<&'static str, u64> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), capture).unwrap();
    let mut command = Command::new("tshark");
    command.arg("-r").arg(file.path()).args(["-T", "fields", "-E", "separator=;"]);
    command.args(FLAGS.iter().flat_map(|flag| ["-e", flag]));
    let output = command.output();
    let output = output.expect("this test needs `tshark` as an independent analyst: apt-get install -y tshark");
    assert!(output.status.success(), "tshark: {}", String::from_utf8_lossy(&output.stderr));
    let mut counts: BTreeMap<_, _> = FLAGS.iter().map(|flag| (*flag, 0)).collect();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        for (flag, value) in FLAGS.iter().zip(line.split(';')) {
            *counts.get_mut(flag).unwrap() += u64::from(!value.is_empty());
        }
    }
    counts
}

/// tshark classifies a retransmission as an out-of-order packet if it comes sooner than the first round trip after the previous
/// segment, and calls one fast only within 20 ms of the second duplicate acknowledgement (both are retransmissions to it as
/// well). Our rule uses timestamps and whether the bytes were seen before. Both find the same packets, under two names here and
/// under four there.
fn late_or_again(theirs: &BTreeMap<&str, u64>) -> u64 {
    theirs["tcp.analysis.retransmission"] + theirs["tcp.analysis.out_of_order"]
}

#[test_case(&lossy("linux", 2), 0; "losses, at the sender")]
#[test_case(&lossy("linux", 2), 1; "losses, at the receiver")]
#[test_case(&lost_again("linux"), 0; "a lost retransmission, at the sender")]
#[test_case(&tail("linux", 1, 3), 0; "the last segment, at the sender")]
#[test_case(&reordering("windows-11-21h2", ms(15)), 0; "reordering, at the sender")]
#[test_case(&reordering("windows-11-21h2", ms(15)), 1; "reordering, at the receiver")]
#[test_case(&narrow("linux"), 0; "a narrow window, at the sender")]
#[test_case(&narrow("linux"), 1; "a narrow window, at the receiver")]
#[test_case(&slow_reader("linux"), 0; "a slow reader, at the sender")]
#[test_case(&slow_reader("linux"), 1; "a slow reader, at the receiver")]
fn another_analyst_counts_the_same(story: &Story, end: usize) {
    let outcome = run(story);
    let capture = &outcome.captures[end];
    let (ours, theirs) = (data(capture), analysed(capture));
    println!("{theirs:#?}\n{ours:#?}");
    assert_eq!(ours.retransmissions + ours.reordering_before.packets, late_or_again(&theirs));
    assert_eq!(ours.already_acknowledged, theirs["tcp.analysis.spurious_retransmission"]);
    assert_eq!(ours.duplicate_acks, theirs["tcp.analysis.duplicate_ack"]);
    assert_eq!(ours.window.zero_window_acks, theirs["tcp.analysis.zero_window"]);
    assert_eq!(ours.window.window_full, theirs["tcp.analysis.window_full"]);
    assert_eq!(ours.dsacks, theirs["tcp.options.sack.dsack_le"]);
}

/// The packets of a capture, each in a tunnel's packet: what precedes an IP packet of so many bytes.
fn tunnelled(capture: &[u8], outer: impl Fn(usize) -> Vec<u8>) -> Vec<u8> {
    let mut reader = PcapReader::new(capture).unwrap();
    let mut writer = PcapWriter::with_header(Vec::new(), reader.header()).unwrap();
    while let Some(packet) = reader.next_packet() {
        let packet = packet.unwrap();
        let before = outer(packet.orig_len as usize);
        let data = [&before[..], &packet.data].concat();
        let whole = packet.orig_len + before.len() as u32;
        writer.write_packet(&PcapPacket::new(packet.timestamp, whole, &data)).unwrap();
    }
    writer.into_writer()
}

/// An IPv4 header between two routers, for a payload of so many bytes.
fn outer(protocol: u8, payload: usize) -> Vec<u8> {
    let number = etherparse::IpNumber(protocol);
    let header = etherparse::Ipv4Header::new(payload as u16, 64, number, [192, 0, 2, 1], [192, 0, 2, 2]).unwrap();
    header.to_bytes().to_vec()
}

fn in_gre(inner: usize) -> Vec<u8> {
    // A key and a sequence number, and IPv4 inside.
    [outer(47, 12 + inner), vec![0x30, 0, 8, 0, 0, 0, 0, 7, 0, 0, 0, 1]].concat()
}

fn in_vxlan(inner: usize) -> Vec<u8> {
    let ethernet = [&[2; 6][..], &[4; 6], &[8, 0]].concat();
    let len = 8 + 8 + ethernet.len() + inner;
    let udp =
        [[50_000_u16, 4_789, len as u16, 0].map(u16::to_be_bytes).concat(), vec![8, 0, 0, 0, 0, 0, 42, 0]].concat();
    [outer(17, len), udp, ethernet].concat()
}

#[test_case(in_gre, None; "GRE")]
#[test_case(in_vxlan, Some(42); "VXLAN")]
fn a_tunnel_changes_nothing_for_either_analyst(outer: fn(usize) -> Vec<u8>, network: Option<u32>) {
    let outcome = run(&lossy("linux", 2));
    let plain = &outcome.captures[0];
    let tunnelled = tunnelled(plain, outer);
    assert_eq!(flow(&tunnelled).vxlan_network, network);
    assert_eq!(data(&tunnelled), data(plain));
    let theirs = analysed(&tunnelled);
    assert!(theirs["tcp.analysis.retransmission"] > 0, "{theirs:#?}");
    assert_eq!(theirs, analysed(plain));
}
