//! Runs with several flows, and what the arm's flows got beside the others.

use crate::plan::RunSpec;
use crate::run::backend::RunFailure;
use crate::run::flows::{Flows, Order, flows};
use crate::run::measured::Measured;
use crate::run::shares::shares;
use crate::spec::{GroupProfile, Orders, Point};
use sim::{Direction, FlowOutcome, Outcome};
use trace::Observer;

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
    let Flows { scenario, group_of } = flows(spec, order)?;
    let outcome = sim::run(&scenario, observer).map_err(|failure| RunFailure(failure.to_string()))?;
    measured(spec, &outcome, &group_of)
}

/// What the arm's flows in the path's direction got. Their counters are summed.
fn measured(spec: &RunSpec, outcome: &Outcome, group_of: &[usize]) -> Result<Measured, RunFailure> {
    let group_of = group_of.iter().map(|group| &spec.point.company.groups[*group]);
    let forward = outcome.flows.iter().zip(group_of).filter(|(_, group)| group.direction == Direction::Forward);
    let flows: Vec<(&FlowOutcome, bool)> =
        forward.map(|(flow, group)| (flow, group.profile == GroupProfile::Arm)).collect();
    let (bytes, company) = shares(&spec.point, spec.seed, &flows, &outcome.delays);
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
    let sum = Measured { bytes, packets: outcome.packets(), company: Some(company), ..sum.ok_or_else(nothing)? };
    Ok(sum.with_path(&spec.point, spec.seed, &outcome.forward))
}
