//! Whole captures, small ones.

use super::*;
use etherparse::PacketBuilder;
use pcap_file::DataLink;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use std::time::Duration;

fn capture(link: DataLink, packets: &[Vec<u8>]) -> Vec<u8> {
    let header = PcapHeader { datalink: link, ..PcapHeader::default() };
    let mut writer = PcapWriter::with_header(Vec::new(), header).unwrap();
    for (packet, nth) in packets.iter().zip(1..) {
        writer.write_packet(&PcapPacket::new(Duration::from_millis(nth), packet.len() as u32, packet)).unwrap();
    }
    writer.into_writer()
}

fn tcp(port: u16, payload: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let builder = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).tcp(port, 80, 1, 1_000).ack(1);
    builder.write(&mut bytes, &vec![0; payload]).unwrap();
    bytes
}

fn udp() -> Vec<u8> {
    let mut bytes = Vec::new();
    PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).udp(53, 53).write(&mut bytes, b"?").unwrap();
    bytes
}

#[test]
fn flows_come_by_their_bytes_and_the_rest_is_counted() {
    let mut fragment = udp();
    fragment[6] = 0x20;
    let packets = [tcp(1_000, 10), udp(), tcp(2_000, 700), fragment, tcp(1_000, 20), vec![0x15; 40]];
    let analysis = analyze(&capture(DataLink::RAW, &packets)[..]).unwrap();
    assert_eq!((analysis.packets, analysis.segments), (6, 3));
    let NotAnalysed { not_tcp, fragments, not_ip, .. } = analysis.not_analysed;
    assert_eq!((not_tcp, fragments, not_ip), (1, 1, 1));
    let flows: Vec<(u64, u64)> = analysis.flows.iter().map(|flow| (flow.flow, flow.bytes())).collect();
    assert_eq!(flows, [(2, 700), (1, 30)]);
    assert_eq!(analysis.first_bad(), None, "other protocols are no defect");
}

#[test]
fn a_capture_without_tcp_names_its_first_packet() {
    let analysis = analyze(&capture(DataLink::RAW, &[udp(), udp()])[..]).unwrap();
    let bad = analysis.first_bad().unwrap();
    assert_eq!((bad.packet, bad.offset, bad.problem.as_str()), (1, 24, "no packet is TCP; the first one is not TCP"));
    let analysis = analyze(&capture(DataLink::IEEE802_11, &[tcp(1, 1)])[..]).unwrap();
    let bad = analysis.first_bad().unwrap();
    assert_eq!(bad.problem, "no packet is TCP; the first one is of a link type that is not read");
}

#[test]
fn the_first_defect_is_named_whatever_comes_later() {
    let mut wrong = tcp(1_000, 10);
    wrong[32] = 0x10;
    let good = tcp(1_000, 10);
    let offset = 24 + 16 + good.len() as u64;
    let mut file = capture(DataLink::RAW, &[good, wrong, tcp(1_000, 10)]);
    file.pop();
    let analysis = analyze(&file[..]).unwrap();
    assert_eq!((analysis.packets, analysis.segments, analysis.not_analysed.malformed), (2, 1, 1));
    let bad = analysis.first_bad().unwrap();
    assert_eq!((bad.packet, bad.offset), (2, offset));
    assert!(analysis.broken.is_some());
}

/// A TCP packet in a VXLAN network.
fn tenant(network: u8, port: u16) -> Vec<u8> {
    let frame = [&[2; 12][..], &[8, 0], &tcp(port, 500)].concat();
    let body = [&[8, 0, 0, 0, 0, 0, network, 0], &frame[..]].concat();
    let mut bytes = Vec::new();
    PacketBuilder::ipv4([192, 0, 2, 1], [192, 0, 2, 2], 64).udp(50_000, 4_789).write(&mut bytes, &body).unwrap();
    bytes
}

#[test]
fn equal_addresses_in_two_networks_are_two_connections() {
    let packets = [tenant(1, 1_000), tenant(2, 1_000), tenant(1, 1_000)];
    let analysis = analyze(&capture(DataLink::RAW, &packets)[..]).unwrap();
    let networks = analysis.flows.iter().map(|flow| (flow.vxlan_network, flow.packets, flow.bytes()));
    assert_eq!(networks.collect::<Vec<_>>(), [(Some(1), 2, 1_000), (Some(2), 1, 500)]);
}

#[test]
fn only_the_connections_that_are_asked_for_are_followed() {
    let packets = [tcp(1_000, 10), udp(), tcp(2_000, 700), tcp(1_000, 20)];
    let file = capture(DataLink::RAW, &packets);
    let only = Only { hosts: vec!["10.0.0.0/8".parse().unwrap()], ports: vec![1_000] };
    let analysis = analyze_only(&file[..], &only).unwrap();
    assert_eq!((analysis.packets, analysis.segments, analysis.of_others), (4, 3, 1));
    assert_eq!(analysis.flows.iter().map(|flow| (flow.flow, flow.bytes())).collect::<Vec<_>>(), [(1, 30)]);
    let trace = records(&file[..], &only, 1).unwrap().unwrap();
    assert!(trace.meta.arm.contains("10.0.0.1:1000"), "{}", trace.meta.arm);
    let none = Only { ports: vec![9], ..Only::default() };
    let analysis = analyze_only(&file[..], &none).unwrap();
    assert_eq!((analysis.flows.len(), analysis.of_others, analysis.first_bad()), (0, 3, None));
}

#[test]
fn a_flow_is_an_object_of_json() {
    let analysis = analyze(&capture(DataLink::RAW, &[tcp(1_000, 10)])[..]).unwrap();
    let object = serde_json::to_value(&analysis.flows[0]).unwrap();
    assert_eq!(object["client"], "10.0.0.1:1000");
    assert_eq!(object["handshake"], "missing");
    assert_eq!(object["directions"][0]["payload_bytes"], 10);
    assert_eq!(object["offered"][0], serde_json::Value::Null);
}
