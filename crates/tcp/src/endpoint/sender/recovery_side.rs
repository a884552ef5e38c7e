//! Recovery state that a connection keeps between ACKs.

use crate::config::ValidConfig;
use crate::endpoint::Probing;
use base::{Instant, SeqNum};
use recovery::rate_sample::RateSampler;
use recovery::rto::RtoState;
use recovery::rtt::RttEstimator;
use recovery::{Delivered, Episode, LossDetector, Probe, Reduction, Scoreboard, Undo, build_detector};

/// Recovery state kept between ACKs.
#[derive(Clone, Debug)]
pub(in crate::endpoint) struct RecoverySide {
    pub board: Scoreboard,
    pub detector: Box<dyn LossDetector>,
    /// Present exactly during fast recovery.
    pub reduction: Option<Box<dyn Reduction>>,
    pub sampler: RateSampler,
    pub rtt: RttEstimator,
    pub rto: RtoState,
    episode: Episode,
    /// The segments that the current ACK delivers. The allocation is reused for the next ACK while there is a flight.
    pub delivered: Option<Box<Delivered>>,
    /// When the retransmission timer was last restarted (RFC 6298 §5).
    rto_base: Instant,
    /// When the detector checks again for losses; [`Instant::MAX`] for never.
    recheck_at: Instant,
    /// One retransmission may ignore the window: the fast retransmit, or the one that a timeout sends.
    forced: bool,
    /// An empty segment that the peer must answer is due: a keep-alive or a window probe.
    bare_probe_due: bool,
    /// The controller has already reacted to losses of segments sent before this moment.
    pub answered_at: Instant,
    /// Consecutive timeouts, or SYN retransmissions, without progress.
    retries: u32,
    /// State of zero-window probing.
    probing: Probing,
    /// State of the tail loss probe.
    pub tail: Probe,
    /// Evidence that could prove the last episode spurious; present only while a proof is possible.
    pub undo: Option<Box<Undo>>,
}

impl RecoverySide {
    /// Creates the state before anything is sent; `first` is the sequence number of the first byte.
    pub fn new(cfg: &ValidConfig, first: SeqNum, now: Instant) -> Self {
        Self {
            board: Scoreboard::new(first),
            detector: build_detector(&cfg.recovery.detector),
            reduction: None,
            sampler: RateSampler::new(),
            rtt: RttEstimator::new(),
            rto: RtoState::new(&cfg.rto),
            episode: Episode::Open,
            delivered: None,
            rto_base: now,
            recheck_at: Instant::MAX,
            forced: false,
            bare_probe_due: false,
            answered_at: Instant::ZERO,
            retries: 0,
            probing: Probing::Idle,
            tail: Probe::default(),
            undo: None,
        }
    }

    /// Returns when the retransmission timer was last restarted.
    #[inline]
    pub fn rto_base(&self) -> Instant {
        self.rto_base
    }

    /// Restarts the retransmission timer (RFC 6298 §5).
    #[inline]
    pub fn restart_rto(&mut self, now: Instant) {
        self.rto_base = now;
    }

    /// Returns the current episode.
    #[inline]
    pub fn episode(&self) -> Episode {
        self.episode
    }

    /// Enters another episode, or none. Returns the previous one. Only episodes that shrink the window keep the reduction.
    pub fn enter(&mut self, to: Episode) -> Episode {
        if !matches!(to, Episode::Recovery { .. } | Episode::Cwr { .. }) {
            self.reduction = None;
        }
        core::mem::replace(&mut self.episode, to)
    }

    /// Returns when the detector checks again for losses; [`Instant::MAX`] for never.
    #[inline]
    pub fn recheck_at(&self) -> Instant {
        self.recheck_at
    }

    /// Sets when the detector checks again for losses, if at all.
    #[inline]
    pub fn set_recheck(&mut self, at: Option<Instant>) {
        self.recheck_at = at.unwrap_or(Instant::MAX);
    }

    /// Returns whether one retransmission may ignore the window.
    #[inline]
    pub fn forced(&self) -> bool {
        self.forced
    }

    /// Sets whether one retransmission may ignore the window.
    #[inline]
    pub fn force(&mut self, forced: bool) {
        self.forced = forced;
    }

    /// Returns the number of consecutive timeouts, or SYN retransmissions, without progress.
    #[inline]
    pub fn retries(&self) -> u32 {
        self.retries
    }

    /// Counts a timer that expired without progress.
    pub fn count_retry(&mut self) {
        self.retries += 1;
    }

    /// Resets the count after progress.
    #[inline]
    pub fn forget_retries(&mut self) {
        self.retries = 0;
    }

    /// Returns the state of zero-window probing.
    #[inline]
    pub fn probing(&self) -> Probing {
        self.probing
    }

    /// Starts, continues or ends zero-window probing.
    #[inline]
    pub fn set_probing(&mut self, probing: Probing) {
        self.probing = probing;
    }

    /// Returns whether an empty segment that the peer must answer is due.
    #[inline]
    pub fn owes_bare_probe(&self) -> bool {
        self.bare_probe_due
    }

    /// Sets whether an empty segment that the peer must answer is due.
    #[inline]
    pub fn set_bare_probe(&mut self, due: bool) {
        self.bare_probe_due = due;
    }
}
