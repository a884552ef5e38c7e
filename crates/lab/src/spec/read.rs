//! From TOML to an experiment.

use crate::spec::cells::{Draw, NamedCell, Role};
use crate::spec::company::{GROUP_KEYS, Group};
use crate::spec::expect::Expectation;
use crate::spec::experiment::{Axis, Experiment};
use crate::spec::keys::{Key, keys};
use crate::spec::kind::{ARM_NAMES, ArmKind, ArmSpec, CommandPair, is_arm_name};
use crate::spec::refusal::{Part, Refusal};
use crate::spec::setting::Point;
use core::ops::Range;
use profiles::toml_file::{Entry, TomlFile, entries};
use profiles::units;
use profiles::{FileError, Profile};
use std::sync::Arc;

/// Iterations if a file does not set them.
const ITERATIONS: u32 = 10;

/// Reads an experiment called `name` from the text of `file_name`.
///
/// # Errors
/// At the first error, with its place and the remedy.
pub fn read(name: &str, file_name: &str, text: &str) -> Result<Experiment, FileError> {
    let file = TomlFile { name: file_name, text };
    let tree = file.parse()?;
    let mut reader = Reader { file, experiment: empty(name) };
    let mut sections = entries(tree.get_ref());
    // Arms come before sections that refer to them, and the window before the flows, whatever the order in the file.
    sections.sort_by_key(|entry| match entry.key {
        "flows" => 1,
        "sweep" => 2,
        "expect" => 3,
        _ => 0,
    });
    for entry in &sections {
        reader.section(entry)?;
    }
    reader.finish()
}

fn empty(name: &str) -> Experiment {
    Experiment {
        name: name.to_owned(),
        summary: String::new(),
        source: String::new(),
        point: Point::default(),
        arms: Vec::new(),
        cells: Vec::new(),
        draws: Vec::new(),
        sweep: Vec::new(),
        iterations: ITERATIONS,
        seed: 1,
        expect: Vec::new(),
        expected_of: ITERATIONS,
        changed: Vec::new(),
        chosen: None,
    }
}

struct Reader<'t> {
    file: TomlFile<'t>,
    experiment: Experiment,
}

impl Reader<'_> {
    fn section(&mut self, entry: &Entry<'_>) -> Result<(), FileError> {
        const SECTIONS: [&str; 12] =
            ["summary", "source", "path", "host", "flow", "flows", "cells", "draw", "arms", "sweep", "run", "expect"];
        match entry.key {
            "summary" => self.experiment.summary = self.file.string(entry)?,
            "source" => self.experiment.source = self.file.string(entry)?,
            "path" | "host" | "flow" => self.settings(entry.key, entry)?,
            "flows" => self.flows(entry)?,
            "cells" => self.cells(entry)?,
            "draw" => self.draws(entry)?,
            "arms" => self.arms(entry)?,
            "sweep" => self.sweep(entry)?,
            "run" => self.run(entry)?,
            "expect" => self.expect(entry)?,
            _ => return Err(self.file.unknown_key(entry, SECTIONS)),
        }
        Ok(())
    }

    /// `[path]` and `[flow]`: leaves of the table of keys, nested by their dots.
    fn settings(&mut self, above: &str, entry: &Entry<'_>) -> Result<(), FileError> {
        for inner in self.file.table(entry)? {
            let name = format!("{above}.{}", inner.key);
            if let Some(key) = Key::find(&name) {
                let text = self.file.scalar(&inner)?;
                let set = key.set(&mut self.experiment.point, &text);
                set.map_err(|refusal| self.refused(inner.key_span.clone(), inner.value.span(), refusal))?;
            } else if keys().any(|key| key.name.starts_with(&format!("{name}."))) {
                self.settings(&name, &inner)?;
            } else {
                let below = format!("{above}.");
                let known = keys().filter_map(|key| key.name.strip_prefix(&below));
                return Err(self.file.unknown_key(&inner, known));
            }
        }
        Ok(())
    }

    /// `[[flows]]`: the groups of `flow.company`, one table each.
    fn flows(&mut self, entry: &Entry<'_>) -> Result<(), FileError> {
        for table in self.file.tables(entry)? {
            let mut group = Group::default();
            for inner in table {
                if !GROUP_KEYS.contains(&inner.key) {
                    return Err(self.file.unknown_key(&inner, GROUP_KEYS));
                }
                let set = group.set(inner.key, &self.file.scalar(&inner)?);
                set.map_err(|refusal| self.refused(inner.key_span.clone(), inner.value.span(), refusal))?;
            }
            self.experiment.point.company.groups.push(group);
        }
        let company = &self.experiment.point.company;
        company.check().map_err(|refusal| self.refused(entry.key_span.clone(), entry.value.span(), refusal))
    }

    /// `[[cells]]`.
    fn cells(&mut self, entry: &Entry<'_>) -> Result<(), FileError> {
        for table in self.file.tables(entry)? {
            let cell = self.cell(entry, &table)?;
            if self.experiment.cells.iter().any(|known| known.name == cell.name) {
                let problem = format!("there are two cells `{}`", cell.name);
                return Err(self.file.error(entry.key_span.clone(), problem, "give each a name of its own"));
            }
            self.experiment.cells.push(cell);
        }
        Ok(())
    }

    fn cell(&self, section: &Entry<'_>, table: &[Entry<'_>]) -> Result<NamedCell, FileError> {
        let mut cell = NamedCell {
            name: String::new(),
            kind: String::new(),
            role: Role::Train,
            base: Vec::new(),
            disturb: Vec::new(),
        };
        for inner in table {
            match inner.key {
                "name" => cell.name = self.file.string(inner)?,
                "kind" => cell.kind = self.file.string(inner)?,
                "role" => {
                    let role = Role::parse(&self.file.string(inner)?);
                    cell.role =
                        role.map_err(|refusal| self.refused(inner.key_span.clone(), inner.value.span(), refusal))?;
                }
                "base" => cell.base = self.checked(inner)?,
                "disturb" => cell.disturb = self.checked(inner)?,
                _ => return Err(self.file.unknown_key(inner, ["name", "kind", "role", "base", "disturb"])),
            }
        }
        if cell.name.is_empty() || cell.kind.is_empty() || cell.name.contains(',') {
            let problem = "a cell lacks its name or its kind, or has a comma in its name";
            return Err(self.file.error(section.key_span.clone(), problem, "give each cell a `name` and a `kind`"));
        }
        Ok(cell)
    }

    /// Settings by their full keys, checked and in canonical form.
    fn checked(&self, entry: &Entry<'_>) -> Result<Vec<(String, String)>, FileError> {
        let mut settings = Vec::new();
        for inner in self.file.table(entry)? {
            let refused = |refusal| self.refused(inner.key_span.clone(), inner.value.span(), refusal);
            let key = Key::find(inner.key).ok_or_else(|| self.file.unknown_key(&inner, keys().map(|key| key.name)))?;
            let text = self.file.scalar(&inner)?;
            let canonical = key.set(&mut self.experiment.point.clone(), &text).map_err(refused)?;
            settings.push((key.name.to_owned(), canonical));
        }
        Ok(settings)
    }

    /// `[[draw]]`: templates are checked when they are filled.
    fn draws(&mut self, entry: &Entry<'_>) -> Result<(), FileError> {
        for table in self.file.tables(entry)? {
            let mut draw = Draw { kind: String::new(), base: Vec::new(), disturb: Vec::new() };
            for inner in table {
                let settings = || {
                    let inner = self.file.table(&inner)?;
                    let pair = |setting: &Entry<'_>| Ok((setting.key.to_owned(), self.file.string(setting)?));
                    inner.iter().map(pair).collect::<Result<Vec<_>, FileError>>()
                };
                match inner.key {
                    "kind" => draw.kind = self.file.string(&inner)?,
                    "base" => draw.base = settings()?,
                    "disturb" => draw.disturb = settings()?,
                    _ => return Err(self.file.unknown_key(&inner, ["kind", "base", "disturb"])),
                }
            }
            self.experiment.draws.push(draw);
        }
        Ok(())
    }

    fn refused(&self, key: Range<usize>, value: Range<usize>, refusal: Refusal) -> FileError {
        let span = match refusal.part {
            Part::Key => key,
            Part::Value => value,
        };
        self.file.error(span, refusal.problem, refusal.remedy)
    }

    fn arms(&mut self, entry: &Entry<'_>) -> Result<(), FileError> {
        let entries = self.file.table(entry)?;
        let mut own = Vec::new();
        for arm in entries.iter().filter(|arm| arm.key != "use") {
            own.push(self.own_arm(arm)?);
        }
        let used = entries.iter().find(|arm| arm.key == "use");
        let used = used.map(|used| self.file.list(used)).transpose()?.unwrap_or_default();
        for (name, span) in used {
            let arm = own.iter().find(|arm: &&ArmSpec| arm.name == name).cloned();
            let arm = match arm {
                Some(arm) => arm,
                None => Self::known_arm(&name).map_err(|refusal| self.refused(span.clone(), span, refusal))?,
            };
            self.experiment.arms.push(arm);
        }
        for arm in own {
            if !self.experiment.arms.iter().any(|used| used.name == arm.name) {
                self.experiment.arms.push(arm);
            }
        }
        Ok(())
    }

    /// An arm that its name alone defines.
    fn known_arm(name: &str) -> Result<ArmSpec, Refusal> {
        let profile =
            || ArmSpec::of_builtin(name).map_err(|error| Refusal::of_value(format!("no arm `{name}`"), error.remedy));
        ArmSpec::of_kernel(name).unwrap_or_else(profile)
    }

    fn own_arm(&self, entry: &Entry<'_>) -> Result<ArmSpec, FileError> {
        if !is_arm_name(entry.key) {
            let problem = format!("`{}` cannot be the name of an arm", entry.key);
            return Err(self.file.error(entry.key_span.clone(), problem, ARM_NAMES));
        }
        let inner = self.file.table(entry)?;
        let kind = if inner.iter().any(|inner| matches!(inner.key, "server" | "client")) {
            self.commands(entry, &inner)?
        } else {
            self.own_profile(entry, &inner)?
        };
        Ok(ArmSpec { name: entry.key.to_owned(), kind })
    }

    /// `server` and `client`.
    fn commands(&self, entry: &Entry<'_>, inner: &[Entry<'_>]) -> Result<ArmKind, FileError> {
        let find = |key: &str| inner.iter().find(|inner| inner.key == key);
        if let Some(other) = inner.iter().find(|inner| !matches!(inner.key, "server" | "client")) {
            return Err(self.file.unknown_key(other, ["server", "client"]));
        }
        let (Some(server), Some(client)) = (find("server"), find("client")) else {
            let problem = format!("arm `{}` is half a pair", entry.key);
            return Err(self.file.error(entry.key_span.clone(), problem, "give it both a `server` and a `client`"));
        };
        let pair = CommandPair { server: self.file.string(server)?, client: self.file.string(client)? };
        pair.check().map_err(|(key, remedy)| {
            let place = if key == "server" { server } else { client };
            let problem = format!("the {key} of arm `{}` does not know where to meet", entry.key);
            self.file.error(place.value.span(), problem, remedy)
        })?;
        Ok(ArmKind::Command(pair))
    }

    /// `profile` and `set`.
    fn own_profile(&self, entry: &Entry<'_>, inner: &[Entry<'_>]) -> Result<ArmKind, FileError> {
        let (mut found, mut set) = (None, None);
        for inner in inner {
            match inner.key {
                "profile" => {
                    let known = profiles::get(&self.file.string(inner)?).map_err(|error| {
                        let problem = format!("unknown profile `{}`", error.name);
                        self.file.error(inner.value.span(), problem, error.remedy)
                    })?;
                    found = Some(Arc::new(known.clone()));
                }
                "set" => set = Some(inner),
                _ => return Err(self.file.unknown_key(inner, ["profile", "set", "server", "client"])),
            }
        }
        let Some(profile) = found else {
            let problem = format!("arm `{}` has no `profile`", entry.key);
            let remedy = "name the profile it starts from, or a `server` and a `client`";
            return Err(self.file.error(entry.key_span.clone(), problem, remedy));
        };
        let set = set.map(|set| self.own_leaves(&profile, set)).transpose()?.unwrap_or_default();
        Ok(ArmKind::Profile { profile, set, controller: None })
    }

    fn own_leaves(&self, profile: &Profile, set: &Entry<'_>) -> Result<Vec<(String, String)>, FileError> {
        let leaves = self.file.table(set)?;
        let mut values = Vec::with_capacity(leaves.len());
        for leaf in &leaves {
            values.push((leaf.key.to_owned(), self.file.scalar(leaf)?));
        }
        profile.with(&values).map_err(|error| {
            let place = match &error {
                profiles::OverrideError::Leaf { index, .. } => &leaves[*index],
                profiles::OverrideError::Invalid(_) => set,
            };
            let remedy = "see `longhaul profiles rfc` for all leaves";
            self.file.error(place.key_span.start..place.value.span().end, error.to_string(), remedy)
        })?;
        Ok(values)
    }

    fn sweep(&mut self, entry: &Entry<'_>) -> Result<(), FileError> {
        for axis in self.file.table(entry)? {
            let mut values = Vec::new();
            for (text, span) in self.file.list(&axis)? {
                let checked = self.experiment.check(axis.key, &text);
                values.push(checked.map_err(|refusal| self.refused(axis.key_span.clone(), span, refusal))?);
            }
            self.experiment.sweep.push(Axis { key: axis.key.to_owned(), values });
        }
        Ok(())
    }

    fn run(&mut self, entry: &Entry<'_>) -> Result<(), FileError> {
        for inner in self.file.table(entry)? {
            let number = |text: &str| {
                units::count(text)
                    .map_err(|misread| self.refused(inner.key_span.clone(), inner.value.span(), misread.into()))
            };
            let text = self.file.scalar(&inner)?;
            match inner.key {
                "seed" => self.experiment.seed = number(&text)?,
                "iterations" => {
                    let iterations = u32::try_from(number(&text)?).ok().filter(|n| *n > 0);
                    self.experiment.iterations = iterations.ok_or_else(|| {
                        self.file.error(
                            inner.value.span(),
                            format!("`{text}` iterations cannot be made"),
                            "write 1 or more",
                        )
                    })?;
                }
                _ => return Err(self.file.unknown_key(&inner, ["iterations", "seed"])),
            }
        }
        Ok(())
    }

    fn expect(&mut self, entry: &Entry<'_>) -> Result<(), FileError> {
        for inner in self.file.table(entry)? {
            let mut expectation = Expectation::parse(inner.key)
                .map_err(|refusal| self.refused(inner.key_span.clone(), inner.value.span(), refusal))?;
            for arm in expectation.arms() {
                if !self.experiment.arms.iter().any(|known| known.name == arm) {
                    let known: Vec<&str> = self.experiment.arms.iter().map(|arm| arm.name.as_str()).collect();
                    let problem = format!("unknown arm `{arm}`");
                    return Err(self.file.error(
                        inner.key_span.clone(),
                        problem,
                        format!("there are {}", known.join(", ")),
                    ));
                }
            }
            for bound in self.file.table(&inner)? {
                let text = self.file.scalar(&bound)?;
                let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
                let number = number.ok_or_else(|| {
                    self.file.error(bound.value.span(), format!("`{text}` is not a valid bound"), "write a number")
                })?;
                match bound.key {
                    "at_least" => expectation.at_least = Some(number),
                    "at_most" => expectation.at_most = Some(number),
                    _ => return Err(self.file.unknown_key(&bound, ["at_least", "at_most"])),
                }
            }
            self.experiment.expect.push(expectation);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Experiment, FileError> {
        self.experiment.expected_of = self.experiment.iterations;
        let missing = |what: &str, remedy: &str| Err(self.file.error(0..0, format!("{what} is missing"), remedy));
        if self.experiment.summary.is_empty() {
            return missing("`summary`", "say in one sentence what is compared");
        }
        if self.experiment.arms.is_empty() {
            return missing("`[arms]`", "write `[arms]` and `use = [\"server-2022\", \"longhaul\"]`");
        }
        Ok(self.experiment)
    }
}

#[cfg(test)]
mod tests;
