//! Runs with several flows, and what the arm's flows got beside the others.

use crate::plan::RunSpec;
use crate::run::applications::{ApplicationResult, Transfers, note_datagrams};
use crate::run::backend::RunFailure;
use crate::run::flows::{Flows, Order, flows};
use crate::run::lone::{ideal_of_arm, with_own_time};
use crate::run::measured::Measured;
use crate::run::parts::Kept;
use crate::run::second::SecondResult;
use crate::run::shares::{Beside, shares};
use crate::run::startup;
use crate::spec::{Figure, Group, Orders, Point, Window};
use base::Duration;
use sim::{DatagramOutcome, Direction, Outcome};
use trace::Observer;

/// Results as metrics (`spec/metrics.rs`): of company, which is `None` for a run of one flow, or of the start, `None` unless it is asked
/// for.
macro_rules! metrics {
    ($of:ident: $($name:ident = $($field:ident).+ / $unit:literal;)*) => {
        impl Measured {
            $(
                pub(crate) fn $name(&self, _: &Point) -> Option<f64> {
                    let value: Option<u64> = self.$of?.$($field).+.into();
                    value.map(|value| value as f64 / $unit)
                }
            )*
        }
    };
}
metrics! { company:
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
    wait_max_ms = applications.wait_max_us / 1e3;
    filled_s = applications.filled_s / 1.0;
    completion_p50_ms = applications.completion_p50_us / 1e3;
    completion_p90_ms = applications.completion_p90_us / 1e3;
    completion_p99_ms = applications.completion_p99_us / 1e3;
    slowdown_p50 = applications.slowdown_p50_milli / 1e3;
    slowdown_p90 = applications.slowdown_p90_milli / 1e3;
    slowdown_p99 = applications.slowdown_p99_milli / 1e3;
    ping_p50_ms = applications.ping_p50_us / 1e3;
    ping_p95_ms = applications.ping_p95_us / 1e3;
    ping_p99_ms = applications.ping_p99_us / 1e3;
}
metrics! { startup:
    startup_ms = until_ns / 1e6;
    full_rate_ms = full_rate_ns / 1e6;
    startup_queue_bytes = queue_bytes / 1.0;
    startup_queue_packets = queue_packets / 1.0;
    startup_lost_bytes = lost_bytes / 1.0;
    burst_bytes = burst_bytes / 1.0;
}

/// What the company of others takes of a figure, of what it is alone (Ware et al., HotNets 2019): a share, below zero where company
/// helps. `None` of nothing.
fn harm(alone: f64, with: f64, better: Better) -> Option<f64> {
    let (most, taken) = match better {
        Better::More => (alone, alone - with),
        Better::Less => (with, with - alone),
    };
    (most > 0.0).then(|| taken / most)
}

/// The same of a round trip with these waits beyond the path's, in per cent.
fn harm_in_delay(point: &Point, alone_us: Option<u64>, with_us: Option<u64>) -> Option<f64> {
    let path_us = point.usual_rtt().as_nanos() as f64 / 1e3;
    harm(path_us + alone_us? as f64, path_us + with_us? as f64, Better::Less).map(|harm| harm * 100.0)
}

/// Which way a figure is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Better {
    More,
    Less,
}

impl Measured {
    pub(crate) fn transfers(&self, _: &Point) -> Option<f64> {
        self.company?.applications.pieces.map(|pieces| pieces as f64)
    }

    pub(crate) fn unfinished_pct(&self, _: &Point) -> Option<f64> {
        let ApplicationResult { pieces, pieces_open, .. } = self.company?.applications;
        percent(pieces_open?, pieces? + pieces_open?)
    }

    pub(crate) fn pings_lost_pct(&self, _: &Point) -> Option<f64> {
        let found = self.company?.applications;
        percent(found.pings_lost?, found.pings?)
    }

    pub(crate) fn datagrams_lost_pct(&self, _: &Point) -> Option<f64> {
        let found = self.company?.applications;
        percent(found.datagrams_lost?, found.datagrams?)
    }

    pub(crate) fn harm_pct(&self, _: &Point) -> Option<f64> {
        let alone = self.company?.applications.alone_bytes?;
        harm(alone as f64, self.bytes as f64, Better::More).map(|harm| harm * 100.0)
    }

    pub(crate) fn harm_done_pct(&self, _: &Point) -> Option<f64> {
        let ApplicationResult { others_bytes, others_alone_bytes, .. } = self.company?.applications;
        harm(others_alone_bytes? as f64, others_bytes? as f64, Better::More).map(|harm| harm * 100.0)
    }

    pub(crate) fn each_mbps(&self, point: &Point) -> Option<f64> {
        self.per_flow(point, Some(self.bytes), true)
    }

    pub(crate) fn others_each_mbps(&self, point: &Point) -> Option<f64> {
        self.per_flow(point, self.company?.applications.others_bytes, false)
    }

    /// Mbit/s of a flow in the mean, of those that are the arm's or are not, if a mix says how many there are.
    fn per_flow(&self, point: &Point, bytes: Option<u64>, is_arm: bool) -> Option<f64> {
        point.company.mix?;
        let meant = point.company.groups.iter().filter(|group| group.sends_along() && group.is_arm() == is_arm);
        let flows: u32 = meant.map(|group| group.count).sum();
        let Window { from, until } = point.company.window;
        let us = until.saturating_sub(from).as_nanos() as f64 / 1e3;
        (flows > 0).then_some(bytes? as f64 * 8.0 / us / f64::from(flows))
    }

    pub(crate) fn harm_delay_pct(&self, point: &Point) -> Option<f64> {
        let found = self.company?.applications;
        harm_in_delay(point, found.arm_alone_wait_us, found.arm_wait_us)
    }

    pub(crate) fn harm_done_delay_pct(&self, point: &Point) -> Option<f64> {
        let found = self.company?.applications;
        harm_in_delay(point, found.others_alone_wait_us, found.others_wait_us)
    }

    pub(crate) fn harm_done_ping_pct(&self, point: &Point) -> Option<f64> {
        let found = self.company?.applications;
        harm_in_delay(point, found.ping_alone_p95_us, found.ping_p95_us)
    }
}

impl Measured {
    fn at_second(&self, of: impl Fn(SecondResult) -> u64) -> Option<f64> {
        Some(of(self.company?.second?) as f64)
    }

    pub(crate) fn second_utilisation(&self, _: &Point) -> Option<f64> {
        self.at_second(|second| second.use_ppm).map(|ppm| ppm / 1e6)
    }

    pub(crate) fn second_wait_p50_ms(&self, _: &Point) -> Option<f64> {
        self.at_second(|second| second.wait_p50_us).map(|us| us / 1e3)
    }

    pub(crate) fn second_wait_p95_ms(&self, _: &Point) -> Option<f64> {
        self.at_second(|second| second.wait_p95_us).map(|us| us / 1e3)
    }

    pub(crate) fn second_dropped(&self, _: &Point) -> Option<f64> {
        self.at_second(|second| second.dropped)
    }
}

fn percent(part: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| part as f64 * 100.0 / all as f64)
}

/// Makes a run with several flows. One in both orders is made twice, and only the first is observed and its flows kept.
///
/// # Errors
/// When the ends are not a profile, or a checker finds an error.
pub(crate) fn simulate<O: Observer>(
    spec: &RunSpec,
    observer: &mut O,
    kept: Option<&mut Kept>,
) -> Result<Measured, RunFailure> {
    let given = once(spec, Order::Given, observer, kept)?;
    match spec.point.company.orders {
        Orders::Given => Ok(given),
        Orders::Both => Ok(given.mean_with(&once(spec, Order::Reversed, &mut trace::Off, None)?)),
    }
}

fn once<O: Observer>(
    spec: &RunSpec,
    order: Order,
    observer: &mut O,
    kept: Option<&mut Kept>,
) -> Result<Measured, RunFailure> {
    let found = made(spec, flows(spec, order)?, observer, kept)?;
    let (company, is_arm) = (&spec.point.company, |group: usize| spec.point.company.groups[group].is_arm());
    if company.harm == Figure::Unknown || company.groups.iter().all(Group::is_arm) {
        return Ok(found);
    }
    let arm_alone = made(spec, flows(spec, order)?.without(|group| !is_arm(group)), &mut trace::Off, None)?;
    let others_alone = others(spec, flows(spec, order)?.without(is_arm))?;
    let mut company = found.company.unwrap_or_default();
    let found_apart = &mut company.applications;
    found_apart.alone_bytes = Some(arm_alone.bytes);
    found_apart.arm_alone_wait_us = arm_alone.company.and_then(|company| company.applications.arm_wait_us);
    found_apart.others_alone_bytes = others_alone.others_bytes.or(Some(0));
    found_apart.others_alone_wait_us = others_alone.others_wait_us;
    found_apart.ping_alone_p95_us = others_alone.ping_p95_us;
    Ok(Measured { packets: found.packets + arm_alone.packets, company: Some(company), ..found })
}

fn made<O: Observer>(
    spec: &RunSpec,
    flows: Flows,
    observer: &mut O,
    kept: Option<&mut Kept>,
) -> Result<Measured, RunFailure> {
    let groups = &spec.point.company.groups;
    let of_arm = |flow: usize| flows.group_of.get(flow).is_some_and(|group| groups[*group].is_arm());
    let made = startup::run((&flows.scenario, &spec.point), of_arm, observer);
    let (outcome, startup) = made.map_err(|failure| RunFailure(failure.to_string()))?;
    if let Some(kept) = kept {
        kept.note(&spec.point, &flows.group_of, &outcome);
    }
    Ok(Measured { startup, ..measured(spec, &flows, &outcome)? })
}

/// What others than the arm noticed, in a run without its flows.
fn others(spec: &RunSpec, flows: Flows) -> Result<ApplicationResult, RunFailure> {
    let outcome = sim::run(&flows.scenario, &mut trace::Off).map_err(|failure| RunFailure(failure.to_string()))?;
    let beside = beside(spec, &flows, &outcome);
    let mut found = shares(&spec.point, spec.seed, &beside, &outcome).1.applications;
    note_datagrams(&datagrams(spec, &flows, &outcome), &mut found);
    Ok(found)
}

/// Datagrams, each with its group.
fn datagrams<'o>(spec: &'o RunSpec, flows: &Flows, outcome: &'o Outcome) -> Vec<(&'o DatagramOutcome, &'o Group)> {
    let groups = &spec.point.company.groups;
    let all = outcome.datagrams.iter().zip(&flows.group_of_datagrams);
    all.map(|(outcome, group)| (outcome, &groups[*group])).collect()
}

/// The flows in the path's direction, each with its group.
fn beside<'o>(spec: &'o RunSpec, flows: &Flows, outcome: &'o Outcome) -> Vec<Beside<'o>> {
    let groups = &spec.point.company.groups;
    let all = outcome.flows.iter().zip(&flows.group_of).map(|(flow, group)| Beside { flow, group: &groups[*group] });
    all.filter(|beside| beside.group.direction == Direction::Forward).collect()
}

/// What the arm's flows in the path's direction got. Their counters are summed.
fn measured(spec: &RunSpec, flows: &Flows, outcome: &Outcome) -> Result<Measured, RunFailure> {
    let beside = beside(spec, flows, outcome);
    let (bytes, mut company) = shares(&spec.point, spec.seed, &beside, outcome);
    let (mut of_arm, mut of_others) = (Transfers::default(), Transfers::default());
    for one in &beside {
        let transfers = if one.group.is_arm() { &mut of_arm } else { &mut of_others };
        transfers.add(&spec.point, spec.seed, one.group, one.flow);
    }
    let transfers = if of_arm.is_empty() { of_others } else { of_arm };
    transfers.note(&mut company.applications);
    note_datagrams(&datagrams(spec, flows, outcome), &mut company.applications);
    let window = spec.point.company.window;
    let elapsed = window.until.saturating_sub(window.from);
    let nothing = || RunFailure("no flow of the arm got through".to_owned());
    let sum = sum_of_arm(&beside, elapsed).ok_or_else(nothing)?;
    let sum = Measured { bytes, packets: outcome.packets(), company: Some(company), ..sum };
    let sum = sum.with_path(&spec.point, spec.seed, &outcome.along());
    let ideal = ideal_of_arm(&spec.point, spec.seed, &beside).map(Duration::as_nanos);
    let sum = Measured { ideal_ns: ideal.or(sum.ideal_ns), ..sum };
    Ok(with_own_time(sum, (&spec.point, &flows.scenario.client_pauses), spec.seed, &beside))
}

/// The counters of the arm's flows together; `None` if none is known. A flow that did not get through has counted nothing.
pub(crate) fn sum_of_arm(beside: &[Beside<'_>], elapsed: Duration) -> Option<Measured> {
    let of_arm = beside.iter().filter(|one| one.group.is_arm());
    let known = of_arm.filter_map(|one| one.flow.sender.info.zip(one.flow.receiver.info));
    let each = known.map(|(sender, receiver)| Measured::of_profile(0, elapsed, &sender, &receiver));
    each.reduce(|sum, one| sum.plus(&one))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the paper's §3: throughput that falls from 10 to 4, a delay that grows from 20 ms to 80 ms.
    #[test]
    fn harm_is_what_company_takes() {
        assert_eq!(harm(10.0, 4.0, Better::More), Some(0.6));
        assert_eq!(harm(20.0, 80.0, Better::Less), Some(0.75));
        assert_eq!(harm(4.0, 5.0, Better::More), Some(-0.25), "company can help");
        assert_eq!(harm(0.0, 0.0, Better::More), None);
    }
}
