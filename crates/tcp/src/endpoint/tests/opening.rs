//! Opening a connection (RFC 9293 §3.5).

use crate::ConnEvent;
use crate::config::{AckTimer, Config, SynAckAnswer, SynAckEcho, TimestampConfig, WindowScaleConfig, WrongAck};
use crate::cx::StackCx;
use crate::event::CloseReason;
use crate::testing::{Script, peer_options, quick};
use base::Duration;
use recovery::rtt::SynEcho;
use test_case::test_case;
use trace::Off;
use wire::{Flags, Options, Timestamps};

//= specs/rfc9293.md#segment-size
//= type=test
//# A maximum segment size is sent, and one that is received is respected.
#[test]
fn a_syn_offers_what_the_configuration_says_and_nothing_else() {
    let mut cfg = Config::default();
    cfg.options.timestamps = TimestampConfig::Offer;
    cfg.options.window_scale = WindowScaleConfig::Shift(7);
    let mut script = Script::connecting(cfg);
    let syn = script.sent()[0];
    assert_eq!((syn.flags, syn.ack, syn.len), (Flags::SYN, None, 0));
    assert_eq!((syn.options.mss, syn.options.window_scale), (Some(1460), Some(7)));
    assert!(syn.options.sack_permitted && syn.options.timestamps.is_some());
    let mut script = Script::connecting(quick());
    let syn = script.sent()[0];
    assert_eq!((syn.options.window_scale, syn.options.timestamps), (None, None));
}

#[test]
fn the_handshake_completes_and_is_acknowledged() {
    let mut script = Script::connecting(quick());
    script.out.clear();
    let mut syn_ack = script.segment(Flags::SYN, 0, Some(1));
    syn_ack.options = peer_options();
    script.deliver(syn_ack, 0);
    let sent = script.sent();
    assert_eq!((sent.len(), sent[0].seq, sent[0].ack), (1, 1, Some(1)));
    assert!(script.saw(ConnEvent::Connected));
    assert_eq!(script.state(), "ESTABLISHED");
    assert_eq!(script.info().smss, 1460);
}

#[test]
fn a_passive_open_answers_only_what_was_offered() {
    let mut script = Script::accepted(Config::default());
    assert_eq!(script.state(), "ESTABLISHED");
    assert_eq!(script.info().negotiated, (true, false, false));
    assert!(script.sent().is_empty());
}

//= specs/rfc9293.md#segment-size
//= type=test
//# Without that option the peer is taken to receive 536 bytes over IPv4 and 1220 over IPv6.
#[test]
fn a_peer_without_the_mss_option_gets_536_bytes() {
    let mut script = Script::established_with(quick(), Options::default());
    script.write(5000);
    assert_eq!(script.data()[0], (1, 536));
}

//= specs/rfc9293.md#segment-size
//= type=test
//# The size that is announced is the largest packet less the fixed headers, whatever options follow.
//= specs/rfc7323.md#timestamps
//= type=test
//# The bytes of the option are taken from the segment, not from the announced segment size.
#[test]
fn timestamps_shrink_the_segment_but_not_the_announced_size() {
    let mut cfg = quick();
    cfg.options.timestamps = TimestampConfig::Offer;
    let options = Options { timestamps: Some(Timestamps { tsval: 9, tsecr: 0 }), ..peer_options() };
    let mut script = Script::established_with(cfg, options);
    assert_eq!(script.info().smss, 1448);
    script.write(5000);
    let first = script.sent()[0];
    assert_eq!((first.len, first.options.timestamps.map(|ts| ts.tsecr)), (1448, Some(9)));
}

#[test]
fn a_syn_is_repeated_with_doubling_intervals_and_then_given_up() {
    let mut cfg = quick();
    cfg.retries.syn = 2;
    let initial = cfg.rto.initial;
    let mut script = Script::connecting(cfg);
    script.out.clear();
    script.pass(initial + Duration::from_millis(1));
    assert_eq!(script.sent().len(), 1);
    script.pass(initial + Duration::from_millis(1));
    assert_eq!(script.sent().len(), 0);
    script.pass(initial);
    assert_eq!(script.sent().len(), 1);
    script.pass(initial * 4);
    assert!(script.saw(ConnEvent::Closed(CloseReason::TimedOut)));
}

#[test]
fn a_reset_refuses_the_attempt_only_if_it_acknowledges_the_syn() {
    let mut script = Script::connecting(quick());
    let stray = script.segment(Flags::RST, 0, None);
    script.deliver(stray, 0);
    assert_eq!(script.state(), "SYN-SENT");
    let refusal = script.segment(Flags::RST, 0, Some(1));
    script.deliver(refusal, 0);
    assert!(script.saw(ConnEvent::Closed(CloseReason::Refused)));
}

//= specs/rfc9293.md#resets
//= type=test
//# In SYN-SENT an acknowledgement of what was not sent is answered with a reset.
#[test]
fn an_acknowledgement_of_nothing_sent_is_answered_with_a_reset() {
    let mut script = Script::connecting(quick());
    script.out.clear();
    let wrong = script.segment(Flags::SYN, 0, Some(77));
    script.deliver(wrong, 0);
    let sent = script.sent();
    assert_eq!((sent[0].flags, sent[0].seq), (Flags::RST, 77));
    assert_eq!(script.state(), "SYN-SENT");
}

/// The state after a SYN-ACK whose echo is `ms` behind our clock's reading of the SYN.
#[test_case(SynAckEcho::OfOurSyns, 0 => "ESTABLISHED"; "the first SYN")]
#[test_case(SynAckEcho::OfOurSyns, 1000 => "ESTABLISHED"; "the second")]
#[test_case(SynAckEcho::OfOurSyns, 1500 => "SYN-SENT"; "of the future")]
#[test_case(SynAckEcho::OfOurSyns, u32::MAX - 10 => "SYN-SENT"; "of before the first")]
#[test_case(SynAckEcho::Any, u32::MAX - 10 => "ESTABLISHED"; "not checked")]
fn an_echo_that_is_not_of_our_syns_may_be_refused(syn_ack_echo: SynAckEcho, ms: u32) -> &'static str {
    let mut cfg = quick();
    cfg.options.timestamps = TimestampConfig::Offer;
    cfg.options.syn_ack_echo = syn_ack_echo;
    let mut script = Script::connecting(cfg);
    let tsval = script.sent()[0].options.timestamps.expect("offered").tsval;
    script.pass(Duration::from_millis(1200));
    script.sent();
    let mut syn_ack = script.segment(Flags::SYN, 0, Some(1));
    let tsecr = tsval.wrapping_add(ms);
    syn_ack.options = Options { timestamps: Some(Timestamps { tsval: 9, tsecr }), ..peer_options() };
    script.deliver(syn_ack, 0);
    assert_eq!(script.sent()[0].flags.contains(Flags::RST), script.state() == "SYN-SENT");
    script.state()
}

/// Milliseconds of the smoothed RTT and of the timeout after a SYN that was sent twice, one second apart, and was answered 200 ms
/// later by a SYN-ACK that echoes the second.
#[test_case(SynEcho::Ignored => (None, 3_000))]
#[test_case(SynEcho::Sampled => (Some(200), 1_000); "the echo says which SYN was answered")]
fn a_syn_that_was_sent_twice_gives_a_sample_where_echoes_count(syn_echo: SynEcho) -> (Option<u64>, u64) {
    let mut cfg = quick();
    cfg.options.timestamps = TimestampConfig::Offer;
    cfg.rtt.syn_echo = syn_echo;
    cfg.rto.min = Duration::from_secs(1);
    let mut script = Script::connecting(cfg);
    script.pass(Duration::from_millis(1_200));
    let tsecr = script.sent().last().and_then(|syn| syn.options.timestamps).expect("offered").tsval;
    script.finish_handshake(Options { timestamps: Some(Timestamps { tsval: 9, tsecr }), ..peer_options() });
    let info = script.info();
    (info.srtt.map(Duration::as_millis), info.rto.as_millis())
}

//= specs/rfc9293.md#opening
//= type=test
//# Two SYNs that cross make one connection.
//= specs/rfc9293.md#opening
//= type=test
//# A SYN-ACK in SYN-RECEIVED is answered with an ACK.
#[test]
fn two_syns_that_cross_make_one_connection() {
    let mut script = Script::connecting(quick());
    script.out.clear();
    let mut syn = script.segment(Flags::SYN, 0, None);
    syn.options = peer_options();
    script.deliver(syn, 0);
    let sent = script.sent();
    assert_eq!((sent[0].flags, sent[0].seq, sent[0].ack), (Flags::SYN, 0, Some(1)));
    let mut syn_ack = script.segment(Flags::SYN, 0, Some(1));
    syn_ack.options = peer_options();
    script.deliver(syn_ack, 0);
    assert_eq!(script.state(), "ESTABLISHED");
    let sent = script.sent();
    assert_eq!(sent.iter().map(|out| (out.flags, out.seq, out.ack)).collect::<Vec<_>>(), [(Flags::NONE, 1, Some(1))]);
    script.write(10);
    assert_eq!(script.data(), [(1, 10)]);
}

#[test]
fn a_lost_syn_ack_is_repeated_when_the_peers_syn_comes_again() {
    let mut script = Script::accepted_after(quick(), 2);
    let synacks: Vec<_> = script.sent().into_iter().filter(|out| out.flags.contains(Flags::SYN)).collect();
    assert_eq!(synacks.len(), 2);
    assert_eq!(script.state(), "ESTABLISHED");
}

//= specs/rfc9293.md#resets
//= type=test
//# A segment for no connection is answered with a reset, unless it is one.
#[test]
fn a_segment_for_a_closed_port_is_refused_and_a_reset_is_not() {
    let mut script = Script::connecting(quick());
    script.out.clear();
    let mut stray = script.segment(Flags::NONE, 5, Some(9));
    stray.dst_port = 9;
    script.deliver(stray, 3);
    assert_eq!(script.sent()[0].flags, Flags::RST);
    stray.flags = Flags::RST;
    script.deliver(stray, 0);
    assert!(script.sent().is_empty());
}

/// An active open whose SYN has crossed the peer's.
fn crossed(cfg: Config, syn_data: u32) -> Script {
    let mut script = Script::connecting(cfg);
    script.out.clear();
    let mut syn = script.segment(Flags::SYN, 0, None);
    syn.options = peer_options();
    script.deliver(syn, syn_data);
    let sent = script.sent();
    assert_eq!(sent.iter().map(|out| (out.flags, out.seq, out.ack)).collect::<Vec<_>>(), [(Flags::SYN, 0, Some(1))]);
    script
}

//= specs/rfc9293.md#opening
//= type=test
//# Two SYNs that cross make one connection.
#[test_case(Flags::SYN, 0; "the peer's SYN-ACK")]
#[test_case(Flags::NONE, 1; "its ACK, as its SYN-ACK was lost")]
#[test_case(Flags::NONE, 101; "later data with an ACK")]
fn a_simultaneous_open_ends_with(flags: Flags, seq: u32) {
    let mut script = crossed(quick(), 0);
    let last = script.segment(flags, seq, Some(1));
    script.deliver(last, if seq > 1 { 50 } else { 0 });
    assert_eq!((script.state(), script.saw(ConnEvent::Connected)), ("ESTABLISHED", true));
    script.write(10);
    assert_eq!(script.data(), [(1, 10)]);
}

#[test]
fn a_simultaneous_open_survives_the_loss_of_either_syn_ack() {
    let mut script = crossed(quick(), 0);
    let mut syn = script.segment(Flags::SYN, 0, None);
    syn.options = peer_options();
    script.deliver(syn, 0);
    assert_eq!(script.sent().len(), 1, "the peer's SYN again: ours was lost");
    script.pass(Duration::from_secs(4));
    let again = script.sent();
    assert!(!again.is_empty() && again.iter().all(|out| out.flags == Flags::SYN && out.ack == Some(1)), "{again:?}");
    let syn_ack = script.segment(Flags::SYN, 0, Some(1));
    script.deliver(syn_ack, 0);
    assert_eq!(script.state(), "ESTABLISHED");
    script.out.clear();
    script.deliver(syn_ack, 0);
    assert_eq!(script.sent().len(), 1, "a SYN-ACK that comes again is only challenged");
    assert_eq!(script.state(), "ESTABLISHED");
}

#[test]
fn data_in_crossing_syns_waits_for_the_end_of_the_handshake() {
    let mut script = crossed(quick(), 100);
    assert_eq!(script.info().readable, 0);
    let syn_ack = script.segment(Flags::SYN, 0, Some(1));
    script.deliver(syn_ack, 0);
    assert_eq!((script.state(), script.info().readable), ("ESTABLISHED", 100));
    assert_eq!(script.sent().last().and_then(|out| out.ack), Some(101));
    let mut script = crossed(quick(), 0);
    let syn_ack = script.segment(Flags::SYN, 0, Some(1));
    script.deliver(syn_ack, 100);
    assert_eq!(script.info().readable, 100, "data in the SYN-ACK");
}

//= specs/rfc9293.md#opening
//= type=test
//# A connection remembers which side opened it: a listener forgets an attempt that is reset, and goes on.
//= specs/rfc9293.md#opening
//= type=test
//# A reset in SYN-RECEIVED returns a passive open to LISTEN, and refuses an active one.
#[test]
fn a_reset_refuses_a_simultaneous_open() {
    let mut script = crossed(quick(), 0);
    let reset = script.segment(Flags::RST, 1, None);
    script.deliver(reset, 0);
    assert!(script.saw(ConnEvent::Closed(CloseReason::Refused)));
}

#[test]
fn another_syn_does_not_end_a_simultaneous_open() {
    let mut script = crossed(quick(), 0);
    let anew = script.segment(Flags::SYN, 1000, None);
    script.deliver(anew, 0);
    assert_eq!(script.state(), "SYN-RECEIVED");
    assert_eq!(script.sent().iter().map(|out| (out.flags, out.ack)).collect::<Vec<_>>(), [(Flags::NONE, Some(1))]);
}

#[test]
fn a_syn_ack_with_data_and_fin_is_a_whole_stream() {
    let mut script = Script::connecting(quick());
    let syn_ack = script.segment(Flags::SYN.with(Flags::FIN), 0, Some(1));
    script.deliver(syn_ack, 100);
    assert_eq!(script.state(), "CLOSE-WAIT");
    assert_eq!(script.sent().last().and_then(|out| out.ack), Some(102));
    assert_eq!(script.read(1000), Ok(crate::Read::Data(100)));
    assert_eq!(script.read(1000), Ok(crate::Read::Fin));
}

/// Milliseconds after which the SYN leaves again when the peer answers the first one with `flags` and the acknowledgement of
/// something else.
#[test_case(WrongAck::Retries, Flags::NONE => 2; "an ACK of an earlier life")]
#[test_case(WrongAck::Retries, Flags::RST => 2; "a reset of an earlier life")]
#[test_case(WrongAck::Waits, Flags::NONE => 1_000; "an ACK where SYNs wait")]
#[test_case(WrongAck::Waits, Flags::RST => 1_000; "a reset where SYNs wait")]
fn a_wrong_acknowledgement_hurries_the_first_syn_only(wrong_ack: WrongAck, flags: Flags) -> u64 {
    let mut cfg = quick();
    cfg.handshake.wrong_ack = wrong_ack;
    let mut script = Script::connecting(cfg);
    let wrong = script.segment(flags, 0, Some(77));
    let mut until_syn = || {
        script.deliver(wrong, 0);
        assert_eq!(script.sent().iter().any(|out| out.flags == Flags::RST), flags == Flags::NONE);
        let mut ms = 0;
        while script.sent().is_empty() {
            script.pass(Duration::from_millis(1));
            ms += 1;
        }
        ms
    };
    let first = until_syn();
    assert!(until_syn() >= 1_000, "a SYN that was sent again waits for its timeout");
    first
}

/// A client whose ACKs adapt and whose SYN-ACK may be acknowledged with data.
fn with_data() -> Config {
    let mut cfg = quick();
    cfg.ack.timer = AckTimer::Adaptive;
    cfg.handshake.syn_ack_answer = SynAckAnswer::WithData;
    cfg
}

fn announce(script: &mut Script, waits: bool) {
    script.stack.announce_writer(&mut StackCx::new(script.now, &mut Off), script.conn, waits);
}

fn answer(script: &mut Script) {
    script.out.clear();
    let mut syn_ack = script.segment(Flags::SYN, 0, Some(1));
    syn_ack.options = peer_options();
    script.deliver(syn_ack, 0);
}

/// Milliseconds until an ACK for the peer's first bytes, which arrive 20 ms after our data.
fn first_bytes_are_acknowledged_after(script: &mut Script) -> u64 {
    script.pass(Duration::from_millis(20));
    let data = script.segment(Flags::PSH, 1, Some(101));
    script.deliver(data, 50);
    (0..=500)
        .find(|_| {
            let acked = script.sent().iter().any(|out| out.ack == Some(51));
            script.pass(Duration::from_millis(1));
            acked
        })
        .expect("below 500 ms")
}

//= specs/rfc9293.md#opening
//= type=test
//# The SYN-ACK is acknowledged, by itself or with data.
#[test]
fn a_syn_ack_is_acknowledged_with_the_data_of_a_writer_that_waits() {
    let mut script = Script::connecting(with_data());
    announce(&mut script, true);
    answer(&mut script);
    assert_eq!((script.sent(), script.state()), (vec![], "ESTABLISHED"));
    script.write(100);
    let sent = script.sent();
    assert_eq!(sent.iter().map(|out| (out.seq, out.len, out.ack)).collect::<Vec<_>>(), [(1, 100, Some(1))]);
    // Our data looks like the reply to the SYN-ACK, so the ACK waits for the next reply.
    assert_eq!(first_bytes_are_acknowledged_after(&mut script), 40);
}

#[test]
fn data_that_is_buffered_carries_the_acknowledgement_of_the_syn_ack() {
    let mut script = Script::connecting(with_data());
    script.write(100);
    answer(&mut script);
    let sent = script.sent();
    assert_eq!(sent.iter().map(|out| (out.seq, out.len, out.ack)).collect::<Vec<_>>(), [(1, 100, Some(1))]);
    assert_eq!(first_bytes_are_acknowledged_after(&mut script), 40);
}

#[test]
fn without_a_writer_the_syn_ack_and_the_first_bytes_are_acknowledged_at_once() {
    for withdrawn in [false, true] {
        let mut script = Script::connecting(with_data());
        if withdrawn {
            announce(&mut script, true);
            announce(&mut script, false);
        }
        answer(&mut script);
        assert_eq!(script.sent().len(), 1);
        script.write(100);
        assert_eq!(first_bytes_are_acknowledged_after(&mut script), 0);
    }
}

/// Milliseconds until the SYN-ACK is acknowledged if the writer does not write.
#[test_case(SynAckAnswer::WithData => 200)]
#[test_case(SynAckAnswer::AtOnce => 0)]
fn a_writer_that_does_not_write_delays_the_acknowledgement(syn_ack_answer: SynAckAnswer) -> u64 {
    let mut cfg = with_data();
    cfg.handshake.syn_ack_answer = syn_ack_answer;
    let mut script = Script::connecting(cfg);
    announce(&mut script, true);
    answer(&mut script);
    let begin = script.now;
    while script.out.is_empty() {
        script.pass(Duration::from_millis(1));
    }
    script.now.since(begin).as_millis()
}
