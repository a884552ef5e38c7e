//! Random paths, flows and applications.

use crate::config;
use base::{Duration, Rate, Ratio, Rng};
use longhaul_sim::{AppPace, AuditSchedule, BudgetSpec, Carriage, FlowSpec, IpVersion, Scenario, Until, Workload};
use netem::loss::gilbert_elliott::Chain;
use netem::{Buffer, Jitter, JitterKind, LossSpec, PathSpec, ReorderSpec};

/// Draws with a shape.
pub trait Draw {
    /// Draws from `low` up to and including `high`.
    fn between(&mut self, low: u64, high: u64) -> u64;
    /// The same, with each order of magnitude equally likely.
    fn scale(&mut self, low: u64, high: u64) -> u64;
    /// One of these.
    fn pick<T: Copy>(&mut self, choices: &[T]) -> T;
    /// Returns true once in `n` calls on average.
    fn once_in(&mut self, n: u64) -> bool;
    /// Draws a fault's probability: extreme, up to `most` in a thousand.
    fn weight(&mut self, most: u64) -> Ratio;
}

impl Draw for Rng {
    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }
    fn scale(&mut self, low: u64, high: u64) -> u64 {
        let (low_bits, high_bits) = (u64::from(low.max(1).ilog2()), u64::from(high.ilog2()));
        let top = 1 << self.between(low_bits, high_bits);
        self.between(top, top * 2 - 1).clamp(low, high)
    }
    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
    fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
    fn weight(&mut self, most: u64) -> Ratio {
        Ratio::new(self.scale(1, most), 1_000).expect("below one")
    }
}

/// The world of a seed.
pub fn random(seed: u64) -> Scenario {
    let root = Rng::new(seed);
    let mut rng = root.fork("swarm/shape");
    let forward = path(&mut root.fork("swarm/forward"), 200);
    let mut reverse = path(&mut root.fork("swarm/reverse"), 100);
    if rng.once_in(2) {
        reverse.rate = None;
    }
    let mut scenario = Scenario::new(seed, forward, reverse);
    scenario.audit = AuditSchedule::EveryStep;
    scenario.until = rng.pick(&[Until::Closed, Until::Quiet]);
    scenario.ip = rng.pick(&[IpVersion::V4, IpVersion::V6]);
    // A slow reader of a small window may take days; another checker verifies that data keeps moving.
    let virtual_time = Duration::from_secs(7 * 24 * 3_600);
    scenario.budget = BudgetSpec { steps: 2_000_000, virtual_time, packets_in_flight: 100_000 };
    for index in 0..rng.pick(&[1, 1, 1, 2, 4]) {
        scenario.flows.push(flow(&mut root.fork(&format!("swarm/flow/{index}")), &scenario.forward));
    }
    scenario.stall_after = longhaul_sim::stall_limit(&scenario);
    if let [flow] = &scenario.flows[..] {
        scenario.burst_limit = config::departures(&flow.client);
    }
    scenario
}

fn path(rng: &mut Rng, most_loss: u64) -> PathSpec {
    let mut path = PathSpec::ideal(Duration::from_micros(rng.scale(1, 250_000)));
    if !rng.once_in(8) {
        path.rate = Rate::from_bits_per_sec(rng.scale(200_000, 1_000_000_000));
        path.buffer = match rng.below(3) {
            0 => Buffer::Bytes(rng.scale(1_500, 300_000)),
            1 => Buffer::Packets(rng.scale(1, 200) as u32),
            _ => Buffer::Unlimited,
        };
    }
    if rng.once_in(2) {
        path.loss = loss(rng, most_loss);
    }
    if rng.once_in(2) {
        let kind = rng.pick(&[JitterKind::KeepOrder, JitterKind::Reorder]);
        path.jitter = Some(Jitter { max: Duration::from_micros(rng.scale(1, 50_000)), kind });
    }
    if rng.once_in(2) {
        let (probability, span) = (rng.weight(300), Duration::from_micros(rng.scale(1, 100_000)));
        path.reorder = match rng.below(2) {
            0 => ReorderSpec::Late { probability, extra: span },
            _ => ReorderSpec::Early { probability, delay: span },
        };
    }
    if rng.once_in(3) {
        path.duplicate = rng.weight(300);
    }
    path
}

fn loss(rng: &mut Rng, most: u64) -> LossSpec {
    match rng.below(4) {
        0 | 1 => LossSpec::Bernoulli(rng.weight(most)),
        2 => LossSpec::GilbertElliott(Chain {
            into_bad: rng.weight(20),
            // Bad periods end by packets, not by time: long ones would outlast every back-off.
            into_good: Ratio::new(rng.between(300, 1_000), 1_000).expect("at most one"),
            loss_in_good: rng.weight(10),
            loss_in_bad: rng.weight(500),
        }),
        // The first packets decide about handshakes.
        _ => LossSpec::Mask((0..rng.between(1, 5)).map(|_| rng.below(20)).collect()),
    }
}

fn flow(rng: &mut Rng, forward: &PathSpec) -> FlowSpec {
    let bytes = rng.scale(10_000, 300_000);
    let slow_path = forward.rate.is_some_and(|rate| rate.bits_per_sec() < 5_000_000);
    let workload = if slow_path && rng.once_in(6) {
        Workload::For(Duration::from_millis(rng.scale(1, 1_000)))
    } else {
        Workload::Bytes(rng.pick(&[bytes, bytes, bytes, bytes, 0, 1]))
    };
    let (mut client, server) = (config::random(&mut rng.fork("client")), config::random(&mut rng.fork("server")));
    if workload != Workload::Bytes(bytes) {
        // Data in the buffer when the time ends is still sent.
        client = config::with_send_buffer(&client, rng.scale(500, 100_000) as u32);
    }
    let mut flow = FlowSpec::new(client, server, workload);
    flow.start = Duration::from_millis(rng.pick(&[0, 0, 1, 37, 500]));
    flow.carriage = rng.pick(&[Carriage::Described, Carriage::Bytes]);
    if rng.once_in(4) {
        let every = Duration::from_micros(rng.scale(100, 200_000));
        flow.writer = AppPace::Chunks { bytes: bytes / rng.scale(1, 200), every };
    }
    if rng.once_in(4) && workload == Workload::Bytes(bytes) {
        // At the slow end the window stays closed for many probes in a row.
        let every = Duration::from_micros(rng.scale(100, 20_000_000));
        flow.reader = AppPace::Chunks { bytes: bytes / rng.scale(1, 50), every };
    }
    flow
}
