//! From an experiment to the list of its runs.

use crate::plan::arm::{Arm, arms};
use crate::plan::identity::{RunName, digest, made_by, seed};
use crate::plan::sweep::{self, Cell};
use crate::spec::{Ends, Experiment, GroupProfile, ManagedQueue, Point, Primary, Refusal, UsageError};
use core::ops::RangeInclusive;
use profiles::units;
use std::sync::Arc;

/// All runs of an experiment.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What is compared.
    pub experiment: Experiment,
    /// In the order of the sweep.
    pub cells: Vec<Cell>,
    /// The reference first.
    pub arms: Vec<Arm>,
    /// By cell, then iteration, then arm.
    pub runs: Vec<RunSpec>,
    /// What makes the runs, if not the simulator.
    pub made_by: Option<String>,
    /// Whether to make runs that cannot differ only once.
    pub once: bool,
    /// What arms are compared by.
    pub primary: Primary,
    /// Whether runs are added until each cell is decided, so that intervals have to hold at every look.
    pub until_decided: bool,
}

/// One arm in one cell with one seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSpec {
    /// Index of the cell.
    pub cell: usize,
    /// Index of the arm.
    pub arm: usize,
    /// Counted from one.
    pub iteration: u32,
    /// The seed of every random stream of the run.
    pub seed: u64,
    /// The network and the flow: the same for all runs of a cell.
    pub point: Arc<Point>,
    /// The same without disturbance, if the run is compared with that.
    pub twin: Option<Arc<Point>>,
    /// Both ends.
    pub ends: Arc<Ends>,
    /// Digest of network, flow, both ends and what makes the runs: with the seed and the version it determines the result, apart
    /// from the machine's influence.
    pub digest: String,
}

impl RunSpec {
    /// Returns the same run without disturbance, if it is compared with that.
    pub fn of_twin(&self) -> Option<Self> {
        Some(Self { point: Arc::clone(self.twin.as_ref()?), twin: None, ..self.clone() })
    }
}

impl Plan {
    /// Unfolds an experiment.
    ///
    /// # Errors
    /// If the values of a cell or of an arm do not fit together.
    pub fn new(experiment: Experiment) -> Result<Self, UsageError> {
        let mut cells = sweep::cells(&experiment);
        cells.iter_mut().try_for_each(divide)?;
        buffers_matter(&experiment, &cells)?;
        let arms = arms(&experiment.arms);
        let iterations = 1..=experiment.iterations;
        let (primary, until_decided) = (Primary::default(), false);
        let mut plan =
            Self { experiment, cells, arms, runs: Vec::new(), made_by: None, once: false, primary, until_decided };
        for cell in 0..plan.cells.len() {
            check(&plan.cells[cell])?;
            plan.runs.extend(plan.runs_of(cell, iterations.clone())?);
        }
        Ok(plan)
    }

    /// Unfolds the runs of a cell: by iteration, then arm.
    fn runs_of(&self, cell: usize, iterations: RangeInclusive<u32>) -> Result<Vec<RunSpec>, UsageError> {
        let place = &self.cells[cell];
        let (point, twin) = (Arc::new(place.point.clone()), place.twin.clone().map(Arc::from));
        let with_digest = |arm: &Arm| {
            let ends = configure(arm, place)?;
            let own = digest(&place.point, place.twin.as_deref(), &ends);
            let digest = self.made_by.as_ref().map_or(own.clone(), |maker| made_by(&own, maker));
            Ok((Arc::new(ends), digest))
        };
        let ends: Vec<(Arc<Ends>, String)> = self.arms.iter().map(with_digest).collect::<Result<_, UsageError>>()?;
        let run = |iteration, arm: usize| RunSpec {
            cell,
            arm,
            iteration,
            seed: seed(self.experiment.seed, &place.point, self.arms[arm].ordinal, iteration),
            point: Arc::clone(&point),
            twin: twin.clone(),
            ends: Arc::clone(&ends[arm].0),
            digest: ends[arm].1.clone(),
        };
        Ok(iterations
            .flat_map(|iteration| (0..ends.len()).map(move |arm| (iteration, arm)))
            .map(|(i, arm)| run(i, arm))
            .collect())
    }

    /// Returns the same plan with only the named iterations of some cells, for runs that are added later.
    pub(crate) fn more(&self, of: &[(usize, RangeInclusive<u32>)]) -> Self {
        let runs_of = |(cell, iterations): &(usize, RangeInclusive<u32>)| {
            self.runs_of(*cell, iterations.clone()).expect("the plan was unfolded with this cell")
        };
        Self { runs: of.iter().flat_map(runs_of).collect(), ..self.without_runs() }
    }

    pub(super) fn without_runs(&self) -> Self {
        Self {
            experiment: self.experiment.clone(),
            cells: self.cells.clone(),
            arms: self.arms.clone(),
            runs: Vec::new(),
            made_by: self.made_by.clone(),
            ..*self
        }
    }

    /// Notes that the simulator does not make the runs, so that their results are kept apart.
    #[must_use]
    pub fn made_by(mut self, maker: String) -> Self {
        for run in &mut self.runs {
            run.digest = made_by(&run.digest, &maker);
        }
        self.made_by = Some(maker);
        self
    }

    /// Returns the run of an arm in a cell, if it is planned.
    pub fn run(&self, cell: usize, arm: usize, iteration: u32) -> Option<&RunSpec> {
        let at = self.runs.binary_search_by_key(&(cell, iteration, arm), |run| (run.cell, run.iteration, run.arm));
        Some(&self.runs[at.ok()?])
    }

    /// Returns the ends of an arm's runs in a cell.
    ///
    /// # Panics
    /// When the plan has no such cell or arm.
    pub fn ends(&self, cell: usize, arm: usize) -> Ends {
        configure(&self.arms[arm], &self.cells[cell]).expect("the plan was unfolded with it")
    }

    /// Keeps one run of each arm in cells where the seed has no effect: in the simulator all would be equal.
    #[must_use]
    pub fn without_repetitions(mut self) -> Self {
        self.once = true;
        let cells = &self.cells;
        self.runs.retain(|run| run.iteration == 1 || cells[run.cell].point.is_drawn());
        self
    }

    /// Returns whether a cell's runs cannot differ, so that one of each arm is made.
    pub fn is_once(&self, cell: usize) -> bool {
        self.once && !self.cells[cell].point.is_drawn()
    }

    /// Checks whether the simulator can make the runs.
    ///
    /// # Errors
    /// Names the arm or the flows that it cannot simulate, and the remedy.
    pub fn can_be_simulated(&self) -> Result<(), UsageError> {
        let mut groups = self.cells.iter().flat_map(|cell| &cell.point.company.groups);
        if let Some(group) = groups.find(|group| matches!(group.profile, GroupProfile::Kernel(_))) {
            return Err(UsageError {
                place: "flow.company".to_owned(),
                problem: format!("only profiles can be simulated, not `{group}`"),
                remedy: "name a profile, such as `linux`, or make the runs in real time with `--backend netns`"
                    .to_owned(),
            });
        }
        let Some(arm) = self.arms.iter().find(|arm| arm.spec.profile().is_none()) else { return Ok(()) };
        Err(UsageError {
            place: format!("arm {}", arm.label),
            problem: "only profiles can be simulated".to_owned(),
            remedy: "make the runs in real time with `--backend netns`".to_owned(),
        })
    }

    /// Keeps one run only.
    ///
    /// # Errors
    /// When the plan has no such run.
    pub fn keep_only(&mut self, name: &RunName) -> Result<(), UsageError> {
        let arm = self.arms.iter().position(|arm| arm.label == name.arm);
        let wanted =
            |run: &RunSpec| run.cell + 1 == name.cell && Some(run.arm) == arm && run.iteration == name.iteration;
        if !self.runs.iter().any(wanted) {
            let labels: Vec<&str> = self.arms.iter().map(|arm| arm.label.as_str()).collect();
            let once = (1..=self.cells.len()).contains(&name.cell) && self.is_once(name.cell - 1);
            return Err(UsageError {
                place: format!("--run {name}"),
                problem: "no such run".to_owned(),
                remedy: format!(
                    "cells are 1 to {}, arms {}, iterations 1 to {}",
                    self.cells.len(),
                    labels.join(", "),
                    if once { 1 } else { self.experiment.iterations }
                ),
            });
        }
        self.runs.retain(wanted);
        Ok(())
    }

    /// Returns the name of a run.
    pub fn name_of(&self, run: &RunSpec) -> RunName {
        RunName { cell: run.cell + 1, arm: self.arms[run.arm].label.clone(), iteration: run.iteration }
    }
}

/// Gives the arm its part of the flows.
fn divide(cell: &mut Cell) -> Result<(), UsageError> {
    let points = core::iter::once(&mut cell.point).chain(cell.twin.as_deref_mut());
    for point in points {
        let Some(share) = point.company.mix else { continue };
        let place = |refusal: Refusal| refusal.at(format!("flow.mix={}", units::show_percent(share)));
        point.company.divide().map_err(place)?;
    }
    Ok(())
}

/// Refuses a sweep of buffers that have no effect, which would make equal cells that look different.
fn buffers_matter(experiment: &Experiment, cells: &[Cell]) -> Result<(), UsageError> {
    type QueueOf = fn(&Point) -> Option<ManagedQueue>;
    let there: QueueOf = |point| point.queue;
    let back: QueueOf = |point| point.life.back.queue.managed(point.queue);
    let second: QueueOf = |point| point.life.second.queue;
    for (way, queue) in [("path", there), ("path.back", back), ("path.second", second)] {
        let axis = experiment.sweep.iter().find(|axis| axis.key == format!("{way}.buffer") && axis.values.len() > 1);
        let without_effect = || cells.iter().find_map(|cell| Some((cell, queue(&cell.point)?)));
        let Some((axis, (cell, queue))) = axis.zip(without_effect()) else { continue };
        let (title, word, value) = (cell.title(), queue.word(), &axis.values[0]);
        return Err(UsageError {
            place: format!("{}={}", axis.key, axis.values.join(",")),
            problem: format!("has no effect behind `{way}.queue={queue}`, in the cell {title}: cells would be equal"),
            remedy: format!(
                "sweep the queue's own room, `{way}.queue={word} limit={value}` and so on, or take one value, or drop-tail queues alone"
            ),
        });
    }
    Ok(())
}

fn check(cell: &Cell) -> Result<(), UsageError> {
    let place = || match cell.point.drops.is_empty() {
        false => format!("path.drop={}", cell.point.drops),
        true => format!("in {}", cell.title()),
    };
    cell.point.check().map_err(|refusal| refusal.at(place()))
}

fn configure(arm: &Arm, cell: &Cell) -> Result<Ends, UsageError> {
    arm.spec.ends(&cell.leaves_of(&arm.spec.name)).map_err(|error| UsageError {
        place: format!("arm {}", arm.label),
        problem: error.to_string(),
        remedy: {
            let profile = arm.spec.profile().map_or("rfc", |profile| profile.name.as_str());
            format!("change one of them; `longhaul profiles {profile}` shows the others")
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::difference::from_root;
    use crate::spec;
    use crate::spec::Overrides;

    fn plan(arms: &[&str], set: &[&str]) -> Result<Plan, String> {
        let mut experiment = spec::builtin("wan").unwrap();
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let overrides = Overrides { arms: texts(arms), set: texts(set), iterations: Some(2), ..Overrides::default() };
        experiment.apply(&overrides).map_err(|error| error.to_string())?;
        Plan::new(experiment).map_err(|error| error.to_string())
    }

    #[test]
    fn a_sweep_of_buffers_behind_a_queue_with_its_own_room_is_refused() {
        let refused = |set: &[&str]| plan(&["rfc"], set).unwrap_err();
        let sweep = "path.buffer=0.5bdp,2bdp";
        let message = refused(&["path.queue=codel", sweep]);
        assert!(message.starts_with("path.buffer=0.5bdp,2bdp: has no effect behind `path.queue=codel`"), "{message}");
        assert!(message.contains("`path.queue=codel limit=0.5bdp`"), "{message}");
        assert!(
            refused(&["path.queue=droptail,pie", sweep]).contains("behind `path.queue=pie`"),
            "a part of the cells"
        );
        let back = ["path.back.rate=1Mbit", "path.back.queue=fq_codel", "path.back.buffer=10pkt,20pkt"];
        assert!(refused(&back).starts_with("path.back.buffer=10pkt,20pkt: "));
        for fine in [&[sweep][..], &["path.queue=codel", "path.buffer=2bdp"], &["path.queue=codel limit=1bdp,codel"]] {
            assert!(plan(&["rfc"], fine).is_ok(), "{fine:?}");
        }
    }

    #[test]
    fn arms_of_a_cell_share_seeds_and_a_repeated_arm_does_not() {
        let plan = plan(&["rfc", "longhaul", "rfc"], &["path.rtt=25ms", "flow.bytes=1MB"]).unwrap();
        let seeds: Vec<u64> = plan.runs.iter().map(|run| run.seed).collect();
        assert_eq!(seeds.len(), 6);
        assert_eq!(seeds[0], seeds[1]);
        assert!(seeds[2] != seeds[0] && seeds[3] != seeds[0] && seeds[3] == seeds[4]);
        assert_eq!(plan.runs[0].digest, plan.runs[2].digest);
        assert_ne!(plan.runs[0].digest, plan.runs[1].digest);
    }

    #[test]
    fn narrowing_a_sweep_keeps_the_runs_of_what_remains() {
        let (wide, narrow) = (plan(&[], &[]).unwrap(), plan(&[], &["path.rtt=200ms", "flow.bytes=128MB"]).unwrap());
        let last: Vec<(u64, &str)> =
            wide.runs.iter().filter(|run| run.cell == 7).map(|run| (run.seed, run.digest.as_str())).collect();
        let only: Vec<(u64, &str)> = narrow.runs.iter().map(|run| (run.seed, run.digest.as_str())).collect();
        assert_eq!(last, only);
    }

    #[test]
    fn a_run_is_found_by_its_name() {
        let mut plan = plan(&["rfc", "rfc"], &[]).unwrap();
        let names: Vec<RunName> = plan.runs.iter().map(|run| plan.name_of(run)).collect();
        let wanted: RunName = "3/rfc#2/1".parse().unwrap();
        assert_eq!(names.iter().filter(|name| **name == wanted).count(), 1);
        plan.keep_only(&wanted).unwrap();
        assert_eq!(plan.runs.len(), 1);
        assert_eq!(plan.name_of(&plan.runs[0]), wanted);
        let error = plan.keep_only(&"9/rfc/1".parse().unwrap()).unwrap_err().to_string();
        assert_eq!(error, "--run 9/rfc/1: no such run; cells are 1 to 8, arms rfc, rfc#2, iterations 1 to 2");
        assert!(
            "x/rfc/1".parse::<RunName>().is_err()
                && "1/rfc".parse::<RunName>().is_err()
                && "0/rfc/1".parse::<RunName>().is_err()
        );
    }

    #[test]
    fn values_that_do_not_fit_together_are_refused_by_arm() {
        let error = plan(&[], &["longhaul.rto.min=30s,200ms"]).unwrap_err();
        assert!(
            error.starts_with("arm longhaul: rto.initial: must lie between rto.min and rto.max; change one of them"),
            "{error}"
        );
    }

    #[test]
    fn a_place_beyond_the_end_of_a_flow_is_refused_by_cell() {
        let refused = |set: &[&str]| plan(&[], set).unwrap_err();
        assert_eq!(
            refused(&["path.drop=1MB x2", "flow.bytes=2MB,500kB"]),
            "path.drop=1MB x2: a flow of 500kB does not reach `1MB x2`; name a place before its end"
        );
        assert_eq!(
            refused(&["path.second.rtt=20ms", "path.rtt=25ms,50ms"]),
            "in path.rtt=25ms flow.bytes=32MB: the second bottleneck has a delay, a buffer or a queue, and no rate; set `path.second.rate` too, for example to `10Mbit`"
        );
        assert_eq!(
            refused(&["path.drop=last 3", "flow.seconds=2"]),
            "path.drop=last 3: it is not known where a timed flow ends; give it `flow.bytes`"
        );
    }

    #[test]
    fn only_profiles_can_be_simulated() {
        plan(&["longhaul"], &[]).unwrap().can_be_simulated().unwrap();
        let error = plan(&["longhaul", "kernel:bbr"], &[]).unwrap().can_be_simulated().unwrap_err().to_string();
        assert_eq!(
            error,
            "arm kernel:bbr: only profiles can be simulated; make the runs in real time with `--backend netns`"
        );
    }

    #[test]
    fn only_profiles_can_be_simulated_beside_the_arm() {
        let set = ["flow.company=arm + linux,arm + kernel:cubic"];
        let error = plan(&["longhaul"], &set).unwrap().can_be_simulated().unwrap_err().to_string();
        assert!(error.starts_with("flow.company: only profiles can be simulated, not `kernel:cubic x1`"), "{error}");
        assert!(error.ends_with("make the runs in real time with `--backend netns`"), "{error}");
    }

    #[test]
    fn what_makes_the_runs_decides_about_results_and_not_about_seeds() {
        let plan = plan(&["rfc", "kernel:bbr", "kernel:cubic"], &["path.rtt=25ms", "flow.bytes=1MB"]).unwrap();
        let elsewhere = plan.clone().made_by("somebody".to_owned());
        let mut digests: Vec<&str> =
            plan.runs[..3].iter().chain(&elsewhere.runs[..3]).map(|run| run.digest.as_str()).collect();
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), 6);
        assert!(plan.runs.iter().zip(&elsewhere.runs).all(|(one, other)| one.seed == other.seed));
        assert_eq!(
            from_root(&plan.runs[1].ends).into_iter().collect::<Vec<_>>(),
            [("kernel".to_owned(), "bbr".to_owned())]
        );
    }

    #[test]
    fn only_what_differs_from_the_root_is_listed() {
        let plan = plan(&["rfc", "longhaul"], &[]).unwrap();
        assert!(from_root(&plan.runs[0].ends).is_empty());
        assert_eq!(from_root(&plan.runs[1].ends).get("rto.min").map(String::as_str), Some("200ms"));
    }
}
