//! What a header says of a packet, and what makes it malformed.

use super::*;
use proptest::prelude::*;
use test_case::test_case;

fn v4() -> Vec<u8> {
    let mut packet = vec![0x45, 0x02, 0, 24, 0x12, 0x34, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 198, 51, 100, 2, 1, 2, 3, 4];
    mend(&mut packet);
    packet
}

fn mend(packet: &mut [u8]) {
    packet[10..12].fill(0);
    let sum = !ones_complement_sum(&packet[..20]);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
}

fn v6(next: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x60, 0x20, 0, 0, 0, payload.len() as u8, next, 64];
    packet.extend([0x20; 32]);
    packet.extend(payload);
    packet
}

#[test]
fn a_whole_packet_has_no_place_in_another() {
    let padded = [v4(), vec![0; 5]].concat();
    let view = IpView::read(&padded).unwrap();
    assert_eq!((view.src, view.dst), ([192, 0, 2, 1].into(), [198, 51, 100, 2].into()));
    assert_eq!((view.ecn, view.fragment, view.carries()), (Ecn::Ect0, None, Carries::Udp));
    assert_eq!((view.packet(), view.header(), view.payload()), (&padded[..24], &padded[..20], &[1, 2, 3, 4][..]));
    let six = v6(58, &[1, 2]);
    let view = IpView::read(&six).unwrap();
    assert_eq!(
        (view.ecn, view.fragment, view.carries(), view.payload()),
        (Ecn::Ect0, None, Carries::Icmp, &[1, 2][..])
    );
    let mut foreign = v4();
    foreign[9] = 58;
    mend(&mut foreign);
    assert_eq!(IpView::read(&foreign).unwrap().carries(), Carries::Other, "ICMPv6 within IPv4");
}

/// RFC 791 §3.1.
#[test_case(0x0000 => None)]
#[test_case(0x4000 => None; "not to be fragmented")]
#[test_case(0x2000 => Some((0, true)); "the first")]
#[test_case(0x2003 => Some((24, true)))]
#[test_case(0x1fff => Some((65_528, false)); "the last, as far as it can be")]
fn a_fragment_of_ipv4(field: u16) -> Option<(u16, bool)> {
    let mut packet = v4();
    packet[6..8].copy_from_slice(&field.to_be_bytes());
    mend(&mut packet);
    let fragment = IpView::read(&packet).unwrap().fragment?;
    assert_eq!(fragment.id, 0x1234);
    Some((fragment.offset, fragment.more))
}

/// RFC 8200 §4.5: the reserved bits are ignored.
#[test_case(0x0000 => (0, false); "atomic, RFC 6946")]
#[test_case(0x0006 => (0, false); "reserved bits")]
#[test_case(0x0019 => (24, true))]
#[test_case(0xfff8 => (65_528, false))]
fn a_fragment_of_ipv6(field: u16) -> (u16, bool) {
    let [high, low] = field.to_be_bytes();
    let packet = v6(44, &[17, 0xff, high, low, 1, 2, 3, 4, 9]);
    let view = IpView::read(&packet).unwrap();
    let fragment = view.fragment.unwrap();
    assert_eq!(
        (fragment.id, view.carries(), view.payload(), view.header().len()),
        (0x0102_0304, Carries::Udp, &[9][..], 48)
    );
    assert_eq!(fragment.is_atomic(), field & 0xfff9 == 0);
    (fragment.offset, fragment.more)
}

#[test_case(|p| p[0] = 0x55 => Malformed::IpVersion)]
#[test_case(|p| p[0] = 0x44 => Malformed::IpHeaderLength; "a header of 16 bytes")]
#[test_case(|p| p[0] = 0x47 => Malformed::IpLength; "a header beyond the packet")]
#[test_case(|p| p[3] = 25 => Malformed::IpLength; "a length beyond the packet")]
#[test_case(|p| p[3] = 19 => Malformed::IpLength; "a length below the header")]
#[test_case(|p| p[3] = 0 => Malformed::IpLength; "no length")]
#[test_case(|p| p[8] ^= 1 => Malformed::IpChecksum)]
#[test_case(|p| p.truncate(19) => Malformed::Truncated)]
#[test_case(|p| p.clear() => Malformed::Truncated; "nothing")]
#[test_case(|p| { *p = v6(17, &[1]); p.pop(); } => Malformed::IpLength; "a truncated IPv6 packet")]
#[test_case(|p| { *p = v6(17, &[]); p.pop(); } => Malformed::Truncated; "a truncated IPv6 header")]
#[test_case(|p| *p = v6(44, &[17, 0, 0, 0, 0, 0, 0]) => Malformed::Truncated; "a truncated fragment header")]
fn malformed(change: fn(&mut Vec<u8>)) -> Malformed {
    let mut packet = v4();
    change(&mut packet);
    IpView::read(&packet).unwrap_err()
}

#[test_case([192, 0, 2, 1].into() => true)]
#[test_case([224, 0, 0, 1].into() => false)]
#[test_case([255, 255, 255, 255].into() => false)]
#[test_case([0, 0, 0, 0].into() => false)]
#[test_case(IpAddr::V6(core::net::Ipv6Addr::LOCALHOST) => true)]
#[test_case(IpAddr::V6(core::net::Ipv6Addr::UNSPECIFIED) => false)]
#[test_case([0xff02, 0, 0, 0, 0, 0, 0, 1].into() => false)]
fn single_host(address: IpAddr) -> bool {
    is_unicast(address)
}

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..100), first in prop::option::of(0x45u8..0x70)) {
        let mut bytes = bytes;
        if let (Some(first), Some(place)) = (first, bytes.first_mut()) {
            *place = first;
        }
        if let Ok(view) = IpView::read(&bytes) {
            prop_assert!(bytes.starts_with(view.packet()));
            prop_assert_eq!(view.header().len() + view.payload().len(), view.packet().len());
            let _ = (crate::udp::parse(&view), crate::icmp::classify(&view));
            let (mut out, payload) = (Vec::new(), core::iter::once(view.payload()));
            if crate::put_together(view.header(), view.protocol, view.ecn, payload, &mut out) {
                let again = IpView::read(&out).expect("it is well-formed");
                prop_assert_eq!((again.src, again.ecn, again.payload()), (view.src, view.ecn, view.payload()));
            }
        }
    }
}
