//! What the page of a comparison is made from.

use lab::results::{Conditions, Course, Row};
use lab::{Finished, Plan};

/// What the page shows.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'c> {
    /// What was planned.
    pub plan: &'c Plan,
    /// What came of it.
    pub finished: &'c Finished,
    /// The same by cell and arm.
    pub rows: &'c [Row],
    /// Whether the experiment's conditions hold.
    pub conditions: &'c Conditions,
    /// Shares second by second.
    pub courses: &'c [Course],
    /// How to do it again.
    pub commands: &'c Commands,
}

/// Command lines, as a shell takes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commands {
    /// Release of the program.
    pub version: String,
    /// What made the comparison.
    pub comparison: String,
    /// What makes one run again and shows it; `{cell}`, `{arm}` and `{iteration}` stand for its name. One for each arm.
    pub run: Vec<String>,
    /// Page of the median run of each row, relative to this one; `None` where there is none, empty without pages.
    pub pages: Vec<Option<String>>,
}
