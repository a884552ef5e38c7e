//! Every code there and back, what a quote must show, and totality.

use super::*;
use crate::{Ecn, Flags, Fragmentation, IpRepr, MAX_HEADER, Options, TcpRepr};
use proptest::prelude::*;
use test_case::test_case;

fn ip_v4() -> IpRepr {
    let (src, dst) = ([192, 0, 2, 1].into(), [198, 51, 100, 2].into());
    IpRepr { src, dst, ttl: 64, dscp: 0, ecn: Ecn::NotEct, fragmentation: Fragmentation::Forbidden }
}

fn ip_v6() -> IpRepr {
    let address = |last| [0x2001, 0xdb8, 0, 0, 0, 0, 0, last].into();
    IpRepr { src: address(1), dst: address(2), ..ip_v4() }
}

/// A segment of ours with `payload` bytes.
fn segment(ip: &IpRepr, payload: usize) -> Vec<u8> {
    let tcp = TcpRepr {
        src_port: 40_000,
        dst_port: 80,
        seq: SeqNum(0xfeed_beef),
        ack: Some(SeqNum(2)),
        flags: Flags::NONE,
        window: 500,
        urgent: 0,
        options: Options::default(),
    };
    let mut header = [0; MAX_HEADER];
    let len = crate::emit(ip, &tcp, payload as u32, &mut header);
    [&header[..len], &vec![7; payload]].concat()
}

fn meaning(packet: &[u8]) -> Result<IcmpNotice, Ignored> {
    parse(&Header::read(packet))
}

fn error(kind: IcmpKind, ip: &IpRepr, payload: usize) -> Vec<u8> {
    let router: IpAddr =
        if ip.src.is_ipv4() { [203, 0, 113, 9].into() } else { [0x2001, 0xdb8, 9, 0, 0, 0, 0, 9].into() };
    let mut out = vec![1; 3];
    emit(kind, router, &segment(ip, payload), &mut out);
    out
}

fn about(ip: &IpRepr, kind: IcmpKind) -> IcmpNotice {
    IcmpNotice { src: ip.src, dst: ip.dst, src_port: 40_000, dst_port: 80, seq: SeqNum(0xfeed_beef), kind }
}

const ALL: [Unreachable; 18] = [
    Unreachable::Network,
    Unreachable::Host,
    Unreachable::Protocol,
    Unreachable::Port,
    Unreachable::SourceRouteFailed,
    Unreachable::NetworkUnknown,
    Unreachable::HostUnknown,
    Unreachable::SourceIsolated,
    Unreachable::NetworkProhibited,
    Unreachable::HostProhibited,
    Unreachable::NetworkForService,
    Unreachable::HostForService,
    Unreachable::Prohibited,
    Unreachable::PrecedenceViolation,
    Unreachable::PrecedenceCutoff,
    Unreachable::BeyondScope,
    Unreachable::SourcePolicy,
    Unreachable::RouteRejected,
];

#[test]
fn every_error_is_read_as_it_was_written_in_each_version_that_has_it() {
    let others = [
        IcmpKind::TooBig { mtu: 1400, packet_len: 0 },
        IcmpKind::TimeExceeded,
        IcmpKind::ParameterProblem,
        IcmpKind::SourceQuench,
    ];
    let (mut v4, mut v6) = (0, 0);
    for kind in ALL.map(IcmpKind::Unreachable).into_iter().chain(others) {
        if kind.to_v4().is_some() {
            let read = match kind {
                IcmpKind::TooBig { mtu, .. } => IcmpKind::TooBig { mtu, packet_len: 140 },
                other => other,
            };
            assert_eq!(meaning(&error(kind, &ip_v4(), 100)), Ok(about(&ip_v4(), read)));
            v4 += 1;
        }
        if kind.to_v6().is_some() {
            assert_eq!(meaning(&error(kind, &ip_v6(), 100)), Ok(about(&ip_v6(), kind)));
            v6 += 1;
        }
    }
    assert_eq!((v4, v6), (19, 10), "all of RFC 1812's codes and all of RFC 4443's");
}

#[test]
fn a_fragmentation_needed_byte_by_byte() {
    let segment = segment(&ip_v4(), 4);
    let expected = [
        &[0x45, 0, 0, 72, 0, 0, 0x40, 0, 64, 1, 0x3c, 0xaa, 203, 0, 113, 9, 192, 0, 2, 1][..],
        &[3, 4, 0x3d, 0x01, 0, 0, 0x05, 0x78],
        &segment,
    ]
    .concat();
    let written = error(IcmpKind::TooBig { mtu: 1400, packet_len: 0 }, &ip_v4(), 4);
    assert_eq!(written, expected);
    for part in [&written[..20], &written[20..]] {
        assert_eq!(ones_complement_sum(part), 0xffff);
    }
}

#[test]
fn a_quote_ends_where_every_host_can_still_take_it() {
    assert_eq!(error(IcmpKind::TimeExceeded, &ip_v4(), 1460).len(), 576);
    assert_eq!(error(IcmpKind::TimeExceeded, &ip_v6(), 1460).len(), 1280);
}

/// Changes a message, then corrects its checksums.
fn changed(ip: &IpRepr, change: impl Fn(&mut Vec<u8>)) -> Result<IcmpNotice, Ignored> {
    let mut packet = error(IcmpKind::TimeExceeded, ip, 0);
    change(&mut packet);
    mend(&mut packet);
    meaning(&packet)
}

fn mend(packet: &mut [u8]) {
    let total = packet.len() as u16;
    match packet[0] >> 4 {
        4 => {
            packet[2..4].copy_from_slice(&total.to_be_bytes());
            packet[10..12].fill(0);
            let sum = !ones_complement_sum(&packet[..20]);
            packet[10..12].copy_from_slice(&sum.to_be_bytes());
            packet[22..24].fill(0);
            let sum = !ones_complement_sum(&packet[20..]);
            packet[22..24].copy_from_slice(&sum.to_be_bytes());
        }
        _ => {
            packet[4..6].copy_from_slice(&(total - 40).to_be_bytes());
            packet[42..44].fill(0);
            let sum = checksum::pseudo_v6(packet, PROTOCOL_ICMPV6, u64::from(total) - 40);
            let sum = !fold(sum + u64::from(ones_complement_sum(&packet[40..])));
            packet[42..44].copy_from_slice(&sum.to_be_bytes());
        }
    }
}

//= specs/rfc5927.md#validity
//= type=test
//# An ICMP error is read only if its checksum is right and its quote shows the ports and the sequence number of a segment.
#[test_case(|_| {} => None; "left alone")]
#[test_case(|p| p.truncate(28 + 28) => None; "eight bytes of TCP suffice")]
#[test_case(|p| p.truncate(28 + 27) => Some(Ignored::Malformed(Malformed::Truncated)); "seven do not")]
#[test_case(|p| p.truncate(28 + 19) => Some(Ignored::Malformed(Malformed::Truncated)); "part of an IP header")]
#[test_case(|p| p.truncate(27) => Some(Ignored::Malformed(Malformed::Truncated)); "no whole ICMP header")]
#[test_case(|p| p[20] = 5 => Some(Ignored::NotAnError); "a redirect")]
#[test_case(|p| p[20] = 8 => Some(Ignored::NotAnError); "an echo request")]
#[test_case(|p| { p[20] = 3; p[21] = 16 } => Some(Ignored::NotAnError); "an unknown code")]
#[test_case(|p| p[28 + 9] = 17 => Some(Ignored::NotTcp); "about a datagram")]
#[test_case(|p| p[28 + 7] = 1 => Some(Ignored::NotTcp); "about a later fragment")]
#[test_case(|p| p[28 + 6] = 0x20 => None; "about a first fragment")]
#[test_case(|p| p[28] = 0x44 => Some(Ignored::Malformed(Malformed::IpHeaderLength)); "a quoted header of 16 bytes")]
#[test_case(|p| p[28] = 0x4f => Some(Ignored::Malformed(Malformed::Truncated)); "a quoted header beyond the packet")]
#[test_case(|p| p[28] = 0x65 => Some(Ignored::Malformed(Malformed::IpHeaderLength)); "a quote of the other version")]
#[test_case(|p| p[28 + 11] ^= 1 => None; "the quoted checksum proves nothing")]
#[test_case(|p| p[28 + 15] ^= 1 => Some(Ignored::NotTheSender); "about somebody else's segment")]
#[test_case(|p| p[28 + 20..28 + 22].fill(0) => Some(Ignored::Malformed(Malformed::ZeroPort)); "a port of zero")]
fn ignored_v4(change: fn(&mut Vec<u8>)) -> Option<Ignored> {
    changed(&ip_v4(), change).err()
}

#[test_case(|_| {} => None; "left alone")]
#[test_case(|p| p.truncate(48 + 48) => None; "eight bytes of TCP suffice")]
#[test_case(|p| p.truncate(48 + 47) => Some(Ignored::Malformed(Malformed::Truncated)); "seven do not")]
#[test_case(|p| p[40] = 129 => Some(Ignored::NotAnError); "an echo reply")]
#[test_case(|p| { p[40] = 1; p[41] = 7 } => Some(Ignored::NotAnError); "an unknown code")]
#[test_case(|p| p[48 + 6] = 17 => Some(Ignored::NotTcp); "about a datagram")]
#[test_case(|p| p[48 + 6] = 44 => Some(Ignored::NotTcp); "about a fragment")]
#[test_case(|p| p[48] = 0x45 => Some(Ignored::Malformed(Malformed::IpVersion)); "a quote of the other version")]
fn ignored_v6(change: fn(&mut Vec<u8>)) -> Option<Ignored> {
    changed(&ip_v6(), change).err()
}

#[test]
fn a_changed_byte_is_found_by_a_checksum() {
    for ip in [ip_v4(), ip_v6()] {
        let whole = error(IcmpKind::ParameterProblem, &ip, 10);
        let begin = if ip.src.is_ipv4() { 20 } else { 40 };
        for at in begin..whole.len() {
            let mut packet = whole.clone();
            packet[at] ^= 0x40;
            assert_eq!(meaning(&packet), Err(Ignored::Checksum), "byte {at}");
        }
    }
}

#[test]
fn a_message_is_all_header_to_a_driver() {
    for ip in [ip_v4(), ip_v6()] {
        let packet = error(IcmpKind::TimeExceeded, &ip, 10);
        let padded = [&packet[..], &[0; 9]].concat();
        let cut = crate::split(&padded).expect("a message is a packet");
        assert_eq!((cut.header.bytes(), cut.payload), (&packet[..], &[][..]));
        assert_eq!(cut.header.parse(0), Err(Malformed::NotTcp));
    }
}

proptest! {
    #[test]
    fn random_and_mutated_messages_never_panic(
        six: bool,
        noise in prop::collection::vec(any::<u8>(), 0..150),
        changes in prop::collection::vec((0usize..150, any::<u8>()), 0..4),
        cut in 0usize..150,
    ) {
        let _ = meaning(&noise);
        let mut packet = error(IcmpKind::TimeExceeded, &if six { ip_v6() } else { ip_v4() }, 20);
        for (at, byte) in changes {
            let at = at % packet.len();
            packet[at] = byte;
        }
        let _ = meaning(&packet);
        packet.truncate(cut.max(48));
        if packet[0] >> 4 == 4 || packet[0] >> 4 == 6 {
            mend(&mut packet);
        }
        let _ = meaning(&packet);
    }
}
