//! Test harness: samples, and a path that processes a window round by round.
//!
//! A *round* is one round trip: a window of whole segments leaves, and its ACKs return evenly spaced. The RFCs describe growth in
//! these terms, without a network in between.

use crate::control::{CcPhase, CongestionControl};
use crate::sample::{AckSample, CongestionEvent, EpisodeKind, LossSample};
use base::{Bytes, Duration, Instant, RateSample, Rng, SeqNum, SeqRange};
use core::fmt::Write;

/// An ACK of `acked` bytes at `ms`, of a flight that the window limited, outside any episode.
pub fn ack(ms: u64, acked: Bytes) -> AckSample {
    AckSample {
        now: Instant::from_nanos(ms * 1_000_000),
        acked,
        sacked: 0,
        delivered: acked,
        marked: 0,
        newly_lost: 0,
        pipe: 0,
        prior_pipe: acked,
        rtt: None,
        srtt: None,
        min_rtt: None,
        rate: None,
        total_delivered: 0,
        snd_una: SeqNum(0),
        snd_nxt: SeqNum(0),
        episode: EpisodeKind::Open,
        cwnd_limited: true,
    }
}

/// The same of a flight that the application limited.
pub fn app_limited(ms: u64, acked: Bytes) -> AckSample {
    AckSample { cwnd_limited: false, ..ack(ms, acked) }
}

/// The delay that a path adds to its bare round trip.
pub enum Delays {
    /// None; the ACKs of a round are spread over all of it.
    None,
    /// The queueing delay beyond the path's capacity: it serves `bdp` segments per bare round trip, and ACKs follow that rate.
    Queue { bdp: u32 },
    /// Up to this much, at random; the ACKs are spread as without delay.
    Jitter(Duration, Rng),
}

/// A path seen in rounds.
pub struct Rounds {
    pub rtt: Duration,
    pub segments_per_ack: u32,
    pub now: Instant,
    pub delays: Delays,
    una: SeqNum,
    nxt: SeqNum,
    min_rtt: Duration,
    delivered: u64,
}

impl Rounds {
    pub fn new(rtt_ms: u64, segments_per_ack: u32) -> Self {
        Self {
            rtt: Duration::from_millis(rtt_ms),
            segments_per_ack,
            now: Instant::ZERO,
            delays: Delays::None,
            una: SeqNum(1),
            nxt: SeqNum(1),
            min_rtt: Duration::MAX,
            delivered: 0,
        }
    }

    /// The same path with these delays.
    pub fn with(self, delays: Delays) -> Self {
        Self { delays, ..self }
    }

    /// Returns, for a window of `segments`, how far into the round its `nth` is acknowledged, and that ACK's RTT sample.
    fn timing(&mut self, nth: u32, segments: u32) -> (Duration, Duration) {
        let even = self.rtt.scale(u64::from(nth), u64::from(segments));
        match &mut self.delays {
            Delays::None => (even, self.rtt),
            Delays::Queue { bdp } => {
                let served = |segments: u32| self.rtt.scale(u64::from(segments), u64::from(*bdp));
                (served(nth), self.rtt + served(segments.saturating_sub(*bdp)))
            }
            Delays::Jitter(most, rng) => (even, self.rtt + Duration::from_nanos(rng.below(most.as_nanos()))),
        }
    }

    /// Runs one round without loss: a window leaves and is acknowledged. Returns its whole segments.
    pub fn deliver(&mut self, cc: &mut dyn CongestionControl, episode: EpisodeKind) -> u32 {
        let smss = cc.window().smss();
        let segments = cc.window().cwnd() / smss;
        let start = self.now;
        let mut acknowledged = 0;
        // All that is acknowledged in a round left in the one before.
        let whole = RateSample {
            delivered: u64::from(segments * smss),
            interval: self.rtt,
            prior_delivered: self.delivered,
            pipe_at_send: segments * smss,
            lost: 0,
            app_limited: false,
        };
        while acknowledged < segments {
            self.nxt = self.nxt.max(self.una + cc.window().cwnd());
            let batch = self.segments_per_ack.min(segments - acknowledged);
            acknowledged += batch;
            self.una += batch * smss;
            let (after, rtt) = self.timing(acknowledged, segments);
            self.delivered += u64::from(batch * smss);
            let rate = Some(RateSample { interval: self.timing(segments, segments).0.max(self.rtt), ..whole });
            self.min_rtt = self.min_rtt.min(rtt);
            self.now = start + after;
            cc.on_ack(&AckSample {
                now: self.now,
                rtt: Some(rtt),
                srtt: Some(self.rtt),
                min_rtt: Some(self.min_rtt),
                rate,
                total_delivered: self.delivered,
                snd_una: self.una,
                snd_nxt: self.nxt,
                episode,
                ..ack(0, batch * smss)
            });
        }
        self.now = self.now.max(start + self.rtt);
        segments
    }

    /// A round in which one segment of the window is found lost, and the round of recovery after it.
    pub fn lose(&mut self, cc: &mut dyn CongestionControl) {
        let flight_size = cc.window().cwnd();
        cc.on_congestion(&CongestionEvent::Loss { flight_size }, self.now);
        self.deliver(cc, EpisodeKind::Recovery);
        cc.on_recovery_exit(self.now);
    }

    /// The same, but nothing was lost, as the end of recovery reveals.
    pub fn seem_to_lose(&mut self, cc: &mut dyn CongestionControl) {
        self.lose(cc);
        assert!(cc.undo());
    }

    /// A timeout after one silent round.
    pub fn time_out(&mut self, cc: &mut dyn CongestionControl) {
        self.now += self.rtt;
        let flight_size = cc.window().cwnd();
        cc.on_congestion(&CongestionEvent::Timeout { flight_size, first: true }, self.now);
    }
}

/// An event at the beginning of a round.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Happening {
    Loss(usize),
    Timeout(usize),
    SpuriousLoss(usize),
}

/// Returns `round: segments phase` for `rounds` rounds.
pub fn story(cc: &mut dyn CongestionControl, path: &mut Rounds, rounds: usize, happenings: &[Happening]) -> String {
    let mut text = String::new();
    for round in 0..rounds {
        let mut mark = "";
        if happenings.contains(&Happening::Loss(round)) {
            path.lose(cc);
            mark = "  loss";
        }
        if happenings.contains(&Happening::Timeout(round)) {
            path.time_out(cc);
            mark = "  timeout";
        }
        if happenings.contains(&Happening::SpuriousLoss(round)) {
            path.seem_to_lose(cc);
            mark = "  loss, undone";
        }
        let phase = phase_name(cc.snapshot().phase);
        let segments = path.deliver(cc, EpisodeKind::Open);
        writeln!(text, "{round:3}: {segments:5} {phase}{mark}").expect("writing to a string");
    }
    text
}

/// The name of a phase in tables.
pub fn phase_name(phase: CcPhase) -> &'static str {
    match phase {
        CcPhase::SlowStart => "slow_start",
        CcPhase::Css => "css",
        CcPhase::Lss => "lss",
        CcPhase::Jump => "jump",
        CcPhase::Draining => "draining",
        CcPhase::Reno => "reno",
        CcPhase::Cubic => "cubic",
        CcPhase::Compound => "compound",
        CcPhase::Startup => "startup",
        CcPhase::Drain => "drain",
        CcPhase::ProbeDown => "probe_down",
        CcPhase::ProbeCruise => "probe_cruise",
        CcPhase::ProbeRefill => "probe_refill",
        CcPhase::ProbeUp => "probe_up",
        CcPhase::ProbeRtt => "probe_rtt",
        CcPhase::Outside => "outside",
    }
}

/// A loss of `bytes` of which nothing else is known.
pub fn lost(now: Instant, bytes: Bytes) -> LossSample {
    LossSample {
        now,
        bytes,
        pipe_at_send: 0,
        delivered_at_send: 0,
        total_delivered: 0,
        lost_since_sent: u64::from(bytes),
        app_limited: false,
        range: SeqRange::new(SeqNum(0), SeqNum(bytes)),
        selective: true,
    }
}
