//! A segment's bytes and FIN (RFC 9293 §3.10.7.4, seventh and eighth): holes, duplicates, the end of the stream, and when to
//! acknowledge.

use super::Receiver;
use super::window::{Behind, Frame};
use crate::config::Config;
use crate::endpoint::{Segment, State};
use crate::event::DropReason;
use crate::options::{self, Negotiated};
use crate::pattern::Payload;
use crate::recv::{AckDecision, Arrival, Arriving, Lent, Memory, Surroundings};
use crate::timers::{TimerKind, TimerTable};
use base::{Bytes, Duration, Instant, SeqNum, SeqRange};
use recovery::rto::RtoState;
use recovery::rtt::RttEstimator;
use wire::Flags;

/// The state of the rest of the connection that the processing of a segment's data needs.
#[derive(Clone, Copy, Debug)]
pub(in crate::endpoint) struct Around<'a> {
    pub cfg: &'a Config,
    pub neg: &'a Negotiated,
    pub now: Instant,
    pub state: State,
    /// Largest packet of the link, in bytes.
    pub mtu: u16,
    /// Bytes of an IP header.
    pub ip_header: Bytes,
    /// Age of the timestamp that the segment echoes, when the connection uses them.
    pub echo: Option<Duration>,
    pub rto: &'a RtoState,
    pub rtt: &'a RttEstimator,
    pub timers: &'a TimerTable,
}

/// The effects of a segment on the connection outside the receiver.
#[derive(Clone, Copy, Debug)]
pub(in crate::endpoint) struct Received {
    /// How the segment relates to earlier arrivals.
    pub kind: Arrival,
    /// The application has something new to read.
    pub readable: bool,
    /// The receive window has grown to this size, in bytes.
    pub grown: Option<Bytes>,
    /// Everything up to and including the peer's FIN is here.
    pub fin: bool,
    /// Latest time at which an ACK leaves: arm the delayed-ACK timer.
    pub ack_at: Option<Instant>,
}

/// A segment whose bytes are in the buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    pub seq: SeqNum,
    /// Bytes it carried.
    pub payload: Bytes,
    /// Bytes of it that were accepted.
    pub len: Bytes,
    /// It carries PSH.
    pub push: bool,
}

impl Receiver {
    //= specs/rfc2018.md#receiver
    //# No block reports data that the receiver has thrown away, other than the newest segment.
    /// Accepts the bytes and the FIN of an acceptable segment, unless they would exceed the limit of out-of-order blocks.
    ///
    /// # Errors
    /// Names the reason why no part of it was kept. Its header has been processed, and the ACK that is due repeats the blocks
    /// held.
    // Inlined into its only caller, so that arguments and results need no memory: one call for each segment.
    #[inline(always)]
    pub(in crate::endpoint) fn on_data(
        &mut self,
        around: &Around<'_>,
        seg: &Segment<'_>,
    ) -> Result<Received, DropReason> {
        let repr = &seg.repr;
        let has_fin = repr.flags.contains(Flags::FIN);
        let start = if repr.flags.contains(Flags::SYN) { repr.seq + 1 } else { repr.seq };
        let data_end = start + seg.payload.len();
        // Bytes beyond every window ever offered are cut off; the peer retransmits them when there is room.
        let Behind::Cut(edge) = self.behind_window(start, data_end) else {
            self.due_ack();
            return Err(DropReason::OutOfWindow);
        };
        let end = self.fin.map_or(edge, |fin| edge.min(fin));
        let range = SeqRange::new(start, data_end.min(end));
        let fin = has_fin && data_end.at_or_before(edge) && self.may_end_at(data_end);
        let taken = SeqRange::new(start, range.end + u32::from(fin));
        if taken.is_empty() {
            // The window is closed, so the peer retransmits these bytes, perhaps a probe; the header has been processed.
            self.due_ack();
            return Err(DropReason::OutOfWindow);
        }
        if self.memory_full && !seg.payload.is_empty() {
            // As with a closed window: the header has been processed, and the peer retransmits the bytes.
            self.due_ack();
            return Err(DropReason::ReassemblyLimit);
        }
        let blocks_max = around.cfg.receive.reassembly_max.unwrap_or(u32::MAX).min(self.blocks_max);
        if !self.assembler.admits(taken, blocks_max) {
            // Nothing of the segment is stored, not even its FIN; the ACK repeats the blocks held.
            self.due_ack();
            return Err(DropReason::ReassemblyLimit);
        }
        if fin {
            self.fin = Some(data_end);
        }
        self.store(&seg.payload, range);
        let push = repr.flags.contains(Flags::PSH);
        Ok(self.take(around, &Arrived { seq: repr.seq, payload: seg.payload.len(), len: range.len(), push }, taken))
    }

    /// Returns whether a FIN here agrees with what has arrived. A stream has one end and nothing behind it; a FIN that disagrees
    /// is forged, or its sender is confused, so only the segment's bytes count.
    fn may_end_at(&self, data_end: SeqNum) -> bool {
        match self.fin {
            Some(known) => known == data_end,
            None => data_end.at_or_after(self.rcv_nxt()) && !self.assembler.holds_behind(data_end),
        }
    }

    /// Notes that the sequence numbers `taken` have arrived; their bytes are in the buffer.
    #[inline(always)]
    pub(super) fn take(&mut self, around: &Around<'_>, arrived: &Arrived, taken: SeqRange) -> Received {
        let insertion = self.assembler.insert(taken);
        if let Some(duplicate) = insertion.duplicate
            && options::reports_duplicates(around.cfg, around.neg)
        {
            self.ack.report_duplicate(duplicate);
            // A later duplicate would replace this one, and RFC 2883 §4 asks to report each.
            self.due_ack();
        }
        self.rmss = self.rmss.max(arrived.payload.min(u32::from(around.mtu)));
        let fin = self.fin_received();
        let mut readable = fin;
        if insertion.advanced > 0 {
            // Once the FIN is reached, nothing more is accepted: the FIN is part of what this segment brought.
            let bytes = insertion.advanced - u32::from(fin);
            self.buffer.commit(bytes);
            readable |= bytes > 0;
            if insertion.kind == Arrival::FillsGap && self.assembler.block_count() == 0 {
                self.buffer.release_pages();
            }
        }
        let frame = Frame {
            ip_header: around.ip_header,
            has_timestamps: around.neg.timestamps,
            end: arrived.seq + arrived.payload,
            payload: arrived.payload,
            kind: insertion.kind,
        };
        self.hold_frame(&around.cfg.receive, &frame);
        let grown = self.tune(around, arrived.len);
        if fin {
            self.on_fin(around);
        }
        let ack_at = self.decide_ack(around, arrived, insertion.kind, fin);
        Received { kind: insertion.kind, readable, grown, fin, ack_at }
    }

    //= specs/rfc9293.md#acceptance
    //# Data ahead of a gap is kept.
    /// Copies those bytes of a segment that are still missing into the buffer.
    #[inline]
    pub(super) fn store(&mut self, payload: &Payload<'_>, range: SeqRange) {
        if payload.is_empty() {
            return;
        }
        let Self { assembler, buffer, .. } = self;
        let (rcv_nxt, received) = (assembler.rcv_nxt(), buffer.received());
        if range.start == rcv_nxt && assembler.block_count() == 0 {
            let mut payload = *payload;
            payload.truncate(range.len());
            return buffer.place(0, received, payload);
        }
        assembler.for_each_missing(range, |part| {
            let mut payload = *payload;
            payload.truncate(part.end.distance_from(range.start));
            payload.trim_front(part.start.distance_from(range.start));
            let ahead = part.start.distance_from(rcv_nxt);
            buffer.place(ahead, received + u64::from(ahead), payload);
        });
    }

    #[inline]
    fn tune(&mut self, around: &Around<'_>, len: Bytes) -> Option<Bytes> {
        let rcv_nxt = self.rcv_nxt();
        let offered = self.window.offered(rcv_nxt);
        let lent = Lent { config: &around.cfg.receive.window, limit: self.window.limit(), rmss: self.rmss };
        let grown = self.autotune.on_data(&lent, around.now, rcv_nxt, len, offered, around.echo);
        self.grow(grown);
        grown
    }

    /// Adopts a new size of the receive window.
    #[inline]
    pub(super) fn grow(&mut self, grown: Option<Bytes>) {
        if let Some(bytes) = grown {
            self.window.set_limit(bytes);
        }
    }

    //= specs/rfc9293.md#acknowledgements
    //# Every second full segment is acknowledged.
    //= specs/rfc9293.md#acknowledgements
    //# An acknowledgement is delayed by less than half a second.
    /// Decides when to acknowledge (RFC 9293 §3.8.6.3, RFC 5681 §4.2). Returns the latest time for the ACK if it waits for a
    /// timer that is not armed.
    #[inline(always)]
    fn decide_ack(&mut self, around: &Around<'_>, arrived: &Arrived, kind: Arrival, fin: bool) -> Option<Instant> {
        let arriving = Arriving {
            now: around.now,
            len: arrived.len,
            kind,
            holes: self.has_out_of_order(),
            rmss: self.rmss,
            rto: around.rto.current().duration(),
        };
        let surroundings = self.policy.looks_around().then(|| self.surroundings(around, arrived, fin));
        match self.policy.on_data(&around.cfg.ack, &arriving, surroundings.as_ref()) {
            AckDecision::Now => self.due_ack(),
            AckDecision::After(at) => return Some(at),
            AckDecision::Pending => {}
        }
        None
    }

    /// Returns the state on which the ACK of a segment may depend, beyond the segment itself.
    fn surroundings(&self, around: &Around<'_>, arrived: &Arrived, fin: bool) -> Surroundings {
        // The FIN ends FIN-WAIT-2, and TIME-WAIT stops every running timer.
        let waits_no_more = fin && around.state == State::FinWait2;
        Surroundings {
            push: arrived.push,
            window: self.offered(),
            room: self.room(&around.cfg.receive),
            scarce: self.memory().is_some_and(Memory::is_scarce),
            armed: around.timers.deadline(TimerKind::DelayedAck).filter(|_| !waits_no_more),
            srtt: around.rtt.srtt(),
        }
    }

    /// Handles the arrival of everything up to and including the peer's FIN.
    fn on_fin(&mut self, around: &Around<'_>) {
        if around.state == State::Established && self.policy.on_fin() {
            // The ACK waits for our FIN, which applications tend to send soon; a duplicate FIN reports nothing new.
            self.ack.forget_duplicate();
        } else {
            self.due_ack();
        }
    }

    /// Handles a rejected segment that occupies `range`. The part below RCV.NXT is a duplicate: the next ACK reports it (RFC 2883
    /// §4) if `reported`, and the peer seems to miss ACKs.
    pub fn on_refused(&mut self, cfg: &Config, range: SeqRange, reported: bool) {
        let below = SeqRange::new(range.start, range.end.min(self.rcv_nxt()));
        if below.is_empty() {
            return;
        }
        // A range from before the connection began would be meaningless to the peer.
        if reported && below.start.after(self.irs) {
            self.ack.report_duplicate(below);
        }
        let window = self.shown_window();
        self.policy.on_repetition(&cfg.ack, window, self.rmss);
    }
}
