//! What an expression gives.

use std::fmt;

/// A value. Booleans are integers, as in Python.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An integer; wide enough for products of 64-bit counters.
    Int(i128),
    /// A floating-point number.
    Float(f64),
    /// A text.
    Str(String),
    /// A list or tuple.
    List(Vec<Value>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Str(value) => write!(f, "{value}"),
            Self::List(values) => {
                let items: Vec<String> = values.iter().map(ToString::to_string).collect();
                write!(f, "({})", items.join(", "))
            }
        }
    }
}

impl Value {
    /// Whether a condition holds.
    pub fn is_true(&self) -> bool {
        match self {
            Self::Int(value) => *value != 0,
            Self::Float(value) => *value != 0.0,
            Self::Str(value) => !value.is_empty(),
            Self::List(values) => !values.is_empty(),
        }
    }

    /// The value as a floating-point number.
    ///
    /// # Errors
    /// If it is not a number.
    pub fn float(&self) -> Result<f64, String> {
        match self {
            Self::Int(value) => Ok(*value as f64),
            Self::Float(value) => Ok(*value),
            other => Err(format!("`{other}` is not a number")),
        }
    }
}
