//! Sockets and single flows: who gets a datagram, what leaves, what is refused.

use crate::support::{Seen, at, datagrams, judge, leaving, other, own, seconds, udp};
use base::Instant;
use longhaul_datagram::{
    BindError, DATAGRAM_BYTES, DatagramEvent, Datagrams, Destinations, DropReason, Fate, Flow, Received, SendError,
    SocketId, Strangers,
};
use test_case::test_case;

fn text(datagrams: &mut Datagrams, id: SocketId) -> Option<(Received, Vec<u8>)> {
    let mut buf = [0; 2000];
    datagrams.recv(id, &mut buf).map(|received| (received, buf[..received.len].to_vec()))
}

/// RFC 768; the source and the destination of a datagram are the application's to know (RFC 1122 §4.1.3.5).
#[test_case(false)]
#[test_case(true)]
fn a_socket_receives_from_anyone_and_answers(six: bool) {
    let mut it = datagrams(|_| {});
    let id = it.bind(at(own(six), 53)).unwrap();
    let peer = at(other(six, 5), 4_000);
    assert_eq!(it.handle_packet(seconds(1), &udp(peer, at(own(six), 53), b"query")), Fate::Taken);
    assert_eq!(it.poll_event(), Some(DatagramEvent::Readable(id)));
    let (received, payload) = text(&mut it, id).unwrap();
    assert_eq!((received.source, received.destination, received.full_len), (peer, at(own(six), 53), 5));
    assert_eq!(payload, b"query");
    assert_eq!(text(&mut it, id), None);
    it.send(seconds(1), id, None, peer, b"answer").unwrap();
    let [packet] = &leaving(&mut it)[..] else { panic!("one packet") };
    assert_eq!(judge(packet), Seen::Udp { src: at(own(six), 53), dst: peer, payload: b"answer".to_vec() });
    assert_eq!((it.next_deadline(), it.poll_event()), (None, None), "a socket expires never");
}

#[test]
fn a_short_buffer_shows_how_long_the_datagram_was() {
    let mut it = datagrams(|_| {});
    let id = it.bind(at(own(false), 53)).unwrap();
    let packet = udp(at(other(false, 5), 1), at(own(false), 53), b"0123456789");
    it.handle_packet(seconds(1), &packet);
    let mut buf = [0; 4];
    let received = it.recv(id, &mut buf).unwrap();
    assert_eq!((received.len, received.full_len, &buf), (4, 10, b"0123"));
    assert_eq!(it.recv(id, &mut buf), None, "the rest is discarded");
}

#[test]
fn the_unspecified_address_is_every_own_one_of_its_version() {
    let mut it = datagrams(|cfg| cfg.destinations = Destinations::Any);
    let id = it.bind(at([0, 0, 0, 0].into(), 53)).unwrap();
    let peer = at(other(false, 5), 4_000);
    assert_eq!(it.handle_packet(seconds(1), &udp(peer, at(own(false), 53), b"x")), Fate::Taken);
    let foreign = udp(peer, at(other(false, 9), 53), b"x");
    assert_eq!(it.handle_packet(seconds(1), &foreign), Fate::Dropped(DropReason::NoSocket));
    let six = udp(at(other(true, 5), 1), at(own(true), 53), b"x");
    assert_eq!(it.handle_packet(seconds(1), &six), Fate::Dropped(DropReason::NoSocket));
    leaving(&mut it);
    it.send(seconds(1), id, None, peer, b"y").unwrap();
    let seen = judge(&it.pop_transmit().unwrap());
    assert_eq!(seen, Seen::Udp { src: at(own(false), 53), dst: peer, payload: b"y".to_vec() });
}

#[test]
fn addresses_of_sockets_do_not_overlap() {
    let mut it = datagrams(|_| {});
    let id = it.bind(at(own(false), 53)).unwrap();
    assert_eq!(it.bind(at(own(false), 53)), Err(BindError::InUse));
    assert_eq!(it.bind(at([0, 0, 0, 0].into(), 53)), Err(BindError::InUse));
    assert_eq!(it.bind(at(other(false, 1), 53)), Err(BindError::NotOwn));
    it.bind(at(core::net::Ipv6Addr::UNSPECIFIED.into(), 53)).unwrap();
    assert_eq!(it.bind(at(own(true), 53)), Err(BindError::InUse));
    it.close(id);
    it.bind(at([0, 0, 0, 0].into(), 53)).unwrap();
}

/// RFC 6335 §6, RFC 6056 §3.3.1.
#[test]
fn port_zero_is_a_free_dynamic_port_until_there_is_none() {
    let mut it = datagrams(|_| {});
    let mut ports: Vec<u16> = Vec::new();
    while let Ok(id) = it.bind(at(own(false), 0)) {
        ports.push(it.local(id).unwrap().port());
    }
    assert_ne!(ports[0], 49_152, "a random one is first");
    ports.sort_unstable();
    assert!(ports.iter().copied().eq(49_152..=65_535));
    assert_eq!(it.bind(at(own(false), 0)), Err(BindError::NoPorts));
    let again = |_| {
        let mut it = datagrams(|_| {});
        let id = it.bind(at(own(true), 0)).unwrap();
        it.local(id)
    };
    assert_eq!(again(1), again(2), "the same seed, the same port");
}

/// A change that makes a datagram bad, and what becomes of it.
#[test_case(false, |_| {} => Fate::Taken; "as it is")]
#[test_case(false, |p| p[30] ^= 1 => Fate::Dropped(DropReason::UdpChecksum); "a changed byte")]
#[test_case(true, |p| p[50] ^= 1 => Fate::Dropped(DropReason::UdpChecksum); "a changed byte over IPv6")]
#[test_case(false, |p| p[26..28].fill(0) => Fate::Taken; "no checksum over IPv4, RFC 768")]
#[test_case(true, |p| p[46..48].fill(0) => Fate::Dropped(DropReason::NoUdpChecksum); "none over IPv6, RFC 8200 8.1")]
#[test_case(false, |p| p[24..26].copy_from_slice(&[0, 7]) => Fate::Dropped(DropReason::UdpLength); "a length below the header")]
#[test_case(false, |p| p[24..26].copy_from_slice(&[0, 99]) => Fate::Dropped(DropReason::UdpLength); "a length beyond the packet")]
#[test_case(true, |p| p[44..46].fill(0) => Fate::Dropped(DropReason::UdpLength); "a jumbogram")]
#[test_case(false, |p| p[10] ^= 1 => Fate::Dropped(DropReason::Malformed); "a wrong header checksum")]
#[test_case(false, |p| p.truncate(27) => Fate::Dropped(DropReason::Malformed); "a truncated packet")]
#[test_case(false, |p| p.extend([7; 9]) => Fate::Taken; "padding behind the packet")]
fn a_datagram(six: bool, change: fn(&mut Vec<u8>)) -> Fate {
    let mut it = datagrams(|_| {});
    it.bind(at(own(six), 53)).unwrap();
    let mut packet = udp(at(other(six, 5), 4_000), at(own(six), 53), b"some text");
    change(&mut packet);
    let fate = it.handle_packet(seconds(1), &packet);
    if let Fate::Dropped(reason) = fate {
        assert_eq!((it.counters().dropped(reason), it.counters().dropped_total()), (1, 1));
    }
    fate
}

/// RFC 1122 §4.1.3.6.
#[test_case([224, 0, 0, 1], own(false) => Fate::Dropped(DropReason::Source); "from a group")]
#[test_case([255, 255, 255, 255], own(false) => Fate::Dropped(DropReason::Source); "from the broadcast address")]
#[test_case([198, 51, 100, 1], [224, 0, 0, 251].into() => Fate::Other; "to a group")]
#[test_case([198, 51, 100, 1], [255, 255, 255, 255].into() => Fate::Other; "to everyone")]
fn addresses_that_are_no_hosts(src: [u8; 4], dst: core::net::IpAddr) -> Fate {
    let mut it = datagrams(|cfg| cfg.destinations = Destinations::Any);
    let fate = it.handle_packet(seconds(1), &udp(at(src.into(), 53), at(dst, 53), b"x"));
    assert_eq!(it.peek_transmit(), None, "no answer, RFC 1122 section 3.2.2");
    fate
}

#[test]
fn a_datagram_for_another_host_is_the_callers() {
    let mut it = datagrams(|cfg| cfg.strangers = Strangers::Offer);
    let packet = udp(at(other(false, 1), 1), at(other(false, 2), 2), b"x");
    assert_eq!(it.handle_packet(seconds(1), &packet), Fate::Other);
}

#[test_case(false)]
#[test_case(true)]
fn a_stranger_begins_a_flow_which_ends_when_idle(six: bool) {
    let mut it = datagrams(|cfg| {
        cfg.destinations = Destinations::Any;
        cfg.strangers = Strangers::Offer;
    });
    let (remote, local) = (at(other(six, 5), 4_000), at(other(six, 7), 443));
    for payload in [b"one", b"two"] {
        assert_eq!(it.handle_packet(seconds(1), &udp(remote, local, payload)), Fate::Taken);
    }
    assert_eq!(it.poll_event(), None, "the application does not know it yet");
    let flow = it.poll_flow().unwrap();
    assert_eq!((flow, it.poll_flow()), (Flow { id: flow.id, local, remote }, None));
    assert_eq!(text(&mut it, flow.id).unwrap().1, b"one");
    assert_eq!(text(&mut it, flow.id).unwrap().1, b"two");
    it.send(seconds(31), flow.id, None, remote, b"back").unwrap();
    let seen = judge(&it.pop_transmit().unwrap());
    assert_eq!(seen, Seen::Udp { src: local, dst: remote, payload: b"back".to_vec() });
    assert_eq!(it.next_deadline(), Some(seconds(91)));
    it.handle_timers(seconds(90));
    assert_eq!((it.flows(), it.poll_event()), (1, None));
    it.handle_timers(seconds(91));
    assert_eq!((it.flows(), it.poll_event(), it.next_deadline()), (0, Some(DatagramEvent::Ended(flow.id)), None));
    assert_eq!(it.send(seconds(91), flow.id, None, remote, b"late"), Err(SendError::Gone));
    assert_eq!(text(&mut it, flow.id), None);
    it.handle_packet(seconds(92), &udp(remote, local, b"more"));
    assert_ne!(it.poll_flow().unwrap().id, flow.id, "an identifier is never reused");
}

#[test]
fn a_proxy_answers_in_the_name_of_another_peer() {
    let mut it = datagrams(|cfg| {
        cfg.destinations = Destinations::Any;
        cfg.strangers = Strangers::Offer;
    });
    let (remote, local) = (at(other(false, 5), 4_000), at(other(false, 7), 443));
    it.handle_packet(seconds(1), &udp(remote, local, b"x"));
    let id = it.poll_flow().unwrap().id;
    let third = at(other(false, 8), 99);
    it.send(seconds(1), id, Some(third), remote, b"y").unwrap();
    assert_eq!(judge(&it.pop_transmit().unwrap()), Seen::Udp { src: third, dst: remote, payload: b"y".to_vec() });
    assert_eq!(it.send(seconds(1), id, None, third, b"y"), Err(SendError::BadDestination), "a flow has one peer");
}

#[test]
fn datagrams_of_port_zero_begin_no_flow() {
    let mut it = datagrams(|cfg| cfg.strangers = Strangers::Offer);
    for (from, to) in [(0, 53), (53, 0)] {
        let packet = udp(at(other(false, 5), from), at(own(false), to), b"x");
        assert_eq!(it.handle_packet(seconds(1), &packet), Fate::Dropped(DropReason::ZeroPort));
    }
    it.bind(at(own(false), 53)).unwrap();
    let packet = udp(at(other(false, 5), 0), at(own(false), 53), b"x");
    assert_eq!(it.handle_packet(seconds(1), &packet), Fate::Taken, "a socket receives it: RFC 768");
}

#[test]
fn our_own_flow_receives_from_its_peer_alone() {
    let mut it = datagrams(|_| {});
    let remote = at(other(false, 5), 53);
    let id = it.open(seconds(1), at([0, 0, 0, 0].into(), 0), remote).unwrap();
    let local = it.local(id).unwrap();
    assert_eq!((local.ip(), local.port() >= 49_152), (own(false), true));
    assert_eq!(it.open(seconds(1), local, remote), Err(BindError::InUse));
    assert_eq!(it.handle_packet(seconds(1), &udp(remote, local, b"x")), Fate::Taken);
    let stranger = udp(at(other(false, 6), 53), local, b"x");
    assert_eq!(it.handle_packet(seconds(1), &stranger), Fate::Dropped(DropReason::NoSocket));
    assert_eq!((it.poll_event(), it.poll_flow()), (Some(DatagramEvent::Readable(id)), None));
    for remote in [at(other(false, 5), 0), at([224, 0, 0, 1].into(), 53), at(other(true, 5), 53)] {
        assert_eq!(it.open(seconds(1), local, remote), Err(BindError::BadPeer));
    }
}

#[test_case(false, 1_472)]
#[test_case(true, 1_452)]
fn nothing_is_fragmented_on_sending(six: bool, max: usize) {
    let mut it = datagrams(|_| {});
    let id = it.bind(at(own(six), 53)).unwrap();
    let peer = at(other(six, 5), 4_000);
    let send = |it: &mut Datagrams, len| it.send(seconds(1), id, None, peer, &vec![7; len]);
    assert_eq!(send(&mut it, max + 1), Err(SendError::TooLarge { max }));
    assert_eq!(send(&mut it, max), Ok(()));
    assert_eq!(it.peek_transmit().unwrap().len(), 1_500);
    it.set_mtu(1_280);
    assert_eq!(send(&mut it, max), Err(SendError::TooLarge { max: max - 220 }));
}

#[test_case(None, at([198, 51, 100, 1].into(), 0) => Err(SendError::BadDestination); "to port zero")]
#[test_case(None, at([224, 0, 0, 1].into(), 53) => Err(SendError::BadDestination); "to a group")]
#[test_case(None, at(other(true, 1), 53) => Err(SendError::NoAddress); "to the other version")]
#[test_case(Some(at(other(false, 1), 53)), at(other(false, 2), 53) => Err(SendError::NoAddress); "from an address of others")]
#[test_case(Some(at(own(false), 0)), at(other(false, 2), 53) => Err(SendError::NoAddress); "from port zero")]
#[test_case(Some(at(own(false), 9)), at(other(false, 2), 53) => Ok(()); "from another port of ours")]
fn sending(source: Option<core::net::SocketAddr>, to: core::net::SocketAddr) -> Result<(), SendError> {
    let mut it = datagrams(|_| {});
    let id = it.bind(at(own(false), 53)).unwrap();
    it.send(seconds(1), id, source, to, b"x")
}

#[test]
fn a_full_queue_drops_what_comes_and_counts_it() {
    let mut it = datagrams(|cfg| cfg.queue.datagrams = 2);
    let (id, local) = (it.bind(at(own(false), 53)).unwrap(), at(own(false), 53));
    let fates: Vec<Fate> =
        (1..4).map(|i| it.handle_packet(seconds(1), &udp(at(other(false, i), 9), local, &[i]))).collect();
    assert_eq!(fates, [Fate::Taken, Fate::Taken, Fate::Dropped(DropReason::QueueFull)]);
    assert_eq!(text(&mut it, id).unwrap().1, [1], "the first ones stay");
    assert_eq!(it.handle_packet(seconds(1), &udp(at(other(false, 4), 9), local, &[4])), Fate::Taken);
    it.close(id);
    assert_eq!((it.counters().unread, it.usage().received), (2, 0));
}

#[test]
fn all_queues_together_are_bounded() {
    let mut it = datagrams(|cfg| cfg.memory_max = 2 * 3 * (DATAGRAM_BYTES + 10));
    it.bind(at(own(false), 1)).unwrap();
    it.bind(at(own(false), 2)).unwrap();
    let mut fate = |port| it.handle_packet(seconds(1), &udp(at(other(false, 1), 9), at(own(false), port), &[0; 10]));
    assert_eq!([fate(1), fate(2), fate(1)], [Fate::Taken; 3]);
    assert_eq!(fate(2), Fate::Dropped(DropReason::MemoryFull));
}

#[test]
fn who_found_no_room_learns_when_there_is_some() {
    let mut it = datagrams(|cfg| cfg.queue.datagrams = 4);
    let id = it.bind(at(own(false), 53)).unwrap();
    let peer = at(other(false, 5), 9);
    let send = |it: &mut Datagrams| it.send(seconds(1), id, None, peer, b"x");
    while send(&mut it).is_ok() {}
    assert_eq!((send(&mut it), it.counters().sent), (Err(SendError::Full), 4));
    let peeked = it.peek_transmit().map(<[u8]>::to_vec);
    assert_eq!((it.pop_transmit(), it.poll_event()), (peeked, None));
    it.pop_transmit().unwrap();
    assert_eq!((it.poll_event(), it.poll_event()), (Some(DatagramEvent::Writable(id)), None));
    assert_eq!(send(&mut it), Ok(()));
    assert_eq!(leaving(&mut it).len(), 3);
}

#[test]
fn who_found_no_memory_learns_when_there_is_some() {
    let mut it = datagrams(|cfg| cfg.memory_max = 2 * 2 * (DATAGRAM_BYTES + 128));
    let peer = at(other(false, 5), 9);
    let ids = [1, 2, 3].map(|port| it.bind(at(own(false), port)).unwrap());
    let sent = ids.map(|id| it.send(seconds(1), id, None, peer, &[0; 100]));
    assert_eq!(sent, [Ok(()), Ok(()), Err(SendError::Full)]);
    assert_eq!(it.poll_event(), None);
    it.pop_transmit();
    assert_eq!(it.poll_event(), Some(DatagramEvent::Writable(ids[2])));
    // A payload that never fits is no reason to wait.
    let too_large = it.send(seconds(1), ids[2], None, peer, &[0; 1_000]);
    assert_eq!(too_large, Err(SendError::TooLarge { max: 2 * (DATAGRAM_BYTES + 128) - DATAGRAM_BYTES - 28 }));
}

#[test]
fn a_closed_socket_is_gone_and_what_it_sent_leaves() {
    let mut it = datagrams(|_| {});
    let id = it.bind(at(own(false), 53)).unwrap();
    let peer = at(other(false, 5), 9);
    it.send(seconds(1), id, None, peer, b"x").unwrap();
    it.handle_packet(seconds(1), &udp(peer, at(own(false), 53), b"x"));
    it.close(id);
    it.close(id);
    assert_eq!((it.poll_event(), it.local(id), text(&mut it, id)), (None, None, None));
    assert_eq!(it.send(Instant::ZERO, id, None, peer, b"x"), Err(SendError::Gone));
    assert_eq!(leaving(&mut it).len(), 1);
    assert_eq!(it.usage(), longhaul_datagram::MemoryUsage::default());
}

#[test]
fn a_picked_port_is_one_that_no_flow_has() {
    let mut it = datagrams(|cfg| cfg.flows_max = 20_000);
    let (anywhere, remote) = (at([0, 0, 0, 0].into(), 0), at(other(false, 5), 53));
    let mut ports: Vec<u16> = Vec::new();
    while let Ok(id) = it.open(seconds(1), anywhere, remote) {
        ports.push(it.local(id).unwrap().port());
    }
    ports.sort_unstable();
    assert!(ports.iter().copied().eq(49_152..=65_535));
    assert_eq!((it.bind(anywhere), it.bind(at(own(false), 0))), (Err(BindError::NoPorts), Err(BindError::NoPorts)));
    assert!(it.bind(at(own(true), 0)).is_ok(), "the other version has ports of its own");
}

#[test]
fn a_queue_is_bounded_in_bytes_too() {
    let mut it = datagrams(|cfg| cfg.queue.bytes = 2 * DATAGRAM_BYTES + 100);
    let (id, local, peer) = (it.bind(at(own(false), 53)).unwrap(), at(own(false), 53), at(other(false, 1), 9));
    let mut fate = |len| it.handle_packet(seconds(1), &udp(peer, local, &vec![0; len]));
    let fates = [fate(90), fate(11), fate(10)];
    assert_eq!(fates, [Fate::Taken, Fate::Dropped(DropReason::QueueFull), Fate::Taken]);
    // What leaves counts its headers.
    let mut send = |len| it.send(seconds(1), id, None, peer, &vec![0; len]);
    assert_eq!([send(40), send(5), send(4)], [Ok(()), Err(SendError::Full), Ok(())]);
}

#[test]
fn who_closes_while_waiting_is_not_woken() {
    let mut it = datagrams(|cfg| cfg.memory_max = 2 * (DATAGRAM_BYTES + 128));
    let peer = at(other(false, 5), 9);
    let ids = [1, 2].map(|port| it.bind(at(own(false), port)).unwrap());
    let sent = ids.map(|id| it.send(seconds(1), id, None, peer, &[0; 100]));
    assert_eq!(sent, [Ok(()), Err(SendError::Full)]);
    it.close(ids[1]);
    it.pop_transmit();
    assert_eq!(it.poll_event(), None);
}

#[test]
fn memory_is_offered_again_when_half_of_it_is_free() {
    let mut it = datagrams(|cfg| cfg.memory_max = 2 * 4 * (DATAGRAM_BYTES + 128));
    let peer = at(other(false, 5), 9);
    let ids = [1, 2, 3, 4, 5].map(|port| it.bind(at(own(false), port)).unwrap());
    let sent = ids.map(|id| it.send(seconds(1), id, None, peer, &[0; 100]));
    assert_eq!(sent, [Ok(()), Ok(()), Ok(()), Ok(()), Err(SendError::Full)]);
    it.pop_transmit();
    assert_eq!(it.poll_event(), None);
    it.pop_transmit();
    assert_eq!((it.poll_event(), it.poll_event()), (Some(DatagramEvent::Writable(ids[4])), None));
}

#[test]
fn a_flow_comes_before_the_socket_of_its_port() {
    let mut it = datagrams(|_| {});
    let (local, remote) = (at(own(false), 53), at(other(false, 5), 9));
    let socket = it.bind(local).unwrap();
    let flow = it.open(seconds(1), local, remote).unwrap();
    it.handle_packet(seconds(1), &udp(remote, local, b"flow"));
    it.handle_packet(seconds(1), &udp(at(other(false, 6), 9), local, b"socket"));
    assert_eq!(text(&mut it, flow).unwrap().1, b"flow");
    assert_eq!(text(&mut it, socket).unwrap().1, b"socket");
}
