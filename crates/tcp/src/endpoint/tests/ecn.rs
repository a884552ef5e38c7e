//! Explicit congestion notification (RFC 3168): who requests it, which packets are marked, how an echo acts.

use crate::config::{AckConfig, Config, EcnNegotiation, EcnResponse, EcnSynAgain, MarkBeta, ReceiveWindowConfig};
use crate::testing::{MSS, Out, Script, peer_options, quick};
use ::recovery::{DetectorConfig, PrrConfig, ReductionConfig};
use base::Duration;
use test_case::test_case;
use wire::{Ecn, Flags};

const RTT: Duration = Duration::from_millis(100);
const ASKS: Flags = Flags::SYN.with(Flags::ECE).with(Flags::CWR);
const GRANTS: Flags = Flags::SYN.with(Flags::ECE);

fn offering() -> Config {
    let mut cfg = quick();
    cfg.ecn.negotiation = EcnNegotiation::Offer;
    cfg
}

fn opened_with(cfg: Config, syn_ack: Flags) -> Script {
    let mut script = Script::connecting(cfg);
    script.pass(RTT);
    let mut answer = script.segment(syn_ack, 0, Some(1));
    answer.options = peer_options();
    script.deliver(answer, 0);
    script.sent();
    script
}

/// A connection that uses ECN and has sent `segments`, one full window.
fn in_flight(mut cfg: Config, segments: u32) -> Script {
    cfg.cc.initial_window = cc::InitialWindow::plain(segments);
    let mut script = opened_with(cfg, GRANTS);
    script.write(100 * u64::from(MSS));
    assert_eq!(script.data().len() as u32, segments);
    script.pass(RTT);
    script
}

fn at(segment: u32) -> u32 {
    1 + segment * MSS
}

fn echo(script: &mut Script, ack: u32, blocks: &[(u32, u32)]) {
    let mut repr = script.segment(Flags::ECE, 1, Some(ack));
    for &(start, end) in blocks {
        repr.options.sack.push(base::SeqRange::new(script.iss + start, script.iss + end));
    }
    script.deliver(repr, 0);
}

fn has(out: &Out, flag: Flags) -> bool {
    out.flags.contains(flag)
}

//= specs/rfc3168.md#negotiation
//= type=test
//# A SYN asks for ECN with both ECE and CWR, and a SYN-ACK grants it with ECE alone.
//= specs/rfc3168.md#negotiation
//= type=test
//# A SYN-ACK with both flags reflects ours and grants nothing.
//= specs/rfc3168.md#negotiation
//= type=test
//# Nothing is marked as ECN-capable unless both SYNs agreed on it.
#[test_case(EcnNegotiation::Offer, GRANTS => (ASKS, Ecn::Ect0); "granted")]
#[test_case(EcnNegotiation::Offer, Flags::SYN => (ASKS, Ecn::NotEct); "not granted")]
#[test_case(EcnNegotiation::Offer, ASKS => (ASKS, Ecn::NotEct); "reflected")]
#[test_case(EcnNegotiation::Answer, GRANTS => (Flags::SYN, Ecn::NotEct); "granted unasked")]
#[test_case(EcnNegotiation::Off, GRANTS => (Flags::SYN, Ecn::NotEct); "off")]
fn an_active_open(negotiation: EcnNegotiation, answer: Flags) -> (Flags, Ecn) {
    let mut cfg = quick();
    cfg.ecn.negotiation = negotiation;
    let mut script = Script::connecting(cfg);
    let syn = script.sent()[0];
    assert_eq!(syn.ecn, Ecn::NotEct);
    let mut repr = script.segment(answer, 0, Some(1));
    repr.options = peer_options();
    script.deliver(repr, 0);
    script.sent();
    script.write(10);
    (syn.flags, script.sent()[0].ecn)
}

//= specs/rfc3168.md#negotiation
//= type=test
//# A SYN asks for ECN with both ECE and CWR, and a SYN-ACK grants it with ECE alone.
#[test_case(EcnNegotiation::Answer, ASKS, Ecn::NotEct => (GRANTS, Ecn::Ect0); "asked")]
#[test_case(EcnNegotiation::Offer, ASKS, Ecn::NotEct => (GRANTS, Ecn::Ect0); "asked of one who would ask")]
#[test_case(EcnNegotiation::Off, ASKS, Ecn::NotEct => (Flags::SYN, Ecn::NotEct); "off")]
#[test_case(EcnNegotiation::Answer, Flags::SYN, Ecn::NotEct => (Flags::SYN, Ecn::NotEct); "not asked")]
#[test_case(EcnNegotiation::Answer, GRANTS, Ecn::NotEct => (Flags::SYN, Ecn::NotEct); "half asked")]
#[test_case(EcnNegotiation::Answer, ASKS, Ecn::Ect0 => (Flags::SYN, Ecn::NotEct); "the SYN is capable itself")]
fn a_passive_open(negotiation: EcnNegotiation, flags: Flags, ecn: Ecn) -> (Flags, Ecn) {
    let mut cfg = quick();
    cfg.ecn.negotiation = negotiation;
    let mut script = Script::listening(cfg);
    script.peer_ecn = ecn;
    let mut syn = script.segment(flags, 0, None);
    syn.options = peer_options();
    script.deliver(syn, 0);
    let syn_ack = script.sent()[0];
    assert_eq!(syn_ack.ecn, Ecn::NotEct);
    script.ack(1);
    script.write(10);
    (syn_ack.flags, script.sent()[0].ecn)
}

#[test_case(ASKS => (GRANTS, Ecn::Ect0); "both ask")]
#[test_case(Flags::SYN => (Flags::SYN, Ecn::NotEct); "only we ask")]
fn two_syns_that_cross(theirs: Flags) -> (Flags, Ecn) {
    let mut script = Script::connecting(offering());
    script.sent();
    let mut syn = script.segment(theirs, 0, None);
    syn.options = peer_options();
    script.deliver(syn, 0);
    let syn_ack = script.sent()[0];
    script.ack(1);
    script.write(10);
    (syn_ack.flags, script.sent()[0].ecn)
}

//= specs/rfc3168.md#negotiation
//= type=test
//# A SYN that is sent again after a timeout may leave without asking.
#[test_case(EcnSynAgain::Plain => Flags::SYN)]
#[test_case(EcnSynAgain::SameAgain => ASKS)]
fn a_syn_that_is_sent_again(syn_again: EcnSynAgain) -> Flags {
    let mut cfg = offering();
    cfg.ecn.syn_again = syn_again;
    let mut script = Script::connecting(cfg);
    script.sent();
    script.pass(Duration::from_secs(2));
    let again = script.sent()[0];
    // The SYN-ACK may answer the first SYN.
    let mut syn_ack = script.segment(GRANTS, 0, Some(1));
    syn_ack.options = peer_options();
    script.deliver(syn_ack, 0);
    assert!(script.info().ecn.negotiated);
    again.flags
}

//= specs/rfc3168.md#marking
//= type=test
//# New data leaves with ECT(0).
//= specs/rfc3168.md#marking
//= type=test
//# Retransmissions, bare acknowledgements, SYNs and probes of a closed window are not ECN-capable.
#[test]
fn only_new_data_may_be_marked() {
    let mut script = opened_with(offering(), GRANTS);
    script.write(u64::from(MSS));
    assert_eq!(script.sent().iter().map(|out| out.ecn).collect::<Vec<_>>(), [Ecn::Ect0]);
    script.pass(Duration::from_secs(4));
    assert!(script.sent().iter().all(|out| out.len > 0 && out.ecn == Ecn::NotEct), "retransmissions");
    script.peer_window = 0;
    script.ack(at(1));
    script.write(10);
    script.pass(Duration::from_secs(5));
    let probes = script.sent();
    assert!(!probes.is_empty() && probes.iter().all(|out| out.len == 1 && out.ecn == Ecn::NotEct), "{probes:?}");
    let data = script.segment(Flags::NONE, 1, Some(at(1)));
    script.deliver(data, 2 * MSS);
    let ack = script.sent()[0];
    assert_eq!((ack.len, ack.ecn), (0, Ecn::NotEct));
}

/// An arriving segment: its mark, its flags, and whether an ACK leaves at once with or without the echo.
const AT_ONCE: Option<bool> = Some(false);
const ECHOED: Option<bool> = Some(true);

//= specs/rfc3168.md#receiver
//= type=test
//# After a mark every acknowledgement carries ECE until a segment with CWR arrives.
//= specs/rfc3168.md#receiver
//= type=test
//# A mark is echoed at once.
//= specs/rfc3168.md#receiver
//= type=test
//# A mark that arrives together with CWR, or after it, is echoed anew.
#[test]
fn a_mark_is_echoed_until_the_peer_has_reduced() {
    let mut cfg = quick();
    cfg.ack = AckConfig { quick_segments: 0, ..AckConfig::default() };
    cfg.receive.window = ReceiveWindowConfig::Fixed { bytes: 65_535 };
    let mut script = Script::listening(cfg);
    let mut syn = script.segment(ASKS, 0, None);
    syn.options = peer_options();
    script.deliver(syn, 0);
    script.ack(1);
    script.sent();
    let story = [
        (Ecn::Ect0, Flags::NONE, None),
        (Ecn::Ect0, Flags::NONE, AT_ONCE),
        (Ecn::Ce, Flags::NONE, ECHOED),
        (Ecn::Ect0, Flags::NONE, None),
        (Ecn::Ect0, Flags::NONE, ECHOED),
        (Ecn::Ce, Flags::NONE, None),
        (Ecn::Ect0, Flags::CWR, AT_ONCE),
        (Ecn::Ect0, Flags::NONE, None),
        (Ecn::Ce, Flags::CWR, ECHOED),
        (Ecn::Ce, Flags::CWR, ECHOED),
        (Ecn::NotEct, Flags::CWR, AT_ONCE),
    ];
    for (n, (mark, flags, expected)) in story.into_iter().enumerate() {
        script.peer_ecn = mark;
        let data = script.segment(flags, at(n as u32), Some(1));
        script.deliver(data, MSS);
        let acks = script.sent();
        assert_eq!(acks.first().map(|ack| has(ack, Flags::ECE)), expected, "segment {n}");
        assert!(acks.len() <= 1);
    }
    assert_eq!((script.info().ecn.received_ce, script.info().ecn.received_capable), (4, 10));
}

//= specs/rfc3168.md#receiver
//= type=test
//# Marks on segments outside the window are ignored.
#[test]
fn a_mark_on_what_was_received_before_is_not_echoed() {
    let mut script = opened_with(offering(), GRANTS);
    script.peer_ecn = Ecn::Ect0;
    let data = script.segment(Flags::NONE, 1, Some(1));
    script.deliver(data, MSS);
    script.sent();
    script.peer_ecn = Ecn::Ce;
    script.deliver(data, MSS);
    assert!(!has(&script.sent()[0], Flags::ECE));
    assert_eq!(script.info().ecn.received_ce, 0);
}

//= specs/rfc3168.md#sender
//= type=test
//# An echo reduces the window as the loss of a segment would.
//= specs/rfc3168.md#sender
//= type=test
//# The window is reduced no more than once for the marks of one window of data.
//= specs/rfc3168.md#sender
//= type=test
//# An ACK that echoes a mark does not open the window.
//= specs/rfc3168.md#sender
//= type=test
//# The first new data segment after a reduction carries CWR.
#[test]
fn echoes_reduce_the_window_once_in_a_window_of_data() {
    let mut script = in_flight(offering(), 20);
    echo(&mut script, at(1), &[]);
    let info = script.info();
    assert_eq!((info.cwnd, info.ssthresh, info.episode.name()), (14 * MSS, 14 * MSS, "cwr"));
    for n in 2..=6 {
        echo(&mut script, at(n), &[]);
    }
    assert!(script.sent().is_empty(), "the flight shrinks first");
    for n in 7..=20 {
        echo(&mut script, at(n), &[]);
    }
    let sent = script.sent();
    assert_eq!(sent.iter().filter(|out| has(out, Flags::CWR)).map(|out| out.seq).collect::<Vec<_>>(), [at(20)]);
    let info = script.info();
    assert_eq!((info.cwnd, info.episode.name(), info.ecn.reductions), (14 * MSS, "cwr", 1));
    assert_eq!(info.ecn.delivered_ce, 20);
    // The ACK of our reduction has arrived; later echoes come from later marks.
    script.pass(RTT);
    script.ack(at(21));
    assert_eq!(script.info().episode.name(), "open");
    echo(&mut script, at(22), &[]);
    let info = script.info();
    assert_eq!((info.episode.name(), info.ecn.reductions), ("cwr", 2));
    assert!(info.cwnd < 11 * MSS);
}

#[test]
fn an_answer_by_reduction_lets_segments_leave_in_proportion() {
    let mut cfg = offering();
    cfg.ecn.response = EcnResponse::ByReduction;
    cfg.recovery.reduction = ReductionConfig::Prr(PrrConfig::default());
    let mut script = in_flight(cfg, 20);
    let mut sent = Vec::new();
    for n in 1..=20 {
        echo(&mut script, at(n), &[]);
        sent.push(script.data().len());
    }
    assert_eq!(sent.iter().sum::<usize>(), 14, "of twenty, as many as the new window holds");
    assert!(sent[..10].iter().sum::<usize>() >= 6, "spread over the round trip: {sent:?}");
    script.pass(RTT);
    script.ack(at(21));
    assert_eq!((script.info().episode.name(), script.info().cwnd / MSS), ("open", 14));
}

//= specs/rfc3168.md#sender
//= type=test
//# A loss and a mark in one window of data reduce the window once.
#[test_case(EcnResponse::AtOnce, true; "the mark first")]
#[test_case(EcnResponse::ByReduction, true; "the mark first, answered by reduction")]
#[test_case(EcnResponse::AtOnce, false; "the loss first")]
#[test_case(EcnResponse::ByReduction, false; "the loss first, then the mark")]
fn a_loss_and_a_mark_of_one_flight(response: EcnResponse, mark_first: bool) {
    let mut cfg = offering();
    cfg.ecn.response = response;
    cfg.recovery.reduction = ReductionConfig::Prr(PrrConfig::default());
    cfg.recovery.detector = DetectorConfig::DupThresh(Default::default());
    let mut script = in_flight(cfg, 20);
    if mark_first {
        echo(&mut script, at(0), &[(at(1), at(2))]);
        assert_eq!(script.info().episode.name(), "cwr");
    } else {
        script.sack(at(0), &[(at(1), at(4))]);
    }
    echo(&mut script, at(0), &[(at(1), at(5))]);
    let info = script.info();
    assert_eq!((info.episode.name(), info.ssthresh), ("recovery", 14 * MSS));
    assert_eq!(info.ecn.reductions, u32::from(mark_first));
    let sent = script.sent();
    assert!(sent.iter().any(|out| out.data() == (at(0), MSS) && out.ecn == Ecn::NotEct), "{sent:?}");
    assert!(!sent.iter().any(|out| out.seq == at(0) && has(out, Flags::CWR)));
    script.pass(RTT);
    script.ack(at(20) + sent.iter().filter(|out| out.seq >= at(20)).map(|out| out.len).sum::<u32>());
    assert_eq!((script.info().episode.name(), script.info().counters.episodes), ("open", 1));
}

//= specs/rfc3168.md#sender
//= type=test
//# The first new data segment after a reduction carries CWR.
#[test]
fn a_timeout_tells_the_peer_too_but_with_new_data_only() {
    let mut script = in_flight(offering(), 2);
    script.pass(Duration::from_secs(2));
    let again = script.sent();
    assert!(!again.is_empty() && again.iter().all(|out| !has(out, Flags::CWR) && out.ecn == Ecn::NotEct));
    script.ack(at(2));
    let new = script.sent();
    assert!(new.iter().any(|out| out.seq == at(2) && has(out, Flags::CWR) && out.ecn == Ecn::Ect0), "{new:?}");
    assert_eq!(new.iter().filter(|out| has(out, Flags::CWR)).count(), 1);
}

//= specs/rfc3168.md#sender
//= type=test
//# An echo at a window of one segment holds new data back until the retransmission timer would expire.
//= specs/rfc9438.md#multiplicative-decrease
//= type=test
//# With a window of one segment, further ECN echoes slow the sender down by other means.
#[test]
fn at_a_window_of_one_segment_an_echo_costs_a_timeout() {
    let mut script = in_flight(offering(), 1);
    let rto = script.info().rto;
    echo(&mut script, at(1), &[]);
    let info = script.info();
    assert_eq!((info.cwnd, info.episode.name()), (MSS, "cwr"));
    script.pass(Duration::from_nanos(rto.as_nanos() - 1));
    assert_eq!(script.data(), []);
    script.pass(Duration::from_millis(1));
    assert_eq!(script.data(), [(at(1), MSS)]);
    assert_eq!(script.info().counters.timeouts, 0);
}

#[test_case(MarkBeta::AsLoss, 9; "seven tenths, as for a loss")]
#[test_case(MarkBeta::Own { beta: base::Ratio::new(4, 5).unwrap() }, 11; "eight tenths")]
fn a_mark_may_have_a_factor_of_its_own_in_congestion_avoidance(mark_beta: MarkBeta, segments: u32) {
    let mut cfg = offering();
    cfg.ecn.mark_beta = mark_beta;
    let mut script = in_flight(cfg, 20);
    echo(&mut script, at(20), &[]);
    script.pass(RTT);
    assert_eq!(script.info().cwnd / MSS, 14, "slow start is left as after a loss");
    let end = script.data().iter().map(|(seq, len)| seq + len).max().unwrap();
    echo(&mut script, end, &[]);
    assert_eq!(script.info().cwnd / MSS, segments);
}
