//! The viewer's input: runs made of tables, tables made of columns. `web/src/payload.ts` reads the same.

use std::collections::{BTreeMap, HashMap};

/// What a column's numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Microseconds since the connection's beginning.
    Time,
    /// A sequence number, counted from the beginning and never wrapping.
    Seq,
    /// Bytes.
    Bytes,
    /// A span in microseconds.
    Micros,
    /// Bits per second.
    Rate,
    /// Anything counted.
    Count,
    /// A word of the column's own list.
    Text,
}

impl Unit {
    /// Its name in the file.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Seq => "seq",
            Self::Bytes => "bytes",
            Self::Micros => "us",
            Self::Rate => "bps",
            Self::Count => "count",
            Self::Text => "text",
        }
    }
}

/// One value for a table.
#[derive(Clone, Copy, Debug)]
pub enum Cell<'a> {
    /// In the column's unit.
    Number(u64),
    /// For a column of [`Unit::Text`].
    Word(&'a str),
}

impl From<u64> for Cell<'_> {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(word: &'a str) -> Self {
        Self::Word(word)
    }
}

/// Values of one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// As the tooltip shows it.
    pub name: &'static str,
    /// What the values are.
    pub unit: Unit,
    /// One a row; for text the places in `words`.
    pub values: Vec<u64>,
    /// The words met, in the order of their first use.
    pub words: Vec<String>,
    places: HashMap<String, u64>,
}

/// Rows of named columns. The first column is `t`, and rows come in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    columns: Vec<Column>,
}

impl Table {
    /// Creates an empty table with a column `t` and these columns.
    pub fn new(columns: &[(&'static str, Unit)]) -> Self {
        let column =
            |&(name, unit)| Column { name, unit, values: Vec::new(), words: Vec::new(), places: HashMap::new() };
        Self { columns: std::iter::once(&("t", Unit::Time)).chain(columns).map(column).collect() }
    }

    /// Adds a row at `t` microseconds.
    ///
    /// # Panics
    /// If the cells do not fit the columns, or the row is earlier than the last.
    pub fn push<const N: usize>(&mut self, t: u64, cells: [Cell<'_>; N]) {
        let (first, rest) = self.columns.split_first_mut().expect("there is a column `t`");
        assert_eq!(rest.len(), N, "a row has a cell for each column");
        assert!(first.values.last().is_none_or(|&last| last <= t), "rows come in order of time");
        first.values.push(t);
        for (column, cell) in rest.iter_mut().zip(cells) {
            let value = match (column.unit, cell) {
                (Unit::Text, Cell::Word(word)) => column.place(word),
                (Unit::Text, Cell::Number(_)) | (_, Cell::Word(_)) => panic!("`{}` is of another kind", column.name),
                (_, Cell::Number(number)) => number,
            };
            column.values.push(value);
        }
    }

    /// Adds a row unless it equals the last one: a line that holds its value needs no second point.
    pub fn step<const N: usize>(&mut self, t: u64, numbers: [u64; N]) {
        let same = |(column, number): (&Column, &u64)| column.values.last() == Some(number);
        if !self.columns[1..].iter().zip(&numbers).all(same) {
            self.push(t, numbers.map(Cell::Number));
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns[0].values.len()
    }

    /// All columns, `t` first.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// A column by its name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}

impl Column {
    fn place(&mut self, word: &str) -> u64 {
        if let Some(&place) = self.places.get(word) {
            return place;
        }
        let place = self.words.len() as u64;
        self.words.push(word.to_owned());
        self.places.insert(word.to_owned(), place);
        place
    }
}

/// One trace, ready for display.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Short, e.g. the arm.
    pub name: String,
    /// What was transferred over which path.
    pub about: String,
    /// Label and value; the first is the headline.
    pub facts: Vec<(String, String)>,
    /// What limited the transfer, in a sentence.
    pub verdict: String,
    /// Cause and share of the time, 0 to 1.
    pub shares: Vec<(String, f64)>,
    /// Microseconds from the first record to the last.
    pub end: u64,
    /// By the names that the viewer knows.
    pub tables: BTreeMap<&'static str, Table>,
    /// How many runs ahead of it is the one whose queue is also its own; zero for itself.
    pub queue_before: usize,
    /// Lane or table, and why it is empty.
    pub why_empty: BTreeMap<&'static str, String>,
    /// Totals from which the page says what happened, each with its unit at the end of its name; one that is not known is not there.
    pub numbers: BTreeMap<&'static str, f64>,
    /// The system whose TCP the profile imitates, `windows` or `linux`: its names of events are shown.
    pub system: Option<&'static str>,
    /// What an analysis of a capture found.
    pub findings: Vec<Finding>,
}

/// A sentence about what limited a captured connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The sentence, with its numbers.
    pub says: String,
    /// Share of the time that it cost, per cent.
    pub cost_pct: f64,
    /// Whether it costs too little to be the reason.
    pub is_note: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_places_in_the_order_of_their_first_use() {
        let mut table = Table::new(&[("by", Unit::Text)]);
        for (t, word) in [(1, "b"), (2, "a"), (2, "b")] {
            table.push(t, [word.into()]);
        }
        let by = table.column("by").unwrap();
        assert_eq!(
            (by.words.as_slice(), by.values.as_slice()),
            (&["b".to_owned(), "a".to_owned()][..], &[0, 1, 0][..])
        );
    }

    #[test]
    fn a_step_that_changes_nothing_is_not_a_row() {
        let mut table = Table::new(&[("v", Unit::Bytes)]);
        for (t, value) in [(1, 5), (2, 5), (3, 6), (4, 5)] {
            table.step(t, [value]);
        }
        assert_eq!(table.columns()[0].values, [1, 3, 4]);
    }

    #[test]
    #[should_panic(expected = "in order of time")]
    fn time_does_not_run_backwards() {
        let mut table = Table::new(&[]);
        table.push(2, []);
        table.push(1, []);
    }
}
