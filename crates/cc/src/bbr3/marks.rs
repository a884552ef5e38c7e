//! What share of the data was marked (Google's BBRv3): round by round, and smoothed.

use base::Bytes;

/// A share of one.
const ONE: u64 = 1 << 16;
/// How much of the smoothed share one round replaces.
const GAIN: u64 = 16;

/// Counts of the present round, and the smoothed share.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    delivered: u64,
    marked: u64,
    /// In parts of [`ONE`]; at first all counts as marked, so that the first mark is answered in full.
    share: u64,
    /// Rounds in a row with marks on more than half of the data.
    high_rounds: u8,
}

/// A round that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MarkedRound {
    /// Some data was marked.
    pub any: bool,
    /// More than half of it was.
    pub high: bool,
}

impl Default for Marks {
    fn default() -> Self {
        Self { delivered: 0, marked: 0, share: ONE, high_rounds: 0 }
    }
}

impl Marks {
    /// Counts what an ACK delivered, and how much of it was marked.
    pub fn on_ack(&mut self, delivered: Bytes, marked: Bytes) {
        self.delivered += u64::from(delivered);
        self.marked += u64::from(marked);
    }

    /// Ends a round.
    pub fn finish_round(&mut self) -> MarkedRound {
        let (delivered, marked) = (core::mem::take(&mut self.delivered), core::mem::take(&mut self.marked));
        if let Some(share) = (marked * ONE).checked_div(delivered) {
            self.share = self.share - self.share / GAIN + share / GAIN;
        }
        let round = MarkedRound { any: marked > 0, high: 2 * marked > delivered };
        self.high_rounds = if round.high { self.high_rounds.saturating_add(1) } else { 0 };
        round
    }

    /// Returns the number of rounds in a row with marks on more than half of the data.
    pub const fn high_rounds(&self) -> u8 {
        self.high_rounds
    }

    /// Returns what remains of a bound: a third of the share less.
    pub fn cut(&self, bound: Bytes) -> Bytes {
        bound - (u64::from(bound) * self.share / (3 * ONE)) as Bytes
    }
}
