//! How data leaves: a rate and a largest burst.

use super::state::UNBOUNDED;
use crate::control::Pacing;
use base::{Bytes, Duration, Rate};

/// A fraction, which may exceed one.
pub(super) type Gain = (u64, u64);

/// Startup's pacing gain: 4 ln 2, the least with which a round can double the rate.
pub(super) const STARTUP_GAIN: Gain = (277, 100);
/// A burst is what leaves in this time, ...
const QUANTUM_SPAN: Duration = Duration::from_millis(1);
/// ... but no more than a device takes at once.
pub(super) const QUANTUM_MAX: Bytes = 64 << 10;
/// The round trip of a path before the first sample.
const RTT_UNKNOWN: Duration = Duration::from_millis(1);

/// How data leaves.
#[derive(Clone, Debug)]
pub(super) struct Output {
    rate: Option<Rate>,
    quantum: Bytes,
}

impl Output {
    /// The rate of a connection before its first sample: Startup's gain on the initial window.
    pub fn new(initial_cwnd: Bytes, srtt: Option<Duration>, smss: Bytes) -> Self {
        let srtt = srtt.filter(|srtt| !srtt.is_zero()).unwrap_or(RTT_UNKNOWN);
        let window = Rate::from_delivery(u64::from(initial_cwnd) * STARTUP_GAIN.0, srtt);
        let rate = window.map(|rate| rate.scale(1, STARTUP_GAIN.1));
        Self { rate, quantum: quantum(rate, smss, 0) }
    }

    /// Replaces that rate, because the round trip of the handshake is known.
    pub fn begin(&mut self, initial_cwnd: Bytes, srtt: Option<Duration>, smss: Bytes) {
        *self = Self::new(initial_cwnd, srtt, smss);
    }

    pub const fn rate(&self) -> Option<Rate> {
        self.rate
    }

    pub const fn quantum(&self) -> Bytes {
        self.quantum
    }

    pub fn set_rate(&mut self, rate: Option<Rate>) {
        self.rate = rate;
    }

    /// Sets the largest burst for the present rate, `more` bytes beyond a millisecond of it.
    pub fn set_quantum(&mut self, smss: Bytes, more: Bytes) {
        self.quantum = quantum(self.rate, smss, more);
    }

    pub fn pacing(&self) -> Option<Pacing> {
        self.rate.map(|rate| Pacing::Rate { rate, quantum: self.quantum })
    }
}

/// Returns the largest burst at this rate, `more` bytes beyond a millisecond of it.
fn quantum(rate: Option<Rate>, smss: Bytes, more: Bytes) -> Bytes {
    let burst = rate.map_or(0, |rate| Bytes::try_from(rate.bytes_in(QUANTUM_SPAN)).unwrap_or(UNBOUNDED));
    burst.saturating_add(more).min(QUANTUM_MAX).max(smss.saturating_mul(2))
}
