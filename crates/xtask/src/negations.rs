//! `cargo xtask negations`: turns each condition of the decision about what leaves into its opposite, one at a time in a copy of
//! the workspace, and sees whether a row of the decision's table of tests fails.
//!
//! Outside CI: each condition costs a build of `longhaul-tcp`'s tests. Cargo-mutants plants other defects, and does not know
//! which tests ought to find them.

use crate::mirror;
use crate::runner::{Failure, Outcome, cargo, root};
use std::ops::Range;

/// Where the decision stands, and the tests that have to notice.
const DECISION: &str = "crates/tcp/src/endpoint/sender/plan.rs";
const TABLE: &str = "endpoint::sender::plan::tests::what_leaves_now";

/// A condition, or one of several that `&&` or `||` connects.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Condition {
    /// Bytes of the source.
    at: Range<usize>,
    line: usize,
}

/// Negates each condition in turn.
pub fn check() -> Outcome {
    let source = std::fs::read_to_string(root().join(DECISION))
        .map_err(|error| Failure::Failed(format!("{DECISION}: {error}")))?;
    let found = conditions(&source);
    if found.is_empty() {
        return Err(Failure::Failed(format!("{DECISION}: there is no condition")));
    }
    judge(&source).map_err(|text| Failure::Failed(format!("without a negation: {text}")))?;
    let mut unnoticed = Vec::new();
    for (number, condition) in found.iter().enumerate() {
        let text = &source[condition.at.clone()];
        let outcome = judge(&negated(&source, condition));
        let noticed = matches!(&outcome, Err(text) if text.contains("rows:"));
        let verdict = if noticed { "a row fails" } else { "NO ROW FAILS" };
        eprintln!("── {} of {}, line {}: !({text}): {verdict}", number + 1, found.len(), condition.line);
        if !noticed {
            unnoticed.push(format!("{DECISION}:{}: `{text}`", condition.line));
        }
    }
    eprintln!("── {} of {} conditions, negated, make a row fail", found.len() - unnoticed.len(), found.len());
    if unnoticed.is_empty() {
        Ok(())
    } else {
        Err(Failure::Failed(format!("no row of the table fails when these are negated:\n{}", unnoticed.join("\n"))))
    }
}

/// Runs the table with this text of the decision; what it printed if it failed.
fn judge(source: &str) -> Result<(), String> {
    let place = root().join("target/negations");
    let copy = place.join("workspace");
    mirror::update(&root(), &copy, |path, content| {
        Ok(Some(if path == DECISION { source.as_bytes().to_vec() } else { content }))
    })
    .map_err(|failure| failure.text().to_owned())?;
    let mut command = cargo(&["test", "--quiet", "--package", "longhaul-tcp", "--lib", TABLE]);
    command.current_dir(copy).env("CARGO_TARGET_DIR", place.join("target"));
    // Built often and run once: neither fast code nor tables for a debugger are worth their time.
    command.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_PROFILE_DEV_OPT_LEVEL", "0");
    let output = command.output().map_err(|error| format!("cargo: {error}"))?;
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    if output.status.success() && text.contains("1 passed") { Ok(()) } else { Err(text) }
}

fn negated(source: &str, condition: &Condition) -> String {
    let Range { start, end } = condition.at;
    format!("{}!({}){}", &source[..start], &source[start..end], &source[end..])
}

/// Conditions of `if`, of match guards and of `filter` closures, in order, each operand of `&&` and `||` by itself.
fn conditions(source: &str) -> Vec<Condition> {
    let code = tidy::mask(source);
    let mut found = Vec::new();
    for (keyword, ends) in [("if ", &[" {", " =>"][..]), (".filter(|_| ", &[")"])] {
        for (at, _) in code.match_indices(keyword) {
            let before = code[..at].chars().next_back();
            if keyword == "if " && before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
                continue;
            }
            let start = at + keyword.len();
            for operand in operands(&code, start, ends) {
                if !code[operand.clone()].starts_with("let ") {
                    let line = code[..operand.start].matches('\n').count() + 1;
                    found.push(Condition { at: operand, line });
                }
            }
        }
    }
    found.sort_by_key(|condition| condition.at.start);
    found
}

/// What stands between `start` and the first of `ends` outside brackets, cut at `&&` and `||` outside brackets.
fn operands(code: &str, start: usize, ends: &[&str]) -> Vec<Range<usize>> {
    let (mut depth, mut from, mut at, mut all) = (0_i32, start, start, Vec::new());
    while at < code.len() {
        let rest = &code[at..];
        if depth == 0 && ends.iter().any(|end| rest.starts_with(end)) {
            break;
        }
        if depth == 0 && (rest.starts_with("&&") || rest.starts_with("||")) {
            all.push(from..at);
            at += 2;
            from = at;
            continue;
        }
        match rest.as_bytes()[0] {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    all.push(from..at);
    all.into_iter().map(|range| trimmed(code, range)).filter(|range| !range.is_empty()).collect()
}

fn trimmed(code: &str, Range { start, end }: Range<usize>) -> Range<usize> {
    let text = &code[start..end];
    let start = start + text.len() - text.trim_start().len();
    start..start + text.trim().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<&str> {
        conditions(source).into_iter().map(|condition| &source[condition.at]).collect()
    }

    #[test]
    fn each_operand_is_a_condition_and_patterns_are_none() {
        let source = "fn f() {\n    if a && !(b || c) || d(1 && 2) {\n    }\n    if let Some(x) = y\n        && x > 1\n    {}\n}\n";
        assert_eq!(texts(source), ["a", "!(b || c)", "d(1 && 2)", "x > 1"]);
    }

    #[test]
    fn guards_and_filters_are_conditions() {
        let source =
            "match x { Some(1) if a == b => 1, _ => o.filter(|_| !self.forced()).map(|x| if x { 1 } else { 2 }) }";
        assert_eq!(texts(source), ["a == b", "!self.forced()", "x"]);
    }

    #[test]
    fn comments_and_strings_hold_no_condition() {
        assert_eq!(texts("// if a {\nlet x = \"if b {\";\n"), [""; 0]);
    }

    #[test]
    fn a_condition_is_negated_in_its_place() {
        let source = "if a && b { c }";
        let all = conditions(source);
        assert_eq!(negated(source, &all[1]), "if a && !(b) { c }");
        assert_eq!(all[1].line, 1);
    }
}
