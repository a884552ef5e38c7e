//! Records departing segments: on the scoreboard, with the loss detector, and in the sequence space.

use super::{NewData, Sender};
use base::{Bytes, Instant, SeqRange};
use recovery::SentSegment;

impl Sender {
    //= specs/rfc8985.md#sending-a-probe
    //# A probe is recorded like any other transmission.
    //= specs/rfc6298.md#managing-the-timer
    //# A transmission of data starts the timer if it does not run.
    /// Records new data that leaves, in segments of `size` bytes. Returns its sequence numbers.
    #[inline]
    pub fn on_new_data(&mut self, now: Instant, tsval: u32, new: NewData, size: Bytes) -> SeqRange {
        let NewData { len, fin } = new;
        let start = self.space.nxt();
        let range = SeqRange::new(start, start + len + u32::from(fin));
        if self.rec.board.is_empty() {
            let idle = now.since(self.rec.rto_base());
            if idle > self.rec.rto.current().duration() {
                self.cc.on_idle_restart(idle);
            }
            self.begin_flight(now);
        }
        self.space.on_sent(range.end);
        self.cover(start + len);
        if fin {
            self.space.on_fin_sent();
        }
        if len < size {
            self.space.on_small_segment(range.end);
        }
        let mut at = start;
        // One record per segment, also inside a super-segment.
        loop {
            let rest = range.end.distance_from(at);
            let part = if rest > size + u32::from(fin) { size } else { rest };
            self.record(now, tsval, SeqRange::new(at, at + part));
            at += part;
            if at == range.end {
                break;
            }
        }
        range
    }

    /// Begins a flight, whose first segment is recorded at once.
    fn begin_flight(&mut self, now: Instant) {
        self.rec.restart_rto(now);
        if let Some(last) = &mut self.rec.delivered {
            self.rec.board.begin(last);
        }
    }

    /// Records `len` bytes of new data in one segment larger than any known to arrive. Returns their sequence numbers.
    pub fn on_mtu_probe(&mut self, now: Instant, tsval: u32, len: Bytes) -> SeqRange {
        let range = SeqRange::new(self.space.nxt(), self.space.nxt() + len);
        if self.rec.board.is_empty() {
            self.begin_flight(now);
        }
        self.space.on_sent(range.end);
        self.cover(range.end);
        self.record(now, tsval, range);
        range
    }

    #[inline(always)]
    fn record(&mut self, now: Instant, tsval: u32, range: SeqRange) {
        let stamp = self.rec.sampler.stamp(now, self.rec.board.pipe());
        let id = self.rec.board.on_sent(range, tsval, stamp, now);
        if let Some(segment) = self.rec.board.get(id) {
            self.rec.detector.on_sent(&segment);
        }
    }

    /// Records that `segment` is retransmitted.
    #[inline]
    pub fn on_sent_again(&mut self, now: Instant, tsval: u32, segment: &SentSegment) {
        let stamp = self.rec.sampler.stamp(now, self.rec.board.pipe());
        self.rec.board.on_retransmitted(segment.id, tsval, stamp, now);
        let repairs = self.rec.episode().repairs();
        if let Some(undo) = self.rec.undo.as_mut().filter(|_| repairs) {
            undo.on_retransmitted(segment.range());
        }
        if let Some(sent) = self.rec.board.get(segment.id) {
            self.rec.detector.on_sent(&sent);
        }
    }
}
