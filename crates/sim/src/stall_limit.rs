//! How long bad luck alone may keep a flow silent: the stall limit of a random world.
//!
//! A constant limit for all worlds is too short for some, where a healthy sender waits through many back-offs, and hides faults
//! in the others. This one is computed from the world. An attempt to repair the hole that a reader waits for fails if the path
//! loses the segment or its answer; the limit is the time of as many failures in a row as luck explains with a probability of at
//! least 1e-9, over all attempts that the run's budget allows.
//!
//! Where the path also drops packets for lack of buffer or changes with time, or a receiver discards data for which it has no block, no probability is
//! known, and a sender may back off because of its own bursts. There, and whenever it is shorter, the limit is the time after
//! which an endpoint gives up.

use crate::scenario::{AppPace, FlowSpec, Hops, Scenario};
use base::{Duration, Ratio};
use netem::{Buffer, LossSpec, PathSpec, ReorderSpec};
use tcp::ValidConfig;

/// Fixed-point one. Probabilities are rounded up.
const ONE: u128 = 1_000_000_000_000_000_000;
/// The probability per run with which luck may reach the limit: 1e-9.
const LUCK: u128 = ONE / 1_000_000_000;
/// No acknowledgement is delayed longer (RFC 9293 MUST-58).
const ACK_DELAY: Duration = Duration::from_millis(500);
/// A smoothed RTT plus four times a variation is at most five times the longest round trip.
const RTO_OF_RTT: u32 = 5;
/// Largest IP packet, bytes.
const PACKET: u64 = 1_500;

/// Returns the time without a byte read that luck alone exceeds with a probability below 1e-9 in a whole run of `scenario`.
pub fn stall_limit(scenario: &Scenario) -> Duration {
    let longest = |of: &dyn Fn(&FlowSpec) -> Duration| scenario.flows.iter().map(of).max().unwrap_or_default();
    let rtt = round_trip(scenario);
    let pauses = longest(&|flow| pause(flow.reader) + pause(flow.writer));
    // A window that opens while its update is lost waits for the next probe.
    let probes = longest(&|flow| flow.client.send.persist_max);
    let back_offs = longest(&|flow| back_offs(scenario, &flow.client, rtt).max(back_offs(scenario, &flow.server, rtt)));
    pauses + probes + rtt + back_offs
}

/// Returns the time of all failures that luck explains.
fn back_offs(scenario: &Scenario, cfg: &ValidConfig, rtt: Duration) -> Duration {
    let gives_up_after = cfg.retries.data.max(cfg.retries.syn).max(cfg.retries.syn_ack) + 1;
    let Some(failures) = failures(scenario) else { return cfg.rto.max * gives_up_after };
    // Data begins with a timeout of three seconds if a SYN was lost (RFC 6298 §5.7).
    let first = cfg.rto.initial.max(Duration::from_secs(3)).max(rtt * RTO_OF_RTT).max(cfg.rto.min);
    let mut timeout = first.clamp_between(cfg.rto.min, cfg.rto.max);
    let mut sum = Duration::ZERO;
    for _ in 0..failures.min(gives_up_after) {
        sum += timeout;
        timeout = (timeout * 2).clamp_between(cfg.rto.min, cfg.rto.max);
    }
    sum
}

/// Returns the failures in a row that luck explains; `None` if failures are not random.
fn failures(scenario: &Scenario) -> Option<u32> {
    let paths: Vec<&PathSpec> = scenario.paths(Hops::Both).collect();
    let changes = |path: &PathSpec| path.rates.is_some() || path.delays.is_some() || path.mtus.is_some();
    if paths.iter().any(|path| path.policer.is_some() || changes(path)) {
        return None;
    }
    if paths.iter().any(|path| path.rate.is_some() && path.buffer != Buffer::Unlimited) {
        return None;
    }
    if scenario.flows.iter().any(|flow| may_discard(&flow.client) || may_discard(&flow.server)) {
        return None;
    }
    let arrives = paths.iter().fold(ONE, |arrives, path| arrives * (ONE - worst_loss(&path.loss)) / ONE);
    let fails = ONE - arrives;
    if fails >= ONE {
        return None;
    }
    // A row of failures could begin at each step of the budget.
    let mut luck = u128::from(scenario.budget.steps).saturating_mul(ONE);
    let mut failures = 0;
    while luck > LUCK {
        // Both factors stay below 2^97 after the first rounds: a budget is below 2^64 steps.
        luck = (luck / ONE) * fails + (luck % ONE) * fails / ONE + 1;
        failures += 1;
        if failures > 1_000 {
            return None;
        }
    }
    let certain: usize = paths.iter().map(|path| certain_losses(path)).sum();
    Some(failures + certain as u32)
}

/// Returns whether a receiver may run out of blocks within its largest window: every second segment missing.
fn may_discard(cfg: &ValidConfig) -> bool {
    let segment = cfg.options.mss_max.map_or(1_460, Into::into);
    cfg.receive.reassembly_max.is_some_and(|blocks| blocks < cfg.receive.window.largest() / (2 * segment))
}

/// Returns the probability that a packet is lost, whatever happened before.
fn worst_loss(loss: &LossSpec) -> u128 {
    let parts = |ratio: Ratio| u128::from(ratio.num()) * ONE / u128::from(ratio.den()) + 1;
    match loss {
        LossSpec::None | LossSpec::Mask(_) => 0,
        LossSpec::Bernoulli(ratio) => parts(*ratio),
        LossSpec::GilbertElliott(chain) => parts(chain.loss_in_good).max(parts(chain.loss_in_bad)),
        LossSpec::Changing(first, changes) => {
            changes.iter().map(|(_, ratio)| parts(*ratio)).fold(parts(*first), u128::max)
        }
    }
    .min(ONE)
}

/// Counts packets lost by their position, all of which may be attempts at one hole.
fn certain_losses(path: &PathSpec) -> usize {
    let masked = if let LossSpec::Mask(mask) = &path.loss { mask.len() } else { 0 };
    masked + path.drops.len()
}

/// Longest time from a segment to its acknowledgement.
fn round_trip(scenario: &Scenario) -> Duration {
    let granularity = scenario.flows.iter().map(|flow| flow.client.timers.granularity).max().unwrap_or_default();
    scenario.paths(Hops::Both).fold(ACK_DELAY + granularity, |sum, path| sum + one_way(path, scenario))
}

fn one_way(path: &PathSpec, scenario: &Scenario) -> Duration {
    let jitter = path.jitter.as_ref().map_or(Duration::ZERO, |jitter| jitter.max);
    let reorder = match path.reorder {
        ReorderSpec::None => Duration::ZERO,
        ReorderSpec::Late { extra, .. } => extra,
        ReorderSpec::Early { delay, .. } => delay,
        ReorderSpec::Queues { skew, .. } => skew,
    };
    let held = path.thin.unwrap_or_default() + path.release.map_or(Duration::ZERO, |release| release.most);
    path.delay + jitter + reorder + held + drain(path, scenario)
}

/// Returns the longest time in the queue. One without a limit holds at most what receivers allow in flight, which this does not
/// guess: the upper bound of the timeout then decides.
fn drain(path: &PathSpec, scenario: &Scenario) -> Duration {
    let Some(rate) = path.rate else { return Duration::ZERO };
    match path.buffer {
        Buffer::Bytes(bytes) => rate.time_for(bytes + PACKET),
        Buffer::Packets(packets) => rate.time_for((u64::from(packets) + 1) * PACKET),
        Buffer::Unlimited => scenario.flows.iter().map(|flow| flow.client.rto.max).max().unwrap_or_default(),
    }
}

fn pause(pace: AppPace) -> Duration {
    match pace {
        AppPace::Unlimited => Duration::ZERO,
        AppPace::Chunks { every, .. } => every,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Workload;
    use base::Rate;
    use tcp::Config;
    use test_case::test_case;

    fn world(loss: LossSpec) -> Scenario {
        let path = PathSpec { loss, ..PathSpec::ideal(Duration::from_millis(50)) };
        let mut scenario = Scenario::new(1, path, PathSpec::ideal(Duration::from_millis(50)));
        scenario.budget.steps = 1_000_000;
        let config = Config::default().validate().expect("the default");
        scenario.flows.push(FlowSpec::new(config.clone(), config, Workload::Bytes(1)));
        scenario
    }

    /// A million chances for a row of failures, and a total probability of 1e-9: 1e-15 for each.
    #[test_case(LossSpec::None => Some(1); "no luck is needed")]
    #[test_case(LossSpec::Bernoulli(Ratio::new(1, 1_000).unwrap()) => Some(6); "one packet in a thousand: just above 1e-15 after five")]
    #[test_case(LossSpec::Bernoulli(Ratio::new(1, 10).unwrap()) => Some(16); "one in ten")]
    #[test_case(LossSpec::Bernoulli(Ratio::new(1, 2).unwrap()) => Some(50); "one in two: the power of two above 1e15")]
    #[test_case(LossSpec::Bernoulli(Ratio::ONE) => None; "nothing arrives")]
    #[test_case(LossSpec::Mask(vec![1, 5, 9]) => Some(4); "three are certain")]
    fn failures_that_luck_explains(loss: LossSpec) -> Option<u32> {
        failures(&world(loss))
    }

    #[test]
    fn the_limit_is_the_sum_of_the_back_offs() {
        // A round trip of 600 ms, a persist timer of a minute, and six timeouts from three seconds on.
        let limit = stall_limit(&world(LossSpec::Bernoulli(Ratio::new(1, 1_000).expect("a ratio"))));
        assert_eq!(limit, Duration::from_millis(600 + 60_000 + 1_000 * (3 + 6 + 12 + 24 + 48 + 60)));
    }

    #[test]
    fn where_a_queue_refuses_packets_the_endpoint_gives_up_first() {
        let mut scenario = world(LossSpec::None);
        (scenario.forward.rate, scenario.forward.buffer) = (Rate::from_bits_per_sec(12_000), Buffer::Packets(1));
        let limit = stall_limit(&scenario);
        assert_eq!(limit, Duration::from_millis(2_600 + 60_000 + 16 * 60_000));
    }

    #[test]
    fn where_a_receiver_discards_data_the_endpoint_gives_up_first() {
        let mut scenario = world(LossSpec::None);
        let mut config = Config::default();
        config.receive.reassembly_max = Some(1);
        scenario.flows[0].server = config.validate().expect("within bounds");
        assert_eq!(failures(&scenario), None);
    }

    #[test]
    fn a_slow_application_is_waited_for() {
        let mut scenario = world(LossSpec::None);
        let before = stall_limit(&scenario);
        let pace = |secs| AppPace::Chunks { bytes: 1, every: Duration::from_secs(secs) };
        (scenario.flows[0].reader, scenario.flows[0].writer) = (pace(20), pace(1));
        assert_eq!(stall_limit(&scenario), before + Duration::from_secs(21));
    }
}
