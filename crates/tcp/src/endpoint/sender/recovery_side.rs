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
    pub episode: Episode,
    /// What the ACK in work delivers. Kept for the next ACK while there is a flight.
    pub delivered: Option<Box<Delivered>>,
    /// When the retransmission timer was last restarted (RFC 6298 §5).
    rto_base: Instant,
    /// The detector's open deadline; [`Instant::MAX`] for none.
    pub recheck_at: Instant,
    /// One retransmission may leave whatever the window says: the fast retransmit, or the one a timeout sends.
    pub forced: bool,
    /// Segments lost again since the controller's last answer.
    pub lost_again: u16,
    /// A loss of something sent before this moment has been answered by the controller already.
    pub answered_at: Instant,
    /// Consecutive timeouts, or SYN retransmissions, without progress.
    pub retries: u32,
    /// Where zero-window probing stands.
    pub probe: Probing,
    /// The tail loss probe.
    pub tail: Probe,
    /// What could prove the last episode spurious; only while something could.
    pub undo: Option<Box<Undo>>,
}

impl RecoverySide {
    /// Nothing has been sent; `first` is the number of the first octet.
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
            lost_again: 0,
            answered_at: Instant::ZERO,
            retries: 0,
            probe: Probing::Idle,
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
}
