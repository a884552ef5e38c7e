//! Requests that are decided after their handshake, because a cookie has answered the SYN.

use super::bench::{Bench, IRS};
use crate::config::{GuardConfig, TimestampConfig};
use crate::event::CloseReason;
use crate::stack::{Conn, LateRequests, Request, RequestConfig, RequestError, StackEvent};
use crate::testing::{PEER, quick, valid};
use crate::{ConnEvent, Read};
use base::{Duration, SeqNum};
use core::net::{IpAddr, Ipv4Addr};
use test_case::test_case;
use wire::{Flags, TcpRepr, Unreachable};

/// A stack with a place for `early` requests before an answer, and for `late` ones after their handshake.
fn asking(early: u32, late: u32, guards: GuardConfig) -> Bench {
    let mut bench = Bench::guarded(guards);
    bench.stack.set_requests(Some(RequestConfig { undecided_max: early, ..RequestConfig::default() }));
    let mut cfg = quick();
    cfg.options.timestamps = TimestampConfig::Answer;
    bench.stack.set_late_requests(Some(LateRequests { cfg: valid(cfg), undecided_max: late }));
    bench
}

/// The end of the handshake, with these bytes.
fn finish(bench: &mut Bench, syn_ack: &TcpRepr, bytes: &[u8]) -> Vec<TcpRepr> {
    bench.deliver_bytes(Bench::segment(syn_ack.dst_port, Flags::PSH, IRS + 1, Some(syn_ack.seq + 1)), bytes)
}

/// A late request from this port, with these bytes.
fn ask_late(bench: &mut Bench, port: u16, bytes: &[u8]) -> Request {
    let syn_ack = bench.syn_ack_for(port).expect("a cookie");
    assert_eq!(bench.stack.poll_request(), None, "nothing is kept of the SYN");
    finish(bench, &syn_ack, bytes);
    let (request, tuple) = bench.stack.poll_request().expect("a request");
    assert_eq!(tuple.remote_port, port);
    assert!(bench.stack.is_late_request(request));
    request
}

fn accept(bench: &mut Bench, request: Request) -> Result<Conn, RequestError> {
    bench.cx(|stack, cx| stack.accept_request(cx, request, &valid(quick())))
}

#[test]
fn a_late_request_that_is_accepted_has_its_data_and_its_events() {
    let mut bench = asking(0, 4, GuardConfig::default());
    let request = ask_late(&mut bench, 1001, b"hello");
    assert_eq!(bench.events, [], "the application does not know the connection yet");
    bench.pass(Duration::from_secs(20));
    let conn = accept(&mut bench, request).expect("accepted");
    let happened = |event| StackEvent::Conn { conn, event };
    assert_eq!(bench.events, [happened(ConnEvent::Connected), happened(ConnEvent::Readable)]);
    let mut buf = [0; 8];
    let read = bench.cx(|stack, cx| stack.read(cx, conn, &mut buf));
    assert_eq!((read, &buf[..5]), (Ok(Read::Data(5)), &b"hello"[..]));
    let counters = *bench.stack.request_counters();
    assert_eq!((counters.offered, counters.late, counters.over_limit, bench.stack.undecided()), (1, 1, 0, 0));
    assert_eq!(accept(&mut bench, request), Err(RequestError::Gone));
}

#[test]
fn without_late_requests_an_ack_out_of_the_blue_is_refused() {
    let mut bench = asking(0, 4, GuardConfig::default());
    let syn_ack = bench.syn_ack_for(1001).expect("a cookie");
    bench.stack.set_late_requests(None);
    assert_eq!(bench.deliver(Bench::syn(1002), 0), []);
    assert_eq!(finish(&mut bench, &syn_ack, b"")[0].flags, Flags::RST);
    assert_eq!(bench.stack.undecided(), 0);
}

#[test_case(|bench, request| bench.cx(|stack, cx| stack.refuse_request(cx, request)); "refused")]
#[test_case(|bench, request| bench.cx(|stack, cx| stack.report_unreachable(cx, request, Unreachable::Host)); "unreachable")]
#[test_case(|bench, request| bench.cx(|stack, cx| stack.ignore_request(cx, request)); "ignored")]
#[test_case(|bench, _| {
    bench.sent = bench.pass(Duration::from_secs(60));
    assert_eq!(bench.stack.request_counters().expired, 1);
}; "expired")]
fn a_late_request_that_is_not_accepted_ends_with_a_reset(dismiss: fn(&mut Bench, Request)) {
    let mut bench = asking(0, 4, GuardConfig::default());
    let request = ask_late(&mut bench, 1001, b"hello");
    bench.sent.clear();
    dismiss(&mut bench, request);
    let flags: Vec<_> = bench.sent.iter().map(|out| out.flags).collect();
    assert_eq!(flags, [Flags::RST]);
    assert_eq!((bench.stack.undecided(), bench.stack.connections()), (0, 0));
    assert_eq!((bench.stack.guarded_usage().memory, bench.stack.next_deadline()), (0, None));
    assert_eq!(accept(&mut bench, request), Err(RequestError::Gone));
}

#[test]
fn a_connection_that_ended_before_the_decision_can_be_read_all_the_same() {
    let mut bench = asking(0, 4, GuardConfig::default());
    let request = ask_late(&mut bench, 1001, b"hello");
    bench.deliver(Bench::segment(1001, Flags::RST, IRS + 6, None), 0);
    let conn = accept(&mut bench, request).expect("accepted");
    let closed = StackEvent::Conn { conn, event: ConnEvent::Closed(CloseReason::Reset) };
    assert_eq!(bench.events.last(), Some(&closed));
}

#[test]
fn a_copy_of_the_syn_that_found_a_place_and_the_cookie_are_one_request() {
    let mut bench = asking(1, 4, GuardConfig::default());
    bench.deliver(Bench::syn(1), 0);
    let (first, _) = bench.stack.poll_request().expect("a request");
    let syn_ack = bench.syn_ack_for(1001).expect("a cookie");
    bench.cx(|stack, cx| stack.ignore_request(cx, first));
    assert_eq!(bench.deliver(Bench::syn(1001), 0), [], "there is room for the copy");
    let (request, _) = bench.stack.poll_request().expect("a request");
    assert!(!bench.stack.is_late_request(request));
    finish(&mut bench, &syn_ack, b"hello");
    assert_eq!((bench.stack.poll_request(), bench.stack.undecided()), (None, 1));
    assert!(bench.stack.is_late_request(request));
    let conn = accept(&mut bench, request).expect("accepted");
    assert_eq!(bench.state(conn), "ESTABLISHED");
}

/// Beyond the limit of late requests nothing is answered, and a cookie that comes back finds no room until there is some.
#[test]
fn late_requests_are_bounded_as_well() {
    let mut bench = asking(0, 1, GuardConfig::default());
    let [one, other] = [1001, 1002].map(|port| bench.syn_ack_for(port).expect("a cookie"));
    finish(&mut bench, &one, b"one");
    let (request, _) = bench.stack.poll_request().expect("a request");
    assert_eq!(finish(&mut bench, &other, b"other"), [], "the peer sends its data again");
    assert_eq!(bench.deliver(Bench::syn(1003), 0), []);
    assert_eq!((bench.stack.undecided(), bench.stack.request_counters().over_limit), (1, 2));
    accept(&mut bench, request).expect("accepted");
    finish(&mut bench, &other, b"other");
    let (request, tuple) = bench.stack.poll_request().expect("a request");
    assert_eq!(tuple.remote_port, 1002);
    accept(&mut bench, request).expect("accepted");
}

/// SYNs from ever new sources, and ACKs that guess, neither fill the table of late requests nor the memory; a peer that means it gets
/// through at any time.
#[test]
fn a_flood_costs_bounded_memory_and_honest_peers_get_through() {
    let guards = GuardConfig { memory_max: 1 << 20, ..GuardConfig::default() };
    let mut bench = asking(64, 16, guards);
    for round in 0..20_u32 {
        for number in 0..1_000_u32 {
            let source = round * 1_000 + number;
            bench.peer = IpAddr::V4(Ipv4Addr::from_bits(0xC612_0000 + source));
            bench.deliver(Bench::syn(7), 0);
            let guess = Bench::segment(7, Flags::NONE, IRS + 1, Some(SeqNum(source.wrapping_mul(0x9E37_79B9))));
            bench.deliver(guess, 0);
            assert!(bench.stack.guarded_usage().memory <= 1 << 20);
        }
        while bench.stack.poll_request().is_some() {}
        bench.peer = PEER;
        let request = ask_late(&mut bench, 2_000 + round as u16, b"hello");
        accept(&mut bench, request).expect("accepted");
        bench.pass(Duration::from_secs(1));
    }
    let counters = *bench.stack.request_counters();
    assert_eq!((bench.stack.undecided(), counters.late, counters.over_limit), (64, 20, 0));
    assert_eq!(bench.stack.connections(), 20);
    assert_eq!(bench.stack.counters().cookies_sent, 20 * 1_000 - 64 + 20);
}

/// When memory is short, connections that no application has taken give way as handshakes do.
#[test]
fn undecided_connections_are_evicted_for_want_of_memory() {
    let guards = GuardConfig { memory_max: 64 << 10, ..GuardConfig::default() };
    let mut bench = asking(0, 1_000, guards);
    let requests: Vec<_> = (1..=100).map(|port| ask_late(&mut bench, port, b"hello")).collect();
    assert!(bench.stack.guarded_usage().memory <= 64 << 10);
    assert!(bench.stack.guard_counters().embryonic_evicted > 0);
    assert_eq!(accept(&mut bench, requests[0]), Err(RequestError::Gone), "the oldest went first");
    accept(&mut bench, requests[99]).expect("the last is there");
}
