//! A path that has become narrower: records that it does not take any more are cut anew (RFC 1191 §6.4).
//!
//! They count as lost, because the path has dropped them, but stand in no log: a size that does not fit says nothing of
//! congestion. Rare, and hence allowed to cost O(window): every record gets a new name, so that no stale one can be used.

use super::next_seg::Rescue;
use super::sent::Record;
use super::{Flight, Mark, SegmentId};
use base::{Bytes, SeqNum};
use core::cmp::Reverse;
use std::collections::VecDeque;

impl Flight {
    //= specs/rfc1191.md#a-smaller-path-mtu
    //# Segments that are larger than the path takes now are cut and sent again at once.
    /// Cuts what is not SACKed and longer than `size` octets into pieces of at most that, and marks it lost; neighbours that
    /// are cut are cut as one. The last piece of all may be longer by `fin`, the number that a FIN occupies. Returns the octets
    /// newly marked.
    pub fn recut(&mut self, size: Bytes, fin: u32) -> Bytes {
        let nxt = self.nxt;
        let most = |end: SeqNum| size + if end == nxt { fin } else { 0 };
        let cut = |record: &Record| record.mark != Mark::Sacked && record.len() > most(record.end);
        if !self.ring.iter().any(cut) {
            return 0;
        }
        let base = self.base + self.ring.len() as u64;
        let mut newly_lost = 0;
        let mut ring = VecDeque::with_capacity(self.ring.len() + 1);
        let mut run: Vec<Record> = Vec::new();
        for record in self.ring.drain(..) {
            let joins = run.last().is_none_or(|last| last.end == record.start && last.counted == record.counted);
            if !cut(&record) || !joins {
                cut_run(&mut run, most, &mut ring);
            }
            if !cut(&record) {
                ring.push_back(record);
                continue;
            }
            if record.mark == Mark::Outstanding {
                newly_lost += record.len();
            }
            run.push(record);
        }
        cut_run(&mut run, most, &mut ring);
        (self.ring, self.base) = (ring, base);
        self.outstanding -= newly_lost;
        self.lost += newly_lost;
        self.rename_after_recut();
        newly_lost
    }

    /// Whatever names records is made anew.
    fn rename_after_recut(&mut self) {
        self.relink();
        let lost = self.ring.iter().zip(self.base..).filter(|(record, _)| record.mark == Mark::Lost);
        self.lost_queue = lost.map(|(_, id)| Reverse(id)).collect();
        if let Rescue::Spent(_) = self.rescue {
            self.rescue = Rescue::Spent(SegmentId(u64::MAX));
        }
    }
}

/// Empties `run`, neighbours in sequence order, into pieces; a piece is as old as the record that it begins in.
fn cut_run(run: &mut Vec<Record>, most: impl Fn(SeqNum) -> Bytes, pieces: &mut VecDeque<Record>) {
    let Some(behind) = run.last().map(|last| last.end) else { return };
    let retransmits = run.iter().map(|record| record.retransmits).max().unwrap_or(0);
    let size = most(behind - 1);
    let (mut start, mut from) = (run[0].start, 0);
    while start != behind {
        let rest = behind.distance_from(start);
        let end = start + if rest <= most(behind) { rest } else { size };
        while run[from].end.at_or_before(start) {
            from += 1;
        }
        pieces.push_back(Record { start, end, mark: Mark::Lost, retransmits, ..run[from].clone() });
        start = end;
    }
    run.clear();
}

#[cfg(test)]
mod tests {
    use crate::rate_sample::RateStamp;
    use crate::scoreboard::{Scoreboard, SentSegment};
    use base::{Instant, SeqNum, SeqRange};

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
    //# Segments that are larger than the path takes now are cut and sent again at once.
    #[test]
    fn what_is_too_long_is_cut_and_lost_and_the_rest_stays_in_flight() {
        let mut board = board(&[1460, 300, 1000, 1460, 1460]);
        assert_eq!(board.recut(1000, 0), 4380);
        assert_eq!((board.pipe(), board.recount_pipe(), board.lost_bytes(), board.len()), (1300, 1300, 4380, 7));
        assert!(board.lost_log().is_empty(), "no sign of congestion");
        assert_eq!(lost(&mut board), [1000, 460, 1000, 1000, 920]);
        assert_eq!(board.pipe(), 5680);
    }

    #[test]
    fn a_fin_needs_no_segment_of_its_own() {
        let mut board = board(&[1001, 500, 2001]);
        assert_eq!(board.recut(1000, 1), 3002);
        assert_eq!(lost(&mut board), [1000, 1, 1000, 1001]);
    }

    #[test]
    fn names_from_before_mean_nothing_afterwards() {
        let mut board = board(&[1460, 100]);
        let before: Vec<SentSegment> = [board.first(), board.last()].into_iter().flatten().collect();
        board.recut(1000, 0);
        assert!(before.iter().all(|segment| board.get(segment.id).is_none()));
        let names = (board.first().map(|first| first.id), board.last().map(|last| last.id));
        assert_eq!(board.recut(1000, 0), 0, "nothing is left to cut");
        assert_eq!((board.first().map(|first| first.id), board.last().map(|last| last.id)), names);
    }
}
