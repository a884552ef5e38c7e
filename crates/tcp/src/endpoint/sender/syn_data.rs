//! Data that left with our SYN (RFC 7413 §4.2). It is not on the scoreboard: the SYN's own timer covers it.

use super::Sender;
use base::{Bytes, Instant, SeqNum, SeqRange};
use recovery::Scoreboard;

impl Sender {
    //= specs/rfc7413.md#client
    //# Data of the SYN that the SYN-ACK does not acknowledge is sent again at once.
    /// Settles the `bytes` of data that left with the SYN: the part beyond `ack` becomes a lost flight of segments with the
    /// timestamp `tsval`. Returns whether that part is empty.
    pub fn settle_syn_data(&mut self, now: Instant, tsval: u32, bytes: Bytes, ack: SeqNum) -> bool {
        let end = self.space.una() + bytes;
        let una = ack.max(self.space.una()).min(end);
        self.buffer.ack(una.distance_from(self.space.una()));
        self.space.on_acked(una);
        self.space.on_sent(end.max(una));
        if bytes == 0 {
            return true;
        }
        self.rec.board = Scoreboard::new(una);
        self.rec.restart_rto(now);
        let size = self.space.smss();
        let mut at = una;
        while at != end {
            let part = size.min(end.distance_from(at));
            let stamp = self.rec.sampler.stamp(now, self.rec.board.pipe());
            let id = self.rec.board.on_sent(SeqRange::new(at, at + part), tsval, stamp, now);
            if let Some(segment) = self.rec.board.get(id) {
                self.rec.detector.on_sent(&segment);
            }
            self.rec.board.mark_lost(id);
            at += part;
        }
        self.rec.board.clear_lost_log();
        una == end
    }
}
