//! Which crate may depend on which (docs/ARCHITECTURE.md, "Crates and layers").
//!
//! A row names a crate's direct dependencies; the dependencies of those are included, since their types appear in their
//! interfaces. Siblings on one layer never depend on each other, and no dependency points upward.

use crate::Problem;
use std::collections::BTreeSet;

/// The page that holds layers and table.
pub const PAGE: &str = "docs/ARCHITECTURE.md";

/// Parts, in the drawing, the crates that touch no machine from those that do.
const PURITY_LINE: &str = "purity line";

/// Crates beside the layers: they serve the repository and are not part of the program.
const BESIDE: [&str; 2] = ["tidy", "xtask"];

/// The layers and the table of crates, as the page has them.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    rows: Vec<Row>,
}

#[derive(Clone, Debug)]
struct Row {
    krate: String,
    /// Counted from the bottom; `None` for what no layer names.
    layer: Option<u8>,
    /// Whether its layer is drawn below the purity line.
    pure: bool,
    built_from: Vec<String>,
    /// In the page.
    line: usize,
}

impl Layers {
    /// Reads the section "Crates and layers": lines of its drawing that begin with a number, and lines of its table that
    /// begin with a crate's name as code.
    pub fn read(page: &str) -> Self {
        let (mut rows, mut drawn, mut pure) = (Vec::<Row>::new(), Vec::new(), false);
        let section = page.lines().zip(1..).skip_while(|(line, _)| *line != "## Crates and layers").skip(1);
        for (line, number) in section.take_while(|(line, _)| !line.starts_with("## ")) {
            if let Some(row) = Row::read(line, number) {
                rows.push(row);
            }
            pure |= line.contains(PURITY_LINE);
            // A wide gap separates the crates of a layer from their description.
            let mut words = line.trim().split("    ").take(1).flat_map(str::split_whitespace);
            if let Some(layer) = words.next().and_then(|word| word.parse().ok()) {
                drawn.extend(words.map(|word| (word, layer, pure)));
            }
        }
        for row in &mut rows {
            if let Some((_, layer, pure)) = drawn.iter().find(|(word, ..)| *word == row.krate) {
                (row.layer, row.pure) = (Some(*layer), *pure);
            }
        }
        Self { rows }
    }

    fn row(&self, krate: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.krate == krate)
    }

    /// The crates below the purity line: no I/O, no clock, no float, no hash order.
    pub fn pure(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().filter(|row| row.pure).map(|row| row.krate.as_str())
    }

    /// Crates of ours that `krate` may depend on.
    pub fn allowed(&self, krate: &str) -> BTreeSet<&str> {
        let mut allowed = BTreeSet::new();
        let mut open: Vec<&str> = self.names(krate).collect();
        while let Some(next) = open.pop() {
            if allowed.insert(next) {
                open.extend(self.names(next));
            }
        }
        allowed
    }

    fn names(&self, krate: &str) -> impl Iterator<Item = &str> {
        self.row(krate).into_iter().flat_map(|row| row.built_from.iter().map(String::as_str))
    }

    /// Returns statements of the page that cannot be true, or that `crates` and `edges` contradict.
    fn untrue(&self, crates: &[String], edges: &[Edge]) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut found = |line, what: String, right: &str| problems.push(Problem::new(PAGE, line, what, right));
        if self.pure().next().is_none() {
            found(1, format!("no crate stands below a \"{PURITY_LINE}\""), "the line drawn between the layers");
        }
        for krate in crates.iter().filter(|krate| self.row(krate).is_none()) {
            found(1, format!("crate `{krate}` has no row in the table of crates"), "a row, and a place in the layers");
        }
        for row in &self.rows {
            let krate = &row.krate;
            if !crates.contains(krate) {
                found(row.line, format!("unknown crate `{krate}`"), "no row for it");
            }
            if row.layer.is_none() && !BESIDE.contains(&krate.as_str()) {
                found(row.line, format!("`{krate}` stands in no layer"), "a place in the drawing above the table");
            }
            for name in &row.built_from {
                let above = self.row(name).is_none_or(|lower| row.layer.is_some() && lower.layer >= row.layer);
                if above {
                    found(row.line, format!("`{krate}` is built from `{name}`"), "a crate of a lower layer");
                }
                if !edges.iter().any(|edge| edge.ours && edge.from == *krate && edge.to == *name) {
                    let what = format!("the row of `{krate}` names `{name}`, which it does not depend on");
                    found(row.line, what, "only crates that its manifest names");
                }
            }
        }
        problems
    }
}

impl Row {
    /// ``| `lab` | charter | sim, profiles |``
    fn read(line: &str, number: usize) -> Option<Self> {
        let cells: Vec<&str> = line.strip_prefix('|')?.strip_suffix('|')?.split('|').map(str::trim).collect();
        let [krate, _, built_from] = cells.as_slice() else { return None };
        let krate = krate.strip_prefix('`')?.strip_suffix('`')?.to_owned();
        let built_from = built_from.split(',').map(str::trim).filter(|name| *name != "—").map(str::to_owned).collect();
        Some(Self { krate, layer: None, pure: false, built_from, line: number })
    }
}

/// External libraries that a crate below the purity line may use; none of them reads a clock or does I/O.
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

/// Returns dependencies that the table does not allow, and wrong statements of the table.
pub fn check(layers: &Layers, crates: &[String], edges: &[Edge]) -> Vec<Problem> {
    let mut problems = layers.untrue(crates, edges);
    for edge in edges.iter().filter(|edge| layers.row(&edge.from).is_some()) {
        let manifest = format!("crates/{}/Cargo.toml", edge.from);
        let allowed = layers.allowed(&edge.from);
        if edge.ours && !allowed.contains(edge.to.as_str()) {
            let what = format!("`{}` depends on `{}`", edge.from, edge.to);
            let right = format!("one of {allowed:?}, or the code moved to a layer that may see both");
            problems.push(Problem::new(&manifest, 1, what, right));
        } else if !edge.ours && layers.pure().any(|krate| krate == edge.from) && !library_allowed(edge) {
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

/// Returns external libraries that `page` (docs/DEPENDENCIES.md) does not mention; test libraries count too.
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

    const DRAWN: &str = "\
## Before
| `other` | no crate | — |
## Crates and layers
```
 2  lab   report        who meets base
 ── purity line ──
 1  sim   cc
 0  base
```
| Crate | Charter | Built from |
|---|---|---|
| `base` | units | — |
| `cc` | control | base |
| `sim` | world | base |
| `lab` | experiments | sim, cc |
| `report` | pages | sim |
| `tidy` | rules | — |
## After
| `later` | no crate | — |
";

    /// What the drawing's rows name, as a workspace that bears them out has it.
    const TRUE: [(&str, &str); 5] = [("cc", "base"), ("sim", "base"), ("lab", "sim"), ("lab", "cc"), ("report", "sim")];

    fn found(page: &str, crates: &[&str], more: &[Edge]) -> Vec<String> {
        let crates: Vec<String> = crates.iter().map(|krate| (*krate).to_owned()).collect();
        let edges: Vec<Edge> = TRUE.iter().map(|(from, to)| edge(from, to, true)).chain(more.iter().cloned()).collect();
        check(&Layers::read(page), &crates, &edges).iter().map(ToString::to_string).collect()
    }

    const ALL: [&str; 6] = ["base", "cc", "sim", "lab", "report", "tidy"];

    #[test]
    fn a_page_that_is_true_has_no_problem() {
        assert_eq!(found(DRAWN, &ALL, &[edge("lab", "base", true)]), [""; 0]);
    }

    #[test]
    fn siblings_never_meet_and_nothing_points_upward() {
        for (from, to) in [("cc", "sim"), ("base", "cc"), ("report", "lab"), ("sim", "lab"), ("tidy", "base")] {
            let problems = found(DRAWN, &ALL, &[edge(from, to, true)]);
            assert!(
                problems.len() == 1 && problems[0].contains(&format!("`{from}` depends on `{to}`")),
                "{problems:?}"
            );
        }
    }

    #[test]
    fn what_the_page_says_that_is_not_so_is_found() {
        let one = |page: String, crates: &[&str], what: &str| {
            let problems = found(&page, crates, &[]);
            assert!(problems.len() == 1 && problems[0].contains(what), "{problems:?}");
        };
        let changed = |from: &str, to: &str| DRAWN.replace(from, to);
        one(DRAWN.to_owned(), &["base", "cc", "sim", "lab", "report", "tidy", "util"], "crate `util` has no row");
        one(DRAWN.to_owned(), &ALL[1..], "unknown crate `base`");
        one(changed("lab   report", "lab"), &ALL, "`report` stands in no layer");
        one(
            changed("sim, cc |", "sim, cc, base |"),
            &ALL,
            "the row of `lab` names `base`, which it does not depend on",
        );
        let sunk = changed("lab   report", "lab").replace("sim   cc", "sim   cc   report");
        one(sunk, &ALL, "`report` is built from `sim`");
    }

    #[test]
    fn the_line_that_is_drawn_says_which_crates_are_pure() {
        assert_eq!(Layers::read(DRAWN).pure().collect::<Vec<_>>(), ["base", "cc", "sim"]);
        let higher = DRAWN.replace(
            " 2  lab   report        who meets base\n ── purity line ──\n",
            " ── purity line ──\n 2  lab   report\n",
        );
        assert_eq!(Layers::read(&higher).pure().count(), 5);
        assert!(found(&DRAWN.replace("purity line", "line"), &ALL, &[])[0].contains("no crate stands below"));
    }

    #[test]
    fn pure_crates_take_no_library_but_the_listed() {
        assert_eq!(found(DRAWN, &ALL, &[edge("sim", "thiserror", false), edge("lab", "serde", false)]), [""; 0]);
        assert_eq!(found(DRAWN, &ALL, &[edge("cc", "serde", false)]).len(), 1);
    }

    #[test]
    fn every_library_is_explained_once_however_many_use_it() {
        let edges = [edge("lab", "serde", false), edge("cli", "serde", false), edge("cli", "lab", true)];
        assert_eq!(unexplained(&edges, "| files | `serde` | |"), []);
        assert_eq!(unexplained(&edges, "| files | `serde_json` | |").len(), 1);
    }
}
