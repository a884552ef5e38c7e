//! Every rule of the datagram's header, and its bytes against an independent library.

use super::*;
use crate::{Ecn, Fragmentation};
use etherparse::UdpHeader;
use proptest::prelude::*;
use test_case::test_case;

fn ip(six: bool) -> IpRepr {
    let (src, dst) = match six {
        false => ([192, 0, 2, 1].into(), [198, 51, 100, 2].into()),
        true => ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1].into(), [0x2001, 0xdb8, 0, 0, 0, 0, 0, 2].into()),
    };
    IpRepr { src, dst, ttl: 64, dscp: 0, ecn: Ecn::NotEct, fragmentation: Fragmentation::Forbidden }
}

fn packet(six: bool, payload: &[u8]) -> Vec<u8> {
    let mut out = vec![9; 3];
    emit(&ip(six), 53, 4_000, payload, &mut out);
    out
}

/// Reads a packet after a change behind its IP header.
fn changed(six: bool, change: impl FnOnce(&mut [u8])) -> Option<BadDatagram> {
    let mut packet = packet(six, b"payload");
    change(&mut packet[if six { 40 } else { 20 }..]);
    parse(&IpView::read(&packet).unwrap()).err()
}

#[test_case(false, |_| {} => None; "as it is")]
#[test_case(true, |_| {} => None; "as it is over IPv6")]
#[test_case(false, |udp| udp[9] ^= 1 => Some(BadDatagram::Checksum); "a changed byte")]
#[test_case(true, |udp| udp[9] ^= 1 => Some(BadDatagram::Checksum); "a changed byte over IPv6")]
#[test_case(false, |udp| udp[6..8].fill(0) => None; "no checksum, RFC 768")]
#[test_case(true, |udp| udp[6..8].fill(0) => Some(BadDatagram::NoChecksum); "no checksum over IPv6, RFC 8200 8.1")]
#[test_case(false, |udp| udp[5] = 7 => Some(BadDatagram::Length); "a length below 8")]
#[test_case(false, |udp| udp[5] += 1 => Some(BadDatagram::Length); "a length beyond the packet")]
#[test_case(true, |udp| udp[5] = 0 => Some(BadDatagram::Length); "the length of a jumbogram")]
fn reading(six: bool, change: fn(&mut [u8])) -> Option<BadDatagram> {
    changed(six, change)
}

#[test]
fn bytes_behind_the_length_are_ignored() {
    let mut packet = packet(false, b"payload");
    packet[25] = 12;
    packet[26..28].fill(0);
    assert_eq!(parse(&IpView::read(&packet).unwrap()).unwrap().payload, b"payl");
}

#[test]
fn other_protocols_and_fragments_are_no_datagrams() {
    let whole = packet(true, b"payload");
    let mut other = whole.clone();
    other[6] = 6;
    assert_eq!(parse(&IpView::read(&other).unwrap()), Err(BadDatagram::NotUdp));
    let mut atomic = whole.clone();
    (atomic[5], atomic[6]) = (atomic[5] + 8, 44);
    atomic.splice(40..40, [17, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(parse(&IpView::read(&atomic).unwrap()), Err(BadDatagram::NotUdp));
}

/// RFC 768: a sum of zero is written as all ones, and read like any other.
#[test]
fn a_checksum_of_zero_is_written_as_all_ones() {
    for six in [false, true] {
        let at = if six { 46 } else { 26 };
        let plain = packet(six, &[0, 0]);
        let payload = [plain[at], plain[at + 1]];
        let zero = packet(six, &payload);
        assert_eq!(zero[at..at + 2], [0xff, 0xff]);
        assert_eq!(parse(&IpView::read(&zero).unwrap()).unwrap().payload, payload);
    }
}

#[test]
fn the_largest_datagrams_fit_and_larger_ones_are_a_mistake() {
    assert_eq!(packet(false, &[0; 65_507]).len(), 65_535);
    assert_eq!(packet(true, &[0; 65_527]).len(), 65_575);
    for (six, len) in [(false, 65_508), (true, 65_528)] {
        assert!(std::panic::catch_unwind(|| packet(six, &vec![0; len])).is_err());
    }
}

proptest! {
    #[test]
    fn datagrams_are_the_librarys(
        six: bool,
        src_port: u16,
        dst_port: u16,
        payload in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        let (ip, mut out) = (ip(six), Vec::new());
        emit(&ip, src_port, dst_port, &payload, &mut out);
        let theirs = match (ip.src, ip.dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => {
                let header = etherparse::Ipv4Header::new(0, 0, etherparse::IpNumber::UDP, src.octets(), dst.octets());
                UdpHeader::with_ipv4_checksum(src_port, dst_port, &header.unwrap(), &payload)
            }
            (IpAddr::V6(src), IpAddr::V6(dst)) => {
                let (source, destination) = (src.octets(), dst.octets());
                let header = etherparse::Ipv6Header { source, destination, ..Default::default() };
                UdpHeader::with_ipv6_checksum(src_port, dst_port, &header, &payload)
            }
            _ => unreachable!("one version"),
        };
        let at = if six { 40 } else { 20 };
        prop_assert_eq!(&out[at..at + HEADER], &theirs.unwrap().to_bytes()[..]);
        let view = IpView::read(&out).unwrap();
        prop_assert_eq!((view.src, view.dst, view.carries()), (ip.src, ip.dst, Carries::Udp));
        prop_assert_eq!(parse(&view), Ok(Datagram { src_port, dst_port, payload: &payload }));
    }
}
