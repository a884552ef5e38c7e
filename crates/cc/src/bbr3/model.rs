//! What an ACK adds to the model (draft §5.5).

use super::Bbr3;
use super::state::UNBOUNDED;
use crate::full_pipe::FullPipe;
use crate::sample::AckSample;
use base::{Bytes, RateSample};

impl Bbr3 {
    /// Step 2: what this ACK adds to the present round.
    pub(super) fn note_delivery(&mut self, sample: Option<&RateSample>) {
        self.latest.on_sample(sample, self.delivered);
    }

    /// Step 3: the largest bandwidth and, once in a loss round, the answer to its losses.
    pub(super) fn answer_round(&mut self, sample: Option<&RateSample>) {
        if let Some((rate, sample)) = sample.and_then(|sample| Some((sample.rate()?, sample))) {
            self.max_bandwidth.on_sample(rate, sample.app_limited);
        }
        if !self.latest.starts() {
            return;
        }
        if self.latest.take_loss() && !self.state.accelerates() {
            self.short.lower(&self.latest, self.max_bandwidth.get(), self.window.cwnd());
        }
    }

    /// Step 4: how far ACKs come aggregated.
    pub(super) fn note_aggregation(&mut self, ack: &AckSample) {
        let cwnd = self.window.cwnd();
        let at_rate = |span| self.bandwidth.map_or(UNBOUNDED.into(), |bandwidth| bandwidth.bytes_in(span));
        let most = self
            .config
            .extra_acked_max
            .map_or(cwnd, |span| cwnd.min(Bytes::try_from(at_rate(span)).unwrap_or(UNBOUNDED)));
        self.extra_acked.on_ack(ack.now, self.rounds.count(), ack.delivered, self.bandwidth, most);
    }

    /// Step 5: whether the pipe is full.
    pub(super) fn judge_pipe(&mut self, sample: Option<&RateSample>) {
        let Some(sample) = sample.filter(|sample| self.rounds.starts() && !sample.app_limited) else { return };
        if let Some(rate) = sample.rate() {
            self.was_full |= self.full_pipe.on_round(rate);
        }
    }

    /// Asks anew whether the pipe is full; the rate has to grow beyond that of `sample`.
    pub(super) fn judge_pipe_anew(&mut self, sample: Option<&RateSample>) {
        self.full_pipe = FullPipe::from(sample.and_then(RateSample::rate));
    }

    /// Step 12: the bandwidth of the model.
    pub(super) fn bound_bandwidth(&mut self) {
        let most = self.max_bandwidth.get();
        self.bandwidth = self.short.bandwidth().into_iter().chain(most).min();
    }
}
