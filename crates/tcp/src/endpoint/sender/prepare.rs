//! Changes of the sender just before and just after the decision about the next departure ([`super::plan`] decides).

use super::Sender;
use crate::endpoint::SendSide;
use base::{Bytes, Instant};
use cc::FlightStart;
use recovery::SegmentId;

impl Sender {
    //= specs/rfc5682.md#basic-algorithm
    //# Without new data, or without room in the peer's window, the test ends and recovery is conventional.
    /// Ends the examination of a timeout if no new data can leave (RFC 5682 §2.1, step 2b): during it only new data leaves;
    /// without any, recovery continues as usual.
    #[inline]
    pub fn end_examination_without_data(&mut self, size: Bytes) {
        if self.examining().is_none() || self.rec.tail.is_due() || self.one_new(size).is_some() {
            return;
        }
        if let Some(undo) = self.rec.undo.as_mut().filter(|undo| undo.frto.nothing_was_sent()) {
            undo.frto.give_up();
        }
    }

    /// Returns the next lost segment to retransmit, and its bytes. The board drops those before it that are no longer lost.
    #[inline]
    pub fn lost(&mut self) -> Option<(SegmentId, Bytes)> {
        let segment = self.rec.board.next_lost()?;
        Some((segment.id, segment.xmit.end.distance_from(segment.start)))
    }

    /// Records that a segment of new data leaves in place of retransmissions.
    pub fn on_examined(&mut self) {
        if let Some(undo) = &mut self.rec.undo {
            undo.frto.on_new_segment();
        }
    }

    /// Prepares the first departure of a flight.
    #[cold]
    pub fn before_flight(&mut self, now: Instant) {
        let (srtt, app_limited) = (self.rec.rtt.srtt(), self.rec.sampler.is_app_limited());
        self.cc.on_flight_start(&FlightStart { now, srtt, app_limited });
    }

    /// Records that less than a segment is left to send and waits for more, which a model of the path takes for nothing.
    pub fn on_rest_waits(&mut self) {
        if self.cc.models_path() {
            self.on_all_sent();
        }
    }

    /// Records that nothing is left to send: until the application writes again, the delivery rate does not measure the path.
    #[inline]
    pub fn on_all_sent(&mut self) {
        let full = self.cc.models_path() && self.rec.board.pipe() >= self.cc.window().cwnd();
        if !full && self.space.side() == SendSide::Open {
            self.rec.sampler.on_app_limited(self.rec.board.pipe());
        }
    }
}
