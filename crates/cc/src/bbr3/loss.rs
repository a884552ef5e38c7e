//! What a lost segment says about a probe (draft §5.5.10.2).

use super::Bbr3;
use super::bounds::beta_of;
use super::state::{State, UNBOUNDED};
use crate::sample::LossSample;
use base::{Bytes, Ratio};

/// A probe was too high if more than this share of a flight was lost (`LossThresh`), in percent.
const LOSS_THRESHOLD: u64 = 2;

/// Returns whether `lost` is more than `share` of `flight`.
pub(super) fn is_too_much(lost: u64, flight: Bytes, share: Ratio) -> bool {
    u128::from(lost) * u128::from(share.den()) > u128::from(flight) * u128::from(share.num())
}

/// Returns whether `lost` bytes are too many for a probe with `flight` in flight.
pub(super) const fn is_too_high(lost: u64, flight: Bytes) -> bool {
    lost.saturating_mul(100) > flight as u64 * LOSS_THRESHOLD
}

/// Returns how much was in flight, with the part of the lost segment before it, when the share of lost bytes crossed the
/// threshold. The segment had `size` bytes and left with `flight` in flight, itself included; `lost` bytes were lost since, itself
/// included.
pub(super) fn inflight_at_loss(flight: Bytes, size: Bytes, lost: u64) -> Bytes {
    let before = i128::from(flight) - i128::from(size);
    let lost_before = i128::from(lost) - i128::from(size);
    // (threshold · before − lost_before) / (1 − threshold), in percent, to the nearest byte.
    let threshold = i128::from(LOSS_THRESHOLD);
    let (num, den) = (threshold * before - 100 * lost_before, 100 - threshold);
    let prefix = (2 * num + den).div_euclid(2 * den);
    Bytes::try_from((before + prefix).max(0)).unwrap_or(UNBOUNDED)
}

impl Bbr3 {
    /// Handles a segment that was marked lost.
    pub(super) fn note_loss(&mut self, lost: &LossSample) {
        self.save_for_undo();
        self.probing.note_reports(lost.selective);
        self.latest.on_lost(lost.range, lost.total_delivered);
        if !self.probing.is_sample() {
            return;
        }
        if lost.selective && !is_too_high(lost.lost_since_sent, lost.pipe_at_send) {
            return;
        }
        self.probing.on_too_high();
        if !lost.app_limited {
            let crossed = inflight_at_loss(lost.pipe_at_send, lost.bytes, lost.lost_since_sent);
            self.inflight_long = crossed.max(beta_of(self.bdp().min(self.window.cwnd())));
        }
        if self.state == State::Up {
            self.undo_to(State::Up);
            self.enter_down(lost.now);
        }
    }
}
