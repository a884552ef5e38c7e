//! Requirements of the RFCs (`specs/`) that no other test covers.

use crate::config::{AckConfig, Config, ReceiveWindowConfig, TimestampConfig};
use crate::event::DropReason;
use crate::testing::{MSS, Out, PEER_ISS, Script, peer_options, quick};
use ::recovery::{DetectorConfig, RecoveryConfig, ReductionConfig};
use base::Duration;
use cc::AvoidanceConfig;
use test_case::test_case;
use wire::{Flags, Options, SackBlocks, Timestamps};

const RTT: Duration = Duration::from_millis(100);

/// The sequence number of our `n`th full segment.
fn at(n: u32) -> u32 {
    1 + n * MSS
}

fn no_sack() -> Options {
    Options { mss: Some(MSS as u16), ..Options::default() }
}

fn stamped(tsval: u32, tsecr: u32) -> Option<Timestamps> {
    Some(Timestamps { tsval, tsecr })
}

fn with_timestamps() -> Config {
    let mut cfg = quick();
    cfg.options.timestamps = TimestampConfig::Offer;
    cfg.ack =
        AckConfig { delay: Duration::from_millis(40), every_segments: 1, quick_segments: 0, ..AckConfig::default() };
    cfg
}

/// A connection with timestamps; the peer's SYN-ACK carried 1000.
fn stamped_script() -> Script {
    let mut script =
        Script::established_with(with_timestamps(), Options { timestamps: stamped(1000, 0), ..peer_options() });
    script.out.clear();
    script
}

/// Delivers `len` bytes of the peer's stream with a timestamp.
fn data(script: &mut Script, seq: u32, len: u32, timestamps: Option<Timestamps>) -> Vec<Out> {
    let mut repr = script.segment(Flags::NONE, seq, Some(1));
    repr.options.timestamps = timestamps;
    script.deliver(repr, len);
    script.sent()
}

/// Ten segments in flight since one RTT, from a sender that halves its window.
fn ten_in_flight(options: Options, detector: DetectorConfig) -> Script {
    let mut cfg = quick();
    cfg.cc.avoidance = AvoidanceConfig::Reno(Default::default());
    cfg.recovery = RecoveryConfig { detector, reduction: ReductionConfig::Pipe, ..RecoveryConfig::default() };
    let mut script = Script::connecting(cfg);
    script.pass(RTT);
    script.finish_handshake(options);
    script.write(1_000_000);
    assert_eq!(script.data().len(), 10);
    script.pass(RTT);
    script
}

fn by_time() -> DetectorConfig {
    DetectorConfig::Rack(Default::default())
}

fn by_count() -> DetectorConfig {
    DetectorConfig::DupThresh(Default::default())
}

//= specs/rfc5681.md#initial-window
//= type=test
//# Neither the SYN-ACK nor its acknowledgement opens the window.
#[test]
fn neither_syn_nor_syn_ack_opens_the_window() {
    assert_eq!(Script::established(quick()).info().cwnd, 10 * MSS);
    assert_eq!(Script::accepted(quick()).info().cwnd, 10 * MSS);
}

//= specs/rfc5681.md#initial-window
//= type=test
//# After more than one lost SYN the initial window is one segment.
#[test_case(1, 10 * MSS; "after one")]
#[test_case(2, MSS; "after two")]
fn lost_syns_leave_an_initial_window_of(lost: u32, cwnd: u32) {
    let mut script = Script::connecting(quick());
    let mut syns = 1;
    while syns <= lost {
        script.out.clear();
        script.pass(Duration::from_millis(100));
        syns += script.out.len() as u32;
    }
    script.finish_handshake(peer_options());
    assert_eq!(script.info().cwnd, cwnd);
}

//= specs/rfc5681.md#fast-retransmit-and-fast-recovery
//= type=test
//# Fast retransmit sets `ssthresh` to half the FlightSize, but to no less than two segments.
//= specs/rfc6675.md#recovery
//= type=test
//# Recovery lasts until everything outstanding at its beginning is cumulatively acknowledged.
//= specs/rfc6675.md#recovery
//= type=test
//# When recovery begins, the window and `ssthresh` become half the FlightSize.
//= specs/rfc6675.md#recovery
//= type=test
//# The first retransmission of recovery leaves whatever is in flight.
#[test_case(by_time(); "rack")]
#[test_case(by_count(); "dup_thresh")]
fn a_loss_halves_window_and_threshold_and_the_first_retransmission_leaves_anyway(detector: DetectorConfig) {
    let mut script = ten_in_flight(peer_options(), detector);
    script.sack(at(0), &[(at(1), at(4))]);
    let info = script.info();
    assert_eq!((info.cwnd, info.ssthresh), (5 * MSS, 5 * MSS));
    assert_eq!(script.data(), [(at(0), MSS)], "six others are in flight, more than the window");
    script.ack(at(9));
    assert_eq!(script.info().episode.name(), "recovery", "one of what was outstanding is missing");
    script.ack(at(10));
    assert_eq!(script.info().episode.name(), "open");
}

//= specs/rfc8985.md#other-algorithms
//= type=test
//# A segment marked lost is not retransmitted before congestion control lets it.
#[test]
fn what_is_marked_lost_waits_until_the_window_has_room() {
    let mut script = ten_in_flight(peer_options(), by_time());
    // 0, 2 and 4 are lost; 6 to 9 are in flight, one less than half of ten.
    script.sack(at(0), &[(at(5), at(6)), (at(3), at(4)), (at(1), at(2))]);
    assert_eq!(script.data(), [(at(0), MSS)]);
    for (end, next) in [(at(7), at(2)), (at(8), at(4))] {
        script.sack(at(0), &[(at(5), end), (at(3), at(4)), (at(1), at(2))]);
        assert_eq!(script.data(), [(next, MSS)], "each segment that arrives admits one");
        assert_eq!((script.info().pipe, script.info().cwnd), (5 * MSS, 5 * MSS));
    }
}

//= specs/rfc8985.md#other-algorithms
//= type=test
//# Without proportional rate reduction, a lost retransmission brings another reduction of the window.
//= specs/rfc5681.md#fast-retransmit-and-fast-recovery
//= type=test
//# The loss of a retransmission is a second sign of congestion, and reduces the window again.
#[test]
fn a_lost_retransmission_reduces_the_window_once_more() {
    let mut script = ten_in_flight(peer_options(), by_time());
    script.sack(at(0), &[(at(1), at(4))]);
    script.pass(Duration::from_millis(1));
    script.sack(at(0), &[(at(1), at(10))]);
    let sent_after_it = script.data();
    assert!(sent_after_it.len() >= 2, "new data leaves behind the retransmission");
    assert_eq!(script.info().ssthresh, 5 * MSS);
    script.pass(RTT);
    script.sack(at(0), &[(at(1), at(12))]);
    let info = script.info();
    assert_eq!((info.counters.lost_retransmissions, info.counters.timeouts), (1, 0));
    assert!(info.ssthresh < 5 * MSS && info.cwnd == info.ssthresh, "{info:?}");
    // The controller does not react twice to the same losses.
    script.sack(at(0), &[(at(1), at(13))]);
    assert_eq!(script.info().ssthresh, info.ssthresh);
}

//= specs/rfc5681.md#fast-retransmit-and-fast-recovery
//= type=test
//# The first two duplicate ACKs each let one new segment leave.
//= specs/rfc6675.md#recovery
//= type=test
//# Before recovery, a duplicate ACK lets new data leave if the window has room for a segment.
#[test]
fn before_recovery_a_duplicate_ack_lets_a_new_segment_leave() {
    let mut script = ten_in_flight(peer_options(), by_count());
    script.sack(at(0), &[(at(1), at(2))]);
    script.sack(at(0), &[(at(1), at(3))]);
    assert_eq!(script.data(), [(at(10), MSS), (at(11), MSS)]);
    assert_eq!(script.info().cwnd, 10 * MSS);
    let mut script = ten_in_flight(no_sack(), by_count());
    script.ack(at(0));
    script.ack(at(0));
    assert_eq!(script.data(), [(at(10), MSS), (at(11), MSS)], "without SACK as well");
}

//= specs/rfc6298.md#managing-the-timer
//= type=test
//# No segment is retransmitted by the timer earlier than one RTO after it was last sent.
//= specs/rfc6298.md#managing-the-timer
//= type=test
//# A transmission of data starts the timer if it does not run.
//= specs/rfc6298.md#managing-the-timer
//= type=test
//# The timer is stopped when all outstanding data is acknowledged.
//= specs/rfc6298.md#managing-the-timer
//= type=test
//# An ACK of new data starts the timer anew.
#[test]
fn the_timer_starts_with_the_first_segment_and_anew_with_each_ack_of_new_data() {
    let mut script = Script::connecting(quick());
    script.pass(Duration::from_millis(10));
    script.finish_handshake(peer_options());
    script.write(u64::from(MSS));
    let rto = script.info().rto;
    script.pass(rto.saturating_sub(Duration::from_millis(1)));
    script.write(u64::from(MSS));
    script.out.clear();
    script.ack(at(1));
    script.pass(rto.saturating_sub(Duration::from_millis(1)));
    assert_eq!(script.info().counters.timeouts, 0, "the ACK started it anew");
    script.pass(Duration::from_millis(1));
    assert_eq!((script.info().counters.timeouts, script.data()), (1, vec![(at(1), MSS)]));
    script.ack(at(2));
    script.pass(Duration::from_secs(100));
    assert_eq!(script.info().counters.timeouts, 1, "nothing is outstanding, nothing runs");
    script.write(u64::from(MSS));
    script.pass(rto.saturating_sub(Duration::from_millis(1)));
    assert_eq!(script.info().counters.timeouts, 1, "later data does not inherit an old deadline");
}

//= specs/rfc9406.md#rounds
//= type=test
//# At least one RTT sample is taken in each round.
//= specs/rfc6298.md#taking-samples
//= type=test
//# At least one RTT sample is taken in each round trip that allows it.
#[test]
fn each_round_trip_gives_a_sample() {
    let mut script = Script::established(quick());
    for (n, ms) in [(1, 100), (2, 180), (3, 60)] {
        script.write(u64::from(MSS));
        let before = script.info().srtt;
        script.pass(Duration::from_millis(ms));
        script.ack(at(n));
        assert_ne!(script.info().srtt, before, "after {ms} ms");
    }
}

//= specs/rfc9406.md#rounds
//= type=test
//# At least eight RTT samples are taken in each round that has as many ACKs.
#[test]
fn each_ack_of_a_round_gives_a_sample() {
    let mut script = Script::established(quick());
    script.write(u64::from(10 * MSS));
    script.pass(Duration::from_millis(100));
    for n in 1..=10 {
        // Every segment arrives later than the one before, so every sample moves the average.
        script.pass(Duration::from_millis(10));
        let before = script.info().srtt;
        script.ack(at(n));
        assert!(script.info().srtt > before, "the ACK of segment {n}");
    }
}

//= specs/rfc6298.md#taking-samples
//= type=test
//# A segment that was retransmitted gives no RTT sample, unless a timestamp tells which copy was acknowledged.
//= specs/rfc7323.md#round-trips
//= type=test
//# An echoed timestamp gives an RTT sample only in an ACK that advances SND.UNA.
#[test]
fn only_an_echo_in_an_ack_that_advances_measures_a_retransmission() {
    let mut script = stamped_script();
    script.write(2 * 1448);
    script.pass(Duration::from_secs(2));
    let copies: Vec<Out> = script.sent().into_iter().filter(|out| out.len > 0).collect();
    let tsval_of = |out: &Out| out.options.timestamps.map_or(0, |ts| ts.tsval);
    let (original, copy) = (tsval_of(&copies[0]), tsval_of(copies.last().expect("retransmitted")));
    assert_ne!(original, copy);
    let echo = |script: &mut Script, ack: u32, tsecr: u32, block: Option<(u32, u32)>| {
        let mut repr = script.segment(Flags::NONE, 1, Some(ack));
        repr.options.timestamps = stamped(1001, tsecr);
        if let Some((start, end)) = block {
            repr.options.sack.push(base::SeqRange::new(script.iss + start, script.iss + end));
        }
        script.deliver(repr, 0);
        script.info().srtt
    };
    let before = script.info().srtt;
    assert_eq!(echo(&mut script, 1, copy, None), before, "a duplicate ACK");
    script.pass(Duration::from_millis(50));
    assert_ne!(echo(&mut script, 1449, copy, None), before);
}

//= specs/rfc2018.md#sender
//= type=test
//# Data stays in the send buffer until it is cumulatively acknowledged.
//= specs/rfc2018.md#sender
//= type=test
//# A timeout that finds the first segment SACKed takes all SACK marks back.
//= specs/rfc2018.md#sender
//= type=test
//# A timeout retransmits the first outstanding segment even if it was SACKed.
#[test]
fn what_the_receiver_takes_back_is_still_there_and_is_sent_again() {
    let mut script = ten_in_flight(peer_options(), by_count());
    script.sack(at(0), &[(at(1), at(10))]);
    script.ack(at(1));
    assert_eq!(script.info().episode.name(), "recovery");
    script.out.clear();
    // Nothing more arrives: the receiver discarded SACKed data, although the ACK stops right before it.
    script.pass(Duration::from_secs(3));
    assert_eq!(script.data().first(), Some(&(at(1), MSS)));
    for n in 2..10 {
        script.ack(at(n));
        script.pass(Duration::from_millis(10));
    }
    assert!(script.data().contains(&(at(9), MSS)));
}

//= specs/rfc2018.md#negotiation
//= type=test
//# Without SACK-permitted in the peer's SYN, no SACK option is sent.
#[test]
fn without_sack_permitted_no_blocks_are_sent() {
    let mut script = Script::established_with(quick(), no_sack());
    let acks = data(&mut script, 1001, 100, None);
    assert_eq!((acks.len(), acks[0].ack, acks[0].options.sack), (1, Some(1), SackBlocks::NONE));
}

//= specs/rfc9293.md#segment-size
//= type=test
//# The option stands in SYNs only.
//= specs/rfc2018.md#negotiation
//= type=test
//# The SACK-permitted option is sent in SYNs only.
#[test]
fn only_syns_permit_sack_announce_a_size_or_scale() {
    let mut script = Script::connecting(with_timestamps());
    assert!(script.sent()[0].options.sack_permitted);
    script.finish_handshake(peer_options());
    script.write(10_000);
    script.ack(at(3));
    data(&mut script, 1, 100, None);
    script.shutdown();
    for out in script.sent() {
        let Options { mss, window_scale, sack_permitted, .. } = out.options;
        assert_eq!((mss, window_scale, sack_permitted), (None, None, false), "{out:?}");
    }
}

//= specs/rfc9293.md#acknowledgements
//= type=test
//# One ACK answers all that was taken before it leaves.
//= specs/rfc5681.md#acknowledging
//= type=test
//# An arriving segment causes no more than one ACK.
#[test]
fn one_segment_never_causes_two_acks() {
    let mut script = Script::established(quick());
    let story = [(1001, 100), (1001, 100), (1, 500), (1, 500), (501, 500), (40_000, 100), (1, 2000)];
    let acks = story.map(|(seq, len)| data(&mut script, seq, len, None).len());
    assert!(acks.iter().all(|&acks| acks <= 1), "{acks:?}");
}

//= specs/rfc7323.md#timestamps
//= type=test
//# Once timestamps are in use, every segment but a reset carries them.
#[test]
fn every_segment_but_a_reset_carries_timestamps() {
    let mut script = stamped_script();
    script.write(3000);
    data(&mut script, 1, 100, stamped(1001, 0));
    script.out.clear();
    script.write(1000);
    script.pass(Duration::from_secs(5));
    script.shutdown();
    let acks = data(&mut script, 101, 100, stamped(1002, 0));
    let sent: Vec<Out> = script.sent().into_iter().chain(acks).collect();
    assert!(sent.len() >= 3 && sent.iter().all(|out| out.options.timestamps.is_some()), "{sent:?}");
}

//= specs/rfc7323.md#timestamps
//= type=test
//# A reset of a connection that uses timestamps carries them, too.
#[test]
fn a_reset_carries_timestamps_too() {
    let mut script = stamped_script();
    data(&mut script, 1, 100, stamped(1001, 0));
    script.abort();
    let sent = script.sent();
    assert_eq!(sent.iter().map(|out| out.flags).collect::<Vec<_>>(), [Flags::RST]);
    assert_eq!(sent[0].options.timestamps.map(|ts| ts.tsecr), Some(1001));
}

//= specs/rfc7323.md#timestamps
//= type=test
//# Once timestamps are in use, a segment without them is dropped, unless it is a reset.
#[test]
fn a_segment_that_lost_its_timestamps_is_dropped() {
    let mut script = stamped_script();
    let acks = data(&mut script, 1, 100, None);
    assert_eq!((acks.len(), script.info().counters.bytes_received), (0, 0));
    assert_eq!(script.info().counters.dropped[DropReason::OldTimestamp as usize], 1);
    assert_eq!(data(&mut script, 1, 100, stamped(1000, 0))[0].ack, Some(101));
}

//= specs/rfc9293.md#acceptance
//= type=test
//# A segment without a number in the receive window is dropped, and answered with an ACK unless it is a reset.
//= specs/rfc7323.md#protection-against-wrapped-sequence-numbers
//= type=test
//# The timestamp is judged before the sequence number.
#[test]
fn the_timestamp_is_judged_before_the_window() {
    let mut script = stamped_script();
    data(&mut script, 1 << 29, 0, stamped(999, 0));
    let dropped = script.info().counters.dropped;
    assert_eq!((dropped[DropReason::OldTimestamp as usize], dropped[DropReason::OutOfWindow as usize]), (1, 0));
}

//= specs/rfc2883.md#receiver
//= type=test
//# A duplicate that the timestamp check refuses is reported too.
#[test]
fn a_duplicate_that_is_too_old_is_reported() {
    let mut script = stamped_script();
    data(&mut script, 1, 100, stamped(1002, 0));
    let acks = data(&mut script, 1, 100, stamped(1001, 0));
    let block = acks[0].options.sack.as_slice()[0];
    assert_eq!((acks[0].ack, block.start, block.len()), (Some(101), PEER_ISS + 1, 100));
}

//= specs/rfc9293.md#windows
//= type=test
//# No new data leaves beyond the right edge of the peer's window.
//= specs/rfc7323.md#window-scale
//= type=test
//# No new data, other than a probe of a closed window, is sent beyond the window last received.
#[test]
fn no_new_data_leaves_beyond_the_peers_window() {
    let mut script = Script::established(quick());
    script.peer_window = 5000;
    script.ack(1);
    script.write(100_000);
    let end = |sent: &[(u32, u32)]| sent.iter().map(|(seq, len)| seq + len).max();
    assert_eq!(end(&script.data()), Some(at(3)), "three whole segments fit into 5000 bytes");
    script.peer_window = 100;
    script.ack(at(3));
    assert_eq!(end(&script.data()), None);
}

//= specs/rfc7323.md#window-scale
//= type=test
//# A segment inside a window that was ever offered is accepted, even when a later field shows a smaller one.
#[test]
fn what_a_window_once_admitted_is_taken_although_less_is_shown() {
    let mut cfg = quick();
    cfg.options.window_scale = crate::config::WindowScaleConfig::Shift(10);
    cfg.receive.window = ReceiveWindowConfig::Fixed { bytes: 64 << 10 };
    let mut script = Script::established_with(cfg, Options { window_scale: Some(0), ..peer_options() });
    // 63 units of 1024 bytes are advertised once 1000 bytes have arrived; the 64th was offered before.
    let shown = data(&mut script, 1, 1000, None)[0].window;
    let edge = 65_535;
    assert!(1001 + (u32::from(shown) << 10) < 1 + edge);
    let acks = data(&mut script, 1 + edge - 100, 100, None);
    assert_eq!(acks[0].options.sack.as_slice()[0].len(), 100);
}
