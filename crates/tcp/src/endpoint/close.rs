//! The end of a connection (RFC 9293 §3.6): our FIN, the waiting states, resets.

use super::{Application, Endpoint, News, SendSide, State};
use crate::cx::Cx;
use crate::event::CloseReason;
use crate::timers::TimerKind;
use base::{Duration, SeqNum};
use trace::Observer;

impl Endpoint {
    /// How the connection ended.
    pub fn closed(&self) -> Option<CloseReason> {
        self.life.closed()
    }

    /// The application will write no more: a FIN follows the last byte. Reading goes on.
    pub fn shutdown<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        if self.snd.space.side() != SendSide::Open || self.life.state() == State::Closed {
            return;
        }
        self.snd.space.queue_fin();
        self.snd.end_waiting();
        match self.life.state() {
            State::Established => self.set_state(cx, State::FinWait1),
            State::CloseWait => self.set_state(cx, State::LastAck),
            // RFC 9293 §3.10.4: nothing was sent yet, nothing has to be closed.
            State::SynSent => self.finish(cx, CloseReason::Normal),
            _ => {}
        }
    }

    /// The application wants no more: a reset leaves, both directions end.
    pub fn abort<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        if self.life.state() == State::Closed {
            return;
        }
        // RFC 9293 §3.10.5: in these states nothing is left to say to the peer, unless our FIN is still to follow.
        let silent = match self.life.state() {
            State::SynSent | State::TimeWait => true,
            State::Closing | State::LastAck => self.snd.space.side() == SendSide::FinSent,
            _ => false,
        };
        if !silent {
            self.life.require_reset();
        }
        self.finish(cx, CloseReason::Aborted);
    }

    /// Ends the connection for `reason`; everything that waited is dropped.
    pub(super) fn finish<O: Observer>(&mut self, cx: &mut Cx<'_, O>, reason: CloseReason) {
        if self.life.state() == State::Closed {
            return;
        }
        self.note_early_end(cx.now, reason);
        let reason = self.path().reports().cause(reason);
        self.set_state(cx, State::Closed);
        self.timers.stop_all();
        self.life.take_syn();
        self.rcv.forget_due_ack();
        // A connection that ended in TIME-WAIT was reported when it got there.
        if self.life.close(reason) {
            self.pending.add(News::Closed);
            if reason != CloseReason::Normal {
                self.pending.add(News::Readable);
            }
        }
    }

    /// The wait is bounded only once the application has released the connection; until then the peer may send
    /// indefinitely. A zero wait ends the connection with the segment that acknowledged our FIN; a reset answers it.
    pub(super) fn enter_fin_wait_2<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        self.set_state(cx, State::FinWait2);
        if self.life.application() != Application::Gone {
            return;
        }
        match self.cfg.timers.fin_wait_2 {
            Duration::ZERO => self.finish(cx, CloseReason::Aborted),
            wait => self.arm(cx, TimerKind::FinWait2, cx.now + wait),
        }
    }

    /// The application will read no more, though it may still write. Nothing changes for the peer until this direction is
    /// closed as well: then a reset answers data that the application will not read.
    pub(crate) fn stop_reading(&mut self) {
        self.life.stop_reading();
    }

    //= specs/rfc9293.md#closing
    //# When data that arrived is lost to a close, a reset says so.
    /// The application has released the connection and reads nothing that arrives from now on. The peer receives a reset
    /// instead of a FIN if something has arrived that was not read (RFC 9293 §3.6.1, RFC 2525 §2.17).
    pub(crate) fn release<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        self.life.release();
        if self.life.state().is_synchronized() && self.life.state() != State::TimeWait && self.rcv.readable() > 0 {
            return self.abort(cx);
        }
        self.shutdown(cx);
        if self.life.state() == State::FinWait2 {
            match self.cfg.timers.fin_wait_2 {
                Duration::ZERO => self.abort(cx),
                wait => self.arm(cx, TimerKind::FinWait2, cx.now + wait),
            }
        }
    }

    /// Whether the bytes before `data_end` come too late: both directions are closed as far as the application is
    /// concerned, and they are new. The connection ends then; the reset is the stack's, as for a segment without a
    /// connection (RFC 9293 §3.6.1).
    pub(super) fn is_lost_on_us<O: Observer>(&mut self, cx: &mut Cx<'_, O>, data_end: SeqNum) -> bool {
        let closed = matches!(self.life.state(), State::FinWait1 | State::FinWait2);
        let lost = closed && self.life.application() != Application::Reads && data_end.after(self.rcv.rcv_nxt());
        if lost {
            self.finish(cx, CloseReason::Aborted);
        }
        lost
    }
}
