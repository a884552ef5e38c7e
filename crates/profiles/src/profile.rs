//! A profile for use by others: a configuration in which every leaf names its source.

use crate::evidence::Evidence;
use crate::leaf::LeafError;
use crate::leaves::LEAVES;
use crate::lookup::resolve;
use crate::toml_file::FileError;
use std::collections::BTreeMap;
use tcp::{Config, ConfigError, ValidConfig};

/// Roots of keys in experiments; neither an arm nor a profile may have these names.
const RESERVED: [&str; 4] = ["path", "flow", "run", "use"];

/// Whether `name` may not be the name of an arm or a profile.
pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// One TCP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// What users call it.
    pub name: String,
    /// One sentence.
    pub summary: String,
    /// The profile it differs from; `None` for the root.
    pub extends: Option<String>,
    /// The oldest ancestor, perhaps itself.
    pub(crate) root: String,
    pub(crate) leaves: BTreeMap<&'static str, Cited>,
    pub(crate) later: Vec<Later>,
    pub(crate) warnings: Vec<FileError>,
    pub(crate) config: ValidConfig,
}

/// A leaf's value with its evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cited {
    /// The value in its canonical form.
    pub value: String,
    /// What stands behind it.
    pub evidence: Evidence,
    /// The profile that gives it.
    pub from: String,
}

/// What the described system has and this program cannot do yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Later {
    /// The path the leaf will have.
    pub path: String,
    /// Its value, in words.
    pub value: String,
    /// What stands behind it.
    pub evidence: Evidence,
}

/// Why overrides could not be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OverrideError {
    /// One of them is wrong by itself.
    #[error("{error}")]
    Leaf {
        /// Which override, by its position.
        index: usize,
        /// What is wrong.
        error: LeafError,
    },
    /// Together they make a configuration out of bounds.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Invalid(Vec<ConfigError>),
}

/// No profile has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown profile `{name}`: {remedy}")]
pub struct UnknownProfile {
    /// As it was asked for.
    pub name: String,
    /// What would be right.
    pub remedy: String,
}

impl Profile {
    /// The configuration.
    pub fn config(&self) -> &ValidConfig {
        &self.config
    }

    /// Value and evidence of a leaf; `None` when it does not apply here.
    pub fn leaf(&self, path: &str) -> Option<&Cited> {
        self.leaves.get(path)
    }

    /// Returns whether a value is only a substitute for a missing one of this system: it comes from the root.
    pub fn stands_in(&self, cited: &Cited) -> bool {
        cited.from == self.root && self.name != self.root
    }

    /// What the described system has and this program cannot do yet, sorted by path.
    pub fn later(&self) -> &[Later] {
        &self.later
    }

    /// Returns warnings about entries in its file that are valid but probably unintended, with the place.
    pub fn warnings(&self) -> &[FileError] {
        &self.warnings
    }

    /// Returns the configuration with some leaves changed, without checking bounds. Kinds are set first, whatever their position;
    /// of several values of one leaf the last one counts, and the others have no effect.
    ///
    /// # Errors
    /// If a path is unknown, or a value is invalid.
    pub fn draft(&self, overrides: &[(String, String)]) -> Result<Config, OverrideError> {
        let mut config = Config::clone(&self.config);
        let mut found = Vec::with_capacity(overrides.len());
        for (index, (path, _)) in overrides.iter().enumerate() {
            found.push(resolve(path).map_err(|error| OverrideError::Leaf { index, error })?);
        }
        for kinds in [true, false] {
            for (index, (leaf, (_, value))) in found.iter().zip(overrides).enumerate() {
                // A kind that is replaced at once must not drop leaves that the last kind has.
                if leaf.is_kind() == kinds && !found[index + 1..].contains(leaf) {
                    leaf.write(&mut config, value).map_err(|error| OverrideError::Leaf { index, error })?;
                }
            }
        }
        Ok(config)
    }

    /// The configuration with some leaves changed.
    ///
    /// # Errors
    /// As [`Profile::draft`], and when the result is out of bounds.
    pub fn with(&self, overrides: &[(String, String)]) -> Result<ValidConfig, OverrideError> {
        self.draft(overrides)?.validate().map_err(OverrideError::Invalid)
    }
}

/// The leaves that apply to `config`, with their values in canonical form.
pub fn values(config: &Config) -> Vec<(&'static str, String)> {
    LEAVES.iter().filter_map(|leaf| Some((leaf.path, leaf.read(config)?))).collect()
}

#[cfg(test)]
mod tests;
