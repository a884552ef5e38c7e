//! From files to profiles: inheritance, completeness, bounds.
//!
//! A profile that changes a kind (say, from one detector to another) inherits none of the numbers beside it: they were given for
//! another algorithm. It has to state its own.

use crate::leaves::LEAVES;
use crate::load::Raw;
use crate::profile::{Cited, Later, Profile};
use crate::raw_leaf::RawLeaf;
use crate::registry::{self, Name, Settings};
use crate::toml_file::{FileError, did_you_mean};
use std::collections::BTreeMap;
use tcp::{Config, ConfigError};

/// All profiles, in the order of the files.
pub(crate) fn all(files: &[Raw<'_>]) -> Result<Vec<Profile>, FileError> {
    files.iter().map(|raw| build(raw, files)).collect()
}

fn build(raw: &Raw<'_>, files: &[Raw<'_>]) -> Result<Profile, FileError> {
    let mut leaves: BTreeMap<&'static str, Cited> = BTreeMap::new();
    let mut later: BTreeMap<String, Later> = BTreeMap::new();
    let mut settings = Settings::new();
    let mut given = Vec::new();
    let line = lineage(raw, files)?;
    for ancestor in &line {
        given = given_by(ancestor, &mut settings)?;
        inherit(&mut leaves, ancestor, &given)?;
        // A profile that chooses its own kind need not provide what another kind lacks.
        let groups = || given.iter().filter(|own| own.leaf.is_kind()).map(|own| own.leaf.path.trim_end_matches("kind"));
        later.retain(|path, _| !groups().any(|group| path.starts_with(group)));
        later.extend(ancestor.later.iter().map(|leaf| (leaf.path.clone(), leaf.clone())));
    }
    let own = Own { raw, leaves: given };
    let config = configure(&own, &mut leaves)?;
    complete(&own, &config, &leaves)?;
    let config = config.validate().map_err(|errors| own.out_of_bounds(&errors))?;
    Ok(Profile {
        name: raw.name.to_owned(),
        summary: raw.summary.clone(),
        extends: raw.extends.as_ref().map(|(name, _)| name.clone()),
        root: line[0].name.to_owned(),
        leaves,
        later: later.into_values().collect(),
        warnings: raw.warnings.clone(),
        config,
    })
}

/// The file and its ancestors, the root first.
fn lineage<'r, 't>(raw: &'r Raw<'t>, files: &'r [Raw<'t>]) -> Result<Vec<&'r Raw<'t>>, FileError> {
    let mut line = vec![raw];
    while let Some((parent, span)) = &line.last().expect("it begins with one").extends {
        let child = line.last().expect("it begins with one").file;
        let Some(found) = files.iter().find(|file| file.name == parent) else {
            let known: Vec<&str> = files.iter().map(|file| file.name).collect();
            let problem = format!("unknown profile `{parent}`");
            return Err(child.error(span.clone(), problem, did_you_mean(parent, &known)));
        };
        if line.iter().any(|file| file.name == found.name) {
            let problem = format!("`{parent}` extends itself through this");
            return Err(child.error(span.clone(), problem, "one profile must extend none"));
        }
        line.push(found);
    }
    line.reverse();
    Ok(line)
}

/// Returns the leaves that a file gives, directly or by registry settings, which are combined with inherited ones.
fn given_by(raw: &Raw<'_>, settings: &mut Settings) -> Result<Vec<RawLeaf>, FileError> {
    let inherited = registry::leaves(settings).expect("it went well in the ancestor");
    settings.extend(raw.registry.iter().map(|(name, setting)| (*name, setting.clone())));
    let effective = registry::leaves(settings).map_err(|error| {
        let culprit = raw.registry.get(&Name::Tcp1323Opts).or_else(|| raw.registry.values().next());
        let place = culprit.map_or(0..0, |setting| setting.span.clone());
        raw.file.error(place, error.problem, error.remedy)
    })?;
    let mut given = raw.leaves.clone();
    given.extend(effective.into_iter().filter(|leaf| !inherited.contains(leaf)));
    Ok(given)
}

/// Applies a file's leaves over the inherited ones.
fn inherit(leaves: &mut BTreeMap<&'static str, Cited>, raw: &Raw<'_>, given: &[RawLeaf]) -> Result<(), FileError> {
    for own in given.iter().filter(|own| own.leaf.is_kind()) {
        let group = own.leaf.path.trim_end_matches("kind");
        if leaves.get(own.leaf.path).is_some_and(|inherited| inherited.value != own.text) {
            leaves.retain(|path, _| !path.starts_with(group));
        }
    }
    for RawLeaf { leaf, text, evidence, span } in given {
        let cited = Cited { value: text.clone(), evidence: evidence.clone(), from: raw.name.to_owned() };
        let twice = leaves.insert(leaf.path, cited).is_some_and(|before| before.from == raw.name);
        if twice {
            return Err(raw.file.error(span.clone(), format!("`{}` is given twice", leaf.path), "keep one of the two"));
        }
    }
    Ok(())
}

/// A file with its leaves, for error messages.
struct Own<'r, 't> {
    raw: &'r Raw<'t>,
    leaves: Vec<RawLeaf>,
}

impl Own<'_, '_> {
    fn out_of_bounds(&self, errors: &[ConfigError]) -> FileError {
        let first = errors.first().expect("a refusal has a reason");
        let problem = format!("`{}` is out of bounds", first.path);
        self.raw.file.error(self.place_of(first.path), problem, first.problem.clone())
    }

    /// Returns where the file gives a leaf; the file's beginning if it inherits it.
    fn place_of(&self, path: &str) -> core::ops::Range<usize> {
        self.leaves.iter().find(|own| own.leaf.path == path).map_or(0..0, |own| own.span.clone())
    }
}

/// Builds the configuration from the leaves, and makes their values canonical.
fn configure(own: &Own<'_, '_>, leaves: &mut BTreeMap<&'static str, Cited>) -> Result<Config, FileError> {
    let mut config = Config::default();
    for kinds in [true, false] {
        for leaf in LEAVES.iter().filter(|leaf| leaf.is_kind() == kinds) {
            let Some(cited) = leaves.get(leaf.path) else { continue };
            leaf.write(&mut config, &cited.value).map_err(|error| {
                let remedy = if kinds { "choose one of those" } else { "give it such a value, or leave it out" };
                own.raw.file.error(own.place_of(leaf.path), error.to_string(), remedy)
            })?;
        }
    }
    for (path, cited) in leaves.iter_mut() {
        let leaf = LEAVES.iter().find(|leaf| leaf.path == *path);
        cited.value = leaf.and_then(|leaf| leaf.read(&config)).unwrap_or_default();
    }
    Ok(config)
}

/// Checks that every applicable leaf was given, so that it has evidence.
fn complete(own: &Own<'_, '_>, config: &Config, leaves: &BTreeMap<&'static str, Cited>) -> Result<(), FileError> {
    for leaf in LEAVES {
        if leaf.read(config).is_some() && !leaves.contains_key(leaf.path) {
            let place = leaf.kind_leaf().map_or(0..0, |kind| own.place_of(kind.path));
            let problem = format!("`{}` has no leaf `{}`", own.raw.name, leaf.path);
            let remedy = match own.raw.extends {
                Some(_) => "give it a value; nothing is inherited from another kind",
                None => "give it a value, or inherit all that you do not give: `extends = \"rfc\"`",
            };
            return Err(own.raw.file.error(place, problem, remedy));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::builtin::load;
    use crate::profile::Profile;

    const E: &str = "source = \"here\", confidence = \"assumed\"";

    /// The built-in root, and a child with these lines.
    fn child(lines: &str) -> Result<Profile, String> {
        let root = crate::builtin::BUILTIN.iter().find(|(name, _)| *name == "rfc").expect("there is a root").1;
        let text = format!("extends = \"rfc\"\nsummary = \"a child\"\n{}", lines.replace("$E", E));
        let mut loaded = load(&[("rfc", root), ("child", &text)]).map_err(|error| error.to_string())?;
        Ok(loaded.remove(1))
    }

    #[test]
    fn what_a_child_does_not_say_it_inherits_with_its_evidence() {
        let profile = child("[rto]\nmin = { value = \"300ms\", $E }\n").unwrap();
        assert_eq!(
            profile.leaf("rto.min").map(|cited| (cited.value.as_str(), cited.from.as_str())),
            Some(("300ms", "child"))
        );
        assert_eq!(profile.leaf("rto.max").map(|cited| cited.from.as_str()), Some("rfc"));
        assert_eq!(profile.config().rto.min, base::Duration::from_millis(300));
    }

    #[test]
    fn a_changed_kind_inherits_none_of_the_numbers_beside_it() {
        let reno = "[cc.avoidance]\nkind = { value = \"reno\", $E }\nssthresh_base = { value = \"cwnd\", $E }\n";
        let error = child(reno).unwrap_err();
        assert_eq!(
            error,
            "child.toml:4:18: `child` has no leaf `cc.avoidance.beta`; \
             give it a value; nothing is inherited from another kind"
        );
        let profile = child(&format!("{reno}beta = {{ value = 0.5, $E }}\n")).unwrap();
        assert_eq!(profile.leaf("cc.avoidance.c"), None);
    }

    #[test]
    fn what_a_kind_lacks_is_not_missed_by_an_heir_with_a_kind_of_its_own() {
        let evidence = |text: &str| text.replace("$E", E);
        let lacks = "extends = \"rfc\"\nsummary = \"x\"\n[later]\n\"cc.avoidance.other\" = { value = \"1\", $E }\n";
        let same = "extends = \"a\"\nsummary = \"x\"\n";
        let reno = "extends = \"a\"\nsummary = \"x\"\n[cc.avoidance]\nkind = { value = \"reno\", $E }\n\
                    beta = { value = 0.5, $E }\nssthresh_base = { value = \"cwnd\", $E }\n";
        let root = crate::builtin::BUILTIN.iter().find(|(name, _)| *name == "rfc").expect("there is a root").1;
        let texts = [("rfc", root.to_owned()), ("a", evidence(lacks)), ("b", evidence(same)), ("c", evidence(reno))];
        let loaded = load(&texts.each_ref().map(|(name, text)| (*name, text.as_str()))).expect("they are valid");
        let lacking = |index: usize| loaded[index].later().iter().any(|later| later.path == "cc.avoidance.other");
        assert_eq!([0, 1, 2, 3].map(lacking), [false, true, true, false]);
    }

    #[test]
    fn a_number_of_another_kind_is_refused_at_its_place() {
        let error = child("[cc.slow_start]\ngrowth_divisor = { value = 4, $E }\n").unwrap_err();
        assert!(error.starts_with("child.toml:4:28: `cc.slow_start.growth_divisor` does not apply while"), "{error}");
    }

    #[test]
    fn a_value_out_of_bounds_is_refused_at_its_place() {
        let error = child("[rto]\nmax = { value = \"5s\", $E }\n").unwrap_err();
        assert_eq!(error, "child.toml:4:17: `rto.max` is out of bounds; must be at least 60s (RFC 6298 §2.5)");
    }

    #[test]
    fn unknown_parents_and_circles_are_refused() {
        let text = |parent: &str| format!("summary = \"x\"\nextends = \"{parent}\"\n");
        let error = load(&[("a", &text("bb")), ("b", &text("a"))]).unwrap_err().to_string();
        assert_eq!(error, "a.toml:2:11: unknown profile `bb`; did you mean `b`?");
        let error = load(&[("a", &text("b")), ("b", &text("a"))]).unwrap_err().to_string();
        assert_eq!(error, "b.toml:2:11: `a` extends itself through this; one profile must extend none");
    }
}
