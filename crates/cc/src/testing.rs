//! Test harness: samples, and a path that answers a window round by round.
//!
//! A *round* is one round trip: a window of whole segments leaves, and its ACKs come back evenly spaced. It is the
//! picture in which the RFCs describe growth, without a network in between.

use crate::control::CongestionControl;
use crate::sample::{AckSample, CongestionEvent, EpisodeKind};
use base::{Bytes, Duration, Instant, SeqNum};
use core::fmt::Write;

/// An ACK of `acked` octets at `ms`, of a flight that the window limited, outside any episode.
pub fn ack(ms: u64, acked: Bytes) -> AckSample {
    AckSample {
        now: Instant::from_nanos(ms * 1_000_000),
        acked,
        sacked: 0,
        delivered: acked,
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

/// A path seen in rounds.
pub struct Rounds {
    pub rtt: Duration,
    pub segments_per_ack: u32,
    pub now: Instant,
}

impl Rounds {
    pub fn new(rtt_ms: u64, segments_per_ack: u32) -> Self {
        Self { rtt: Duration::from_millis(rtt_ms), segments_per_ack, now: Instant::ZERO }
    }

    /// One round without loss: a window leaves and is acknowledged. Returns its whole segments.
    pub fn deliver(&mut self, cc: &mut dyn CongestionControl, episode: EpisodeKind) -> u32 {
        let smss = cc.window().smss();
        let segments = cc.window().cwnd() / smss;
        let start = self.now;
        let mut acknowledged = 0;
        while acknowledged < segments {
            let batch = self.segments_per_ack.min(segments - acknowledged);
            acknowledged += batch;
            let now = start + self.rtt.scale(u64::from(acknowledged), u64::from(segments));
            cc.on_ack(&AckSample { now, srtt: Some(self.rtt), episode, ..ack(0, batch * smss) });
        }
        self.now = start + self.rtt;
        segments
    }

    /// A round in which one segment of the window is found lost, and the round of recovery after it.
    pub fn lose(&mut self, cc: &mut dyn CongestionControl) {
        let flight_size = cc.window().cwnd();
        cc.on_congestion(&CongestionEvent::Loss { flight_size }, self.now);
        self.deliver(cc, EpisodeKind::Recovery);
        cc.on_recovery_exit(self.now);
    }

    /// A timeout after one silent round.
    pub fn time_out(&mut self, cc: &mut dyn CongestionControl) {
        self.now += self.rtt;
        let flight_size = cc.window().cwnd();
        cc.on_congestion(&CongestionEvent::Timeout { flight_size, first: true }, self.now);
    }
}

/// What happens at the beginning of a round.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Happening {
    Loss(usize),
    Timeout(usize),
}

/// `round: segments phase` for `rounds` rounds.
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
        let phase = cc.snapshot().phase;
        let segments = path.deliver(cc, EpisodeKind::Open);
        writeln!(text, "{round:3}: {segments:5} {phase}{mark}").expect("writing to a string");
    }
    text
}
