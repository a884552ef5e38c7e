//! Tests that the seam supports controllers that model the path instead of waiting for losses.
//!
//! The controller here is the smallest of that kind: it paces at the fastest delivery rate of the last ten rounds and allows two
//! bandwidth-delay products in flight. It uses only the samples and the trait.

#![deny(clippy::float_arithmetic)]

use base::{Bytes, Duration, Instant, Rate, RateSample, SeqNum};
use longhaul_cc::{
    AckSample, CcNote, CcPhase, CongestionControl, CongestionEvent, EpisodeKind, InitialWindow, Pacing, Snapshot,
    Window,
};

const SMSS: Bytes = 1_000;
const ROUNDS_REMEMBERED: usize = 10;

#[derive(Clone, Debug)]
struct DeliveryRate {
    window: Window,
    /// Fastest rate of each of the last rounds.
    fastest: [Option<Rate>; ROUNDS_REMEMBERED],
    /// A round ends when a segment is delivered that left after this many bytes were delivered.
    round_end: u64,
    round: usize,
    min_rtt: Option<Duration>,
    growing: bool,
}

impl DeliveryRate {
    fn new() -> Self {
        Self {
            window: Window::new(&InitialWindow::RFC6928, SMSS),
            fastest: [None; ROUNDS_REMEMBERED],
            round_end: 0,
            round: 0,
            min_rtt: None,
            growing: true,
        }
    }

    fn bandwidth(&self) -> Option<Rate> {
        self.fastest.iter().flatten().max().copied()
    }

    fn on_rate(&mut self, sample: &RateSample, total_delivered: u64) {
        if sample.prior_delivered >= self.round_end {
            self.round_end = total_delivered;
            self.round += 1;
            self.fastest[self.round % ROUNDS_REMEMBERED] = None;
        }
        // A rate limited by the application says nothing about the path's speed, unless it was even faster.
        let Some(rate) = sample.rate() else { return };
        if !sample.app_limited || self.bandwidth().is_none_or(|known| rate > known) {
            let slot = &mut self.fastest[self.round % ROUNDS_REMEMBERED];
            *slot = (*slot).max(Some(rate));
        }
    }
}

impl CongestionControl for DeliveryRate {
    fn on_ack(&mut self, ack: &AckSample) -> Option<CcNote> {
        let before = self.bandwidth();
        if let Some(sample) = &ack.rate {
            self.on_rate(sample, ack.total_delivered);
        }
        self.min_rtt = ack.min_rtt.or(self.min_rtt);
        let (Some(bandwidth), Some(min_rtt)) = (self.bandwidth(), self.min_rtt) else { return None };
        let bdp = bandwidth.bytes_in(min_rtt);
        self.window.set_cwnd(Bytes::try_from(2 * bdp).unwrap_or(Bytes::MAX));
        let grew = before.is_none_or(|before| bandwidth > before.scale(5, 4));
        let steady = self.growing && self.round > 2 && !grew && ack.rate.is_some_and(|r| r.prior_delivered > 0);
        if steady {
            self.growing = false;
        }
        steady.then_some(CcNote::PhaseChanged(CcPhase::Reno))
    }
    fn on_congestion(&mut self, event: &CongestionEvent, _now: Instant) {
        // Losses are not the signal; a timeout still empties the path.
        if let CongestionEvent::Timeout { .. } = event {
            self.window.set_cwnd(self.window.smss());
        }
    }
    fn on_smss_change(&mut self, smss: Bytes) {
        self.window.set_smss(smss);
    }
    fn undo(&mut self) -> bool {
        false
    }
    fn window(&self) -> &Window {
        &self.window
    }
    fn pacing(&self) -> Option<Pacing> {
        let rate = self.bandwidth()?.scale(if self.growing { 2 } else { 1 }, 1);
        Some(Pacing::Rate { rate, quantum: 2 * SMSS })
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: if self.growing { CcPhase::SlowStart } else { CcPhase::Reno },
            cwnd: self.window.cwnd(),
            ssthresh: self.window.ssthresh(),
            values: [("bandwidth", self.bandwidth().map_or(0, Rate::bits_per_sec)), ("", 0), ("", 0), ("", 0)],
        }
    }
    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
    fn state_size(&self) -> usize {
        size_of::<Self>()
    }
}

/// A bottleneck round by round: data leaves in one round trip at the controller's pace, and returns at the bottleneck's.
struct Bottleneck {
    rate: Rate,
    rtt: Duration,
    now: Instant,
    delivered: u64,
    queue: u64,
}

impl Bottleneck {
    /// Runs one round trip; returns the bytes delivered in it. `offered` is the application's data, if it is short.
    fn round(&mut self, cc: &mut dyn CongestionControl, offered: Option<u64>) -> u64 {
        let paced = match cc.pacing() {
            Some(Pacing::Rate { rate, .. }) => rate.bytes_in(self.rtt),
            Some(Pacing::Departure(_)) | None => u64::MAX,
        };
        let window = u64::from(cc.window().cwnd()).saturating_sub(self.queue);
        let sent = window.min(paced).min(offered.unwrap_or(u64::MAX));
        let capacity = self.rate.bytes_in(self.rtt);
        let prior_delivered = self.delivered;
        let arrived = (self.queue + sent).min(capacity);
        self.queue = self.queue + sent - arrived;
        // Data that left faster than the bottleneck's rate returns spread over the time it takes there.
        let interval = self.rate.time_for(arrived).max(if paced < capacity { self.rtt } else { Duration::ZERO });
        self.now += self.rtt + self.rate.time_for(self.queue);
        self.delivered += arrived;
        let bytes = arrived as Bytes;
        cc.on_ack(&AckSample {
            now: self.now,
            acked: bytes,
            sacked: 0,
            delivered: bytes,
            marked: 0,
            newly_lost: 0,
            pipe: self.queue as Bytes,
            prior_pipe: bytes,
            rtt: Some(self.rtt + self.rate.time_for(self.queue)),
            srtt: Some(self.rtt),
            min_rtt: Some(self.rtt),
            rate: Some(RateSample {
                delivered: arrived,
                interval,
                prior_delivered,
                pipe_at_send: bytes,
                lost: 0,
                app_limited: offered.is_some(),
            }),
            total_delivered: self.delivered,
            snd_una: SeqNum(self.delivered as u32),
            snd_nxt: SeqNum((self.delivered + self.queue) as u32),
            episode: EpisodeKind::Open,
            cwnd_limited: window <= paced,
        });
        arrived
    }
}

/// 100 Mbit/s and 40 ms: a bandwidth-delay product of 500 segments.
fn path() -> Bottleneck {
    let rate = Rate::from_bits_per_sec(100_000_000).expect("not zero");
    Bottleneck { rate, rtt: Duration::from_millis(40), now: Instant::ZERO, delivered: 0, queue: 0 }
}

fn paced_mbit(cc: &dyn CongestionControl) -> Option<u64> {
    match cc.pacing()? {
        Pacing::Rate { rate, .. } => Some(rate.bits_per_sec() / 1_000_000),
        Pacing::Departure(_) => None,
    }
}

#[test]
fn it_finds_the_rate_of_the_path_and_keeps_two_products_in_flight() {
    let (mut cc, mut path): (Box<dyn CongestionControl>, _) = (Box::new(DeliveryRate::new()), path());
    assert_eq!(cc.pacing(), None);
    for _ in 0..20 {
        path.round(&mut *cc, None);
    }
    assert_eq!(cc.snapshot().phase, CcPhase::Reno);
    assert!((98..=100).contains(&paced_mbit(&*cc).expect("paced")), "{:?}", cc.pacing());
    assert!((980_000..=1_000_000).contains(&cc.window().cwnd()), "{}", cc.window().cwnd());
    assert_eq!(path.round(&mut *cc, None), 500_000, "the path is full");
}

#[test]
fn a_slower_path_is_believed_only_after_the_rounds_remembered() {
    let (mut cc, mut path): (Box<dyn CongestionControl>, _) = (Box::new(DeliveryRate::new()), path());
    for _ in 0..20 {
        path.round(&mut *cc, None);
    }
    path.rate = path.rate.scale(1, 2);
    for _ in 0..ROUNDS_REMEMBERED / 2 {
        path.round(&mut *cc, None);
    }
    assert!(paced_mbit(&*cc).expect("paced") >= 98, "{:?}", cc.pacing());
    for _ in 0..ROUNDS_REMEMBERED {
        path.round(&mut *cc, None);
    }
    assert!((49..=50).contains(&paced_mbit(&*cc).expect("paced")), "{:?}", cc.pacing());
}

#[test]
fn a_short_supply_from_the_application_does_not_lower_the_rate() {
    let (mut cc, mut path): (Box<dyn CongestionControl>, _) = (Box::new(DeliveryRate::new()), path());
    for _ in 0..20 {
        path.round(&mut *cc, None);
    }
    let before = cc.pacing();
    for _ in 0..ROUNDS_REMEMBERED - 2 {
        path.round(&mut *cc, Some(1_000));
    }
    assert_eq!(cc.pacing(), before);
}

#[test]
fn a_loss_leaves_its_window_and_a_copy_keeps_the_model() {
    let (mut cc, mut path): (Box<dyn CongestionControl>, _) = (Box::new(DeliveryRate::new()), path());
    for _ in 0..20 {
        path.round(&mut *cc, None);
    }
    let window = cc.window().clone();
    cc.on_congestion(&CongestionEvent::Loss { flight_size: window.cwnd() }, path.now);
    assert_eq!(*cc.window(), window);
    let copy = cc.clone();
    cc.on_congestion(&CongestionEvent::Timeout { flight_size: window.cwnd(), first: true }, path.now);
    assert_eq!(cc.window().cwnd(), SMSS);
    assert_eq!(*copy.window(), window);
    path.round(&mut *cc, None);
    assert_eq!(cc.window().cwnd(), window.cwnd(), "the model brings the window back with the next ACK");
}
