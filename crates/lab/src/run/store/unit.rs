//! Units of work: runs of a plan that go to disk together, cut from the plan alone.

use crate::plan::{Plan, RunSpec};
use crate::run::Made;
use crate::run::ideal::{IDEAL_PACKET, IDEAL_PAYLOAD};
use crate::spec::{Figure, Flow, Orders, Point};
use base::{Duration, Rate};
use core::ops::Range;
use std::collections::BTreeMap;

/// Packets that the runs of a unit offer to the path, as foreseen: the simulator makes them in a few seconds.
const PACKETS: u64 = 1_000_000;
/// Packets as which the shortest run counts: it takes some work, however little it sends.
const FEWEST: u64 = 200;

/// Returns how many packets a run will offer to the path, as far as its cell says so.
fn foreseen(point: &Point) -> u64 {
    let full = |rate: Rate, span: Duration| rate.bytes_in(span) / IDEAL_PACKET;
    let data = match (&point.company, point.flow) {
        (company, _) if !company.is_empty() => {
            let orders = 1 + u64::from(company.orders == Orders::Both);
            let twins = 1 + 2 * u64::from(company.harm == Figure::Measured);
            full(point.usual_rate(), company.window.until) * orders * twins
        }
        (_, Flow::Bytes(bytes)) => bytes.div_ceil(IDEAL_PAYLOAD) * (1 + u64::from(!point.drops.is_empty())),
        (_, Flow::Seconds(span)) => full(point.usual_rate(), span),
    };
    // Every other packet of data is acknowledged.
    (data + data / 2).max(FEWEST)
}

fn foreseen_of(run: &RunSpec) -> u64 {
    foreseen(&run.point) + run.twin.as_deref().map_or(0, foreseen)
}

/// Cuts a plan into units: whole seeds, with all arms, in the plan's order, until there is enough work. Runs in real time take longer
/// than any loss of them should, so that each seed is a unit.
pub(super) fn cut(plan: &Plan) -> Vec<Range<usize>> {
    let most = if plan.made_by.is_some() { 0 } else { PACKETS };
    let mut units: Vec<Range<usize>> = Vec::new();
    let (mut work, mut first) = (0, 0);
    for seed in plan.runs.chunk_by(|one, next| (one.cell, one.iteration) == (next.cell, next.iteration)) {
        let (own, end) = (seed.iter().map(foreseen_of).sum::<u64>(), first + seed.len());
        match units.last_mut().filter(|_| work + own <= most) {
            Some(unit) => unit.end = end,
            None => {
                units.push(first..end);
                work = 0;
            }
        }
        work += own;
        first = end;
    }
    units
}

/// The units under way.
#[derive(Debug)]
pub(crate) struct Units {
    /// By the place in the plan at which they begin.
    open: BTreeMap<usize, Unit>,
}

/// A unit that is being made.
#[derive(Debug, Default)]
pub(crate) struct Unit {
    /// The runs to make, by their place in the plan.
    pub(crate) runs: Vec<usize>,
    /// What came of them, in order of arrival; nothing of those that failed.
    made: BTreeMap<usize, Made>,
    left: usize,
}

impl Unit {
    /// A unit that was made as a whole.
    pub(crate) fn whole(runs: &[usize], made: BTreeMap<usize, Made>) -> Self {
        Self { runs: runs.to_vec(), made, left: 0 }
    }

    /// Returns the runs that succeeded, in the order of the plan.
    pub(crate) fn made(&self) -> impl Iterator<Item = (usize, &Made)> {
        self.made.iter().map(|(index, made)| (*index, made))
    }
}

impl Units {
    /// Prepares the units of a plan in which these runs are to be made.
    pub(crate) fn of(plan: &Plan, to_make: &[usize]) -> Self {
        let mut rest = to_make;
        let mut open = BTreeMap::new();
        for unit in cut(plan) {
            let (own, others) = rest.split_at(rest.partition_point(|index| *index < unit.end));
            rest = others;
            if !own.is_empty() {
                open.insert(unit.start, Unit { runs: own.to_vec(), made: BTreeMap::new(), left: own.len() });
            }
        }
        Self { open }
    }

    /// Returns the runs of each unit.
    pub(super) fn runs(self) -> impl Iterator<Item = Vec<usize>> {
        self.open.into_values().map(|unit| unit.runs)
    }

    /// Notes what came of a run, and returns its unit if that was the last one.
    pub(crate) fn done(&mut self, index: usize, made: Option<Made>) -> Option<Unit> {
        let found = self.open.range_mut(..=index).next_back();
        let (&first, unit) = found.expect("a run that is made belongs to a unit");
        unit.made.extend(made.map(|made| (index, made)));
        unit.left -= 1;
        if unit.left > 0 { None } else { self.open.remove(&first) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{self, Overrides};
    use test_case::test_case;

    fn plan(experiment: &str, set: &[&str], iterations: u32) -> Plan {
        let mut experiment = spec::builtin(experiment).unwrap();
        let set = set.iter().map(|text| (*text).to_owned()).collect();
        experiment.apply(&Overrides { set, iterations: Some(iterations), ..Overrides::default() }).unwrap();
        Plan::new(experiment).unwrap()
    }

    #[test_case("wan", 40; "large transfers")]
    #[test_case("short-flows", 3; "company")]
    #[test_case("tail-loss", 70; "twins")]
    fn units_are_whole_seeds_and_leave_no_run_out(experiment: &str, iterations: u32) {
        let plan = plan(experiment, &[], iterations);
        let units = cut(&plan);
        assert_eq!((units[0].start, units.last().unwrap().end), (0, plan.runs.len()));
        for pair in units.windows(2) {
            assert_eq!(pair[0].end, pair[1].start);
            let [last, first] =
                [pair[0].end - 1, pair[1].start].map(|at| (plan.runs[at].cell, plan.runs[at].iteration));
            assert_ne!(last, first, "a seed was split");
        }
        assert!(units.len() > 1, "{} runs in one unit", plan.runs.len());
    }

    #[test]
    fn a_unit_holds_as_much_work_as_fits_and_one_seed_at_least() {
        let small = plan("wan", &["flow.bytes=1MB"], 100);
        // 685 packets of data and half as many acknowledgements, for each arm.
        let seed = 1_027 * small.arms.len();
        let units = cut(&small);
        assert_eq!(units[0].len(), PACKETS as usize / seed * small.arms.len());
        let large = plan("wan", &["flow.bytes=2GB"], 2);
        assert!(cut(&large).iter().all(|unit| unit.len() == large.arms.len()));
        let tiny = plan("wan", &["flow.bytes=1B"], 10);
        assert_eq!(cut(&tiny)[0].len(), tiny.runs.len(), "few runs of one packet are one unit");
    }

    #[test]
    fn in_real_time_each_seed_is_a_unit() {
        let plan = plan("wan", &["flow.bytes=1MB"], 3).made_by("a device".to_owned());
        assert!(cut(&plan).iter().all(|unit| unit.len() == plan.arms.len()));
    }

    #[test]
    fn a_unit_is_complete_with_its_last_run_whatever_the_order() {
        let plan = plan("wan", &["flow.bytes=200MB"], 3);
        let units = cut(&plan);
        let second = units[1].clone();
        let to_make: Vec<usize> = (1..plan.runs.len()).collect();
        let mut open = Units::of(&plan, &to_make);
        for index in second.clone().rev().take(second.len() - 1) {
            assert!(open.done(index, Some(Made::default())).is_none());
        }
        let unit = open.done(second.start, None).unwrap();
        assert_eq!(unit.runs, second.clone().collect::<Vec<_>>());
        assert_eq!(
            unit.made().map(|(index, _)| index).collect::<Vec<_>>(),
            (second.start + 1..second.end).collect::<Vec<_>>()
        );
        let rest: Vec<usize> = (1..units[0].end).collect();
        let last = rest.iter().filter_map(|index| open.done(*index, None)).next().unwrap();
        assert_eq!(last.runs, rest, "what was known before is not made again");
    }
}
