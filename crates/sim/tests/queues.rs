//! Managed queues under whole connections: congestion marks from the bottleneck to the sender's window and back, and what each
//! manager does to the delay of a bulk transfer.

use base::{Duration, Instant, Rate};
use longhaul_sim::{FlowSpec, Outcome, Scenario, Workload, run};
use netem::{Buffer, Codel, DualPi2, FqCodel, PathSpec, Pie, QueueSpec, Signal};
use tcp::Config;
use tcp::config::{EcnConfig, EcnNegotiation};
use test_case::test_case;
use trace::{ConnId, Episode, EpisodeCause, Event, Observer};

/// 20 Mbit/s over 40 ms, so one bandwidth-delay product is 100 kB.
fn path(queue: QueueSpec, buffer: Buffer) -> PathSpec {
    let rate = Rate::from_bits_per_sec(20_000_000);
    PathSpec { rate, buffer, queue, ..PathSpec::ideal(Duration::from_millis(20)) }
}

fn scenario(queue: QueueSpec, buffer: Buffer, negotiation: EcnNegotiation) -> Scenario {
    let ecn = EcnConfig { negotiation, ..EcnConfig::default() };
    let config = Config { ecn, ..Config::default() }.validate().expect("within bounds");
    let mut scenario = Scenario::new(3, path(queue, buffer), PathSpec::ideal(Duration::from_millis(20)));
    scenario.flows.push(FlowSpec::new(config.clone(), config, Workload::Bytes(10_000_000)));
    scenario
}

/// Remembers the sender's windows around its answers to marks.
#[derive(Default)]
struct Answers {
    window: u64,
    /// Before an episode, and at its end.
    cuts: Vec<(u64, u64)>,
    other_episodes: usize,
}

impl Observer for Answers {
    const ENABLED: bool = true;

    fn record(&mut self, _at: Instant, conn: ConnId, event: Event) {
        match event {
            _ if conn != ConnId(0) => {}
            Event::AckProcessed { cwnd, .. } | Event::CcSnapshot { cwnd, .. } => self.window = u64::from(cwnd),
            Event::EpisodeChanged { to: Episode::Cwr, cause: EpisodeCause::Ecn, .. } => {
                self.cuts.push((self.window, 0))
            }
            Event::EpisodeChanged { from: Episode::Cwr, .. } => {
                self.cuts.last_mut().expect("an episode has begun").1 = self.window;
            }
            Event::EpisodeChanged { .. } => self.other_episodes += 1,
            _ => {}
        }
    }
}

fn observed(queue: QueueSpec, negotiation: EcnNegotiation) -> (Outcome, Answers) {
    let mut answers = Answers::default();
    let scenario = scenario(queue, queue.usual_room(), negotiation);
    let outcome = run(&scenario, &mut answers).unwrap_or_else(|failure| panic!("{failure}"));
    assert!(outcome.flows[0].is_complete());
    (outcome, answers)
}

fn managers(signal: Signal) -> [QueueSpec; 4] {
    let codel = Codel { signal, ..Codel::default() };
    [
        QueueSpec::Codel(codel),
        QueueSpec::FqCodel(FqCodel { codel, ..FqCodel::default() }),
        QueueSpec::Pie(Pie { signal, ..Pie::default() }),
        QueueSpec::DualPi2(DualPi2::default()),
    ]
}

/// RFC 3168 §6.1: marks instead of drops, an echo, and one reduction for each window of data. Not so PIE, whose probability
/// exceeds 10 % at the end of slow start: from there on it drops (RFC 8033 §5.1).
#[test_case(0; "CoDel")]
#[test_case(1; "FQ-CoDel")]
#[test_case(3; "DualPI2")]
fn a_mark_reaches_the_receiver_and_reduces_the_senders_window(which: usize) {
    let (outcome, answers) = observed(managers(Signal::Mark)[which], EcnNegotiation::Offer);
    let [sender, receiver] =
        [&outcome.flows[0].sender, &outcome.flows[0].receiver].map(|end| end.info.expect("it ended"));
    assert_eq!((outcome.forward.dropped.total(), sender.counters.bytes_retransmitted), (0, 0));
    assert!(outcome.forward.marked > 0);
    assert_eq!(u64::from(receiver.ecn.received_ce), outcome.forward.marked, "every mark arrives");
    assert_eq!((answers.cuts.len(), answers.other_episodes), (sender.ecn.reductions as usize, 0));
    assert!(!answers.cuts.is_empty());
    for (before, after) in &answers.cuts {
        assert!(after < before && *after > 0, "{:?}", answers.cuts);
    }
}

#[test_case(0; "CoDel")]
#[test_case(1; "FQ-CoDel")]
#[test_case(2; "PIE")]
#[test_case(3; "DualPI2")]
fn a_flow_without_ecn_meets_drops(which: usize) {
    let (outcome, answers) = observed(managers(Signal::Mark)[which], EcnNegotiation::Off);
    let dropped = outcome.forward.dropped;
    assert_eq!((outcome.forward.marked, dropped.tail, dropped.loss), (0, 0, 0));
    assert!(dropped.aqm > 0 && answers.other_episodes > 0, "{dropped:?}");
}

/// The bytes in the queue after each arrival: what `HopQueued` reports.
#[derive(Default)]
struct Backlog {
    sum: u64,
    packets: u64,
}

impl Observer for Backlog {
    const ENABLED: bool = true;

    fn record(&mut self, _at: Instant, _conn: ConnId, event: Event) {
        if let Event::HopQueued { backlog } = event {
            (self.sum, self.packets) = (self.sum + backlog, self.packets + 1);
        }
    }
}

#[test]
fn a_manager_keeps_the_queue_shorter_than_a_deep_buffer_and_the_link_as_busy() {
    let deep = Buffer::Packets(1_000);
    let measured = |queue| {
        let mut backlog = Backlog::default();
        let outcome = run(&scenario(queue, deep, EcnNegotiation::Offer), &mut backlog).expect("it completes");
        (backlog.sum / backlog.packets, outcome.flows[0].elapsed().expect("it read").as_millis())
    };
    let (plain_bytes, plain_ms) = measured(QueueSpec::DropTail);
    // What PIE drops at the end of slow start costs it a tenth more.
    for (queue, most_ms) in managers(Signal::Mark).into_iter().zip([110, 110, 120, 110]) {
        let (bytes, ms) = measured(queue);
        assert!(bytes * 3 < plain_bytes, "{queue:?}: {bytes} bytes on average, drop-tail {plain_bytes}");
        assert!(ms * 100 < plain_ms * most_ms, "{queue:?}: {ms} ms, drop-tail {plain_ms} ms");
    }
}

#[test_case(1; "FQ-CoDel")]
#[test_case(2; "PIE")]
#[test_case(3; "DualPI2")]
fn one_seed_is_one_run(which: usize) {
    let again = || observed(managers(Signal::Mark)[which], EcnNegotiation::Off).0;
    assert_eq!(again(), again());
}
