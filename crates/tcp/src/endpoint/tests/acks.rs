//! What single ACKs do: their blocks, what they count for, and the events that report them.

use crate::testing::{MSS, Script, peer_options, quick};
use ::recovery::{DetectorConfig, DupThreshConfig, LimitedTransmit, TlpConfig};
use base::Duration;
use test_case::test_case;
use trace::Event;
use wire::{Flags, Options};

const RTT: Duration = Duration::from_millis(100);

fn at(n: u32) -> u32 {
    1 + n * MSS
}

/// Ten segments in flight over 100 ms, more written, and a peer that said this in its SYN.
fn ten_in_flight(options: Options) -> Script {
    let mut script = Script::connecting(quick());
    script.pass(RTT);
    script.finish_handshake(options);
    script.write(u64::from(20 * MSS));
    assert_eq!(script.data().len(), 10);
    script
}

fn without_sack() -> Options {
    Options { sack_permitted: false, ..peer_options() }
}

#[test]
fn blocks_of_a_peer_that_may_not_send_any_are_ignored() {
    let mut script = ten_in_flight(without_sack());
    script.sack(1, &[(at(1), at(6))]);
    assert_eq!(script.data(), [(at(10), MSS)], "one duplicate ACK stands for one segment");
    assert_eq!((script.info().pipe, script.info().counters.sacks_received), (10 * MSS, 0));
}

#[test_case(&[(at(1), at(2)), (at(1), at(3))], 1; "a first block inside the second")]
#[test_case(&[(at(1), at(3)), (at(1), at(2))], 0; "not a second one inside the first")]
#[test_case(&[(at(5), at(6)), (at(1), at(3))], 0; "nor blocks apart")]
fn a_report_of_a_duplicate_above_the_left_edge_stands_inside_the_second_block(blocks: &[(u32, u32)], reports: u32) {
    let mut script = ten_in_flight(peer_options());
    script.sack(1, &[(at(1), at(3))]);
    script.sack(1, blocks);
    assert_eq!(script.info().counters.dsacks_received, reports);
}

//= specs/rfc5681.md#fast-retransmit-and-fast-recovery
//= type=test
//# Only an ACK without data, SYN, FIN or a new window, while data is outstanding, is a duplicate.
#[test]
fn acks_that_keep_the_window_closed_are_no_duplicates() {
    let mut script = ten_in_flight(without_sack());
    script.peer_window = 0;
    (0..5).for_each(|_| script.ack(1));
    assert_eq!(script.info().counters.fast_retransmits, 0);
    script.peer_window = 65_535;
    (0..4).for_each(|_| script.ack(1));
    assert_eq!(script.info().counters.fast_retransmits, 1, "the first of these opens it");
}

/// A probe repeated the last of three segments, all of which have arrived. The peer does not report duplicates.
fn probed() -> Script {
    let mut cfg = quick();
    cfg.recovery.probe = Some(TlpConfig::default());
    let mut script = Script::connecting(cfg);
    script.pass(RTT);
    script.finish_handshake(peer_options());
    script.write(u64::from(3 * MSS));
    script.pass(RTT * 2);
    assert_eq!(script.data().len(), 4);
    script.ack(at(3));
    script
}

//= specs/rfc8985.md#acknowledgement-of-a-probe
//= type=test
//# A duplicate ACK without SACK that covers the probe ends it without a reduction.
//= specs/rfc8985.md#acknowledgement-of-a-probe
//= type=test
//# An ACK beyond a repeated segment's probe is answered by one reduction of the window, as a fast recovery is.
#[test_case(|script| script.ack(at(3)), 0; "the same ACK again answers the probe")]
#[test_case(|_| (), 1; "nothing does not")]
#[test_case(with_a_narrower_window, 1; "nor does an update of the window")]
#[test_case(with_data, 1; "nor does data")]
fn a_probe_of_what_had_arrived_is_answered_by_a_repeated_ack(answer: fn(&mut Script), reductions: u32) {
    let mut script = probed();
    let before = script.info().cwnd;
    answer(&mut script);
    script.write(u64::from(2 * MSS));
    script.ack(at(5));
    assert_eq!(u32::from(script.info().cwnd < before), reductions);
}

fn with_a_narrower_window(script: &mut Script) {
    script.peer_window -= 1000;
    script.ack(at(3));
}

fn with_data(script: &mut Script) {
    let data = script.segment(Flags::NONE, 1, Some(at(3)));
    script.deliver(data, 100);
    script.peer_seq += 100;
}

/// The events of one ACK, by name.
fn names(events: &[Event]) -> Vec<&'static str> {
    events.iter().map(Event::name).collect()
}

#[test]
fn an_ack_is_reported_with_what_its_blocks_and_its_round_trip_said() {
    let mut script = ten_in_flight(peer_options());
    script.pass(RTT);
    let events = script.watch(|script| script.sack(at(2), &[(at(5), at(6))]));
    assert!(names(&events).contains(&"BlockReceived"), "{events:?}");
    let processed = events.iter().find_map(|event| match event {
        Event::AckProcessed { ack, acked, sacked, rtt, .. } => {
            Some((ack.distance_from(script.iss), *acked, *sacked, *rtt))
        }
        _ => None,
    });
    assert_eq!(processed, Some((at(2), 2 * MSS, MSS, Some(RTT))));
    let events = script.watch(|script| script.sack(at(2), &[(at(1), at(2)), (at(5), at(6))]));
    let blocks = events.iter().find_map(|event| match event {
        Event::SackReceived { blocks, dsacks, .. } => Some((*blocks, *dsacks)),
        _ => None,
    });
    assert_eq!(blocks, Some((2, 1)));
    assert!(names(&events).contains(&"ReorderingWindow"), "a duplicate was reported");
}

#[test]
fn the_reordering_window_is_reported_when_it_changes() {
    let mut script = ten_in_flight(peer_options());
    script.pass(RTT);
    script.ack(at(1));
    let quiet = script.watch(|script| script.ack(at(2)));
    assert!(!names(&quiet).contains(&"ReorderingWindow"), "{quiet:?}");
    script.sack(at(2), &[(at(5), at(6))]);
    let seen = script.watch(|script| script.sack(at(3), &[(at(5), at(6))]));
    assert!(names(&seen).contains(&"ReorderingWindow"), "the path reorders: {seen:?}");
}

#[test]
fn the_end_of_slow_start_is_reported() {
    let mut script = ten_in_flight(peer_options());
    script.pass(RTT);
    let events = script.watch(|script| script.sack(1, &[(at(1), at(5))]));
    assert!(names(&events).contains(&"SlowStartExited"), "{events:?}");
}

/// Ten segments in flight that fill the window, and more written.
fn with_limited_transmit(limited_transmit: LimitedTransmit) -> Script {
    let mut cfg = quick();
    cfg.recovery.limited_transmit = limited_transmit;
    let mut script = Script::connecting(cfg);
    script.pass(RTT);
    script.finish_handshake(peer_options());
    script.write(u64::from(20 * MSS));
    assert_eq!(script.data().len(), 10);
    script
}

#[test_case(LimitedTransmit::On, 1; "a new segment")]
#[test_case(LimitedTransmit::Off, 0; "nothing where only cumulative acknowledgements do")]
fn a_segment_that_was_reported_before_recovery_lets_out(limited_transmit: LimitedTransmit, segments: usize) {
    let mut script = with_limited_transmit(limited_transmit);
    script.sack(1, &[(at(1), at(2))]);
    assert_eq!(script.data().len(), segments);
}

#[test]
fn without_limited_transmit_a_timeout_is_repaired_as_fast() {
    for limited_transmit in [LimitedTransmit::On, LimitedTransmit::Off] {
        let mut script = with_limited_transmit(limited_transmit);
        script.pass(script.info().rto);
        assert_eq!(script.data(), [(at(0), MSS)]);
        script.ack(at(1));
        assert_eq!(script.data(), [(at(1), MSS), (at(2), MSS)], "{limited_transmit:?}");
    }
}

fn by_count(probe: Option<TlpConfig>) -> Script {
    let mut cfg = quick();
    cfg.recovery.detector = DetectorConfig::DupThresh(DupThreshConfig { dup_thresh: 3 });
    cfg.recovery.probe = probe;
    let mut script = Script::connecting(cfg);
    script.pass(RTT);
    script.finish_handshake(peer_options());
    script.write(u64::from(5 * MSS));
    assert_eq!(script.data().len(), 5);
    script.pass(RTT);
    script
}

//= specs/rfc8985.md#scheduling-a-probe
//= type=test
//# The probe timer does not run inside recovery or while a segment is SACKed.
#[test]
fn a_flight_of_which_something_was_reported_waits_for_its_timeout() {
    let mut script = by_count(Some(TlpConfig::default()));
    script.sack(1, &[(at(3), at(4))]);
    script.pass(RTT * 5);
    assert_eq!((script.data(), script.info().counters.probes), (vec![], 0));
}

//= specs/rfc6298.md#managing-the-timer
//= type=test
//# No segment is retransmitted by the timer earlier than one RTO after it was last sent.
#[test]
fn a_fast_retransmission_has_a_timeout_of_its_own() {
    let mut script = by_count(None);
    script.pass(RTT);
    script.sack(1, &[(at(1), at(5))]);
    assert_eq!(script.data(), [(at(0), MSS)]);
    let rto = script.info().rto;
    script.pass(rto.saturating_sub(Duration::from_millis(1)));
    assert_eq!((script.data(), script.info().counters.timeouts), (vec![], 0));
    script.pass(Duration::from_millis(1));
    assert_eq!((script.data(), script.info().counters.timeouts), (vec![(at(0), MSS)], 1));
}

#[test_case(2, 0; "by three segments is what loss detectors by count allow for")]
#[test_case(3, 1; "by four is more")]
fn a_selective_acknowledgement_opens_the_window_of_a_path_that_reorders(overtaken_by: u32, segments: u32) {
    let mut cfg = quick();
    cfg.cc.growth = cc::GrowthCount::Delivered;
    let mut script = Script::connecting(cfg);
    script.pass(RTT);
    script.finish_handshake(peer_options());
    script.write(u64::from(20 * MSS));
    script.pass(RTT);
    let early = (at(overtaken_by), at(overtaken_by + 1));
    script.sack(1, &[early]);
    script.sack(at(1), &[early]);
    let before = script.info().cwnd;
    script.sack(at(1), &[(at(8), at(9)), early]);
    assert_eq!(script.info().cwnd, before + segments * MSS);
}

#[test_case(3, true; "an application that has nothing more")]
#[test_case(60, false; "a full window")]
fn a_delivery_rate_says_whether_it_was_limited_by(segments: u32, app_limited: bool) {
    let mut script = Script::connecting(quick());
    script.pass(RTT);
    script.finish_handshake(peer_options());
    script.write(u64::from(segments * MSS));
    script.pass(RTT);
    let first = segments.min(10);
    script.ack(at(first));
    script.write(u64::from(segments * MSS));
    script.pass(RTT);
    let events = script.watch(|script| script.ack(at(first + 3)));
    let limited = events.iter().find_map(|event| match event {
        Event::RateSampled { app_limited, .. } => Some(*app_limited),
        _ => None,
    });
    assert_eq!(limited, Some(app_limited), "{events:?}");
}
