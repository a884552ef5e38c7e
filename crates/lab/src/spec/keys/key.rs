//! A key of an experiment.

use crate::spec::refusal::Refusal;
use crate::spec::setting::Point;
use base::Duration;
use profiles::units;

/// A key of an experiment: its name and how to read, write and check it.
#[derive(Debug)]
pub struct Key {
    /// As users write it.
    pub name: &'static str,
    pub(super) set: fn(&mut Point, &str) -> Result<(), Refusal>,
    /// `None` for what is absent.
    pub(super) show: fn(&Point) -> Option<String>,
}

impl Key {
    /// Sets a point's value, and returns it in canonical form.
    ///
    /// # Errors
    /// If the text is not a valid value: the problem and the remedy.
    pub fn set(&self, point: &mut Point, text: &str) -> Result<String, Refusal> {
        (self.set)(point, text)?;
        Ok((self.show)(point).unwrap_or_else(|| "none".to_owned()))
    }
}

/// Reads a time that is not zero.
pub(super) fn positive(text: &str) -> Result<Duration, Refusal> {
    let span = units::duration(text)?;
    if span.is_zero() {
        Err(Refusal::of_value(format!("`{text}` is not a delay between two ends"), "write for example `25ms`"))
    } else {
        Ok(span)
    }
}
