//! Handshakes at the listener: lost, repeated, rejected, with data, waiting for data (RFC 9293 §3.5, §3.10.7).

use super::bench::{Bench, IRS};
use crate::Read;
use crate::config::{Config, DeferAccept, SynCookies, SynData, SynFin};
use crate::stack::Conn;
use crate::testing::quick;
use base::Duration;
use test_case::test_case;
use wire::{Flags, TcpRepr};

const PEER: u16 = 1001;

fn readable(bench: &Bench, conn: Conn) -> u64 {
    bench.stack.info(conn).expect("exists").readable
}

fn syn_acks(sent: &[TcpRepr]) -> usize {
    sent.iter().filter(|out| out.flags.contains(Flags::SYN)).count()
}

//= specs/rfc9293.md#opening
//= type=test
//# Data in a SYN waits until the connection is established.
#[test]
fn data_in_a_syn_waits_for_the_end_of_the_handshake() {
    let mut bench = Bench::listening(8, quick());
    let syn_ack = bench.deliver(Bench::syn(PEER), 100)[0];
    assert_eq!(syn_ack.ack, Some(IRS + 1), "it is not acknowledged yet");
    let again = bench.deliver(Bench::syn(PEER), 100);
    assert_eq!((again.len(), again[0].ack), (1, Some(IRS + 1)), "nor when it is repeated");
    assert!(bench.events.is_empty());
    let acks = bench.finish(&syn_ack);
    let conn = bench.accepted().expect("accepted");
    assert_eq!(readable(&bench, conn), 100);
    bench.pass(Duration::from_secs(1));
    assert!(acks.iter().chain(&bench.sent).all(|out| out.ack == Some(IRS + 101)));
    let read = bench.cx(|stack, cx| stack.read_pattern(cx, conn, 1000));
    assert_eq!((read, bench.stack.info(conn).map(|info| info.mismatches)), (Ok(Read::Data(100)), Some(0)));
}

#[test]
fn data_in_a_syn_that_comes_again_with_the_ack_is_taken_once() {
    let mut bench = Bench::listening(8, quick());
    let syn_ack = bench.deliver(Bench::syn(PEER), 100)[0];
    bench.deliver(Bench::segment(PEER, Flags::NONE, IRS + 1, Some(syn_ack.seq + 1)), 300);
    let conn = bench.accepted().expect("accepted");
    assert_eq!(readable(&bench, conn), 300);
}

#[test]
fn a_syn_with_data_and_fin_is_a_whole_stream() {
    let mut bench = Bench::listening(8, quick());
    let syn = TcpRepr { flags: Flags::SYN.with(Flags::FIN), ..Bench::syn(PEER) };
    let syn_ack = bench.deliver(syn, 100)[0];
    assert_eq!(syn_ack.ack, Some(IRS + 1));
    let acks = bench.deliver(Bench::segment(PEER, Flags::NONE, IRS + 102, Some(syn_ack.seq + 1)), 0);
    assert_eq!(acks.last().and_then(|out| out.ack), Some(IRS + 102));
    let conn = bench.accepted().expect("accepted");
    assert_eq!(bench.state(conn), "CLOSE-WAIT");
    assert_eq!(bench.cx(|stack, cx| stack.read_pattern(cx, conn, 1000)), Ok(Read::Data(100)));
    assert_eq!(bench.cx(|stack, cx| stack.read_pattern(cx, conn, 1000)), Ok(Read::Fin));
}

#[test]
fn data_in_a_syn_is_left_to_the_peer_where_the_configuration_says_so() {
    let mut cfg = quick();
    cfg.handshake.syn_data = SynData::Ignored;
    let mut bench = Bench::listening(8, cfg);
    let syn = TcpRepr { flags: Flags::SYN.with(Flags::FIN), ..Bench::syn(PEER) };
    let syn_ack = bench.deliver(syn, 100)[0];
    bench.finish(&syn_ack);
    let conn = bench.accepted().expect("accepted");
    assert_eq!((readable(&bench, conn), bench.state(conn)), (0, "ESTABLISHED"));
}

/// Whether a SYN with a FIN is answered; one without always is.
#[test_case(SynFin::Answered => true)]
#[test_case(SynFin::Dropped => false)]
fn a_syn_with_a_fin(syn_fin: SynFin) -> bool {
    let mut cfg = quick();
    cfg.handshake.syn_fin = syn_fin;
    let mut bench = Bench::listening(8, cfg);
    let syn = TcpRepr { flags: Flags::SYN.with(Flags::FIN), ..Bench::syn(PEER) };
    let answered = !bench.deliver(syn, 0).is_empty();
    assert_eq!((bench.stack.counters().syn_fin, bench.stack.connections()), (u64::from(!answered), answered.into()));
    assert!(bench.syn_ack_for(1002).is_some());
    answered
}

//= specs/rfc9293.md#opening
//= type=test
//# A SYN-ACK in SYN-RECEIVED is answered with an ACK.
#[test]
fn a_syn_ack_does_not_end_the_handshake_of_a_passive_open() {
    let mut bench = Bench::listening(8, quick());
    let syn_ack = bench.syn_ack_for(PEER).expect("answered");
    let sent = bench.deliver(Bench::segment(PEER, Flags::SYN, IRS, Some(syn_ack.seq + 1)), 0);
    let sent: Vec<_> = sent.iter().map(|out| (out.flags, out.seq, out.ack)).collect();
    assert_eq!(sent, [(Flags::NONE, syn_ack.seq + 1, Some(IRS + 1))]);
    assert_eq!(bench.accepted(), None);
    bench.finish(&syn_ack);
    assert!(bench.accepted().is_some());
}

//= specs/rfc9293.md#opening
//= type=test
//# A reset in SYN-RECEIVED returns a passive open to LISTEN, and refuses an active one.
#[test]
fn a_reset_of_a_handshake_reaches_no_application_and_the_listener_goes_on() {
    let mut cfg = quick();
    cfg.handshake.cookies = Some(SynCookies::Off);
    let mut bench = Bench::listening(0, cfg);
    bench.syn_ack_for(PEER).expect("answered");
    assert_eq!(bench.syn_ack_for(1002), None, "the queue is full");
    assert_eq!(bench.deliver(Bench::segment(PEER, Flags::RST, IRS + 1, None), 0), []);
    assert_eq!((bench.stack.connections(), bench.events.len()), (0, 0));
    assert!(bench.syn_ack_for(1002).is_some());
}

#[test]
fn a_peer_that_begins_anew_within_the_window_finds_the_listener_again() {
    let mut bench = Bench::listening(8, quick());
    let first = bench.syn_ack_for(PEER).expect("answered");
    let anew = TcpRepr { seq: IRS + 1000, ..Bench::syn(PEER) };
    assert_eq!(bench.deliver(anew, 0), []);
    assert_eq!(bench.stack.connections(), 0);
    let second = bench.deliver(anew, 0);
    assert_eq!((second.len(), second[0].ack), (1, Some(IRS + 1001)));
    assert!(second[0].seq.at_or_after(first.seq));
}

#[test]
fn a_peer_that_begins_anew_outside_the_window_learns_of_the_old_handshake() {
    let mut bench = Bench::listening(8, quick());
    let syn_ack = bench.syn_ack_for(PEER).expect("answered");
    let anew = TcpRepr { seq: IRS - 1_000_000, ..Bench::syn(PEER) };
    let sent = bench.deliver(anew, 0);
    assert_eq!(sent.iter().map(|out| (out.flags, out.ack)).collect::<Vec<_>>(), [(Flags::NONE, Some(IRS + 1))]);
    assert_eq!(sent[0].seq, syn_ack.seq + 1);
    // The peer's host knows nothing of the connection, and answers with a reset.
    bench.deliver(Bench::segment(PEER, Flags::RST, IRS + 1, None), 0);
    assert!(bench.deliver(anew, 0)[0].flags.contains(Flags::SYN));
}

#[test]
fn an_acknowledgement_of_another_number_is_reset_and_the_handshake_goes_on() {
    let mut bench = Bench::listening(8, quick());
    let syn_ack = bench.syn_ack_for(PEER).expect("answered");
    for wrong in [syn_ack.seq, syn_ack.seq + 2] {
        let sent = bench.deliver(Bench::segment(PEER, Flags::NONE, IRS + 1, Some(wrong)), 0);
        assert_eq!(sent.iter().map(|out| (out.flags, out.seq)).collect::<Vec<_>>(), [(Flags::RST, wrong)]);
    }
    bench.finish(&syn_ack);
    assert!(bench.accepted().is_some());
}

#[test]
fn repeated_syns_are_answered_seldom() {
    let mut cfg = quick();
    cfg.challenge.limit = 2;
    let mut bench = Bench::listening(8, cfg);
    bench.syn_ack_for(PEER).expect("answered");
    let answered: usize = (0..50).map(|_| bench.deliver(Bench::syn(PEER), 0).len()).sum();
    assert!((1..=2).contains(&answered), "{answered} times");
}

#[test]
fn a_syn_ack_is_repeated_with_doubling_intervals_and_then_forgotten() {
    let mut cfg = quick();
    cfg.retries.syn_ack = 3;
    let mut bench = Bench::listening(8, cfg);
    bench.syn_ack_for(PEER).expect("answered");
    let counts: Vec<usize> = (0..16).map(|_| syn_acks(&bench.pass(Duration::from_secs(1)))).collect();
    assert_eq!(counts, [1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0], "after 1, 3 and 7 s");
    assert_eq!((bench.stack.connections(), bench.events.len()), (0, 0));
}

fn waiting_for_data(ms: u64) -> Config {
    let mut cfg = quick();
    cfg.handshake.defer_accept = DeferAccept::For(Duration::from_millis(ms));
    cfg
}

#[test]
fn an_application_that_waits_for_data_is_notified_with_the_first_byte() {
    let mut bench = Bench::listening(8, waiting_for_data(5_000));
    let syn_ack = bench.syn_ack_for(PEER).expect("answered");
    bench.finish(&syn_ack);
    assert_eq!((bench.accepted(), bench.waiting()), (None, 0));
    assert_eq!(syn_acks(&bench.pass(Duration::from_secs(2))), 0, "the SYN-ACK has arrived");
    bench.deliver(Bench::segment(PEER, Flags::NONE, IRS + 1, Some(syn_ack.seq + 1)), 10);
    let conn = bench.accepted().expect("accepted");
    assert_eq!(readable(&bench, conn), 10);
}

#[test_case(1_000, 1; "one timeout")]
#[test_case(2_000, 3; "two timeouts")]
#[test_case(3_000, 3; "two timeouts exactly")]
fn when_the_wait_is_over_the_syn_ack_asks_once_more(wait_ms: u64, asks_after_s: u64) {
    let mut bench = Bench::listening(8, waiting_for_data(wait_ms));
    let syn_ack = bench.syn_ack_for(PEER).expect("answered");
    bench.finish(&syn_ack);
    assert_eq!(syn_acks(&bench.pass(Duration::from_millis(asks_after_s * 1000 - 1))), 0);
    assert_eq!(syn_acks(&bench.pass(Duration::from_millis(1))), 1);
    bench.finish(&syn_ack);
    assert!(bench.accepted().is_some());
}

#[test]
fn a_fin_ends_the_wait_for_data_and_a_lost_syn_ack_is_still_repeated() {
    let mut bench = Bench::listening(8, waiting_for_data(60_000));
    let syn_ack = bench.syn_ack_for(PEER).expect("answered");
    assert_eq!(syn_acks(&bench.pass(Duration::from_secs(1))), 1);
    bench.deliver(Bench::segment(PEER, Flags::FIN, IRS + 1, Some(syn_ack.seq + 1)), 0);
    let conn = bench.accepted().expect("accepted");
    assert_eq!(bench.state(conn), "CLOSE-WAIT");
}
