//! What lost segments, and marked ones, say about a probe (draft §5.5.10.2).

use super::bounds::beta_of;
use super::state::{State, UNBOUNDED};
use super::{Bbr3, MarkMeaning};
use crate::sample::{AckSample, LossSample};
use base::{Bytes, Duration, Instant, Ratio};

/// A probe was too high if more than this share of a flight was lost (`LossThresh`), in percent.
const LOSS_THRESHOLD: u64 = 2;

/// Longest round trip of a path whose marks count by their share, and rounds of many marks that end Startup.
const MARKED_PATH: Duration = Duration::from_millis(5);
const MARKED_ROUNDS: u8 = 2;

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
        let crossed = inflight_at_loss(lost.pipe_at_send, lost.bytes, lost.lost_since_sent);
        self.fail_probe(lost.now, (!lost.app_limited).then_some(crossed));
    }

    /// Ends a probe that was too high. The path carries no more than `crossed`, unless the application limited the sender.
    fn fail_probe(&mut self, now: Instant, crossed: Option<Bytes>) {
        self.probing.on_too_high();
        if let Some(crossed) = crossed {
            self.inflight_long = crossed.max(beta_of(self.bdp().min(self.window.cwnd())));
        }
        if self.state == State::Up {
            self.undo_to(State::Up);
            self.enter_down(now);
        }
    }

    /// Handles the marks of a round, where their share counts.
    pub(super) fn answer_marks(&mut self, ack: &AckSample) {
        let short_path = self.min_rtt.get().is_some_and(|rtt| rtt <= MARKED_PATH);
        if self.config.marks != MarkMeaning::Share || !short_path {
            return;
        }
        self.marks.on_ack(ack.delivered, ack.marked);
        if !self.rounds.starts() {
            return;
        }
        let round = self.marks.finish_round();
        if round.any && !self.state.accelerates() {
            self.short.cut_inflight(self.window.cwnd(), |bound| self.marks.cut(bound));
        }
        if self.state == State::Startup && self.marks.high_rounds() >= MARKED_ROUNDS {
            self.fill_pipe();
        }
        if let Some(sample) = ack.rate.as_ref().filter(|_| round.high && self.probing.is_sample()) {
            self.fail_probe(ack.now, (!sample.app_limited).then_some(sample.pipe_at_send));
        }
    }
}
