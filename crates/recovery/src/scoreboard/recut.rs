//! A path that has become narrower: splits records too large for it (RFC 1191 §6.4).
//!
//! They count as lost, because the path has dropped them, but are not logged: a size that does not fit says nothing about
//! congestion. The caller limits their number, since the message that reports the size may be forged. Rare, so O(window) is
//! acceptable: every record gets a new name, so that stale ones cannot be used.

use super::record::{Record, Rescue};
use super::{Flight, Mark, SegmentId};
use base::{Bytes, SeqNum};
use core::cmp::Reverse;
use std::collections::VecDeque;

impl Flight {
    //= specs/rfc1191.md#a-smaller-path-mtu
    //# Segments that are larger than the path takes now are cut, and no more than an initial window of them is sent again at once.
    /// Splits unSACKed records longer than `size` bytes into pieces of at most that, and marks the first of them lost, up to
    /// `most` bytes; neighbours that need splitting are joined first. The very last piece may be longer by `fin`, the number that
    /// a FIN occupies. Returns the bytes newly marked.
    pub fn recut(&mut self, size: Bytes, fin: u32, most: Bytes) -> Bytes {
        let nxt = self.nxt;
        let longest = |end: SeqNum| size + if end == nxt { fin } else { 0 };
        let cut = |record: &Record| record.mark != Mark::Sacked && record.len() > longest(record.end);
        if !self.ring.iter().any(cut) {
            return 0;
        }
        let base = self.base + self.ring.len() as u64;
        let mut marking = Marking { left: most };
        let mut ring = VecDeque::with_capacity(self.ring.len() + 1);
        let mut run: Vec<Record> = Vec::new();
        for record in self.ring.drain(..) {
            if !cut(&record) {
                cut_run(&mut run, longest, &mut marking, &mut ring);
                ring.push_back(record);
                continue;
            }
            let joins = |last: &Record| {
                let alike = most == Bytes::MAX || last.mark == record.mark;
                last.end == record.start && last.counted == record.counted && alike
            };
            if !run.last().is_none_or(joins) {
                cut_run(&mut run, longest, &mut marking, &mut ring);
            }
            run.push(record);
        }
        cut_run(&mut run, longest, &mut marking, &mut ring);
        (self.ring, self.base) = (ring, base);
        let lost: Bytes = self.ring.iter().filter(|piece| piece.mark == Mark::Lost).map(Record::len).sum();
        let newly_lost = lost - self.lost;
        self.outstanding -= newly_lost;
        self.lost = lost;
        self.rename_after_recut();
        newly_lost
    }

    /// Renews everything that refers to records by name.
    fn rename_after_recut(&mut self) {
        self.relink();
        let lost = self.ring.iter().zip(self.base..).filter(|(record, _)| record.mark == Mark::Lost);
        self.lost_queue = lost.map(|(_, id)| Reverse(id)).collect();
        if let Rescue::Spent(_) = self.rescue {
            self.rescue = Rescue::Spent(SegmentId(u64::MAX));
        }
    }
}

/// How many bytes may still be marked lost.
struct Marking {
    left: Bytes,
}

impl Marking {
    /// Returns the new mark of a piece of `len` bytes. After the first one that exceeds the limit, no other is marked.
    fn mark(&mut self, mark: Mark, len: Bytes) -> Mark {
        if mark != Mark::Outstanding {
            return mark;
        }
        if len > self.left {
            self.left = 0;
            return mark;
        }
        self.left -= len;
        Mark::Lost
    }
}

/// Empties `run`, neighbours in sequence order under one mark, into pieces; a piece is as old as its first record.
fn cut_run(
    run: &mut Vec<Record>,
    longest: impl Fn(SeqNum) -> Bytes,
    marking: &mut Marking,
    pieces: &mut VecDeque<Record>,
) {
    let Some(behind) = run.last().map(|last| last.end) else { return };
    let retransmits = run.iter().map(|record| record.retransmits).max().unwrap_or(0);
    let size = longest(behind - 1);
    let (mut start, mut from) = (run[0].start, 0);
    while start != behind {
        let rest = behind.distance_from(start);
        let end = start + if rest <= longest(behind) { rest } else { size };
        while run[from].end.at_or_before(start) {
            from += 1;
        }
        let mark = marking.mark(run[from].mark, end.distance_from(start));
        pieces.push_back(Record { start, end, mark, retransmits, ..run[from].clone() });
        start = end;
    }
    run.clear();
}

#[cfg(test)]
mod tests {
    use crate::rate_sample::RateStamp;
    use crate::scoreboard::{Scoreboard, SentSegment};
    use base::{Instant, SeqNum, SeqRange};

    const ALL: u32 = u32::MAX;

    /// Records of these lengths, the first of which begins at number zero.
    fn board(lens: &[u32]) -> Scoreboard {
        let (mut board, mut start) = (Scoreboard::new(SeqNum(0)), SeqNum(0));
        for &len in lens {
            board.on_sent(SeqRange::new(start, start + len), 0, RateStamp::default(), Instant::ZERO);
            start += len;
        }
        board
    }

    fn lost(board: &mut Scoreboard) -> Vec<u32> {
        let mut lens = Vec::new();
        while let Some(segment) = board.next_lost() {
            lens.push(segment.range().len());
            board.on_retransmitted(segment.id, 0, RateStamp::default(), Instant::from_nanos(5));
        }
        lens
    }

    //= specs/rfc1191.md#a-smaller-path-mtu
    //= type=test
    //# Segments that are larger than the path takes now are cut, and no more than an initial window of them is sent again at once.
    #[test]
    fn what_is_too_long_is_cut_and_lost_and_the_rest_stays_in_flight() {
        let mut board = board(&[1460, 300, 1000, 1460, 1460]);
        assert_eq!(board.recut(1000, 0, ALL), 4380);
        assert_eq!((board.pipe(), board.recount_pipe(), board.lost_bytes(), board.len()), (1300, 1300, 4380, 7));
        assert!(board.lost_log().is_empty(), "no sign of congestion");
        assert_eq!(lost(&mut board), [1000, 460, 1000, 1000, 920]);
        assert_eq!(board.pipe(), 5680);
    }

    //= specs/rfc1191.md#a-smaller-path-mtu
    //= type=test
    //# Segments that are larger than the path takes now are cut, and no more than an initial window of them is sent again at once.
    #[test]
    fn no_more_than_asked_for_is_marked_and_the_rest_is_cut_in_flight() {
        let mut board = board(&[1460; 10]);
        assert_eq!(board.recut(1000, 0, 3999), 3000);
        assert_eq!((board.pipe(), board.recount_pipe(), board.lost_bytes(), board.len()), (11_600, 11_600, 3000, 15));
        assert_eq!(lost(&mut board), [1000, 1000, 1000]);
        assert_eq!(board.recut(500, 0, 0), 0, "nothing is marked, and everything is cut");
        assert_eq!((board.pipe(), board.lost_bytes(), board.len()), (14_600, 0, 30));
    }

    #[test]
    fn a_fin_needs_no_segment_of_its_own() {
        let mut board = board(&[1001, 500, 2001]);
        assert_eq!(board.recut(1000, 1, ALL), 3002);
        assert_eq!(lost(&mut board), [1000, 1, 1000, 1001]);
    }

    #[test]
    fn names_from_before_mean_nothing_afterwards() {
        let mut board = board(&[1460, 100]);
        let before: Vec<SentSegment> = [board.first(), board.last()].into_iter().flatten().collect();
        board.recut(1000, 0, ALL);
        assert!(before.iter().all(|segment| board.get(segment.id).is_none()));
        let names = (board.first().map(|first| first.id), board.last().map(|last| last.id));
        assert_eq!(board.recut(1000, 0, ALL), 0, "nothing is left to cut");
        assert_eq!((board.first().map(|first| first.id), board.last().map(|last| last.id)), names);
    }

    #[test]
    fn a_fin_that_left_alone_makes_no_piece_longer() {
        let mut board = Scoreboard::new(SeqNum(0));
        for (start, end) in [(0, 100), (100, 101)] {
            board.on_sent(SeqRange::new(SeqNum(start), SeqNum(end)), 0, RateStamp::default(), Instant::ZERO);
        }
        assert_eq!(board.recut(50, 1, 1000), 100);
        assert_eq!(board.first().map(|first| first.range().len()), Some(50));
    }

    #[test]
    fn what_is_asked_for_is_marked_to_the_last_byte() {
        let mut board = Scoreboard::new(SeqNum(0));
        board.on_sent(SeqRange::new(SeqNum(0), SeqNum(200)), 0, RateStamp::default(), Instant::ZERO);
        assert_eq!(board.recut(50, 0, 100), 100);
    }
}
