//! Pages of measured numbers are as old as the behaviour that they are of, and no older.
//!
//! A page carries a mark: an HTML comment that opens with `behaviour:` and holds entries `PROFILE/DEVICE=STAMP`, those of the
//! file of stamps when the numbers were measured. The file itself is kept by a test of `lab`; this rule compares texts.

use crate::Problem;
use std::collections::BTreeMap;

/// A page of measured numbers.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Path from the repository root.
    pub path: &'static str,
    /// How it is made anew.
    pub remedy: &'static str,
}

/// Every page of measured numbers.
pub const PAGES: [Page; 4] = [
    Page { path: "README.md", remedy: "make its tables again, then `cargo xtask stamp --page README.md`" },
    Page { path: "docs/headlines.md", remedy: "`longhaul headlines --write docs/headlines.md`" },
    Page { path: "docs/fidelity.md", remedy: "`longhaul fidelity --write docs/fidelity.md`, as root" },
    Page {
        path: "docs/longhaul.md",
        remedy: "measure its figures again, then `cargo xtask stamp --page docs/longhaul.md`",
    },
];

/// Pages whose numbers were measured before there were stamps, or are known to be older than the behaviour. The list is to become
/// empty: whoever measures a page again takes it out.
pub const OWED: &[&str] = &["README.md", "docs/fidelity.md", "docs/longhaul.md"];

/// Where the stamps of today are.
pub const STAMPS: &str = "docs/stamps.txt";

const OPENS: &str = "<!-- behaviour:";
const CLOSES: &str = "-->";

/// The entries of a text that consists of comments (`#`) and `NAME=VALUE`.
pub fn stamps(text: &str) -> BTreeMap<&str, &str> {
    let words = text.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
    words.filter_map(|word| word.split_once('=')).collect()
}

/// Where the entries of a page's mark stand, as a range of its octets.
pub fn mark(page: &str) -> Option<core::ops::Range<usize>> {
    let begin = page.find(OPENS)? + OPENS.len();
    let end = begin + page[begin..].find(CLOSES)?;
    Some(begin..end)
}

/// Complains of a page without a mark, and of each entry that is not today's. Of a page that is owed, complains when nothing is
/// wrong with it any more.
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
    let Page { path, remedy } = page;
    let Some(place) = mark(text) else {
        return vec![Problem::new(path, 1, "measured numbers without a mark of the behaviour they are of", *remedy)];
    };
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

    const PAGE: Page = Page { path: "P.md", remedy: "make it again" };
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
