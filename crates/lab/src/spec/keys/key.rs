//! A key of an experiment.

use crate::spec::refusal::Refusal;
use crate::spec::setting::Point;
use base::Duration;
use profiles::units::{self, Notation};

/// A key of an experiment: its name and how to read, write and check it.
#[derive(Debug)]
pub struct Key {
    /// As users write it.
    pub name: &'static str,
    /// What it accepts.
    pub form: Form,
    /// What it sets, in half a sentence.
    pub says: &'static str,
    pub(super) set: fn(&mut Point, &str) -> Result<(), Refusal>,
    /// `None` for what is absent.
    pub(super) show: fn(&Point) -> Option<String>,
}

/// What a key accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A quantity.
    Quantity(Notation),
    /// A quantity or `none`.
    Optional(Notation),
    /// One of these words.
    Words(&'static [&'static str]),
    /// A text of several parts, like this one.
    Text(&'static str),
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
