//! From the model to a rate and a window (draft §5.6).

use super::Bbr3;
use super::departures::{Gain, QUANTUM_MAX, STARTUP_GAIN};
use super::state::{State, UNBOUNDED};
use base::{Bytes, Rate, Ratio};

/// Up's pacing gain.
const UP_GAIN: Gain = (5, 4);
/// The window's gain, and Up's.
const CWND_GAIN: Gain = (2, 1);
const UP_CWND_GAIN: Gain = (9, 4);
/// ProbeRTT's window gain.
const PROBE_RTT_GAIN: Gain = (1, 2);
/// What remains of the bandwidth after the pacing margin, which lets a queue drain.
const PACED: Gain = (99, 100);
/// The share of the long-term bound that is left to others in Cruise, in percent.
const HEADROOM: u64 = 15;
/// Returns the long-term bound less what is left to others: at least a segment, and no less than `least`.
pub(super) fn with_headroom(inflight_long: Bytes, smss: Bytes, least: Bytes) -> Bytes {
    if inflight_long == UNBOUNDED {
        return UNBOUNDED;
    }
    let left = (u64::from(inflight_long) * HEADROOM / 100) as Bytes;
    inflight_long.saturating_sub(left.max(smss)).max(least)
}

const fn gain(ratio: Ratio) -> Gain {
    (ratio.num(), ratio.den())
}

impl Bbr3 {
    fn pacing_gain(&self) -> Gain {
        match self.state {
            State::Startup => STARTUP_GAIN,
            State::Drain { .. } => gain(self.config.drain_gain),
            State::Down => gain(self.config.down_gain),
            State::Up => UP_GAIN,
            State::Cruise | State::Refill | State::ProbeRtt => (1, 1),
        }
    }

    fn cwnd_gain(&self) -> Gain {
        match self.state {
            State::Up => UP_CWND_GAIN,
            State::ProbeRtt => PROBE_RTT_GAIN,
            _ => CWND_GAIN,
        }
    }

    /// Returns a multiple of what `bandwidth` carries in a round trip; of the initial window while either is unknown.
    fn bdp_of(&self, bandwidth: Option<Rate>, gain: Gain) -> Bytes {
        let Some((bandwidth, rtt)) = bandwidth.zip(self.min_rtt.get()) else { return self.initial_cwnd };
        let bytes = u128::from(bandwidth.bytes_in(rtt)) * u128::from(gain.0) / u128::from(gain.1);
        Bytes::try_from(bytes).unwrap_or(UNBOUNDED)
    }

    /// Returns the bandwidth-delay product of the model.
    pub(super) fn bdp(&self) -> Bytes {
        self.bdp_of(self.bandwidth, (1, 1))
    }

    /// Raises a bound so that bursts fit and ACKs keep coming.
    fn quantised(&self, bound: Bytes) -> Bytes {
        let bound = bound.max(self.output.quantum().saturating_mul(3)).max(self.least_cwnd());
        if self.state == State::Up { bound.saturating_add(2 * self.smss()) } else { bound }
    }

    /// Returns what would be in flight at a multiple of `bandwidth`.
    pub(super) fn inflight_of(&self, bandwidth: Option<Rate>, gain: Gain) -> Bytes {
        self.quantised(self.bdp_of(bandwidth, gain))
    }

    /// Returns what would be in flight at a multiple of the model's bandwidth.
    pub(super) fn inflight_at(&self, gain: Gain) -> Bytes {
        self.inflight_of(self.bandwidth, gain)
    }

    /// Returns the long-term bound with room for others.
    pub(super) fn inflight_with_headroom(&self) -> Bytes {
        with_headroom(self.inflight_long, self.smss(), self.least_cwnd())
    }

    /// Returns the window of ProbeRTT.
    pub(super) fn probe_rtt_cwnd(&self) -> Bytes {
        self.bdp_of(self.bandwidth, PROBE_RTT_GAIN).max(self.least_cwnd())
    }

    /// Step 13: paces at the state's gain.
    pub(super) fn set_rate(&mut self) {
        self.set_rate_at(self.pacing_gain());
    }

    /// Paces at a multiple of the bandwidth; before the pipe was full only if that is faster.
    pub(super) fn set_rate_at(&mut self, gain: Gain) {
        if let Some(bandwidth) = self.bandwidth {
            let rate = Some(bandwidth.scale(gain.0 * PACED.0, gain.1 * PACED.1));
            if self.was_full || rate > self.output.rate() {
                self.output.set_rate(rate);
            }
        }
        self.output.set_quantum(self.window.smss(), self.burst_of_short_path());
    }

    /// Returns by how much bursts are larger where the round trip is short.
    fn burst_of_short_path(&self) -> Bytes {
        let Some((rtt, step)) = self.min_rtt.get().zip(self.config.burst_halving) else { return 0 };
        let halvings = u32::try_from(rtt.as_nanos() / step.as_nanos()).unwrap_or(u32::MAX);
        QUANTUM_MAX.checked_shr(halvings).unwrap_or(0)
    }

    /// Step 13: opens the window by what was newly delivered, within its bounds.
    pub(super) fn set_cwnd(&mut self, delivered: Bytes) {
        let extra = self.extra_acked.get(self.config.extra_acked, self.was_full);
        let most = self.quantised(self.bdp_of(self.bandwidth, self.cwnd_gain()).saturating_add(extra));
        let cwnd = self.window.cwnd();
        let opened = cwnd.saturating_add(delivered);
        let cwnd = match self.was_full {
            true => opened.min(most),
            false if cwnd < most || self.delivered < u64::from(self.initial_cwnd) => opened,
            false => cwnd,
        };
        self.window.set_cwnd(cwnd.max(self.least_cwnd()).min(self.cwnd_bound()));
    }

    /// Returns the bound that the state and the model set.
    fn cwnd_bound(&self) -> Bytes {
        let (long, short) = (self.inflight_long, self.short.inflight());
        let bound = match self.state {
            State::Startup => UNBOUNDED,
            State::Drain { .. } => short,
            State::Down => long.min(short),
            State::Refill | State::Up => long,
            State::Cruise => self.inflight_with_headroom().min(short),
            State::ProbeRtt => self.inflight_with_headroom().min(short).min(self.probe_rtt_cwnd()),
        };
        bound.max(self.least_cwnd())
    }
}
