//! Echoes, unreachable ports, and errors about our datagrams.

use crate::support::{Seen, at, datagrams, echo_request, ip_packet, judge, leaving, other, own, seconds, udp};
use base::Duration;
use core::net::IpAddr;
use etherparse::{IcmpEchoHeader, Icmpv4Type, Icmpv6Type, IpNumber, icmpv4, icmpv6};
use longhaul_datagram::{DatagramEvent, Datagrams, Destinations, DropReason, Echo, Fate, Strangers};
use test_case::test_case;
use wire::{IcmpKind, Unreachable};

/// RFC 1122 §3.2.2.6, RFC 4443 §4.2.
#[test_case(false)]
#[test_case(true)]
fn an_echo_request_is_answered_with_all_its_data(six: bool) {
    let mut it = datagrams(|_| {});
    let peer = other(six, 5);
    for data in [&b""[..], b"odd", b"some data"] {
        assert_eq!(it.handle_packet(seconds(1), &echo_request(peer, own(six), data)), Fate::Taken);
        let echo = IcmpEchoHeader { id: 77, seq: 3 };
        let payload = data.to_vec();
        let expected = match (own(six), peer) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => Seen::Icmp4 { src, dst, kind: Icmpv4Type::EchoReply(echo), payload },
            (IpAddr::V6(src), IpAddr::V6(dst)) => Seen::Icmp6 { src, dst, kind: Icmpv6Type::EchoReply(echo), payload },
            _ => panic!("two versions"),
        };
        assert_eq!(judge(&it.pop_transmit().unwrap()), expected);
    }
}

#[test_case(Echo::Own, true => Fate::Taken)]
#[test_case(Echo::Own, false => Fate::Other)]
#[test_case(Echo::Any, false => Fate::Taken)]
#[test_case(Echo::None, true => Fate::Other)]
fn an_echo_request_to(echo: Echo, to_own: bool) -> Fate {
    let mut it = datagrams(|cfg| {
        cfg.echo = echo;
        cfg.destinations = Destinations::Any;
    });
    let to = if to_own { own(false) } else { other(false, 9) };
    it.handle_packet(seconds(1), &echo_request(other(false, 5), to, b"x"))
}

#[test]
fn echo_requests_that_are_not_answered() {
    let mut it = datagrams(|_| {});
    let from_group = echo_request([224, 0, 0, 1].into(), own(false), b"x");
    assert_eq!(it.handle_packet(seconds(1), &from_group), Fate::Dropped(DropReason::Source));
    let mut changed = echo_request(other(false, 5), own(false), b"xy");
    changed[29] ^= 1;
    assert_eq!(it.handle_packet(seconds(1), &changed), Fate::Dropped(DropReason::IcmpChecksum));
    let short = ip_packet(other(false, 5), own(false), IpNumber::ICMP, &[8, 0, 0xf7, 0xff]);
    assert_eq!(it.handle_packet(seconds(1), &short), Fate::Dropped(DropReason::IcmpMalformed));
    let large = echo_request(other(false, 5), own(false), &[0; 1_473]);
    assert_eq!(it.handle_packet(seconds(1), &large), Fate::Dropped(DropReason::EchoTooLarge));
    assert_eq!(it.peek_transmit(), None);
    let largest = echo_request(other(false, 5), own(false), &[0; 1_472]);
    assert_eq!(it.handle_packet(seconds(1), &largest), Fate::Taken);
}

#[test]
fn echoes_have_an_allowance() {
    let mut it = datagrams(|cfg| cfg.replies.echoes_per_second = 3);
    let request = echo_request(other(false, 5), own(false), b"x");
    let mut answered = |at| (0..9).filter(|_| it.handle_packet(at, &request) == Fate::Taken).count();
    assert_eq!((answered(seconds(1)), answered(seconds(1)), answered(seconds(5))), (3, 0, 3));
    assert_eq!(it.counters().dropped(DropReason::EchoRate), 21);
}

#[test]
fn answers_that_wait_are_bounded_and_leave_datagrams_their_room() {
    let mut it = datagrams(|cfg| cfg.replies.waiting_max = 4);
    let id = it.bind(at(own(false), 53)).unwrap();
    let request = echo_request(other(false, 5), own(false), b"x");
    let answered = (0..9).filter(|_| it.handle_packet(seconds(1), &request) == Fate::Taken).count();
    assert_eq!((answered, it.counters().dropped(DropReason::RepliesFull)), (4, 5));
    it.send(seconds(1), id, None, at(other(false, 5), 9), b"x").unwrap();
    assert_eq!(leaving(&mut it).len(), 5);
    assert_eq!(it.handle_packet(seconds(1), &request), Fate::Taken);
}

#[test_case(false, 548)]
#[test_case(true, 1_232)]
fn a_closed_port_is_unreachable(six: bool, quoted_max: usize) {
    let mut it = datagrams(|_| {});
    let peer = at(other(six, 5), 4_000);
    for len in [0, 2_000] {
        let packet = udp(peer, at(own(six), 53), &vec![7; len]);
        assert_eq!(it.handle_packet(seconds(1), &packet), Fate::Dropped(DropReason::NoSocket));
        let quoted = packet[..packet.len().min(quoted_max)].to_vec();
        match judge(&it.pop_transmit().unwrap()) {
            Seen::Icmp4 { src, dst, kind, payload } => {
                assert_eq!((IpAddr::V4(src), IpAddr::V4(dst), payload), (own(six), peer.ip(), quoted));
                assert_eq!(kind, Icmpv4Type::DestinationUnreachable(icmpv4::DestUnreachableHeader::Port));
            }
            Seen::Icmp6 { src, dst, kind, payload } => {
                assert_eq!((IpAddr::V6(src), IpAddr::V6(dst), payload), (own(six), peer.ip(), quoted));
                assert_eq!(kind, Icmpv6Type::DestinationUnreachable(icmpv6::DestUnreachableCode::Port));
            }
            seen => panic!("{seen:?}"),
        }
    }
    assert_eq!(it.counters().unreachables, 2);
}

#[test]
fn an_unreachable_port_quotes_no_more_than_the_mtu_holds() {
    let mut it = datagrams(|cfg| cfg.mtu = 100);
    it.handle_packet(seconds(1), &udp(at(other(false, 5), 9), at(own(false), 53), &[7; 500]));
    assert_eq!(it.pop_transmit().unwrap().len(), 100);
    // Whatever the MTU, what tells whose datagram it was has to be there.
    it.set_mtu(0);
    it.handle_packet(seconds(1), &udp(at(other(false, 5), 9), at(own(false), 53), &[7; 500]));
    assert_eq!(it.pop_transmit().unwrap().len(), 28 + 68);
}

#[test]
fn unreachable_ports_have_an_allowance_of_their_own() {
    let mut it = datagrams(|cfg| cfg.replies.unreachables_per_second = 10);
    let packet = udp(at(other(false, 5), 9), at(own(false), 53), b"x");
    (0..30).for_each(|_| assert_eq!(it.handle_packet(seconds(1), &packet), Fate::Dropped(DropReason::NoSocket)));
    assert_eq!((it.counters().unreachables, it.counters().unreachables_withheld), (10, 20));
    let request = echo_request(other(false, 5), own(false), b"x");
    assert_eq!(it.handle_packet(seconds(1), &request), Fate::Taken);
    it.handle_packet(seconds(1) + Duration::from_millis(100), &packet);
    assert_eq!(it.counters().unreachables, 11);
}

/// A router's report about the packet that leaves next, which it takes.
fn report(it: &mut Datagrams, kind: IcmpKind) -> Vec<u8> {
    let offending = it.pop_transmit().unwrap();
    let router = other(offending[0] >> 4 == 6, 99);
    let mut packet = Vec::new();
    wire::icmp::emit(kind, router, &offending, &mut packet);
    packet
}

const PORT: IcmpKind = IcmpKind::Unreachable(Unreachable::Port);

/// RFC 1122 §4.1.3.3.
#[test_case(false)]
#[test_case(true)]
fn a_refused_datagram_is_reported_to_its_sender(six: bool) {
    let mut it = datagrams(|_| {});
    let remote = at(other(six, 5), 53);
    let flow = it.open(seconds(1), at(own(six), 0), remote).unwrap();
    let socket = it.bind(at(own(six), 99)).unwrap();
    for id in [flow, socket] {
        it.send(seconds(1), id, None, remote, b"x").unwrap();
        let refused = report(&mut it, PORT);
        assert_eq!(it.handle_packet(seconds(1), &refused), Fate::Taken);
        assert_eq!((it.poll_event(), it.poll_event()), (Some(DatagramEvent::Refused { id, remote }), None));
    }
    it.send(seconds(1), flow, None, remote, b"x").unwrap();
    let too_big = report(&mut it, IcmpKind::TooBig { mtu: 1_300, packet_len: 0 });
    assert_eq!(it.handle_packet(seconds(1), &too_big), Fate::Taken);
    assert_eq!(it.poll_event(), Some(DatagramEvent::TooBig { id: flow, remote, mtu: 1_300 }));
    it.send(seconds(1), flow, None, remote, b"x").unwrap();
    let exceeded = report(&mut it, IcmpKind::TimeExceeded);
    assert_eq!(it.handle_packet(seconds(1), &exceeded), Fate::Dropped(DropReason::IcmpUnused));
}

/// RFC 5927 §4, for datagrams: the quote must show what only the path knows.
#[test]
fn a_report_that_matches_no_datagram_of_ours_is_dropped() {
    let mut it = datagrams(|_| {});
    let remote = at(other(false, 5), 53);
    let flow = it.open(seconds(1), at(own(false), 50_000), remote).unwrap();
    let socket = it.bind(at(own(false), 99)).unwrap();
    it.send(seconds(1), socket, None, remote, b"x").unwrap();
    it.send(seconds(1), flow, None, remote, b"x").unwrap();
    for offset in [16, 20, 22] {
        for _ in 0..2 {
            let mut offending = it.pop_transmit().unwrap();
            offending[offset + 1] ^= 1;
            let mut packet = Vec::new();
            wire::icmp::emit(PORT, other(false, 99), &offending, &mut packet);
            assert_eq!(it.handle_packet(seconds(1), &packet), Fate::Dropped(DropReason::IcmpUnmatched), "{offset}");
        }
        it.send(seconds(1), socket, None, remote, b"x").unwrap();
        it.send(seconds(1), flow, None, remote, b"x").unwrap();
    }
    let mut changed = report(&mut it, PORT);
    let last = changed.len() - 1;
    changed[last] ^= 1;
    assert_eq!(it.handle_packet(seconds(1), &changed), Fate::Dropped(DropReason::IcmpChecksum));
    assert_eq!(it.poll_event(), None);
}

#[test]
fn a_report_that_went_to_another_host_than_the_sender_is_dropped() {
    let mut it = datagrams(|cfg| cfg.destinations = Destinations::Any);
    let offending = udp(at(other(false, 1), 9), at(other(false, 2), 53), b"x");
    let mut packet = Vec::new();
    wire::icmp::emit(PORT, other(false, 99), &offending, &mut packet);
    packet[16..20].copy_from_slice(&[192, 0, 2, 1]);
    crate::support::mend(&mut packet);
    assert_eq!(it.handle_packet(seconds(1), &packet), Fate::Dropped(DropReason::IcmpMalformed));
}

/// RFC 1122 §3.2.2: no ICMP error answers an ICMP error.
#[test]
fn a_message_is_never_answered_by_an_error() {
    let mut it = datagrams(|cfg| cfg.strangers = Strangers::Refuse);
    let offending = udp(at(own(false), 9), at(other(false, 2), 53), b"x");
    let mut packet = Vec::new();
    wire::icmp::emit(PORT, other(false, 99), &offending, &mut packet);
    assert_eq!(it.handle_packet(seconds(1), &packet), Fate::Dropped(DropReason::IcmpUnmatched));
    assert_eq!(it.peek_transmit(), None);
}

#[test]
fn errors_about_segments_are_the_tcps_and_other_messages_the_callers() {
    let mut it = datagrams(|_| {});
    let segment = ip_packet(own(false), other(false, 2), IpNumber::TCP, &[1; 20]);
    let mut packet = Vec::new();
    wire::icmp::emit(PORT, other(false, 99), &segment, &mut packet);
    assert_eq!(it.handle_packet(seconds(1), &packet), Fate::ForTcp);
    assert_eq!(it.handle_packet(seconds(1), &segment), Fate::ForTcp);
    let mut reply = Vec::new();
    let request = echo_request(own(false), other(false, 5), b"x");
    wire::icmp::emit_echo_reply(&wire::IpView::read(&request).unwrap(), &mut reply);
    assert_eq!(it.handle_packet(seconds(1), &reply), Fate::Other, "the program may have sent the request");
    let sctp = ip_packet(other(false, 5), own(false), IpNumber::SCTP, &[1; 20]);
    assert_eq!(it.handle_packet(seconds(1), &sctp), Fate::Other);
}

#[test_case(false)]
#[test_case(true)]
fn a_refused_flow_is_an_unreachable_port(six: bool) {
    let mut it = datagrams(|cfg| {
        cfg.destinations = Destinations::Any;
        cfg.strangers = Strangers::Offer;
    });
    let (remote, local) = (at(other(six, 5), 9), at(other(six, 7), 53));
    let packet = udp(remote, local, b"first");
    it.handle_packet(seconds(1), &packet);
    it.handle_packet(seconds(1), &udp(remote, local, b"second"));
    let id = it.poll_flow().unwrap().id;
    it.refuse(seconds(1), id);
    it.refuse(seconds(1), id);
    let (Seen::Icmp4 { payload, .. } | Seen::Icmp6 { payload, .. }) = judge(&it.pop_transmit().unwrap()) else {
        panic!("a report")
    };
    assert_eq!(judge(&payload), judge(&packet), "the quote is that datagram");
    assert_eq!((it.flows(), it.poll_event(), it.peek_transmit(), it.usage().received), (0, None, None, 0));
    // The sender believes it.
    let mut sender = datagrams(|cfg| cfg.addresses = vec![remote.ip()]);
    let id = sender.open(seconds(1), remote, local).unwrap();
    let mut report = Vec::new();
    wire::icmp::emit(PORT, local.ip(), &payload, &mut report);
    assert_eq!(sender.handle_packet(seconds(1), &report), Fate::Taken);
    assert_eq!(sender.poll_event(), Some(DatagramEvent::Refused { id, remote: local }));
}

#[test]
fn a_flow_without_unread_datagrams_is_closed_in_silence() {
    let mut it = datagrams(|cfg| cfg.strangers = Strangers::Offer);
    it.handle_packet(seconds(1), &udp(at(other(false, 5), 9), at(own(false), 53), b"x"));
    let id = it.poll_flow().unwrap().id;
    it.recv(id, &mut [0; 9]).unwrap();
    it.refuse(seconds(1), id);
    assert_eq!((it.flows(), it.peek_transmit(), it.counters().unreachables_withheld), (0, None, 0));
}

#[test]
fn answers_are_bounded_in_bytes_too() {
    let mut it = datagrams(|cfg| cfg.replies.bytes_max = 2 * 1_300);
    let request = echo_request(other(false, 5), own(false), &[0; 1_000]);
    let fates = [(); 3].map(|()| it.handle_packet(seconds(1), &request));
    assert_eq!(fates, [Fate::Taken, Fate::Taken, Fate::Dropped(DropReason::RepliesFull)]);
    it.handle_packet(seconds(1), &udp(at(other(false, 5), 9), at(own(false), 53), b"x"));
    assert_eq!((it.counters().unreachables, it.counters().unreachables_withheld), (0, 1));
}

#[test]
fn a_malformed_message_for_another_host_is_the_callers() {
    let mut it = datagrams(|_| {});
    for dst in [own(false), other(false, 9)] {
        let short = ip_packet(other(false, 5), dst, IpNumber::ICMP, &[8, 0, 0xf7, 0xff]);
        let fate = it.handle_packet(seconds(1), &short);
        assert_eq!(fate == Fate::Other, dst != own(false), "{fate:?}");
    }
}
