//! What recovery remembers of a connection between its ACKs.

use crate::config::ValidConfig;
use crate::endpoint::Probing;
use base::{Instant, SeqNum};
use recovery::rate_sample::RateSampler;
use recovery::rto::RtoState;
use recovery::rtt::RttEstimator;
use recovery::{Delivered, Episode, LossDetector, Probe, Reduction, Scoreboard, Undo, build_detector};

/// What recovery has to remember between ACKs.
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
    /// What the ACK in work delivers. Kept for the next ACK while there is a flight.
    pub delivered: Option<Box<Delivered>>,
    /// When the retransmission timer was last restarted (RFC 6298 §5).
    rto_base: Instant,
    /// The detector's open deadline; [`Instant::MAX`] for none.
    recheck_at: Instant,
    /// One retransmission may leave whatever the window says: the fast retransmit, or the one a timeout sends.
    forced: bool,
    /// An empty segment that the peer must answer is due: it asks whether the peer, or its window, is still there.
    bare_probe_due: bool,
    /// Segments lost again since the controller's last answer.
    pub lost_again: u16,
    /// A loss of something sent before this moment has been answered by the controller already.
    pub answered_at: Instant,
    /// Consecutive timeouts, or SYN retransmissions, without progress.
    retries: u32,
    /// Where zero-window probing stands.
    probing: Probing,
    /// The tail loss probe.
    pub tail: Probe,
    /// What could prove the last episode spurious; only while something could.
    pub undo: Option<Box<Undo>>,
}

impl RecoverySide {
    /// Nothing has been sent; `first` is the number of the first byte.
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
            lost_again: 0,
            answered_at: Instant::ZERO,
            retries: 0,
            probing: Probing::Idle,
            tail: Probe::default(),
            undo: None,
        }
    }

    /// When the retransmission timer was last restarted.
    #[inline]
    pub fn rto_base(&self) -> Instant {
        self.rto_base
    }

    /// The retransmission timer starts anew (RFC 6298 §5).
    #[inline]
    pub fn restart_rto(&mut self, now: Instant) {
        self.rto_base = now;
    }

    /// The loss episode, if one is under way.
    #[inline]
    pub fn episode(&self) -> Episode {
        self.episode
    }

    /// Another episode begins, or none goes on. Returns what ends with it. A reduction rules only while the window comes down.
    pub fn enter(&mut self, to: Episode) -> Episode {
        if !matches!(to, Episode::Recovery { .. } | Episode::Cwr { .. }) {
            self.reduction = None;
        }
        core::mem::replace(&mut self.episode, to)
    }

    /// The detector's open deadline; [`Instant::MAX`] for none.
    #[inline]
    pub fn recheck_at(&self) -> Instant {
        self.recheck_at
    }

    /// The detector has judged, and looks again at this moment if at all.
    #[inline]
    pub fn set_recheck(&mut self, at: Option<Instant>) {
        self.recheck_at = at.unwrap_or(Instant::MAX);
    }

    /// Whether one retransmission may leave whatever the window says.
    #[inline]
    pub fn forced(&self) -> bool {
        self.forced
    }

    /// One retransmission may leave whatever the window says, or may not any more.
    #[inline]
    pub fn force(&mut self, forced: bool) {
        self.forced = forced;
    }

    /// Consecutive timeouts, or SYN retransmissions, without progress.
    #[inline]
    pub fn retries(&self) -> u32 {
        self.retries
    }

    /// A timer expired once more without progress.
    pub fn count_retry(&mut self) {
        self.retries += 1;
    }

    /// There was progress.
    #[inline]
    pub fn forget_retries(&mut self) {
        self.retries = 0;
    }

    /// Where zero-window probing stands.
    #[inline]
    pub fn probing(&self) -> Probing {
        self.probing
    }

    /// Zero-window probing goes on, begins or ends.
    #[inline]
    pub fn set_probing(&mut self, probing: Probing) {
        self.probing = probing;
    }

    /// Whether an empty segment that the peer must answer is due.
    #[inline]
    pub fn owes_bare_probe(&self) -> bool {
        self.bare_probe_due
    }

    /// An empty segment that the peer must answer is due, or has left.
    #[inline]
    pub fn set_bare_probe(&mut self, due: bool) {
        self.bare_probe_due = due;
    }
}
