//! What is said of something that cannot be: the place, what is wrong there, and what would be right.

use core::fmt;

/// Why a key or its value is refused: what is wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) problem: String,
    pub(crate) remedy: String,
    /// Whether the value is wrong, rather than the key.
    pub(crate) in_value: bool,
}

/// A wrong option: where, what, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageError {
    /// The option as it was written.
    pub place: String,
    /// What is wrong.
    pub problem: String,
    /// What would be right.
    pub remedy: String,
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.place, self.problem, self.remedy)
    }
}

impl core::error::Error for UsageError {}
