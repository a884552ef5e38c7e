//! RFC 6675's verdicts by example and over all loss patterns of ten segments; RFC 6582's without SACK.

use super::*;
use crate::rate_sample::RateStamp;
use crate::scoreboard::{Delivered, SegmentId};
use base::{Instant, SeqRange};
use test_case::test_case;

const MSS: u32 = 1000;

struct Sender {
    board: Scoreboard,
    detector: DupThresh,
    una: u32,
    nxt: u32,
    episode: Episode,
}

impl Sender {
    fn new(detector: fn(&DupThreshConfig) -> DupThresh, segments: u32) -> Self {
        let mut sender = Self {
            board: Scoreboard::new(SeqNum(0)),
            detector: detector(&DupThreshConfig::default()),
            una: 0,
            nxt: 0,
            episode: Episode::Open,
        };
        (0..segments).for_each(|_| sender.send(MSS));
        sender.ack(0, &[]);
        sender
    }
    fn send(&mut self, len: u32) {
        let range = SeqRange::new(SeqNum(self.nxt), SeqNum(self.nxt + len));
        self.board.on_sent(range, 0, RateStamp::default(), Instant::ZERO);
        self.nxt += len;
    }
    fn resend(&mut self, id: u64) {
        self.board.on_retransmitted(SegmentId(id), 0, RateStamp::default(), Instant::ZERO);
    }
    fn cx(&self) -> DetectCx {
        DetectCx {
            now: Instant::ZERO,
            smss: MSS,
            snd_una: SeqNum(self.una),
            snd_nxt: SeqNum(self.nxt),
            srtt: None,
            min_rtt: None,
            tsecr: None,
            arrival: crate::Arrival::InTurn,
            episode: self.episode,
        }
    }
    /// Acknowledges up to `una` bytes, with SACK blocks; returns which segments were marked.
    fn ack(&mut self, una: u32, blocks: &[(u32, u32)]) -> Vec<u64> {
        self.una = una;
        let blocks: Vec<SeqRange> = blocks.iter().map(|&(s, e)| SeqRange::new(SeqNum(s), SeqNum(e))).collect();
        let mut out = Delivered::default();
        self.board.apply(SeqNum(una), &blocks, &mut out);
        self.detector.on_delivered(&out.batch, &self.cx());
        if self.episode.point().is_some_and(|point| SeqNum(una).at_or_after(point)) {
            self.detector.on_recovery_exit();
            self.episode = Episode::Open;
        }
        self.judge()
    }
    fn duplicate(&mut self) -> Vec<u64> {
        self.detector.on_duplicate_ack(&self.cx());
        self.detector.on_delivered(&[], &self.cx());
        self.judge()
    }
    fn judge(&mut self) -> Vec<u64> {
        let cx = self.cx();
        let verdict = self.detector.detect(&mut self.board, &cx);
        let marked: Vec<u64> = self.board.lost_log().iter().map(|(segment, _)| segment.id.0).collect();
        let bytes: u32 = self.board.lost_log().iter().map(|(segment, _)| segment.range().len()).sum();
        assert_eq!((verdict.newly_lost, verdict.recheck_at), (bytes, None));
        self.board.clear_lost_log();
        if !marked.is_empty() && self.episode == Episode::Open {
            self.episode = Episode::Recovery { point: SeqNum(self.nxt) };
        }
        marked
    }
}

//= specs/rfc6675.md#scoreboard
//= type=test
//# A hole is lost when three separate SACKed ranges lie above it.
//= specs/rfc6675.md#scoreboard
//= type=test
//# A hole is lost when more than two SMSS of SACKed bytes lie above it.
//= specs/rfc6675.md#recovery
//= type=test
//# Recovery begins with the third duplicate ACK, or when the first hole is lost.
#[test_case(&[(1000, 2000), (3000, 4000)] => Vec::<u64>::new(); "two ranges")]
#[test_case(&[(1000, 2000), (3000, 4000), (5000, 6000)] => vec![0]; "three ranges")]
#[test_case(&[(1000, 3000)] => Vec::<u64>::new(); "exactly two segments of bytes")]
#[test_case(&[(1000, 4000)] => vec![0]; "more than two segments of bytes")]
#[test_case(&[(1000, 2000), (5000, 8000)] => vec![0, 2, 3, 4]; "each hole with enough above it")]
#[test_case(&[(1000, 2000), (3000, 4000), (5000, 6000), (7000, 8000)] => vec![0, 2]; "holes with too little above wait")]
fn a_hole_is_lost_when_enough_above_it_is_sacked(blocks: &[(u32, u32)]) -> Vec<u64> {
    Sender::new(DupThresh::new, 10).ack(0, blocks)
}

//= specs/rfc6675.md#timeout
//= type=test
//# A retransmission that is lost is repaired by a timeout.
#[test]
fn a_lost_retransmission_is_never_seen() {
    let mut sender = Sender::new(DupThresh::new, 10);
    assert_eq!(sender.ack(0, &[(1000, 4000)]), [0]);
    sender.resend(0);
    for end in 5..=10 {
        assert_eq!(sender.ack(0, &[(1000, end * 1000)]), []);
    }
}

#[test]
fn a_hole_that_was_filled_before_it_was_lost_is_not_marked_when_it_becomes_so() {
    let mut sender = Sender::new(DupThresh::new, 10);
    assert_eq!(sender.ack(0, &[(1000, 4000), (5000, 6000)]), [0]);
    sender.resend(4);
    assert_eq!(sender.ack(0, &[(7000, 10_000)]), [6], "only the hole above it");
}

/// Where half of all sequence numbers lie between two losses, the first one must not look like a later one.
#[test]
fn what_was_judged_gigabytes_ago_hides_no_hole() {
    let mut sender = Sender::new(DupThresh::new, 10);
    assert_eq!(sender.ack(0, &[(1000, 4000)]), [0]);
    sender.ack(10_000, &[]);
    for _ in 0..24 {
        sender.send(1 << 27);
        sender.ack(sender.nxt, &[]);
    }
    let una = sender.nxt;
    (0..10).for_each(|_| sender.send(MSS));
    assert_eq!(sender.ack(una, &[(una + 1000, una + 2000), (una + 3000, una + 6000)]), [34, 36]);
}

#[test]
fn inside_an_episode_only_what_lies_above_a_hole_counts() {
    let mut sender = Sender::new(DupThresh::new, 0);
    (0..9).for_each(|_| sender.send(100));
    sender.episode = Episode::Recovery { point: SeqNum(900) };
    for end in [300, 400, 500, 600] {
        assert_eq!(sender.ack(100, &[(200, end)]), []);
    }
}

//= specs/rfc6675.md#scoreboard
//= type=test
//# An ACK is a duplicate if it SACKs bytes that were neither acknowledged nor SACKed before.
//= specs/rfc6675.md#recovery
//= type=test
//# Recovery begins with the third duplicate ACK, or when the first hole is lost.
#[test]
fn three_acks_that_report_new_data_suffice_when_segments_are_small() {
    let mut sender = Sender::new(DupThresh::new, 0);
    (0..5).for_each(|_| sender.send(100));
    assert_eq!(sender.ack(0, &[(100, 200)]), []);
    assert_eq!(sender.ack(0, &[(100, 300)]), []);
    assert_eq!(sender.ack(0, &[(100, 300)]), [], "nothing new");
    assert_eq!(sender.ack(0, &[(100, 400)]), [0]);
}

#[test]
fn a_cumulative_advance_starts_the_count_anew() {
    let mut sender = Sender::new(DupThresh::new, 0);
    (0..9).for_each(|_| sender.send(100));
    sender.ack(0, &[(200, 300)]);
    sender.ack(0, &[(200, 400)]);
    assert_eq!(sender.ack(100, &[]), []);
    assert_eq!(sender.ack(100, &[(200, 500)]), []);
}

//= specs/rfc6675.md#timeout
//= type=test
//# After a timeout, no recovery begins before everything outstanding at the timeout is acknowledged.
//= specs/rfc6675.md#timeout
//= type=test
//# A timeout keeps what the scoreboard knows of SACKed segments.
#[test]
fn a_timeout_takes_everything_not_sacked_for_lost_and_judges_no_more_until_it_is_over() {
    let mut sender = Sender::new(DupThresh::new, 6);
    sender.ack(0, &[(2000, 3000)]);
    let cx = sender.cx();
    assert_eq!(sender.detector.on_timeout(&mut sender.board, &cx).newly_lost, 5000);
    sender.episode = Episode::Loss { point: SeqNum(sender.nxt) };
    sender.board.clear_lost_log();
    (0..6).filter(|&id| id != 2).for_each(|id| sender.resend(id));
    (0..6).for_each(|_| sender.send(MSS));
    assert_eq!(sender.ack(5000, &[(7000, 12_000)]), [], "still in the episode");
    assert_eq!(sender.ack(6000, &[]), [6], "judged once it is over");
}

#[test]
fn over_all_loss_patterns_of_ten_segments_exactly_the_holes_with_enough_above_are_marked() {
    for mask in 0u32..1 << 10 {
        let lost = |index: u32| mask & (1 << index) != 0;
        let mut sender = Sender::new(DupThresh::new, 10);
        let mut marked = Vec::new();
        for index in (0..10).filter(|&index| !lost(index)) {
            let una = if sender.una == index * MSS { sender.una + MSS } else { sender.una };
            marked.extend(sender.ack(una, &[(index * MSS, (index + 1) * MSS)]));
        }
        marked.sort_unstable();
        let expected: Vec<u64> = (0..10)
            .filter(|&index| lost(index))
            .filter(|&index| {
                let above: Vec<u32> = (index..10).filter(|&i| !lost(i)).collect();
                let ranges = above.iter().filter(|&&i| lost(i - 1)).count();
                // Three segments exceed two segments in bytes; three ranges contain as many.
                assert!(ranges < 3 || above.len() >= 3);
                above.len() >= 3
            })
            .map(u64::from)
            .collect();
        assert_eq!(marked, expected, "losses {mask:010b}");
    }
}

//= specs/rfc5681.md#fast-retransmit-and-fast-recovery
//= type=test
//# The third duplicate ACK brings the first unacknowledged segment back.
//= specs/rfc5681.md#fast-retransmit-and-fast-recovery
//= type=test
//# Each further duplicate ACK stands for a segment that left the network.
#[test]
fn without_sack_the_third_duplicate_marks_the_first_segment_and_each_departs_one() {
    let mut sender = Sender::new(DupThresh::without_sack, 10);
    assert_eq!(sender.duplicate(), []);
    assert_eq!(sender.duplicate(), []);
    assert_eq!(sender.board.pipe(), 8000);
    assert_eq!(sender.duplicate(), [0]);
    assert_eq!(sender.board.pipe(), 6000, "ten less three departed and one lost");
    sender.resend(0);
    assert_eq!(sender.duplicate(), [], "its retransmission is not judged");
}

#[test]
fn without_sack_a_partial_ack_marks_the_next_hole_and_the_full_one_nothing() {
    let mut sender = Sender::new(DupThresh::without_sack, 10);
    (0..8).for_each(|_| drop(sender.duplicate()));
    sender.resend(0);
    // Segments 0 and 5 were lost: eight duplicates, then an ACK up to the second hole.
    assert_eq!(sender.ack(5000, &[]), [5]);
    sender.resend(5);
    assert_eq!(sender.board.pipe(), 1000, "of segments 5 to 9 four departed");
    assert_eq!(sender.ack(10_000, &[]), []);
    assert_eq!((sender.episode, sender.board.pipe()), (Episode::Open, 0));
}

#[test]
fn without_sack_duplicates_of_the_ack_that_ended_an_episode_are_echoes() {
    let mut sender = Sender::new(DupThresh::without_sack, 4);
    let cx = sender.cx();
    sender.detector.on_timeout(&mut sender.board, &cx);
    sender.board.clear_lost_log();
    sender.episode = Episode::Loss { point: SeqNum(4000) };
    (0..4).for_each(|id| sender.resend(id));
    sender.ack(4000, &[]);
    (0..6).for_each(|_| sender.send(MSS));
    (0..5).for_each(|_| assert_eq!(sender.duplicate(), []));
    sender.ack(5000, &[]);
    assert_eq!(sender.board.pipe(), 5000, "what echoes seemed to announce is forgotten");
    (0..2).for_each(|_| assert_eq!(sender.duplicate(), []));
    assert_eq!(sender.duplicate(), [5]);
}

#[test]
fn with_sack_an_ack_that_advances_inside_an_episode_marks_nothing_by_itself() {
    let mut sender = Sender::new(DupThresh::new, 10);
    sender.ack(0, &[(1000, 4000)]);
    sender.resend(0);
    assert_eq!(sender.ack(5000, &[]), []);
}

#[test]
fn without_sack_a_full_ack_marks_nothing_while_its_episode_is_still_open() {
    let mut sender = Sender::new(DupThresh::without_sack, 4);
    (0..3).for_each(|_| drop(sender.duplicate()));
    sender.resend(0);
    (0..2).for_each(|_| sender.send(MSS));
    sender.una = 4000;
    sender.board.apply(SeqNum(4000), &[], &mut Delivered::default());
    sender.detector.on_delivered(&[], &sender.cx());
    assert_eq!(sender.judge(), []);
}

#[test]
fn without_sack_what_duplicates_announced_ends_with_the_episode() {
    let mut sender = Sender::new(DupThresh::without_sack, 4);
    (0..10).for_each(|_| drop(sender.duplicate()));
    sender.resend(0);
    (0..2).for_each(|_| sender.send(MSS));
    sender.ack(4000, &[]);
    assert_eq!(sender.board.pipe(), 2000, "more was announced than was ever in flight");
}

#[test]
fn holes_are_filled_unmarked_only_where_sack_shows_them() {
    let config = DupThreshConfig::default();
    assert!(DupThresh::new(&config).fills_unmarked_holes());
    assert!(!DupThresh::without_sack(&config).fills_unmarked_holes());
}
