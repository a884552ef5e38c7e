//! The data that one end has sent and the other not acknowledged yet, in sequence order, as far as captured.
//!
//! A piece is a captured segment, or a part of one that acknowledgements or retransmissions split, or a hole: bytes that were not
//! captured although later ones were. Sequence numbers are 64 bits wide here, so that they do not wrap.

use std::collections::VecDeque;

/// Maximum number of pieces; beyond it, the oldest are dropped and count as seen.
const MOST: usize = 1 << 16;

/// What is known of a hole when it appears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Revealed {
    /// Time stamp of the segment behind it.
    pub tsval: Option<u32>,
    /// IP identifications before and after it; zero means none.
    pub ids: (u16, u16),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Flying,
    Sacked,
    Hole(Revealed),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub start: u64,
    pub end: u64,
    /// When it was seen first; of a hole, when it appeared.
    pub first_sent: u64,
    /// When it was seen for the last time.
    pub last_sent: u64,
    /// How many segments were seen before it.
    pub order: u32,
    pub retransmits: u16,
    pub fate: Fate,
}

#[derive(Debug, Default)]
pub(super) struct Pieces(VecDeque<Piece>);

impl Pieces {
    /// Bytes of memory.
    pub fn heap(&self) -> usize {
        self.0.capacity() * size_of::<Piece>()
    }

    /// Appends a piece after all others; returns whether the oldest had to be dropped.
    #[inline]
    pub fn push(&mut self, piece: Piece) -> bool {
        let full = self.0.len() == MOST;
        if full {
            self.0.pop_front();
        }
        self.0.push_back(piece);
        full
    }

    /// Drops pieces that end at or below `ack`, oldest first, and passes each to `each`.
    #[inline]
    pub fn acknowledge(&mut self, ack: u64, mut each: impl FnMut(&Piece)) {
        while let Some(first) = self.0.front_mut() {
            if first.end <= ack {
                each(first);
                self.0.pop_front();
                continue;
            }
            if first.start < ack {
                each(&Piece { end: ack, ..*first });
                first.start = ack;
            }
            break;
        }
    }

    /// Lets `each` change the pieces between `start` and `end`, cut to that range.
    #[inline]
    pub fn within(&mut self, start: u64, end: u64, mut each: impl FnMut(&mut Piece)) {
        if start >= end {
            return;
        }
        let mut at = self.0.partition_point(|piece| piece.end <= start);
        if self.0.get(at).is_some_and(|piece| piece.start < start) {
            self.cut(at, start);
            at += 1;
        }
        while let Some(piece) = self.0.get(at).copied() {
            if piece.start >= end {
                break;
            }
            if piece.end > end {
                self.cut(at, end);
            }
            each(&mut self.0[at]);
            at += 1;
        }
    }

    fn cut(&mut self, at: usize, seq: u64) {
        let mut tail = self.0[at];
        tail.start = seq;
        self.0[at].end = seq;
        self.0.insert(at + 1, tail);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn piece(start: u64, end: u64) -> Piece {
        Piece { start, end, first_sent: 0, last_sent: 0, order: 0, retransmits: 0, fate: Fate::Flying }
    }

    proptest! {
        /// Against an array of bytes: how often each was touched, and what is left.
        #[test]
        fn pieces_are_cut_as_bytes_would_be(
            lens in prop::collection::vec(1_u64..9, 1..20),
            steps in prop::collection::vec((0_u64..120, 0_u64..20, any::<bool>()), 0..40),
        ) {
            let (mut pieces, mut end) = (Pieces::default(), 0);
            for len in lens {
                pieces.push(piece(end, end + len));
                end += len;
            }
            let mut touched = vec![0; end as usize];
            let mut una = 0;
            for (start, len, acknowledges) in steps {
                if acknowledges {
                    let ack = start.min(una + len).min(end);
                    let mut gone = 0;
                    pieces.acknowledge(ack, |piece| gone += piece.end - piece.start);
                    prop_assert_eq!(gone, ack.saturating_sub(una));
                    una = una.max(ack);
                } else {
                    pieces.within(start, start + len, |piece| piece.retransmits += 1);
                    (start.max(una)..(start + len).min(end)).for_each(|byte| touched[byte as usize] += 1);
                }
            }
            let mut next = una;
            pieces.within(0, u64::MAX, |piece| {
                assert_eq!(piece.start, next);
                assert!(piece.start < piece.end);
                for byte in piece.start..piece.end {
                    assert_eq!(piece.retransmits, touched[byte as usize]);
                }
                next = piece.end;
            });
            prop_assert_eq!(next, end);
        }
    }

    #[test]
    fn the_oldest_are_forgotten_when_there_are_too_many() {
        let mut pieces = Pieces::default();
        for start in 0..MOST as u64 {
            assert!(!pieces.push(piece(start, start + 1)));
        }
        assert!(pieces.push(piece(MOST as u64, MOST as u64 + 1)));
        assert_eq!(pieces.0.len(), MOST);
        assert_eq!(pieces.0[0].start, 1);
    }
}
