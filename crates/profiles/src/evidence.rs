//! The source of a value, and how certain it is.

use core::fmt;

/// How certain a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// A specification, a manual or the vendor says so.
    Documented,
    /// It was seen on a running system.
    Measured,
    /// Derived from something documented or measured.
    Inferred,
    /// Unknown; some value is needed.
    Assumed,
}

impl Confidence {
    /// All of them, surest first.
    pub const ALL: [Self; 4] = [Self::Documented, Self::Measured, Self::Inferred, Self::Assumed];

    /// The word in profile files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Documented => "documented",
            Self::Measured => "measured",
            Self::Inferred => "inferred",
            Self::Assumed => "assumed",
        }
    }

    /// The confidence that `word` names.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|confidence| confidence.word() == word)
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The evidence for a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// Which publication, document or measurement.
    pub source: String,
    /// How surely.
    pub confidence: Confidence,
}

impl Evidence {
    /// The evidence for a value that a file gives without a source.
    pub(crate) fn none() -> Self {
        Self { source: "the profile file names none".to_owned(), confidence: Confidence::Assumed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back() {
        for confidence in Confidence::ALL {
            assert_eq!(Confidence::parse(confidence.word()), Some(confidence));
        }
        assert_eq!(Confidence::parse("certain"), None);
    }
}
