//! Pages of measured numbers match the current behaviour.
//!
//! Each table of a page carries a mark: an HTML comment that opens with `behaviour:` and holds entries `PROFILE/DEVICE=STAMP`,
//! copied from the file of stamps when its numbers were measured. Tables of a page are measured by different commands at
//! different times, so each needs its own mark. A test of `lab` maintains the file itself; this rule compares texts.

use crate::Problem;
use std::collections::BTreeMap;

/// A page of measured numbers.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Path from the repository root.
    pub path: &'static str,
    /// Number of tables with a mark of their own.
    pub tables: usize,
    /// The command that measures it again.
    pub remedy: &'static str,
}

/// Every page of measured numbers.
pub const PAGES: [Page; 7] = [
    Page { path: "README.md", tables: 1, remedy: "make its table again, then `cargo xtask stamp --page README.md`" },
    Page {
        path: "docs/guide/first-experiment.md",
        tables: 1,
        remedy: "`longhaul ab wan`, then `cargo xtask stamp --page docs/guide/first-experiment.md`",
    },
    Page {
        path: "docs/guide/published-results.md",
        tables: 1,
        remedy: "`longhaul headlines`, then `cargo xtask stamp --page docs/guide/published-results.md`",
    },
    Page {
        path: "docs/guide/real-time.md",
        tables: 1,
        remedy: "the command above the table, as root, then `cargo xtask stamp --page docs/guide/real-time.md`",
    },
    Page {
        path: "docs/headlines.md",
        tables: 2,
        remedy: "`longhaul headlines --write docs/headlines.md`, for its last part the command that stands there",
    },
    Page {
        path: "docs/fidelity.md",
        tables: 2,
        remedy: "`longhaul fidelity --write docs/fidelity.md`, for the second table with `--path second`, as root",
    },
    Page {
        path: "docs/longhaul.md",
        tables: 1,
        remedy: "measure its figures again, then `cargo xtask stamp --page docs/longhaul.md`",
    },
];

/// Pages whose numbers were measured before stamps existed, or are known to be older than the behaviour. The list should become
/// empty: measuring a page again removes it.
pub const OWED: &[&str] = &[];

/// Path of the current stamps.
pub const STAMPS: &str = "docs/stamps.txt";

const OPENS: &str = "<!-- behaviour:";
const CLOSES: &str = "-->";

/// The entries of a text that consists of comments (`#`) and `NAME=VALUE`.
pub fn stamps(text: &str) -> BTreeMap<&str, &str> {
    let words = text.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
    words.filter_map(|word| word.split_once('=')).collect()
}

/// Where the entries of a page's marks stand, each as a range of its bytes, in their order.
pub fn marks(page: &str) -> Vec<core::ops::Range<usize>> {
    let mut marks = Vec::new();
    let mut from = 0;
    while let Some(opens) = page[from..].find(OPENS) {
        let begin = from + opens + OPENS.len();
        let Some(len) = page[begin..].find(CLOSES) else { break };
        marks.push(begin..begin + len);
        from = begin + len;
    }
    marks
}

/// Reports a page with fewer marks than tables, and each entry of a mark that is not current. For a page in the list of
/// exceptions, reports when it no longer has errors.
pub fn check(page: &Page, text: &str, today: &BTreeMap<&str, &str>, owed: &[&str]) -> Vec<Problem> {
    let found = problems(page, text, today);
    match (owed.contains(&page.path), found.is_empty()) {
        (false, _) => found,
        (true, false) => Vec::new(),
        (true, true) => {
            let (what, right) = ("its numbers are of today, and it still counts as owed", "take it out of `OWED`");
            vec![Problem::new(page.path, 1, what, format!("{right} in crates/tidy/src/rules/pages.rs"))]
        }
    }
}

fn problems(page: &Page, text: &str, today: &BTreeMap<&str, &str>) -> Vec<Problem> {
    let Page { path, tables, remedy } = page;
    let marks = marks(text);
    let mut found: Vec<Problem> =
        marks.iter().flat_map(|place| problems_of_mark(page, text, place.clone(), today)).collect();
    if marks.len() < *tables {
        let what = match marks.len() {
            0 => "measured numbers without a mark of the behaviour they are of".to_owned(),
            marked => {
                format!("{tables} tables of measured numbers, and {marked} with a mark of the behaviour they are of")
            }
        };
        found.push(Problem::new(path, 1, what, *remedy));
    }
    found
}

fn problems_of_mark(
    page: &Page,
    text: &str,
    place: core::ops::Range<usize>,
    today: &BTreeMap<&str, &str>,
) -> Vec<Problem> {
    let Page { path, remedy, .. } = page;
    let line = text[..place.start].lines().count();
    let entries = stamps(&text[place]);
    if entries.is_empty() {
        return vec![Problem::new(path, line, "the mark of behaviour names no profile", *remedy)];
    }
    let older = entries.iter().filter(|(name, stamp)| today.get(*name) != Some(stamp)).map(|(name, stamp)| {
        let what = match today.get(name) {
            Some(today) => format!("its numbers are of `{name}` as it behaved ({stamp}), and it has changed ({today})"),
            None => format!("its numbers are of `{name}`, and {STAMPS} has no such line"),
        };
        Problem::new(path, line, what, *remedy)
    });
    older.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: Page = Page { path: "P.md", tables: 1, remedy: "make it again" };
    const TODAY: &str = "# about\nlinux/plain=1\nlinux/super=2\nrfc/plain=3\n";

    fn found(text: &str) -> Vec<String> {
        check(&PAGE, text, &stamps(TODAY), &[]).iter().map(Problem::to_string).collect()
    }

    #[test]
    fn a_page_of_today_s_behaviour_is_right() {
        assert_eq!(found("# P\n\n<!-- behaviour:\nlinux/plain=1\nlinux/super=2\n-->\n"), [""; 0]);
        assert_eq!(found("<!-- behaviour: rfc/plain=3 -->"), [""; 0]);
    }

    #[test]
    fn each_entry_that_has_changed_is_named_with_the_remedy() {
        assert_eq!(
            found("# P\n\n<!-- behaviour:\nlinux/plain=1\nrfc/plain=9\n-->\n"),
            [
                "P.md:3: its numbers are of `rfc/plain` as it behaved (9), and it has changed (3); right would be: make it again"
            ]
        );
        assert!(found("<!-- behaviour: gone/plain=1 -->")[0].contains("docs/stamps.txt has no such line"));
    }

    #[test]
    fn the_mark_of_each_table_is_compared_and_none_may_lack() {
        const TWO: Page = Page { tables: 2, ..PAGE };
        let found =
            |text: &str| check(&TWO, text, &stamps(TODAY), &[]).iter().map(Problem::to_string).collect::<Vec<_>>();
        let first = "<!-- behaviour: linux/plain=1 -->\n| table |\n";
        assert_eq!(found(&format!("{first}<!-- behaviour: rfc/plain=3 -->\n| table |\n")), [""; 0]);
        let older = found(&format!("{first}<!-- behaviour: rfc/plain=2 -->\n| table |\n"));
        assert!(older.len() == 1 && older[0].starts_with("P.md:3: its numbers are of `rfc/plain`"), "{older:?}");
        let lacking = found(&format!("{first}| table |\n"));
        assert!(
            lacking.len() == 1 && lacking[0].contains("2 tables of measured numbers, and 1 with a mark"),
            "{lacking:?}"
        );
    }

    #[test]
    fn a_page_that_is_owed_is_one_no_longer_when_it_was_measured() {
        let of = |text| check(&PAGE, text, &stamps(TODAY), &["P.md"]);
        assert_eq!(of("# P\n"), []);
        assert_eq!(of("<!-- behaviour: rfc/plain=owed -->"), []);
        assert!(of("<!-- behaviour: rfc/plain=3 -->")[0].right.contains("take it out of `OWED`"));
    }

    #[test]
    fn a_page_without_a_mark_or_with_an_empty_one_is_not_right() {
        assert!(found("# P\n")[0].contains("without a mark"));
        assert!(found("<!-- behaviour: -->")[0].contains("names no profile"));
        assert!(found("<!-- behaviour: linux/plain=1")[0].contains("without a mark"), "it has no end");
    }
}
