//! Bytes: script to wire and back.

use super::*;
use crate::script::{Action, Direction, PacketSpec, Script, TcpFlags, Transport, parse};
use std::collections::BTreeMap;
use test_case::test_case;

fn packet(text: &str) -> PacketSpec {
    let Script { mut events, .. } = parse(&format!("0 {text}"), &BTreeMap::new()).unwrap();
    match events.remove(0).action {
        Action::Packet(packet) => packet,
        other => panic!("{other:?}"),
    }
}

fn addresses(v6: bool) -> Addresses {
    let (source, destination) = if v6 { ("2001:db8::1", "fd3d::1") } else { ("192.0.2.1", "192.168.0.1") };
    let parse = |text: &str| text.parse().unwrap();
    Addresses { source: parse(source), destination: parse(destination), source_port: 40_000, destination_port: 8080 }
}

fn bytes(text: &str, v6: bool) -> Vec<u8> {
    let spec = packet(text);
    match &spec.transport {
        Transport::Tcp(segment) => tcp(addresses(v6), spec.ip, segment),
        Transport::Icmp(message) => icmp(addresses(v6), spec.ip, message, 77).unwrap(),
    }
}

#[test_case("< S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>", false)]
#[test_case("< S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>", true)]
#[test_case("< [ect0] FP. 1:1002(1001) ack 1 win 257 urg 3 <nop,nop,TS val 7 ecr 8>", false; "odd payload")]
fn a_segment_survives_the_wire_with_right_checksums(text: &str, v6: bool) {
    let bytes = bytes(text, v6);
    let live = Live::parse(bytes.clone(), 0).unwrap();
    assert!(live.has_valid_ip_checksum());
    let (source, destination) = live.addresses();
    assert_eq!((source, destination), (addresses(v6).source, addresses(v6).destination));
    assert_eq!(live.ports(), (40_000, 8080));
    assert_eq!(spec(&live, Direction::Inbound, Some(&packet(text))).to_string(), text);
    let header = live.ip().header_len;
    let pseudo_length = (bytes.len() - header) as u32;
    let at = if v6 { 8..40 } else { 12..20 };
    let sum = checksum(&[&bytes[at], &pseudo_length.to_be_bytes(), &[0, 6], &bytes[header..]]);
    assert_eq!(sum, 0, "the TCP checksum is right");
}

#[test]
fn a_frag_needed_message_quotes_the_stacks_own_segment() {
    let bytes = bytes("< icmp unreachable frag_needed mtu 1200 [1:1001(1000)]", false);
    let message = &bytes[20..];
    assert_eq!((message[0], message[1]), (3, 4));
    assert_eq!(u32::from_be_bytes([0, 0, message[6], message[7]]), 1200);
    assert_eq!(checksum(&[message]), 0);
    let quoted = &message[8..];
    assert_eq!(quoted[12..16], [192, 168, 0, 1], "the stack is its source");
    assert_eq!(u16::from_be_bytes([quoted[20], quoted[21]]), 8080);
    assert_eq!(u32::from_be_bytes([quoted[24], quoted[25], quoted[26], quoted[27]]), 77);
    assert_eq!(u16::from_be_bytes([quoted[2], quoted[3]]), 1040, "the length it had");
}

#[test]
fn a_packet_too_big_message_carries_its_mtu_and_a_pseudo_header_checksum() {
    let bytes = bytes("< icmp packet_too_big mtu 1280 [1:1001(1000)]", true);
    let message = &bytes[40..];
    assert_eq!((message[0], message[1]), (2, 0));
    assert_eq!(u32::from_be_bytes([message[4], message[5], message[6], message[7]]), 1280);
    let length = (message.len() as u32).to_be_bytes();
    assert_eq!(checksum(&[&bytes[8..40], &length, &[0, 58], message]), 0);
}

#[test_case("< icmp packet_too_big mtu 1280", false, "not a valid ICMP type"; "a type of the other version")]
#[test_case("< icmp unreachable nonsense", false, "not a valid ICMP code"; "an unknown code")]
#[test_case("< icmp unreachable host_unreachable mtu 1200", false, "an MTU stands only in"; "an MTU where none belongs")]
#[test_case("< icmp unreachable frag_needed mtu 70000", false, "16 bits"; "an MTU too large")]
fn an_impossible_message_is_refused(text: &str, v6: bool, part: &str) {
    let Transport::Icmp(message) = packet(text).transport else { panic!() };
    let error = icmp(addresses(v6), packet(text).ip, &message, 0).unwrap_err();
    assert!(error.contains(part), "{error}");
}

#[test]
fn joined_segments_have_the_lasts_header_and_the_firsts_number() {
    let texts =
        ["< W. 1:1001(1000) ack 1 win 5", "< . 1001:2001(1000) ack 1 win 5", "< FP. 2001:2501(500) ack 1 win 5"];
    let packets: Vec<Live> =
        texts.iter().enumerate().map(|(at, text)| Live::parse(bytes(text, false), at as i64).unwrap()).collect();
    let joined = Live::join(&packets);
    assert_eq!((joined.seq(), joined.payload().len(), joined.at), (1, 2500, 2));
    assert!(joined.flags().has(TcpFlags::FIN | TcpFlags::PSH | TcpFlags::CWR | TcpFlags::ACK));
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..100)) {
        if let Ok(live) = Live::parse(bytes, 0)
            && (live.is_tcp() || live.is_icmp())
        {
            spec(&live, Direction::Outbound, None).to_string();
        }
    }

    #[test]
    fn a_damaged_segment_is_read_or_refused(at in 0_usize..60, value in proptest::prelude::any::<u8>()) {
        let mut bytes = bytes("< P. 1:11(10) ack 1 win 5 <nop,nop,TS val 1 ecr 2>", false);
        let at = at % bytes.len();
        bytes[at] = value;
        if let Ok(live) = Live::parse(bytes, 0) {
            spec(&live, Direction::Outbound, None).to_string();
            live.payload();
        }
    }
}
