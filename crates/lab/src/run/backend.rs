//! Where runs happen: a seam, the simulator behind it, and a stand-in with known results for tests.

use crate::plan::RunSpec;
use crate::spec::Ends;
use crate::spec::setting::{Flow, Point, ReorderMode};
use base::Duration;
use core::fmt;
use netem::{Jitter, JitterKind, LossSpec, PathSpec, ReorderSpec};
use serde::{Deserialize, Serialize};
use sim::{FlowSpec, Outcome, Scenario, Workload};
use tcp::TcpInfo;
use trace::Observer;

/// Runs runs. Called from several threads at once.
pub trait Backend: Sync {
    /// Runs one to its end.
    ///
    /// # Errors
    /// When a checker objects or the flow does not come through.
    fn run(&self, spec: &RunSpec) -> Result<Measured, RunFailure>;
}

/// What a run gives. In the simulator nothing of it depends on the machine.
///
/// Ends that are not ours cannot tell everything: what they keep to themselves is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// Payload that the receiving application read, octets.
    pub bytes: u64,
    /// From the first SYN sent until the last octet read.
    pub elapsed_ns: u64,
    /// Payload sent, retransmissions included, octets.
    pub bytes_sent: Option<u64>,
    /// Payload sent again, octets.
    pub bytes_retransmitted: Option<u64>,
    /// Recovery episodes.
    pub episodes: Option<u64>,
    /// Those that ended without a timeout.
    pub episodes_without_timeout: Option<u64>,
    /// Those entered without a timeout.
    pub fast_retransmits: Option<u64>,
    /// Retransmission timeouts with data outstanding.
    pub rtos: Option<u64>,
    /// Retransmissions that were lost in their turn, as the sender found.
    pub lost_retransmissions: Option<u64>,
    /// Tail loss probes.
    pub probes: Option<u64>,
    /// Episodes that were found spurious and undone.
    pub undone: Option<u64>,
    /// Duplicate ranges that the receiver reported.
    pub dsacks_sent: Option<u64>,
    /// Those that the sender recognised.
    pub dsacks_received: Option<u64>,
    /// ACKs with SACK blocks that the sender received.
    #[serde(default)]
    pub sacks_received: Option<u64>,
    /// Those of them that said nothing new.
    #[serde(default)]
    pub stale_sacks: Option<u64>,
    /// The sender's multiplier of the reordering window at the end, if its detector has one.
    pub reo_wnd_mult: Option<u32>,
    /// Data packets that the path dropped.
    pub dropped: u64,
    /// What the same run takes when nothing is lost by position; `None` where nothing is anyway.
    pub undropped_ns: Option<u64>,
    /// Data and ACK packets that endpoints offered to the path.
    pub packets: u64,
    /// Time behind SACKs that told nothing new; `None` where nobody watched for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale_sack_ns: Option<u64>,
    /// How well the machine kept time; `None` in virtual time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub punctuality: Option<Punctuality>,
}

/// How well the machine kept time during a run in real time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Punctuality {
    /// Longest time by which a packet that was due waited for the machine.
    pub latest_ns: u64,
    /// Such waits that were long enough to be seen in results.
    pub late: u64,
    /// Times the run was made: once more when the first was disturbed.
    pub attempts: u32,
    /// Whether the last of them was disturbed, too.
    pub disturbed: bool,
}

impl Measured {
    /// What only the transfer says.
    pub fn of_transfer(bytes: u64, elapsed: Duration) -> Self {
        Self {
            bytes,
            elapsed_ns: elapsed.as_nanos(),
            bytes_sent: None,
            bytes_retransmitted: None,
            episodes: None,
            episodes_without_timeout: None,
            fast_retransmits: None,
            rtos: None,
            lost_retransmissions: None,
            probes: None,
            undone: None,
            dsacks_sent: None,
            dsacks_received: None,
            sacks_received: None,
            stale_sacks: None,
            reo_wnd_mult: None,
            dropped: 0,
            undropped_ns: None,
            packets: 0,
            stale_sack_ns: None,
            punctuality: None,
        }
    }

    /// The same, and what both ends of our own say.
    pub fn of_profile(bytes: u64, elapsed: Duration, sender: &TcpInfo, receiver: &TcpInfo) -> Self {
        let counters = &sender.counters;
        let known = |count: u32| Some(u64::from(count));
        Self {
            bytes_sent: Some(counters.bytes_sent),
            bytes_retransmitted: Some(counters.bytes_retransmitted),
            episodes: known(counters.episodes),
            episodes_without_timeout: known(counters.episodes_without_timeout),
            fast_retransmits: known(counters.fast_retransmits),
            rtos: known(counters.timeouts),
            lost_retransmissions: known(counters.lost_retransmissions),
            probes: known(counters.probes.into()),
            undone: known(counters.undone.into()),
            dsacks_sent: known(receiver.counters.dsacks_sent),
            dsacks_received: known(counters.dsacks_received),
            sacks_received: known(counters.sacks_received),
            stale_sacks: known(counters.stale_sacks),
            reo_wnd_mult: sender.reo_wnd_mult,
            ..Self::of_transfer(bytes, elapsed)
        }
    }

    /// Payload bits per microsecond, that is Mbit/s.
    pub fn goodput_mbps(&self) -> f64 {
        self.bytes as f64 * 8_000.0 / self.elapsed_ns as f64
    }

    /// Round-trip times that the losses by position cost.
    pub fn repair_rtts(&self, point: &Point) -> Option<f64> {
        let undropped = self.undropped_ns?;
        Some((self.elapsed_ns as f64 - undropped as f64) / point.rtt.as_nanos() as f64)
    }

    /// The shortest time the path allows, divided by the time it took.
    pub fn efficiency(&self, point: &Point) -> f64 {
        ideal_time(point, self.bytes).as_nanos() as f64 / self.elapsed_ns as f64
    }
}

/// Octets of payload and of IP packet in which the ideal transfer is counted.
const IDEAL_PAYLOAD: u64 = 1_460;
const IDEAL_PACKET: u64 = 1_500;

/// A round trip of handshake, all packets back to back at the bottleneck's rate, half a round trip.
pub fn ideal_time(point: &Point, bytes: u64) -> Duration {
    let packets = bytes.div_ceil(IDEAL_PAYLOAD);
    point.rtt + point.rate.time_for(packets * IDEAL_PACKET) + point.rtt / 2
}

/// A run that did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFailure(pub String);

impl fmt::Display for RunFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for RunFailure {}

/// The simulator.
#[derive(Clone, Copy, Debug, Default)]
pub struct SimBackend;

impl Backend for SimBackend {
    fn run(&self, spec: &RunSpec) -> Result<Measured, RunFailure> {
        simulate(spec, &mut trace::Off)
    }
}

/// Runs one in the simulator while `observer` watches. A run that loses segments by position has a twin that does not,
/// which nobody watches: the difference is what the losses cost.
///
/// # Errors
/// As [`Backend::run`].
pub fn simulate<O: Observer>(spec: &RunSpec, observer: &mut O) -> Result<Measured, RunFailure> {
    let mut scenario = scenario(spec)?;
    let mut found = simulate_one(&scenario, observer)?;
    if !scenario.forward.drops.is_empty() {
        scenario.forward.drops.clear();
        found.undropped_ns = Some(simulate_one(&scenario, &mut trace::Off)?.elapsed_ns);
    }
    Ok(found)
}

fn simulate_one<O: Observer>(scenario: &Scenario, observer: &mut O) -> Result<Measured, RunFailure> {
    let outcome = sim::run(scenario, observer).map_err(|failure| RunFailure(failure.to_string()))?;
    measured(&outcome)
}

/// The run as the simulator wants it. Both ends are the arm's.
///
/// # Errors
/// When they are no profile.
pub fn scenario(spec: &RunSpec) -> Result<Scenario, RunFailure> {
    let Ends::Profile(config) = &spec.ends else {
        return Err(RunFailure("only profiles can be simulated: make the run with `--backend netns`".to_owned()));
    };
    let point = &spec.point;
    let [forward, reverse] = paths(point);
    let mut scenario = Scenario::new(spec.seed, forward, reverse);
    let workload = match point.flow {
        Flow::Bytes(bytes) => Workload::Bytes(bytes),
        Flow::Seconds(span) => Workload::For(span),
    };
    scenario.flows.push(FlowSpec::new(config.clone(), config.clone(), workload));
    Ok(scenario)
}

/// The path of a cell in the direction of the data, and the way back.
pub fn paths(point: &Point) -> [PathSpec; 2] {
    let there = point.rtt / 2;
    [forward(point, there), PathSpec::ideal(point.rtt.saturating_sub(there))]
}

/// The path that carries the data, with this much delay.
pub fn forward(point: &Point, delay: Duration) -> PathSpec {
    let jitter = Jitter { max: point.jitter, kind: JitterKind::KeepOrder };
    let reorder = point.reorder;
    PathSpec {
        rate: Some(point.rate),
        buffer: point.buffer(),
        jitter: (!point.jitter.is_zero()).then_some(jitter),
        drops: point.drops.of(point.flow).expect("a plan's settings fit together"),
        loss: if point.loss.is_zero() { LossSpec::None } else { LossSpec::Bernoulli(point.loss) },
        reorder: match reorder.mode {
            _ if let Some(queues) = point.queues => queues.spec(),
            _ if reorder.probability.is_zero() => ReorderSpec::None,
            ReorderMode::Late => ReorderSpec::Late { probability: reorder.probability, extra: reorder.delay },
            ReorderMode::Early => ReorderSpec::Early { probability: reorder.probability, delay: reorder.delay },
        },
        ..PathSpec::ideal(delay)
    }
}

pub(crate) fn measured(outcome: &Outcome) -> Result<Measured, RunFailure> {
    let flow = outcome.flows.first().expect("a run has one flow");
    let ended = |what: &str, end: &sim::EndOutcome| match end.closed {
        Some(reason) => format!("{what} {reason}"),
        None => format!("{what} never connected"),
    };
    let incomplete = || {
        RunFailure(format!(
            "the flow did not come through: {} of {} octets read; {}, {}",
            flow.bytes_read,
            flow.bytes_written,
            ended("sender:", &flow.sender),
            ended("receiver:", &flow.receiver)
        ))
    };
    let elapsed = flow.elapsed().filter(|span| flow.is_complete() && !span.is_zero()).ok_or_else(incomplete)?;
    let (sender, receiver) = flow.sender.info.zip(flow.receiver.info).ok_or_else(incomplete)?;
    Ok(Measured {
        bytes: flow.bytes_read,
        elapsed_ns: elapsed.as_nanos(),
        dropped: outcome.forward.dropped.total(),
        packets: outcome.packets(),
        ..Measured::of_profile(flow.bytes_read, elapsed, &sender, &receiver)
    })
}

/// A stand-in with known results: the second arm is half as fast as the first, the third a third, and so on; odd
/// iterations have a loss that is repaired, even ones none. A flow of [`MockBackend::FAILING_BYTES`] fails.
#[derive(Clone, Copy, Debug, Default)]
pub struct MockBackend;

impl MockBackend {
    /// A flow of this size fails.
    pub const FAILING_BYTES: u64 = 13;
}

impl Backend for MockBackend {
    fn run(&self, spec: &RunSpec) -> Result<Measured, RunFailure> {
        let Flow::Bytes(bytes) = spec.point.flow else { return Err(RunFailure("only sized flows".to_owned())) };
        if bytes == Self::FAILING_BYTES {
            return Err(RunFailure(format!("Stalled, seed {}: as it was asked for", spec.seed)));
        }
        let slower = spec.arm as u64 + 1;
        let lossy = u64::from(spec.iteration % 2);
        // 8 µs an octet is 1 Mbit/s; each iteration takes a little longer than the one before.
        let elapsed = Duration::from_nanos(bytes * slower * (7_992 + 8 * u64::from(spec.iteration)));
        Ok(Measured {
            bytes_sent: Some(bytes + 100 * lossy),
            bytes_retransmitted: Some(100 * lossy),
            episodes: Some(lossy),
            episodes_without_timeout: Some(lossy),
            fast_retransmits: Some(lossy),
            rtos: Some(0),
            lost_retransmissions: Some(0),
            probes: Some(0),
            undone: Some(0),
            dsacks_sent: Some(lossy),
            dsacks_received: Some(lossy),
            sacks_received: Some(4 * lossy),
            stale_sacks: Some(lossy),
            reo_wnd_mult: Some(1),
            dropped: lossy,
            packets: 100,
            ..Measured::of_transfer(bytes, elapsed)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use crate::spec;
    use crate::spec::overrides::Overrides;
    use netem::Buffer;

    fn plan(experiment: &str, set: &[&str]) -> Plan {
        let mut experiment = spec::builtin(experiment).unwrap();
        let set = set.iter().map(|text| (*text).to_owned()).collect();
        experiment.apply(&Overrides { set, iterations: Some(1), ..Overrides::default() }).unwrap();
        Plan::new(experiment).unwrap()
    }

    #[test]
    fn a_cell_becomes_the_path_that_its_words_describe() {
        let plan = plan("reorder", &["path.rtt=25ms", "flow.bytes=1MB", "path.loss=1%"]);
        let scenario = scenario(&plan.runs[0]).unwrap();
        let one_percent = base::Ratio::new(1, 100).unwrap();
        assert_eq!(scenario.forward.delay, Duration::from_micros(12_500));
        assert_eq!(scenario.forward.buffer, Buffer::Bytes(312_500));
        assert_eq!(scenario.forward.loss, LossSpec::Bernoulli(one_percent));
        let late = ReorderSpec::Late { probability: one_percent, extra: Duration::from_millis(5) };
        assert_eq!(scenario.forward.reorder, late);
        assert_eq!(scenario.reverse, PathSpec::ideal(Duration::from_micros(12_500)));
        assert_eq!(scenario.flows[0].workload, Workload::Bytes(1_000_000));
        assert_eq!(scenario.flows[0].client, scenario.flows[0].server);
    }

    #[test]
    fn the_same_data_is_lost_whoever_sends_it() {
        let plan = plan("wan", &["path.rtt=25ms", "flow.bytes=300kB", "path.drop=100kB..200kB x2 + last 3"]);
        assert_eq!(scenario(&plan.runs[0]).unwrap().forward.drops.len(), 2);
        for run in &plan.runs {
            let found = SimBackend.run(run).unwrap();
            assert_eq!(found.dropped, 5, "{run:?}");
            let (repair, beyond_the_twin) =
                (found.repair_rtts(&run.point), found.elapsed_ns - found.undropped_ns.unwrap());
            assert_eq!(repair, Some(beyond_the_twin as f64 / 25e6));
            assert!(repair > Some(1.0), "three segments lost at the end take a round trip or more");
        }
    }

    #[test]
    fn ideal_time_is_handshake_packets_and_half_a_round_trip() {
        let plan = plan("wan", &["path.rtt=100ms", "flow.bytes=32MB"]);
        // 21,918 packets of 1,500 bytes at 100 Mbit/s take 2.63016 s.
        let expected = Duration::from_micros(100_000 + 2_630_160 + 50_000);
        assert_eq!(ideal_time(&plan.runs[0].point, 32_000_000), expected);
    }

    #[test]
    fn a_simulated_flow_is_faster_than_nothing_and_slower_than_ideal() {
        let plan = plan("wan", &["path.rtt=25ms", "flow.bytes=300kB"]);
        for run in &plan.runs {
            let found = SimBackend.run(run).unwrap();
            let efficiency = found.efficiency(&run.point);
            assert!(efficiency > 0.05 && efficiency <= 1.0, "{efficiency}");
            assert_eq!(found.bytes, 300_000);
            assert!(found.packets > 300);
            assert_eq!(SimBackend.run(run), Ok(found));
        }
    }

    #[test]
    fn a_timed_flow_ends_and_delivers_what_was_written() {
        let plan = plan("wan", &["path.rtt=25ms", "flow.seconds=0.5"]);
        let found = SimBackend.run(&plan.runs[0]).unwrap();
        assert!(found.bytes > 100_000 && found.elapsed_ns > 500_000_000, "{found:?}");
    }

    #[test]
    fn goodput_is_payload_bits_a_microsecond() {
        let plan = plan("wan", &["path.rtt=25ms", "flow.bytes=1MB"]);
        let found = MockBackend.run(&plan.runs[1]).unwrap();
        assert_eq!(found.elapsed_ns, 1_000_000 * 2 * 8_000);
        assert!((found.goodput_mbps() - 0.5).abs() < 1e-12);
    }
}
