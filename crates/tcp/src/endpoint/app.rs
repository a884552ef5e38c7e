//! The application's calls: read and write, bytes or the position-coded pattern (RFC 9293 §3.9.1), new settings, and the end
//! (§3.6).
//!
//! An endpoint checks whether more may leave only after events that may allow it: a write, a segment from the peer, a change of
//! settings, the pacer's release time.

use super::network::probe_view;
use super::outlet::Outlet;
use super::path::{Path, ProbeNow};
use super::receiver::Receiver;
use super::sender::{Boundary, HeldBy, Released, Sender, Source, TurnCx};
use super::{Endpoint, Readiness, SendSide, State};
use crate::config::{ReceiveConfig, ValidConfig};
use crate::cx::Cx;
use crate::event::{CloseReason, Read, ReadError, UrgentError, WriteError};
use crate::recv::AckPace;
use crate::timers::TimerKind;
use base::{Bytes, Duration};
use trace::{Event, Observer};

impl Endpoint {
    /// Applies changed settings: a socket option that was set after the connection was opened.
    ///
    /// Settings that are looked up when needed (rules for small segments, time limits, retries, ACK delays) change at once.
    /// Keep-alive begins, changes or ends, and earlier silence counts. The send buffer takes its new size, and data that a cork
    /// or Nagle's rule held leaves. Parts built when the connection began (detector, controller, kind of ACK timer, options
    /// negotiated in SYNs, receive buffer) stay as they are.
    pub(crate) fn reconfigure<O: Observer>(&mut self, cx: &mut Cx<'_, O>, cfg: &ValidConfig) {
        let before = core::mem::replace(&mut self.cfg, cfg.clone());
        let urgent = self.is_urgent();
        let woken = self.snd.reconfigure(&before.send, &self.cfg, urgent);
        self.pending.add_if(woken, Readiness::Writable);
        self.rcv.reconfigure(&before.receive.accounting, &self.cfg.receive);
        if before.keepalive != cfg.keepalive {
            self.arm_keepalive(cx);
        }
        let watches = self.life.state().is_synchronized() && !self.snd.rec.board.is_empty();
        if before.retries.user_timeout != cfg.retries.user_timeout && watches {
            self.arm_loss_timer(cx);
        }
    }

    /// Returns whether ACKs currently leave quickly or wait for replies.
    pub fn ack_pace(&self) -> AckPace {
        self.rcv.ack_pace()
    }

    //= specs/rfc9293.md#closing
    //# The application can tell a normal end from an aborted one.
    /// Reads by `take`, which removes received bytes and returns their number; bytes before an urgent mark and bytes from it on
    /// never share a call.
    ///
    /// # Errors
    /// If the connection ended abnormally and everything received before has been read.
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

    /// Acts on a receive window that may have grown.
    #[inline]
    pub(super) fn emit_window_growth<O: Observer>(cx: &mut Cx<'_, O>, grown: Option<Bytes>) {
        if let Some(bytes) = grown {
            cx.emit(|| Event::ReceiveBuffer { bytes });
        }
    }

    /// Returns the bytes to read before the last urgent one: zero at the mark, `None` when no mark lies ahead.
    pub fn urgent_ahead(&self) -> Option<u64> {
        self.rcv.urgent_ahead()
    }

    /// Returns the last urgent byte, which is outside the stream, without removing it.
    ///
    /// # Errors
    /// If there is none, because no mark lies ahead, the byte was already fetched, or all bytes are in the stream; or if it has
    /// not arrived.
    pub fn urgent_byte(&self) -> Result<u8, UrgentError> {
        self.rcv.urgent_byte(&self.cfg.receive)
    }

    /// Copies received bytes to the front of `out` without consuming them; returns their number.
    pub fn peek(&self, out: &mut [u8]) -> usize {
        self.rcv.peek(&self.cfg.receive, out)
    }

    /// Closes the sending direction: a FIN follows the last byte. Reading is still possible.
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

    /// Aborts the connection: sends a reset and ends both directions.
    pub fn abort<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        if self.life.state() == State::Closed {
            return;
        }
        // RFC 9293 §3.10.5: in these states the peer needs no reset, unless our FIN is still to be sent.
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

    /// Stops reading; writing is still possible. The peer notices nothing until the sending direction is closed as well: then a
    /// reset answers data that the application will not read.
    pub(crate) fn stop_reading(&mut self) {
        self.life.stop_reading();
    }

    //= specs/rfc9293.md#closing
    //# When data that arrived is lost to a close, a reset says so.
    /// Releases the connection: the application reads nothing that arrives from now on. The peer receives a reset instead of a
    /// FIN if received data was not read (RFC 9293 §3.6.1, RFC 2525 §2.17).
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

    /// Notes that the application has accepted the connection.
    pub(crate) fn note_accepted(&mut self) {
        if let Some(extras) = self.extras.as_deref_mut() {
            extras.fast_open.on_accepted();
        }
    }

    /// Sets whether a call waits for the connection in order to write once it is open.
    pub(crate) fn announce_writer(&mut self, waits: bool) {
        if waits || self.extras.is_some() {
            self.extras.get_or_insert_default().opening.announce_writer(waits);
        }
    }

    /// Takes as much of `source` as the send buffer has room for; `boundary` says what is at its end. A short count means that a
    /// `Writable` event follows.
    ///
    /// # Errors
    /// After `shutdown`, or when the connection is over.
    pub fn write_with<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        source: Source<'_>,
        boundary: Boundary,
    ) -> Result<u64, WriteError> {
        if self.outlet == Outlet::Reopened {
            self.retry_refused();
        }
        match self.life.closed() {
            Some(reason) => Err(WriteError::Closed(reason)),
            None if self.snd.space.side() != SendSide::Open => Err(WriteError::Shutdown),
            None => Ok(self.on_turn(cx, |snd, turn| snd.write(turn, source, boundary)).0),
        }
    }

    /// Passes the sender the input for its turn of new data, and applies the outcome of a write or of that turn. Returns what
    /// holds the next part back.
    #[inline]
    pub(super) fn on_turn<O: Observer, T>(
        &mut self,
        cx: &mut Cx<'_, O>,
        act: impl FnOnce(&mut Sender, &TurnCx<'_>) -> (T, Released),
    ) -> (T, Option<HeldBy>) {
        let (now, size, idle) = (cx.now, self.segment_size(), self.stats.since_data_sent(cx.now));
        let (open, urgent, at) = (self.may_send(), self.is_urgent(), self.path_cx());
        let path = self.extras.as_ref().map_or(&Path::UNKNOWN, |extras| &extras.path);
        let probes_path = |snd: &Sender| path.searches() && path.probe_now(&at, &probe_view(snd, size)) != ProbeNow::No;
        let turn = TurnCx { cfg: &self.cfg, size, now, idle, open, urgent, probes_path: &probes_path };
        let (result, released) = act(&mut self.snd, &turn);
        self.pending.add_if(released.woken, Readiness::Writable);
        if released.waits_for_window && self.snd.wait_for_window(self.is_early()) {
            self.arm_loss_timer(cx);
        }
        (result, released.held)
    }

    /// Returns whether writing is worthwhile: a good part of the buffer is free, and little data waits to be sent.
    pub fn is_writable(&self) -> bool {
        self.snd.is_writable(&self.cfg)
    }

    //= specs/rfc9293.md#urgent-data
    //# Urgent data may have any length.
    /// Takes as much of `data` as there is room for; the last byte taken is the last urgent one. Earlier urgent data that is not
    /// acknowledged yet becomes part of it.
    ///
    /// # Errors
    /// As for `write_with`.
    pub fn write_urgent<O: Observer>(&mut self, cx: &mut Cx<'_, O>, data: &[u8]) -> Result<usize, WriteError> {
        let taken = self.write_with(cx, Source::Bytes(data), Boundary::None)?;
        if taken > 0 {
            let end = self.snd.data_end();
            self.extras.get_or_insert_default().urgent.set(end);
            self.snd.look_again(&self.cfg.send, true);
        }
        Ok(taken as usize)
    }

    /// Returns whether written urgent data is still unacknowledged.
    #[inline]
    pub(super) fn is_urgent(&self) -> bool {
        self.extras.as_deref().is_some_and(|extras| extras.urgent.is_set())
    }
}
