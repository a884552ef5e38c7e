//! Segments that ask and do not wait for their turn: tail loss probes (RFC 8985 §7), the new data with which F-RTO examines a
//! timeout (RFC 5682 §2.1), and probes of a closed window (RFC 9293 §3.8.6.1); and what their answers mean.

use super::output::{Transmit, TxBuf};
use super::watch::{SendCause, Told};
use super::{Endpoint, Probing, SendSide};
use crate::config::WindowProbe;
use crate::cx::Cx;
use base::{Bytes, Instant, SeqRange};
use recovery::Mark;
use recovery::tlp::{ProbeAck, ProbeKind, ProbeOutcome};
use trace::{Event, Observer};
use wire::Flags;

impl Endpoint {
    //= specs/rfc8985.md#sending-a-probe
    //# The probe is the next unsent segment, if there is one and the peer's window takes it.
    //= specs/rfc8985.md#sending-a-probe
    //# Without such a segment the probe is the segment with the highest sequence numbers, sent again.
    //= specs/rfc8985.md#sending-a-probe
    //# A probe may exceed the congestion window by one segment, and counts as in flight.
    /// RFC 8985 §7.3: new data if there is any that the peer's window takes, else the highest segment once more; the
    /// congestion window does not hold it back.
    pub(super) fn send_tail_probe<O: Observer>(&mut self, cx: &mut Cx<'_, O>, out: &mut TxBuf) -> Option<Transmit> {
        self.snd.rec.tail.reset();
        let highest = self.snd.rec.board.last().filter(|last| last.mark == Mark::Outstanding);
        let (kind, transmit) = match (self.send_one_new(cx, out, SendCause::TailProbe), highest) {
            (Some(transmit), _) => (ProbeKind::New, transmit),
            (None, Some(last)) => (ProbeKind::Retransmission, self.resend(cx, out, &last, SendCause::TailProbe)),
            (None, None) => return None,
        };
        let rare = self.rare_mut();
        rare.probes = rare.probes.saturating_add(1);
        self.snd.rec.tail.on_sent(kind, self.snd.space.nxt());
        // RFC 8985 §7.3: the timeout, and no further probe, waits for the answer.
        self.snd.rec.restart_rto(cx.now);
        self.arm_loss_timer(cx);
        Some(transmit)
    }

    pub(super) fn frto_segments(&self) -> Option<u8> {
        self.snd.rec.undo.as_ref()?.frto.new_segments()
    }

    //= specs/rfc5682.md#basic-algorithm
    //# A first ACK that advances SND.UNA otherwise lets up to two new segments leave, and no retransmission.
    //= specs/rfc5682.md#basic-algorithm
    //# Without new data, or without room in the peer's window, the test ends and recovery is conventional.
    /// RFC 5682 §2.1, step 2b: while a timeout is examined, new data leaves and nothing else; without any, recovery goes on
    /// as usual with the next call.
    pub(super) fn send_in_place_of_retransmissions<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        out: &mut TxBuf,
        left: u8,
    ) -> Option<Transmit> {
        let transmit = if left > 0 { self.send_one_new(cx, out, SendCause::Frto) } else { None };
        let undo = self.snd.rec.undo.as_mut()?;
        if transmit.is_some() {
            undo.frto.on_new_segment();
        } else if undo.frto.nothing_was_sent() {
            undo.frto.give_up();
            return self.send_data(cx, out);
        }
        transmit
    }

    /// One segment of new data, if the peer's window takes it, whatever the congestion window and Nagle's rule say.
    fn send_one_new<O: Observer>(&mut self, cx: &mut Cx<'_, O>, out: &mut TxBuf, cause: SendCause) -> Option<Transmit> {
        let unsent = self.snd.data_end().distance_from(self.snd.space.nxt());
        let len = self.snd.up_to_chunk_end(unsent.min(self.segment_size()));
        if self.snd.space.side() == SendSide::FinSent || len == 0 || len > self.snd.space.usable() {
            return None;
        }
        Some(self.emit_new(cx, out, len, self.snd.space.side() == SendSide::FinQueued && len == unsent, cause))
    }

    /// Step 5: what an acknowledgement says about the tail loss probe.
    #[inline]
    pub(super) fn answer_probe<O: Observer>(&mut self, cx: &mut Cx<'_, O>, news: &ProbeAck) -> ProbeOutcome {
        let outcome = self.snd.rec.tail.on_ack(news);
        match outcome {
            ProbeOutcome::Pending => {}
            ProbeOutcome::Done => cx.emit(|| Event::ProbeAnswered { repaired: false }),
            ProbeOutcome::Repaired => cx.emit(|| Event::ProbeAnswered { repaired: true }),
        }
        outcome
    }

    /// RFC 9293 §3.8.6.1: one byte beyond the closed window, or, when the silly-window rules held something back, as much
    /// as the window takes.
    pub(super) fn send_probe<O: Observer>(&mut self, cx: &mut Cx<'_, O>, out: &mut TxBuf) -> Option<Transmit> {
        let Probing::Due(sent) = self.snd.rec.probing() else { return None };
        let empty = self.cfg.send.window_probe == WindowProbe::Empty;
        let unsent = self.snd.data_end().distance_from(self.snd.space.nxt());
        if self.snd.space.side() == SendSide::FinSent
            || (unsent == 0 && !(empty && self.snd.space.side() == SendSide::FinQueued))
        {
            self.snd.rec.set_probing(Probing::Idle);
            return None;
        }
        self.snd.rec.set_probing(Probing::Waiting(sent.saturating_add(1)));
        if empty && self.snd.space.wnd() == 0 {
            self.arm_loss_timer(cx);
            return Some(self.send_bare_probe(cx, out));
        }
        if empty {
            // What the window takes is not a probe but data, and its acknowledgement will report the window.
            self.snd.rec.set_probing(Probing::Idle);
        }
        let len = self.snd.space.wnd().min(unsent).clamp(1, self.segment_size());
        let len = if unsent == 0 { 0 } else { self.snd.commit_probe(&self.cfg, len, self.segment_size()) };
        let transmit = self.emit_new(cx, out, len, unsent == 0, SendCause::WindowProbe);
        self.arm_loss_timer(cx);
        Some(transmit)
    }

    /// A segment without data, one number below what the peer expects: it has to answer (RFC 9293 §3.8.4; §3.10.7.4, first).
    pub(super) fn send_bare_probe<O: Observer>(&mut self, cx: &mut Cx<'_, O>, out: &mut TxBuf) -> Transmit {
        let seq = self.snd.space.una() - 1;
        let cause = if self.snd.rec.probing() == Probing::Idle { SendCause::KeepAlive } else { SendCause::WindowProbe };
        self.send_segment(cx, out, SeqRange::new(seq, seq), Flags::NONE, Told::of(cause))
    }

    /// An ACK brought no news but perhaps a window. If that is as closed as before, the next empty probe waits from now on.
    pub(super) fn take_answer<O: Observer>(&mut self, cx: &mut Cx<'_, O>, wnd_before: Bytes) {
        let waits = matches!(self.snd.rec.probing(), Probing::Waiting(_)) && self.snd.rec.board.is_empty();
        let from_now = waits && self.cfg.send.window_probe == WindowProbe::Empty;
        if self.stop_probing_if_opened(cx.now, wnd_before) || from_now {
            self.arm_loss_timer(cx);
        }
    }

    /// Where probes are empty, a window that does not take the next segment is as good as closed, and probes go on as they were.
    fn is_still_too_narrow(&self) -> bool {
        let unsent = self.snd.data_end().distance_from(self.snd.space.nxt());
        self.cfg.send.window_probe == WindowProbe::Empty && self.snd.space.wnd() < unsent.min(self.segment_size())
    }

    //= specs/rfc9293.md#windows
    //# A window that the peer takes back does not harm the connection.
    /// The peer's window grew while the persist timer stood in for news of it: the timer watches over the flight again,
    /// and what a probe carried beyond a closed window is due at once, without blame. Returns whether that is so.
    pub(super) fn stop_probing_if_opened(&mut self, now: Instant, wnd_before: Bytes) -> bool {
        if self.snd.rec.probing() == Probing::Idle || self.snd.space.wnd() <= wnd_before || self.is_still_too_narrow() {
            return false;
        }
        self.snd.rec.set_probing(Probing::Idle);
        self.on_progress();
        self.snd.rec.restart_rto(now);
        if wnd_before == 0
            && let Some(probe) = self.snd.rec.board.oldest_sent()
        {
            self.snd.rec.board.mark_lost(probe.id);
            self.snd.rec.board.clear_lost_log();
            self.snd.rec.force(true);
        }
        true
    }
}
