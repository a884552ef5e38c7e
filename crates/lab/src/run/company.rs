//! Runs with several flows: the scenario, and what the arm's flows got beside the others.

use crate::plan::RunSpec;
use crate::run::backend::RunFailure;
use crate::run::hosts::equip;
use crate::run::measured::Measured;
use crate::run::network::paths;
use crate::run::shares::shares;
use crate::spec::{Ends, Group, GroupProfile, Orders, Point};
use base::{Duration, Rate, Rng};
use sim::{AppPace, Direction, FlowOutcome, FlowSpec, Outcome, Scenario, Until, Watch, Workload};
use tcp::ValidConfig;
use trace::Observer;

/// Length of the bins in which shares are counted.
const BIN: Duration = Duration::from_secs(1);
/// How often an application with a pace writes.
const PACE_EVERY: Duration = Duration::from_millis(10);
/// A flow may be starved for as long as any run lasts: that is a result.
const NEVER: Duration = Duration::from_secs(1_000_000);

/// Which starts the flows of a run get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Given,
    Reversed,
}

/// The results as metrics (`spec/metrics.rs`); `None` for a run of one flow.
macro_rules! metrics {
    ($($name:ident = $field:ident / $unit:literal;)*) => {
        impl Measured {
            $(
                pub(crate) fn $name(&self, _: &Point) -> Option<f64> {
                    let value: Option<u64> = self.company?.$field.into();
                    value.map(|value| value as f64 / $unit)
                }
            )*
        }
    };
}
metrics! {
    share_pct = share_ppm / 1e4;
    early_share_pct = early_share_ppm / 1e4;
    jain = jain_ppm / 1e6;
    early_jain = early_jain_ppm / 1e6;
    worst_flow = worst_ppm / 1e6;
    utilisation = use_ppm / 1e6;
    converged_s = converged_s / 1.0;
    dropped_of_arm = dropped_of_arm / 1.0;
    wait_p50_ms = wait_p50_us / 1e3;
    wait_p95_ms = wait_p95_us / 1e3;
    wait_p99_ms = wait_p99_us / 1e3;
}

/// Makes a run with several flows. One in both orders is made twice, and only the first is observed.
///
/// # Errors
/// When the ends are not a profile, or a checker finds an error.
pub(crate) fn simulate<O: Observer>(spec: &RunSpec, observer: &mut O) -> Result<Measured, RunFailure> {
    let given = once(spec, Order::Given, observer)?;
    match spec.point.company.orders {
        Orders::Given => Ok(given),
        Orders::Both => Ok(given.mean_with(&once(spec, Order::Reversed, &mut trace::Off)?)),
    }
}

fn once<O: Observer>(spec: &RunSpec, order: Order, observer: &mut O) -> Result<Measured, RunFailure> {
    let outcome = sim::run(&scenario(spec, order)?, observer).map_err(|failure| RunFailure(failure.to_string()))?;
    measured(spec, &outcome)
}

/// Returns the run as a scenario, whose flows are those of the groups, in their order.
fn scenario(spec: &RunSpec, order: Order) -> Result<Scenario, RunFailure> {
    let Ends::Profile(arm) = &spec.ends else {
        return Err(RunFailure(
            "only profiles can be simulated: a run of several flows has no other backend".to_owned(),
        ));
    };
    let (point, window) = (&spec.point, spec.point.company.window);
    let [forward, reverse] = paths(point);
    let mut scenario = Scenario::new(spec.seed, forward, reverse);
    equip(&mut scenario, point);
    scenario.until = Until::At(window.until);
    scenario.watch = Some(Watch { bin: BIN, from: window.from, until: window.until });
    scenario.stall_after = NEVER;
    let mut rng = Rng::new(spec.seed).fork("flows/starts");
    let mut starts = Vec::new();
    for group in &point.company.groups {
        let config = match &group.profile {
            GroupProfile::Arm => arm.clone(),
            GroupProfile::Named(name) => known(name)?,
        };
        for _ in 0..group.count {
            starts.push(start(group, &mut rng));
            scenario.flows.push(flow(group, &config, window.until));
        }
    }
    if order == Order::Reversed {
        starts.reverse();
    }
    scenario.flows.iter_mut().zip(starts).for_each(|(flow, start)| flow.start = start);
    Ok(scenario)
}

fn known(name: &str) -> Result<ValidConfig, RunFailure> {
    let profile = profiles::get(name).map_err(|unknown| RunFailure(unknown.to_string()))?;
    Ok(profile.config().clone())
}

/// Draws when a flow starts.
fn start(group: &Group, rng: &mut Rng) -> Duration {
    let (from, until) = group.start;
    let drawn = match until.saturating_sub(from).as_nanos() {
        0 => 0,
        span => rng.below(span),
    };
    from + Duration::from_nanos(drawn)
}

fn flow(group: &Group, config: &ValidConfig, until: Duration) -> FlowSpec {
    let workload = match group.bytes {
        Some(bytes) => Workload::Bytes(bytes),
        // Longer than the run, whenever it starts.
        None => Workload::For(until + BIN),
    };
    let writer = group.pace.map_or(AppPace::Unlimited, paced);
    let spec = FlowSpec::new(config.clone(), config.clone(), workload);
    FlowSpec { direction: group.direction, own_rtt: group.own_rtt, writer, ..spec }
}

fn paced(rate: Rate) -> AppPace {
    AppPace::Chunks { bytes: rate.bytes_in(PACE_EVERY).max(1), every: PACE_EVERY }
}

/// What the arm's flows in the path's direction got. Their counters are summed.
fn measured(spec: &RunSpec, outcome: &Outcome) -> Result<Measured, RunFailure> {
    let groups = spec.point.company.groups.iter();
    let group_of = groups.flat_map(|group| std::iter::repeat_n(group, group.count as usize));
    let forward = outcome.flows.iter().zip(group_of).filter(|(_, group)| group.direction == Direction::Forward);
    let flows: Vec<(&FlowOutcome, bool)> =
        forward.map(|(flow, group)| (flow, group.profile == GroupProfile::Arm)).collect();
    let (bytes, company) = shares(&spec.point, &flows, &outcome.delays);
    let window = spec.point.company.window;
    let elapsed = window.until.saturating_sub(window.from);
    let mut sum: Option<Measured> = None;
    for (flow, _) in flows.iter().filter(|(_, is_arm)| *is_arm) {
        // A flow that did not get through has counted nothing.
        let Some((sender, receiver)) = flow.sender.info.zip(flow.receiver.info) else { continue };
        let one = Measured::of_profile(0, elapsed, &sender, &receiver);
        sum = Some(sum.map_or(one, |sum| sum.plus(&one)));
    }
    let nothing = || RunFailure("no flow of the arm got through".to_owned());
    let sum = sum.ok_or_else(nothing)?.with_path(&spec.point, &outcome.forward);
    Ok(Measured { bytes, packets: outcome.packets(), company: Some(company), ..sum })
}
