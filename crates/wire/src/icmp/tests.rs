//! Every code there and back, what a quote must show, and totality.

use super::*;
use crate::{Ecn, Flags, Fragmentation, IpRepr, IpView, MAX_HEADER, Options, TcpRepr};
use core::net::SocketAddr;
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

/// A datagram of ours with `payload` bytes.
fn datagram(ip: &IpRepr, payload: usize) -> Vec<u8> {
    let mut packet = Vec::new();
    crate::udp::emit(ip, 40_000, 53, &vec![7; payload], &mut packet);
    packet
}

fn about_datagram(kind: IcmpKind, ip: &IpRepr, payload: usize) -> Vec<u8> {
    let router: IpAddr = if ip.src.is_ipv4() { [203, 0, 113, 9].into() } else { [0x20, 0, 0, 0, 0, 0, 0, 9].into() };
    let mut out = Vec::new();
    emit(kind, router, &datagram(ip, payload), &mut out);
    out
}

fn classified(packet: &[u8]) -> Result<IcmpMessage, Ignored> {
    classify(&IpView::read(packet).expect("the IP header is well-formed"))
}

#[test]
fn errors_differ_by_what_they_quote() {
    for ip in [ip_v4(), ip_v6()] {
        let kind = IcmpKind::Unreachable(Unreachable::Port);
        let notice = UdpNotice { src: SocketAddr::new(ip.src, 40_000), dst: SocketAddr::new(ip.dst, 53), kind };
        assert_eq!(classified(&about_datagram(kind, &ip, 3)), Ok(IcmpMessage::AboutUdp(notice)));
        assert_eq!(classified(&error(kind, &ip, 3)), Ok(IcmpMessage::AboutTcp));
        assert_eq!(classified(&datagram(&ip, 3)), Ok(IcmpMessage::Other));
        let too_big = about_datagram(IcmpKind::TooBig { mtu: 1_300, packet_len: 0 }, &ip, 3);
        let Ok(IcmpMessage::AboutUdp(UdpNotice { kind: IcmpKind::TooBig { mtu, .. }, .. })) = classified(&too_big)
        else {
            panic!("it is about a datagram")
        };
        assert_eq!(mtu, 1_300);
    }
}

/// What becomes of an error about a datagram after a change behind the ICMP header, with its checksum corrected.
#[test_case(false, |_| {} => None; "left alone")]
#[test_case(false, |p| p.truncate(28 + 28) => None; "eight bytes of UDP suffice")]
#[test_case(false, |p| p.truncate(28 + 27) => Some(Err(Ignored::Malformed(Malformed::Truncated))); "seven do not")]
#[test_case(false, |p| p[28 + 15] ^= 1 => Some(Err(Ignored::NotTheSender)); "about a datagram of others")]
#[test_case(false, |p| p[28 + 9] = 132 => Some(Ok(IcmpMessage::Other)); "about another protocol")]
#[test_case(false, |p| p[28 + 7] = 1 => Some(Ok(IcmpMessage::Other)); "about a later fragment")]
#[test_case(false, |p| p[20] = 5 => Some(Ok(IcmpMessage::Other)); "a redirect")]
#[test_case(false, |p| p[20] = 8 => Some(Ok(IcmpMessage::EchoRequest)); "an echo request")]
#[test_case(true, |p| p[40] = 128 => Some(Ok(IcmpMessage::EchoRequest)); "an echo request of IPv6")]
#[test_case(true, |p| p[40] = 8 => Some(Ok(IcmpMessage::Other)); "the other version's")]
#[test_case(true, |p| p[40] = 135 => Some(Ok(IcmpMessage::Other)); "neighbour discovery")]
#[test_case(true, |p| p[48] = 0x45 => Some(Err(Ignored::Malformed(Malformed::IpVersion))); "a quote of the other version")]
fn of_a_datagram(six: bool, change: fn(&mut Vec<u8>)) -> Option<Result<IcmpMessage, Ignored>> {
    let ip = if six { ip_v6() } else { ip_v4() };
    let mut packet = about_datagram(IcmpKind::TimeExceeded, &ip, 10);
    change(&mut packet);
    mend(&mut packet);
    let found = classified(&packet);
    if matches!(found, Ok(IcmpMessage::AboutUdp(_))) { None } else { Some(found) }
}

#[test]
fn checksums_count_for_what_is_handled_here() {
    for (ip, at) in [(ip_v4(), 20), (ip_v6(), 40)] {
        let mut packet = about_datagram(IcmpKind::TimeExceeded, &ip, 10);
        packet[at + 2] ^= 1;
        assert_eq!(classified(&packet), Err(Ignored::Checksum));
        packet[at] = if at == 20 { 8 } else { 128 };
        assert_eq!(classified(&packet), Err(Ignored::Checksum));
        let mut segment = error(IcmpKind::TimeExceeded, &ip, 10);
        segment[at + 2] ^= 1;
        assert_eq!(classified(&segment), Ok(IcmpMessage::AboutTcp), "the TCP verifies its own");
    }
}

/// RFC 792, RFC 4443 §4.2.
#[test]
fn an_echo_reply_is_the_request_with_its_ends_exchanged() {
    for (ip, at, reply) in [(ip_v4(), 20, 0), (ip_v6(), 40, 129)] {
        let mut request = about_datagram(IcmpKind::TimeExceeded, &ip, 11);
        request[at] = if at == 20 { 8 } else { 128 };
        mend(&mut request);
        let view = IpView::read(&request).expect("it is a packet");
        let mut packet = vec![1; 5];
        emit_echo_reply(&view, &mut packet);
        let answer = IpView::read(&packet).expect("it is a packet");
        assert_eq!((answer.src, answer.dst, answer.ecn), (view.dst, view.src, Ecn::NotEct));
        assert_eq!((answer.payload()[0], answer.payload()[1]), (reply, 0));
        assert_eq!(answer.payload()[4..], view.payload()[4..]);
        assert!(is_intact(answer.version(), &packet, at));
    }
}
