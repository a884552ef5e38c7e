//! What is tried: leaves of a profile with other values.

use crate::spec::{Refusal, UsageError};
use core::fmt;
use profiles::{Leaf, LeafError, OverrideError, Profile, find_leaf, resolve_leaf};
use std::collections::BTreeMap;

/// Leaves that differ from the profile, by their paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Setting(BTreeMap<String, String>);

/// The values of a leaf that a search chooses from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choices {
    /// The leaf's path.
    pub leaf: &'static str,
    /// Its value in the profile; `None` if the leaf does not apply there.
    pub now: Option<String>,
    /// Others, in canonical form.
    pub values: Vec<String>,
}

impl Setting {
    /// The same with one more leaf set.
    #[must_use]
    pub fn with(&self, leaf: &str, value: &str) -> Self {
        let mut set = self.0.clone();
        set.insert(leaf.to_owned(), value.to_owned());
        Self(set)
    }

    /// The same with a leaf as the profile has it.
    #[must_use]
    pub fn without(&self, leaf: &str) -> Self {
        let mut set = self.0.clone();
        set.remove(leaf);
        Self(set)
    }

    /// Returns whether the profile is as it is.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Leaf and value.
    pub fn leaves(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(leaf, value)| (leaf.as_str(), value.as_str()))
    }

    /// As overrides of a profile.
    pub(crate) fn overrides(&self) -> Vec<(String, String)> {
        self.0.clone().into_iter().collect()
    }

    /// Returns why a profile cannot take it; `None` if it can.
    pub fn refused_by(&self, profile: &Profile) -> Option<String> {
        profile.with(&self.overrides()).err().map(|error| error.to_string())
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("as it is");
        }
        let each: Vec<String> = self.leaves().map(|(leaf, value)| format!("{leaf}={value}")).collect();
        f.write_str(&each.join(" "))
    }
}

impl Choices {
    /// Reads `LEAF=VALUE,…`; the profile's own value need not be among them. The leaf may follow the profile's name and a dot.
    ///
    /// # Errors
    /// If the leaf is unknown, a value is invalid, or the text has another form.
    pub fn parse(text: &str, profile: &Profile) -> Result<Self, UsageError> {
        Self::read(text, profile).map_err(|refusal| refusal.at(format!("--leaf {text}")))
    }

    fn read(text: &str, profile: &Profile) -> Result<Self, Refusal> {
        let form = || {
            let problem = format!("`{text}` is not LEAF=VALUE,…");
            Refusal::of_value(problem, "write for example `recovery.detector.lateness_max_srtts=4,16`")
        };
        let (path, values) = text.split_once('=').ok_or_else(form)?;
        let path = path.trim();
        let path = path.strip_prefix(&format!("{}.", profile.name)).unwrap_or(path);
        let shows = || format!("`longhaul profiles {}` shows its leaves", profile.name);
        let leaf = resolve_leaf(path).map_err(|error| Refusal::of_key(error.to_string(), shows()))?;
        let now = leaf.read(profile.config());
        let mut found = Vec::new();
        for value in values.split(',').map(str::trim) {
            let value = match profile.draft(&[(leaf.path.to_owned(), value.to_owned())]) {
                Ok(config) => leaf.read(&config).unwrap_or_else(|| value.to_owned()),
                // Another leaf of the search may change the kind.
                Err(OverrideError::Leaf { error: LeafError::NotApplicable { .. }, .. }) => value.to_owned(),
                Err(error) => return Err(Refusal::of_value(error.to_string(), shows())),
            };
            if Some(&value) != now.as_ref() && !found.contains(&value) {
                found.push(value);
            }
        }
        if found.is_empty() {
            let problem = format!("`{}` has that value in `{}` already", leaf.path, profile.name);
            return Err(Refusal::of_value(problem, "name at least one other"));
        }
        Ok(Self { leaf: leaf.path, now, values: found })
    }

    /// Returns what to try of a leaf: half as much and half as much again of a number, and the root profile's value; of words the root's, or
    /// where it has none, all others.
    ///
    /// # Errors
    /// If the leaf is unknown or does not apply to the profile.
    pub fn around(path: &str, profile: &Profile) -> Result<Self, UsageError> {
        let refused = |problem: String, remedy: String| Refusal::of_key(problem, remedy).at(format!("--leaf {path}"));
        let shows = || format!("`longhaul profiles {}` shows its leaves", profile.name);
        let path = path.strip_prefix(&format!("{}.", profile.name)).unwrap_or(path);
        let leaf = resolve_leaf(path).map_err(|error| refused(error.to_string(), shows()))?;
        let Some(now) = leaf.read(profile.config()) else {
            return Err(refused(format!("`{}` does not apply to `{}`", leaf.path, profile.name), shows()));
        };
        let roots = root().and_then(|root| leaf.read(root.config()));
        let scaled = [50, 150].into_iter().filter_map(|percent| leaf.scaled(profile.config(), percent));
        let mut values: Vec<String> = scaled.collect();
        match (roots, leaf.words()) {
            (Some(value), _) if value != now => values.push(value),
            (_, Some(words)) => values.extend(words.iter().map(|word| (*word).to_owned())),
            _ => {}
        }
        let mut found: Vec<String> = Vec::new();
        for value in values {
            if value != now && !found.contains(&value) {
                found.push(value);
            }
        }
        Ok(Self { leaf: leaf.path, now: Some(now), values: found })
    }

    /// Returns the leaves in which a profile differs from the root, or that the root lacks, each with what to try.
    pub fn of_profile(profile: &Profile) -> Vec<Self> {
        let differs = |leaf: &&Leaf| {
            let now = leaf.read(profile.config());
            now.is_some() && now != root().and_then(|root| leaf.read(root.config()))
        };
        let own = profiles::LEAVES.iter().filter(differs);
        own.filter_map(|leaf| Self::around(leaf.path, profile).ok())
            .filter(|choices| !choices.values.is_empty())
            .collect()
    }
}

/// The profile from which all others descend.
pub(crate) fn root() -> Option<&'static Profile> {
    profiles::builtin().iter().find(|profile| profile.extends.is_none())
}

/// Returns the root's value of a leaf; `None` if the leaf does not apply to it.
pub(crate) fn of_root(leaf: &str) -> Option<String> {
    find_leaf(leaf).ok()?.read(root()?.config())
}
