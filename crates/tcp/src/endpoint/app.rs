//! What the application and the stack ask of a connection, but for writing: read, bytes or the position-coded pattern, other
//! settings, the end (RFC 9293 §3.6), and less memory.

use super::receiver::Receiver;
use super::{Endpoint, SendSide, State};
use crate::config::{ReceiveConfig, ValidConfig};
use crate::cx::Cx;
use crate::event::{CloseReason, Read, ReadError, UrgentError};
use crate::recv::AckPace;
use crate::timers::TimerKind;
use base::{Bytes, Duration};
use recovery::Scoreboard;
use trace::{Event, Observer};

impl Endpoint {
    /// Goes on with other settings: a socket option that came after the connection was opened.
    ///
    /// What is looked up when it is needed (rules for small segments, time limits, retries, delays of acknowledgements)
    /// changes at once; keep-alive begins, changes or ends, and what was heard before counts; the send buffer takes its new
    /// size, and what a cork or Nagle's rule held leaves. What machines were built from when the connection began (detector,
    /// controller, kind of ACK timer, what the SYNs negotiated, receive buffer) stays as it was built.
    pub(crate) fn reconfigure<O: Observer>(&mut self, cx: &mut Cx<'_, O>, cfg: &ValidConfig) {
        let before = core::mem::replace(&mut self.cfg, cfg.clone());
        self.follow_send_config(&before.send);
        self.rcv.reconfigure(&before.receive.accounting, &self.cfg.receive);
        if before.keepalive != cfg.keepalive {
            self.arm_keepalive(cx);
        }
        let watches = self.life.state().is_synchronized() && !self.snd.rec.board.is_empty();
        if before.retries.user_timeout != cfg.retries.user_timeout && watches {
            self.arm_loss_timer(cx);
        }
    }

    /// Whether ACKs leave quickly or wait for replies, at present.
    pub fn ack_pace(&self) -> AckPace {
        self.rcv.ack_pace()
    }

    //= specs/rfc9293.md#closing
    //# The application can tell a normal end from an aborted one.
    /// The application reads: `take` removes received bytes and returns how many, those before an urgent mark and those from it
    /// on in different calls.
    ///
    /// # Errors
    /// When the connection ended abnormally and everything received before has been read.
    pub(crate) fn read<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        take: impl FnOnce(&mut Receiver, &ReceiveConfig) -> u64,
    ) -> Result<Read, ReadError> {
        let taken = take(&mut self.rcv, &self.cfg.receive);
        if taken > 0 {
            let grown = self.rcv.on_consumed(&self.cfg, self.life.state(), cx.now, taken);
            Self::emit_window_growth(cx, grown);
            return Ok(Read::Data(taken));
        }
        let fin_reached = self.rcv.fin_received();
        match self.life.closed() {
            Some(CloseReason::Normal) => Ok(Read::Fin),
            Some(_) if fin_reached => Ok(Read::Fin),
            Some(reason) => Err(ReadError::Closed(reason)),
            None if fin_reached && self.rcv.readable() == 0 => Ok(Read::Fin),
            None => Ok(Read::Data(0)),
        }
    }

    /// The receive window has grown, if it has.
    #[inline]
    pub(super) fn emit_window_growth<O: Observer>(cx: &mut Cx<'_, O>, grown: Option<Bytes>) {
        if let Some(bytes) = grown {
            cx.emit(|| Event::ReceiveBuffer { bytes });
        }
    }

    /// Bytes to be read before the last urgent one; zero at the mark, none when no mark lies ahead.
    pub fn urgent_ahead(&self) -> Option<u64> {
        self.rcv.urgent_ahead()
    }

    /// The last urgent byte, kept out of the stream; it stays to be fetched.
    ///
    /// # Errors
    /// When there is none, because no mark lies ahead, the byte was fetched, or all bytes are in the stream; or when it
    /// has not arrived.
    pub fn urgent_byte(&self) -> Result<u8, UrgentError> {
        self.rcv.urgent_byte(&self.cfg.receive)
    }

    /// Fetches the last urgent byte, which was kept out of the stream.
    ///
    /// # Errors
    /// As for [`Self::urgent_byte`].
    pub fn take_urgent_byte(&mut self) -> Result<u8, UrgentError> {
        self.rcv.take_urgent_byte(&self.cfg.receive)
    }

    /// Copies received bytes to the front of `out` without taking them, and returns how many.
    pub fn peek(&self, out: &mut [u8]) -> usize {
        self.rcv.peek(&self.cfg.receive, out)
    }

    /// The application will write no more: a FIN follows the last byte. Reading goes on.
    pub fn shutdown<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        if self.snd.space.side() != SendSide::Open || self.life.state() == State::Closed {
            return;
        }
        self.snd.space.queue_fin();
        self.snd.end_waiting();
        if let Some(next) = self.life.state().after_shutdown() {
            self.set_state(cx, next);
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

    /// The application has accepted the connection.
    pub(crate) fn note_accepted(&mut self) {
        if let Some(extras) = self.extras.as_deref_mut() {
            extras.fast_open.on_accepted();
        }
    }

    /// Says whether a call waits for the connection that writes as soon as it is open.
    pub(crate) fn announce_writer(&mut self, waits: bool) {
        if waits || self.extras.is_some() {
            self.extras_mut().opening.announce_writer(waits);
        }
    }

    /// Whether the peer should hear of a window that the host held back.
    pub(crate) fn reopen(&mut self) -> bool {
        let due = self.life.state().may_receive() && self.rcv.window_update_due(&self.cfg.receive);
        self.rcv.due_ack_if(due);
        due
    }

    /// Frees every buffer of a connection that neither sends nor delivers any more data.
    pub(crate) fn compact(&mut self) {
        self.rcv.compact();
        self.snd.drop_bytes();
        self.snd.rec.board = Scoreboard::new(self.snd.space.nxt());
        self.snd.rec.delivered = None;
        self.snd.rec.undo = None;
    }
}
