//! RFC 8985 by example: its edge cases, and worked vectors.

use super::*;
use crate::config::{DsackAdaptation, RttOf};
use crate::episode::Episode;
use crate::rate_sample::RateStamp;
use crate::scoreboard::{Delivered, Mark, SegmentId, Xmit};
use base::Instant;
use test_case::test_case;

const MSS: u32 = 1000;

fn us(us: u64) -> Duration {
    Duration::from_micros(us)
}
fn at(time_us: u64) -> Instant {
    Instant::ZERO + us(time_us)
}

/// A sender reduced to a board and the detector; times in microseconds, segments by number.
struct Sender {
    board: Scoreboard,
    rack: Rack,
    origin: SeqNum,
    una: u32,
    nxt: u32,
    min_rtt: Duration,
    srtt: Duration,
    episode: Episode,
    tsecr: Option<u32>,
    dsack: bool,
    exit: bool,
    /// What the latest ACK delivered.
    batch: Delivered,
}

impl Sender {
    fn new(min_rtt: Duration, srtt: Duration) -> Self {
        Self::starting_at(SeqNum(1), min_rtt, srtt)
    }
    fn starting_at(origin: SeqNum, min_rtt: Duration, srtt: Duration) -> Self {
        Self {
            board: Scoreboard::new(origin),
            rack: Rack::new(&RackConfig::default()),
            origin,
            una: 0,
            nxt: 0,
            min_rtt,
            srtt,
            episode: Episode::Open,
            tsecr: None,
            dsack: false,
            exit: false,
            batch: Delivered::default(),
        }
    }
    fn seq(&self, index: u32) -> SeqNum {
        self.origin + index * MSS
    }
    fn cx(&self, now: u64) -> DetectCx {
        DetectCx {
            now: at(now),
            smss: MSS,
            snd_una: self.seq(self.una),
            snd_nxt: self.seq(self.nxt),
            srtt: Some(self.srtt),
            min_rtt: Some(self.min_rtt),
            tsecr: self.tsecr,
            arrival: self.board.arrival_of_newest(&self.batch),
            episode: self.episode,
        }
    }
    fn send(&mut self, times: &[u64]) {
        for &now in times {
            let range = SeqRange::new(self.seq(self.nxt), self.seq(self.nxt + 1));
            self.board.on_sent(range, (now / 1000) as u32, RateStamp::default(), at(now));
            self.nxt += 1;
        }
    }
    fn resend(&mut self, index: u64, now: u64) {
        self.board.on_retransmitted(SegmentId(index), (now / 1000) as u32, RateStamp::default(), at(now));
    }
    fn ack(&mut self, now: u64, una: u32, sacked: &[u32]) -> Verdict {
        self.una = una;
        let blocks: Vec<SeqRange> = sacked.iter().map(|&i| SeqRange::new(self.seq(i), self.seq(i + 1))).collect();
        self.batch = Delivered::default();
        self.board.apply(self.seq(una), &blocks, &mut self.batch);
        let cx = self.cx(now);
        if core::mem::take(&mut self.dsack) {
            self.rack.on_dsack(SeqRange::default(), &cx);
        }
        self.rack.on_delivered(&self.batch.batch, &cx);
        if core::mem::take(&mut self.exit) {
            self.rack.on_recovery_exit();
        }
        self.rack.detect(&mut self.board, &cx)
    }
    fn timer(&mut self, now: u64) -> Verdict {
        let cx = self.cx(now);
        self.rack.detect(&mut self.board, &cx)
    }
    fn lost(&self) -> Vec<u64> {
        (0..u64::from(self.nxt))
            .filter(|&id| self.board.get(SegmentId(id)).is_some_and(|segment| segment.mark == Mark::Lost))
            .collect()
    }
    /// Delivers two segments in the wrong order, at the very beginning.
    fn see_reordering(&mut self, rtt: u64) {
        self.send(&[0, 0]);
        self.ack(rtt, 0, &[1]);
        self.ack(rtt, 2, &[]);
        assert!(self.rack.reordering().unwrap().seen);
    }
    fn window(&self) -> Duration {
        self.rack.reordering().unwrap().reo_wnd
    }
    fn mult(&self) -> u32 {
        self.rack.reordering().unwrap().multiplier
    }
}

fn wait(until: u64) -> Verdict {
    Verdict { newly_lost: 0, recheck_at: Some(at(until)) }
}
fn lose(segments: u32) -> Verdict {
    Verdict { newly_lost: segments * MSS, recheck_at: None }
}

fn first_of_four_lost(origin: SeqNum) -> Sender {
    let mut sender = Sender::starting_at(origin, us(40_000), us(50_000));
    sender.send(&[0, 1_000, 2_000, 3_000]);
    sender
}

//= specs/rfc8985.md#reordering-window
//= type=test
//# While no reordering was seen, the window is zero inside recovery and once three segments are SACKed.
#[test_case(SeqNum(1))]
#[test_case(SeqNum(u32::MAX - 1500); "across the wrap")]
fn the_third_sacked_segment_closes_the_window_while_no_reordering_was_seen(origin: SeqNum) {
    let mut sender = first_of_four_lost(origin);
    assert_eq!(sender.ack(41_000, 0, &[1]), wait(50_000));
    assert_eq!(sender.ack(42_000, 0, &[2]), wait(50_000));
    assert_eq!(sender.ack(43_000, 0, &[3]), lose(1));
}

//= specs/rfc8985.md#reordering-window
//= type=test
//# Otherwise the window begins as a quarter of the minimum RTT, or as zero while no RTT is known.
//= specs/rfc8985.md#loss-detection
//= type=test
//# A segment is lost when one sent after it was delivered and its age is at least the RTT plus the window.
//= specs/rfc8985.md#loss-detection
//= type=test
//# While a segment waits for the window to pass, a timer is armed that marks it lost without another ACK.
#[test]
fn the_timer_finds_the_loss_after_a_quarter_of_the_minimum_rtt_once_reordering_was_seen() {
    let mut sender = Sender::new(us(40_000), us(50_000));
    sender.see_reordering(40_000);
    sender.send(&[100_000, 101_000, 102_000, 103_000]);
    for (now, index) in [(141_000, 3), (142_000, 4), (143_000, 5)] {
        assert_eq!(sender.ack(now, 2, &[index]), wait(150_000), "three SACKed segments prove nothing any more");
    }
    assert_eq!(sender.timer(149_999), wait(150_000));
    assert_eq!(sender.timer(150_000), lose(1));
}

//= specs/rfc8985.md#reordering-window
//= type=test
//# Once reordering was seen, no number of SACKed segments closes the window.
//= specs/rfc8985.md#other-algorithms
//= type=test
//# The loss detection of RFC 6675 is not used beside RACK.
#[test]
fn fifty_sacked_segments_still_wait_once_reordering_was_seen() {
    let mut sender = Sender::new(us(40_000), us(50_000));
    sender.see_reordering(40_000);
    sender.send(&[100_000; 51]);
    for index in 3..53 {
        assert_eq!(sender.ack(140_000, 2, &[index]), wait(150_000));
    }
}

//= specs/rfc8985.md#loss-detection
//= type=test
//# A retransmission is given up for lost by the same rule as an original.
#[test]
fn a_lost_retransmission_is_found_by_what_was_sent_after_it() {
    let mut sender = first_of_four_lost(SeqNum(1));
    sender.ack(41_000, 0, &[1, 2]);
    assert_eq!(sender.ack(43_000, 0, &[3]), lose(1));
    sender.episode = Episode::Recovery { point: sender.seq(4) };
    sender.resend(0, 43_000);
    sender.send(&[44_000]);
    assert_eq!(sender.ack(85_000, 0, &[4]), lose(1));
    assert_eq!(sender.board.lost_log().last().unwrap().0.retransmits, 1);
}

//= specs/rfc8985.md#newest-delivered-segment
//= type=test
//# Of two segments sent at the same moment, the one with the higher end counts as sent later.
#[test]
fn of_one_moments_burst_only_lower_numbers_than_the_delivered_one_are_judged() {
    let mut sender = Sender::new(us(40_000), us(50_000));
    sender.send(&[0; 6]);
    assert_eq!(sender.ack(40_000, 0, &[1, 2, 3]), lose(1));
    assert_eq!(sender.lost(), [0]);
    assert_eq!(sender.timer(400_000), Verdict::default(), "5 and 6 were sent after all that was delivered");
}

//= specs/rfc8985.md#newest-delivered-segment
//= type=test
//# A delivered retransmission is passed over when it is younger than the minimum RTT.
#[test]
fn an_answer_faster_than_the_path_is_taken_for_the_originals() {
    let mut sender = first_of_four_lost(SeqNum(1));
    sender.ack(43_000, 0, &[1, 2, 3]);
    sender.resend(0, 43_000);
    let before = sender.rack.newest;
    sender.ack(55_000, 1, &[]);
    assert_eq!(sender.rack.newest, before);
}

//= specs/rfc8985.md#newest-delivered-segment
//= type=test
//# A delivered retransmission is passed over when the echoed timestamp is older than its own.
#[test_case(Some(0), 3_000; "of the first copy: ignored")]
#[test_case(Some(43), 43_000; "of the second copy: used")]
#[test_case(None, 43_000; "no timestamps and slow enough: used")]
fn the_echoed_timestamp_tells_which_copy_was_delivered(tsecr: Option<u32>, newest_us: u64) {
    let mut sender = first_of_four_lost(SeqNum(1));
    sender.ack(43_000, 0, &[1, 2, 3]);
    sender.resend(0, 43_000);
    sender.tsecr = tsecr;
    sender.ack(90_000, 1, &[]);
    assert_eq!(sender.rack.newest.xmit.unwrap().at, at(newest_us));
}

#[test_case(EarlyAnswer::MinRtt, 82_999, 3_000; "a little faster than ever: passed over")]
#[test_case(EarlyAnswer::MinRttLessTick, 82_000, 43_000; "within a tick: used")]
#[test_case(EarlyAnswer::MinRttLessTick, 81_998, 3_000; "earlier than a tick: passed over")]
#[test_case(EarlyAnswer::HalfMinRtt, 82_999, 43_000; "a little faster than ever: used")]
#[test_case(EarlyAnswer::HalfMinRtt, 62_999, 3_000; "in less than half the time: passed over")]
fn how_early_an_answer_may_be_is_data(early_answer: EarlyAnswer, answer_us: u64, newest_us: u64) {
    let mut sender = first_of_four_lost(SeqNum(1));
    sender.rack = Rack::new(&RackConfig { early_answer, ..RackConfig::default() });
    sender.ack(43_000, 0, &[1, 2, 3]);
    sender.resend(0, 43_000);
    sender.ack(answer_us, 1, &[]);
    assert_eq!(sender.rack.newest.xmit.unwrap().at, at(newest_us));
}

//= specs/rfc8985.md#newest-delivered-segment
//= type=test
//# The detector's RTT is the age of the segment sent last among those an ACK delivers.
#[test]
fn the_rtt_follows_each_delivery_also_of_what_was_sent_earlier() {
    let mut sender = Sender::new(us(40_000), us(50_000));
    sender.send(&[0, 1_000]);
    sender.ack(41_000, 0, &[1]);
    sender.ack(60_000, 2, &[]);
    let newest = sender.rack.newest;
    assert_eq!((newest.xmit, newest.rtt), (Some(Xmit { at: at(1_000), end: sender.seq(2) }), us(60_000)));
}

//= specs/rfc8985.md#newest-delivered-segment
//= type=test
//# Of all delivered segments the one sent last is remembered, with its send time and its end.
//= specs/rfc8985.md#newest-delivered-segment
//= type=test
//# The detector's RTT is the age of the segment sent last among those an ACK delivers.
#[test]
fn of_one_batch_the_one_sent_last_counts_wherever_it_stands() {
    let mut sender = first_of_four_lost(SeqNum(1));
    sender.send(&[10_000]);
    sender.ack(43_000, 0, &[1, 2, 3]);
    sender.resend(0, 43_000);
    sender.ack(90_000, 1, &[4]);
    let newest = sender.rack.newest;
    assert_eq!((newest.xmit, newest.rtt), (Some(Xmit { at: at(43_000), end: sender.seq(1) }), us(47_000)));
}

#[test_case(RttOf::Newest, lose(3); "by the newest delivery, the rest is overdue")]
#[test_case(RttOf::LastInSequence, wait(91_000); "by the highest delivery, what left with it is not")]
fn behind_a_retransmission_the_rtt_is_that_of_the_segment_the_config_names(rtt_of: RttOf, verdict: Verdict) {
    let mut sender = Sender::new(us(40_000), us(50_000));
    sender.rack = Rack::new(&RackConfig { rtt_of, ..RackConfig::default() });
    sender.send(&[0, 0, 0, 0, 0]);
    sender.resend(0, 43_000);
    sender.episode = Episode::Recovery { point: sender.seq(5) };
    assert_eq!(sender.ack(90_000, 2, &[]), verdict);
}

/// Ten segments, one per millisecond, on a path of 40 ms; the ninth takes 10 ms, and its ACK comes first.
#[test_case(RttOf::Newest, Verdict { newly_lost: MSS, recheck_at: Some(at(21_000)) }; "by the letter, the first is overdue by the time of the ninth")]
#[test_case(RttOf::NewestInTurn, wait(50_000); "what overtook does not measure the others")]
fn a_segment_on_a_short_cut_makes_the_others_overdue_only_if_its_time_counts(rtt_of: RttOf, verdict: Verdict) {
    let mut sender = Sender::new(us(40_000), us(40_000));
    sender.rack = Rack::new(&RackConfig { rtt_of, ..RackConfig::default() });
    sender.send(&[0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000, 9_000]);
    let found = sender.ack(18_000, 0, &[8]);
    assert_eq!(if rtt_of == RttOf::Newest { sender.timer(20_000) } else { found }, verdict);
    // The others' ACKs, in order, set the time again, whatever it was.
    sender.ack(46_000, 1, &[]);
    assert_eq!(sender.rack.newest.rtt, us(46_000));
}

//= specs/rfc8985.md#reordering-window
//= type=test
//# While no reordering was seen, the window is zero inside recovery and once three segments are SACKed.
#[test]
fn inside_an_episode_nothing_waits_while_no_reordering_was_seen() {
    let mut sender = first_of_four_lost(SeqNum(1));
    sender.episode = Episode::Recovery { point: sender.seq(4) };
    assert_eq!(sender.ack(41_000, 0, &[1]), lose(1));
}

//= specs/rfc8985.md#reordering
//= type=test
//# A never retransmitted segment that is delivered below the highest delivered number proves reordering.
#[test]
fn an_original_below_the_highest_delivered_is_reordering() {
    let mut sender = first_of_four_lost(SeqNum(1));
    sender.ack(41_000, 0, &[2]);
    assert!(!sender.rack.reordering().unwrap().seen, "what is missing may be lost");
    sender.ack(42_000, 0, &[1]);
    assert!(sender.rack.reordering().unwrap().seen);
}

//= specs/rfc8985.md#reordering
//= type=test
//# A retransmitted segment that is delivered below the highest delivered number proves nothing.
#[test]
fn a_retransmitted_segment_below_the_highest_delivered_is_not_reordering() {
    let mut sender = first_of_four_lost(SeqNum(1));
    sender.ack(43_000, 0, &[1, 2, 3]);
    sender.resend(0, 43_000);
    sender.ack(90_000, 4, &[]);
    assert!(!sender.rack.reordering().unwrap().seen);
}

//= specs/rfc8985.md#prerequisites
//= type=test
//# D-SACKs adapt the reordering window.
//= specs/rfc8985.md#reordering-window
//= type=test
//# Each round trip that brings a D-SACK widens the window by another quarter of the minimum RTT.
//= specs/rfc8985.md#reordering-window
//= type=test
//# The reordering window has an upper bound.
//= specs/rfc8985.md#reordering-window
//= type=test
//# The upper bound of the reordering window is the smoothed RTT.
#[test]
fn the_window_never_exceeds_the_smoothed_rtt_and_grows_a_quarter_per_round() {
    // A path of 0.8 ms that delays single packets by 4 ms: twenty quarters of its RTT cover that.
    let mut sender = Sender::new(us(800), us(6_000));
    sender.see_reordering(800);
    for round in 1..=40u64 {
        sender.send(&[10_000 * round]);
        sender.dsack = true;
        let una = sender.nxt;
        sender.ack(10_000 * round + 800, una, &[]);
        assert_eq!(sender.window(), us((200 * (round + 1)).min(6_000)));
    }
    assert_eq!(sender.mult(), 41);
}

//= specs/rfc8985.md#reordering-window
//= type=test
//# Otherwise the window begins as a quarter of the minimum RTT, or as zero while no RTT is known.
#[test]
fn while_no_rtt_is_known_there_is_no_window() {
    let mut sender = Sender::new(us(40_000), us(50_000));
    sender.see_reordering(40_000);
    sender.send(&[100_000]);
    let cx = DetectCx { min_rtt: None, srtt: None, ..sender.cx(140_000) };
    sender.rack.detect(&mut sender.board, &cx);
    assert_eq!(sender.window(), Duration::ZERO);
}

#[test]
fn without_adaptation_duplicate_reports_change_nothing() {
    let mut sender = Sender::new(us(800), us(6_000));
    sender.rack = Rack::new(&RackConfig { dsack: DsackAdaptation::Off, ..RackConfig::default() });
    sender.see_reordering(800);
    for round in 1..=40u64 {
        sender.send(&[10_000 * round]);
        sender.dsack = true;
        let una = sender.nxt;
        sender.ack(10_000 * round + 800, una, &[]);
    }
    assert_eq!((sender.window(), sender.mult()), (us(200), 1));
}

//= specs/rfc8985.md#reordering-window
//= type=test
//# A second D-SACK in the same round trip widens nothing.
#[test]
fn two_duplicate_reports_in_one_round_count_once() {
    let mut sender = Sender::starting_at(SeqNum(u32::MAX - 2500), us(40_000), us(500_000));
    sender.send(&[0, 0, 0, 0]);
    for (una, mult) in [(1, 2), (2, 2), (3, 2), (4, 3)] {
        sender.dsack = true;
        sender.ack(40_000, una, &[]);
        assert_eq!(sender.mult(), mult);
    }
}

#[test]
fn a_timer_does_not_count_an_acks_duplicate_report_again() {
    let mut sender = Sender::new(us(40_000), us(500_000));
    sender.dsack = true;
    sender.ack(0, 0, &[]);
    sender.una = 0;
    assert_eq!(sender.mult(), 2);
    sender.timer(1_000);
    assert_eq!(sender.mult(), 2);
}

//= specs/rfc8985.md#reordering-window
//= type=test
//# Sixteen recoveries without a D-SACK bring a widened window back to its first size.
#[test]
fn sixteen_recoveries_without_a_duplicate_report_reset_the_multiplier() {
    let mut sender = Sender::new(us(40_000), us(500_000));
    sender.send(&[0]);
    sender.dsack = true;
    sender.ack(40_000, 0, &[]);
    for _ in 0..15 {
        sender.exit = true;
        sender.ack(40_000, 1, &[]);
    }
    assert_eq!(sender.mult(), 2);
    sender.exit = true;
    sender.ack(40_000, 1, &[]);
    assert_eq!(sender.mult(), 1);
}

//= specs/rfc8985.md#retransmission-timeout
//= type=test
//# A timeout marks the first outstanding segment lost.
//= specs/rfc8985.md#retransmission-timeout
//= type=test
//# A timeout marks any other segment lost only if its age is at least the RTT plus the window.
#[test]
fn a_timeout_spares_what_was_sent_recently() {
    let mut sender = Sender::new(us(40_000), us(50_000));
    sender.send(&[0, 1_000]);
    sender.ack(41_000, 1, &[]);
    sender.send(&[290_000, 295_000]);
    let cx = sender.cx(300_000);
    assert_eq!(sender.rack.on_timeout(&mut sender.board, &cx), lose(1));
    assert_eq!(sender.lost(), [1]);
}

//= specs/rfc8985.md#retransmission-timeout
//= type=test
//# A timeout marks any other segment lost only if its age is at least the RTT plus the window.
#[test]
fn a_timeout_before_any_delivery_takes_everything_for_lost() {
    let mut sender = Sender::new(us(40_000), us(50_000));
    sender.episode = Episode::Loss { point: sender.seq(0) };
    sender.send(&[0, 100, 200]);
    let cx = sender.cx(1_000_000);
    assert_eq!(sender.rack.on_timeout(&mut sender.board, &cx), lose(3));
}

/// One segment arrives 5 ms late. A quarter of 25 ms covers that; a quarter of 10 ms does not, two quarters do.
#[test_case(25_000, 0, &[]; "rtt 25 ms")]
#[test_case(10_000, 0, &[2]; "rtt 10 ms")]
#[test_case(10_000, 1, &[]; "rtt 10 ms after one duplicate report")]
fn lateness_within_the_window_costs_nothing(rtt: u64, dsack_rounds: u32, lost: &[u64]) {
    let mut sender = Sender::new(us(rtt), us(rtt));
    sender.see_reordering(rtt);
    for _ in 0..dsack_rounds {
        sender.dsack = true;
        sender.ack(rtt, 2, &[]);
    }
    sender.send(&[100_000, 100_100, 100_200, 100_300, 100_400]);
    let mut recheck = None;
    for index in 3..7 {
        recheck = sender.ack(100_000 + rtt + 100 * u64::from(index - 2), 2, &[index]).recheck_at;
    }
    let late = at(100_000 + rtt + 5_000);
    if let Some(due) = recheck.filter(|&due| due < late) {
        sender.timer(due.as_nanos() / 1_000);
    }
    assert_eq!(sender.lost(), lost);
}

//= specs/rfc8985.md#loss-detection
//= type=test
//# A segment is lost when one sent after it was delivered and its age is at least the RTT plus the window.
#[test]
fn nothing_delivered_is_ever_marked_and_every_hole_below_it_is() {
    for mask in 0u32..1 << 10 {
        let mut sender = Sender::new(us(40_000), us(50_000));
        sender.send(&[0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
        let arrived: Vec<u32> = (0..10).filter(|i| mask & (1 << i) == 0).collect();
        let mut recheck = None;
        for &index in &arrived {
            let una = sender.una + u32::from(sender.una == index);
            recheck = sender.ack(40_000 + 10 * u64::from(index), una, &[index]).recheck_at;
        }
        while let Some(due) = recheck {
            recheck = sender.timer(due.as_nanos() / 1_000).recheck_at;
        }
        let top = arrived.last().copied().unwrap_or(0);
        let holes: Vec<u64> = (0..top).filter(|i| mask & (1 << i) != 0).map(u64::from).collect();
        assert_eq!(sender.lost(), holes, "losses {mask:010b}");
    }
}

/// An answer to the original would look like one from a path without delay.
#[test]
fn nothing_retransmitted_is_believed_before_the_least_rtt_is_known() {
    let sent = |retransmits| SentSegment {
        id: SegmentId(0),
        start: SeqNum(0),
        xmit: Xmit { at: at(100), end: SeqNum(MSS) },
        first_sent: at(0),
        tsval: 0,
        retransmits,
        mark: Mark::Outstanding,
    };
    let mut cx = Sender::new(us(50), us(50)).cx(200);
    let believed = |cx: &DetectCx, retransmits| {
        let mut newest = Newest::default();
        newest.advance(&[sent(retransmits)], EarlyAnswer::MinRtt, RttOf::Newest, cx);
        newest.xmit.is_some()
    };
    assert!(believed(&cx, 0) && believed(&cx, 1), "a round trip of 100 µs where 50 are the least");
    cx.min_rtt = None;
    assert!(believed(&cx, 0) && !believed(&cx, 1));
}

/// Sends four segments, gives the first up after three SACKs, and does not send it again. Round trips take 10 ms.
fn one_given_up(lateness_max_srtts: u8) -> Sender {
    let mut sender = Sender::new(us(10_000), us(10_000));
    sender.rack = Rack::new(&RackConfig { lateness_max_srtts, ..RackConfig::default() });
    sender.send(&[0, 0, 0, 0]);
    sender.ack(10_000, 0, &[1, 2, 3]);
    assert_eq!(sender.lost(), [0]);
    sender
}

#[test]
fn an_original_that_arrives_after_it_was_given_up_shows_how_late_it_was() {
    let mut sender = one_given_up(8);
    sender.ack(15_000, 4, &[]);
    assert!(sender.rack.reordering().unwrap().seen);
    assert_eq!(sender.window(), us(5_000 + 1_250), "and a quarter more");
}

#[test]
fn a_report_of_a_duplicate_shows_how_late_the_original_was() {
    let mut sender = one_given_up(8);
    let cx = sender.cx(18_000);
    sender.rack.on_dsack(SeqRange::new(sender.seq(0), sender.seq(1)), &cx);
    sender.timer(18_000);
    assert_eq!(sender.window(), us(8_000 + 2_000));
}

#[test]
fn the_answer_to_a_copy_shows_nothing_of_its_original() {
    let mut sender = one_given_up(8);
    sender.resend(0, 11_000);
    sender.ack(30_000, 4, &[]);
    assert_eq!(sender.window(), us(2_500), "a quarter of the least round trip");
}

#[test]
fn the_answer_to_a_copy_that_was_given_up_too_shows_nothing() {
    let mut sender = one_given_up(8);
    sender.resend(0, 11_000);
    sender.send(&[12_000]);
    sender.ack(40_000, 0, &[4]);
    assert_eq!(sender.lost(), [0]);
    sender.ack(41_000, 5, &[]);
    assert_eq!(sender.window(), us(2_500));
}

#[test]
fn where_lateness_does_not_count_nothing_is_remembered_of_it() {
    let mut sender = one_given_up(0);
    assert_eq!(sender.rack.state_size(), size_of::<Rack>());
    sender.ack(15_000, 4, &[]);
    assert_eq!(sender.window(), us(2_500));
    assert!(one_given_up(8).rack.state_size() >= size_of::<Rack>() + size_of::<lateness::Lateness>());
}

#[test]
fn an_episode_for_nothing_is_proof_of_reordering() {
    let mut rack = Rack::new(&RackConfig::default());
    assert!(!rack.reordering().unwrap().seen);
    rack.on_spurious();
    assert!(rack.reordering().unwrap().seen);
}

/// The least round trip takes 40 ms.
#[test_case(EarlyAnswer::MinRtt, 40_000)]
#[test_case(EarlyAnswer::MinRttLessTick, 39_000)]
#[test_case(EarlyAnswer::HalfMinRtt, 20_000)]
fn an_answer_is_early_below_the_bound_and_not_at_it(early: EarlyAnswer, bound: u64) {
    let mut sender = Sender::new(us(40_000), us(50_000));
    sender.send(&[0]);
    sender.resend(0, 100_000);
    let copy = sender.board.first().unwrap();
    assert!(rules::is_early(&copy, early, &sender.cx(100_000 + bound - 1)));
    assert!(!rules::is_early(&copy, early, &sender.cx(100_000 + bound)));
}
