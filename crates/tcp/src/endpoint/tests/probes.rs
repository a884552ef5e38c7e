//! Tail loss probes as a peer sees them (RFC 8985 §7).

use crate::Config;
use crate::testing::{MSS, Script, peer_options, quick};
use ::recovery::TlpConfig;
use base::Duration;
use test_case::test_case;

const RTT: Duration = Duration::from_millis(100);
const MS: Duration = Duration::from_millis(1);

fn at(n: u32) -> u32 {
    1 + n * MSS
}

fn probing() -> Config {
    let mut cfg = quick();
    cfg.recovery.probe = Some(TlpConfig::default());
    cfg
}

/// A connection over 100 ms on which this much data was just written.
fn written(cfg: Config, bytes: u32) -> Script {
    let mut script = Script::connecting(cfg);
    script.pass(RTT);
    script.finish_handshake(peer_options());
    script.write(bytes.into());
    script
}

//= specs/rfc8985.md#scheduling-a-probe
//= type=test
//# The probe timeout is twice the smoothed RTT.
//= specs/rfc8985.md#sending-a-probe
//= type=test
//# A probe is sent only when no earlier probe is outstanding.
//= specs/rfc8985.md#sending-a-probe
//= type=test
//# When one of these conditions fails, no probe is sent and the retransmission timer is armed.
//= specs/rfc8985.md#sending-a-probe
//= type=test
//# Without such a segment the probe is the segment with the highest sequence numbers, sent again.
//= specs/rfc8985.md#sending-a-probe
//= type=test
//# Once the probe timer has expired, the retransmission timer is armed if anything is in flight.
#[test]
fn two_silent_round_trips_bring_the_last_segment_again_and_then_the_timeout_waits_anew() {
    let mut script = written(probing(), 3 * MSS);
    assert_eq!(script.data().len(), 3);
    script.pass(Duration::from_millis(199));
    assert_eq!(script.data(), [], "two round trips are not over");
    script.pass(MS);
    assert_eq!(script.data(), [(at(2), MSS)]);
    assert_eq!((script.info().counters.probes, script.info().counters.timeouts), (1, 0));
    let rto = script.info().rto;
    script.pass(Duration::from_nanos(rto.as_nanos() - MS.as_nanos()));
    assert_eq!(script.data(), [], "one probe, not two");
    script.pass(MS);
    assert_eq!(script.data(), [(at(0), MSS)], "nothing came: the timeout begins with the first");
    assert_eq!(script.info().counters.timeouts, 1);
}

//= specs/rfc8985.md#scheduling-a-probe
//= type=test
//# While one segment is in flight, the probe timeout is longer by a budget for a delayed ACK.
#[test]
fn a_lone_segment_is_given_the_time_of_a_delayed_acknowledgement() {
    let mut cfg = probing();
    cfg.rto.min = Duration::from_secs(2);
    cfg.rto.initial = Duration::from_secs(2);
    let mut script = written(cfg, MSS);
    assert_eq!(script.data().len(), 1);
    script.pass(Duration::from_millis(399));
    assert_eq!(script.data(), []);
    script.pass(MS);
    assert_eq!(script.data(), [(at(0), MSS)]);
}

//= specs/rfc8985.md#scheduling-a-probe
//= type=test
//# A probe timeout beyond the retransmission timeout is cut to it.
#[test]
fn a_timeout_that_would_come_first_comes_as_a_probe() {
    let mut cfg = probing();
    cfg.rto.min = Duration::from_millis(300);
    let mut script = written(cfg, MSS);
    script.sent();
    script.pass(Duration::from_millis(300));
    assert_eq!(script.data(), [(at(0), MSS)]);
    assert_eq!((script.info().counters.probes, script.info().counters.timeouts), (1, 0));
}

//= specs/rfc8985.md#sending-a-probe
//= type=test
//# The probe is the next unsent segment, if there is one and the peer's window takes it.
//= specs/rfc8985.md#sending-a-probe
//= type=test
//# A probe may exceed the congestion window by one segment, and counts as in flight.
//= specs/rfc8985.md#sending-a-probe
//= type=test
//# A probe is recorded like any other transmission.
//= specs/rfc8985.md#acknowledgement-of-a-probe
//= type=test
//# An ACK that covers a probe of new data ends the probe.
#[test]
fn new_data_goes_before_a_repetition_and_may_exceed_the_congestion_window_by_one_segment() {
    let mut script = written(probing(), 20 * MSS);
    assert_eq!(script.data().len(), 10, "the initial window");
    script.pass(RTT * 2);
    assert_eq!(script.data(), [(at(10), MSS)]);
    assert_eq!(script.info().pipe, 11 * MSS);
    // The answer to new data leaves nothing unresolved, and the sender pays back what exceeded the window.
    script.ack(at(11));
    assert!(script.info().pipe <= script.info().cwnd);
    assert_eq!(script.info().counters.fast_retransmits, 0);
}

//= specs/rfc8985.md#sending-a-probe
//= type=test
//# The probe is the next unsent segment, if there is one and the peer's window takes it.
//= specs/rfc8985.md#sending-a-probe
//= type=test
//# Without such a segment the probe is the segment with the highest sequence numbers, sent again.
#[test]
fn new_data_that_the_peer_has_no_room_for_is_not_a_probe() {
    let mut script = Script::connecting(probing());
    script.pass(RTT);
    script.peer_window = 3 * MSS as u16;
    script.finish_handshake(peer_options());
    script.write(u64::from(10 * MSS));
    assert_eq!(script.data().len(), 3);
    script.pass(RTT * 2);
    assert_eq!(script.data(), [(at(2), MSS)], "the highest of what was sent");
}

#[test]
fn the_answer_to_a_probe_lets_time_judge_what_came_before() {
    // The last three of five are lost.
    let mut script = written(probing(), 5 * MSS);
    script.pass(RTT);
    script.ack(at(2));
    script.sent();
    script.pass(RTT * 2);
    assert_eq!(script.data(), [(at(4), MSS)]);
    script.pass(RTT);
    script.sack(at(2), &[(at(4), at(5))]);
    assert_eq!(script.data(), [(at(2), MSS), (at(3), MSS)]);
    assert_eq!((script.info().counters.timeouts, script.info().episode.name()), (0, "recovery"));
}

//= specs/rfc8985.md#acknowledgement-of-a-probe
//= type=test
//# A D-SACK for the probe shows that it was needless, and ends it without a reduction.
//= specs/rfc8985.md#acknowledgement-of-a-probe
//= type=test
//# Without a sign that both copies arrived, one of them is taken for lost.
//= specs/rfc8985.md#acknowledgement-of-a-probe
//= type=test
//# An ACK beyond a repeated segment's probe is answered by one reduction of the window, as a fast recovery is.
/// Only the very last segment was lost; the probe itself delivers it. The next ACKs show whether that was so.
#[test_case(&[], 7..8; "repaired: one reduction, as RFC 9438 has it")]
#[test_case(&[(4, 5)], 10..21; "needless: both copies arrived")]
fn later_data_tells_whether_a_probe_repaired_a_loss(dsack: &[(u32, u32)], segments: core::ops::Range<u32>) {
    let mut script = written(probing(), 5 * MSS);
    script.pass(RTT);
    script.ack(at(4));
    script.pass(RTT * 4);
    assert_eq!(script.info().counters.probes, 1);
    script.pass(RTT);
    script.ack(at(5));
    assert_eq!(script.info().cwnd, 10 * MSS, "a window that was not used does not grow");
    script.write(u64::from(10 * MSS));
    script.pass(RTT);
    let blocks: Vec<(u32, u32)> = dsack.iter().map(|&(s, e)| (at(s), at(e))).collect();
    script.sack(at(15), &blocks);
    let info = script.info();
    assert_eq!((info.episode.name(), info.counters.fast_retransmits), ("open", 0));
    assert!(segments.contains(&(info.cwnd / MSS)), "{}", info.cwnd);
}

//= specs/rfc8985.md#acknowledgement-of-a-probe
//= type=test
//# A duplicate ACK without SACK that covers the probe ends it without a reduction.
#[test]
fn a_peer_that_reports_no_duplicates_repeats_its_acknowledgement_and_nothing_follows() {
    let mut script = written(probing(), 3 * MSS);
    script.pass(RTT * 2);
    script.ack(at(3));
    let cwnd = script.info().cwnd;
    script.ack(at(3));
    script.write(u64::from(3 * MSS));
    script.pass(RTT);
    script.ack(at(6));
    assert!(script.info().cwnd >= cwnd);
}

//= specs/rfc8985.md#scheduling-a-probe
//= type=test
//# New data, and an ACK that advances SND.UNA, start the probe timer anew.
#[test]
fn each_new_segment_moves_the_probe_away() {
    let mut script = written(probing(), 3 * MSS);
    for _ in 0..4 {
        script.pass(RTT + RTT / 2);
        script.write(MSS.into());
    }
    assert_eq!(script.info().counters.probes, 0);
    script.pass(RTT * 2);
    assert_eq!(u32::from(script.info().counters.probes) + script.info().counters.timeouts, 1);
}

//= specs/rfc8985.md#scheduling-a-probe
//= type=test
//# New data, and an ACK that advances SND.UNA, start the probe timer anew.
#[test]
fn an_ack_that_advances_moves_the_probe_away() {
    let mut script = written(probing(), 5 * MSS);
    script.pass(RTT);
    script.ack(at(2));
    script.sent();
    script.pass(Duration::from_millis(199));
    assert_eq!(script.data(), []);
    script.pass(MS);
    assert_eq!(script.data(), [(at(4), MSS)]);
}

//= specs/rfc8985.md#scheduling-a-probe
//= type=test
//# What is known of a probe is forgotten when a connection, a fast recovery or a timeout recovery begins.
/// Otherwise the probe's answer would look like a repair to which no episode has reacted, and reduce the window again.
#[test_case(3, "recovery"; "fast recovery")]
#[test_case(13, "loss"; "a timeout's")]
fn an_episode_that_begins_forgets_the_probe(round_trips: u32, episode: &str) {
    let mut script = written(probing(), 9 * MSS);
    script.pass(RTT * 2);
    assert_eq!(script.info().counters.probes, 1);
    script.pass(RTT * round_trips);
    script.sack(at(2), &[(at(8), at(9))]);
    assert_eq!(script.info().episode.name(), episode);
    let ssthresh = script.info().ssthresh;
    script.pass(RTT);
    script.ack(at(9));
    script.write(u64::from(3 * MSS));
    script.pass(RTT);
    script.ack(at(12));
    assert_eq!((script.info().episode.name(), script.info().ssthresh), ("open", ssthresh));
}

//= specs/rfc8985.md#scheduling-a-probe
//= type=test
//# The probe timer does not run inside recovery or while a segment is SACKed.
#[test]
fn nothing_is_probed_while_the_detector_has_something_to_judge_by() {
    let mut script = written(probing(), 5 * MSS);
    script.pass(RTT);
    script.sack(at(0), &[(at(1), at(2))]);
    script.pass(RTT * 2);
    assert_eq!(script.info().counters.probes, 0);
}

//= specs/rfc8985.md#sending-a-probe
//= type=test
//# A probe is sent only when an RTT sample was taken since the last probe, or since the connection began.
//= specs/rfc8985.md#sending-a-probe
//= type=test
//# When one of these conditions fails, no probe is sent and the retransmission timer is armed.
//= specs/rfc8985.md#sending-a-probe
//= type=test
//# A probe is recorded like any other transmission.
#[test]
fn a_peer_without_sack_is_not_probed() {
    let mut script = Script::connecting(probing());
    script.pass(RTT);
    script.finish_handshake(wire::Options { mss: Some(MSS as u16), ..Default::default() });
    script.write(u64::from(3 * MSS));
    script.pass(RTT * 11);
    assert_eq!((script.info().counters.probes, script.info().counters.timeouts), (0, 1));
}

#[test]
fn a_second_probe_waits_for_a_sample_of_the_path() {
    let mut script = written(probing(), 2 * MSS);
    script.pass(RTT * 2);
    assert_eq!(script.info().counters.probes, 1);
    // The answer may belong to the probe or to the original, so it gives no sample.
    script.pass(RTT);
    script.sack(at(2), &[(at(1), at(2))]);
    script.write(u64::from(2 * MSS));
    script.pass(RTT * 11);
    assert_eq!((script.info().counters.probes, script.info().counters.timeouts), (1, 1));
}
