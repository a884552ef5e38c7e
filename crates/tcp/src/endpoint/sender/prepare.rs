//! What changes in the sender before it is decided what leaves, and once that is decided ([`super::plan`] decides).

use super::Sender;
use crate::endpoint::SendSide;
use base::Bytes;
use recovery::SegmentId;

impl Sender {
    //= specs/rfc5682.md#basic-algorithm
    //# Without new data, or without room in the peer's window, the test ends and recovery is conventional.
    /// RFC 5682 §2.1, step 2b: while a timeout is examined, new data leaves and nothing else; without any, recovery goes on
    /// as usual.
    #[inline]
    pub fn end_examination_without_data(&mut self, size: Bytes) {
        if self.examining().is_none() || self.rec.tail.is_due() || self.one_new(size).is_some() {
            return;
        }
        if let Some(undo) = self.rec.undo.as_mut().filter(|undo| undo.frto.nothing_was_sent()) {
            undo.frto.give_up();
        }
    }

    /// The lost segment whose turn it is, and its bytes. The board forgets those before it that are lost no more.
    #[inline]
    pub fn lost(&mut self) -> Option<(SegmentId, Bytes)> {
        let segment = self.rec.board.next_lost()?;
        Some((segment.id, segment.xmit.end.distance_from(segment.start)))
    }

    /// A segment of new data leaves in place of retransmissions.
    pub fn on_examined(&mut self) {
        if let Some(undo) = &mut self.rec.undo {
            undo.frto.on_new_segment();
        }
    }

    /// Nothing is left to send, new or again: the rate of delivery says nothing of the path while the application rests.
    #[inline]
    pub fn on_all_sent(&mut self) {
        if self.space.side() == SendSide::Open {
            self.rec.sampler.on_app_limited(self.rec.board.pipe());
        }
    }
}
