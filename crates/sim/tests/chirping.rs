//! Paced Chirping over real paths: what it finds, and what that costs the queue.

use base::{Duration, Instant, Rate};
use cc::{ChirpingConfig, SlowStartConfig};
use longhaul_sim::{FlowSpec, Outcome, Scenario, Workload, run};
use netem::{Buffer, Jitter, JitterKind, PathSpec};
use tcp::Config;
use tcp::config::ReceiveWindowConfig;
use test_case::test_case;
use trace::{ConnId, Event, Observer};

/// When the sender's slow start ended, and at which window.
#[derive(Default)]
struct Ends(Vec<(Instant, u32)>);

impl Observer for Ends {
    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        if let Event::SlowStartExited { cwnd, .. } = event
            && conn == ConnId(0)
        {
            self.0.push((at, cwnd));
        }
    }
}

/// A flow over a path of a queue that holds as much as the path.
struct Flow {
    mbit: u64,
    rtt: Duration,
    jitter: Duration,
    segments_per_ack: u32,
    seed: u64,
}

impl Flow {
    const fn new(mbit: u64, rtt_ms: u64) -> Self {
        Self { mbit, rtt: Duration::from_millis(rtt_ms), jitter: Duration::ZERO, segments_per_ack: 1, seed: 1 }
    }

    /// Runs this slow start for thirty times what the path holds. Returns the window at its end in percent of that, and what came of it.
    fn run(&self, slow_start: SlowStartConfig) -> (u64, Outcome) {
        let rate = Rate::from_bits_per_sec(self.mbit * 1_000_000);
        let holds = rate.expect("a rate").bytes_in(self.rtt);
        let mut forward = PathSpec { rate, buffer: Buffer::Bytes(holds), ..PathSpec::ideal(self.rtt / 2) };
        if !self.jitter.is_zero() {
            forward.jitter = Some(Jitter { max: self.jitter, kind: JitterKind::KeepOrder });
        }
        let mut config = Config::default();
        config.cc.slow_start = slow_start;
        config.send.buffer = 64 << 20;
        config.receive.window = ReceiveWindowConfig::Fixed { bytes: 64 << 20 };
        config.ack.every_segments = self.segments_per_ack;
        let config = config.validate().expect("within bounds");
        let mut scenario = Scenario::new(self.seed, forward, PathSpec::ideal(self.rtt / 2));
        scenario.flows.push(FlowSpec::new(config.clone(), config, Workload::Bytes(holds * 30)));
        let mut ends = Ends::default();
        let outcome = run(&scenario, &mut ends).unwrap_or_else(|failure| panic!("{failure}"));
        (u64::from(ends.0.first().expect("slow start ends").1) * 100 / holds, outcome)
    }

    fn chirps(&self) -> (u64, Outcome) {
        self.run(SlowStartConfig::Chirping(ChirpingConfig::default()))
    }
}

/// The queue never holds more than the first chirps of a slow path, where classic slow start fills it and loses hundreds of segments.
#[test_case(10, 100)]
#[test_case(100, 20)]
#[test_case(100, 80)]
#[test_case(50, 200)]
#[test_case(300, 50)]
fn a_clean_path_is_found_with_a_short_queue_and_without_loss(mbit: u64, rtt_ms: u64) {
    for segments_per_ack in [1, 2] {
        let flow = Flow { segments_per_ack, ..Flow::new(mbit, rtt_ms) };
        let (percent, outcome) = flow.chirps();
        assert!((80..=115).contains(&percent), "{percent} % of what the path holds");
        assert_eq!((outcome.flows[0].dropped, outcome.flows[0].is_complete()), (0, true));
        let queue = outcome.forward.max_backlog_bytes;
        assert!(queue <= 36 * 1_500, "a queue of {queue} bytes");
        let (_, classic) = flow.run(SlowStartConfig::Classic(Default::default()));
        assert!(classic.forward.max_backlog_bytes > 2 * queue && classic.flows[0].dropped > 200);
    }
}

/// 2 ms are 17 gaps of the path.
#[test]
fn jitter_of_many_gaps_does_not_end_slow_start_at_a_tenth_of_the_rate() {
    let jitter = Duration::from_millis(2);
    let mut found: Vec<u64> = (1..=11).map(|seed| Flow { jitter, seed, ..Flow::new(100, 80) }.chirps().0).collect();
    found.sort_unstable();
    assert!(found[0] > 10 && found[5] > 30, "percent of what the path holds: {found:?}");
}

/// What is published as its weakness: 10 ms are 250 gaps, which hide where delay begins to rise.
#[test]
fn jitter_of_hundreds_of_gaps_hides_the_rate() {
    let jitter = Duration::from_millis(10);
    let (percent, outcome) = Flow { jitter, ..Flow::new(300, 50) }.chirps();
    assert!(percent < 25 && outcome.flows[0].dropped == 0, "{percent} % of what the path holds");
}

/// The first gaps are those of 58 Mbit/s, and an estimate rises by half at most with each chirp.
#[test]
fn a_slow_path_is_overrun_before_it_is_known() {
    let (percent, outcome) = Flow::new(1, 100).chirps();
    assert!(percent > 200 && outcome.flows[0].dropped > 0 && outcome.flows[0].is_complete(), "{percent}");
}

/// A host whose clock ticks every 10 ms cannot send chirps, and does without.
#[test]
fn a_coarse_clock_does_without_chirps() {
    let mut config = Config::default();
    config.cc.slow_start = SlowStartConfig::Chirping(ChirpingConfig::default());
    config.timers.granularity = Duration::from_millis(10);
    let config = config.validate().expect("within bounds");
    let rate = Rate::from_bits_per_sec(10_000_000);
    let half = Duration::from_millis(50);
    let forward = PathSpec { rate, buffer: Buffer::Bytes(250_000), ..PathSpec::ideal(half) };
    let mut scenario = Scenario::new(1, forward, PathSpec::ideal(half));
    scenario.flows.push(FlowSpec::new(config.clone(), config, Workload::Bytes(2_000_000)));
    let outcome = run(&scenario, &mut Ends::default()).unwrap_or_else(|failure| panic!("{failure}"));
    let elapsed = outcome.flows[0].elapsed().expect("it ends");
    assert!(elapsed < Duration::from_millis(2_800), "{elapsed}");
}
