//! Profiles as tables: one with its evidence, two where they differ, all side by side.
//!
//! A table is headings and rows of text; the command line draws it for a terminal, `page.rs` for `docs/profiles.md`.

use crate::evidence::Confidence;
use crate::leaves::LEAVES;
use crate::profile::{Cited, Profile};

/// Headings and rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// One per column.
    pub header: Vec<String>,
    /// Each as long as the header.
    pub rows: Vec<Vec<String>>,
}

/// Replaces a leaf that does not apply.
const ABSENT: &str = "–";

impl Table {
    fn new(header: &[&str]) -> Self {
        Self { header: header.iter().map(|text| (*text).to_owned()).collect(), rows: Vec::new() }
    }
    fn push(&mut self, row: &[&str]) {
        self.rows.push(row.iter().map(|text| (*text).to_owned()).collect());
    }
}

/// The effective values of a profile with their evidence.
pub fn one(profile: &Profile) -> Table {
    evidence_of(profile, |_| true)
}

/// The values that a profile gives itself, with their evidence.
pub fn own(profile: &Profile) -> Table {
    evidence_of(profile, |cited| cited.from == profile.name)
}

/// Returns the leaves of a profile whose values are assumed.
pub fn unproven(profile: &Profile) -> Table {
    evidence_of(profile, |cited| cited.evidence.confidence == Confidence::Assumed)
}

fn evidence_of(profile: &Profile, wanted: impl Fn(&Cited) -> bool) -> Table {
    let mut table = Table::new(&["leaf", "value", "confidence", "from", "source"]);
    for leaf in LEAVES {
        if let Some(cited) = profile.leaf(leaf.path).filter(|cited| wanted(cited)) {
            let word = cited.evidence.confidence.word();
            table.push(&[leaf.path, &cited.value, word, &cited.from, &cited.evidence.source]);
        }
    }
    table
}

/// What the described system has and this program cannot do yet.
pub fn later(profile: &Profile) -> Table {
    let mut table = Table::new(&["not yet modelled", "value", "confidence", "source"]);
    for leaf in profile.later() {
        table.push(&[&leaf.path, &leaf.value, leaf.evidence.confidence.word(), &leaf.evidence.source]);
    }
    table
}

/// Returns the leaves in which two profiles differ, with the evidence of both; the last column cites both, one per line.
pub fn differences(a: &Profile, b: &Profile) -> Table {
    let mut table = Table::new(&["leaf", &a.name, "known", &b.name, "known", "sources"]);
    for leaf in LEAVES {
        let [left, right] = [a, b].map(|profile| profile.leaf(leaf.path));
        if left.map(|cited| &cited.value) == right.map(|cited| &cited.value) {
            continue;
        }
        let value = |cited: Option<&Cited>| cited.map_or(ABSENT, |cited| &cited.value).to_owned();
        let known = |profile: &Profile, cited: Option<&Cited>| match cited {
            Some(cited) if profile.stands_in(cited) => format!("as {}", cited.from),
            Some(cited) => cited.evidence.confidence.word().to_owned(),
            None => String::new(),
        };
        let sources: Vec<String> = [(a, left), (b, right)]
            .into_iter()
            .filter_map(|(profile, cited)| Some(format!("{}: {}", profile.name, cited?.evidence.source)))
            .collect();
        let (known_a, known_b) = (known(a, left), known(b, right));
        let cells = [leaf.path, &value(left), &known_a, &value(right), &known_b, &sources.join("\n")];
        table.push(&cells);
    }
    table
}

/// All leaves that apply to any of the profiles, each value with the mark of its confidence.
pub fn side_by_side(profiles: &[&Profile]) -> Table {
    let mut table = Table::new(&["leaf"]);
    table.header.extend(profiles.iter().map(|profile| profile.name.clone()));
    for leaf in LEAVES {
        if profiles.iter().any(|profile| profile.leaf(leaf.path).is_some()) {
            let shown = profiles.iter().map(|profile| marked(profile, leaf.path));
            table.rows.push(core::iter::once(leaf.path.to_owned()).chain(shown).collect());
        }
    }
    table
}

/// Returns the mark of a value that is not documented.
const fn mark(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Documented => "",
        Confidence::Measured => " !",
        Confidence::Inferred => " ~",
        Confidence::Assumed => " ?",
    }
}

/// Marks a value of the root in a profile of another system.
const STANDS_IN: &str = " ·";

fn marked(profile: &Profile, path: &str) -> String {
    let Some(cited) = profile.leaf(path) else { return ABSENT.to_owned() };
    let mark = if profile.stands_in(cited) { STANDS_IN } else { mark(cited.evidence.confidence) };
    format!("{}{mark}", cited.value)
}

/// What the marks mean.
pub fn legend() -> String {
    let known = Confidence::ALL.iter().map(|confidence| match mark(*confidence).trim() {
        "" => format!("{} without a mark", confidence.word()),
        sign => format!("{} `{sign}`", confidence.word()),
    });
    let known: Vec<String> = known.collect();
    let stands_in = STANDS_IN.trim();
    format!(
        "A value is {}; with `{stands_in}` it comes from the root, because no source gives one; `{ABSENT}` does not apply.",
        known.join(", ")
    )
}

/// A table in Markdown.
pub fn markdown(table: &Table) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule = format!("|{}\n", "---|".repeat(table.header.len()));
    let rows: String = table.rows.iter().map(|row| line(row)).collect();
    format!("{}{rule}{rows}", line(&table.header))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::get;

    #[test]
    fn two_profiles_show_only_where_they_differ() {
        let table = differences(get("server-2016").unwrap(), get("server-2022").unwrap());
        assert!(table.rows.iter().all(|row| row[1] != row[3]));
        let beta = table.rows.iter().find(|row| row[0] == "cc.avoidance.beta").expect("they differ in it");
        assert_eq!(beta[1..5], ["0.5", "inferred", "0.7", "inferred"]);
        assert!(beta[5].starts_with("server-2016: draft-sridharan") && beta[5].contains("\nserver-2022: RFC 9438"));
        assert!(differences(get("rfc").unwrap(), get("rfc").unwrap()).rows.is_empty());
    }

    #[test]
    fn what_is_unproven_is_assumed_and_named() {
        let table = unproven(get("longhaul").unwrap());
        assert!(table.rows.iter().any(|row| row[0] == "send.buffer" && row[2] == "assumed"));
        assert!(table.rows.iter().all(|row| row[2] == "assumed"));
        assert!(one(get("longhaul").unwrap()).rows.len() > table.rows.len());
    }

    #[test]
    fn side_by_side_every_value_shows_how_surely_it_is_known() {
        let table = side_by_side(&[get("rfc").unwrap(), get("windows-2000").unwrap()]);
        let row = |path: &str| table.rows.iter().find(|row| row[0] == path).expect("it applies").clone();
        assert_eq!(row("cc.avoidance.c")[1..], ["0.4", "–"]);
        assert_eq!(row("rto.min")[1..], ["1s", "300ms ?"]);
        assert_eq!(row("recovery.limited_transmit")[1..], ["on", "off ~"]);
        assert_eq!(row("send.nagle")[1..], ["rfc896", "rfc896 ·"]);
        assert_eq!(
            legend(),
            "A value is documented without a mark, measured `!`, inferred `~`, assumed `?`; \
             with `·` it comes from the root, because no source gives one; `–` does not apply."
        );
    }

    #[test]
    fn a_bar_in_a_cell_does_not_break_the_table() {
        let table = Table { header: vec!["a".into()], rows: vec![vec!["x|y".into()]] };
        assert_eq!(markdown(&table), "| a |\n|---|\n| x\\|y |\n");
    }
}
