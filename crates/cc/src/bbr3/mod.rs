//! BBRv3 (draft-ietf-ccwg-bbr-06): a controller that models the path instead of waiting for losses.
//!
//! Two numbers describe a path: the bandwidth of its bottleneck and its round trip without a queue. Both cannot be measured at
//! the same time, because the one takes a queue and the other takes its absence, so the sender alternates: it sends a little
//! faster to see whether more is delivered, a little slower to let the queue drain, and now and then almost nothing. Loss bounds
//! what may be in flight, but a single loss is not a signal: BBR tolerates a loss of up to two per cent of a probe.
//!
//! A file per part: `filters`, `bounds` and `cycle` hold what is known, `model` updates it, and [`FullPipe`] says when Startup is
//! over; `startup`, `probe_bw` and `probe_rtt` are the states of `state`; `loss` and `recovery` are losses, episodes and their
//! undoing with `undo`; `output` turns the model into a window and `departures`. This file has the order in which an ACK passes
//! the parts (draft §5.2.3).
//!
//! Where the draft leaves something open:
//! * Each state sets its gains on entry; the window of Drain is bounded by the short-term model alone.
//! * Rounds until the next probe are compared with the window in segments.
//! * The state from before an episode is saved once, at its first loss: an undo restores what preceded the whole episode.
//! * ECN's marks: [`MarkMeaning`].

mod bounds;
mod config;
mod cycle;
mod departures;
mod filters;
mod loss;
mod marks;
mod model;
mod output;
mod probe_bw;
mod probe_rtt;
mod recovery;
mod startup;
mod state;
mod undo;

#[cfg(test)]
mod tests;

pub use config::{Bbr3Config, ExtraAckedWindow, MarkMeaning};

use crate::control::{CcNote, CcPhase, CongestionControl, Pacing, Snapshot};
use crate::full_pipe::FullPipe;
use crate::sample::{AckSample, CongestionEvent, FlightStart, LossSample, SentSample};
use crate::window::Window;
use base::{Bytes, Duration, Instant, Rate, Rng};
use bounds::{Latest, ShortTerm};
use cycle::Probing;
use departures::Output;
use filters::{ExtraAcked, MaxBandwidth, MinRtt, Rounds};
use marks::Marks;
use state::{ProbeRtt, State, UNBOUNDED};
use undo::Undo;

/// The controller.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    config: Bbr3Config,
    window: Window,
    initial_cwnd: Bytes,
    rng: Rng,
    state: State,
    /// The phase of the last note.
    reported: CcPhase,
    /// Bytes delivered on the connection, and in flight, as far as the last event said.
    delivered: u64,
    pipe: Bytes,
    rounds: Rounds,
    max_bandwidth: MaxBandwidth,
    /// The bandwidth of the model: the largest, bounded by the short term; `None` before the first sample.
    bandwidth: Option<Rate>,
    min_rtt: MinRtt,
    extra_acked: ExtraAcked,
    full_pipe: FullPipe,
    /// The pipe was full once (`full_bw_reached`).
    was_full: bool,
    latest: Latest,
    short: ShortTerm,
    marks: Marks,
    /// What the path carries without too much loss, queue included (`inflight_longterm`).
    inflight_long: Bytes,
    probing: Probing,
    probe_rtt: ProbeRtt,
    output: Output,
    /// The window before an episode or a ProbeRTT; zero if none was saved.
    prior_cwnd: Bytes,
    recovering: bool,
    undo: Option<Undo>,
    /// Sending goes on after a pause, and nothing has been delivered since.
    idle_restart: bool,
}

impl Bbr3 {
    /// A new connection's controller, with its own stream of random numbers.
    pub fn new(config: &Bbr3Config, window: Window, rng: Rng) -> Self {
        let initial_cwnd = window.cwnd();
        let output = Output::new(initial_cwnd, None, window.smss());
        Self {
            config: config.clone(),
            window,
            initial_cwnd,
            rng,
            state: State::Startup,
            reported: CcPhase::Startup,
            delivered: 0,
            pipe: 0,
            rounds: Rounds::default(),
            max_bandwidth: MaxBandwidth::default(),
            bandwidth: None,
            min_rtt: MinRtt::new(Instant::ZERO),
            extra_acked: ExtraAcked::new(Instant::ZERO),
            full_pipe: FullPipe::default(),
            was_full: false,
            latest: Latest::default(),
            short: ShortTerm::default(),
            marks: Marks::default(),
            inflight_long: UNBOUNDED,
            probing: Probing::default(),
            probe_rtt: ProbeRtt::default(),
            output,
            prior_cwnd: 0,
            recovering: false,
            undo: None,
            idle_restart: false,
        }
    }

    fn smss(&self) -> Bytes {
        self.window.smss()
    }

    /// The least window that keeps ACKs coming (`MinPipeCwnd`).
    fn least_cwnd(&self) -> Bytes {
        self.smss().saturating_mul(4)
    }

    /// Updates the model with an ACK, and the state with the model.
    fn update(&mut self, ack: &AckSample) {
        self.note_delivery(ack.rate.as_ref());
        self.rounds.on_ack(ack.rate.as_ref(), self.delivered);
        self.probing.count_round(self.rounds.starts());
        self.answer_round(ack.rate.as_ref());
        self.answer_marks(ack);
        self.note_aggregation(ack);
        self.judge_pipe(ack.rate.as_ref());
        self.leave_startup(ack);
        self.leave_drain(ack.now);
        self.advance_probe(ack);
        let (interval, window) = (self.config.probe_rtt_interval, self.config.min_rtt_window);
        self.min_rtt.on_ack(ack.now, ack.rtt, interval, window);
        self.check_probe_rtt(ack);
        self.latest.finish(ack.rate.as_ref());
        self.bound_bandwidth();
    }
}

impl CongestionControl for Bbr3 {
    fn on_sent(&mut self, sent: &SentSample) {
        self.pipe = sent.pipe;
    }

    fn on_flight_start(&mut self, start: &FlightStart) {
        self.begin_flight(start);
    }

    fn on_ack(&mut self, ack: &AckSample) -> Option<CcNote> {
        (self.delivered, self.pipe) = (ack.total_delivered, ack.pipe);
        self.update(ack);
        self.set_rate();
        self.set_cwnd(ack.delivered);
        let phase = self.state.phase();
        let changed = core::mem::replace(&mut self.reported, phase) != phase;
        changed.then_some(CcNote::PhaseChanged(phase))
    }

    fn on_lost(&mut self, lost: &LossSample) {
        self.pipe = self.pipe.saturating_sub(lost.bytes);
        self.delivered = lost.total_delivered;
        self.note_loss(lost);
    }

    fn on_congestion(&mut self, event: &CongestionEvent, _now: Instant) {
        self.begin_episode(event);
    }

    fn on_recovery_exit(&mut self, _now: Instant) {
        self.end_episode();
    }

    fn on_smss_change(&mut self, smss: Bytes) {
        self.window.set_smss(smss);
    }

    fn undo(&mut self) -> bool {
        self.undo_episode()
    }

    fn window(&self) -> &Window {
        &self.window
    }

    fn pacing(&self) -> Option<Pacing> {
        self.output.pacing()
    }

    fn models_path(&self) -> bool {
        true
    }

    fn limits_itself(&self) -> bool {
        self.state == State::ProbeRtt
    }

    fn snapshot(&self) -> Snapshot {
        let bounded = |bytes: Bytes| if bytes == UNBOUNDED { 0 } else { u64::from(bytes) };
        Snapshot {
            phase: self.state.phase(),
            cwnd: self.window.cwnd(),
            ssthresh: self.window.ssthresh(),
            values: [
                ("bandwidth", self.bandwidth.map_or(0, Rate::bits_per_sec)),
                ("min_rtt_us", self.min_rtt.get().map_or(0, Duration::as_micros)),
                ("inflight_long", bounded(self.inflight_long)),
                ("inflight_short", bounded(self.short.inflight())),
            ],
        }
    }

    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }

    fn state_size(&self) -> usize {
        size_of::<Self>()
    }
}
