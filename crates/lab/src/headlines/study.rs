//! The runs for judging claims: an experiment of the catalogue, with different arms.

use crate::plan::Plan;
use crate::run::stale_sacks::StaleSackBackend;
use crate::spec::{self, ArmKind, ArmSpec, Overrides, UsageError};

/// An experiment and what is changed in it.
#[derive(Clone, Copy, Debug)]
pub struct Study {
    /// Unique.
    pub name: &'static str,
    /// A built-in experiment.
    pub experiment: &'static str,
    /// Replaces the experiment's arms.
    pub arms: &'static [StudyArm],
    /// `KEY=VALUE`, as on the command line.
    pub set: &'static [&'static str],
    /// Runs of each arm in each cell.
    pub iterations: u32,
    /// Whether a run needs more than its counters.
    pub watch: Watch,
}

/// What to observe in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// Its counters suffice.
    Nothing,
    /// SACKs that report nothing new.
    StaleSacks,
}

/// A profile, with some of its leaves changed.
#[derive(Clone, Copy, Debug)]
pub struct StudyArm {
    /// Its name in estimates.
    pub name: &'static str,
    /// A built-in profile.
    pub profile: &'static str,
    /// Leaf and value.
    pub set: &'static [(&'static str, &'static str)],
}

impl StudyArm {
    /// A profile as it is.
    pub const fn profile(name: &'static str) -> Self {
        Self { name, profile: name, set: &[] }
    }

    /// A profile with leaves changed.
    pub const fn with(name: &'static str, profile: &'static str, set: &'static [(&'static str, &'static str)]) -> Self {
        Self { name, profile, set }
    }

    /// # Panics
    /// When no such profile exists.
    pub(super) fn spec(&self) -> ArmSpec {
        let mut spec = ArmSpec::of_builtin(self.profile).expect("studies name built-in profiles");
        spec.name = self.name.to_owned();
        if let ArmKind::Profile { set, .. } = &mut spec.kind {
            set.extend(self.set.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())));
        }
        spec
    }
}

impl Study {
    /// Creates a study of an unchanged experiment, except for the arms: ten runs per arm and cell.
    pub const fn of(name: &'static str, experiment: &'static str, arms: &'static [StudyArm]) -> Self {
        Self { name, experiment, arms, set: &[], iterations: 10, watch: Watch::Nothing }
    }

    /// Unfolds the study into its runs.
    ///
    /// # Errors
    /// If a change does not fit; a test excludes this for the built-in studies.
    pub fn plan(&self) -> Result<Plan, UsageError> {
        self.plan_of(self.experiment, self.arms.iter().map(StudyArm::spec).collect(), Vec::new(), self.iterations)
    }

    /// Unfolds the study with other arms, another experiment in place of its own, and more changes behind the study's.
    ///
    /// # Errors
    /// If a change does not fit.
    pub(super) fn plan_of(
        &self,
        experiment: &str,
        arms: Vec<ArmSpec>,
        more: Vec<String>,
        iterations: u32,
    ) -> Result<Plan, UsageError> {
        let mut experiment = spec::builtin(experiment).ok_or_else(|| UsageError {
            place: format!("study {}", self.name),
            problem: format!("unknown experiment `{experiment}`"),
            remedy: "name a built-in one".to_owned(),
        })?;
        experiment.take_arms(arms);
        let set = self.set.iter().map(|set| (*set).to_owned()).chain(more).collect();
        experiment.apply(&Overrides { set, iterations: Some(iterations), ..Overrides::default() })?;
        let plan = Plan::new(experiment)?;
        Ok(match self.watch {
            Watch::Nothing => plan,
            Watch::StaleSacks => plan.made_by(StaleSackBackend::MAKER.to_owned()),
        })
    }
}
