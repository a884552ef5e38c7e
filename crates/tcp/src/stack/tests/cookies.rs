//! SYN cookies (RFC 4987 §3.6).

use super::bench::{Bench, IRS};
use crate::config::{Config, EcnNegotiation, SynCookies, TimestampConfig, WindowScaleConfig};
use crate::stack::Conn;
use crate::testing::quick;
use base::{Duration, SeqNum};
use test_case::test_case;
use wire::{Flags, Options, TcpRepr, Timestamps};

fn with_cookies(cookies: SynCookies) -> Config {
    let mut cfg = quick();
    cfg.handshake.cookies = Some(cookies);
    cfg.options.timestamps = TimestampConfig::Answer;
    cfg.options.window_scale = WindowScaleConfig::Shift(5);
    cfg.ecn.negotiation = EcnNegotiation::Answer;
    cfg
}

/// A SYN that offers every option.
fn rich_syn(port: u16, timestamps: bool, shift: u8) -> TcpRepr {
    let timestamps = timestamps.then_some(Timestamps { tsval: 77, tsecr: 0 });
    let options =
        Options { mss: Some(1460), window_scale: Some(shift), sack_permitted: true, timestamps, ..Options::default() };
    TcpRepr { flags: Flags::SYN.with(Flags::ECE).with(Flags::CWR), options, ..Bench::syn(port) }
}

/// The ACK that ends a handshake, from a peer with these options.
fn last_ack(syn_ack: &TcpRepr) -> TcpRepr {
    let mut ack = Bench::segment(syn_ack.dst_port, Flags::NONE, IRS + 1, Some(syn_ack.seq + 1));
    ack.options.timestamps = syn_ack.options.timestamps.map(|ts| Timestamps { tsval: 78, tsecr: ts.tsval });
    ack
}

fn counters(bench: &Bench) -> (u64, u64) {
    let counters = bench.stack.counters();
    (counters.cookies_sent, counters.cookies_taken)
}

/// Opens a connection by cookie.
fn open(bench: &mut Bench, syn: TcpRepr) -> Conn {
    let syn_ack = bench.deliver(syn, 0)[0];
    bench.deliver(last_ack(&syn_ack), 0);
    bench.accepted().expect("accepted")
}

//= specs/rfc4987.md#cookies
//= type=test
//# Nothing is kept of a SYN that is answered with a cookie.
//= specs/rfc4987.md#cookies
//= type=test
//# The connection is made from the acknowledgement of the cookie.
#[test]
fn a_connection_comes_out_of_the_acknowledgement_alone() {
    let mut bench = Bench::listening(8, with_cookies(SynCookies::Always));
    let syn_ack = bench.syn_ack_for(1001).expect("answered");
    assert_eq!((syn_ack.flags, syn_ack.ack), (Flags::SYN, Some(IRS + 1)));
    assert_eq!((bench.stack.connections(), counters(&bench)), (0, (1, 0)));
    assert_eq!(bench.pass(Duration::from_secs(30)), [], "and so nothing is sent again");
    bench.finish(&syn_ack);
    let conn = bench.accepted().expect("accepted");
    assert_eq!((bench.state(conn), counters(&bench)), ("ESTABLISHED", (1, 1)));
    let info = bench.stack.info(conn).expect("exists");
    assert_eq!((info.smss, info.snd_wnd, info.srtt), (1460, 60_000, None));
    bench.cx(|stack, cx| stack.write_pattern(cx, conn, 100)).expect("may write");
    assert_eq!(bench.sent.iter().map(|out| out.seq).collect::<Vec<_>>(), [syn_ack.seq + 1]);
}

#[test]
fn data_may_come_with_the_acknowledgement_of_a_cookie() {
    let mut bench = Bench::listening(8, with_cookies(SynCookies::Always));
    let syn_ack = bench.syn_ack_for(1001).expect("answered");
    bench.deliver(last_ack(&syn_ack), 500);
    let conn = bench.accepted().expect("accepted");
    assert_eq!(bench.stack.info(conn).map(|info| info.readable), Some(500));
}

//= specs/rfc4987.md#cookies
//= type=test
//# Window scale, SACK and ECN survive in the timestamp, and are given up without it.
#[test_case(true, 9 => (true, true, true); "with timestamps")]
#[test_case(false, 9 => (false, false, false); "without")]
fn options_that_survive(timestamps: bool, shift: u8) -> (bool, bool, bool) {
    let mut bench = Bench::listening(8, with_cookies(SynCookies::Always));
    let syn = rich_syn(1001, timestamps, shift);
    let syn_ack = bench.deliver(syn, 0)[0];
    let answered = &syn_ack.options;
    assert_eq!((answered.sack_permitted, answered.window_scale.is_some()), (timestamps, timestamps));
    assert_eq!(syn_ack.flags.contains(Flags::ECE), timestamps);
    bench.deliver(last_ack(&syn_ack), 0);
    let conn = bench.accepted().expect("accepted");
    let info = bench.stack.info(conn).expect("exists");
    let (sack, stamps, scaling) = info.negotiated;
    assert_eq!(info.snd_wnd, if timestamps { 60_000 << shift } else { 60_000 });
    (sack, stamps, scaling)
}

/// The timestamp returns each window scale, including none; the clock that carries it never runs ahead.
#[test]
fn every_window_scale_survives() {
    let mut bench = Bench::listening(64, with_cookies(SynCookies::Always));
    for (port, shift) in (0..=14).map(Some).chain([None]).enumerate() {
        bench.pass(Duration::from_millis(37));
        let mut syn = rich_syn(2000 + port as u16, true, 0);
        syn.options.window_scale = shift;
        let conn = open(&mut bench, syn);
        let info = bench.stack.info(conn).expect("exists");
        assert_eq!(info.snd_wnd, 60_000 << shift.unwrap_or(0), "shift {shift:?}");
        assert_eq!(info.negotiated.2, shift.is_some());
        bench.stack.accept(conn);
    }
}

#[test_case(9000 => 1460; "as large as we can take")]
#[test_case(1459 => 1440; "the class below")]
#[test_case(1300 => 1300; "a class")]
#[test_case(600 => 536; "small")]
#[test_case(60 => 64; "too small for any class")]
fn segment_size_recalled_for(mss: u16) -> u32 {
    let mut bench = Bench::listening(8, with_cookies(SynCookies::Always));
    let mut syn = Bench::syn(1001);
    syn.options.mss = Some(mss);
    let conn = open(&mut bench, syn);
    bench.stack.info(conn).expect("exists").smss
}

//= specs/rfc4987.md#cookies
//= type=test
//# A cookie holds a clock, the class of the segment size, and a keyed hash over these, the SYN's number, addresses
//# and ports.
//= specs/rfc4987.md#cookies
//= type=test
//# An acknowledgement is believed only if the cookie in it is genuine and recent.
#[test]
fn a_cookie_is_refused_when_anything_about_it_is_wrong() {
    let mut bench = Bench::listening(8, with_cookies(SynCookies::Always));
    let syn_ack = bench.syn_ack_for(1001).expect("answered");
    let good = last_ack(&syn_ack);
    let other_port = TcpRepr { src_port: 1002, ..good };
    let other_number = TcpRepr { seq: good.seq + 1, ..good };
    let reset = |bench: &mut Bench, repr| {
        let sent = bench.deliver(repr, 0);
        assert_eq!((sent.len(), bench.stack.connections()), (1, 0));
        assert_eq!(sent[0].flags, Flags::RST);
    };
    reset(&mut bench, other_port);
    reset(&mut bench, other_number);
    for bit in 0..32 {
        let ack = good.ack.map(|ack| SeqNum((ack - 1).0 ^ 1 << bit) + 1);
        reset(&mut bench, TcpRepr { ack, ..good });
    }
    bench.pass(Duration::from_secs(128));
    reset(&mut bench, good);
    assert_eq!(counters(&bench).1, 0);
}

#[test]
fn a_cookie_is_good_for_at_least_a_minute() {
    let mut bench = Bench::listening(8, with_cookies(SynCookies::Always));
    for wait in [0, 10, 30, 63] {
        let syn_ack = bench.syn_ack_for(1000 + wait).expect("answered");
        bench.pass(Duration::from_secs(u64::from(wait)));
        bench.events.clear();
        bench.finish(&syn_ack);
        let conn = bench.accepted().expect("accepted");
        bench.stack.accept(conn);
    }
}

//= specs/rfc4987.md#queue
//= type=test
//# The number of handshakes under way is bounded for each listener.
#[test]
fn in_need_cookies_answer_what_the_syn_queue_has_no_room_for() {
    let mut bench = Bench::listening(1, with_cookies(SynCookies::WhenFull));
    let queued = bench.syn_ack_for(1001).expect("answered");
    bench.syn_ack_for(1002).expect("answered");
    assert_eq!((bench.stack.connections(), counters(&bench)), (2, (0, 0)));
    let cookie = bench.syn_ack_for(1003).expect("answered");
    assert_eq!((bench.stack.connections(), counters(&bench)), (2, (1, 0)));
    bench.finish(&cookie);
    bench.finish(&queued);
    assert_eq!((bench.waiting(), counters(&bench)), (2, (1, 1)));
    assert_eq!(bench.syn_ack_for(1004), None, "a full accept queue has no use for cookies");
}

/// A listener of the default configuration: strangers occupy all its places and never answer.
#[test]
fn unanswered_handshakes_deny_no_peer_a_connection() {
    let mut bench = Bench::listening(128, Config::default());
    for port in 0..2_000 {
        bench.syn_ack_for(20_000 + port).expect("answered");
    }
    assert_eq!(bench.stack.connections(), 129);
    for port in 1001..1101 {
        let conn = bench.open(port).expect("a cookie makes the connection");
        bench.stack.accept(conn);
    }
}

/// While no cookies are needed, no peer can test guesses.
#[test]
fn cookies_are_not_believed_long_after_they_were_made() {
    let mut bench = Bench::listening(0, with_cookies(SynCookies::WhenFull));
    let queued = bench.syn_ack_for(1001).expect("answered");
    let cookie = bench.syn_ack_for(1002).expect("answered");
    bench.finish(&queued);
    bench.pass(Duration::from_secs(128));
    assert_eq!(bench.finish(&cookie)[0].flags, Flags::RST);
    let mut bench = Bench::listening(0, with_cookies(SynCookies::WhenFull));
    let guess = Bench::segment(1002, Flags::NONE, IRS + 1, Some(cookie.seq + 1));
    assert_eq!(bench.deliver(guess, 0)[0].flags, Flags::RST, "none was made");
}

/// A SYN finds the queue full, its retransmission does not, and the peer has received the cookie.
#[test]
fn the_acknowledgement_of_a_cookie_takes_the_place_of_a_later_handshake() {
    let mut bench = Bench::listening(0, with_cookies(SynCookies::WhenFull));
    bench.syn_ack_for(1001).expect("answered");
    let cookie = bench.syn_ack_for(1002).expect("answered");
    bench.deliver(Bench::segment(1001, Flags::RST, IRS + 1, None), 0);
    let late = bench.syn_ack_for(1002).expect("answered");
    assert_ne!(late.seq, cookie.seq, "the retransmitted SYN began a handshake");
    assert_eq!((bench.stack.connections(), counters(&bench)), (1, (1, 0)));
    let guess = Bench::segment(1002, Flags::NONE, IRS + 1, Some(cookie.seq + 2));
    assert_eq!(bench.deliver(guess, 0)[0].flags, Flags::RST, "the stack resets anything but a cookie, as before");
    assert_eq!(bench.finish(&cookie), []);
    let conn = bench.accepted().expect("accepted");
    assert_eq!((bench.state(conn), bench.stack.connections(), counters(&bench)), ("ESTABLISHED", 1, (1, 1)));
}

#[test]
fn a_cookie_waits_while_the_accept_queue_is_full() {
    let mut bench = Bench::listening(0, with_cookies(SynCookies::Always));
    let late = bench.syn_ack_for(1002).expect("answered");
    let conn = bench.open(1001).expect("accepted");
    assert_eq!(bench.finish(&late), []);
    bench.stack.accept(conn);
    bench.events.clear();
    bench.finish(&late);
    assert!(bench.accepted().is_some());
}
