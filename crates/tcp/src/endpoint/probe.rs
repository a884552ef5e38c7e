//! What the answers to probes mean: to tail loss probes (RFC 8985 §7) and to probes of a closed window (RFC 9293 §3.8.6.1).

use super::{Endpoint, Probing};
use crate::config::WindowProbe;
use crate::cx::Cx;
use base::{Bytes, Instant};
use recovery::tlp::{ProbeAck, ProbeOutcome};
use trace::{Event, Observer};

impl Endpoint {
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
        self.snd.rec.forget_retries();
        if let Some(extras) = self.extras.as_deref_mut() {
            extras.silence.on_progress();
        }
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
