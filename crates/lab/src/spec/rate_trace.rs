//! A rate that follows a file of delivery opportunities, as experiments write it: `trace:lte.down`.

use crate::spec::refusal::Refusal;
use core::fmt;
use netem::DeliveryTrace;
use std::sync::Arc;

/// A trace and where it is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateTrace {
    /// The file, as it was written.
    pub file: String,
    /// Its contents.
    pub trace: Arc<DeliveryTrace>,
}

/// What stands before a file.
const PREFIX: &str = "trace:";

impl RateTrace {
    /// Reads the file that the text names; `None` if the text names no file.
    pub(crate) fn parse(text: &str) -> Result<Option<Self>, Refusal> {
        let text = text.trim();
        let Some(file) = text.get(..PREFIX.len()).filter(|start| start.eq_ignore_ascii_case(PREFIX)) else {
            return Ok(None);
        };
        let file = text[file.len()..].trim();
        let contents = std::fs::read_to_string(file).map_err(|error| {
            let remedy = "write `trace:` and the path of a mahimahi trace, from the current directory";
            Refusal::of_value(format!("`{file}` cannot be read ({error})"), remedy)
        })?;
        let trace = DeliveryTrace::parse(&contents).map_err(|error| {
            Refusal::of_value(format!("`{file}`, line {}: {}", error.line, error.problem), error.remedy)
        })?;
        Ok(Some(Self { file: file.to_owned(), trace: Arc::new(trace) }))
    }
}

impl fmt::Display for RateTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.file)
    }
}
