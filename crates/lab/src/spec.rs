//! An experiment: what is compared, over which network, how often. Reads `experiments/*.toml` and the like.
//!
//! One type serves files, the command line (`overrides.rs`) and tests. Values are checked when they are read, where the
//! place in the file is still known; `sweep.rs` unfolds the result into cells.

mod read;

use crate::expect::Expectation;
use crate::setting::{Flow, KEYS, Key, Point};
use profiles::{Leaf, OverrideError, Profile};
use tcp::ValidConfig;

pub use read::read;

/// Name and text of the built-in experiments.
pub const BUILTIN: &[(&str, &str)] = &[
    ("reorder", include_str!("../../../experiments/reorder.toml")),
    ("wan", include_str!("../../../experiments/wan.toml")),
];

/// A comparison to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// What it is called; the stem of its file.
    pub name: String,
    /// One sentence.
    pub summary: String,
    /// Which publication or rule it reproduces.
    pub source: String,
    /// The network and the flow where the sweep says nothing else.
    pub point: Point,
    /// Arms by name, those in use first, in order.
    pub arms: Vec<ArmSpec>,
    /// How many of `arms` are in use; the others can be chosen by name.
    pub used: usize,
    /// What varies from cell to cell, the slowest first.
    pub sweep: Vec<Axis>,
    /// Runs of each arm in each cell.
    pub iterations: u32,
    /// Where all seeds come from.
    pub seed: u64,
    /// What has to come out.
    pub expect: Vec<Expectation>,
}

/// One side of the comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArmSpec {
    /// What tables call it.
    pub name: String,
    /// The profile it starts from.
    pub profile: String,
    /// Leaves that differ from the profile, path and value.
    pub set: Vec<(String, String)>,
}

/// Something that is swept, with its values in canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// A path, flow or arm key.
    pub key: String,
    /// At least one.
    pub values: Vec<String>,
}

/// What a key of the form `ROOT.rest` reaches.
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

/// Why a key or its value is refused: what is wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) problem: String,
    pub(crate) remedy: String,
    /// Whether the value is wrong, rather than the key.
    pub(crate) in_value: bool,
}

impl ArmSpec {
    /// An arm that is a profile and nothing else.
    pub fn of_profile(profile: &Profile) -> Self {
        Self { name: profile.name.clone(), profile: profile.name.clone(), set: Vec::new() }
    }

    /// The configuration, with further leaves set.
    pub(crate) fn config(&self, more: &[(String, String)]) -> Result<ValidConfig, OverrideError> {
        let profile = profiles::get(&self.profile).expect("an arm's profile was checked when it was read");
        profile.with(&[&self.set, more].concat())
    }
}

impl Experiment {
    /// The arms in use.
    pub fn arms_in_use(&self) -> &[ArmSpec] {
        &self.arms[..self.used]
    }

    /// What `key` reaches.
    pub(crate) fn target<'k>(&self, key: &'k str) -> Result<Target<'k>, Refusal> {
        if let Some(found) = Key::find(key) {
            return Ok(Target::Point(found));
        }
        let unknown = || Refusal {
            problem: format!("unknown key `{key}`"),
            remedy: self.nearest_key(key),
            in_value: false,
        };
        let (root, path) = key.split_once('.').ok_or_else(unknown)?;
        if !self.arms.iter().any(|arm| arm.name == root) || profiles::find_leaf(path).is_err() {
            return Err(unknown());
        }
        Ok(Target::Arm { arm: root, path })
    }

    /// Checks one value of a key; its canonical form.
    pub(crate) fn check(&self, key: &str, text: &str) -> Result<String, Refusal> {
        let wrong = |problem: String| {
            let (problem, remedy) = problem.split_once(": ").unwrap_or((&problem, "see `longhaul profiles rfc`"));
            Refusal { problem: problem.to_owned(), remedy: remedy.to_owned(), in_value: true }
        };
        match self.target(key)? {
            Target::Point(found) => found.set(&mut self.point.clone(), text).map_err(wrong),
            Target::Arm { arm, path } => {
                let leaf: &Leaf = profiles::find_leaf(path).expect("checked");
                let spec = self.arms.iter().find(|spec| spec.name == arm).expect("checked");
                let config = spec.config(&[(path.to_owned(), text.to_owned())]).map_err(|error| refused_leaf(&error))?;
                Ok(leaf.read(&config).unwrap_or_else(|| text.to_owned()))
            }
        }
    }

    fn nearest_key(&self, key: &str) -> String {
        let leaves = self.arms.iter().flat_map(|arm| {
            profiles::LEAVES.iter().map(move |leaf| format!("{}.{}", arm.name, leaf.path))
        });
        let known: Vec<String> = KEYS.iter().map(|key| key.name.to_owned()).chain(leaves).collect();
        match profiles::nearest(key, known.iter().map(String::as_str)) {
            Some(word) => format!("did you mean `{word}`?"),
            None => {
                let keys: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
                format!("known are {} and ARM.LEAF, where `longhaul profiles rfc` lists the leaves", keys.join(", "))
            }
        }
    }

    /// What is transferred, for one-line descriptions.
    pub fn flow_is_timed(&self) -> bool {
        matches!(self.point.flow, Flow::Seconds(_))
    }
}

pub(crate) fn refused_leaf(error: &OverrideError) -> Refusal {
    let text = match error {
        OverrideError::Leaf { error, .. } => error.to_string(),
        invalid @ OverrideError::Invalid(_) => invalid.to_string(),
    };
    Refusal { problem: text, remedy: "see `longhaul profiles` for values that fit".to_owned(), in_value: true }
}

/// A built-in experiment; `None` when there is none of this name.
pub fn builtin(name: &str) -> Option<Experiment> {
    let (name, text) = BUILTIN.iter().find(|(known, _)| *known == name)?;
    let read = read(name, &format!("experiments/{name}.toml"), text);
    Some(read.unwrap_or_else(|error| panic!("a built-in experiment is wrong: {error}")))
}

#[cfg(test)]
mod tests;
