//! Packets in fragments, as whoever sends them meets the program; [`longhaul_datagram`]'s unit tests have the single rules.

use crate::support::{at, datagrams, echo_request, fragments, ip_packet, judge, other, own, seconds, udp};
use etherparse::IpNumber;
use longhaul_datagram::{DropReason, Fate};
use proptest::prelude::*;
use test_case::test_case;

#[test_case(false)]
#[test_case(true)]
fn a_datagram_in_fragments_arrives_as_one(six: bool) {
    let mut it = datagrams(|_| {});
    let (id, peer) = (it.bind(at(own(six), 53)).unwrap(), at(other(six, 5), 9));
    let payload: Vec<u8> = (0..4_000_u32).map(|i| i as u8).collect();
    let packet = udp(peer, at(own(six), 53), &payload);
    let pieces = fragments(&packet, &[1_480, 2_960], 7);
    assert_eq!(pieces.len(), 3);
    for piece in pieces.iter().rev() {
        assert_eq!(it.handle_packet(seconds(1), piece), Fate::Taken);
    }
    let mut buf = vec![0; 5_000];
    assert_eq!(it.recv(id, &mut buf).unwrap().full_len, 4_000);
    assert_eq!((&buf[..4_000], it.counters().reassembled, it.usage().fragments), (&payload[..], 1, 0));
    assert_eq!(it.next_deadline(), None);
}

#[test_case(false)]
#[test_case(true)]
fn a_segment_in_fragments_comes_back_whole(six: bool) {
    let mut it = datagrams(|_| {});
    let segment = ip_packet(other(six, 5), own(six), IpNumber::TCP, &[7; 100]);
    let pieces = fragments(&segment, &[48], 7);
    assert_eq!(it.handle_packet(seconds(1), &pieces[0]), Fate::Taken);
    assert_eq!(it.take_whole(), None);
    assert_eq!(it.handle_packet(seconds(1), &pieces[1]), Fate::Whole);
    let mut whole = it.take_whole().unwrap();
    if !six {
        // The identification stays.
        whole[4..6].fill(0);
        whole[6] = segment[6];
        crate::support::mend(&mut whole);
    }
    assert_eq!((whole, it.take_whole()), (segment, None));
}

/// RFC 6946.
#[test]
fn an_atomic_fragment_is_handled_alone() {
    let mut it = datagrams(|_| {});
    it.bind(at(own(true), 53)).unwrap();
    let packet = udp(at(other(true, 5), 9), at(own(true), 53), &[7; 100]);
    let pieces = fragments(&packet, &[48], 7);
    assert_eq!(it.handle_packet(seconds(1), &pieces[0]), Fate::Taken);
    let [atomic] = &fragments(&packet, &[], 7)[..] else { panic!("one") };
    assert_eq!(it.handle_packet(seconds(1), atomic), Fate::Taken);
    assert_eq!((it.counters().received, it.usage().incomplete), (1, 1), "those of its identification stay");
    assert_eq!(it.handle_packet(seconds(1), &pieces[1]), Fate::Taken);
    assert_eq!(it.counters().received, 2);
}

#[test]
fn an_echo_request_in_fragments_is_answered() {
    let mut it = datagrams(|_| {});
    let request = echo_request(other(false, 5), own(false), &[7; 300]);
    for piece in fragments(&request, &[104, 208], 7) {
        assert_eq!(it.handle_packet(seconds(1), &piece), Fate::Taken);
    }
    judge(&it.pop_transmit().unwrap());
}

#[test]
fn fragments_of_others_and_of_other_protocols_are_the_callers() {
    let mut it = datagrams(|_| {});
    let foreign = udp(at(other(false, 1), 9), at(other(false, 2), 53), &[7; 100]);
    let sctp = ip_packet(other(false, 5), own(false), IpNumber::SCTP, &[7; 100]);
    let options = ip_packet(other(true, 5), own(true), IpNumber::IPV6_DESTINATION_OPTIONS, &[7; 100]);
    for packet in [foreign, sctp, options] {
        assert_eq!(it.handle_packet(seconds(1), &fragments(&packet, &[48], 7)[0]), Fate::Other);
    }
    let mut reply = Vec::new();
    let request = echo_request(own(false), other(false, 5), &[7; 100]);
    wire::icmp::emit_echo_reply(&wire::IpView::read(&request).unwrap(), &mut reply);
    let pieces = fragments(&reply, &[48], 7);
    let fates = [&pieces[0], &pieces[1]].map(|piece| it.handle_packet(seconds(1), piece));
    assert_eq!(fates, [Fate::Taken, Fate::WholeOther]);
    assert!(it.take_whole().is_some());
}

/// RFC 8200 §4: other extension headers.
#[test_case(IpNumber::IPV6_HEADER_HOP_BY_HOP; "hop-by-hop options")]
#[test_case(IpNumber::IPV6_ROUTE_HEADER; "a routing header")]
#[test_case(IpNumber::IPV6_DESTINATION_OPTIONS; "destination options")]
fn datagrams_behind_extension_headers_are_the_callers(extension: IpNumber) {
    let mut it = datagrams(|_| {});
    it.bind(at(own(true), 53)).unwrap();
    let datagram = udp(at(other(true, 5), 9), at(own(true), 53), b"x");
    let behind = [&[17, 0, 1, 4, 0, 0, 0, 0], &datagram[40..]].concat();
    let packet = ip_packet(other(true, 5), own(true), extension, &behind);
    assert_eq!(it.handle_packet(seconds(1), &packet), Fate::Other);
    let segment = [&[6, 0, 1, 4, 0, 0, 0, 0][..], &[0x50; 20]].concat();
    let packet = ip_packet(other(true, 5), own(true), extension, &segment);
    assert_eq!(it.handle_packet(seconds(1), &packet), Fate::ForTcp);
}

#[test]
fn fragments_wait_for_their_time_and_no_longer() {
    let mut it = datagrams(|_| {});
    let packet = udp(at(other(false, 5), 9), at(own(false), 53), &[7; 100]);
    let pieces = fragments(&packet, &[48], 7);
    it.handle_packet(seconds(1), &pieces[0]);
    assert_eq!(it.next_deadline(), Some(seconds(16)));
    it.handle_timers(seconds(15));
    assert_eq!(it.usage().incomplete, 1);
    it.handle_timers(seconds(16));
    assert_eq!((it.usage().fragments, it.next_deadline(), it.counters().reassembly_expired), (0, None, 1));
    assert_eq!(it.handle_packet(seconds(16), &pieces[1]), Fate::Taken, "the second waits anew, and alone");
    assert_eq!(it.usage().incomplete, 1);
}

#[test]
fn a_late_fragment_completes_nothing_though_no_timer_was_served() {
    let mut it = datagrams(|_| {});
    let packet = udp(at(other(false, 5), 9), at(own(false), 53), &[7; 100]);
    let pieces = fragments(&packet, &[48], 7);
    it.handle_packet(seconds(1), &pieces[0]);
    it.handle_packet(seconds(16), &pieces[1]);
    assert_eq!((it.counters().reassembled, it.counters().reassembly_expired, it.usage().incomplete), (0, 1, 1));
}

#[test]
fn fragments_of_a_source_that_is_no_host_are_not_kept() {
    let mut it = datagrams(|_| {});
    let packet = udp(at([224, 0, 0, 1].into(), 9), at(own(false), 53), &[7; 100]);
    let fate = it.handle_packet(seconds(1), &fragments(&packet, &[48], 7)[0]);
    assert_eq!((fate, it.usage().incomplete), (Fate::Dropped(DropReason::Source), 0));
}

#[test]
fn overlapping_fragments_deliver_nothing() {
    for six in [false, true] {
        let mut it = datagrams(|_| {});
        it.bind(at(own(six), 53)).unwrap();
        let packet = udp(at(other(six, 5), 9), at(own(six), 53), &[7; 100]);
        let (one, two) = (fragments(&packet, &[48], 7), fragments(&packet, &[40, 56], 7));
        assert_eq!(it.handle_packet(seconds(1), &one[0]), Fate::Taken);
        assert_eq!(it.handle_packet(seconds(1), &two[1]), Fate::Dropped(DropReason::FragmentOverlap));
        for piece in one.iter().chain(&two) {
            assert_eq!(it.handle_packet(seconds(1), piece), Fate::Dropped(DropReason::FragmentOverlap), "{six}");
        }
        assert_eq!(it.counters().received, 0);
        it.handle_timers(seconds(16));
        let delivered =
            fragments(&packet, &[48], 7).iter().all(|it_is| it.handle_packet(seconds(16), it_is) == Fate::Taken);
        assert_eq!((delivered, it.counters().received), (true, 1), "its identification is free again");
    }
}

proptest! {
    /// RFC 791 §3.2, RFC 8200 §4.5.
    #[test]
    fn any_cutting_in_any_order_with_repetitions_gives_the_packet_back(
        six: bool,
        payload in prop::collection::vec(any::<u8>(), 1..3_000),
        cuts in prop::collection::vec(1usize..370, 0..12),
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
    ) {
        let mut it = datagrams(|_| {});
        let id = it.bind(at(own(six), 53)).unwrap();
        let packet = udp(at(other(six, 5), 9), at(own(six), 53), &payload);
        let cuts: Vec<usize> = cuts.iter().map(|cut| cut * 8).collect();
        let pieces = fragments(&packet, &cuts, 7);
        let mut buf = vec![0; 4_000];
        let mut delivered = 0;
        // A random choice with repetitions, then whatever is missing.
        let all = order.iter().map(|index| index.get(&pieces)).chain(&pieces);
        for piece in all {
            let was = it.counters().received;
            prop_assert_eq!(it.handle_packet(seconds(1), piece), Fate::Taken);
            if it.counters().received > was {
                prop_assert_eq!(it.recv(id, &mut buf).map(|received| received.full_len), Some(payload.len()));
                prop_assert_eq!(&buf[..payload.len()], &payload[..]);
                delivered += 1;
            }
        }
        prop_assert!(delivered >= 1);
    }

    /// Against the library's own reassembly, byte for byte.
    #[test]
    fn segments_come_back_as_the_library_puts_them_together(
        six: bool,
        mut payload in prop::collection::vec(any::<u8>(), 32..2_000),
        cuts in prop::collection::vec(3usize..250, 1..8),
        seed: u64,
    ) {
        let mut it = datagrams(|_| {});
        // The library reads the segment's header, too.
        payload[12] = 0x50;
        let segment = ip_packet(other(six, 5), own(six), IpNumber::TCP, &payload);
        // At least two: the library hands a packet of one fragment back as it came.
        let cuts: Vec<usize> = cuts.iter().map(|cut| cut * 8).chain([24]).collect();
        let mut pieces = fragments(&segment, &cuts, 7);
        let mut rng = base::Rng::new(seed);
        for i in (1..pieces.len()).rev() {
            pieces.swap(i, rng.below(i as u64 + 1) as usize);
        }
        let mut pool = etherparse::defrag::IpDefragPool::<(), ()>::new();
        let mut theirs = None;
        for piece in &pieces {
            let sliced = etherparse::SlicedPacket::from_ip(piece).unwrap();
            theirs = theirs.or(pool.process_sliced_packet(&sliced, (), ()).unwrap());
            it.handle_packet(seconds(1), piece);
        }
        let whole = it.take_whole().expect("it is complete");
        let ours = etherparse::SlicedPacket::from_ip(&whole).unwrap();
        prop_assert!(!ours.is_ip_payload_fragmented());
        prop_assert_eq!(ours.ip_payload().unwrap().payload, &theirs.unwrap().payload[..]);
    }
}
