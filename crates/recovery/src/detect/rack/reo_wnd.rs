//! The reordering window (RFC 8985 §6.2, step 4).
//!
//! Deviations: the multiplier saturates at 255, far beyond the value at which the smoothed RTT limits the window; the count of
//! recoveries begins at zero and stays there (the RFC gives no initial value).

use super::config::{DsackAdaptation, RackConfig};
use super::lateness::Lateness;
use crate::detect::{DetectCx, ReorderingWindow};
use crate::episode::Episode;
use crate::scoreboard::SentSegment;
use base::{Duration, SeqNum, SeqRange};

/// Recoveries without a duplicate report after which the window returns to its initial size.
const PERSIST: u8 = 16;

/// Signals of one ACK that adapt the window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckSignals {
    /// It carried a duplicate report.
    pub dsack: bool,
    /// It ended an episode.
    pub exit: bool,
}

#[derive(Clone, Debug)]
pub(super) struct ReoWnd {
    adaptation: DsackAdaptation,
    dup_thresh: u16,
    reo_wnd: Duration,
    mult: u8,
    persist: u8,
    lateness_max_srtts: u8,
    lateness: Option<Box<Lateness>>,
    /// `SND.NXT` when the multiplier last grew: one growth a round.
    dsack_round: Option<SeqNum>,
    reordering_seen: bool,
}

impl ReoWnd {
    pub fn new(config: &RackConfig) -> Self {
        Self {
            adaptation: config.dsack,
            dup_thresh: u16::try_from(config.dup_thresh).unwrap_or(u16::MAX),
            reo_wnd: Duration::ZERO,
            mult: 1,
            persist: 0,
            lateness_max_srtts: config.lateness_max_srtts,
            lateness: None,
            dsack_round: None,
            reordering_seen: false,
        }
    }

    pub fn on_reordering(&mut self) {
        self.reordering_seen = true;
    }

    /// Notes that a segment is marked lost.
    #[inline]
    pub fn on_given_up(&mut self, segment: &SentSegment) {
        if self.lateness_max_srtts > 0 && segment.retransmits == 0 {
            let lateness = self.lateness.get_or_insert_with(|| Box::new(Lateness::new()));
            lateness.on_given_up(segment.range(), segment.xmit.at);
        }
    }

    /// Notes that a segment marked lost may have arrived after all.
    #[inline]
    pub fn on_arrival(&mut self, range: SeqRange, rtt: Duration, cx: &DetectCx) {
        let longest = self.longest_lateness(cx);
        let Some(lateness) = &mut self.lateness else { return };
        if lateness.on_arrival(range, rtt, longest, cx.now) {
            self.reordering_seen = true;
            self.persist = PERSIST;
        }
    }

    fn longest_lateness(&self, cx: &DetectCx) -> Duration {
        cx.srtt.unwrap_or_default() * u32::from(self.lateness_max_srtts)
    }

    /// Returns whether a segment marked lost may still arrive.
    #[inline]
    pub fn awaits_late_arrivals(&self) -> bool {
        self.lateness.is_some()
    }

    /// Returns the bytes on the heap.
    pub fn heap_size(&self) -> usize {
        self.lateness.as_deref().map_or(0, size_of_val)
    }

    /// The whole state.
    pub fn report(&self) -> ReorderingWindow {
        ReorderingWindow {
            reo_wnd: self.reo_wnd,
            multiplier: self.mult.into(),
            persist: self.persist,
            seen: self.reordering_seen,
            round: self.dsack_round,
        }
    }

    /// Updates the window once per ACK, or per firing of the reordering timer (then without signals).
    #[inline]
    pub fn update(&mut self, signals: AckSignals, sacked_segments: u32, cx: &DetectCx) -> Duration {
        self.adapt(signals, cx);
        self.reo_wnd = self.get(sacked_segments, cx);
        self.reo_wnd
    }

    //= specs/rfc8985.md#prerequisites
    //# D-SACKs adapt the reordering window.
    //= specs/rfc8985.md#reordering-window
    //# Each round trip that brings a D-SACK widens the window by another quarter of the minimum RTT.
    //= specs/rfc8985.md#reordering-window
    //# A second D-SACK in the same round trip widens nothing.
    //= specs/rfc8985.md#reordering-window
    //# Sixteen recoveries without a D-SACK bring a widened window back to its first size.
    fn adapt(&mut self, signals: AckSignals, cx: &DetectCx) {
        self.dsack_round = self.dsack_round.filter(|round| cx.snd_una.before(*round));
        let grows = signals.dsack && self.adaptation == DsackAdaptation::On && self.dsack_round.is_none();
        if grows {
            self.dsack_round = Some(cx.snd_nxt);
            self.mult = self.mult.saturating_add(1);
            self.persist = PERSIST;
        } else if signals.exit {
            self.persist = self.persist.saturating_sub(1);
            if self.persist == 0 {
                self.mult = 1;
                if let Some(lateness) = &mut self.lateness {
                    lateness.forget_worst();
                }
            }
        }
    }

    //= specs/rfc8985.md#reordering-window
    //# While no reordering was seen, the window is zero inside recovery and once three segments are SACKed.
    //= specs/rfc8985.md#reordering-window
    //# Otherwise the window begins as a quarter of the minimum RTT, or as zero while no RTT is known.
    //= specs/rfc8985.md#reordering-window
    //# Once reordering was seen, no number of SACKed segments closes the window.
    //= specs/rfc8985.md#reordering-window
    //# The reordering window has an upper bound.
    //= specs/rfc8985.md#reordering-window
    //# The upper bound of the reordering window is the smoothed RTT.
    /// Returns the window for the current state.
    pub fn get(&self, sacked_segments: u32, cx: &DetectCx) -> Duration {
        // Before reordering is seen, three SACKed segments, or an ongoing recovery, are proof enough.
        if !self.reordering_seen && (cx.episode != Episode::Open || sacked_segments >= u32::from(self.dup_thresh)) {
            return Duration::ZERO;
        }
        // Until the minimum is trusted, the mean replaces it.
        let Some(min_rtt) = cx.min_rtt.or(cx.srtt) else { return Duration::ZERO };
        let window = (min_rtt * u32::from(self.mult)) / 4;
        let window = cx.srtt.map_or(window, |srtt| window.min(srtt));
        // Measured lateness is not a guess, so it needs no such bound.
        window.max(self.lateness.as_ref().map_or(Duration::ZERO, |late| late.tolerance(self.longest_lateness(cx))))
    }
}
