//! What applications do over a path, by worked examples: pieces at regular times, bursts, requests and answers.

use base::{Duration, Instant, Rate};
use longhaul_sim::{
    AuditSchedule, Direction, FlowOutcome, FlowSpec, Outcome, PerFlow, Piece, Scenario, Sizes, Until, Watch, Workload,
    run,
};
use netem::{Buffer, LossSpec, PathSpec};
use tcp::Config;

const ONE_WAY: Duration = Duration::from_millis(20);

fn flow(workload: Workload) -> FlowSpec {
    let config = Config::default().validate().expect("the default");
    FlowSpec::new(config.clone(), config, workload)
}

/// 20 Mbit/s over 40 ms with a buffer of one bandwidth-delay product, until `seconds`, with every checker after every step.
fn scenario(flows: Vec<FlowSpec>, seconds: u64) -> Scenario {
    let rate = Rate::from_bits_per_sec(20_000_000);
    let forward = PathSpec { rate, buffer: Buffer::Bytes(100_000), ..PathSpec::ideal(ONE_WAY) };
    let mut scenario = Scenario::new(1, forward, PathSpec::ideal(ONE_WAY));
    let [bin, from, until] = [1, 0, seconds].map(Duration::from_secs);
    scenario.watch = Some(Watch { bin, from, until, waits: PerFlow::Off });
    (scenario.flows, scenario.until, scenario.audit) = (flows, Until::At(until), AuditSchedule::EveryStep);
    scenario
}

fn finish(scenario: &Scenario) -> Outcome {
    let outcome = run(scenario, &mut trace::Off).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(run(scenario, &mut trace::Off).as_ref(), Ok(&outcome), "the same seed, the same bits");
    outcome
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn took(piece: &Piece) -> Duration {
    piece.done.expect("it is done").since(piece.asked)
}

#[test]
fn a_flow_with_a_size_is_one_piece() {
    let mut one = scenario(vec![flow(Workload::Bytes(10_000)), flow(Workload::For(ms(500)))], 3);
    (one.flows[0].start, one.flows[1].start) = (ms(700), ms(800));
    let outcome = finish(&one);
    let [piece] = &outcome.flows[0].pieces[..] else { panic!("{outcome:?}") };
    assert_eq!((piece.asked, piece.bytes), (Instant::ZERO + ms(700), 10_000));
    // A round trip for the handshake, half a one for the data, and seven packets at 20 Mbit/s.
    assert!((ms(60)..ms(66)).contains(&took(piece)), "{piece:?}");
    assert_eq!(outcome.flows[1].pieces, []);
}

#[test]
fn pieces_come_at_their_times_over_one_connection() {
    let every = Duration::from_secs(1);
    let outcome = finish(&scenario(vec![flow(Workload::Repeated { bytes: 90_000, every })], 10));
    let pieces = &outcome.flows[0].pieces;
    let asked: Vec<u64> = pieces.iter().map(|piece| piece.asked.since(Instant::ZERO).as_millis()).collect();
    assert_eq!(asked, (0..=10).map(|second| second * 1_000).collect::<Vec<u64>>());
    assert_eq!(pieces[10].done, None, "the run ends when it is due");
    // 62 packets take 37 ms, half a round trip 20 ms, and the first has to open the connection and the window.
    assert!((ms(120)..ms(260)).contains(&took(&pieces[0])), "{pieces:?}");
    assert!(pieces[1..10].iter().all(|piece| (ms(57)..ms(180)).contains(&took(piece))), "{pieces:?}");
    assert_eq!(outcome.flows[0].bins[..10], [90_000; 10]);
}

#[test]
fn a_piece_waits_for_those_before_it() {
    // 20 Mbit/s carry some 2.4 MB a second: pieces of 2 MB at distances of half a second come later and later.
    let mut late = scenario(vec![flow(Workload::Repeated { bytes: 2_000_000, every: ms(500) })], 20);
    late.flows[0].stop = Some(ms(1_900));
    let outcome = finish(&late);
    let pieces = &outcome.flows[0].pieces;
    assert_eq!(pieces.len(), 4);
    let done: Vec<Duration> = pieces.iter().filter_map(|piece| piece.done).map(|at| at.since(Instant::ZERO)).collect();
    assert!(done.len() == 4 && done.windows(2).all(|two| two[1] >= two[0] + ms(800)), "{pieces:?}");
    assert!(outcome.flows[0].is_complete(), "what waited in the send buffer arrives after the end");
    // An application that keeps little there is cut short.
    late.flows[0].unsent_max = Some(100_000);
    let outcome = finish(&late);
    let done = outcome.flows[0].pieces.iter().filter(|piece| piece.done.is_some()).count();
    assert!(done == 2 && outcome.flows[0].is_complete() && outcome.flows[0].bytes_read < 5_000_000, "{outcome:?}");
}

#[test]
fn bursts_alternate_with_silence() {
    let two_seconds = (Duration::from_secs(2), Duration::from_secs(2));
    let mut bursts = scenario(vec![flow(Workload::OnOff { on: two_seconds, off: (ms(3_000), ms(3_000)) })], 20);
    bursts.flows[0].unsent_max = Some(100_000);
    let outcome = finish(&bursts);
    let bins = &outcome.flows[0].bins;
    // Five seconds a turn, of which two fill the path; what is left then follows.
    for turn in 0..4 {
        assert!(bins[turn * 5 + 1] > 2_000_000, "{bins:?}");
        assert_eq!(bins.get(turn * 5 + 4).copied().unwrap_or(0), 0, "{bins:?}");
    }
    let drawn = Workload::OnOff { on: (ms(100), ms(2_000)), off: (ms(100), ms(2_000)) };
    let outcome = finish(&scenario(vec![flow(drawn), flow(drawn)], 10));
    assert_ne!(outcome.flows[0].bins, outcome.flows[1].bins, "each flow draws its own");
}

fn asks(sizes: Sizes, think: (Duration, Duration)) -> FlowSpec {
    flow(Workload::Requests { sizes, think })
}

fn answered(flow: &FlowOutcome) -> Vec<Duration> {
    flow.pieces.iter().filter(|piece| piece.done.is_some()).map(took).collect()
}

#[test]
fn an_answer_takes_a_round_trip_and_its_packets() {
    let outcome = finish(&scenario(vec![asks(Sizes::One(1_000), (ms(60), ms(60)))], 10));
    let pieces = &outcome.flows[0].pieces;
    // The handshake takes a round trip; then each turn a round trip, some packets' time, and 60 ms to think.
    assert_eq!(pieces[0].asked.since(Instant::ZERO).as_millis(), 40);
    assert!(answered(&outcome.flows[0]).iter().all(|took| (ms(40)..ms(42)).contains(took)), "{pieces:?}");
    assert!((97..=100).contains(&pieces.len()), "{}", pieces.len());
    assert!(outcome.forward.offered_bytes > 90_000 && outcome.reverse.offered_bytes < 60_000, "answers go forward");
}

#[test]
fn answers_of_drawn_sizes_come_through_losses_in_both_directions() {
    let sizes = Sizes::Pareto { from: 2_000, to: 2_000_000, shape_milli: 1_200 };
    let back = FlowSpec { direction: Direction::Back, ..asks(sizes, (ms(0), ms(200))) };
    let mut lossy = scenario(vec![asks(sizes, (ms(0), ms(200))), back], 60);
    lossy.forward.loss = LossSpec::Bernoulli(base::Ratio::new(1, 100).unwrap());
    lossy.flows.iter_mut().for_each(|flow| flow.stop = Some(Duration::from_secs(20)));
    let outcome = finish(&lossy);
    for flow in &outcome.flows {
        assert!(flow.is_complete(), "{flow:?}");
        assert!(flow.pieces.iter().all(|piece| piece.done.is_some()) && flow.pieces.len() > 30, "{flow:?}");
        assert_eq!(flow.pieces.iter().map(|piece| piece.bytes).sum::<u64>(), flow.bytes_read);
        assert!(flow.pieces.iter().all(|piece| piece.asked < Instant::ZERO + Duration::from_secs(20)));
    }
    assert_ne!(outcome.flows[0].pieces[0].bytes, outcome.flows[1].pieces[0].bytes, "each flow draws its own");
}

#[test]
fn a_client_that_never_gets_through_ends_the_run() {
    let mut deaf = scenario(vec![asks(Sizes::One(1_000), (ms(0), ms(0)))], 10);
    (deaf.until, deaf.reverse.loss) = (Until::Closed, LossSpec::Bernoulli(base::Ratio::ONE));
    let outcome = run(&deaf, &mut trace::Off);
    let flow = &outcome.expect("giving up is an end").flows[0];
    assert!(flow.receiver.closed.is_some() && flow.sender.closed.is_none() && flow.pieces.is_empty(), "{flow:?}");
}
