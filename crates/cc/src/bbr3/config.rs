//! What implementations of BBRv3 decide differently, as data.

use base::{Duration, Ratio};

/// The leaves of BBRv3. The defaults are draft-ietf-ccwg-bbr-06's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bbr3Config {
    /// Pacing gain in Drain.
    pub drain_gain: Ratio,
    /// Pacing gain in ProbeBW's Down.
    pub down_gain: Ratio,
    /// Startup ends if more than this share of a round in fast recovery is lost, ...
    pub startup_loss: Ratio,
    /// ... in at least this many ranges of sequence numbers that do not touch each other.
    pub startup_loss_ranges: u8,
    /// Over which rounds the largest aggregation is remembered.
    pub extra_acked: ExtraAckedWindow,
    /// Upper bound of aggregation, as a time at the estimated bandwidth; `None` for the congestion window alone.
    pub extra_acked_max: Option<Duration>,
    /// Time without a new minimum of the round trip after which the sender probes for one.
    pub probe_rtt_interval: Duration,
    /// How long a minimum of the round trip is believed.
    pub min_rtt_window: Duration,
    /// Bursts beyond a millisecond of the pacing rate: 64 KiB more on a path without delay, halved for each such step of the
    /// minimum round trip; `None` for none.
    pub burst_halving: Option<Duration>,
    /// What a congestion mark means.
    pub marks: MarkMeaning,
}

/// Over which rounds the largest aggregation is remembered, once the pipe was full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExtraAckedWindow {
    /// The last ten.
    #[default]
    TenRounds,
    /// The present five and the five before them: between six and ten.
    TwiceFiveRounds,
}

/// What a congestion mark means (the draft leaves it open).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MarkMeaning {
    /// The round had a loss.
    #[default]
    Loss,
    /// On a path of at most 5 ms the share of marked data lowers what is in flight, and ends a probe or Startup if it is large
    /// (Google's BBRv3). Meant for receivers that echo each mark; those of RFC 3168 echo one for a round trip.
    Share,
    /// Nothing: the sender reacts to losses and to delivery rates.
    Nothing,
}

impl Default for Bbr3Config {
    fn default() -> Self {
        Self {
            drain_gain: percent(50),
            down_gain: percent(90),
            startup_loss: percent(2),
            startup_loss_ranges: 6,
            extra_acked: ExtraAckedWindow::TenRounds,
            extra_acked_max: None,
            probe_rtt_interval: Duration::from_secs(5),
            min_rtt_window: Duration::from_secs(10),
            burst_halving: None,
            marks: MarkMeaning::Loss,
        }
    }
}

/// Returns a share of at most one, in percent.
const fn percent(n: u64) -> Ratio {
    match Ratio::new(n, 100) {
        Some(ratio) => ratio,
        None => Ratio::ONE,
    }
}

/// Gains below this would stall the sender.
const GAIN_MIN: (u64, u64) = (1, 20);
/// Finer fractions are rejected: they would have no effect and strain the arithmetic.
const DENOMINATOR_MAX: u64 = 1_000_000;
/// Spans that a round-trip time may be believed for, or halve a burst.
const WINDOWS: core::ops::RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(3_600);

impl Bbr3Config {
    /// Passes every leaf that is out of bounds to `need`, with the values that are valid.
    pub(crate) fn check(&self, need: &mut impl FnMut(bool, &'static str, &str)) {
        let gain = "must be between 0.05 and 1, with at most six decimals";
        need(is_gain(self.drain_gain), "cc.controller.drain_gain", gain);
        need(is_gain(self.down_gain), "cc.controller.down_gain", gain);
        let share = !self.startup_loss.is_zero() && self.startup_loss.den() <= DENOMINATOR_MAX;
        need(share, "cc.controller.startup_loss", "must be above 0, with at most six decimals");
        need(self.startup_loss_ranges >= 1, "cc.controller.startup_loss_ranges", "must be at least 1");
        let span = "must be between 100ms and 1h";
        need(WINDOWS.contains(&self.probe_rtt_interval), "cc.controller.probe_rtt_interval", span);
        need(WINDOWS.contains(&self.min_rtt_window), "cc.controller.min_rtt_window", span);
        let positive = |span: Option<Duration>| span.is_none_or(|span| !span.is_zero());
        need(positive(self.extra_acked_max), "cc.controller.extra_acked_max", "must be above 0, or none");
        need(positive(self.burst_halving), "cc.controller.burst_halving", "must be above 0, or none");
    }
}

const fn is_gain(gain: Ratio) -> bool {
    gain.num().saturating_mul(GAIN_MIN.1) >= gain.den() * GAIN_MIN.0 && gain.den() <= DENOMINATOR_MAX
}
