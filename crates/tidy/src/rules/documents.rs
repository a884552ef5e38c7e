//! Entry pages stay short, links have targets, and decisions are complete.
//!
//! Reads only Markdown outside code blocks. Links to other hosts are not followed: the rules need no network.

use crate::Problem;

/// Pages with a limit, and the maximum number of lines of each.
const SHORT: [(&str, usize); 2] = [("README.md", 120), ("docs/ARCHITECTURE.md", 200)];

/// Where decisions are.
const DECISIONS: &str = "docs/decisions/";

/// Sections of a decision, in their order.
const SECTIONS: [&str; 4] = ["Context", "Choice", "Price", "Rejected"];

/// Reports a page that exceeds its limit.
pub fn length(path: &str, text: &str) -> Vec<Problem> {
    let limit = SHORT.iter().find(|(short, _)| *short == path).map(|(_, limit)| *limit);
    let lines = text.lines().count();
    let too_long = limit.filter(|limit| lines > *limit);
    let problem = |limit| {
        let what = format!("{lines} lines, and a reader enters by this page");
        Problem::new(path, lines, what, format!("at most {limit}; details in docs/guide or docs/decisions"))
    };
    too_long.map(problem).into_iter().collect()
}

/// Reports each link of a page to a missing file or heading. `exists` knows paths of files and directories from the root, `page`
/// returns the text of a Markdown file.
pub fn links<'t>(
    path: &str,
    text: &str,
    exists: impl Fn(&str) -> bool,
    page: impl Fn(&str) -> Option<&'t str>,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (number, line) in prose(text) {
        for target in targets(line).filter(|target| !target.contains(':')) {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { path.to_owned() } else { joined(path, file) };
            let there = if heading.is_empty() {
                exists(&file)
            } else {
                let text = if file == path { Some(text) } else { page(&file) };
                text.is_some_and(|text| headings(text).any(|known| known == heading))
            };
            if !there {
                let what = format!("the link `{target}` leads nowhere");
                problems.push(Problem::new(path, number, what, "a file or a heading of this repository"));
            }
        }
    }
    problems
}

/// Reports a decision that lacks a section, and an index without it.
pub fn decisions(files: &[(String, String)]) -> Vec<Problem> {
    let index_path = format!("{DECISIONS}README.md");
    let index = files.iter().find(|(path, _)| *path == index_path).map_or("", |(_, text)| text);
    let mut problems = Vec::new();
    let decisions = files.iter().filter(|(path, _)| path.starts_with(DECISIONS) && *path != index_path);
    for ((path, text), number) in decisions.zip(1..) {
        let mut found = |what: String, right: &str| problems.push(Problem::new(path, 1, what, right));
        let (name, digits) = (&path[DECISIONS.len()..], format!("{number:03}"));
        if !name.starts_with(&format!("{digits}-")) {
            found(format!("a decision named `{name}` where number {digits} is due"), "numbers without a gap");
        }
        let title = text.lines().next().and_then(|line| line.strip_prefix(&format!("# {digits}: ")));
        let row = title.map(|title| format!("| [{digits}]({name}) | {title} |"));
        if row.is_none_or(|row| !index.lines().any(|line| line == row)) {
            let right = "`# NNN: TITLE` as its first line, and `| [NNN](FILE) | TITLE |` in docs/decisions/README.md";
            found(format!("the index does not have `{name}` with its title"), right);
        }
        let sections: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        let empty =
            text.split("\n## ").skip(1).any(|section| section.lines().skip(1).all(|line| line.trim().is_empty()));
        if sections != SECTIONS || empty {
            found(format!("its sections are {sections:?}"), "Context, Choice, Price and Rejected, each with a text");
        }
    }
    problems
}

/// Lines outside of code blocks, with their numbers from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut code = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !code && !fence
    })
}

/// Returns the targets of a line's links: `](TARGET)`, outside inline code.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let outside = line.split('`').step_by(2);
    outside.flat_map(|part| part.split("](").skip(1)).filter_map(|rest| rest.split(')').next())
}

/// `to`, seen from the directory of `from`.
fn joined(from: &str, to: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in to.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The names by which a page's headings can be linked to.
fn headings(text: &str) -> impl Iterator<Item = String> {
    prose(text).filter(|(_, line)| line.starts_with('#')).map(|(_, line)| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECISION: &str = "# 001: A title\n\n## Context\n\na\n\n## Choice\n\nb\n\n## Price\n\nc\n\n## Rejected\n\nd\n";

    fn found(decisions_of: &[(&str, &str)]) -> Vec<String> {
        let owned = |(path, text): &(&str, &str)| (format!("docs/decisions/{path}"), (*text).to_owned());
        decisions(&decisions_of.iter().map(owned).collect::<Vec<_>>()).into_iter().map(|problem| problem.what).collect()
    }

    #[test]
    fn a_page_may_be_as_long_as_its_bound() {
        assert_eq!(length("README.md", &"a\n".repeat(120)), []);
        assert_eq!(length("README.md", &"a\n".repeat(121))[0].what, "121 lines, and a reader enters by this page");
        assert_eq!(length("docs/MEASUREMENT.md", &"a\n".repeat(1000)), []);
    }

    #[test]
    fn links_lead_to_files_directories_and_headings() {
        let exists = |path: &str| matches!(path, "docs/A.md" | "README.md" | "docs/guide");
        let page = |path: &str| (path == "docs/A.md").then_some("# A\n## In captures, `again`\n");
        let of = |text: &str| links("docs/B.md", text, exists, page).into_iter().map(|p| p.line).collect::<Vec<_>>();
        assert_eq!(of("[a](A.md) [b](../README.md) [c](guide/)\n[d](A.md#in-captures-again)\n"), [0; 0]);
        assert_eq!(of("# Here\n[e](#here) [f](https://example.org/x) `[g](x.md)`\n```\n[h](x.md)\n```\n"), [0; 0]);
        assert_eq!(of("a\n[i](x.md)\n[j](A.md#no-such)\n[k](#nor-this) [l](../docs/x.md)\n"), [2, 3, 4, 4]);
    }

    #[test]
    fn a_decision_has_its_number_its_sections_and_its_row() {
        let index = ("README.md", "| [001](001-a.md) | A title |\n");
        assert_eq!(found(&[("001-a.md", DECISION), index]), [""; 0]);
        assert!(found(&[("001-a.md", DECISION), ("README.md", "")])[0].contains("index does not have `001-a.md`"));
        assert!(found(&[("001-a.md", &DECISION.replace("A title", "Another")), index])[0].contains("index"));
        assert!(found(&[("001-a.md", &DECISION.replace("## Price", "## Cost")), index])[0].contains("\"Cost\""));
        assert!(found(&[("001-a.md", &DECISION.replace("d\n", "\n")), index])[0].contains("sections"));
        assert!(found(&[("002-a.md", DECISION), index])[0].contains("where number 001 is due"));
    }
}
