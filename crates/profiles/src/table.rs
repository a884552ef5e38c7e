//! Profiles as tables: one with its evidence, two where they differ, all side by side.
//!
//! A table is headings and rows of text; the command line draws it for a terminal, [`markdown`] for `docs/profiles.md`.

use crate::evidence::Confidence;
use crate::leaves::LEAVES;
use crate::profile::Profile;

/// Headings and rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// One per column.
    pub header: Vec<String>,
    /// Each as long as the header.
    pub rows: Vec<Vec<String>>,
}

/// What stands where a leaf does not apply.
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

/// The leaves of a profile for whose value nobody can vouch.
pub fn unproven(profile: &Profile) -> Table {
    evidence_of(profile, |confidence| confidence == Confidence::Assumed)
}

fn evidence_of(profile: &Profile, wanted: impl Fn(Confidence) -> bool) -> Table {
    let mut table = Table::new(&["leaf", "value", "confidence", "from", "source"]);
    for leaf in LEAVES {
        if let Some(cited) = profile.leaf(leaf.path).filter(|cited| wanted(cited.evidence.confidence)) {
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

/// The leaves in which two profiles differ.
pub fn differences(a: &Profile, b: &Profile) -> Table {
    let mut table = side_by_side(&[a, b]);
    table.rows.retain(|row| row[1] != row[2]);
    table
}

/// All leaves that apply to any of the profiles.
pub fn side_by_side(profiles: &[&Profile]) -> Table {
    let mut table = Table::new(&["leaf"]);
    table.header.extend(profiles.iter().map(|profile| profile.name.clone()));
    for leaf in LEAVES {
        let values: Vec<Option<&str>> =
            profiles.iter().map(|profile| profile.leaf(leaf.path).map(|cited| cited.value.as_str())).collect();
        if values.iter().any(Option::is_some) {
            let shown = values.iter().map(|value| value.unwrap_or(ABSENT).to_owned());
            table.rows.push(core::iter::once(leaf.path.to_owned()).chain(shown).collect());
        }
    }
    table
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

/// The page `docs/profiles.md`: every effective value of every profile, with where it is known from.
pub fn page(profiles: &[Profile]) -> String {
    let all: Vec<&Profile> = profiles.iter().collect();
    let mut page = String::from(
        "# Profiles\n\n\
         <!-- Generated from crates/profiles/data. Do not edit: UPDATE_DOCS=1 cargo test -p longhaul-profiles -->\n\n\
         Every value of every built-in profile. A value that a profile inherits from `rfc` says what the RFCs say, not what the\n\
         described system was seen to do. Confidence is *documented*, *measured*, *inferred* or *assumed*.\n\n## Side by side\n\n",
    );
    page.push_str(&markdown(&side_by_side(&all)));
    for profile in profiles {
        page.push_str(&format!("\n## {}\n\n{}.\n\n", profile.name, profile.summary));
        page.push_str(&markdown(&one(profile)));
        if !profile.later().is_empty() {
            page.push_str("\nThe described system also has, and this program cannot do yet:\n\n");
            page.push_str(&markdown(&later(profile)));
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{builtin, get};

    #[test]
    fn the_page_in_docs_is_up_to_date() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/profiles.md");
        let page = page(builtin());
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, &page).expect("docs can be written");
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            found == page,
            "docs/profiles.md is out of date; UPDATE_DOCS=1 cargo test -p longhaul-profiles writes it"
        );
    }

    #[test]
    fn two_profiles_show_only_where_they_differ() {
        let table = differences(get("server-2016").unwrap(), get("server-2022").unwrap());
        assert!(table.rows.iter().all(|row| row[1] != row[2]));
        let beta: Vec<&[String]> =
            table.rows.iter().map(|row| &row[1..]).filter(|row| row == &["0.5", "0.7"]).collect();
        assert_eq!(beta.len(), 1);
        assert!(differences(get("rfc").unwrap(), get("rfc").unwrap()).rows.is_empty());
    }

    #[test]
    fn what_is_unproven_is_assumed_and_named() {
        let table = unproven(get("longhaul").unwrap());
        assert!(table.rows.iter().any(|row| row[0] == "rto.min" && row[2] == "assumed"));
        assert!(table.rows.iter().all(|row| row[2] == "assumed"));
        assert!(one(get("longhaul").unwrap()).rows.len() > table.rows.len());
    }

    #[test]
    fn a_bar_in_a_cell_does_not_break_the_table() {
        let table = Table { header: vec!["a".into()], rows: vec![vec!["x|y".into()]] };
        assert_eq!(markdown(&table), "| a |\n|---|\n| x\\|y |\n");
    }
}
