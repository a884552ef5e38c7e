//! RFC 6675 §4 (NextSeg) beyond the loss marks: rules 3 and 4.
//!
//! Rule 1 is `next_lost`, the endpoint implements rule 2 (new data). Segments are whole records; `HighRxt` and `RescueRxt` are
//! stored as the number behind the retransmitted segment.

use super::record::Rescue;
use super::{Flight, Mark, SegmentId, SentSegment};
use base::SeqNum;

impl Flight {
    /// Nothing was retransmitted in the episode that begins.
    pub fn begin_episode(&mut self) {
        self.high_rxt = self.una;
        self.rescue = Rescue::Unset;
    }

    pub(super) fn note_retransmission(&mut self, id: SegmentId, end: SeqNum) {
        if self.rescue == Rescue::Spent(id) {
            // The rescue does not change HighRxt, or rule 3 would count everything below as repaired.
            return;
        }
        self.high_rxt = self.high_rxt.max(end);
        if self.rescue == Rescue::Unset {
            self.rescue = Rescue::Beyond(end);
        }
    }

    /// The target of rule 3 and the detectors: the first whole record in a gap between SACKed ranges.
    pub fn next_unsacked(&self, from: SeqNum, end: SeqNum) -> Option<SentSegment> {
        let gap = self.ranges.next_gap(from.max(self.una), end.min(self.nxt))?;
        let mut index = self.find(gap.start);
        if self.ring[index].start.before(gap.start) {
            index += 1;
        }
        let segment = (index < self.ring.len()).then(|| self.view(index))?;
        segment.xmit.end.at_or_before(gap.end).then_some(segment)
    }

    //= specs/rfc6675.md#next-segment
    //# When there is no new data either, the holes below the highest SACKed byte are sent, each once.
    /// Rule 3.
    pub fn next_unmarked_hole(&self) -> Option<SentSegment> {
        let top = self.ranges.last()?.start;
        self.next_unsacked(self.high_rxt, top).filter(|segment| segment.mark == Mark::Outstanding)
    }

    //= specs/rfc6675.md#next-segment
    //# When nothing else is left, the highest outstanding segment is sent, once an episode.
    /// Rule 4, until [`Self::spend_rescue`].
    pub fn rescue(&self) -> Option<SentSegment> {
        let Rescue::Beyond(first) = self.rescue else { return None };
        if !self.una.after(first) {
            return None;
        }
        let top = self.ranges.last().filter(|range| range.end == self.nxt);
        let behind = top.map_or(self.nxt, |range| range.start);
        if behind == self.una {
            return None;
        }
        let segment = self.view(self.find(behind - 1));
        (segment.mark == Mark::Outstanding).then_some(segment)
    }

    /// The segment of [`Self::rescue`] leaves: the episode has had its rescue.
    pub fn spend_rescue(&mut self, id: SegmentId) {
        self.rescue = Rescue::Spent(id);
    }
}
