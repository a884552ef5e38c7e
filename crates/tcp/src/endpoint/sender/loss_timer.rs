//! When the timers that cover the flight fire (RFC 6298, RFC 8985 §7 and §8, RFC 9293 §3.8.6.1). Computes deadlines, and arms no
//! timer.

use super::Sender;
use crate::config::Config;
use crate::endpoint::Probing;
use crate::endpoint::life::UserTimeout;
use crate::options::Negotiated;
use crate::timers::TimerKind;
use base::Instant;
use recovery::tlp::FlightOf;

/// The timers' inputs beyond the sender's own state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimerCx<'a> {
    pub cfg: &'a Config,
    pub neg: &'a Negotiated,
    pub now: Instant,
    pub(in crate::endpoint) user_timeout: Option<UserTimeout>,
}

impl Sender {
    //= specs/rfc8985.md#sending-a-probe
    //# When one of these conditions fails, no probe is sent and the retransmission timer is armed.
    /// Returns the one timer that covers the flight (RFC 8985 §8) and its deadline; `None` when nothing is in flight.
    #[inline(always)]
    pub fn loss_timer(&self, cx: &TimerCx<'_>) -> Option<(TimerKind, Instant)> {
        let now = cx.now;
        let bound = |at, began| cx.user_timeout.map_or(at, |timeout| timeout.bound(at, began));
        if let Probing::Waiting(probes) = self.rec.probing() {
            let at = now + self.persist_interval(cx.cfg, probes);
            return Some((TimerKind::Persist, bound(at, now)));
        }
        if self.rec.board.is_empty() {
            return None;
        }
        let rto_at = bound(self.rto_at(), self.rec.rto_base()).max(now);
        Some(if self.rec.recheck_at() < rto_at {
            (TimerKind::Reorder, self.rec.recheck_at().max(now))
        } else if let Some(at) = self.tail_probe_at(cx.cfg, cx.neg).filter(|at| *at <= rto_at) {
            (TimerKind::TailProbe, at.max(now))
        } else {
            (TimerKind::Retransmit, rto_at)
        })
    }

    /// Returns when the oldest outstanding data times out.
    fn rto_at(&self) -> Instant {
        self.rto_origin() + self.rec.rto.current().duration()
    }

    //= specs/rfc6298.md#managing-the-timer
    //# No segment is retransmitted by the timer earlier than one RTO after it was last sent.
    /// Returns when the oldest outstanding segment was last sent or the timer restarted, whichever is later.
    pub fn rto_origin(&self) -> Instant {
        match self.rec.board.first() {
            Some(first) if first.retransmits > 0 => self.rec.rto_base().max(first.xmit.at),
            _ => self.rec.rto_base(),
        }
    }

    //= specs/rfc8985.md#scheduling-a-probe
    //# New data, and an ACK that advances SND.UNA, start the probe timer anew.
    //= specs/rfc8985.md#scheduling-a-probe
    //# The probe timer does not run inside recovery or while a segment is SACKed.
    //= specs/rfc8985.md#scheduling-a-probe
    //# A probe timeout beyond the retransmission timeout is cut to it.
    /// Returns when a tail loss probe is to leave (RFC 8985 §7.2): never inside an episode or while data is selectively
    /// acknowledged, because the detector can then decide without one.
    pub fn tail_probe_at(&self, cfg: &Config, neg: &Negotiated) -> Option<Instant> {
        // Without SACK the answer to a probe would reveal nothing about earlier segments.
        let config = cfg.recovery.probe.as_ref().filter(|_| neg.sack)?;
        let board = &self.rec.board;
        let quiet = !self.rec.episode().repairs() && board.sacked_bytes() == 0 && board.lost_bytes() == 0;
        let newest = board.newest_sent_at().filter(|_| quiet && self.rec.tail.is_possible())?;
        let flight =
            if self.space.flight_size() <= self.space.smss() { FlightOf::OneSegment } else { FlightOf::Several };
        Some(config.due(newest, self.rec.rto_base(), self.rec.rtt.srtt(), flight).min(self.rto_at()))
    }
}
