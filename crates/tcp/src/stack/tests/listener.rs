//! Listeners and their queues, local addresses and ports.

use super::bench::{Bench, IRS, PORT};
use crate::config::SynCookies;
use crate::event::CloseReason;
use crate::stack::{ListenError, ListenOn, LocalEnd, StackEvent};
use crate::testing::{PEER, US, quick, valid};
use crate::{ConnEvent, ConnectError};
use base::Duration;
use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::collections::BTreeSet;
use wire::Flags;

const ELSEWHERE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 9));

#[test]
fn a_backlog_of_one_lets_two_connections_wait_and_answers_no_third_syn() {
    let mut bench = Bench::listening(1, quick());
    let first = bench.open(1001).expect("accepted");
    bench.open(1002).expect("accepted");
    assert_eq!(bench.waiting(), 2);
    assert_eq!(bench.syn_ack_for(1003), None);
    assert_eq!(bench.stack.counters().backlog_full, 1);
    bench.stack.accept(first);
    assert_eq!(bench.waiting(), 1);
    assert!(bench.syn_ack_for(1003).is_some());
}

#[test]
fn a_handshake_does_not_end_while_the_accept_queue_is_full() {
    let mut bench = Bench::listening(1, quick());
    let held = bench.syn_ack_for(1003).expect("answered");
    bench.open(1001).expect("accepted");
    let taken = bench.open(1002).expect("accepted");
    bench.events.clear();
    assert!(bench.finish(&held).is_empty());
    assert_eq!(bench.accepted(), None, "its last ACK is ignored");
    let again = bench.pass(Duration::from_secs(2));
    assert!(
        again.iter().any(|out| out.flags == Flags::SYN && out.seq == held.seq),
        "the SYN-ACK asks again: {again:?}"
    );
    bench.stack.accept(taken);
    bench.finish(&held);
    assert!(bench.accepted().is_some());
}

//= specs/rfc9293.md#opening
//= type=test
//# A connection remembers which side opened it: a listener forgets an attempt that is reset, and goes on.
#[test]
fn handshakes_under_way_fill_the_syn_queue_and_leave_it_when_they_fail() {
    let mut cfg = quick();
    cfg.retries.syn_ack = 1;
    cfg.handshake.cookies = Some(SynCookies::Off);
    let mut bench = Bench::listening(1, cfg);
    assert!(bench.syn_ack_for(1001).is_some() && bench.syn_ack_for(1002).is_some());
    assert_eq!(bench.syn_ack_for(1003), None);
    bench.pass(Duration::from_secs(60));
    assert_eq!(bench.stack.connections(), 0);
    assert!(bench.syn_ack_for(1003).is_some());
}

#[test]
fn an_established_connection_that_is_reset_before_it_is_taken_is_still_reported() {
    let mut bench = Bench::listening(4, quick());
    let conn = bench.open(1001).expect("accepted");
    bench.deliver(Bench::segment(1001, Flags::RST, IRS + 1, None), 0);
    assert_eq!((bench.state(conn), bench.waiting()), ("CLOSED", 1));
    let closed = ConnEvent::Closed(CloseReason::Reset);
    assert!(bench.events.contains(&StackEvent::Conn { conn, event: closed }));
    bench.cx(|stack, cx| stack.release(cx, conn));
    assert_eq!((bench.stack.connections(), bench.waiting()), (0, 0));
}

//= specs/rfc9293.md#opening
//= type=test
//# A passive open does not disturb connections that stand, those on its own port included.
#[test]
fn the_end_of_a_listener_resets_what_was_not_taken_and_nothing_else() {
    let mut bench = Bench::listening(4, quick());
    let taken = bench.open(1001).expect("accepted");
    bench.stack.accept(taken);
    bench.open(1002).expect("accepted");
    bench.syn_ack_for(1003).expect("answered");
    bench.cx(|stack, cx| stack.unlisten(cx, PORT));
    let reset: Vec<_> = bench.sent.iter().map(|out| (out.flags, out.dst_port)).collect();
    assert_eq!(reset, [(Flags::RST, 1002)], "1003 had only knocked");
    assert_eq!((bench.state(taken), bench.stack.connections()), ("ESTABLISHED", 1));
    bench.sent.clear();
    assert_eq!(bench.syn_ack_for(1004).map(|out| out.flags), Some(Flags::RST), "no listener");
    assert_eq!(bench.stack.listen(PORT, 4, &valid(quick())), Ok(()));
}

#[test]
fn a_listener_at_an_address_goes_before_one_at_every_address() {
    let mut bench = Bench::new();
    let mut special = quick();
    special.options.mss_max = Some(1000);
    special.handshake.cookies = Some(SynCookies::Off);
    let at = |ip| ListenOn::from(SocketAddr::new(ip, PORT));
    assert_eq!(at(IpAddr::V4(Ipv4Addr::UNSPECIFIED)), ListenOn::from(PORT));
    bench.stack.listen(at(ELSEWHERE), 4, &valid(quick())).expect("listens");
    assert_eq!(bench.syn_ack_for(1001).map(|out| out.flags), Some(Flags::RST), "not at this address");
    bench.stack.listen(PORT, 4, &valid(quick())).expect("listens");
    assert_eq!(bench.syn_ack_for(1001).and_then(|out| out.options.mss), Some(1460));
    bench.stack.listen(at(US), 4, &valid(special.clone())).expect("listens");
    assert_eq!(bench.stack.listen(at(US), 4, &valid(quick())), Err(ListenError::InUse));
    assert_eq!(bench.syn_ack_for(1002).and_then(|out| out.options.mss), Some(1000));
    special.options.mss_max = Some(900);
    bench.stack.relisten(at(US), 0, &valid(special));
    assert_eq!(bench.syn_ack_for(1003), None, "the new backlog counts");
    bench.stack.relisten(at(US), 1, &valid(quick()));
    assert_eq!(bench.syn_ack_for(1003).and_then(|out| out.options.mss), Some(1460));
}

//= specs/rfc9293.md#resets
//= type=test
//# In LISTEN an ACK is answered with a reset, and what has neither SYN nor RST is dropped.
#[test]
fn in_listen_an_ack_is_reset_and_a_segment_without_syn_ack_or_rst_is_dropped() {
    let mut bench = Bench::listening(4, quick());
    let stray = bench.deliver(Bench::segment(1001, Flags::NONE, IRS, Some(IRS)), 0);
    assert_eq!(stray.iter().map(|out| (out.flags, out.seq)).collect::<Vec<_>>(), [(Flags::RST, IRS)]);
    assert!(bench.deliver(Bench::segment(1001, Flags::FIN, IRS, None), 10).is_empty());
    assert!(bench.deliver(Bench::segment(1001, Flags::RST, IRS, None), 0).is_empty());
}

//= specs/rfc9293.md#opening
//= type=test
//# The application may choose the local address.
#[test]
fn the_application_may_choose_the_local_end() {
    let mut bench = Bench::new();
    let cfg = valid(quick());
    let remote = SocketAddr::new(PEER, 7);
    let mut from = LocalEnd { address: Some(US), ports: 4000..=4001 };
    let mut ports = BTreeSet::new();
    for _ in 0..2 {
        let conn = bench.cx(|stack, cx| stack.connect_from(cx, &cfg, &from, remote)).expect("connects");
        ports.extend(bench.stack.endpoint(conn).map(|endpoint| endpoint.tuple().local_port));
    }
    assert_eq!(ports, BTreeSet::from([4000, 4001]));
    let third = bench.cx(|stack, cx| stack.connect_from(cx, &cfg, &from, remote));
    assert_eq!(third.err(), Some(ConnectError::PortsExhausted));
    from.address = Some(ELSEWHERE);
    let strange = bench.cx(|stack, cx| stack.connect_from(cx, &cfg, &from, remote));
    assert_eq!(strange.err(), Some(ConnectError::NoLocalAddress));
}

//= specs/rfc6056.md#selection
//= type=test
//# Ports are chosen from the whole dynamic range.
//= specs/rfc6056.md#selection
//= type=test
//# From one connection to the next the port moves on by a random number of steps.
//= specs/rfc6056.md#selection
//= type=test
//# How far it moves can be bounded, so that a port does not come back soon.
#[test]
fn successive_ports_are_a_random_number_of_steps_apart() {
    let mut bench = Bench::new();
    let cfg = valid(quick());
    let ports: Vec<i32> = (0..2000)
        .map(|_| {
            let conn = bench.cx(|stack, cx| stack.connect(cx, &cfg, SocketAddr::new(PEER, 7))).expect("connects");
            let port = bench.stack.endpoint(conn).expect("exists").tuple().local_port;
            bench.cx(|stack, cx| stack.abort(cx, conn));
            bench.cx(|stack, cx| stack.release(cx, conn));
            i32::from(port)
        })
        .collect();
    assert!(ports.iter().all(|port| *port >= 49_152));
    let steps: Vec<i32> = ports.windows(2).map(|pair| (pair[1] - pair[0]).rem_euclid(16_384)).collect();
    assert!(steps.iter().all(|step| (1..=500).contains(step)));
    let mut fifths = [0; 5];
    steps.iter().for_each(|step| fifths[(step - 1) as usize / 100] += 1);
    assert!(fifths.iter().all(|count| (330..=470).contains(count)), "{fifths:?} of 2000 steps");
    for window in ports.windows(30) {
        let distinct: BTreeSet<i32> = window.iter().copied().collect();
        assert_eq!(distinct.len(), 30, "none comes back within thirty connections");
    }
}

//= specs/rfc6056.md#selection
//= type=test
//# A port that is in use towards the same destination is passed over.
#[test]
fn every_port_of_a_range_is_found_before_it_is_exhausted() {
    let mut bench = Bench::new();
    let cfg = valid(quick());
    let from = LocalEnd { address: None, ports: 5000..=5019 };
    let mut connect = |port| bench.cx(|stack, cx| stack.connect_from(cx, &cfg, &from, SocketAddr::new(PEER, port)));
    assert!((0..20).all(|_| connect(7).is_ok()));
    assert_eq!(connect(7).err(), Some(ConnectError::PortsExhausted));
    assert!(connect(8).is_ok(), "another destination has all of them");
}
