//! What the present round shows, and the bounds that losses in it set for the short term (draft §5.5.10).

use super::state::UNBOUNDED;
use base::{Bytes, Rate, RateSample, SeqNum, SeqRange};

/// What remains of a bound after a round with loss (`Beta`).
const BETA: (u64, u64) = (7, 10);

/// The largest delivery of the present *loss round*: a round that restarts where losses begin, so that the answer to a loss sees
/// a whole round with it.
#[derive(Clone, Debug, Default)]
pub(super) struct Latest {
    bandwidth: Option<Rate>,
    inflight: u64,
    round_delivered: u64,
    starts: bool,
    /// A loss was found in the round (`loss_in_round`).
    lost: bool,
    /// Ranges lost in the round that do not touch each other, and where the last one ended.
    ranges: u8,
    range_end: SeqNum,
}

impl Latest {
    /// Takes an ACK's sample, after which `delivered` bytes are delivered in all.
    pub fn on_sample(&mut self, sample: Option<&RateSample>, delivered: u64) {
        self.starts = false;
        let Some(sample) = sample else { return };
        self.bandwidth = self.bandwidth.max(sample.rate());
        self.inflight = self.inflight.max(sample.delivered);
        if sample.prior_delivered >= self.round_delivered {
            self.round_delivered = delivered;
            self.starts = true;
        }
    }

    /// Begins the maxima of the next round with the sample that ended this one.
    pub fn finish(&mut self, sample: Option<&RateSample>) {
        if let Some(sample) = sample.filter(|_| self.starts) {
            (self.bandwidth, self.inflight) = (sample.rate(), sample.delivered);
            self.ranges = 0;
        }
    }

    /// Forgets the round.
    pub fn forget(&mut self) {
        (self.bandwidth, self.inflight, self.lost) = (None, 0, false);
    }

    /// Notes a loss, after `delivered` bytes were delivered in all.
    pub fn on_lost(&mut self, range: SeqRange, delivered: u64) {
        if self.ranges == 0 || range.start != self.range_end {
            self.ranges = self.ranges.saturating_add(1);
        }
        self.range_end = range.end;
        self.on_mark(delivered);
    }

    /// Notes a congestion mark, which the response of the round takes for a loss.
    pub fn on_mark(&mut self, delivered: u64) {
        if !core::mem::replace(&mut self.lost, true) {
            self.round_delivered = delivered;
        }
    }

    /// Returns whether the round had a loss, and forgets it.
    pub fn take_loss(&mut self) -> bool {
        core::mem::take(&mut self.lost)
    }

    /// Returns whether the last ACK ended a loss round.
    pub const fn starts(&self) -> bool {
        self.starts
    }

    /// Returns the number of ranges lost in the round.
    pub const fn ranges(&self) -> u8 {
        self.ranges
    }

    /// Returns the most that was delivered in the time of one round trip.
    pub fn inflight(&self) -> Bytes {
        Bytes::try_from(self.inflight).unwrap_or(UNBOUNDED)
    }
}

/// Bounds that losses outside of probes set, until the next probe.
#[derive(Clone, Debug, Default)]
pub(super) struct ShortTerm {
    bandwidth: Option<Rate>,
    inflight: Option<Bytes>,
}

impl ShortTerm {
    /// Returns the bound of the bandwidth, if there is one.
    pub const fn bandwidth(&self) -> Option<Rate> {
        self.bandwidth
    }

    /// Returns the bound of what is in flight.
    pub fn inflight(&self) -> Bytes {
        self.inflight.unwrap_or(UNBOUNDED)
    }

    /// Lowers both bounds to what the round delivered, but by no more than [`BETA`]. Bounds that were unknown begin with
    /// `max_bandwidth` and `cwnd`.
    pub fn lower(&mut self, latest: &Latest, max_bandwidth: Option<Rate>, cwnd: Bytes) {
        let bandwidth = self.bandwidth.or(max_bandwidth);
        self.bandwidth = bandwidth.map(|bandwidth| bandwidth.scale(BETA.0, BETA.1)).max(latest.bandwidth);
        self.inflight = Some(beta_of(self.inflight.unwrap_or(cwnd)).max(latest.inflight()));
    }

    /// Lowers what may be in flight to `cut` of it, or of `cwnd` if it was unknown.
    pub fn cut_inflight(&mut self, cwnd: Bytes, cut: impl FnOnce(Bytes) -> Bytes) {
        self.inflight = Some(cut(self.inflight.unwrap_or(cwnd)));
    }

    /// Raises both bounds to those of `other`.
    pub fn raise_to(&mut self, other: &Self) {
        self.bandwidth = self.bandwidth.zip(other.bandwidth).map(|(a, b)| a.max(b));
        self.inflight = self.inflight.zip(other.inflight).map(|(a, b)| a.max(b));
    }
}

/// Returns [`BETA`] of these bytes.
pub(super) fn beta_of(bytes: Bytes) -> Bytes {
    (u64::from(bytes) * BETA.0 / BETA.1) as Bytes
}
