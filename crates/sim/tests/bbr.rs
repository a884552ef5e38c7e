//! BBR over real paths: the example cases of draft-ietf-ccwg-bbr's appendix, a sentence each.

use base::{Bytes, Duration, Instant, Rate, Ratio};
use cc::ControllerConfig;
use longhaul_sim::{AppPace, FlowSpec, Outcome, Scenario, Until, Watch, Workload, run};
use netem::{Buffer, Course, LossSpec, PathSpec, PolicerSpec, ReleaseSpec, ReorderSpec};
use recovery::undo::{DsackUndo, Eifel, FrtoDetection};
use tcp::config::ReceiveWindowConfig;
use tcp::{Config, ValidConfig};
use test_case::test_case;
use trace::{ConnId, Event, Observer, Phase};

const MBIT: u64 = 1_000_000;
/// Payload of 1,500 bytes of IP.
const PAYLOAD: (u64, u64) = (1_460, 1_500);

fn bit(bits_per_sec: u64) -> Rate {
    Rate::from_bits_per_sec(bits_per_sec).expect("not zero")
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn ratio(num: u64, den: u64) -> Ratio {
    Ratio::new(num, den).expect("a share")
}

/// Both ends: BBR, large buffers, and every proof of a spurious episode.
fn config() -> ValidConfig {
    let mut config = Config::default();
    config.cc.controller = ControllerConfig::Bbr3(Box::default());
    config.send.buffer = 256 << 20;
    config.receive.window = ReceiveWindowConfig::Fixed { bytes: 256 << 20 };
    config.recovery.undo.dsack = DsackUndo::On;
    config.recovery.undo.eifel = Eifel::Timestamps;
    config.recovery.undo.frto = FrtoDetection::On;
    config.validate().expect("within bounds")
}

/// A path of this rate and round trip, with a queue of so many bandwidth-delay products in tenths.
fn path(bits_per_sec: u64, rtt: Duration, tenths_of_bdp: u64) -> Scenario {
    let bdp = bit(bits_per_sec).bytes_in(rtt);
    let buffer = Buffer::Bytes((bdp * tenths_of_bdp / 10).max(15_000));
    let forward = PathSpec { rate: Some(bit(bits_per_sec)), buffer, ..PathSpec::ideal(rtt / 2) };
    let mut scenario = Scenario::new(1, forward, PathSpec::ideal(rtt / 2));
    scenario.flows.push(FlowSpec::new(config(), config(), Workload::For(Duration::from_secs(3_600))));
    scenario
}

/// What a run showed: what the sender traced, and how it ended.
struct Seen {
    events: Vec<(Instant, Event)>,
    /// Bytes in flight behind the ACK that began a phase.
    pipes: Vec<Bytes>,
    outcome: Outcome,
}

/// Runs a scenario for so many seconds.
fn see(scenario: &mut Scenario, seconds: u64) -> Seen {
    scenario.until = Until::At(Duration::from_secs(seconds));
    let [bin, from, until] = [Duration::from_secs(1), Duration::ZERO, Duration::from_secs(seconds)];
    scenario.watch = Some(Watch { bin, from, until, waits: longhaul_sim::PerFlow::Off });
    let mut kept = Kept::default();
    let outcome = run(scenario, &mut kept).unwrap_or_else(|failure| panic!("{failure}"));
    Seen { events: kept.events, pipes: kept.pipes, outcome }
}

/// The events that stories speak of.
#[derive(Default)]
struct Kept {
    events: Vec<(Instant, Event)>,
    pipes: Vec<Bytes>,
    phase_began: bool,
}

impl Observer for Kept {
    fn record(&mut self, at: Instant, _conn: ConnId, event: Event) {
        match event {
            Event::SlowStartPhase { .. } => self.phase_began = true,
            Event::RateSampled { .. } | Event::CcSnapshot { .. } | Event::Undone { .. } => {}
            Event::AckProcessed { pipe, .. } => {
                if core::mem::take(&mut self.phase_began) {
                    self.pipes.push(pipe);
                }
                return;
            }
            _ => return,
        }
        self.events.push((at, event));
    }
}

impl Seen {
    /// The phases entered, in order.
    fn phases(&self) -> Vec<(Instant, Phase)> {
        let phase = |(at, event): &(Instant, Event)| match event {
            Event::SlowStartPhase { phase, .. } => Some((*at, *phase)),
            _ => None,
        };
        self.events.iter().filter_map(phase).collect()
    }

    /// When `phase` was entered for the first time.
    fn first(&self, phase: Phase) -> Option<Instant> {
        self.phases().iter().find(|(_, found)| *found == phase).map(|(at, _)| *at)
    }

    /// How long each stay in `phase` lasted.
    fn stays(&self, phase: Phase) -> Vec<Duration> {
        let phases = self.phases();
        phases.windows(2).filter(|pair| pair[0].1 == phase).map(|pair| pair[1].0.since(pair[0].0)).collect()
    }

    /// The phases that follow `phase`.
    fn after(&self, phase: Phase) -> Vec<Phase> {
        self.phases().windows(2).filter(|pair| pair[0].1 == phase).map(|pair| pair[1].1).collect()
    }

    /// The largest delivery rate sampled before `until`, bits per second.
    fn fastest(&self, until: Instant) -> u64 {
        let rate = |(at, event): &(Instant, Event)| match event {
            Event::RateSampled { rate, .. } if *at <= until => Some(*rate),
            _ => None,
        };
        self.events.iter().filter_map(rate).max().unwrap_or(0)
    }

    /// Snapshots between two moments: pacing rate, window and bytes in flight.
    fn snapshots(&self, from: u64, until: u64) -> Vec<(u64, Bytes, Bytes)> {
        let [from, until] = [from, until].map(|ms| Instant::ZERO + Duration::from_millis(ms));
        let snapshot = |(at, event): &(Instant, Event)| match event {
            Event::CcSnapshot { pacing, cwnd, pipe, .. } if (from..=until).contains(at) => {
                Some((pacing.unwrap_or(0), *cwnd, *pipe))
            }
            _ => None,
        };
        self.events.iter().filter_map(snapshot).collect()
    }

    /// Bits of payload read in the seconds from `from` up to `until`, a second.
    fn goodput(&self, from: usize, until: usize) -> u64 {
        let bytes: u64 = self.outcome.flows[0].bins[from..until].iter().sum();
        8 * bytes / (until - from) as u64
    }
}

fn payload(bits_per_sec: u64) -> u64 {
    bits_per_sec * PAYLOAD.0 / PAYLOAD.1
}

#[test]
fn startup_ends_on_a_plateau_within_two_percent_of_the_links_rate_and_drain_by_what_is_in_flight() {
    let seen = see(&mut path(100 * MBIT, ms(100), 80), 4);
    let phases: Vec<Phase> = seen.phases().iter().map(|(_, phase)| *phase).collect();
    // Down is over at once: what is left in flight leaves room.
    assert_eq!(phases[..2], [Phase::Drain, Phase::ProbeCruise]);
    let drains = seen.first(Phase::Drain).expect("it does");
    let (found, link) = (seen.fastest(drains), payload(100 * MBIT));
    assert!(found >= link * 98 / 100 && found <= link * 102 / 100, "{found} of {link}");
    let pipe = seen.pipes[1];
    assert!(pipe <= 1_300_000, "{pipe} bytes in flight");
}

#[test]
fn drain_ends_after_three_rounds_if_the_queue_stays() {
    let mut usual = path(100 * MBIT, ms(100), 80);
    let drains = see(&mut usual, 4).first(Phase::Drain).expect("it does").since(Instant::ZERO);
    // Nine tenths less from then on: what is in flight cannot leave in time.
    let stretch = |from, rate| netem_stretch(from, rate);
    usual.forward.rates = Course::given(vec![stretch(Duration::ZERO, 100 * MBIT), stretch(drains + ms(1), 10 * MBIT)]);
    let seen = see(&mut usual, 20);
    let drain = seen.stays(Phase::Drain)[0];
    let round = ms(300);
    assert!(drain >= ms(300) && drain <= round.scale(20, 1), "{drain}");
    let pipe = seen.pipes[1];
    assert!(pipe > 1_300_000, "{pipe} bytes are still in flight");
}

fn netem_stretch(from: Duration, rate: u64) -> netem::Stretch {
    netem::Stretch { from, rate: Some(bit(rate)), delay: None }
}

#[test]
fn startup_ends_on_loss_although_the_application_limits_it_and_without_loss_never() {
    let mut limited = path(100 * MBIT, ms(50), 20);
    limited.flows[0].writer = AppPace::Chunks { bytes: 25_000, every: ms(5) };
    let quiet = see(&mut limited, 20);
    // Only ProbeRTT interrupts Startup, and returns to it.
    let phases: Vec<Phase> = quiet.phases().iter().map(|(_, phase)| *phase).collect();
    assert!(phases.len() >= 6 && phases.chunks(2).all(|pair| pair[0] == Phase::ProbeRtt), "{phases:?}");
    assert!(phases.chunks_exact(2).all(|pair| pair[1] == Phase::Startup), "{phases:?}");
    limited.forward.loss = LossSpec::Bernoulli(ratio(8, 100));
    let lossy = see(&mut limited, 5);
    assert!(lossy.first(Phase::Drain).is_some_and(|at| at < Instant::ZERO + Duration::from_secs(2)));
}

#[test]
fn the_cycle_goes_down_to_cruise_refills_and_probes_up_until_a_plateau() {
    let seen = see(&mut path(50 * MBIT, ms(40), 40), 20);
    assert!(seen.after(Phase::ProbeDown).contains(&Phase::ProbeCruise));
    assert!(seen.after(Phase::ProbeCruise).iter().all(|next| matches!(next, Phase::ProbeRefill | Phase::ProbeRtt)));
    assert!(seen.after(Phase::ProbeRefill).iter().all(|next| matches!(next, Phase::ProbeUp | Phase::ProbeRtt)));
    let ups = seen.stays(Phase::ProbeUp);
    assert!(ups.len() >= 4, "{} probes", ups.len());
    assert_eq!(seen.outcome.forward.dropped.total(), 0, "the queue is deep enough");
    let goodput = seen.goodput(2, 20);
    assert!(goodput >= payload(50 * MBIT) * 92 / 100, "{goodput}");
}

#[test]
fn probe_rtt_comes_after_five_seconds_and_lasts_two_hundred_milliseconds_and_a_round() {
    let seen = see(&mut path(20 * MBIT, ms(300), 20), 30);
    let probes: Vec<Instant> =
        seen.phases().iter().filter(|(_, phase)| *phase == Phase::ProbeRtt).map(|(at, _)| *at).collect();
    assert!((3..=6).contains(&probes.len()), "{} of them", probes.len());
    for pair in probes.windows(2) {
        assert!(pair[1].since(pair[0]) >= Duration::from_secs(5));
    }
    for stay in seen.stays(Phase::ProbeRtt) {
        assert!(stay >= ms(300), "{stay}");
        assert!(stay <= ms(1_600), "{stay}");
    }
    assert!(seen.after(Phase::ProbeRtt).iter().all(|next| *next == Phase::ProbeCruise));
}

#[test]
fn probe_rtt_is_skipped_after_a_pause_which_has_drained_the_queue() {
    let mut paused = path(20 * MBIT, ms(50), 20);
    paused.flows[0].writer = AppPace::Chunks { bytes: 200_000, every: Duration::from_secs(6) };
    let seen = see(&mut paused, 60);
    assert_eq!(seen.first(Phase::ProbeRtt), None);
}

#[test]
fn acks_that_come_in_bunches_widen_the_window_and_the_rate_still_doubles() {
    let mut bunched = path(50 * MBIT, ms(20), 40);
    let gap = ms(30);
    bunched.reverse.release = Some(ReleaseSpec { least: gap, most: gap });
    let seen = see(&mut bunched, 20);
    let goodput = seen.goodput(2, 20);
    assert!(goodput >= payload(50 * MBIT) * 85 / 100, "{goodput}");
    // Twice what the path holds without bunches is 250 kB.
    let widest = seen.snapshots(5_000, 20_000).iter().map(|(_, cwnd, _)| *cwnd).max().expect("snapshots");
    assert!(widest > 300_000, "{widest}");
}

#[test]
fn a_path_that_holds_less_than_a_packet_is_filled_with_four_segments() {
    let seen = see(&mut path(64_000, ms(10), 10), 120);
    let goodput = seen.goodput(20, 120);
    assert!(goodput >= payload(64_000) * 90 / 100, "{goodput}");
    let windows = seen.snapshots(60_000, 120_000);
    assert!(windows.iter().all(|(_, cwnd, _)| (4 * 1_448..=16 * 1_460).contains(cwnd)), "{windows:?}");
}

#[test]
fn a_link_ten_times_as_fast_is_found_in_few_rounds_and_one_ten_times_slower_in_two_cycles() {
    let mut changing = path(100 * MBIT, ms(50), 5);
    let at = Duration::from_secs;
    let course = vec![
        netem_stretch(Duration::ZERO, 10 * MBIT),
        netem_stretch(at(20), 100 * MBIT),
        netem_stretch(at(40), 10 * MBIT),
    ];
    changing.forward.rates = Course::given(course);
    let seen = see(&mut changing, 70);
    let [before, found, fast, slow] = [(10, 20), (26, 30), (30, 40), (55, 70)].map(|(from, to)| seen.goodput(from, to));
    println!("{before} {found} {fast} {slow}");
    assert!(before >= payload(10 * MBIT) * 85 / 100, "{before}");
    assert!(found >= payload(100 * MBIT) * 80 / 100, "{found} six seconds after it became faster");
    assert!(fast >= payload(100 * MBIT) * 85 / 100, "{fast}");
    assert!(slow >= payload(10 * MBIT) * 80 / 100, "{slow}");
    let paced = seen.snapshots(55_000, 70_000).iter().map(|(pacing, ..)| *pacing).max().expect("snapshots");
    assert!(paced <= 16 * MBIT, "{paced} bits a second after two cycles at a tenth");
}

#[test]
fn behind_a_token_bucket_it_is_stable_without_lasting_loss() {
    let mut policed = path(100 * MBIT, ms(40), 20);
    policed.forward.policer = Some(PolicerSpec { rate: bit(10 * MBIT), burst: 100_000 });
    let seen = see(&mut policed, 60);
    let goodput = seen.goodput(20, 60);
    let (dropped, offered) = (seen.outcome.forward.dropped.total(), seen.outcome.forward.offered);
    println!("{goodput}, {dropped} of {offered}");
    assert!(goodput >= payload(10 * MBIT) * 75 / 100, "{goodput}");
    assert!(dropped * 100 <= offered * 6, "{dropped} of {offered} dropped");
}

#[test]
fn reordering_that_looks_like_loss_leaves_everything_as_it_was() {
    let mut plain = path(50 * MBIT, ms(40), 40);
    let clean = see(&mut plain, 15).goodput(2, 15);
    plain.forward.reorder = ReorderSpec::Late { probability: ratio(1, 1_000), extra: ms(15) };
    let seen = see(&mut plain, 15);
    let undone = seen.events.iter().filter(|(_, event)| matches!(event, Event::Undone { .. })).count();
    let goodput = seen.goodput(2, 15);
    assert!(undone > 0, "some episode was undone");
    assert!(goodput >= clean * 95 / 100, "{goodput} beside {clean}");
}

#[test]
fn a_timeout_that_proves_spurious_leaves_everything_as_it_was() {
    let mut delayed = path(50 * MBIT, ms(40), 40);
    let clean = see(&mut delayed, 15).goodput(6, 15);
    // An outage of the link: nothing is lost, and everything is late.
    let at = Duration::from_secs(5);
    let outage = netem::Stretch { from: at, rate: None, delay: None };
    let course = vec![netem_stretch(Duration::ZERO, 50 * MBIT), outage, netem_stretch(at + ms(2_500), 50 * MBIT)];
    delayed.forward.rates = Course::given(course);
    let seen = see(&mut delayed, 15);
    let undone = seen.events.iter().filter(|(_, event)| matches!(event, Event::Undone { .. })).count();
    assert!(undone > 0, "the timeout was undone");
    let goodput = seen.goodput(9, 15);
    assert!(goodput >= clean * 90 / 100, "{goodput} beside {clean}");
}

#[test_case(64_000, ms(1), 100; "64 kbit and a millisecond")]
#[test_case(64_000, ms(1_000), 200; "64 kbit and a second")]
#[test_case(MBIT, ms(100), 60; "a megabit")]
#[test_case(10 * MBIT, ms(600), 60; "a satellite")]
#[test_case(100 * MBIT, Duration::from_micros(500), 10; "100 Mbit in a building")]
#[test_case(100 * MBIT, ms(1_000), 40; "100 Mbit and a second")]
#[test_case(1_000 * MBIT, ms(10), 4; "a gigabit")]
#[test_case(10_000 * MBIT, Duration::from_micros(200), 1; "10 Gbit in a building")]
fn the_path_is_filled(rate: u64, rtt: Duration, seconds: u64) {
    let seen = see(&mut path(rate, rtt, 20), seconds);
    let goodput = if seconds == 1 { seen.goodput(0, 1) } else { seen.goodput(seconds as usize / 2, seconds as usize) };
    println!("{goodput} of {}", payload(rate));
    assert!(goodput >= payload(rate) * 80 / 100, "{goodput} of {}", payload(rate));
}
