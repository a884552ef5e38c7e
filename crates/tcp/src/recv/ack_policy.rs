//! When to acknowledge (RFC 9293 §3.8.6.3, RFC 5681 §4.2).
//!
//! Owns the amount of data that no ACK has covered yet. Borrows the configuration, because many endpoints share one; the kind of
//! policy is fixed when the connection begins. Owns no deadline: it returns one and the endpoint arms it. If several segments of
//! one instant each ask for an ACK, the one that leaves at the end of the turn covers them all (MUST-58).

mod adaptive;
mod config;
mod fixed;
mod owed;

pub(crate) use adaptive::Surroundings;
pub use config::{AckConfig, AckTimer, QuickAgain};
pub use owed::AckPace;
pub(crate) use owed::{AckDecision, Arriving};

use adaptive::Adaptive;
use base::{Bytes, Duration, Instant};
use fixed::{Beat, Fixed};
use owed::{Owed, Waiting};

/// Decides when to acknowledge received data.
#[derive(Clone, Debug)]
pub(crate) struct AckPolicy {
    owed: Owed,
    law: Law,
}

#[derive(Clone, Debug)]
enum Law {
    Fixed(Fixed),
    Adaptive(Adaptive),
}

impl AckPolicy {
    /// Creates the policy of a new connection.
    pub fn new(config: &AckConfig) -> Self {
        let (law, quick) = match config.timer {
            AckTimer::PerSegment => (Law::Fixed(Fixed::new(Beat::OfSegment)), owed::quick(config)),
            AckTimer::Heartbeat => (Law::Fixed(Fixed::new(Beat::OfHost)), owed::quick(config)),
            AckTimer::Adaptive => (Law::Adaptive(Adaptive::new()), 0),
        };
        Self { owed: Owed::new(quick), law }
    }

    /// Whether more than a segment itself decides about its ACK: then [`Self::on_data`] needs the surroundings.
    #[inline]
    pub fn looks_around(&self) -> bool {
        matches!(self.law, Law::Adaptive(_))
    }

    /// Returns when to acknowledge a segment that occupies sequence numbers. `config` is the configuration that the policy was
    /// created with.
    #[inline(always)]
    pub fn on_data(
        &mut self,
        config: &AckConfig,
        arrived: &Arriving,
        surroundings: Option<&Surroundings>,
    ) -> AckDecision {
        match (&mut self.law, surroundings) {
            (Law::Fixed(fixed), _) => fixed.on_data(&mut self.owed, config, arrived),
            (Law::Adaptive(adaptive), Some(surroundings)) => {
                adaptive.on_data(&mut self.owed, config, arrived, surroundings)
            }
            // A caller that passes no surroundings makes the ACK leave at once: that is never wrong.
            (Law::Adaptive(_), None) => AckDecision::Now,
        }
    }

    /// The peer seems to miss ACKs: what came had come before. `window` is what it was last shown.
    pub fn on_repetition(&mut self, config: &AckConfig, window: Bytes, rmss: Bytes) {
        if let Law::Adaptive(adaptive) = &mut self.law {
            adaptive.hurry(&mut self.owed, config, window, rmss);
        }
    }

    /// The peer has closed, and we have not. Returns whether its ACK waits for our reply like that of data.
    pub fn on_fin(&mut self) -> bool {
        match &mut self.law {
            Law::Fixed(_) => false,
            Law::Adaptive(adaptive) => {
                adaptive.on_fin();
                true
            }
        }
    }

    /// Returns until when the acknowledgement of the peer's SYN-ACK may wait for data. Where the delay adapts, the SYN-ACK counts
    /// as the first data.
    pub fn on_syn_ack(&mut self, config: &AckConfig, now: Instant, window: Bytes, rmss: Bytes) -> Instant {
        if let Law::Adaptive(adaptive) = &mut self.law {
            adaptive.on_syn_ack(&mut self.owed, config, now, window, rmss);
        }
        self.owed.waiting = Waiting::ForTimer;
        now + config.delay_max
    }

    /// Data leaves: perhaps a reply.
    #[inline]
    pub fn on_data_sent(&mut self, now: Instant) {
        if let Law::Adaptive(adaptive) = &mut self.law {
            adaptive.on_data_sent(&self.owed, now);
        }
    }

    /// Notes that a segment left that acknowledges everything received so far.
    #[inline]
    pub fn on_ack_sent(&mut self, config: &AckConfig) {
        match &mut self.law {
            Law::Fixed(_) => self.owed.on_ack_sent(),
            Law::Adaptive(adaptive) => adaptive.on_ack_sent(&mut self.owed, config),
        }
    }

    /// Handles the delayed-ACK timer, at a retransmission timeout of `rto`; returns whether there is anything to
    /// acknowledge.
    pub fn on_timer(&mut self, config: &AckConfig, rto: Duration) -> bool {
        let due = self.owed.on_timer();
        if let Law::Adaptive(adaptive) = &mut self.law
            && due
        {
            adaptive.lengthen(config, rto);
        }
        due
    }

    /// The application has read, perhaps everything: does the ACK that waits leave now?
    #[inline]
    pub fn on_read(&self, rmss: Bytes, all: bool) -> bool {
        match &self.law {
            Law::Fixed(_) => false,
            Law::Adaptive(adaptive) => adaptive.on_read(&self.owed, rmss, all),
        }
    }

    /// The application asks for another pace. Returns whether the ACK that waits leaves now.
    pub fn set_pace(&mut self, pace: AckPace, rmss: Bytes, all_read: bool) -> bool {
        match &mut self.law {
            Law::Fixed(fixed) => fixed.set_pace(&self.owed, pace, rmss, all_read),
            Law::Adaptive(adaptive) => adaptive.set_pace(&self.owed, pace, rmss, all_read),
        }
    }

    /// Whether ACKs leave quickly as far as replies are concerned: what the application asked for, or has shown since.
    pub fn pace(&self) -> AckPace {
        match &self.law {
            Law::Fixed(fixed) => fixed.pace(),
            Law::Adaptive(adaptive) => adaptive.pace(),
        }
    }

    /// Whether a reply is likely to carry the ACK.
    pub fn expects_reply(&self) -> bool {
        matches!(&self.law, Law::Adaptive(adaptive) if adaptive.is_answered())
    }

    /// The delay in force.
    pub fn delay(&self, config: &AckConfig) -> Duration {
        match &self.law {
            Law::Fixed(_) => config.delay,
            Law::Adaptive(adaptive) => adaptive.delay(),
        }
    }

    /// Returns the largest segment that the peer has sent; zero before the first.
    pub fn largest(&self) -> Bytes {
        self.owed.largest
    }
}
