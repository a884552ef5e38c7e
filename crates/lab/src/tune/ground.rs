//! Where settings are tried: cells of experiments that may be looked at while something is tuned.

use crate::plan::Plan;
use crate::spec::{self, ArmKind, ArmSpec, CellChoice, Experiment, Overrides, Point, Refusal, Role, UsageError};
use crate::tune::setting::Setting;
use profiles::Profile;
use std::sync::Arc;

/// Experiments, prepared for settings of one profile.
#[derive(Clone, Debug)]
pub struct Ground {
    experiments: Vec<Experiment>,
    places: Vec<Place>,
}

/// A cell of the ground.
#[derive(Clone, Debug)]
pub struct Place {
    /// Name of the experiment.
    pub experiment: String,
    /// The cell's values.
    pub cell: String,
    /// The network and the flow.
    pub point: Point,
    /// Its part of the objective; all parts make one. Experiments weigh the same, and so do the cells of one.
    pub weight: f64,
    /// Whether all runs of a setting are equal here, so that one is made.
    pub once: bool,
}

/// An experiment of the ground that is taken unless others are named, and what is changed in it.
type Part = (&'static str, &'static [&'static str]);

/// What a default has to survive: hosts and links that differ from the clean model, starts, reordering both ways, jitter, lost
/// retransmissions and tails, random loss, and a neighbour, behind managed queues, too. Narrower than the experiments, so that a setting
/// costs seconds.
pub const TRAIN: [Part; 12] = [
    ("robust", &[]),
    ("slow-start", &["path.rtt=10ms,100ms,600ms", "flow.bytes=100kB,4MB"]),
    ("reorder", &["flow.bytes=32MB"]),
    ("reorder-early", &["flow.bytes=32MB"]),
    ("nic-reorder", &[]),
    ("lan-reorder", &[]),
    ("jitter", &[]),
    ("lost-retransmit", &[]),
    ("wan", &["path.loss=0.01%,0.1%,1%", "flow.bytes=8MB"]),
    ("tail-loss", &[]),
    ("fairness", &["flow.company=arm start=0s..4s + linux start=0s..4s", "flow.window=20s..60s"]),
    ("aqm", &["path.queue=codel,pie,dualpi2", "path.rtt=50ms", "flow.company=arm start=0s..4s + linux start=0s..4s"]),
];

/// The path that `--set` changes when no experiment is named: that of `wan`, without its sweep.
pub const OWN_PATH: &str = "path";

impl Ground {
    /// Prepares experiments: the cells for tuning, without twins, with these runs a cell, on seeds from `seed`.
    ///
    /// # Errors
    /// If `seed` is that of an experiment, which judges.
    pub fn new(experiments: Vec<Experiment>, iterations: u32, seed: u64) -> Result<Self, UsageError> {
        let mut ground = Self { experiments: Vec::new(), places: Vec::new() };
        let parts = experiments.len() as f64;
        for mut experiment in experiments {
            if experiment.seed == seed {
                let problem = format!("with this seed `{}` judges what was tuned", experiment.name);
                return Err(Refusal::of_value(problem, "take another").at(format!("--seed {seed}")));
            }
            (experiment.seed, experiment.iterations) = (seed, iterations);
            for cell in &mut experiment.cells {
                // The objective needs no twins.
                let disturbance = core::mem::take(&mut cell.disturb);
                cell.base.extend(disturbance);
            }
            let reference = ArmSpec::of_builtin("rfc").expect("the root is built in");
            let plan = plan(&experiment, vec![reference])?;
            plan.can_be_simulated()?;
            let weight = 1.0 / parts / plan.cells.len() as f64;
            ground.places.extend(plan.cells.iter().enumerate().map(|(index, cell)| Place {
                experiment: experiment.name.clone(),
                cell: cell.values(),
                point: cell.point.clone(),
                weight,
                once: plan.is_once(index),
            }));
            ground.experiments.push(experiment);
        }
        Ok(ground)
    }

    /// The experiments that are taken unless others are named.
    ///
    /// # Errors
    /// If a change does not fit; a test excludes this.
    pub fn train() -> Result<Vec<Experiment>, UsageError> {
        TRAIN
            .iter()
            .map(|(name, set)| changed(builtin(name), set.iter().map(|set| (*set).to_owned()).collect()))
            .collect()
    }

    /// One path: that of `wan`, changed by `set`.
    ///
    /// # Errors
    /// If a change does not fit.
    pub fn path(set: Vec<String>) -> Result<Vec<Experiment>, UsageError> {
        let mut experiment = builtin("wan");
        OWN_PATH.clone_into(&mut experiment.name);
        experiment.sweep.clear();
        experiment.point.flow = spec::Flow::Bytes(8_000_000);
        changed(experiment, set).map(|experiment| vec![experiment])
    }

    /// Changes an experiment as the command line does, and keeps its cells for tuning.
    ///
    /// # Errors
    /// If a change does not fit.
    pub fn changed(experiment: Experiment, set: Vec<String>) -> Result<Experiment, UsageError> {
        changed(experiment, set)
    }

    /// The cells, experiment by experiment.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// The names of the experiments, in order.
    pub fn names(&self) -> Vec<&str> {
        self.experiments.iter().map(|experiment| experiment.name.as_str()).collect()
    }

    /// Returns how many runs a setting takes.
    pub fn runs(&self) -> usize {
        let iterations = self.experiments.first().map_or(0, |experiment| experiment.iterations as usize);
        self.places.iter().map(|place| if place.once { 1 } else { iterations }).sum()
    }

    /// The plans of arms, experiment by experiment.
    ///
    /// # Errors
    /// If a setting does not fit the profile.
    pub(crate) fn plans(&self, arms: &[(Arc<Profile>, Setting)]) -> Result<Vec<Plan>, UsageError> {
        let arms: Vec<ArmSpec> = arms.iter().map(|(profile, setting)| arm(profile, setting)).collect();
        self.experiments.iter().map(|experiment| plan(experiment, arms.clone())).collect()
    }
}

fn builtin(name: &str) -> Experiment {
    spec::builtin(name).expect("the ground names built-in experiments")
}

fn changed(mut experiment: Experiment, set: Vec<String>) -> Result<Experiment, UsageError> {
    let cells = CellChoice::Of(Role::Train);
    experiment.apply(&Overrides { set, cells, ..Overrides::default() })?;
    Ok(experiment)
}

fn plan(experiment: &Experiment, arms: Vec<ArmSpec>) -> Result<Plan, UsageError> {
    let mut experiment = experiment.clone();
    experiment.take_arms(arms);
    Plan::new(experiment).map(Plan::without_repetitions)
}

fn arm(profile: &Arc<Profile>, setting: &Setting) -> ArmSpec {
    let name = if setting.is_empty() { profile.name.clone() } else { format!("{} {setting}", profile.name) };
    let kind = ArmKind::Profile { profile: Arc::clone(profile), set: setting.overrides(), controller: None };
    ArmSpec { name, kind }
}
