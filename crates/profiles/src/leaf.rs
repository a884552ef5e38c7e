//! What a leaf is: one number or one choice of a configuration, addressed by its dotted path.
//!
//! The table of all leaves is in `leaves.rs`. Everything that uses a path — the loader, overrides on the command line, tables,
//! differences — goes through it, so a path means the same everywhere and appears in one place.
//!
//! A *group* consists of the leaves under a path that ends in `.kind`. Changing the kind keeps the leaves that both kinds have,
//! drops those that only the old kind has, and gives those that only the new kind has their defaults: a comparison of two kinds
//! differs in nothing else.

use crate::units::{self, Notation};
use base::{Duration, Ratio};
use tcp::Config;

/// One leaf of the configuration.
#[derive(Debug)]
pub struct Leaf {
    /// Dotted path; it mirrors the fields of [`Config`].
    pub path: &'static str,
    pub(crate) access: Access,
}

/// How a leaf is reached.
#[derive(Debug)]
pub(crate) enum Access {
    /// A quantity and its location; `None` if it does not apply to the current kind.
    Quantity { unit: Unit, place: for<'c> fn(&'c mut Config) -> Option<Place<'c>> },
    /// One of several words.
    Choice { words: &'static [&'static str], get: fn(&mut Config) -> Option<&'static str>, set: fn(&mut Config, &str) },
}

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Time,
    Bytes,
    Count,
    Share,
}

/// What a leaf accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One of these words.
    Words(&'static [&'static str]),
    /// A quantity.
    Quantity {
        /// How it is written.
        notation: Notation,
        /// The largest number that fits, for those that are whole.
        most: Option<u64>,
        /// Whether it may be `none`.
        optional: bool,
    },
}

/// Where a quantity lies.
#[derive(Debug)]
pub(crate) enum Place<'c> {
    Time(&'c mut Duration),
    MaybeTime(&'c mut Option<Duration>),
    Share(&'c mut Ratio),
    U32(&'c mut u32),
    U16(&'c mut u16),
    U8(&'c mut u8),
    MaybeU32(&'c mut Option<u32>),
}

/// How an absent number is written.
pub(crate) const NONE: &str = "none";

/// Why a leaf could not be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LeafError {
    /// The leaf does not exist.
    #[error("unknown leaf `{path}`{}", hint.as_ref().map_or(String::new(), |hint| format!(": did you mean `{hint}`?")))]
    Unknown {
        /// As it was asked for.
        path: String,
        /// The closest path there is.
        hint: Option<&'static str>,
    },
    /// The leaf belongs to another kind.
    #[error("`{path}` does not apply while `{kind_path}` is `{kind}`")]
    NotApplicable {
        /// The leaf.
        path: &'static str,
        /// What decides.
        kind_path: &'static str,
        /// What it is.
        kind: String,
    },
    /// The text is not a value of this leaf.
    #[error("`{path}`: {problem}")]
    BadValue {
        /// The leaf.
        path: &'static str,
        /// What is wrong, and which values are valid.
        problem: String,
    },
}

/// A leaf is its path.
impl PartialEq for Leaf {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}
impl Eq for Leaf {}

impl Leaf {
    /// Whether this leaf chooses a kind and thereby which of its neighbours apply.
    pub fn is_kind(&self) -> bool {
        self.path.ends_with(".kind")
    }

    /// The value as text that [`Leaf::write`] reads back; `None` when the leaf does not apply.
    pub fn read(&self, config: &Config) -> Option<String> {
        let mut config = config.clone();
        match &self.access {
            Access::Choice { get, .. } => get(&mut config).map(str::to_owned),
            Access::Quantity { unit, place } => place(&mut config).map(|place| place.show(*unit)),
        }
    }

    /// Sets the value. A changed kind keeps the leaves that the new kind also has, and sets the rest to its defaults.
    ///
    /// # Errors
    /// If the leaf does not apply to the current kind, or the text is not a valid value.
    pub fn write(&self, config: &mut Config, text: &str) -> Result<(), LeafError> {
        match &self.access {
            Access::Choice { words, get, set } => {
                let Some(present) = get(config) else { return Err(self.not_applicable(config)) };
                let word = self.word(words, text)?;
                if word != present {
                    let kept: Vec<(&Leaf, String)> =
                        self.dependents().filter_map(|leaf| Some((leaf, leaf.read(config)?))).collect();
                    set(config, word);
                    for (leaf, value) in kept {
                        if leaf.read(config).is_some() {
                            leaf.write(config, &value)?;
                        }
                    }
                }
                Ok(())
            }
            Access::Quantity { unit, place } => match place(config) {
                Some(place) => {
                    place.store(*unit, text).map_err(|problem| LeafError::BadValue { path: self.path, problem })
                }
                None => Err(self.not_applicable(config)),
            },
        }
    }

    /// Returns what it accepts.
    ///
    /// # Panics
    /// When it applies to no kind of its group, which the tests of the table exclude.
    pub fn form(&self) -> Form {
        let (unit, place) = match &self.access {
            Access::Choice { words, .. } => return Form::Words(words),
            Access::Quantity { unit, place } => (unit, place),
        };
        let notation = match unit {
            Unit::Time => Notation::Time,
            Unit::Bytes => Notation::Bytes,
            Unit::Count => Notation::Count,
            Unit::Share => Notation::Share,
        };
        let (most, optional) = match place(&mut self.config_with()) {
            Some(Place::U32(_)) => (Some(u32::MAX.into()), false),
            Some(Place::MaybeU32(_)) => (Some(u32::MAX.into()), true),
            Some(Place::U16(_)) => (Some(u16::MAX.into()), false),
            Some(Place::U8(_)) => (Some(u8::MAX.into()), false),
            Some(Place::MaybeTime(_)) => (None, true),
            Some(Place::Time(_) | Place::Share(_)) => (None, false),
            None => unreachable!("{} applies to no kind", self.path),
        };
        Form::Quantity { notation, most, optional }
    }

    /// Returns the kinds of its group to which it applies, with the path that chooses; `None` if it applies always.
    pub fn kinds(&self) -> Option<(&'static str, Vec<&'static str>)> {
        let kind = self.kind_leaf()?;
        let words = kind.words()?.iter().copied();
        let applies = |word: &&'static str| {
            let mut config = Config::default();
            kind.write(&mut config, word).is_ok() && self.read(&config).is_some()
        };
        Some((kind.path, words.filter(applies).collect()))
    }

    /// A configuration to which it applies.
    fn config_with(&self) -> Config {
        let mut config = Config::default();
        if let (Some(kind), Some((_, words))) = (self.kind_leaf(), self.kinds())
            && let Some(word) = words.first()
        {
            kind.write(&mut config, word).expect("it was tried");
        }
        config
    }

    /// The words that it chooses from; `None` for a quantity.
    pub fn words(&self) -> Option<&'static [&'static str]> {
        match &self.access {
            Access::Choice { words, .. } => Some(words),
            Access::Quantity { .. } => None,
        }
    }

    /// Returns `percent` of the quantity, as text that [`Leaf::write`] reads, without checking bounds; a whole number becomes the nearest, or
    /// the next in that direction if the nearest is itself. `None` for a word, for none, for zero, and if no such value can be stored.
    pub fn scaled(&self, config: &Config, percent: u64) -> Option<String> {
        let mut config = config.clone();
        let Access::Quantity { unit, place } = &self.access else { return None };
        let place = place(&mut config)?;
        let whole = |n: u64, show: fn(u64) -> String| scaled(n, percent).map(show);
        match place {
            Place::Time(span) | Place::MaybeTime(Some(span)) => {
                whole(span.as_nanos(), |nanos| Duration::from_nanos(nanos).to_string())
            }
            Place::Share(share) => {
                let scaled = Ratio::new(share.num().checked_mul(percent)?, share.den().checked_mul(100)?)?;
                (!share.is_zero()).then(|| units::show_ratio(scaled))
            }
            Place::U32(_) | Place::U16(_) | Place::U8(_) | Place::MaybeU32(Some(_)) => {
                whole(place.number()?, if *unit == Unit::Bytes { units::show_bytes } else { |n| n.to_string() })
            }
            Place::MaybeTime(None) | Place::MaybeU32(None) => None,
        }
    }

    fn word(&self, words: &[&'static str], text: &str) -> Result<&'static str, LeafError> {
        let known = words.iter().find(|word| word.eq_ignore_ascii_case(text.trim()));
        known.copied().ok_or_else(|| {
            let choices = words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
            LeafError::BadValue { path: self.path, problem: format!("`{text}` is not among its choices: {choices}") }
        })
    }

    fn not_applicable(&self, config: &Config) -> LeafError {
        let kind = self.kind_leaf().expect("only leaves of a group depend on a kind");
        let value = kind.read(config).expect("a kind always applies");
        LeafError::NotApplicable { path: self.path, kind_path: kind.path, kind: value }
    }
}

impl Place<'_> {
    fn show(self, unit: Unit) -> String {
        let number = |n: u64| if unit == Unit::Bytes { units::show_bytes(n) } else { n.to_string() };
        match self {
            Self::Time(span) => span.to_string(),
            Self::MaybeTime(span) => span.map_or_else(|| NONE.to_owned(), |span| span.to_string()),
            Self::Share(share) => units::show_ratio(*share),
            Self::U32(n) => number(u64::from(*n)),
            Self::U16(n) => number(u64::from(*n)),
            Self::U8(n) => number(u64::from(*n)),
            Self::MaybeU32(n) => n.map_or_else(|| NONE.to_owned(), |n| number(u64::from(n))),
        }
    }

    /// The whole number there; `None` if the value is absent or a fraction.
    fn number(&self) -> Option<u64> {
        match self {
            Self::U32(n) => Some(u64::from(**n)),
            Self::U16(n) => Some(u64::from(**n)),
            Self::U8(n) => Some(u64::from(**n)),
            Self::MaybeU32(n) => n.map(u64::from),
            Self::Time(_) | Self::MaybeTime(_) | Self::Share(_) => None,
        }
    }

    fn store(self, unit: Unit, text: &str) -> Result<(), String> {
        let absent = text.trim().eq_ignore_ascii_case(NONE);
        match self {
            Self::Time(span) => *span = units::duration(text)?,
            Self::MaybeTime(span) => *span = if absent { None } else { Some(units::duration(text)?) },
            Self::Share(share) => *share = units::ratio(text)?,
            Self::U32(n) => *n = narrow(number(unit, text)?, text)?,
            Self::U16(n) => *n = narrow(number(unit, text)?, text)?,
            Self::U8(n) => *n = narrow(number(unit, text)?, text)?,
            Self::MaybeU32(n) => *n = if absent { None } else { Some(narrow(number(unit, text)?, text)?) },
        }
        Ok(())
    }
}

fn number(unit: Unit, text: &str) -> Result<u64, String> {
    let number = if unit == Unit::Bytes { units::bytes(text) } else { units::count(text) };
    number.map_err(String::from)
}

/// `percent` of a whole number, rounded, but never the number itself.
fn scaled(n: u64, percent: u64) -> Option<u64> {
    let scaled = n.checked_mul(percent)?.checked_add(50)? / 100;
    match (n, scaled == n) {
        (0, _) => None,
        (_, false) => Some(scaled),
        (_, true) if percent < 100 => Some(n - 1),
        (_, true) => n.checked_add(1),
    }
}

fn narrow<T: TryFrom<u64>>(number: u64, text: &str) -> Result<T, String> {
    T::try_from(number).map_err(|_| format!("`{text}` is too large"))
}

#[cfg(test)]
mod tests;
