//! The flows of a run that has several, as a scenario.

use crate::plan::RunSpec;
use crate::run::backend::RunFailure;
use crate::run::hosts::{equip, sender};
use crate::run::network::{paths, second};
use crate::spec::{Arrivals, Ends, Figure, Group, GroupProfile, Work};
use base::{Duration, Rate, Rng};
use sim::{AppPace, DatagramSpec, FlowSpec, PerFlow, Scenario, Sends, Sizes, Until, Watch, Workload, gap};
use tcp::ValidConfig;

/// Length of the bins in which shares are counted.
const BIN: Duration = Duration::from_secs(1);
/// How often an application with a pace writes.
const PACE_EVERY: Duration = Duration::from_millis(10);
/// What an application keeps in the send buffer beside what is in flight, bytes: as programs that set `TCP_NOTSENT_LOWAT` to this do.
const UNSENT_MAX: u64 = 128 << 10;
/// A flow may be starved for as long as any run lasts: that is a result.
const NEVER: Duration = Duration::from_secs(1_000_000);
/// Bytes of a ping's packet.
const PING: u32 = 64;
/// Most flows that the simulator has ports for.
const MOST_FLOWS: usize = 10_000;

/// Which starts the flows of a run get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As the groups say.
    Given,
    /// The first flow gets the last one's, and so on.
    Reversed,
}

/// A run of several flows.
pub(crate) struct Flows {
    pub(crate) scenario: Scenario,
    /// Which group each flow of the scenario belongs to.
    pub(crate) group_of: Vec<usize>,
    /// The same of its datagrams.
    pub(crate) group_of_datagrams: Vec<usize>,
}

impl Flows {
    /// Lets the flows of some groups never start. All others keep their names and what they draw.
    pub(crate) fn without(mut self, is_out: impl Fn(usize) -> bool) -> Self {
        let Until::At(end) = self.scenario.until else { panic!("a run of several flows has an end") };
        for (flow, _) in self.scenario.flows.iter_mut().zip(&self.group_of).filter(|(_, group)| is_out(**group)) {
            flow.start = end + BIN;
        }
        let datagrams = self.scenario.datagrams.iter_mut().zip(&self.group_of_datagrams);
        for (datagrams, _) in datagrams.filter(|(_, group)| is_out(**group)) {
            datagrams.start = end + BIN;
        }
        self
    }
}

/// Returns the run as a scenario, whose flows are those of the groups, in their order; flows that arrive follow behind all others.
///
/// # Errors
/// When the ends are not a profile, or more flows arrive than a run may have.
pub(crate) fn flows(spec: &RunSpec, order: Order) -> Result<Flows, RunFailure> {
    let Ends::Profile(arm) = &*spec.ends else {
        return Err(RunFailure(
            "only profiles can be simulated: a run of several flows has no other backend".to_owned(),
        ));
    };
    let (point, window) = (&spec.point, spec.point.company.window);
    let arm = &sender(point, arm)?;
    let [forward, reverse] = paths(point, spec.seed);
    let mut scenario = Scenario::new(spec.seed, forward, reverse);
    scenario.second = second(point);
    equip(&mut scenario, point);
    scenario.until = Until::At(window.until);
    let waits = if point.company.harm == Figure::Measured { PerFlow::On } else { PerFlow::Off };
    scenario.watch = Some(Watch { bin: BIN, from: window.from, until: window.until, waits });
    scenario.stall_after = NEVER;
    let rng = Rng::new(spec.seed);
    let mut rng_of_starts = rng.fork("flows/starts");
    let (mut starts, mut group_of, mut group_of_datagrams) = (Vec::new(), Vec::new(), Vec::new());
    let mut processes = Vec::new();
    for (number, group) in point.company.groups.iter().enumerate() {
        let config = config_of(group, arm)?;
        for of_group in 0..group.count {
            let start = start(group, &mut rng_of_starts);
            if let Some(datagrams) = datagrams(group, work_of(group)?, start) {
                scenario.datagrams.push(datagrams);
                group_of_datagrams.push(number);
                continue;
            }
            if let Work::Arrivals(arrivals, sizes) = work_of(group)? {
                let rng = rng.fork(&format!("flows/arrivals/{number}/{of_group}"));
                processes.push((number, config.clone(), Process { arrivals, sizes, start, rng }));
                continue;
            }
            starts.push(start);
            group_of.push(number);
            scenario.flows.push(flow(group, &config, work_of(group)?, window.until));
        }
    }
    if order == Order::Reversed {
        // The flows and not their starts: of those that start at one time, the other is the first, too.
        scenario.flows.reverse();
        group_of.reverse();
    }
    scenario.flows.iter_mut().zip(starts).for_each(|(flow, start)| flow.start = start);
    for (number, config, process) in processes {
        let group = &point.company.groups[number];
        let until = group.stop.unwrap_or(window.until).min(window.until);
        let room = MOST_FLOWS - scenario.flows.len();
        for (start, bytes) in process.before(until).take(room + 1) {
            // Each sends all that it has, also after the last one came.
            let flow = FlowSpec { start, stop: None, ..flow(group, &config, Work::Bytes(bytes), window.until) };
            scenario.flows.push(flow);
            group_of.push(number);
        }
        if scenario.flows.len() > MOST_FLOWS {
            let remedy = "use rarer arrivals, or a window that ends earlier";
            return Err(RunFailure(format!("more than {MOST_FLOWS} flows arrive with seed {}: {remedy}", spec.seed)));
        }
    }
    Ok(Flows { scenario, group_of, group_of_datagrams })
}

/// Flows that arrive independently of each other.
struct Process {
    arrivals: Arrivals,
    sizes: Sizes,
    start: Duration,
    rng: Rng,
}

impl Process {
    /// Starts and sizes of the flows that arrive before this time.
    fn before(self, until: Duration) -> impl Iterator<Item = (Duration, u64)> {
        let Self { arrivals, sizes, start, rng } = self;
        let (mut gaps, mut drawn) = (rng.fork("gaps"), rng.fork("sizes"));
        let mut at = start;
        std::iter::from_fn(move || {
            let gap = gap(arrivals.per_gigasecond, &mut gaps);
            at = Duration::from_nanos(at.as_nanos().saturating_add(gap.as_nanos()));
            (at < until).then(|| (at, sizes.draw(&mut drawn)))
        })
    }
}

pub(crate) fn work_of(group: &Group) -> Result<Work, RunFailure> {
    Work::of(group).map_err(|refusal| RunFailure(refusal.to_string()))
}

fn config_of(group: &Group, arm: &ValidConfig) -> Result<ValidConfig, RunFailure> {
    match &group.profile {
        // Datagrams have none.
        GroupProfile::Arm | GroupProfile::Datagrams | GroupProfile::Ping => Ok(arm.clone()),
        GroupProfile::Named(name) => {
            let profile = profiles::get(name).map_err(|unknown| RunFailure(unknown.to_string()))?;
            Ok(profile.config().clone())
        }
        GroupProfile::Kernel(_) => Err(RunFailure(format!("`{group}`: only profiles can be simulated"))),
    }
}

/// Draws when a flow starts.
pub(crate) fn start(group: &Group, rng: &mut Rng) -> Duration {
    let (from, until) = group.start;
    let drawn = match until.saturating_sub(from).as_nanos() {
        0 => 0,
        span => rng.below(span),
    };
    from + Duration::from_nanos(drawn)
}

fn flow(group: &Group, config: &ValidConfig, work: Work, until: Duration) -> FlowSpec {
    let workload = match work {
        Work::Bytes(bytes) => Workload::Bytes(bytes),
        Work::Repeated { bytes, every } => Workload::Repeated { bytes, every },
        Work::Requests { sizes, think } => Workload::Requests { sizes, think },
        Work::OnOff { on, off } => Workload::OnOff { on, off },
        // Longer than the run, whenever it starts.
        _ => Workload::For(until + BIN),
    };
    let writer = group.pace.map_or(AppPace::Unlimited, paced);
    let spec = FlowSpec::new(config.clone(), config.clone(), workload);
    // Only what is to end soon keeps little in the send buffer: other flows had theirs full when the first results were made.
    let ends_soon = group.stop.is_some() || matches!(work, Work::OnOff { .. });
    let unsent_max = ends_soon.then_some(UNSENT_MAX);
    FlowSpec {
        direction: group.direction,
        hops: group.hops,
        own_rtt: group.own_rtt,
        stop: group.stop,
        writer,
        unsent_max,
        ..spec
    }
}

/// Returns a flow that is none of a TCP's.
fn datagrams(group: &Group, work: Work, start: Duration) -> Option<DatagramSpec> {
    let (sends, size) = match work {
        Work::Datagrams { rate, size } => (Sends::Rate(rate), size),
        Work::Pings { every } => (Sends::Pings(every), PING),
        _ => return None,
    };
    let &Group { direction, hops, own_rtt, stop, .. } = group;
    Some(DatagramSpec { sends, size, direction, hops, own_rtt, start, stop })
}

fn paced(rate: Rate) -> AppPace {
    AppPace::Chunks { bytes: rate.bytes_in(PACE_EVERY).max(1), every: PACE_EVERY }
}
