//! The driver's side of a stack: frames in, timers, frames out. Only [`crate::turn`] calls it.

use super::api::is_unicast;
use super::checksums::{checksum_holds, checksum_state, fill_checksum};
use super::listener::{Listener, is_syn};
use super::slots::{Admission, Slot};
use super::{Held, HeldPayload, Reply, Stack, reset};
use crate::cx::{Cx, StackCx};
use crate::endpoint::{FourTuple, Segment, State, Then};
use crate::event::{Disposition, DropReason};
use crate::pattern::Payload;
use crate::turn::{Budget, ChecksumState, RxFrame, Sent, TxFrame};
use base::{Bytes, Instant};
use std::collections::VecDeque;
use trace::Observer;
use wire::{Flags, IcmpKind, IpRepr, TcpRepr, checksum};

/// Bytes that an orphan's peer must acknowledge in each `orphan_time` to avoid a reset: 73 bytes per second by default.
const ORPHAN_STEP: Bytes = 64 << 10;

impl Stack {
    //= specs/rfc9293.md#opening
    //# Segments from or to broadcast and multicast addresses are dropped in silence.
    /// Takes one frame in.
    pub(crate) fn handle_frame<O: Observer>(&mut self, frame: &RxFrame<'_>, obs: &mut O) {
        self.counters.frames_received += 1;
        let payload_len = frame.payload.len();
        // Borrowed, because a copy of the headers for each frame is measurable.
        let parsed = frame.header.parse(payload_len);
        let (ip, tcp) = match &parsed {
            Ok((ip, tcp)) => (ip, tcp),
            Err(wire::Malformed::NotTcp) if self.handle_icmp(frame, obs) => return,
            Err(reason) => {
                self.counters.malformed += 1;
                self.counters.last_malformed = Some(*reason);
                return;
            }
        };
        if !(self.addresses.contains(&ip.dst) || self.stands_for(ip.dst)) || !is_unicast(ip.src) {
            self.counters.not_ours += 1;
            return;
        }
        if frame.checksum == ChecksumState::InHeader && !checksum_holds(frame) {
            self.counters.bad_checksum += 1;
            return;
        }
        let tuple = FourTuple { remote_port: tcp.src_port, local_port: tcp.dst_port, remote: ip.src, local: ip.dst };
        let segment = Segment { repr: *tcp, payload: frame.payload, ecn: ip.ecn };
        self.counters.payload_received += u64::from(payload_len);
        match self.slots.find(&tuple) {
            Some(index) => self.handle_segment(index, frame.at, ip, &segment, obs),
            None => self.handle_stranger(tuple, frame.at, ip, &segment, obs),
        }
        if self.budget.exceeded() {
            self.relieve(frame.at, obs);
        }
    }

    #[inline]
    pub(super) fn handle_segment<O: Observer>(
        &mut self,
        index: u32,
        at: Instant,
        ip: &IpRepr,
        segment: &Segment<'_>,
        obs: &mut O,
    ) {
        let Some(slot) = self.slots.at(index) else { return };
        if let Admission::Embryonic(on) = slot.admission
            && self.listeners.get(&on).is_some_and(Listener::accept_queue_full)
            && ends_handshake(&segment.repr)
        {
            self.counters.backlog_full += 1;
            return;
        }
        if slot.endpoint.state() == State::TimeWait && is_syn(&segment.repr) && self.begin_next(index, at, segment, obs)
        {
            return;
        }
        // The header always counts: probes are answered, acknowledgements and windows processed.
        let memory_full = matches!(segment.payload, Payload::Bytes(bytes)
            if self.budget.refuses(bytes.len() as u64) && !self.has_memory_for_data(bytes.len(), at, obs));
        let window_max = self.budget.window_max();
        let Some(slot) = self.slots.at(index) else { return };
        slot.endpoint.receiver().set_window_max(window_max);
        slot.endpoint.receiver().set_memory_full(memory_full);
        let mut cx = Cx::new(at, &mut slot.rng, slot.conn.id, obs);
        let embryonic = matches!(slot.endpoint.state(), State::SynSent | State::SynReceived);
        let lends = matches!(segment.payload, Payload::Bytes(bytes) if !bytes.is_empty());
        if lends {
            slot.endpoint.receiver().lend(&mut self.pages, true);
        }
        let disposition = slot.endpoint.handle_segment(&mut cx, segment);
        if lends {
            slot.endpoint.receiver().take_back(&mut self.pages);
            self.pages.on_used(at);
        }
        let changed = slot.has_changed(self.budget.counts_written());
        if disposition == Disposition::Dropped(DropReason::Closed) && slot.endpoint.state() == State::Closed {
            // It has ended but still exists: the segment belongs to no connection.
            let tuple = slot.endpoint.tuple();
            self.slots.detach(index);
            self.after_call(index);
            return self.handle_stranger(tuple, at, ip, segment, obs);
        }
        if embryonic && disposition == Disposition::Dropped(DropReason::BadAck) {
            if let Some(tuple) = self.give_way_to_cookie(index, at, segment) {
                return self.handle_stranger(tuple, at, ip, segment, obs);
            }
            // RFC 9293 §3.10.7.3 and §3.10.7.4, fifth: an acknowledgement of what was never sent.
            self.refuse(at, ip, &segment.repr, segment.payload.len());
        }
        self.after_call_and(index, mark_ready);
        if changed {
            self.recount(index);
        }
    }

    //= specs/rfc9293.md#resets
    //# A segment for no connection is answered with a reset, unless it is one.
    /// Answers a segment that belongs to no connection, as far as the guards allow.
    pub(super) fn refuse(&mut self, at: Instant, ip: &IpRepr, repr: &TcpRepr, payload_len: u32) {
        if let Some((ip, reset)) = reset::answer(ip, repr, payload_len)
            && self.may_reset(at)
        {
            self.reply(Reply::Segment(ip, reset));
        }
    }

    /// Serves timers that are due strictly before `at`, each at its own instant.
    pub(crate) fn serve_timers_before<O: Observer>(&mut self, at: Instant, obs: &mut O) {
        while let Some((due, index)) = self.deadlines.peek().filter(|(due, _)| *due < at) {
            self.serve_timer(due, due, index, obs);
        }
    }

    /// Serves timers that are due at or before `now`, each at its own instant.
    pub(crate) fn serve_timers_until<O: Observer>(&mut self, now: Instant, obs: &mut O) {
        while let Some((due, index)) = self.deadlines.peek().filter(|(due, _)| *due <= now) {
            self.serve_timer(due, due, index, obs);
        }
    }

    /// Serves timers that are due at or before `due_by`, all of them at `at`, which is not earlier: after a retransmission that
    /// leaves late, the next one must not follow as if it had been on time.
    pub(crate) fn serve_late_timers<O: Observer>(&mut self, due_by: Instant, at: Instant, obs: &mut O) {
        while let Some((due, index)) = self.deadlines.peek().filter(|(due, _)| *due <= due_by) {
            self.serve_timer(due, at, index, obs);
        }
    }

    /// Serves the entry of `due`, at the instant `at`.
    fn serve_timer<O: Observer>(&mut self, due: Instant, at: Instant, index: u32, obs: &mut O) {
        self.deadlines.remove(index);
        let Some(slot) = self.slots.at(index) else { return };
        slot.scheduled = Instant::MAX;
        if slot.endpoint.next_deadline().is_some_and(|real| real <= due) {
            let mut cx = Cx::new(at, &mut slot.rng, slot.conn.id, obs);
            slot.endpoint.handle_timeout(&mut cx);
            self.remember_path(index);
            self.mark_ready(index);
        } else if slot.release_until <= due {
            let left = slot.endpoint.unacknowledged();
            if left.saturating_add(ORPHAN_STEP) <= slot.release_left {
                slot.release_left = left;
                slot.release_until = due + self.guards.orphan_time;
            } else {
                self.reset_orphan(index, at, obs);
            }
        }
        self.after_call(index);
        self.await_release(index);
        self.note_kept(index, at);
    }

    /// Transmits one burst per ready endpoint in turn. Returns whether more data waits.
    pub(crate) fn transmit<O: Observer>(
        &mut self,
        cx: &mut StackCx<'_, O>,
        tx: &mut impl FnMut(TxFrame<'_>) -> Sent,
        budget: Budget,
    ) -> bool {
        let mut left = budget.frames;
        self.expire_requests(cx);
        if self.keepers.front().is_some_and(|(until, _)| *until <= cx.now) {
            self.release_kept(cx.now);
        }
        if !self.transmit_held(tx) {
            return true;
        }
        while let Some(reply) = self.next_reply() {
            if !self.transmit_reply(&reply, tx) {
                return true;
            }
        }
        while let Some(&index) = self.ready.front() {
            if left == 0 {
                return true;
            }
            let burst = left.min(BURST);
            let (sent, more) = self.transmit_from(index, cx, tx, burst);
            left = left.saturating_sub(sent);
            self.ready.pop_front();
            if more {
                self.ready.push_back(index);
            }
            self.after_call_and(index, |slot, _| slot.ready = more);
            if self.held.is_some() {
                return true;
            }
        }
        false
    }

    /// Transmits up to `burst` frames of one endpoint; returns their number, or the largest one if the device expects no more, and
    /// whether more wait.
    #[inline]
    fn transmit_from<O: Observer>(
        &mut self,
        index: u32,
        cx: &mut StackCx<'_, O>,
        tx: &mut impl FnMut(TxFrame<'_>) -> Sent,
        burst: usize,
    ) -> (usize, bool) {
        for sent in 0..burst {
            let Some(slot) = self.slots.at(index) else { return (sent, false) };
            let mut ecx = Cx::new(cx.now, &mut slot.rng, slot.conn.id, cx.obs);
            let Some(transmit) = slot.endpoint.poll_transmit(&mut ecx, &mut self.tx) else { return (sent, false) };
            let payload = slot.endpoint.payload(&transmit, &mut self.scratch);
            let header = &mut self.tx.header[..transmit.header_len];
            let checksum = fill_checksum(self.device.checksum, header, payload);
            let frame = TxFrame { header, payload, gso_size: transmit.gso_size, checksum };
            let taken = tx(frame);
            self.counters.payload_sent += u64::from(payload.len());
            if taken == Sent::Full {
                self.held = Some(hold(&frame));
                return (sent, true);
            }
            self.counters.frames_sent += 1;
            let sent = if taken == Sent::Last { usize::MAX } else { sent + 1 };
            if transmit.then == Then::Rest || taken == Sent::Last {
                return (sent, transmit.then == Then::Poll);
            }
        }
        (burst, true)
    }

    /// Offers a reply to the device; keeps it if the device has no room.
    fn transmit_reply(&mut self, reply: &Reply, tx: &mut impl FnMut(TxFrame<'_>) -> Sent) -> bool {
        let (Reply::Segment(ip, repr) | Reply::Unreachable(_, ip, repr)) = reply;
        let header_len = wire::emit(ip, repr, 0, &mut self.tx.header);
        let header = &mut self.tx.header[..header_len];
        let frame = match reply {
            Reply::Segment(..) => {
                let payload = Payload::Bytes(&[]);
                let checksum = fill_checksum(self.device.checksum, header, payload);
                TxFrame { header, payload, gso_size: None, checksum }
            }
            Reply::Unreachable(why, ..) => {
                checksum::fill(header, &[]);
                wire::icmp::emit(IcmpKind::Unreachable(*why), ip.dst, header, &mut self.scratch);
                let (header, quote) = self.scratch.split_at(self.scratch.len() - header_len);
                TxFrame { header, payload: Payload::Bytes(quote), gso_size: None, checksum: ChecksumState::InHeader }
            }
        };
        if tx(frame) == Sent::Full {
            self.held = Some(hold(&frame));
            return false;
        }
        self.counters.frames_sent += 1;
        true
    }

    /// Offers a held frame again; `false` when there is still no room.
    fn transmit_held(&mut self, tx: &mut impl FnMut(TxFrame<'_>) -> Sent) -> bool {
        let Some(held) = self.held.take() else { return true };
        let payload = match &held.payload {
            HeldPayload::Bytes(bytes) => Payload::Bytes(bytes),
            HeldPayload::Pattern { offset, len } => Payload::Pattern { offset: *offset, len: *len },
        };
        let header = &held.header[..held.header_len];
        let checksum = if held.is_complete { ChecksumState::InHeader } else { checksum_state(self.device.checksum) };
        let frame = TxFrame { header, payload, gso_size: held.gso_size, checksum };
        if tx(frame) == Sent::Full {
            self.held = Some(held);
            return false;
        }
        self.counters.frames_sent += 1;
        true
    }

    /// Sets whether the device rejects packets from now on: it drops them and reports that, unlike a full device, which will take
    /// them later. Connections pass nothing to it: those whose configuration has `retries.refused` keep their data, the others
    /// count theirs as sent. The stack's own replies are passed to the device, which is to drop them.
    pub fn set_device_refuses(&mut self, refuses: bool) {
        if refuses != self.refuses {
            self.refuses = refuses;
            self.slots.endpoints_mut().for_each(|endpoint| endpoint.set_outlet(refuses));
        }
    }

    /// Puts an endpoint on the ready list.
    #[inline]
    pub(super) fn mark_ready(&mut self, index: u32) {
        if let Some(slot) = self.slots.at(index) {
            mark_ready(slot, &mut self.ready);
        }
    }

    /// Updates an endpoint's events and deadline after any change.
    pub(super) fn after_call(&mut self, index: u32) {
        self.after_call_and(index, |_, _| ());
    }

    /// The same, after a `first` step with the slot and the ready list: one search for the slot less.
    #[inline(always)]
    fn after_call_and(&mut self, index: u32, first: impl FnOnce(&mut Slot, &mut VecDeque<u32>)) {
        let Some(slot) = self.slots.at(index) else { return };
        first(slot, &mut self.ready);
        if !slot.has_events && slot.endpoint.has_events() {
            slot.has_events = true;
            self.eventful.push_back(index);
        }
        if let Some(at) = slot.endpoint.next_deadline()
            && at < slot.scheduled
        {
            slot.scheduled = at;
            self.deadlines.set(at, index);
        }
        let state = slot.endpoint.state();
        let report = slot.endpoint.take_fast_open_report();
        if let Admission::Embryonic(on) = slot.admission
            && state.is_synchronized()
        {
            self.set_admission(index, Admission::Waiting(on));
        }
        if let Some(report) = report {
            self.on_fast_open_report(index, report);
        }
        if state == State::Closed {
            self.free_if_over(index);
        }
    }

    /// Frees an endpoint that has ended, once no application expects events of it.
    pub(super) fn free_if_over(&mut self, index: u32) {
        let Some(slot) = self.slots.at(index) else { return };
        let silent = slot.endpoint.state() == State::Closed && !slot.ready && !slot.endpoint.wants_to_send();
        // No application will release a passive connection that was never established.
        let unwanted = slot.released || matches!(slot.admission, Admission::Embryonic(_));
        if silent && unwanted {
            self.drop_slot(index);
        }
    }

    pub(super) fn drop_slot(&mut self, index: u32) {
        self.set_admission(index, Admission::Owned);
        let Some(slot) = self.slots.at(index) else { return };
        let share = slot.share;
        self.deadlines.remove(index);
        self.slots.remove(index);
        self.budget.forget(index, share, self.slots.len());
    }
}

/// Puts an endpoint on the ready list, unless it is there.
#[inline]
fn mark_ready(slot: &mut Slot, ready: &mut VecDeque<u32>) {
    if !slot.ready {
        slot.ready = true;
        ready.push_back(slot.conn.slot);
    }
}

/// Whether a segment would establish an embryonic connection.
fn ends_handshake(repr: &TcpRepr) -> bool {
    repr.ack.is_some() && !repr.flags.contains(Flags::RST) && !repr.flags.contains(Flags::SYN)
}

/// Frames that one endpoint may send before the next one's turn.
const BURST: usize = 64;

fn hold(frame: &TxFrame<'_>) -> Held {
    let mut header = [0; wire::MAX_HEADER];
    header[..frame.header.len()].copy_from_slice(frame.header);
    let payload = match frame.payload {
        Payload::Bytes(bytes) => HeldPayload::Bytes(bytes.to_vec()),
        Payload::Pattern { offset, len } => HeldPayload::Pattern { offset, len },
    };
    let is_complete = frame.checksum == ChecksumState::InHeader;
    Held { header, header_len: frame.header.len(), payload, gso_size: frame.gso_size, is_complete }
}
