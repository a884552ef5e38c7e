//! The application's calls but for writing: read, octets or the position-coded pattern, and other settings.

use super::{Endpoint, State};
use crate::config::{AckTimer, ValidConfig};
use crate::cx::Cx;
use crate::event::{CloseReason, Read, ReadError};
use crate::recv::{AckPace, Lent};
use trace::Observer;

impl Endpoint {
    /// Goes on with other settings: a socket option that came after the connection was opened.
    ///
    /// What is looked up when it is needed (rules for small segments, time limits, retries, delays of acknowledgements)
    /// changes at once; keep-alive begins, changes or ends, and what was heard before counts; the send buffer takes its new
    /// size, and what a cork or Nagle's rule held leaves. What machines were built from when the connection began (detector,
    /// controller, what the SYNs negotiated, receive buffer) stays as it was built.
    pub(crate) fn reconfigure<O: Observer>(&mut self, cx: &mut Cx<'_, O>, cfg: &ValidConfig) {
        let before = core::mem::replace(&mut self.cfg, cfg.clone());
        self.follow_send_config(&before.send);
        self.follow_receive_config(&before.receive.accounting);
        if before.keepalive != cfg.keepalive {
            self.arm_keepalive(cx);
        }
        let watches = self.state.is_synchronized() && !self.rec.board.is_empty();
        if before.retries.user_timeout != cfg.retries.user_timeout && watches {
            self.arm_loss_timer(cx);
        }
    }

    /// Moves received octets into `buf`, those before an urgent mark and those from it on in different calls.
    ///
    /// # Errors
    /// When the connection ended abnormally and everything received before has been read.
    pub fn read<O: Observer>(&mut self, cx: &mut Cx<'_, O>, buf: &mut [u8]) -> Result<Read, ReadError> {
        let most = usize::try_from(self.readable_in_one()).unwrap_or(usize::MAX).min(buf.len());
        let taken = self.rcv.buffer.read(&mut buf[..most]) as u64;
        self.after_read(cx, taken)
    }

    /// Like [`Self::read`], for up to `max` octets that are checked against the pattern instead of being moved.
    ///
    /// # Errors
    /// As for `read`.
    pub fn read_pattern<O: Observer>(&mut self, cx: &mut Cx<'_, O>, max: u64) -> Result<Read, ReadError> {
        let max = max.min(self.readable_in_one());
        let taken = self.rcv.buffer.read_pattern(max);
        self.after_read(cx, taken)
    }

    /// Acknowledges sooner or later from now on; what the traffic shows may change it again.
    pub(crate) fn set_ack_pace(&mut self, pace: AckPace) {
        let all_read = self.rcv.buffer.readable() == 0;
        let now = self.rcv.policy.set_pace(pace, self.rcv.rmss, all_read);
        self.rcv.due_ack_if(now && matches!(self.state, State::Established | State::CloseWait));
    }

    /// Whether ACKs leave quickly or wait for replies, at present.
    pub fn ack_pace(&self) -> AckPace {
        self.rcv.policy.pace()
    }

    //= specs/rfc9293.md#closing
    //# The application can tell a normal end from an aborted one.
    fn after_read<O: Observer>(&mut self, cx: &mut Cx<'_, O>, taken: u64) -> Result<Read, ReadError> {
        if taken > 0 {
            self.on_consumed(cx, taken);
            return Ok(Read::Data(taken));
        }
        let fin_reached = self.fin_received();
        match self.closed {
            Some(CloseReason::Normal) => Ok(Read::Fin),
            Some(_) if fin_reached => Ok(Read::Fin),
            Some(reason) => Err(ReadError::Closed(reason)),
            None if fin_reached && self.rcv.buffer.readable() == 0 => Ok(Read::Fin),
            None => Ok(Read::Data(0)),
        }
    }

    /// Everything up to and including the peer's FIN has been received.
    pub(super) fn fin_received(&self) -> bool {
        self.rcv.fin.is_some_and(|fin| self.rcv.assembler.rcv_nxt().after(fin))
    }

    /// The buffer has room again: perhaps it grows, perhaps the peer should know.
    fn on_consumed<O: Observer>(&mut self, cx: &mut Cx<'_, O>, taken: u64) {
        let lent = Lent { config: &self.cfg.receive.window, limit: self.rcv.window.limit(), rmss: self.rcv.rmss };
        let buffer = self.rcv.autotune.buffer();
        let grown = self.rcv.autotune.on_consumed(&lent, cx.now, taken);
        self.grow_window(cx, grown);
        self.release_frames(Some(self.rcv.autotune.buffer()).filter(|now| *now > buffer));
        let all_read = self.rcv.buffer.readable() == 0 && self.rcv.assembler.block_count() == 0;
        if all_read {
            self.rcv.buffer.release_if_empty();
        }
        if self.cfg.ack.timer == AckTimer::Adaptive && self.rcv.policy.on_read(self.rcv.rmss, all_read) {
            self.rcv.due_ack();
        }
        let may_grow = self.state.may_receive() || self.state == State::SynReceived;
        if may_grow && self.window_update_due() {
            self.rcv.due_ack();
        }
    }
}
