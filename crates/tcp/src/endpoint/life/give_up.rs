//! When to give up on an unresponsive peer: R1 and R2 (RFC 9293 §3.8.3), the user timeout (§3.9.1, RFC 5482 §3.1), and
//! keep-alive (§3.8.4).
//!
//! Owns when a silence began and how many probes went unanswered. The user timeout has no timer of its own: it shortens whichever
//! timer covers unacknowledged data. The option that announces the user timeout to the peer (RFC 5482) is neither sent nor
//! evaluated, as §4 of that RFC allows.

use crate::config::{Config, CountedFrom, RetryConfig, RetryLimit};
use base::{Duration, Instant};

/// State of a silence of the peer.
#[derive(Clone, Debug, Default)]
pub(in crate::endpoint) struct Silence {
    /// When the silence began, for the limits on its length.
    since: Option<Instant>,
    /// Number of probes of a closed window or an idle connection since the last answer of the peer.
    unanswered: u32,
}

/// The limit that the user timeout sets to a silence (RFC 9293 §3.9.1).
#[derive(Clone, Copy, Debug)]
pub(in crate::endpoint) struct UserTimeout {
    limit: Duration,
    /// When the silence began, if known.
    since: Option<Instant>,
    counted_from: CountedFrom,
}

impl UserTimeout {
    /// Returns the user timeout of a silence that began at `since`, if that is known; `None` if no user timeout is configured.
    #[inline]
    pub fn new(retries: &RetryConfig, since: Option<Instant>) -> Option<Self> {
        let limit = retries.user_timeout?;
        Some(Self { limit, since, counted_from: retries.counted_from })
    }

    //= specs/rfc9293.md#retransmission
    //# The application can set the second threshold.
    /// Returns `at`, or the end of the user timeout if that is earlier, for a silence that `began` then unless it is known to
    /// have begun earlier.
    #[inline]
    pub fn bound(&self, at: Instant, began: Instant) -> Instant {
        match (self.since, self.counted_from) {
            (Some(since), _) => at.min(since + self.limit),
            (None, CountedFrom::Transmission) => at.min(began + self.limit),
            (None, CountedFrom::Retransmission) => at,
        }
    }
}

/// The inputs for the decision to give up, when the retransmission timer fires.
#[derive(Clone, Copy, Debug)]
pub(in crate::endpoint) struct Unanswered {
    pub now: Instant,
    /// When the retransmission timer was last started.
    pub began: Instant,
    /// Retransmissions without progress.
    pub retries: u32,
    /// The application has released the connection.
    pub orphaned: bool,
    /// The peer withdrew its window while data was in flight; the time since its last ACK.
    pub window_shut: Option<Duration>,
}

impl Silence {
    /// Returns when the silence began, if a timer has detected it.
    #[inline]
    pub fn since(&self) -> Option<Instant> {
        self.since
    }

    /// Notes an acceptable acknowledgement that is not an old one: the peer is alive.
    #[inline]
    pub fn on_answer(&mut self) {
        self.unanswered = 0;
    }

    /// Notes new data acknowledged, or a closed window that opened.
    #[inline]
    pub fn on_progress(&mut self) {
        self.since = None;
    }

    /// Records a silence that a timer has detected; the timer was started at `began`. Returns when the silence began, for the
    /// user timeout.
    fn begin(&mut self, retries: &RetryConfig, now: Instant, began: Instant) -> Instant {
        let from = match retries.counted_from {
            CountedFrom::Transmission => began,
            CountedFrom::Retransmission => now,
        };
        *self.since.get_or_insert(from)
    }

    /// Notes a silence before a probe restarts the timer that shows when it began, so that the user timeout does not start anew.
    pub fn on_probe(&mut self, retries: &RetryConfig, now: Instant, began: Instant) {
        if retries.counted_from == CountedFrom::Transmission {
            self.begin(retries, now, began);
        }
    }

    //= specs/rfc9293.md#retransmission
    //# There are two thresholds: from the first on the application is notified, at the second the connection is closed.
    /// Handles a retransmission timer that fired again. Returns whether to give up, after that many retransmissions or that much
    /// time.
    pub fn on_data_timeout(&mut self, cfg: &Config, about: &Unanswered) -> bool {
        let silent_for = about.now.since(self.begin(&cfg.retries, about.now, about.began));
        if let Some(since_ack) = about.window_shut {
            // A retransmission is a probe of the window here (RFC 9293 SHLD-17), and nothing ends while the peer answers it,
            // unless the user has set a limit.
            let limit = cfg.retries.user_timeout.unwrap_or(Duration::MAX);
            let longest = cfg.rto.max.scale(2, 1).min(limit);
            return silent_for > limit || (silent_for > longest && since_ack > longest);
        }
        let most = most_retries(&cfg.retries, about.orphaned);
        match (cfg.retries.user_timeout, cfg.retries.limit) {
            (Some(limit), _) => silent_for >= limit,
            (None, RetryLimit::Count) => about.retries > most,
            (None, RetryLimit::Time) if about.retries <= 1 => false,
            (None, RetryLimit::Time) => silent_for >= modelled(cfg.rto.min, cfg.rto.max, most),
        }
    }

    //= specs/rfc9293.md#windows
    //# As long as probes are answered a window may stay closed indefinitely.
    /// Handles the persist timer, which waited for `interval`; `first` is the interval of the first probe. Returns whether to
    /// give up: as long as the peer answers probes, the window may stay closed indefinitely (RFC 9293 MUST-37), unless the user
    /// has set a limit or has released the connection.
    pub fn on_persist_timeout(
        &mut self,
        cfg: &Config,
        now: Instant,
        (first, interval): (Duration, Duration),
        orphaned: bool,
    ) -> bool {
        if orphaned && cfg.retries.orphan.is_some() && interval == cfg.send.persist_max {
            return true;
        }
        if let Some(limit) = cfg.retries.user_timeout {
            let began = Instant::from_nanos(now.as_nanos().saturating_sub(first.as_nanos()));
            if now.since(self.begin(&cfg.retries, now, began)) >= limit {
                return true;
            }
        }
        self.unanswered += 1;
        self.unanswered > most_retries(&cfg.retries, orphaned)
    }

    //= specs/rfc9293.md#keep-alive
    //# One probe without an answer does not end a connection.
    /// Handles a silence of `quiet`, long enough for a keep-alive probe. Returns whether to give up instead, after `count` probes
    /// or at the end of the user timeout.
    pub fn on_keepalive_timeout(&mut self, count: u32, user_timeout: Option<Duration>, quiet: Duration) -> bool {
        let enough = match user_timeout {
            Some(limit) => self.unanswered > 0 && quiet >= limit,
            None => self.unanswered >= count,
        };
        self.unanswered += u32::from(!enough);
        enough
    }
}

//= specs/rfc9293.md#retransmission
//# The second threshold is at least 100 s.
/// Returns the number of retransmissions or probes after which the connection gives up.
fn most_retries(retries: &RetryConfig, orphaned: bool) -> u32 {
    match retries.orphan.filter(|_| orphaned) {
        Some(orphan) => orphan.min(retries.data),
        None => retries.data,
    }
}

//= specs/rfc9293.md#retransmission
//# SYNs have thresholds, too, and are not given up before three minutes.
/// Returns whether to give up opening. Our SYN, or SYN-ACK if we are not `active`, left first at `began` and stayed unanswered
/// `unanswered` times.
pub(in crate::endpoint) fn gives_up_opening(
    cfg: &Config,
    active: bool,
    now: Instant,
    began: Instant,
    unanswered: u32,
) -> bool {
    let retries = &cfg.retries;
    let most = if active { retries.syn.saturating_add(retries.syn_linear) } else { retries.syn_ack };
    // SYNs at even intervals add to the number, but not to the time that the number stands for.
    let too_long = active
        && retries.limit == RetryLimit::Time
        && now.since(began) >= modelled(cfg.rto.initial, cfg.rto.max, retries.syn);
    unanswered > most || too_long || syn_deadline(retries, active, began, Instant::MAX) <= now
}

/// Returns `at`, or the end of our SYN's user timeout if that is earlier. The first SYN left at `began`.
pub(in crate::endpoint) fn syn_deadline(retries: &RetryConfig, active: bool, began: Instant, at: Instant) -> Instant {
    match retries.user_timeout {
        Some(limit) if active => at.min(began + limit),
        _ => at,
    }
}

/// Returns the time that `retries` retransmissions take if their timeouts begin with `first` and double up to `max`.
fn modelled(first: Duration, max: Duration, retries: u32) -> Duration {
    let doublings = (max.as_nanos() / first.as_nanos().max(1)).max(1).ilog2();
    let doubling = first.scale((2 << retries.min(doublings)) - 1, 1);
    doubling + max.scale(u64::from(retries.saturating_sub(doublings)), 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    /// Timeouts between 200 ms and 120 s.
    #[test_case(3, 3_000)]
    #[test_case(8, 102_200)]
    #[test_case(9, 204_600; "the last that doubles")]
    #[test_case(15, 924_600; "six more at the upper bound")]
    fn a_number_of_retransmissions_stands_for_a_time(retries: u32, ms: u64) {
        let (first, max) = (Duration::from_millis(200), Duration::from_secs(120));
        assert_eq!(modelled(first, max, retries), Duration::from_millis(ms));
    }
}
