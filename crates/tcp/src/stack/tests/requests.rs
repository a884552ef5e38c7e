//! SYNs that wait for the application's decision: what is kept of them, what answers them, and what bounds them.

use super::bench::{Bench, IRS, PORT};
use crate::config::{Config, GuardConfig};
use crate::cx::StackCx;
use crate::pattern::Payload;
use crate::stack::{Conn, Destinations, ListenError, LocalEnd, Request, RequestConfig, RequestError, StackEvent};
use crate::testing::{PEER, US, quick, valid};
use crate::turn::{Budget, ChecksumState, Sent, TxFrame, turn};
use crate::{CloseReason, ConnEvent, ConnectError};
use base::{Duration, Instant, SeqNum};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use proptest::prelude::*;
use std::collections::BTreeSet;
use test_case::test_case;
use trace::Off;
use wire::{Flags, IcmpKind, TcpRepr, Unreachable};

const PEER_PORT: u16 = 1001;
/// A destination outside the stack's own addresses.
const ELSEWHERE: IpAddr = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 9));
const V6_PEER: IpAddr = IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1));
const V6_ELSEWHERE: IpAddr = IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2));
const PATIENCE: Duration = Duration::from_secs(60);

fn asking() -> Bench {
    asking_with(RequestConfig::default(), GuardConfig::default())
}

fn asking_with(requests: RequestConfig, guards: GuardConfig) -> Bench {
    let mut bench = Bench::guarded(guards);
    bench.stack.set_requests(Some(requests));
    bench
}

/// A SYN from `port` that becomes a new request without an answer.
fn ask(bench: &mut Bench, port: u16) -> Request {
    assert_eq!(bench.deliver(Bench::syn(port), 0), [], "nothing is answered before the decision");
    let (request, tuple) = bench.stack.poll_request().expect("a request");
    assert_eq!((tuple.remote, tuple.remote_port, tuple.local, tuple.local_port), (PEER, port, bench.us, PORT));
    assert_eq!(bench.stack.poll_request(), None);
    request
}

fn accept(bench: &mut Bench, request: Request, cfg: Config) -> (Result<Conn, RequestError>, Vec<TcpRepr>) {
    let result = bench.cx(|stack, cx| stack.accept_request(cx, request, &valid(cfg)));
    (result, core::mem::take(&mut bench.sent))
}

#[test]
fn a_request_that_is_accepted_becomes_a_connection_with_the_configuration_given_then() {
    let mut bench = asking();
    let request = ask(&mut bench, PEER_PORT);
    assert_eq!((bench.stack.undecided(), bench.stack.connections()), (1, 0));
    bench.pass(Duration::from_secs(5));
    let mut cfg = quick();
    cfg.options.mss_max = Some(900);
    let (conn, sent) = accept(&mut bench, request, cfg);
    let conn = conn.expect("accepted");
    let [syn_ack] = sent[..] else { panic!("{sent:?}") };
    assert_eq!((syn_ack.flags, syn_ack.ack, syn_ack.options.mss), (Flags::SYN, Some(IRS + 1), Some(900)));
    assert_eq!((bench.stack.undecided(), bench.stack.connections()), (0, 1));
    bench.finish(&syn_ack);
    assert!(bench.events.contains(&StackEvent::Conn { conn, event: ConnEvent::Connected }));
    assert_eq!(bench.state(conn), "ESTABLISHED");
    bench.deliver_bytes(Bench::segment(PEER_PORT, Flags::PSH, IRS + 1, Some(syn_ack.seq + 1)), b"hello");
    let mut buf = [0; 8];
    let read = bench.cx(|stack, cx| stack.read(cx, conn, &mut buf));
    assert_eq!((read, &buf[..5]), (Ok(crate::Read::Data(5)), &b"hello"[..]));
}

#[test]
fn repeated_syns_are_absorbed_and_a_restarted_peer_takes_its_own_place() {
    let mut bench = asking();
    let request = ask(&mut bench, PEER_PORT);
    for _ in 0..3 {
        bench.pass(Duration::from_secs(1));
        assert_eq!(bench.deliver(Bench::syn(PEER_PORT), 0), []);
    }
    let restarted = TcpRepr { seq: SeqNum(9_000), ..Bench::syn(PEER_PORT) };
    assert_eq!(bench.deliver(restarted, 0), []);
    assert_eq!((bench.stack.poll_request(), bench.stack.undecided()), (None, 1));
    let counters = *bench.stack.request_counters();
    assert_eq!((counters.offered, counters.repeated), (1, 4));
    let (_, sent) = accept(&mut bench, request, quick());
    assert_eq!(sent[0].ack, Some(SeqNum(9_001)), "the SYN-ACK answers the last SYN");
    assert_eq!(bench.deliver(restarted, 0).len(), 1, "and a late SYN goes to the connection");
    assert_eq!(bench.stack.poll_request(), None);
}

#[test]
fn a_refused_request_gets_a_reset_and_an_ignored_one_silence() {
    let mut bench = asking();
    let refused = ask(&mut bench, PEER_PORT);
    bench.cx(|stack, cx| stack.refuse_request(cx, refused));
    let sent = core::mem::take(&mut bench.sent);
    assert_eq!(
        sent.iter().map(|out| (out.flags, out.seq, out.ack)).collect::<Vec<_>>(),
        [(Flags::RST, SeqNum(0), Some(IRS + 1))]
    );
    let ignored = ask(&mut bench, PEER_PORT);
    bench.cx(|stack, cx| stack.ignore_request(cx, ignored));
    assert_eq!((bench.sent.len(), bench.stack.undecided(), bench.stack.connections()), (0, 0, 0));
    let again = ask(&mut bench, PEER_PORT);
    assert_ne!(again, ignored, "the peer's next SYN asks again");
    for gone in [refused, ignored] {
        assert_eq!(accept(&mut bench, gone, quick()), (Err(RequestError::Gone), vec![]));
    }
    assert_eq!(bench.stack.undecided(), 1);
}

#[test]
fn an_undecided_request_expires_and_then_no_timer_is_left() {
    let mut bench = asking();
    assert_eq!(bench.stack.next_deadline(), None);
    let request = ask(&mut bench, PEER_PORT);
    let asked = bench.now;
    bench.pass(Duration::from_secs(30));
    ask(&mut bench, PEER_PORT + 1);
    bench.deliver(Bench::syn(PEER_PORT), 0);
    assert_eq!(bench.stack.next_deadline(), Some(asked + PATIENCE), "a repetition extends nothing");
    bench.pass(Duration::from_secs(30));
    assert_eq!((bench.stack.undecided(), bench.stack.request_counters().expired), (1, 1));
    assert_eq!(accept(&mut bench, request, quick()).0, Err(RequestError::Gone));
    let sent = bench.pass(Duration::from_secs(30));
    assert_eq!((sent, bench.stack.undecided(), bench.stack.next_deadline()), (vec![], 0, None));
    assert_eq!(bench.stack.guarded_usage().memory, 0);
}

#[test]
fn syns_beyond_the_limit_are_dropped_until_a_decision_makes_room() {
    let requests = RequestConfig { undecided_max: 2, ..RequestConfig::default() };
    let mut bench = asking_with(requests, GuardConfig::default());
    let first = ask(&mut bench, 1);
    ask(&mut bench, 2);
    assert_eq!(bench.deliver(Bench::syn(3), 0), [], "no cookie promises what is not decided");
    assert_eq!((bench.stack.poll_request(), bench.stack.request_counters().over_limit), (None, 1));
    bench.cx(|stack, cx| stack.ignore_request(cx, first));
    ask(&mut bench, 3);
}

/// A flood holds no more than the budget allows, whatever the limit on requests.
#[test]
fn undecided_requests_count_against_the_budget() {
    let requests = RequestConfig { undecided_max: 60_000, ..RequestConfig::default() };
    let guards = GuardConfig { memory_max: 1 << 20, ..GuardConfig::default() };
    let mut bench = asking_with(requests, guards);
    (1..=5_000).for_each(|port| drop(bench.deliver(Bench::syn(port), 0)));
    assert_eq!((bench.stack.undecided(), bench.stack.guarded_usage().memory), (4_096, 1 << 20));
    assert_eq!(bench.stack.request_counters().no_memory, 5_000 - 4_096);
    let (request, _) = bench.stack.poll_request().expect("a request");
    assert_eq!(accept(&mut bench, request, quick()), (Err(RequestError::NoMemory), vec![]));
    assert_eq!(bench.stack.undecided(), 4_096, "it still waits");
    for _ in 0..8 {
        let (other, _) = bench.stack.poll_request().expect("a request");
        bench.cx(|stack, cx| stack.ignore_request(cx, other));
    }
    assert!(accept(&mut bench, request, quick()).0.is_ok(), "eight requests are as large as a connection");
    bench.pass(PATIENCE);
    assert_eq!((bench.stack.undecided(), bench.stack.guarded_usage().memory), (0, 2_048));
}

#[test_case(Destinations::Any, ELSEWHERE => (true, 0); "any destination")]
#[test_case(Destinations::Own, ELSEWHERE => (false, 1); "own addresses only")]
#[test_case(Destinations::Own, US => (true, 0); "an own address")]
#[test_case(Destinations::Any, IpAddr::V4(Ipv4Addr::new(224, 0, 0, 1)) => (false, 1); "no group")]
#[test_case(Destinations::Any, IpAddr::V4(Ipv4Addr::BROADCAST) => (false, 1); "not everybody")]
fn requests_for(destinations: Destinations, us: IpAddr) -> (bool, u64) {
    let requests = RequestConfig { destinations, ..RequestConfig::default() };
    let mut bench = asking_with(requests, GuardConfig::default());
    bench.us = us;
    assert_eq!(bench.deliver(Bench::syn(PEER_PORT), 0), []);
    let request = bench.stack.poll_request();
    if let Some((request, tuple)) = request {
        assert_eq!(tuple.local, us);
        let (conn, sent) = accept(&mut bench, request, quick());
        bench.finish(&sent[0]);
        assert_eq!(bench.state(conn.expect("accepted")), "ESTABLISHED", "also later segments are the stack's");
    }
    (request.is_some(), bench.stack.counters().not_ours)
}

#[test]
fn a_listener_goes_before_requests_and_without_either_a_reset_answers() {
    let mut bench = asking();
    assert_eq!(bench.stack.listen(PORT, 4, &valid(quick())), Ok::<(), ListenError>(()));
    assert_eq!(bench.syn_ack_for(PEER_PORT).map(|out| out.flags), Some(Flags::SYN));
    let elsewhere = TcpRepr { dst_port: PORT + 1, ..Bench::syn(PEER_PORT) };
    assert_eq!(bench.deliver(elsewhere, 0), []);
    let (request, tuple) = bench.stack.poll_request().expect("a request");
    assert_eq!(tuple.local_port, PORT + 1);
    bench.stack.set_requests(None);
    let other = TcpRepr { dst_port: PORT + 2, ..Bench::syn(PEER_PORT) };
    assert_eq!(bench.deliver(other, 0).iter().map(|out| out.flags).collect::<Vec<_>>(), [Flags::RST]);
    assert!(accept(&mut bench, request, quick()).0.is_ok(), "what waits can still be decided");
}

#[test_case(Flags::NONE, Some(SeqNum(7)) => vec![Flags::RST]; "an ack")]
#[test_case(Flags::RST, None => Vec::<Flags>::new(); "a reset")]
#[test_case(Flags::NONE, None => vec![Flags::RST]; "neither")]
#[test_case(Flags::from_bits(0x03), None => Vec::<Flags>::new(); "a syn with a fin")]
fn what_requests_nothing(flags: Flags, ack: Option<SeqNum>) -> Vec<Flags> {
    let mut bench = asking();
    let sent = bench.deliver(Bench::segment(PEER_PORT, flags, IRS, ack), 0);
    assert_eq!((bench.stack.poll_request(), bench.stack.undecided()), (None, 0));
    sent.iter().map(|out| out.flags).collect()
}

#[test]
fn an_accepted_request_whose_peer_is_gone_ends_with_an_event() {
    let mut bench = asking();
    let request = ask(&mut bench, PEER_PORT);
    let (conn, sent) = accept(&mut bench, request, quick());
    let conn = conn.expect("accepted");
    bench.deliver(Bench::segment(PEER_PORT, Flags::RST, IRS + 1, Some(sent[0].seq + 1)), 0);
    assert!(
        bench
            .events
            .iter()
            .any(|event| matches!(event, StackEvent::Conn { conn: of, event: ConnEvent::Closed(_) } if *of == conn)),
        "{:?}",
        bench.events
    );
    bench.cx(|stack, cx| stack.release(cx, conn));
    assert_eq!(bench.stack.connections(), 0);
    let request = ask(&mut bench, PEER_PORT);
    let conn = accept(&mut bench, request, quick()).0.expect("accepted");
    bench.pass(Duration::from_secs(600));
    assert!(bench.events.contains(&StackEvent::Conn { conn, event: ConnEvent::Closed(CloseReason::TimedOut) }));
}

/// The next connection between the same ends asks as well, and continues the numbers of the last one.
#[test]
fn a_syn_in_time_wait_is_a_request_too() {
    let mut bench = asking();
    let request = ask(&mut bench, PEER_PORT);
    let (old, sent) = accept(&mut bench, request, quick());
    let (old, iss) = (old.expect("accepted"), sent[0].seq);
    bench.finish(&sent[0]);
    bench.cx(|stack, cx| stack.shutdown(cx, old));
    bench.deliver(Bench::segment(PEER_PORT, Flags::FIN, IRS + 1, Some(iss + 2)), 0);
    assert_eq!(bench.state(old), "TIME-WAIT");
    bench.sent.clear();
    let duplicate = Bench::syn(PEER_PORT);
    assert_eq!(bench.deliver(duplicate, 0).len(), 1, "an old SYN is acknowledged as ever");
    assert_eq!(bench.stack.poll_request(), None);
    let next = TcpRepr { seq: IRS + 100, ..Bench::syn(PEER_PORT) };
    assert_eq!(bench.deliver(next, 0), []);
    let (request, _) = bench.stack.poll_request().expect("a request");
    assert_eq!(bench.state(old), "CLOSED");
    let (conn, sent) = accept(&mut bench, request, quick());
    assert!(sent[0].seq.after(iss + 2), "{:?} after {iss:?}", sent[0].seq);
    bench.deliver(Bench::segment(PEER_PORT, Flags::NONE, IRS + 101, Some(sent[0].seq + 1)), 0);
    assert_eq!(bench.state(conn.expect("accepted")), "ESTABLISHED");
}

#[test]
fn a_connection_that_takes_the_ends_meanwhile_wins() {
    let mut bench = asking();
    let request = ask(&mut bench, PEER_PORT);
    let from = LocalEnd { address: Some(US), ports: PORT..=PORT };
    let to = SocketAddr::new(PEER, PEER_PORT);
    bench.cx(|stack, cx| stack.connect_from(cx, &valid(quick()), &from, to)).expect("connects");
    bench.sent.clear();
    assert_eq!(accept(&mut bench, request, quick()), (Err(RequestError::InUse), vec![]));
    assert_eq!(bench.stack.undecided(), 0);
}

#[test]
fn who_stands_for_any_destination_may_connect_from_any_address() {
    let mut bench = Bench::new();
    let cfg = valid(quick());
    let from = |address| LocalEnd { address: Some(address), ports: 5_000..=5_000 };
    let to = SocketAddr::new(PEER, 7);
    let connect = |bench: &mut Bench, address| {
        let result = bench.cx(|stack, cx| stack.connect_from(cx, &cfg, &from(address), to));
        result.map(|conn| bench.stack.endpoint(conn).expect("exists").tuple().local)
    };
    assert_eq!(connect(&mut bench, ELSEWHERE), Err(ConnectError::NoLocalAddress));
    bench.stack.set_requests(Some(RequestConfig::default()));
    assert_eq!(connect(&mut bench, ELSEWHERE), Ok(ELSEWHERE));
    assert_eq!(connect(&mut bench, IpAddr::V4(Ipv4Addr::UNSPECIFIED)), Err(ConnectError::NoLocalAddress));
    assert_eq!(connect(&mut bench, "2001:db8::1".parse().expect("an address")), Err(ConnectError::NoLocalAddress));
}

/// The report quotes the SYN, so that the peer's stack finds the attempt it is about; a full device gets the same bytes later.
#[test_case(PEER, US, Unreachable::Host => Unreachable::Host)]
#[test_case(PEER, ELSEWHERE, Unreachable::Prohibited => Unreachable::Prohibited; "in the name of the destination")]
#[test_case(V6_PEER, V6_ELSEWHERE, Unreachable::Port => Unreachable::Port; "of version six")]
#[test_case(V6_PEER, V6_ELSEWHERE, Unreachable::HostForService => Unreachable::Host; "version six has fewer reasons")]
fn unreachable(peer: IpAddr, us: IpAddr, why: Unreachable) -> Unreachable {
    let mut bench = asking();
    (bench.peer, bench.us) = (peer, us);
    bench.deliver(Bench::syn(PEER_PORT), 0);
    let (request, _) = bench.stack.poll_request().expect("a request");
    bench.stack.report_unreachable(&mut StackCx::new(bench.now, &mut Off), request, why);
    let mut offered = Vec::new();
    for answer in [Sent::Full, Sent::Accepted] {
        let mut tx = |frame: TxFrame<'_>| {
            let Payload::Bytes(quote) = frame.payload else { panic!("a quote is bytes") };
            assert_eq!((frame.checksum, frame.gso_size), (ChecksumState::InHeader, None));
            offered.push([frame.header, quote].concat());
            answer
        };
        turn(&mut bench.stack, &mut StackCx::new(bench.now, &mut Off), [], &mut tx, Budget::UNLIMITED);
    }
    assert_eq!((offered.len(), bench.stack.undecided(), bench.stack.has_ready()), (2, 0, false));
    assert_eq!(offered[0], offered[1]);
    let packet = wire::split(&offered[0]).expect("a packet");
    let notice = wire::icmp::parse(&packet.header).expect("an error about a segment");
    assert_eq!((notice.src, notice.src_port, notice.seq), (peer, PEER_PORT, IRS));
    assert_eq!((notice.dst, notice.dst_port), (us, PORT));
    assert_eq!(packet.header.icmp().map(|(_, from)| from), Some(us));
    let IcmpKind::Unreachable(why) = notice.kind else { panic!("{:?}", notice.kind) };
    why
}

#[test]
fn the_guards_bound_reports_like_resets() {
    let mut bench =
        asking_with(RequestConfig::default(), GuardConfig { resets_per_second: 2, ..GuardConfig::default() });
    let requests = [1, 2, 3, 4, 5].map(|port| ask(&mut bench, port));
    for request in requests {
        bench.stack.report_unreachable(&mut StackCx::new(bench.now, &mut Off), request, Unreachable::Host);
    }
    let usage = bench.stack.guarded_usage();
    assert_eq!((usage.replies, bench.stack.guard_counters().resets_withheld, bench.stack.undecided()), (2, 3, 0));
}

/// What happens to a stack that asks.
#[derive(Clone, Copy, Debug)]
enum Step {
    Syn(u16),
    Accept(usize),
    Refuse(usize),
    Ignore(usize),
    Wait(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (1_u16..9).prop_map(Step::Syn),
        1 => (0_usize..12).prop_map(Step::Accept),
        1 => (0_usize..12).prop_map(Step::Refuse),
        1 => (0_usize..12).prop_map(Step::Ignore),
        1 => (1_u64..40).prop_map(Step::Wait),
    ];
    prop::collection::vec(step, 1..60)
}

proptest! {
    /// Any order of knocks, decisions, late decisions and waits, compared with a list of what was asked when.
    #[test]
    fn the_table_agrees_with_a_list(steps in steps()) {
        const MAX: usize = 3;
        let mut cfg = quick();
        cfg.retries.syn_ack = 100;
        let requests = RequestConfig { undecided_max: MAX as u32, ..RequestConfig::default() };
        let mut bench = asking_with(requests, GuardConfig::default());
        // Every request so far; whether it waits, its port, and when it came.
        let mut asked: Vec<(Request, bool, u16, Instant)> = Vec::new();
        let mut taken = BTreeSet::new();
        for step in steps {
            match step {
                Step::Syn(port) => {
                    let waits = asked.iter().filter(|(_, waits, ..)| *waits);
                    let is_new = waits.clone().count() < MAX && waits.clone().all(|(_, _, of, _)| *of != port);
                    let sent = bench.deliver(Bench::syn(port), 0);
                    let polled = bench.stack.poll_request();
                    prop_assert_eq!(polled.is_some(), is_new && !taken.contains(&port));
                    prop_assert!(sent.is_empty() || taken.contains(&port));
                    if let Some((request, tuple)) = polled {
                        prop_assert_eq!(tuple.remote_port, port);
                        asked.push((request, true, port, bench.now));
                    }
                }
                Step::Wait(seconds) => {
                    bench.pass(Duration::from_secs(seconds));
                    let now = bench.now;
                    asked.iter_mut().for_each(|(_, waits, _, at)| *waits &= now < *at + PATIENCE);
                }
                Step::Accept(nth) | Step::Refuse(nth) | Step::Ignore(nth) => {
                    let Some((request, waits, port, _)) = asked.get_mut(nth) else { continue };
                    let waited = std::mem::replace(waits, false);
                    let (request, port) = (*request, *port);
                    match step {
                        Step::Accept(_) => {
                            let (result, sent) = accept(&mut bench, request, cfg.clone());
                            prop_assert_eq!((result.is_ok(), sent.len()), (waited, usize::from(waited)));
                            waited.then(|| taken.insert(port));
                        }
                        Step::Refuse(_) => {
                            bench.cx(|stack, cx| stack.refuse_request(cx, request));
                            prop_assert_eq!(std::mem::take(&mut bench.sent).len(), usize::from(waited));
                        }
                        _ => bench.cx(|stack, cx| stack.ignore_request(cx, request)),
                    }
                }
            }
            let waits = asked.iter().filter(|(_, waits, ..)| *waits);
            prop_assert_eq!(bench.stack.undecided(), waits.clone().count());
            prop_assert_eq!(bench.stack.connections(), taken.len());
            let memory = 256 * bench.stack.undecided() as u64 + 2_048 * taken.len() as u64;
            prop_assert_eq!(bench.stack.guarded_usage().memory, memory);
            let expiry = waits.map(|(.., at)| *at + PATIENCE).min();
            let due = bench.stack.next_deadline();
            prop_assert!(expiry.is_none_or(|at| due.is_some_and(|due| due <= at)), "{:?} for {:?}", due, expiry);
        }
    }
}
