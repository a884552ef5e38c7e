//! Rows of one kind of event on their way to the encoders: a few at a time, stored by column.

use super::layout::Layout;
use super::{AT, CONN, ROW};
use crate::Record;
use trace::{Kind, Listener, VOCABULARY, Value};

/// Rows encoded together: few enough that those of all kinds stay in the processor's cache.
pub(super) const BATCH: usize = 1_024;
/// Distance between two columns. If it were a power of two, all columns of a row would compete for the same few cache lines.
const STRIDE: usize = BATCH + 8;

/// Which events share row groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    /// One connection's, or several connections'.
    pub conn: Option<u32>,
    /// Their place in the vocabulary.
    pub place: usize,
}

/// Rows of one kind.
#[derive(Debug)]
pub(super) struct Rows {
    /// Which.
    pub key: Key,
    /// How many there are.
    pub len: usize,
    columns: Vec<Column>,
    /// Numbers and other values of at most 64 bits, column by column, whether or not one is present.
    bits: Vec<u64>,
    words: Vec<&'static str>,
    /// 1 for a value, 0 for none, for columns that need not have one.
    levels: Vec<i16>,
}

/// What a column is made of.
#[derive(Clone, Copy, Debug)]
struct Column {
    /// Which column of the table it is.
    index: usize,
    is_word: bool,
    optional: bool,
}

/// Values of a column.
#[derive(Clone, Copy, Debug)]
pub(super) enum Values<'r> {
    /// Whatever has 64 bits at most.
    Bits(&'r [u64]),
    /// Text.
    Words(&'r [&'static str]),
}

/// What a column holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Content<'r> {
    /// Which column of the table it is.
    pub index: usize,
    /// One a row, whether or not it counts.
    pub values: Values<'r>,
    /// 1 where there is a value and 0 where there is none; `None` where there always is one.
    pub levels: Option<&'r [i16]>,
}

impl Rows {
    /// None yet.
    pub fn new(layout: &Layout, key: Key) -> Self {
        let common = |index| Column { index, is_word: false, optional: false };
        let mut columns = vec![common(ROW), common(AT)];
        if key.conn.is_none() {
            columns.push(common(CONN));
        }
        for (info, &index) in VOCABULARY[key.place].fields.iter().zip(layout.of(key.place)) {
            let column = Column { index, is_word: info.kind == Kind::Word, optional: info.optional };
            columns.push(column);
            if info.kind == Kind::Range {
                columns.push(Column { index: index + 1, ..column });
            }
        }
        let of = |wanted: fn(&Column) -> bool| columns.iter().filter(|column| wanted(column)).count() * STRIDE;
        let bits = vec![0; of(|column| !column.is_word)];
        let (words, levels) = (vec![""; of(|column| column.is_word)], vec![0; of(|column| column.optional)]);
        Self { key, len: 0, columns, bits, words, levels }
    }

    /// Appends an event, the `number`th to happen. There must be room.
    #[inline]
    pub fn push(&mut self, number: u64, record: &Record) {
        let Self { key, len, bits, words, levels, .. } = self;
        let mut filler = Filler { bits: &mut bits[*len..], words, levels, row: *len };
        filler.put(number);
        filler.put(record.at.as_nanos());
        if key.conn.is_none() {
            filler.put(record.conn.0.into());
        }
        record.event.tell(&mut filler);
        *len += 1;
    }

    /// Returns the columns with values, except for those with the same value in every row.
    pub fn columns(&self) -> impl Iterator<Item = Content<'_>> {
        let (mut bits, mut words, mut levels) = (0, 0, 0);
        self.columns.iter().map(move |&Column { index, is_word, optional }| {
            let rows = |next: &mut usize| {
                let first = *next;
                *next += STRIDE;
                first..first + self.len
            };
            let values = if is_word {
                Values::Words(&self.words[rows(&mut words)])
            } else {
                Values::Bits(&self.bits[rows(&mut bits)])
            };
            Content { index, values, levels: optional.then(|| &self.levels[rows(&mut levels)]) }
        })
    }
}

/// Puts each value of a row into its column. What kind it is, is known where this is called, and nothing is left of the choices
/// there.
struct Filler<'r> {
    bits: &'r mut [u64],
    words: &'r mut [&'static str],
    levels: &'r mut [i16],
    row: usize,
}

impl Filler<'_> {
    #[inline(always)]
    fn put(&mut self, bits: u64) {
        let rest = core::mem::take(&mut self.bits);
        rest[0] = bits;
        self.bits = rest.get_mut(STRIDE..).unwrap_or_default();
    }

    #[inline(always)]
    fn put_level(&mut self, there: bool) {
        let rest = core::mem::take(&mut self.levels);
        rest[self.row] = there.into();
        self.levels = rest.get_mut(STRIDE..).unwrap_or_default();
    }
}

impl Listener for Filler<'_> {
    #[inline(always)]
    fn hear(&mut self, kind: Kind, optional: bool, value: Value<'static>) {
        if optional {
            self.put_level(value != Value::Absent);
            if kind == Kind::Range {
                self.put_level(value != Value::Absent);
            }
        }
        match (kind, value) {
            (Kind::Word, _) => {
                let rest = core::mem::take(&mut self.words);
                rest[self.row] = if let Value::Word(word) = value { word } else { "" };
                self.words = rest.get_mut(STRIDE..).unwrap_or_default();
            }
            (Kind::Range, Value::Range(range)) => {
                self.put(range.start.0.into());
                self.put(range.end.0.into());
            }
            (Kind::Range, _) => {
                self.put(0);
                self.put(0);
            }
            (_, Value::Number(number)) => self.put(number),
            (_, Value::Span(span)) => self.put(span.as_nanos()),
            (_, Value::Moment(at)) => self.put(at.as_nanos()),
            (_, Value::Seq(seq)) => self.put(seq.0.into()),
            (_, Value::Flag(flag)) => self.put(flag.into()),
            (_, Value::Absent | Value::Word(_) | Value::Range(_)) => self.put(0),
        }
    }
}
