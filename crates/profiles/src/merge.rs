//! From files to profiles: inheritance, completeness, bounds.
//!
//! A profile that changes a kind (say, from one detector to another) inherits none of the numbers beside it: they were
//! given for another machine. It has to state its own.

use crate::leaves::LEAVES;
use crate::load::{Raw, RawLeaf};
use crate::profile::{Cited, Later, Profile};
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
    for ancestor in lineage(raw, files)? {
        inherit(&mut leaves, ancestor)?;
        later.extend(ancestor.later.iter().map(|leaf| (leaf.path.clone(), leaf.clone())));
    }
    let config = configure(raw, &mut leaves)?;
    complete(raw, &config, &leaves)?;
    let config = config.validate().map_err(|errors| out_of_bounds(raw, &errors))?;
    Ok(Profile {
        name: raw.name.to_owned(),
        summary: raw.summary.clone(),
        extends: raw.extends.as_ref().map(|(name, _)| name.clone()),
        leaves,
        later: later.into_values().collect(),
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
            let problem = format!("there is no profile `{parent}`");
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

/// Lays a file's own leaves over those inherited.
fn inherit(leaves: &mut BTreeMap<&'static str, Cited>, raw: &Raw<'_>) -> Result<(), FileError> {
    for own in raw.leaves.iter().filter(|own| own.leaf.is_kind()) {
        let group = own.leaf.path.trim_end_matches("kind");
        if leaves.get(own.leaf.path).is_some_and(|inherited| inherited.value != own.text) {
            leaves.retain(|path, _| !path.starts_with(group));
        }
    }
    for RawLeaf { leaf, text, evidence, span } in &raw.leaves {
        let cited = Cited { value: text.clone(), evidence: evidence.clone(), from: raw.name.to_owned() };
        let twice = leaves.insert(leaf.path, cited).is_some_and(|before| before.from == raw.name);
        if twice {
            return Err(raw.file.error(span.clone(), format!("`{}` is given twice", leaf.path), "keep one of the two"));
        }
    }
    Ok(())
}

/// The configuration that the leaves make; their values become canonical.
fn configure(raw: &Raw<'_>, leaves: &mut BTreeMap<&'static str, Cited>) -> Result<Config, FileError> {
    let mut config = Config::default();
    for kinds in [true, false] {
        for leaf in LEAVES.iter().filter(|leaf| leaf.is_kind() == kinds) {
            let Some(cited) = leaves.get(leaf.path) else { continue };
            leaf.write(&mut config, &cited.value).map_err(|error| {
                let remedy = if kinds { "choose one of those" } else { "give it such a value, or leave it out" };
                raw.file.error(place_of(raw, leaf.path), error.to_string(), remedy)
            })?;
        }
    }
    for (path, cited) in leaves.iter_mut() {
        let leaf = LEAVES.iter().find(|leaf| leaf.path == *path);
        cited.value = leaf.and_then(|leaf| leaf.read(&config)).unwrap_or_default();
    }
    Ok(config)
}

/// Every leaf that applies must have been given, so that it has evidence.
fn complete(raw: &Raw<'_>, config: &Config, leaves: &BTreeMap<&'static str, Cited>) -> Result<(), FileError> {
    for leaf in LEAVES {
        if leaf.read(config).is_some() && !leaves.contains_key(leaf.path) {
            let place = leaf.kind_leaf().map_or(0..0, |kind| place_of(raw, kind.path));
            let problem = format!("`{}` has no leaf `{}`", raw.name, leaf.path);
            return Err(raw.file.error(
                place,
                problem,
                "give it a value with evidence; nothing is inherited from another kind",
            ));
        }
    }
    Ok(())
}

fn out_of_bounds(raw: &Raw<'_>, errors: &[ConfigError]) -> FileError {
    let first = errors.first().expect("a refusal has a reason");
    raw.file.error(place_of(raw, first.path), format!("`{}` is out of bounds", first.path), first.problem.clone())
}

/// Where the file gives a leaf; its beginning when it inherits it.
fn place_of(raw: &Raw<'_>, path: &str) -> core::ops::Range<usize> {
    raw.leaves.iter().find(|own| own.leaf.path == path).map_or(0..0, |own| own.span.clone())
}

#[cfg(test)]
mod tests {
    use crate::load::load;
    use crate::profile::Profile;

    const E: &str = "source = \"here\", confidence = \"assumed\"";

    /// The built-in root, and a child with these lines.
    fn child(lines: &str) -> Result<Profile, String> {
        let root = crate::load::BUILTIN.iter().find(|(name, _)| *name == "rfc").expect("there is a root").1;
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
             give it a value with evidence; nothing is inherited from another kind"
        );
        let profile = child(&format!("{reno}beta = {{ value = 0.5, $E }}\n")).unwrap();
        assert_eq!(profile.leaf("cc.avoidance.c"), None);
    }

    #[test]
    fn a_number_of_another_kind_is_refused_at_its_place() {
        let error = child("[cc.pacing]\nquantum_segments = { value = 64, $E }\n").unwrap_err();
        assert!(error.starts_with("child.toml:4:30: `cc.pacing.quantum_segments` does not apply while"), "{error}");
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
        assert_eq!(error, "a.toml:2:11: there is no profile `bb`; did you mean `b`?");
        let error = load(&[("a", &text("b")), ("b", &text("a"))]).unwrap_err().to_string();
        assert_eq!(error, "b.toml:2:11: `a` extends itself through this; one profile must extend none");
    }
}
