//! The receive side: octets, holes, duplicates, the peer's FIN, and when to acknowledge (RFC 9293 §3.10.7.4, seventh and
//! eighth).

use super::held::Behind;
use super::{Endpoint, News, Receiver, Segment, State};
use crate::config::AckTimer;
use crate::cx::Cx;
use crate::event::{Disposition, DropReason};
use crate::recv::{AckDecision, Arrival, Arriving, Lent, Memory};
use crate::timers::TimerKind;
use base::{Bytes, Instant, SeqNum, SeqRange};
use trace::{Event, Observer};
use wire::Flags;

impl Endpoint {
    //= specs/rfc2018.md#receiver
    //# No block reports data that the receiver has thrown away, other than the newest segment.
    /// Takes the octets and the FIN of an acceptable segment, unless they would make one block out of order too many.
    pub(super) fn take_data<O: Observer>(&mut self, cx: &mut Cx<'_, O>, seg: &Segment<'_>) -> Disposition {
        let repr = &seg.repr;
        let has_fin = repr.flags.contains(Flags::FIN);
        if seg.payload.is_empty() && !has_fin {
            return Disposition::Accepted;
        }
        let start = if repr.flags.contains(Flags::SYN) { repr.seq + 1 } else { repr.seq };
        let data_end = start + seg.payload.len();
        if !self.state.may_receive() {
            self.on_data_after_fin(cx, seg);
            return Disposition::Accepted;
        }
        if !seg.payload.is_empty() && self.is_lost_on_us(cx, data_end) {
            return Disposition::Dropped(DropReason::Closed);
        }
        // Octets beyond what was ever promised are cut off; they come again when there is room.
        let Behind::Cut(edge) = self.behind_window(start, data_end) else {
            self.rcv.due_ack();
            return Disposition::Dropped(DropReason::OutOfWindow);
        };
        let end = self.rcv.fin.map_or(edge, |fin| edge.min(fin));
        let range = SeqRange::new(start, data_end.min(end));
        let fin = has_fin && data_end.at_or_before(edge) && self.may_end_at(data_end);
        let taken = SeqRange::new(start, range.end + u32::from(fin));
        if taken.is_empty() {
            // The window is closed, so these octets, a probe perhaps, come again; the header has counted.
            self.rcv.due_ack();
            return Disposition::Dropped(DropReason::OutOfWindow);
        }
        if self.rcv.memory_full && !seg.payload.is_empty() {
            // As with a closed window: the header has counted, and the octets come again.
            self.rcv.due_ack();
            return Disposition::Dropped(DropReason::ReassemblyLimit);
        }
        let blocks_max = self.cfg.receive.reassembly_max.unwrap_or(u32::MAX).min(self.rcv.blocks_max);
        if !self.rcv.assembler.admits(taken, blocks_max) {
            // Nothing of it is remembered, its FIN neither; the ACK repeats the blocks that are held.
            self.rcv.due_ack();
            return Disposition::Dropped(DropReason::ReassemblyLimit);
        }
        if fin {
            self.rcv.fin = Some(data_end);
        }
        self.store(seg, range);
        self.take_mark(seg);
        self.take(cx, seg, taken, range.len());
        Disposition::Accepted
    }

    /// Whether a FIN at this place goes together with what has arrived. Streams have one end, and nothing behind it; a FIN
    /// that says otherwise is forged, or its sender confused, and only the segment's octets count.
    fn may_end_at(&self, data_end: SeqNum) -> bool {
        let assembler = &self.rcv.assembler;
        match self.rcv.fin {
            Some(known) => known == data_end,
            None => data_end.at_or_after(assembler.rcv_nxt()) && !assembler.holds_behind(data_end),
        }
    }

    /// The sequence numbers `taken` have arrived, `len` octets among them, which are in the buffer.
    pub(super) fn take<O: Observer>(&mut self, cx: &mut Cx<'_, O>, seg: &Segment<'_>, taken: SeqRange, len: u32) {
        let insertion = self.rcv.assembler.insert(taken);
        if insertion.kind == Arrival::OutOfOrder {
            self.rare_mut().out_of_order_segments += 1;
        }
        if let Some(duplicate) = insertion.duplicate.filter(|_| self.reports_duplicates()) {
            self.rcv.dsack = Some(duplicate);
            // A later duplicate would take this one's place, and each is to be reported (RFC 2883 §4).
            self.rcv.due_ack();
        }
        self.rcv.rmss = self.rcv.rmss.max(seg.payload.len().min(u32::from(self.mtu)));
        let fin_reached = self.rcv.fin.is_some_and(|fin| self.rcv.assembler.rcv_nxt().after(fin));
        if insertion.advanced > 0 {
            // Once the FIN is reached, nothing is taken any more: it is among what this segment brought.
            let octets = insertion.advanced - u32::from(fin_reached);
            self.rcv.buffer.commit(octets);
            if octets > 0 {
                self.pending.add(News::Readable);
            }
            if insertion.kind == Arrival::FillsGap && self.rcv.assembler.block_count() == 0 {
                self.rcv.buffer.release_pages();
            }
        }
        self.hold_frame(seg, insertion.kind);
        self.tune(cx, seg, len);
        if fin_reached {
            self.on_fin(cx);
        }
        let push = seg.repr.flags.contains(Flags::PSH);
        self.decide_ack(cx, len, insertion.kind, push);
    }

    //= specs/rfc9293.md#acceptance
    //# Data ahead of a gap is kept.
    /// Puts the octets that are not yet there into the buffer.
    #[inline]
    pub(super) fn store(&mut self, seg: &Segment<'_>, range: SeqRange) {
        if seg.payload.is_empty() {
            return;
        }
        let Receiver { assembler, buffer, .. } = &mut self.rcv;
        let (rcv_nxt, read_and_readable) = (assembler.rcv_nxt(), buffer.received());
        if range.start == rcv_nxt && assembler.block_count() == 0 {
            let mut payload = seg.payload;
            payload.truncate(range.len());
            return buffer.place(0, read_and_readable, payload);
        }
        assembler.for_each_missing(range, |part| {
            let mut payload = seg.payload;
            payload.truncate(part.end.distance_from(range.start));
            payload.trim_front(part.start.distance_from(range.start));
            let ahead = part.start.distance_from(rcv_nxt);
            buffer.place(ahead, read_and_readable + u64::from(ahead), payload);
        });
    }

    #[inline]
    fn tune<O: Observer>(&mut self, cx: &mut Cx<'_, O>, seg: &Segment<'_>, len: u32) {
        let echo = seg.repr.options.timestamps.filter(|_| self.neg.timestamps);
        let rtt = echo.and_then(|ts| self.ts.echo_age(ts.tsecr, cx.now));
        let rcv_nxt = self.rcv.assembler.rcv_nxt();
        let offered = self.rcv.window.offered(rcv_nxt);
        let lent = Lent { config: &self.cfg.receive.window, limit: self.rcv.window.limit(), rmss: self.rcv.rmss };
        let grown = self.rcv.autotune.on_data(&lent, cx.now, rcv_nxt, len, offered, rtt);
        self.grow_window(cx, grown);
    }

    /// Octets that wait to be read and narrow the window.
    #[inline]
    pub(super) fn unread(&self) -> Bytes {
        let spare = self.cfg.receive.spare_segments.saturating_mul(self.rcv.rmss);
        self.rcv.buffer.used().saturating_sub(spare)
    }

    /// The receive window has a new size.
    #[inline]
    pub(super) fn grow_window<O: Observer>(&mut self, cx: &mut Cx<'_, O>, grown: Option<Bytes>) {
        if let Some(bytes) = grown {
            self.rcv.window.set_limit(bytes);
            cx.emit(|| Event::ReceiveBuffer { bytes });
        }
    }

    //= specs/rfc9293.md#acknowledgements
    //# Every second full segment is acknowledged.
    //= specs/rfc9293.md#acknowledgements
    //# An acknowledgement is delayed by less than half a second.
    /// RFC 9293 §3.8.6.3 and RFC 5681 §4.2.
    #[inline]
    fn decide_ack<O: Observer>(&mut self, cx: &mut Cx<'_, O>, len: u32, kind: Arrival, push: bool) {
        let holes = self.rcv.assembler.block_count() > 0;
        let rto = self.rec.rto.current().duration();
        let decision = if self.cfg.ack.timer == AckTimer::Adaptive {
            let arriving = self.arriving(cx.now, len, kind, push);
            self.rcv.policy.adapt(&self.cfg.ack, &arriving)
        } else {
            self.rcv.policy.note_pause(&self.cfg.ack, cx.now, rto);
            self.rcv.policy.on_data(&self.cfg.ack, cx.now, len, self.rcv.rmss, kind, holes)
        };
        match decision {
            AckDecision::Now => self.rcv.due_ack(),
            AckDecision::After(at) => self.arm(cx, TimerKind::DelayedAck, at),
            AckDecision::Pending => {}
        }
    }

    /// What an adaptive delay depends on.
    fn arriving(&self, now: Instant, len: u32, kind: Arrival, push: bool) -> Arriving {
        Arriving {
            now,
            len,
            push,
            kind,
            holes: self.rcv.assembler.block_count() > 0,
            rmss: self.rcv.rmss,
            window: self.offered(),
            room: self.receive_room(),
            scarce: self.memory().is_some_and(Memory::is_scarce),
            armed: self.timers.deadline(TimerKind::DelayedAck),
            rto: self.rec.rto.current().duration(),
            srtt: self.rec.rtt.srtt(),
        }
    }

    /// The peer seems to miss ACKs: where their delay adapts, they leave at once for a while.
    pub(super) fn hurry_acks(&mut self) {
        if self.cfg.ack.timer == AckTimer::Adaptive {
            let window = self.rcv.window.offered(self.rcv.assembler.rcv_nxt());
            self.rcv.policy.hurry(&self.cfg.ack, window, self.rcv.rmss);
        }
    }

    //= specs/rfc9293.md#closing
    //# Two FINs that cross end the connection on both sides.
    //= specs/rfc9293.md#closing
    //# A FIN ahead of missing data waits for it.
    /// Everything up to and including the peer's FIN is here.
    fn on_fin<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        if self.state == State::Established && self.cfg.ack.timer == AckTimer::Adaptive {
            // The ACK waits for our FIN, which applications tend to send soon; a duplicate is no news any more.
            self.rcv.policy.on_fin();
            self.rcv.dsack = None;
        } else {
            self.rcv.due_ack();
        }
        self.pending.add(News::Readable);
        match self.state {
            State::Established => self.set_state(cx, State::CloseWait),
            // Our FIN is not acknowledged yet, else step 9 of the ACK had moved us on.
            State::FinWait1 => self.set_state(cx, State::Closing),
            State::FinWait2 => self.enter_time_wait(cx),
            _ => {}
        }
    }

    /// Data or a FIN after the peer's FIN: a repetition is acknowledged again, anything else ignored.
    fn on_data_after_fin<O: Observer>(&mut self, cx: &mut Cx<'_, O>, seg: &Segment<'_>) {
        self.rcv.due_ack();
        if self.state == State::TimeWait && seg.repr.flags.contains(Flags::FIN) {
            self.restart_time_wait(cx);
        }
    }
}
