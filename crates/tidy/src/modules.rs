//! Which file of a crate uses items of which other: modules by their files, the items each defines, and its `use` paths.
//!
//! Reads masked code like every rule. A path leads to the file that defines its item, through re-exports and imported
//! modules. What it cannot resolve (methods, items that macros make, names from elsewhere) makes no edge.

mod tokens;

use crate::Source;
use std::collections::{BTreeMap, BTreeSet};
use tokens::{Import, Parsed};

/// Most steps from a name to its item.
const MOST: usize = 100;

/// A crate's files by the path of their module; the root's is empty.
#[derive(Clone, Debug, Default)]
pub struct Modules {
    files: BTreeMap<Vec<String>, File>,
}

#[derive(Clone, Debug)]
struct File {
    path: String,
    parsed: Parsed,
}

/// One file's use of an item that another file defines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    /// The file that uses it.
    pub from: String,
    /// The file that defines it.
    pub to: String,
    /// The item's name.
    pub item: String,
    /// Where it is used, from 1.
    pub line: usize,
}

impl Modules {
    /// Reads the files of one crate: those below `crates/NAME/src/` that are no tests.
    pub fn of<'s>(krate: &str, sources: impl IntoIterator<Item = &'s Source>) -> Self {
        let below = format!("crates/{krate}/src/");
        let mut files = BTreeMap::new();
        for source in sources.into_iter().filter(|source| !source.is_test()) {
            if let Some(module) = source.path.strip_prefix(&below).and_then(module_path) {
                files.insert(module, File { path: source.path.clone(), parsed: Parsed::of(&source.code) });
            }
        }
        Self { files }
    }

    /// Every use of an item of another file, once for each pair of files, the first in the file.
    pub fn uses(&self) -> Vec<Use> {
        let mut found: BTreeMap<(String, String), Use> = BTreeMap::new();
        for used in self.every_use() {
            found.entry((used.from.clone(), used.to.clone())).or_insert(used);
        }
        found.into_values().collect()
    }

    /// Every use of an item of another file, imports first.
    pub fn every_use(&self) -> Vec<Use> {
        let mut found = Vec::new();
        for (module, file) in &self.files {
            let others = self.uses_of(module, file).into_iter().filter(|(_, to, _)| *to != file.path);
            found.extend(others.map(|(item, to, line)| Use { from: file.path.clone(), to: to.to_owned(), item, line }));
        }
        found
    }

    fn uses_of<'m>(&'m self, module: &[String], file: &File) -> Vec<(String, &'m str, usize)> {
        let mut found = Vec::new();
        let mut note = |segments: &[String], line: usize| {
            if let Some((to, item)) = self.resolve(module, segments) {
                found.push((item.to_owned(), to, line));
            }
        };
        let words: BTreeSet<&str> = file.parsed.words.iter().map(|(word, _)| word.as_str()).collect();
        for import in &file.parsed.imports {
            if import.is_glob() {
                let stem = &import.path[..import.path.len() - 1];
                for (word, line) in &file.parsed.words {
                    note(&[stem, std::slice::from_ref(word)].concat(), *line);
                }
            } else if !import.public || words.contains(import.name.as_str()) {
                // Handing a name on is no use of it.
                note(&import.path, import.line);
            }
        }
        for (path, line) in &file.parsed.paths {
            note(path, *line);
        }
        found
    }

    /// The file that defines what a path means in a module, and the item's name there, not that of what is inside the item;
    /// `None` for what is a module itself or is not found.
    fn resolve(&self, module: &[String], path: &[String]) -> Option<(&str, &str)> {
        self.follow(module, path, &mut BTreeSet::new())
    }

    fn follow(
        &self,
        from: &[String],
        path: &[String],
        seen: &mut BTreeSet<(Vec<String>, Vec<String>)>,
    ) -> Option<(&str, &str)> {
        if seen.len() > MOST || !seen.insert((from.to_vec(), path.to_vec())) {
            return None;
        }
        let (mut at, mut rest) = (from.to_vec(), path);
        while let Some((segment, further)) = rest.split_first() {
            match segment.as_str() {
                "crate" => at.clear(),
                "self" => {}
                "super" => drop(at.pop()?),
                _ => break,
            }
            rest = further;
        }
        while let Some((segment, further)) = rest.split_first() {
            let file = self.files.get(&at)?;
            let child = [&at[..], std::slice::from_ref(segment)].concat();
            if !further.is_empty() && self.files.contains_key(&child) {
                (at, rest) = (child, further);
                continue;
            }
            if let Some(item) = file.parsed.items.get(segment) {
                return Some((&file.path, item));
            }
            // `use serde::serde` brings what is elsewhere: an import does not lead to itself.
            let named = |import: &&Import| import.name == *segment && import.path[0] != *segment;
            let handed_on = file.parsed.imports.iter().filter(named).map(|import| [&import.path[..], further].concat());
            let globs = file.parsed.imports.iter().filter(|import| import.is_glob());
            let by_glob = globs.map(|import| [&import.path[..import.path.len() - 1], rest].concat());
            return handed_on.chain(by_glob).find_map(|path| self.follow(&at, &path, seen));
        }
        None
    }
}

/// The module of a file below `src/`; programs of their own beside a library are none.
fn module_path(inside: &str) -> Option<Vec<String>> {
    let mut parts: Vec<String> = inside.strip_suffix(".rs")?.split('/').map(str::to_owned).collect();
    if parts[0] == "bin" {
        return None;
    }
    match parts.last().map(String::as_str) {
        Some("mod") => drop(parts.pop()),
        Some("lib" | "main") if parts.len() == 1 => parts.clear(),
        _ => {}
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> =
            files.iter().map(|(path, text)| Source::new(format!("crates/lab/src/{path}"), *text)).collect();
        let short = |path: &str| path.trim_start_matches("crates/lab/src/").to_owned();
        let uses = Modules::of("lab", &sources).uses().into_iter();
        uses.map(|found| {
            format!("{} -> {} ({}, line {})", short(&found.from), short(&found.to), found.item, found.line)
        })
        .collect()
    }

    #[test]
    fn an_import_leads_to_the_file_that_defines_its_item() {
        let files = [
            ("lib.rs", "pub mod a;\nmod b;\npub use b::Deep;"),
            ("a.rs", "use crate::Deep;\nuse std::fmt;\npub struct Own;"),
            ("b/mod.rs", "mod c;\npub use c::Deep;\n"),
            ("b/c.rs", "//! See `crate::a::Own`.\npub struct Deep;\n#[cfg(test)]\nmod tests { use crate::a::Own; }"),
        ];
        assert_eq!(uses(&files), ["a.rs -> b/c.rs (Deep, line 1)"]);
    }

    #[test]
    fn groups_aliases_and_paths_in_the_text_count() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\nfn top() { b::make(); }"),
            ("a.rs", "use crate::{b::{self, One as Uno}, top};\nfn of() -> b::Two { todo!() }"),
            ("b.rs", "pub struct One;\npub struct Two;\npub fn make() {}"),
        ];
        let expected = ["a.rs -> b.rs (One, line 1)", "a.rs -> lib.rs (top, line 1)", "lib.rs -> b.rs (make, line 3)"];
        assert_eq!(uses(&files), expected);
    }

    #[test]
    fn what_is_inside_an_item_counts_as_the_item() {
        let files = [
            ("lib.rs", "mod b;\nfn of() -> bool { b::Way::Out.is_open() }"),
            ("b.rs", "pub enum Way { In, Out }\nimpl Way { pub fn is_open(&self) -> bool { true } }"),
        ];
        assert_eq!(uses(&files), ["lib.rs -> b.rs (Way, line 2)"]);
    }

    #[test]
    fn a_star_brings_what_the_text_names() {
        let files = [
            ("lib.rs", "mod a;\nmod b;"),
            ("a.rs", "use super::b::*;\nfn of() -> One { One }"),
            ("b.rs", "pub struct One;\npub use crate::a::of;"),
        ];
        assert_eq!(uses(&files), ["a.rs -> b.rs (One, line 2)"]);
    }

    #[test]
    fn a_module_that_shares_its_item_s_name_is_no_use_of_it() {
        let files = [("lib.rs", "mod emit;\npub use emit::emit;"), ("emit.rs", "pub fn emit() {}")];
        assert_eq!(uses(&files), [""; 0]);
        let files = [("lib.rs", "mod emit;\npub use emit::emit;\nfn of() { emit() }"), files[1]];
        assert_eq!(uses(&files), ["lib.rs -> emit.rs (emit, line 2)"]);
    }

    #[test]
    fn names_that_lead_in_a_circle_lead_nowhere() {
        let files = [("lib.rs", "mod a;\nmod b;"), ("a.rs", "pub use super::b::x;"), ("b.rs", "use super::a::x;")];
        assert_eq!(uses(&files), [""; 0]);
    }
}
