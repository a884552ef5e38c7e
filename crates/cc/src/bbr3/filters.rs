//! The filters of the model: rounds, the largest bandwidth, the least round trip, and how far ACKs come aggregated.

use super::config::ExtraAckedWindow;
use base::{Bytes, Duration, Instant, Rate, RateSample};

/// Counts rounds by what is delivered (draft §5.5.1): a round ends when something is delivered that was sent after it began.
#[derive(Clone, Debug, Default)]
pub(super) struct Rounds {
    count: u64,
    next_delivered: u64,
    starts: bool,
}

impl Rounds {
    /// Handles an ACK after which `delivered` bytes are delivered in all.
    pub fn on_ack(&mut self, sample: Option<&RateSample>, delivered: u64) {
        self.starts = sample.is_some_and(|sample| sample.prior_delivered >= self.next_delivered);
        if self.starts {
            self.next_delivered = delivered;
            self.count += 1;
        }
    }

    /// Makes the present round end only with what is sent from now on.
    pub fn restart(&mut self, delivered: u64) {
        self.next_delivered = delivered;
    }

    /// Returns whether the last ACK started a round.
    pub const fn starts(&self) -> bool {
        self.starts
    }

    /// Returns the number of rounds so far.
    pub const fn count(&self) -> u64 {
        self.count
    }
}

/// The largest bandwidth of the present probing cycle and the one before it (`MaxBwFilter`).
#[derive(Clone, Debug, Default)]
pub(super) struct MaxBandwidth {
    present: Option<Rate>,
    before: Option<Rate>,
}

impl MaxBandwidth {
    pub fn get(&self) -> Option<Rate> {
        self.present.max(self.before)
    }

    /// Takes a delivery rate, unless the application limited it to less than is known.
    pub fn on_sample(&mut self, rate: Rate, app_limited: bool) {
        if !app_limited || Some(rate) >= self.get() {
            self.present = self.present.max(Some(rate));
        }
    }

    /// Begins another cycle. One without a sample does not end, because nothing would be known after the next.
    pub fn advance(&mut self) {
        if self.present.is_some() {
            (self.before, self.present) = (self.present, None);
        }
    }
}

/// Two minima of the round trip (draft §5.5.7): one that ProbeRTT renews, and one that the model uses and that outlives it.
#[derive(Clone, Debug)]
pub(super) struct MinRtt {
    least: Option<Duration>,
    least_at: Instant,
    probed: Option<Duration>,
    probed_at: Instant,
    expired: bool,
}

impl MinRtt {
    pub const fn new(now: Instant) -> Self {
        Self { least: None, least_at: now, probed: None, probed_at: now, expired: false }
    }

    /// Begins with the round trip of the handshake, unless samples are known.
    pub fn begin(&mut self, now: Instant, srtt: Option<Duration>) {
        if self.least.is_none() {
            *self = Self { least: srtt, probed: srtt, ..Self::new(now) };
        }
    }

    /// Handles an ACK with its sample, if it had one. `interval` is ProbeRTT's, `window` that of the model.
    pub fn on_ack(&mut self, now: Instant, rtt: Option<Duration>, interval: Duration, window: Duration) {
        self.expired = self.probed.is_some() && now > self.probed_at + interval;
        if let Some(rtt) = rtt.filter(|&rtt| self.expired || self.probed.is_none_or(|probed| rtt < probed)) {
            (self.probed, self.probed_at) = (Some(rtt), now);
        }
        let lower = self.probed.is_some_and(|probed| self.least.is_none_or(|least| probed < least));
        if lower || now > self.least_at + window {
            (self.least, self.least_at) = (self.probed, self.probed_at);
        }
    }

    /// Ends a ProbeRTT: its minimum is as of now.
    pub fn renew(&mut self, now: Instant) {
        self.probed_at = now;
    }

    /// Returns whether ProbeRTT was due at the last ACK.
    pub const fn expired(&self) -> bool {
        self.expired
    }

    /// Returns the least round trip (`min_rtt`).
    pub const fn get(&self) -> Option<Duration> {
        self.least
    }
}

/// Rounds that a maximum is remembered for.
const REMEMBERED: usize = 10;
/// Half of them.
const HALF: u64 = REMEMBERED as u64 / 2;

/// How many bytes arrive beyond what the bandwidth explains (draft §5.5.9): some links release ACKs in bunches, and a window
/// without room for a bunch would run dry before the next.
#[derive(Clone, Debug)]
pub(super) struct ExtraAcked {
    since: Instant,
    acked: u64,
    /// Maxima of the last rounds, by round number.
    maxima: [Bytes; REMEMBERED],
    round: u64,
}

impl ExtraAcked {
    pub const fn new(now: Instant) -> Self {
        Self { since: now, acked: 0, maxima: [0; REMEMBERED], round: 0 }
    }

    /// Begins another interval.
    pub fn restart(&mut self, now: Instant) {
        (self.since, self.acked) = (now, 0);
    }

    /// Takes what an ACK in `round` newly delivered; the excess counts up to `most` bytes.
    pub fn on_ack(&mut self, now: Instant, round: u64, delivered: Bytes, bandwidth: Option<Rate>, most: Bytes) {
        while self.round < round {
            self.round = (self.round + 1).max(round.saturating_sub(REMEMBERED as u64));
            self.maxima[self.round as usize % REMEMBERED] = 0;
        }
        let explained = |since: Instant| bandwidth.map_or(0, |bandwidth| bandwidth.bytes_in(now.since(since)));
        let mut expected = explained(self.since);
        if self.acked <= expected {
            self.restart(now);
            expected = 0;
        }
        self.acked += u64::from(delivered);
        let extra = Bytes::try_from(self.acked.saturating_sub(expected)).unwrap_or(Bytes::MAX).min(most);
        let slot = &mut self.maxima[self.round as usize % REMEMBERED];
        *slot = (*slot).max(extra);
    }

    /// Returns the largest excess of the rounds that count: of this one alone, unless the pipe `was_full`.
    pub fn get(&self, window: ExtraAckedWindow, was_full: bool) -> Bytes {
        let first = match window {
            _ if !was_full => self.round,
            ExtraAckedWindow::TenRounds => (self.round + 1).saturating_sub(REMEMBERED as u64),
            ExtraAckedWindow::TwiceFiveRounds => (self.round / HALF).saturating_sub(1) * HALF,
        };
        (first..=self.round).map(|round| self.maxima[round as usize % REMEMBERED]).max().unwrap_or(0)
    }
}
