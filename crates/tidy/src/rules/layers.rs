//! Who may depend on whom (docs/ARCHITECTURE.md, "Crates and layers").
//!
//! A row names what a crate is built from; what those crates are themselves built from comes with them, since their types
//! stand in their interfaces. Siblings on one layer never meet, and nothing points upward.

use crate::{PURE_CRATES, Problem};
use std::collections::BTreeSet;

/// Crate, layer, and the crates its row names.
pub const ROWS: &[(&str, u8, &[&str])] = &[
    ("base", 0, &[]),
    ("wire", 1, &["base"]),
    ("cc", 1, &["base"]),
    ("recovery", 1, &["base"]),
    ("trace", 1, &["base"]),
    ("tcp", 2, &["base", "wire", "cc", "recovery", "trace"]),
    ("netem", 2, &["base"]),
    ("sim", 3, &["tcp", "netem", "trace"]),
    ("net", 4, &["tcp", "netem"]),
    ("profiles", 4, &["tcp"]),
    ("trace-io", 4, &["trace", "wire"]),
    ("lab", 5, &["sim", "profiles", "trace-io"]),
    ("packetdrill", 5, &["tcp", "profiles"]),
    ("report", 6, &["trace-io", "lab"]),
    ("drill", 6, &["packetdrill"]),
    ("cli", 7, &["report", "lab", "packetdrill", "net", "profiles", "trace-io", "sim"]),
    ("tidy", 0, &[]),
    ("xtask", 1, &["tidy"]),
];

/// Libraries from elsewhere that a crate below the purity line may use; none of them reads a clock or does I/O.
const PURE_LIBRARIES: &[(&str, &[&str])] = &[("sim", &["thiserror"])];

/// One entry of a `[dependencies]` table.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Directory of the depending crate under `crates/`.
    pub from: String,
    /// The dependency: a crate of ours by its directory, or a package from elsewhere.
    pub to: String,
    /// Whether it is ours.
    pub ours: bool,
}

/// Crates of ours that `krate` may depend on.
pub fn allowed(krate: &str) -> BTreeSet<&'static str> {
    let mut allowed = BTreeSet::new();
    let mut open: Vec<&'static str> = row(krate).map_or(Vec::new(), |(_, row)| row.to_vec());
    while let Some(next) = open.pop() {
        if allowed.insert(next) {
            open.extend(row(next).map_or(&[][..], |(_, row)| row));
        }
    }
    allowed
}

fn row(krate: &str) -> Option<(u8, &'static [&'static str])> {
    ROWS.iter().find(|(name, _, _)| *name == krate).map(|&(_, layer, row)| (layer, row))
}

/// Dependencies that the table does not allow.
pub fn check(edges: &[Edge]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for edge in edges {
        let manifest = format!("crates/{}/Cargo.toml", edge.from);
        if row(&edge.from).is_none() {
            let what = format!("crate `{}` stands in no layer", edge.from);
            problems.push(Problem::new(
                &manifest,
                1,
                what,
                "a row in docs/ARCHITECTURE.md and in tidy's rules/layers.rs",
            ));
        } else if edge.ours && !allowed(&edge.from).contains(edge.to.as_str()) {
            let what = format!("`{}` depends on `{}`", edge.from, edge.to);
            let right = format!("one of {:?}, or the code moved to a layer that may see both", allowed(&edge.from));
            problems.push(Problem::new(&manifest, 1, what, right));
        } else if !edge.ours && PURE_CRATES.contains(&edge.from.as_str()) && !library_allowed(edge) {
            let what = format!("`{}` is below the purity line and depends on `{}`", edge.from, edge.to);
            let right = "no library from elsewhere, or one argued for in docs/DEPENDENCIES.md and listed in tidy's rules/layers.rs";
            problems.push(Problem::new(&manifest, 1, what, right));
        }
    }
    problems
}

fn library_allowed(edge: &Edge) -> bool {
    PURE_LIBRARIES.iter().any(|(krate, libraries)| *krate == edge.from && libraries.contains(&edge.to.as_str()))
}

/// Libraries from elsewhere that `page` (docs/DEPENDENCIES.md) does not speak of; test libraries count too.
pub fn unexplained(edges: &[Edge], page: &str) -> Vec<Problem> {
    let missing: BTreeSet<&str> = edges
        .iter()
        .filter(|edge| !edge.ours && !page.contains(&format!("`{}`", edge.to)))
        .map(|edge| edge.to.as_str())
        .collect();
    let right = "a line there: what for, and why this one";
    let problem = |name| Problem::new("docs/DEPENDENCIES.md", 1, format!("`{name}` is used and not explained"), right);
    missing.into_iter().map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(from: &str, to: &str, ours: bool) -> Edge {
        Edge { from: from.into(), to: to.into(), ours }
    }

    #[test]
    fn rows_point_only_to_lower_layers() {
        for (krate, layer, names) in ROWS {
            for name in *names {
                assert!(row(name).is_some_and(|(lower, _)| lower < *layer), "{krate} → {name}");
            }
        }
    }

    #[test]
    fn siblings_never_meet_and_nothing_points_upward() {
        for (from, to) in [("cc", "recovery"), ("tcp", "netem"), ("netem", "wire"), ("sim", "profiles"), ("net", "sim")]
        {
            assert_eq!(check(&[edge(from, to, true)]).len(), 1, "{from} → {to}");
        }
        for (from, to) in [("tcp", "cc"), ("sim", "recovery"), ("lab", "netem"), ("cli", "base")] {
            assert_eq!(check(&[edge(from, to, true)]), [], "{from} → {to}");
        }
    }

    #[test]
    fn pure_crates_take_no_library_but_the_listed() {
        assert_eq!(check(&[edge("sim", "thiserror", false), edge("lab", "serde", false)]), []);
        assert_eq!(check(&[edge("cc", "serde", false)]).len(), 1);
    }

    #[test]
    fn every_library_is_explained_once_however_many_use_it() {
        let edges = [edge("lab", "serde", false), edge("cli", "serde", false), edge("cli", "lab", true)];
        assert_eq!(unexplained(&edges, "| files | `serde` | |"), []);
        assert_eq!(unexplained(&edges, "| files | `serde_json` | |").len(), 1);
    }

    #[test]
    fn a_crate_without_a_row_is_found() {
        assert_eq!(check(&[edge("util", "base", true)]).len(), 1);
    }
}
