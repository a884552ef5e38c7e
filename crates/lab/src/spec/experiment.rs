//! An experiment: what is compared, over which network, how often.
//!
//! One type serves files, the command line (`overrides.rs`) and tests. Values are checked when they are read, where the place in
//! the file is still known; `plan` unfolds the result into cells.

use crate::spec::cells::{Draw, NamedCell};
use crate::spec::expect::Expectation;
use crate::spec::keys::{Key, keys};
use crate::spec::kind::{ArmKind, ArmSpec};
use crate::spec::refusal::Refusal;
use crate::spec::setting::Point;

/// A comparison to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// What it is called; the stem of its file.
    pub name: String,
    /// One sentence.
    pub summary: String,
    /// The publication or rule that it reproduces.
    pub source: String,
    /// The network and the flow, unless the sweep sets other values.
    pub point: Point,
    /// The arms in order, the reference first. An arm listed twice is repeated with different seeds.
    pub arms: Vec<ArmSpec>,
    /// Cells that are listed one by one; the sweep, if any, applies to each of them.
    pub cells: Vec<NamedCell>,
    /// Kinds from which more cells can be drawn.
    pub draws: Vec<Draw>,
    /// What varies from cell to cell, the slowest first.
    pub sweep: Vec<Axis>,
    /// Runs of each arm in each cell.
    pub iterations: u32,
    /// The origin of all seeds.
    pub seed: u64,
    /// Expected results.
    pub expect: Vec<Expectation>,
    /// The number of runs that the expectations assume: the file's own.
    pub expected_of: u32,
    /// The command line's changes, each as `KEY=VALUE`: with them, summary and expectations no longer apply.
    pub changed: Vec<String>,
    /// The arms that the command line chose instead of the file's, if any.
    pub chosen: Option<Vec<String>>,
}

/// A swept key, with its values in canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// A path, flow or arm key.
    pub key: String,
    /// At least one.
    pub values: Vec<String>,
}

/// What a key of the form `ROOT.rest` refers to.
pub(crate) enum Target<'k> {
    /// The network or the flow.
    Point(&'static Key),
    /// A leaf of the arms of this name.
    Arm {
        /// The arm's name.
        arm: &'k str,
        /// The leaf's path.
        path: &'k str,
    },
}

impl Experiment {
    /// Describes what is compared. The file's summary describes the file's values and arms, so it appears only with them.
    pub fn title(&self) -> String {
        let arms = self.chosen.as_ref().map(|arms| format!("arms {}", arms.join(",")));
        let changes: Vec<String> = self.changed.iter().cloned().chain(arms).collect();
        if changes.is_empty() { self.summary.clone() } else { format!("changed to {}", changes.join(" ")) }
    }

    /// Returns whether runs of some cell have several flows.
    pub fn has_company(&self) -> bool {
        !self.point.company.is_empty() || self.sweep.iter().any(|axis| axis.key == "flow.company")
    }

    /// What `key` reaches.
    pub(crate) fn target<'k>(&self, key: &'k str) -> Result<Target<'k>, Refusal> {
        if let Some(found) = Key::find(key) {
            return Ok(Target::Point(found));
        }
        let unknown = || Refusal::of_key(format!("unknown key `{key}`"), self.nearest_key(key));
        let (arm, path) = key.split_once('.').ok_or_else(unknown)?;
        let takes_part = self.arms.iter().any(|known| known.name == arm);
        if !takes_part && profiles::get(arm).is_ok() {
            let names: Vec<&str> = self.arms.iter().map(|arm| arm.name.as_str()).collect();
            let problem = format!("arm `{arm}` takes no part");
            return Err(Refusal::of_key(problem, format!("the arms are {}", names.join(", "))));
        }
        let has_leaves = self.arms.iter().any(|known| known.name == arm && known.profile().is_some());
        if takes_part && !has_leaves {
            let problem = format!("arm `{arm}` is not a profile and has no leaves");
            return Err(Refusal::of_key(problem, "set those of a profile"));
        }
        if !takes_part || profiles::resolve_leaf(path).is_err() {
            return Err(unknown());
        }
        Ok(Target::Arm { arm, path })
    }

    /// Checks one value of a key; returns its canonical form.
    pub(crate) fn check(&self, key: &str, text: &str) -> Result<String, Refusal> {
        match self.target(key)? {
            Target::Point(found) => found.set(&mut self.point.clone(), text),
            Target::Arm { arm, path } => {
                let leaf = profiles::resolve_leaf(path).expect("a target's leaf exists");
                let mut of_this_name = self.arms.iter().filter(|spec| spec.name == arm);
                let (profile, set) = of_this_name
                    .find_map(|spec| match &spec.kind {
                        ArmKind::Profile { profile, set, .. } => Some((profile, set)),
                        ArmKind::Kernel(_) | ArmKind::Command(_) => None,
                    })
                    .expect("a target's arm is a profile");
                // Bounds are not checked: several leaves may be valid only together.
                let more = (path.to_owned(), text.to_owned());
                let config = profile.draft(&[&set[..], &[more]].concat()).map_err(|error| {
                    let remedy = format!("`longhaul profiles {}` shows its values", profile.name);
                    Refusal::of_value(error.to_string(), remedy)
                })?;
                Ok(leaf.read(&config).unwrap_or_else(|| text.to_owned()))
            }
        }
    }

    fn nearest_key(&self, key: &str) -> String {
        let leaves = self
            .arms
            .iter()
            .filter(|arm| arm.profile().is_some())
            .flat_map(|arm| profiles::LEAVES.iter().map(move |leaf| format!("{}.{}", arm.name, leaf.path)));
        let known: Vec<String> = keys().map(|key| key.name.to_owned()).chain(leaves).collect();
        match profiles::nearest(key, known.iter().map(String::as_str)) {
            Some(word) => format!("did you mean `{word}`?"),
            None => {
                let keys: Vec<&str> = keys().map(|key| key.name).collect();
                format!("known are {} and ARM.LEAF, where `longhaul profiles rfc` lists the leaves", keys.join(", "))
            }
        }
    }
}
