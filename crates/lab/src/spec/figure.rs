//! Figures that cost more than the run itself: further runs, or an observer. They are measured where someone asks for them.

use crate::spec::refusal::Refusal;

/// Whether such a figure is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// It is not.
    Unknown,
    /// It is.
    Measured,
}

impl Figure {
    /// Reads `none` or `measured`.
    pub(crate) fn parse(text: &str) -> Result<Self, Refusal> {
        match text.trim().to_ascii_lowercase().as_str() {
            "none" => Ok(Self::Unknown),
            "measured" => Ok(Self::Measured),
            _ => Err(Refusal::of_value(
                format!("`{text}` does not say whether to measure it"),
                "write `measured`, which costs time, or `none`",
            )),
        }
    }

    /// The word for it, if it is measured.
    pub(crate) fn word(self) -> Option<String> {
        (self == Self::Measured).then(|| "measured".to_owned())
    }
}
