//! Reads a profile file: checks its structure, and that each leaf has a value and evidence. `merge.rs` handles inheritance.

use crate::evidence::{Confidence, Evidence};
use crate::leaves::LEAVES;
use crate::lookup;
use crate::profile::{Later, is_reserved};
use crate::raw_leaf::RawLeaf;
use crate::registry::{self, Setting, Settings};
use crate::toml_file::{Entry, FileError, TomlFile, entries};
use core::ops::Range;

/// A profile file, by itself.
#[derive(Debug)]
pub(crate) struct Raw<'t> {
    pub(crate) file: TomlFile<'t>,
    /// The profile's name; the file is called `<name>.toml`.
    pub(crate) name: &'t str,
    pub(crate) summary: String,
    pub(crate) extends: Option<(String, Range<usize>)>,
    pub(crate) leaves: Vec<RawLeaf>,
    pub(crate) registry: Settings,
    pub(crate) later: Vec<Later>,
    /// What is valid but probably unintended.
    pub(crate) warnings: Vec<FileError>,
}

/// Reads the structure of one file.
pub(crate) fn read<'t>(file: TomlFile<'t>, name: &'t str) -> Result<Raw<'t>, FileError> {
    if is_reserved(name) {
        return Err(file.error(0..0, format!("`{name}` is a reserved name"), "give the profile another one"));
    }
    let tree = file.parse()?;
    let mut raw = Raw {
        file,
        name,
        summary: String::new(),
        extends: None,
        leaves: Vec::new(),
        registry: Settings::new(),
        later: Vec::new(),
        warnings: Vec::new(),
    };
    for entry in entries(tree.get_ref()) {
        match entry.key {
            "summary" => raw.summary = file.string(&entry)?,
            "extends" => raw.extends = Some((file.string(&entry)?, entry.value.span())),
            "later" => raw.later = later(&file, "", &entry)?,
            "registry" => read_registry(&mut raw, &entry)?,
            _ => read_leaves(&mut raw, "", &entry)?,
        }
    }
    if raw.summary.is_empty() {
        return Err(file.error(0..0, "`summary` is missing", "say in one sentence which TCP this is"));
    }
    Ok(raw)
}

/// Descends to the leaves under one entry.
fn read_leaves(raw: &mut Raw<'_>, above: &str, entry: &Entry<'_>) -> Result<(), FileError> {
    let path = join(above, entry.key);
    if let Some(leaf) = lookup::known(&path) {
        let (text, evidence, span) = cited(&raw.file, entry)?;
        raw.leaves.push(RawLeaf { leaf, text, evidence, span });
        return Ok(());
    }
    let group = format!("{path}.");
    if !LEAVES.iter().any(|leaf| leaf.path.starts_with(&group)) {
        let known = LEAVES.iter().map(|leaf| leaf.path);
        let mut error = raw.file.unknown_key(entry, known.clone());
        error.problem = format!("unknown key `{path}`");
        error.remedy = crate::nearest(&path, known).map_or_else(
            || "see `longhaul profiles rfc` for all leaves".to_owned(),
            |word| format!("did you mean `{word}`?"),
        );
        return Err(error);
    }
    for inner in raw.file.table(entry)? {
        read_leaves(raw, &path, &inner)?;
    }
    Ok(())
}

/// Reads settings by their names in an old system's registry.
fn read_registry(raw: &mut Raw<'_>, entry: &Entry<'_>) -> Result<(), FileError> {
    let file = raw.file;
    for inner in file.table(entry)? {
        let complaint =
            |problem: registry::Problem| file.error(inner.key_span.clone(), problem.problem, problem.remedy);
        let (name, warning) = registry::name(inner.key).map_err(complaint)?;
        raw.warnings.extend(warning.map(complaint));
        let (text, evidence, span) = cited(&file, &inner)?;
        let value = registry::value(name, &text)
            .map_err(|problem| file.error(span.clone(), problem.problem, problem.remedy))?;
        if raw.registry.insert(name, Setting { value, evidence, span: span.clone() }).is_some() {
            return Err(file.error(span, format!("`{}` is given twice", inner.key), "keep one of the two spellings"));
        }
    }
    Ok(())
}

fn join(above: &str, key: &str) -> String {
    if above.is_empty() { key.to_owned() } else { format!("{above}.{key}") }
}

/// Reads `{ value, source, confidence }`, all three and nothing else; or a value alone, which is assumed, so that trying a
/// setting does not require inventing a source for it.
fn cited(file: &TomlFile<'_>, entry: &Entry<'_>) -> Result<(String, Evidence, Range<usize>), FileError> {
    const SHAPE: &str = "write `{ value = …, source = \"…\", confidence = \"…\" }`";
    let missing = |what: &str| file.error(entry.key_span.clone(), format!("`{}` has no {what}", entry.key), SHAPE);
    if !entry.value.get_ref().is_table() {
        return Ok((file.scalar(entry)?, Evidence::none(), entry.value.span()));
    }
    let (mut value, mut source, mut confidence) = (None, None, None);
    for part in file.table(entry)? {
        match part.key {
            "value" => value = Some((file.scalar(&part)?, part.value.span())),
            "source" => source = Some(file.string(&part)?),
            "confidence" => confidence = Some(read_confidence(file, &part)?),
            _ => return Err(file.unknown_key(&part, ["value", "source", "confidence"])),
        }
    }
    let (text, span) = value.ok_or_else(|| missing("`value`"))?;
    let source = source.ok_or_else(|| missing("`source`"))?;
    let confidence = confidence.ok_or_else(|| missing("`confidence`"))?;
    Ok((text, Evidence { source, confidence }, span))
}

fn read_confidence(file: &TomlFile<'_>, entry: &Entry<'_>) -> Result<Confidence, FileError> {
    let word = file.string(entry)?;
    Confidence::parse(&word).ok_or_else(|| {
        let words: Vec<&str> = Confidence::ALL.iter().map(|confidence| confidence.word()).collect();
        file.error(
            entry.value.span(),
            format!("`{word}` is not a valid confidence"),
            format!("one of {}", words.join(", ")),
        )
    })
}

/// The leaves of `[later]`: paths that do not exist yet, with the same evidence.
fn later(file: &TomlFile<'_>, above: &str, entry: &Entry<'_>) -> Result<Vec<Later>, FileError> {
    let mut found = Vec::new();
    for inner in file.table(entry)? {
        let path = join(above, inner.key);
        let is_leaf = inner.value.get_ref().as_table().is_none_or(|table| table.contains_key("value"));
        if !is_leaf {
            found.extend(later(file, &path, &inner)?);
        } else if lookup::known(&path).is_some() {
            let problem = format!("`{path}` exists already");
            return Err(file.error(inner.key_span, problem, "move it out of `[later]` and give it its value"));
        } else {
            let (value, evidence, _) = cited(file, &inner)?;
            found.push(Later { path, value, evidence });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

#[cfg(test)]
mod tests;
