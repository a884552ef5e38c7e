//! The cycle of probes for bandwidth: what belongs to a probe, when the next is due, and how fast one grows.

use super::state::UNBOUNDED;
use base::{Bytes, Instant};

/// Largest exponent of the growth in a probe.
const DOUBLINGS: u32 = 30;

/// What the ACKs that come now say about the last probe (`ack_phase`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum AckPhase {
    /// Nothing.
    #[default]
    Init,
    /// They answer what was sent before the probe.
    Refilling,
    /// The probe has begun, and its first ACK has not come.
    Starting,
    /// They answer the probe.
    Probing,
    /// The probe is over, and its last ACKs have not come.
    Stopping,
}

/// Whether all ACKs of a probe have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feedback {
    /// No probe is under way, or further ACKs of it are expected.
    Pending,
    /// They have.
    Complete,
}

/// The cycle of probes.
#[derive(Clone, Debug, Default)]
pub(super) struct Probing {
    acks: AckPhase,
    /// Losses of segments that are acknowledged or lost now tell whether the probe was too high (`is_bw_probe_sample`).
    sample: bool,
    /// The last probe lost too much (`prev_probe_too_high`).
    too_high: bool,
    /// The last probe ended before it could lose too much again, because the one before it had.
    precautionary: bool,
    /// The connection uses SACK, as the last loss showed.
    selective: bool,
    /// Rounds since the last probe, and when the next is due.
    rounds: u32,
    due: Instant,
    /// A probe's growth: doublings so far, bytes acknowledged, and how many of them add a segment.
    doublings: u32,
    acked: u64,
    per_segment: Bytes,
}

impl Probing {
    /// Counts a round, if one starts.
    pub fn count_round(&mut self, starts: bool) {
        self.rounds = self.rounds.saturating_add(starts.into());
    }

    /// Notes whether the peer reports what arrives beyond a hole.
    pub fn note_reports(&mut self, selective: bool) {
        self.selective = selective;
    }

    /// Returns whether the peer does, as far as is known.
    pub const fn selective(&self) -> bool {
        self.selective
    }

    /// Begins a cycle, of which `rounds` count as past. The clock sets off the next probe at `due`.
    pub fn begin(&mut self, rounds: u32, due: Instant) {
        (self.rounds, self.due) = (rounds, due);
        self.stop();
    }

    /// Returns whether the next probe is due, by the clock or after so many rounds.
    pub fn is_over(&self, now: Instant, rounds: u32) -> bool {
        now > self.due || self.rounds >= rounds
    }

    /// Prepares a probe.
    pub fn refill(&mut self) {
        (self.doublings, self.acked, self.precautionary) = (0, 0, false);
        self.acks = AckPhase::Refilling;
    }

    /// Starts the probe.
    pub fn start(&mut self) {
        (self.acks, self.sample) = (AckPhase::Starting, true);
    }

    /// Ends the probe, if there is one: its last ACKs are still to come.
    pub fn stop(&mut self) {
        self.acks = AckPhase::Stopping;
    }

    /// Handles the start of a round.
    pub fn on_round(&mut self) -> Feedback {
        match self.acks {
            AckPhase::Starting => self.acks = AckPhase::Probing,
            AckPhase::Stopping => {
                (self.acks, self.sample) = (AckPhase::Init, false);
                return Feedback::Complete;
            }
            AckPhase::Init | AckPhase::Refilling | AckPhase::Probing => {}
        }
        Feedback::Pending
    }

    /// Returns whether losses now belong to a probe.
    pub const fn is_sample(&self) -> bool {
        self.sample
    }

    /// Notes that the probe lost too much. One reaction is enough.
    pub fn on_too_high(&mut self) {
        (self.sample, self.too_high) = (false, true);
    }

    /// Returns whether the last probe lost too much.
    pub const fn was_too_high(&self) -> bool {
        self.too_high
    }

    /// Notes that the probe ends without that, out of precaution or not.
    pub fn succeed(&mut self, precautionary: bool) {
        (self.too_high, self.precautionary) = (false, precautionary);
    }

    /// Returns whether another probe may follow at once: precaution ended this one, and it lost little.
    pub const fn may_repeat(&self) -> bool {
        self.precautionary && !self.too_high
    }

    /// Takes bytes acknowledged; returns by how many segments more may be in flight.
    pub fn grow(&mut self, acked: Bytes) -> Bytes {
        self.acked += u64::from(acked);
        let per_segment = u64::from(self.per_segment.max(1));
        let gained = self.acked / per_segment;
        self.acked %= per_segment;
        Bytes::try_from(gained).unwrap_or(UNBOUNDED)
    }

    /// Doubles the growth: a segment of `smss` bytes in the first round of a probe, two in the second.
    pub fn steepen(&mut self, cwnd: Bytes, smss: Bytes) {
        self.per_segment = cwnd.checked_shr(self.doublings).unwrap_or(0).max(smss);
        self.doublings = (self.doublings + 1).min(DOUBLINGS);
    }
}
