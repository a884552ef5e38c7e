//! How to report something invalid: the place, the problem, and the remedy.

use core::fmt;
use profiles::units::Misread;

/// Why something is rejected: the problem and the remedy. The caller that knows the place adds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The part of the input that is wrong.
    pub part: Part,
    /// What is wrong.
    pub problem: String,
    /// What would be right.
    pub remedy: String,
}

/// The part that a refusal is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The name of something.
    Key,
    /// The value that it was given.
    Value,
}

/// A wrong option: the place, the problem, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageError {
    /// The option as it was written.
    pub place: String,
    /// What is wrong.
    pub problem: String,
    /// What would be right.
    pub remedy: String,
}

impl Refusal {
    /// A name that is wrong.
    pub fn of_key(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { part: Part::Key, problem: problem.into(), remedy: remedy.into() }
    }

    /// A value that is wrong.
    pub fn of_value(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { part: Part::Value, problem: problem.into(), remedy: remedy.into() }
    }

    /// The same, with its place.
    pub fn at(self, place: impl Into<String>) -> UsageError {
        UsageError { place: place.into(), problem: self.problem, remedy: self.remedy }
    }
}

impl From<Misread> for Refusal {
    fn from(misread: Misread) -> Self {
        Self::of_value(misread.problem, misread.remedy)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.problem, self.remedy)
    }
}

impl core::error::Error for Refusal {}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.place, self.problem, self.remedy)
    }
}

impl core::error::Error for UsageError {}
