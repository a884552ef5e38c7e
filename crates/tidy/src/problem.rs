//! A rule's report about a violation: the place, the problem, and the remedy.

use core::fmt;

/// One place that breaks one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Path from the repository root.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
    /// The remedy.
    pub right: String,
}

impl Problem {
    /// Puts the parts together.
    pub fn new(file: &str, line: usize, what: impl Into<String>, right: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, what: what.into(), right: right.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}; right would be: {}", self.file, self.line, self.what, self.right)
    }
}

/// Fails the calling test with every problem, one a line; passes when there is none.
///
/// # Panics
/// When there is a problem: that is its purpose.
pub fn report(problems: &[Problem]) {
    let lines: Vec<String> = problems.iter().map(Problem::to_string).collect();
    assert!(problems.is_empty(), "{} places break this rule:\n{}", lines.len(), lines.join("\n"));
}
