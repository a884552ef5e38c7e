//! Everything that determines a run, as results name it.

use crate::plan::difference::from_root;
use crate::plan::{Plan, RunSpec};
use crate::run::stamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything that determines a run, so that it can be repeated without its experiment, and its names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pub(crate) version: String,
    pub(crate) experiment: String,
    pub(crate) spec: String,
    pub(crate) path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) twin: Option<String>,
    pub(crate) arm: String,
    pub(crate) profile: Option<String>,
    pub(crate) iteration: u32,
    pub(crate) seed: u64,
    /// Leaves in which the arm differs from the root profile, or what it is instead of a profile.
    pub(crate) config: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) made_by: Option<String>,
}

impl Identity {
    /// Which of the runs of its arm in its cell, from one.
    pub const fn iteration(&self) -> u32 {
        self.iteration
    }

    pub(crate) fn new(plan: &Plan, run: &RunSpec) -> Self {
        Self::with(plan, run, stamp::version_of(run), None)
    }

    /// The same, where version and leaves are known already.
    pub(crate) fn with(plan: &Plan, run: &RunSpec, version: String, config: Option<BTreeMap<String, String>>) -> Self {
        let arm = &plan.arms[run.arm];
        Self {
            version,
            experiment: plan.experiment.name.clone(),
            spec: run.digest.clone(),
            path: run.point.canonical(),
            twin: run.twin.as_ref().map(|twin| twin.canonical()),
            arm: arm.label.clone(),
            profile: arm.spec.profile().map(|profile| profile.name.clone()),
            iteration: run.iteration,
            seed: run.seed,
            config: config.unwrap_or_else(|| from_root(&run.ends)),
            made_by: plan.made_by.clone(),
        }
    }
}
