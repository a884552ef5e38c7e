//! Loss recovery as a peer sees it.

use crate::testing::{MSS, Script, quick};
use ::recovery::{BlockCheck, BlockCheckVariant, DetectorConfig, RackConfig, RecoveryConfig, RttOf};
use base::Duration;
use test_case::test_case;

const RTT: Duration = Duration::from_millis(100);

/// Ten segments in flight, sent one RTT after the handshake.
fn ten_in_flight(detector: DetectorConfig) -> Script {
    let mut cfg = quick();
    cfg.recovery = RecoveryConfig { detector, ..RecoveryConfig::default() };
    let mut script = Script::connecting(cfg);
    script.pass(RTT);
    script.finish_handshake(crate::testing::peer_options());
    script.write(1_000_000);
    assert_eq!(script.data().len(), 10);
    script.pass(RTT);
    script
}

fn at(n: u32) -> u32 {
    1 + n * MSS
}

//= specs/rfc6675.md#scoreboard
//= type=test
//# An ACK's SACK blocks update the scoreboard before anything else is decided.
//= specs/rfc6675.md#recovery
//= type=test
//# Recovery lasts until everything outstanding at its beginning is cumulatively acknowledged.
#[test_case(DetectorConfig::DupThresh(Default::default()); "dup_thresh")]
#[test_case(DetectorConfig::Rack(Default::default()); "rack")]
#[test_case(DetectorConfig::RackRing(Default::default()); "rack_ring")] // variant: rack_ring
fn a_lost_segment_is_sent_again_after_three_segments_behind_it_arrived(detector: DetectorConfig) {
    let mut script = ten_in_flight(detector);
    script.sack(at(0), &[(at(1), at(2))]);
    script.sack(at(0), &[(at(1), at(3))]);
    assert!(!script.data().contains(&(at(0), MSS)), "two are not enough");
    script.sack(at(0), &[(at(1), at(4))]);
    assert!(script.data().contains(&(at(0), MSS)));
    let info = script.info();
    assert_eq!((info.episode.name(), info.counters.fast_retransmits, info.counters.timeouts), ("recovery", 1, 0));
    script.ack(at(11));
    assert_eq!(script.info().counters.episodes_without_timeout, 0, "the recovery point is not reached");
    script.ack(at(12));
    assert_eq!(script.info().episode.name(), "open");
    assert_eq!(script.info().counters.episodes_without_timeout, 1);
}

//= specs/rfc8985.md#loss-detection
//= type=test
//# A retransmission is given up for lost by the same rule as an original.
//= specs/rfc6675.md#next-segment
//= type=test
//# When no lost hole is left, new data is sent, if the peer's window takes it.
//= specs/rfc6675.md#timeout
//= type=test
//# A retransmission that is lost is repaired by a timeout.
#[test]
fn rack_recovers_a_lost_retransmission_without_a_timeout_and_dup_thresh_cannot() {
    for (detector, again, timeouts) in [
        (DetectorConfig::Rack(Default::default()), true, 0),
        (DetectorConfig::RackRing(Default::default()), false, 1), // variant: rack_ring
        (DetectorConfig::DupThresh(Default::default()), false, 1),
    ] {
        let mut script = ten_in_flight(detector);
        script.sack(at(0), &[(at(1), at(4))]);
        script.out.clear();
        // The retransmission is lost; everything sent after it arrives one RTT later.
        script.pass(Duration::from_millis(1));
        script.sack(at(0), &[(at(1), at(10))]);
        let sent_later = script.data();
        assert!(!sent_later.is_empty(), "new data is sent during recovery");
        script.pass(RTT);
        let end = sent_later.iter().map(|(seq, len)| seq + len).max().expect("some");
        script.sack(at(0), &[(at(1), end)]);
        assert_eq!(script.data().contains(&(at(0), MSS)), again);
        if again {
            script.pass(RTT);
            script.ack(end);
        } else {
            script.pass(Duration::from_secs(2));
        }
        assert_eq!(script.info().counters.timeouts.min(1), timeouts, "{:?}", script.info().counters);
    }
}

//= specs/rfc9293.md#retransmission
//= type=test
//# Congestion control follows RFC 5681.
//= specs/rfc6298.md#managing-the-timer
//= type=test
//# When the timer expires, the earliest unacknowledged segment is sent again.
//= specs/rfc5681.md#response-to-a-timeout
//= type=test
//# After a timeout the window is one segment.
#[test]
fn a_timeout_sends_the_first_segment_and_slow_starts_over_the_rest() {
    let mut script = ten_in_flight(DetectorConfig::Rack(Default::default()));
    script.pass(Duration::from_secs(2));
    let sent = script.data();
    assert!(!sent.is_empty() && sent.iter().all(|&s| s == (at(0), MSS)), "{sent:?}");
    let info = script.info();
    assert_eq!((info.episode.name(), info.cwnd), ("loss", MSS));
    assert_eq!(info.counters.episodes, 1);
    script.ack(at(1));
    assert_eq!(script.data().len(), 2, "one acknowledged opens the window to two");
}

//= specs/rfc9293.md#retransmission
//= type=test
//# The timeout is that of RFC 6298, with its back-off and without samples of retransmissions.
//= specs/rfc6298.md#managing-the-timer
//= type=test
//# No segment is retransmitted by the timer earlier than one RTO after it was last sent.
//= specs/rfc6298.md#managing-the-timer
//= type=test
//# After an expiry the timer is started again, with the doubled RTO.
//= specs/rfc5681.md#response-to-a-timeout
//= type=test
//# A repeated timeout of the same segment leaves `ssthresh` as it is.
#[test]
fn a_second_timeout_doubles_the_interval_and_leaves_ssthresh_alone() {
    let mut script = ten_in_flight(DetectorConfig::Rack(Default::default()));
    while script.info().counters.timeouts == 0 {
        script.pass(Duration::from_millis(1));
    }
    let (ssthresh, first) = (script.info().ssthresh, script.info().rto);
    let start = script.now;
    while script.info().counters.timeouts == 1 {
        script.pass(Duration::from_millis(1));
    }
    assert!(script.now.since(start) + Duration::from_millis(2) >= first);
    assert_eq!(script.info().ssthresh, ssthresh);
    assert_eq!(script.info().rto, first * 2);
}

//= specs/rfc8985.md#prerequisites
//= type=test
//# RACK is used only on a connection that negotiated SACK.
//= specs/rfc5681.md#fast-retransmit-and-fast-recovery
//= type=test
//# The third duplicate ACK brings the first unacknowledged segment back.
#[test]
fn without_sack_three_duplicate_acks_bring_the_first_segment_back() {
    let options = wire::Options { mss: Some(MSS as u16), ..Default::default() };
    let mut script = Script::connecting(quick());
    script.pass(RTT);
    script.finish_handshake(options);
    script.write(1_000_000);
    script.pass(RTT);
    script.out.clear();
    script.ack(at(0));
    script.ack(at(0));
    assert!(!script.data().contains(&(at(0), MSS)));
    script.ack(at(0));
    assert!(script.data().contains(&(at(0), MSS)));
    // A partial ACK points to the next hole (RFC 6582).
    script.ack(at(2));
    assert!(script.data().contains(&(at(2), MSS)));
}

//= specs/rfc5681.md#fast-retransmit-and-fast-recovery
//= type=test
//# Only an ACK without data, SYN, FIN or a new window, while data is outstanding, is a duplicate.
#[test]
fn a_window_update_is_not_a_duplicate_ack() {
    let options = wire::Options { mss: Some(MSS as u16), ..Default::default() };
    let mut script = Script::established_with(quick(), options);
    script.write(100_000);
    script.out.clear();
    for window in [60_000, 61_000, 62_000, 63_000] {
        script.peer_window = window;
        script.ack(at(0));
    }
    assert_eq!(script.info().episode.name(), "open");
}

//= specs/rfc2883.md#sender
//= type=test
//# A duplicate report marks nothing on the scoreboard.
#[test]
fn dsack_is_counted_and_changes_no_mark() {
    let mut script = ten_in_flight(DetectorConfig::Rack(Default::default()));
    script.ack(at(4));
    let pipe = script.info().pipe;
    script.out.clear();
    script.sack(at(4), &[(at(2), at(3))]);
    assert_eq!(script.info().counters.dsacks_received, 1);
    assert_eq!(script.info().pipe, pipe + script.data().iter().map(|d| d.1).sum::<u32>());
}

#[test]
fn acks_with_sack_blocks_are_counted_and_so_are_those_that_say_nothing_new() {
    let mut script = ten_in_flight(DetectorConfig::Rack(Default::default()));
    let counted = |script: &Script| {
        let counters = script.info().counters;
        (counters.sacks_received, counters.stale_sacks)
    };
    script.ack(at(1));
    assert_eq!(counted(&script), (0, 0), "without a block");
    script.sack(at(1), &[(at(2), at(3))]);
    script.sack(at(1), &[(at(4), at(5)), (at(2), at(3))]);
    assert_eq!(counted(&script), (2, 0), "each selectively acknowledges something");
    script.sack(at(1), &[(at(4), at(5)), (at(2), at(3))]);
    script.sack(at(1), &[(at(4), at(5)), (at(2), at(3))]);
    assert_eq!(counted(&script), (4, 2), "the same again");
    script.sack(at(3), &[(at(4), at(5))]);
    assert_eq!(counted(&script), (5, 2), "a known block beside a cumulative advance");
    script.sack(at(3), &[(at(2), at(3)), (at(4), at(5))]);
    assert_eq!(counted(&script), (6, 2), "a duplicate");
    script.ack(at(3));
    assert_eq!(counted(&script), (6, 2), "without a block, and without news");
    script.sack(at(3), &[(at(50), at(51))]);
    assert_eq!(counted(&script), (7, 3), "a block of what was never sent");
}

#[test_case(BlockCheck::Rfc2883, 1; "as the RFC says")]
#[test_case(BlockCheck::Variant(BlockCheckVariant::DsackCheckRejected), 0; "dsack_check_rejected")] // variant: dsack_check_rejected
#[test_case(BlockCheck::Variant(BlockCheckVariant::DsackCheckStrictRight), 0; "dsack_check_strict_right")] // variant: dsack_check_strict_right
fn a_duplicate_that_ends_at_the_ack_counts_if_the_check_recognises_it(blocks: BlockCheck, counted: u32) {
    let mut cfg = quick();
    cfg.recovery.blocks = blocks;
    let mut script = Script::established(cfg);
    script.write(10_000);
    script.ack(at(4));
    script.sack(at(4), &[(at(3), at(4))]);
    assert_eq!(script.info().counters.dsacks_received, counted);
}

/// Ten segments leave; the eighth takes a path that is 70 ms shorter, and its ACK arrives long before any other.
#[test_case(RttOf::Newest => (Some(30), 1); "it makes the path look faster and the others lost")]
#[test_case(RttOf::NewestInTurn => (Some(100), 0); "it tells nothing of the path")]
fn a_segment_on_a_short_cut_says_little_about_the_others(rtt_of: RttOf) -> (Option<u64>, u32) {
    let mut cfg = quick();
    cfg.recovery.detector = DetectorConfig::Rack(RackConfig { rtt_of, ..RackConfig::default() });
    let mut script = Script::connecting(cfg);
    script.pass(RTT);
    script.finish_handshake(crate::testing::peer_options());
    script.write(1_000_000);
    assert_eq!(script.data().len(), 10);
    script.pass(Duration::from_millis(30));
    script.sack(at(0), &[(at(7), at(8))]);
    script.pass(Duration::from_millis(70));
    for n in 1..=7 {
        script.sack(at(n), &[(at(7), at(8))]);
    }
    script.ack(at(10));
    let info = script.info();
    (info.min_rtt.map(Duration::as_millis), info.counters.fast_retransmits)
}

/// A segment is 20 ms late on a path of 10 ms: its copy was acknowledged long before a duplicate is reported.
#[test_case(0 => 0; "not measured, and the next late one is sent again at once")]
#[test_case(8 => 25; "measured, and the next late one is waited for")]
#[test_case(1 => 0; "later than the measure goes")]
fn what_arrives_after_it_was_given_up_tells_how_long_to_wait(lateness_max_srtts: u8) -> u64 {
    let mut cfg = quick();
    cfg.recovery.detector = DetectorConfig::Rack(RackConfig { lateness_max_srtts, ..RackConfig::default() });
    let mut script = Script::connecting(cfg);
    script.pass(Duration::from_millis(10));
    script.finish_handshake(crate::testing::peer_options());
    script.write(1_000_000);
    assert_eq!(script.data().len(), 10);
    script.pass(Duration::from_millis(10));
    script.sack(at(0), &[(at(1), at(10))]);
    let sent = script.data();
    assert!(sent.contains(&(at(0), MSS)));
    script.pass(Duration::from_millis(10));
    let end = sent.iter().map(|(seq, len)| seq + len).max().expect("something was sent");
    script.ack(end);
    assert_eq!(script.info().episode.name(), "open");
    script.pass(Duration::from_millis(10));
    script.sack(end, &[(at(0), at(1))]);
    assert!(script.data().len() >= 5);
    script.sack(end, &[(end + MSS, end + 5 * MSS)]);
    let mut waited = 0;
    while !script.data().contains(&(end, MSS)) {
        script.pass(Duration::from_millis(1));
        waited += 1;
    }
    waited
}
