//! What an event is made of, as values with names: for sinks and readers, which treat all events alike.

use base::{Duration, Instant, SeqNum, SeqRange};
use core::fmt;

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A count, bytes, or a rate in bits per second.
    Number,
    /// Yes or no.
    Flag,
    /// One of a few names.
    Word,
    /// A sequence number.
    Seq,
    /// Sequence numbers from the first up to and without the second.
    Range,
    /// A time span in nanoseconds.
    Span,
    /// A moment, in nanoseconds of the trace's clock.
    Moment,
}

/// What a field holds in one event; a name is borrowed from where it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'w> {
    /// [`Kind::Number`].
    Number(u64),
    /// [`Kind::Flag`].
    Flag(bool),
    /// [`Kind::Word`].
    Word(&'w str),
    /// [`Kind::Seq`].
    Seq(SeqNum),
    /// [`Kind::Range`].
    Range(SeqRange),
    /// [`Kind::Span`].
    Span(Duration),
    /// [`Kind::Moment`].
    Moment(Instant),
    /// Nothing, where nothing may be.
    Absent,
}

impl fmt::Display for Value<'_> {
    /// As in canonical text: times in nanoseconds, absent values as `-`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Word(word) => f.write_str(word),
            Self::Seq(seq) => write!(f, "{seq}"),
            Self::Range(range) => write!(f, "{range}"),
            Self::Span(span) => write!(f, "{}", span.as_nanos()),
            Self::Moment(at) => write!(f, "{}", at.as_nanos()),
            Self::Absent => f.write_str("-"),
        }
    }
}

/// A field of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldInfo {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Whether it may hold nothing.
    pub optional: bool,
    /// Every name that a [`Kind::Word`] may be; none for other kinds.
    pub names: &'static [&'static str],
    /// What it means.
    pub doc: &'static str,
}

/// An event of the vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventInfo {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub doc: &'static str,
    /// In the order of their declaration.
    pub fields: &'static [FieldInfo],
}

/// A type that fields may have.
pub(crate) trait Field: Sized {
    const KIND: Kind;
    const OPTIONAL: bool = false;
    const NAMES: &'static [&'static str] = &[];
    fn value(self) -> Value<'static>;
    fn from_value(value: Value<'_>) -> Option<Self>;
}

macro_rules! numbers { ($($t:ty),*) => { $(impl Field for $t {
    const KIND: Kind = Kind::Number;
    #[inline]
    fn value(self) -> Value<'static> { Value::Number(self.into()) }
    fn from_value(value: Value<'_>) -> Option<Self> {
        if let Value::Number(number) = value { number.try_into().ok() } else { None }
    }
})* } }
numbers!(u8, u32, u64);

macro_rules! others { ($($t:ty: $kind:ident),*) => { $(impl Field for $t {
    const KIND: Kind = Kind::$kind;
    #[inline]
    fn value(self) -> Value<'static> { Value::$kind(self) }
    fn from_value(value: Value<'_>) -> Option<Self> {
        if let Value::$kind(value) = value { Some(value) } else { None }
    }
})* } }
others!(bool: Flag, SeqNum: Seq, SeqRange: Range, Duration: Span, Instant: Moment);

impl<T: Field> Field for Option<T> {
    const KIND: Kind = T::KIND;
    const OPTIONAL: bool = true;
    const NAMES: &'static [&'static str] = T::NAMES;
    #[inline]
    fn value(self) -> Value<'static> {
        self.map_or(Value::Absent, T::value)
    }
    fn from_value(value: Value<'_>) -> Option<Self> {
        if value == Value::Absent { Some(None) } else { T::from_value(value).map(Some) }
    }
}
