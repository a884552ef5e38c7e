//! When to give up on an unresponsive peer: R1 and R2 (RFC 9293 §3.8.3), the user timeout (§3.9.1, RFC 5482 §3.1), and
//! keep-alive (§3.8.4).
//!
//! Owns when a silence began and how many probes went unanswered. The user timeout has no timer of its own: whichever timer
//! watches over what is unacknowledged is cut to it. The option that announces the user timeout to the peer (RFC 5482) is not
//! sent, and ignored when it comes, as §4 of that RFC allows.

use super::{Application, Endpoint, News, State};
use crate::config::{CountedFrom, Farewell, KeepAliveConfig, RetryLimit};
use crate::cx::Cx;
use crate::event::CloseReason;
use crate::timers::TimerKind;
use base::{Duration, Instant};
use trace::Observer;

/// What is remembered of a silence.
#[derive(Clone, Debug, Default)]
pub(super) struct Silence {
    /// When it began, as the limits count.
    since: Option<Instant>,
    /// Probes of a closed window, or of a connection at rest, since anything was heard.
    unanswered: u32,
}

/// The user timeout of a silence (RFC 9293 §3.9.1).
#[derive(Clone, Copy, Debug)]
pub(super) struct UserTimeout {
    limit: Duration,
    /// When the silence began, if it is known to have.
    since: Option<Instant>,
    counted_from: CountedFrom,
}

impl UserTimeout {
    //= specs/rfc9293.md#retransmission
    //# The application can set the second threshold.
    /// `at`, or the moment the user timeout is over if that is earlier, for a silence that `began` then unless it is known
    /// to have begun earlier.
    #[inline]
    pub fn bound(&self, at: Instant, began: Instant) -> Instant {
        match (self.since, self.counted_from) {
            (Some(since), _) => at.min(since + self.limit),
            (None, CountedFrom::Transmission) => at.min(began + self.limit),
            (None, CountedFrom::Retransmission) => at,
        }
    }
}

impl Endpoint {
    /// The user timeout of the present silence, if there is one.
    #[inline]
    pub(super) fn user_timeout(&self) -> Option<UserTimeout> {
        let retries = &self.cfg.retries;
        let limit = retries.user_timeout?;
        let since = self.extras.as_deref().and_then(|extras| extras.silence.since);
        Some(UserTimeout { limit, since, counted_from: retries.counted_from })
    }

    /// An acceptable acknowledgement arrived that is not an old one: the peer lives.
    #[inline]
    pub(super) fn on_answer(&mut self) {
        if let Some(extras) = self.extras.as_deref_mut() {
            extras.silence.unanswered = 0;
        }
    }

    /// Something was acknowledged that was not before, or the closed window opened.
    #[inline]
    pub(super) fn on_progress(&mut self) {
        self.snd.rec.forget_retries();
        if let Some(extras) = self.extras.as_deref_mut() {
            extras.silence.since = None;
            extras.urgent.on_acked(self.snd.space.una());
        }
    }

    /// The silence that a timer has found, which began at `began` as far as the user is concerned.
    fn silence_since(&mut self, now: Instant, began: Instant) -> Instant {
        let from = match self.cfg.retries.counted_from {
            CountedFrom::Transmission => began,
            CountedFrom::Retransmission => now,
        };
        *self.extras_mut().silence.since.get_or_insert(from)
    }

    /// A probe is about to restart the timer that shows when the silence began; the user timeout does not begin anew.
    pub(super) fn note_silence(&mut self, now: Instant) {
        let retries = &self.cfg.retries;
        if retries.user_timeout.is_some() && retries.counted_from == CountedFrom::Transmission {
            self.silence_since(now, self.snd.rec.rto_base());
        }
    }

    //= specs/rfc9293.md#retransmission
    //# The second threshold is at least 100 s.
    /// Retransmissions or probes after which the connection is given up.
    fn most_retries(&self) -> u32 {
        match (self.life.application(), self.cfg.retries.orphan) {
            (Application::Gone, Some(orphan)) => orphan.min(self.cfg.retries.data),
            _ => self.cfg.retries.data,
        }
    }

    //= specs/rfc9293.md#retransmission
    //# There are two thresholds: from the first on the application is told, at the second the connection is closed.
    /// The retransmission timer fired once more: has it been often enough, or long enough?
    pub(super) fn gives_up_data(&mut self, now: Instant) -> bool {
        let since = self.silence_since(now, self.snd.rec.rto_base());
        let silent_for = now.since(since);
        if self.snd.space.wnd() == 0 && self.life.application() != Application::Gone {
            // The peer took back its window over a flight (RFC 9293 SHLD-17): what is sent again is a probe of the window,
            // and as long as it is answered nothing ends, unless the user has set a limit.
            let limit = self.cfg.retries.user_timeout.unwrap_or(Duration::MAX);
            let longest = self.cfg.rto.max.scale(2, 1).min(limit);
            return silent_for > limit || (silent_for > longest && self.tally.since_ack_received(now) > longest);
        }
        self.snd.rec.count_retry();
        if self.snd.rec.retries() == self.cfg.retries.notify {
            self.pending.add(News::Unresponsive);
        }
        match (self.cfg.retries.user_timeout, self.cfg.retries.limit) {
            (Some(limit), _) => silent_for >= limit,
            (None, RetryLimit::Count) => self.snd.rec.retries() > self.most_retries(),
            (None, RetryLimit::Time) if self.snd.rec.retries() <= 1 => false,
            (None, RetryLimit::Time) => silent_for >= modelled(self.cfg.rto.min, self.cfg.rto.max, self.most_retries()),
        }
    }

    //= specs/rfc9293.md#retransmission
    //# SYNs have thresholds, too, and are not given up before three minutes.
    /// The SYN, or SYN-ACK, was not answered once more.
    pub(super) fn gives_up_opening(&mut self, now: Instant) -> bool {
        self.snd.rec.count_retry();
        let retries = &self.cfg.retries;
        let most = match self.life.state() {
            State::SynSent => retries.syn.saturating_add(retries.syn_linear),
            _ => retries.syn_ack,
        };
        // SYNs at even intervals come on top of the number, but not of the time that it stands for.
        let too_long = self.life.state() == State::SynSent
            && retries.limit == RetryLimit::Time
            && now.since(self.snd.rec.rto_base()) >= modelled(self.cfg.rto.initial, self.cfg.rto.max, retries.syn);
        self.snd.rec.retries() > most || too_long || self.syn_within_user_timeout(Instant::MAX) <= now
    }

    /// `at`, or the moment the user timeout of our SYN is over if that is earlier.
    pub(super) fn syn_within_user_timeout(&self, at: Instant) -> Instant {
        match self.cfg.retries.user_timeout {
            // The first SYN left when the timer was first started.
            Some(limit) if self.life.state() == State::SynSent => at.min(self.snd.rec.rto_base() + limit),
            _ => at,
        }
    }

    //= specs/rfc9293.md#windows
    //# As long as probes are answered a window may stay closed for ever.
    /// The persist timer fired: another probe, or was that enough? `probes` were sent before; as long as they are answered
    /// the window may stay closed indefinitely (RFC 9293 MUST-37), unless the user has set a limit or is gone.
    pub(super) fn gives_up_probing(&mut self, now: Instant, probes: u32) -> bool {
        let slowest = self.snd.persist_interval(&self.cfg, probes) == self.cfg.send.persist_max;
        if self.life.application() == Application::Gone && self.cfg.retries.orphan.is_some() && slowest {
            return true;
        }
        let most = self.most_retries();
        if let Some(limit) = self.cfg.retries.user_timeout {
            let began =
                Instant::from_nanos(now.as_nanos().saturating_sub(self.snd.persist_interval(&self.cfg, 0).as_nanos()));
            let since = self.silence_since(now, began);
            if now.since(since) >= limit {
                return true;
            }
        }
        let silence = &mut self.extras_mut().silence;
        silence.unanswered += 1;
        silence.unanswered > most
    }

    /// The connection ends because the peer does not answer.
    pub(super) fn give_up<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        self.note_unanswered(cx.now, true);
        if self.life.state().is_synchronized() && self.cfg.retries.farewell == Farewell::Reset {
            self.life.require_reset();
        }
        self.finish(cx, CloseReason::TimedOut);
    }

    //= specs/rfc9293.md#keep-alive
    //# The time before the first probe can be set, and is two hours at least when it is not.
    /// How long nothing has been heard, neither data nor an acknowledgement.
    fn idle_for(&self, now: Instant) -> Duration {
        self.tally.since_data_received(now).min(self.tally.since_ack_received(now))
    }

    //= specs/rfc9293.md#keep-alive
    //# Keep-alive can be turned on and off for each connection, and is off unless asked for.
    /// Starts, moves or stops the keep-alive timer: a connection is established, or its settings have changed. What was
    /// heard before counts.
    pub(super) fn arm_keepalive<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        let running = self.timers.deadline(TimerKind::KeepAlive).is_some();
        match self.cfg.keepalive {
            KeepAliveConfig::On { idle, .. } if self.keeps_alive() => {
                let left = idle.saturating_sub(self.idle_for(cx.now));
                self.arm(cx, TimerKind::KeepAlive, cx.now + left);
            }
            _ if running => self.timers.stop(TimerKind::KeepAlive),
            _ => {}
        }
    }

    /// Whether the state has a use for keep-alive: the timers of the closing states share its slot.
    fn keeps_alive(&self) -> bool {
        let waits = self.life.state() == State::FinWait2 && self.life.application() == Application::Gone;
        self.life.state().is_synchronized() && self.life.state() != State::TimeWait && !waits
    }

    //= specs/rfc9293.md#keep-alive
    //# One probe without an answer does not end a connection.
    //= specs/rfc9293.md#keep-alive
    //# A probe leaves only after nothing was heard for a while, with nothing unacknowledged.
    /// Nothing may have been heard for long (RFC 9293 §3.8.4). What is unacknowledged or waits for a window has timers of its
    /// own.
    pub(super) fn on_keepalive_timeout<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        let KeepAliveConfig::On { idle, interval, count } = self.cfg.keepalive else { return };
        if self.snd.space.flight_size() > 0 || self.snd.data_end() != self.snd.space.nxt() {
            return self.arm(cx, TimerKind::KeepAlive, cx.now + idle);
        }
        let quiet = self.idle_for(cx.now);
        if quiet < idle {
            return self.arm(cx, TimerKind::KeepAlive, cx.now + idle.saturating_sub(quiet));
        }
        let user_timeout = self.cfg.retries.user_timeout;
        let silence = &mut self.extras_mut().silence;
        let enough = match user_timeout {
            Some(limit) => silence.unanswered > 0 && quiet >= limit,
            None => silence.unanswered >= count,
        };
        if enough {
            self.life.require_reset();
            return self.finish(cx, CloseReason::TimedOut);
        }
        silence.unanswered += 1;
        self.snd.rec.set_bare_probe(true);
        self.arm(cx, TimerKind::KeepAlive, cx.now + interval);
    }
}

/// The time `retries` retransmissions take whose timeouts begin with `first` and double up to `max`.
fn modelled(first: Duration, max: Duration, retries: u32) -> Duration {
    let doublings = (max.as_nanos() / first.as_nanos().max(1)).max(1).ilog2();
    let doubling = first.scale((2 << retries.min(doublings)) - 1, 1);
    doubling + max.scale(u64::from(retries.saturating_sub(doublings)), 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    /// With timeouts between 200 ms and 120 s.
    #[test_case(3, 3_000)]
    #[test_case(8, 102_200)]
    #[test_case(9, 204_600; "the last that doubles")]
    #[test_case(15, 924_600; "six more at the upper bound")]
    fn a_number_of_retransmissions_stands_for_a_time(retries: u32, ms: u64) {
        let (first, max) = (Duration::from_millis(200), Duration::from_secs(120));
        assert_eq!(modelled(first, max, retries), Duration::from_millis(ms));
    }
}
