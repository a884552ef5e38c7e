//! Marks and flows against headers made by hand, and arbitrary bytes.

use super::*;
use proptest::prelude::*;
use test_case::test_case;

/// An IPv4 packet of `protocol` between ports 1 and 2, with a correct header checksum.
fn v4(tos: u8, protocol: u8, fragment: u16) -> Vec<u8> {
    let mut packet = vec![0x45, tos, 0, 24, 0, 9, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0, 1, 0, 2];
    packet[6..8].copy_from_slice(&fragment.to_be_bytes());
    let checksum = !sum(&packet[..20]);
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
    packet
}

fn v6(class: u8, next: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x60 | class >> 4, class << 4 | 0x5, 0, 0, 0, 0, next, 64];
    packet.extend((0..32).map(|byte| byte * 3));
    packet.extend_from_slice(payload);
    packet
}

fn sum(header: &[u8]) -> u16 {
    header.chunks(2).fold(0, |sum, word| add(sum, u16::from_be_bytes([word[0], word[1]])))
}

#[test_case(0b00, Ecn::NotEct)]
#[test_case(0b01, Ecn::Ect1)]
#[test_case(0b10, Ecn::Ect0)]
#[test_case(0b11, Ecn::Ce)]
fn a_capable_packet_takes_a_mark_and_stays_valid(bits: u8, ecn_before: Ecn) {
    let capable = bits != 0;
    let ecn_behind = if capable { Ecn::Ce } else { Ecn::NotEct };
    // 0xb8 is a class of service, which has to survive.
    for mut packet in [v4(0xb8 | bits, 6, 0x4000), v6(0xb8 | bits, 6, &[])] {
        let mut expected = packet.clone();
        assert_eq!(ecn(&packet), ecn_before);
        assert_eq!(mark_ce(&mut packet), capable);
        assert_eq!(ecn(&packet), ecn_behind);
        if packet[0] >> 4 == 4 {
            assert_eq!(sum(&packet[..20]), 0xffff, "RFC 791 §3.1: the sum with the checksum is all ones");
            expected[10..12].copy_from_slice(&packet[10..12]);
            expected[1] |= if capable { 0b11 } else { 0 };
        } else {
            expected[1] |= if capable { 0x30 } else { 0 };
        }
        assert_eq!(packet, expected, "nothing else changes");
    }
}

#[test]
fn a_flow_is_addresses_protocol_and_ports() {
    let base = v4(0, 6, 0x4000);
    let with = |at: usize, value: u8| {
        let mut packet = base.clone();
        packet[at] = value;
        packet
    };
    assert_eq!(flow(&base), flow(&with(1, 2)), "not the ECN field");
    assert_eq!(flow(&base), flow(&with(5, 77)), "not the identification");
    for at in [9, 12, 16, 21, 23] {
        assert_ne!(flow(&base), flow(&with(at, 17)), "byte {at} belongs to it");
    }
    assert_eq!(
        flow(&v4(0, 1, 0)),
        flow(&{
            let mut icmp = v4(0, 1, 0);
            icmp[21] = 99;
            icmp
        }),
        "ICMP has no ports"
    );
}

#[test_case(0x2000; "the first")]
#[test_case(0x0010; "a later one")]
fn fragments_of_a_datagram_are_one_flow(fragment: u16) {
    let mut packet = v4(0, 17, fragment);
    let before = flow(&packet);
    packet[21] = 200;
    assert_eq!(flow(&packet), before, "what stands at the place of the ports is not looked at");
    assert_ne!(before, flow(&v4(0, 17, 0)));
}

#[test]
fn ports_stand_behind_extension_headers() {
    let plain = v6(0, 17, &[0, 1, 0, 2]);
    let extended = v6(0, 0, &[60, 0, 0, 0, 0, 0, 0, 0, 17, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2]);
    assert_eq!(flow(&plain), flow(&extended));
    assert_ne!(flow(&plain), flow(&v6(0, 17, &[0, 1, 0, 3])));
    let fragment = |port| v6(0, 44, &[17, 0, 0, 1, 0, 0, 0, 7, 0, port, 0, 2]);
    assert_eq!(flow(&fragment(1)), flow(&fragment(9)));
}

proptest! {
    #[test]
    fn any_bytes_have_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..90), first in any::<u8>()) {
        let mut packet = bytes;
        if let Some(byte) = packet.first_mut() {
            *byte = first;
        }
        let (before, number) = (ecn(&packet), flow(&packet));
        prop_assert_eq!(mark_ce(&mut packet), before != Ecn::NotEct);
        prop_assert_eq!(ecn(&packet) == Ecn::Ce, before != Ecn::NotEct);
        prop_assert_eq!(flow(&packet), number, "a mark moves no packet to another flow");
    }
}
