//! A local device that rejects packets: its queue is full and accepts nothing for a while.
//!
//! The device reports the rejection to the sender at once, which a network never does. A segment without data (a reset, a SYN, a
//! bare ACK, a probe) is lost like a packet on the way. Data counts as unsent: it keeps its place and is tried again after
//! `retries.refused`, for as long as the limits of retransmissions and window probes allow, without doubling the timeout. Where
//! `retries.refused` is not set, data is lost like everything else.
//!
//! A trial send from a copy determines what would leave, so that the rules of sending have one owner. A device rarely rejects
//! packets, so the cost does not matter.

use super::outlet::Outlet;
use super::output::TxBuf;
use super::{Endpoint, Probing, State};
use crate::cx::Cx;
use crate::recv::ReceiveBuffer;
use crate::send::SendBuffer;
use crate::timers::TimerKind;
use base::Duration;
use trace::{Observer, Off};

impl Endpoint {
    /// Sets whether the device rejects packets from now on.
    pub(crate) fn set_outlet(&mut self, refuses: bool) {
        self.outlet.set(refuses);
    }

    /// Returns how long rejected data waits, if the device rejects it and the profile does not count it as sent.
    pub(super) fn refused_for(&self) -> Option<Duration> {
        self.cfg.retries.refused.filter(|_| self.outlet == Outlet::Refuses)
    }

    /// Handles an occasion for sending rejected data again.
    #[cold]
    pub(super) fn retry_refused(&mut self) {
        // Probing on behalf of rejected data restarts; a closed window is still probed.
        if self.snd.rec.probing() != Probing::Idle && self.snd.rec.board.is_empty() && self.snd.space.wnd() > 0 {
            self.snd.rec.set_probing(Probing::Idle);
            self.timers.stop(TimerKind::Persist);
        }
        self.outlet.reopen();
    }

    /// Replaces `poll_transmit` while the device rejects packets: nothing leaves.
    #[cold]
    pub(super) fn poll_refused<O: Observer>(&mut self, cx: &mut Cx<'_, O>, out: &mut TxBuf) {
        let (mut rng, mut off) = (cx.rng.clone(), Off);
        loop {
            // The copy has the bytes, and this endpoint has none meanwhile: they may be megabytes, and sending changes none of
            // them.
            let mut bytes = (ReceiveBuffer::new(), SendBuffer::new(0));
            self.rcv.exchange_bytes(&mut bytes.0);
            self.snd.buffer.exchange_bytes(&mut bytes.1);
            let mut trial = self.clone();
            trial.rcv.exchange_bytes(&mut bytes.0);
            trial.snd.buffer.exchange_bytes(&mut bytes.1);
            trial.outlet = Outlet::Open;
            let mut unseen = Cx::new(cx.now, &mut rng, cx.conn, &mut off);
            let sent = trial.poll_transmit(&mut unseen, out).is_some();
            trial.outlet = Outlet::Refuses;
            if sent
                && self.is_data_of(&trial)
                && let Some(wait) = self.cfg.retries.refused
            {
                trial.rcv.exchange_bytes(&mut bytes.0);
                self.rcv.exchange_bytes(&mut bytes.0);
                self.snd.buffer.exchange_bytes(&mut trial.snd.buffer);
                return self.hold_refused(cx, wait);
            }
            let syn_again = self.life.syn_due() && self.snd.rec.retries() > 0;
            *self = trial;
            if let Some(wait) = self.cfg.retries.refused.filter(|_| syn_again) {
                self.arm(cx, TimerKind::Retransmit, cx.now + wait);
            }
            if !sent {
                return;
            }
        }
    }

    /// Returns whether `sent`, which equalled this before, has just sent data or a FIN, new or again.
    fn is_data_of(&self, sent: &Self) -> bool {
        let again = |endpoint: &Self| endpoint.counters().segments_retransmitted;
        self.life.state() != State::SynSent
            && !self.life.syn_due()
            && (sent.snd.space.nxt() != self.snd.space.nxt() || again(sent) != again(self))
    }

    /// Holds rejected data back: without a flight the persist timer brings it back like a probe.
    fn hold_refused<O: Observer>(&mut self, cx: &mut Cx<'_, O>, wait: Duration) {
        // The acknowledgement that it would have carried is lost, and the timeout replaces a tail probe.
        self.rcv.forget_due_ack();
        self.snd.rec.tail.reset();
        match self.snd.rec.probing() {
            Probing::Due(probes) => {
                self.snd.rec.set_probing(Probing::Waiting(probes.saturating_add(1)));
                let at = cx.now + wait;
                let at = self.user_timeout().map_or(at, |timeout| timeout.bound(at, cx.now));
                self.arm(cx, TimerKind::Persist, at);
            }
            Probing::Idle if self.snd.rec.board.is_empty() => {
                self.snd.rec.set_probing(Probing::Waiting(0));
                self.arm_loss_timer(cx);
            }
            Probing::Idle | Probing::Waiting(_) => {}
        }
    }
}
