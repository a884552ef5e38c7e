//! Reads the table back. A foreign or damaged file gives an error, never a panic.

use super::layout::{Layout, former};
use super::{AT, CONN, EVENT, META, ROW};
use crate::sheet::{Cell, Column, Cursor, guarded, read_column};
use crate::{Meta, Record, Trace, TraceError, VERSION};
use ::parquet::file::reader::FileReader;
use ::parquet::file::serialized_reader::SerializedFileReader;
use base::{Duration, Instant, SeqNum, SeqRange};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use trace::{ConnId, Event, FieldInfo, Kind, VOCABULARY, Value};

/// Reads a table; `path` is for messages.
///
/// # Errors
/// If it is not a trace, is of another version, or is damaged.
pub fn read(file: File, path: &Path) -> Result<Trace, TraceError> {
    let foreign = |problem: String| TraceError::Foreign { path: path.to_owned(), problem };
    let file = guarded(|| SerializedFileReader::new(file).map_err(|error| error.to_string())).map_err(foreign)?;
    let metadata = file.metadata().file_metadata();
    let text = metadata.key_value_metadata().and_then(|pairs| pairs.iter().find(|pair| pair.key == META));
    let text = text.and_then(|pair| pair.value.as_deref());
    let text = text.ok_or_else(|| foreign(format!("it has no `{META}`")))?;
    let version: Version = serde_json::from_str(text).map_err(|error| foreign(format!("`{META}`: {error}")))?;
    if version.vocabulary != VERSION {
        return Err(TraceError::Version { path: path.to_owned(), found: version.vocabulary });
    }
    let meta: Meta = serde_json::from_str(text).map_err(|error| foreign(format!("`{META}`: {error}")))?;
    let events = VOCABULARY.iter().enumerate().map(|(place, info)| (info.name, place)).collect();
    let table = Table { file, layout: Layout::new(), events };
    let mut numbered = Vec::new();
    for group in 0..table.file.num_row_groups() {
        guarded(|| table.read_group(group, &mut numbered)).map_err(foreign)?;
    }
    // In their original order: each group is already sorted, which makes this sort fast.
    numbered.sort_by_key(|(row, _)| *row);
    Ok(Trace { meta, records: numbered.into_iter().map(|(_, record)| record).collect() })
}

/// A table that is being read.
struct Table {
    file: SerializedFileReader<File>,
    layout: Layout,
    /// By name: the place in the vocabulary.
    events: BTreeMap<&'static str, usize>,
}

impl Table {
    /// Appends the rows of a group with their numbers.
    fn read_group(&self, index: usize, numbered: &mut Vec<(u64, Record)>) -> Result<(), String> {
        let group = self.file.get_row_group(index).map_err(|error| error.to_string())?;
        let rows = usize::try_from(group.metadata().num_rows()).map_err(|_| "a negative number of rows".to_owned())?;
        let mut columns = Vec::with_capacity(self.layout.columns.len());
        for column in &self.layout.columns {
            let read = read_column(&*group, column, rows).or_else(|problem| match former(&column.name) {
                Some(name) => read_column(&*group, &Column { name: name.to_owned(), ..column.clone() }, rows),
                None => Err(problem),
            });
            columns.push(read.map_err(|problem| format!("column `{}`: {problem}", column.name))?);
        }
        let mut cursors: Vec<Cursor<'_>> = columns.iter().map(Cursor::new).collect();
        let mut values = vec![None; columns.len()];
        for row in 0..rows {
            // All columns advance together, whether or not the event uses them.
            values.iter_mut().zip(&mut cursors).for_each(|(value, cursor)| *value = cursor.next());
            let problem = |problem| format!("row {row} of group {index} is not an event: {problem}");
            numbered.push(self.record(&values).map_err(problem)?);
        }
        Ok(())
    }

    /// A row, and its number.
    ///
    /// # Errors
    /// What is wrong with the row.
    fn record(&self, row: &[Option<Cell<'_>>]) -> Result<(u64, Record), String> {
        let (Some(Cell::Number(number)), Some(Cell::Number(at)), Some(Cell::Number(conn)), Some(Cell::Word(name))) =
            (row[ROW], row[AT], row[CONN], row[EVENT])
        else {
            return Err("it lacks a number, a time, a connection or a name".to_owned());
        };
        let place = *self.events.get(name).ok_or_else(|| format!("no event is called `{name}`"))?;
        let mut places = self.layout.of(place).iter();
        // The field asked for last is the one that does not fit.
        let mut last = None;
        let ask = |field: &'static FieldInfo| {
            let column = places.next().copied().unwrap_or_default();
            let value = value(field, row[column], row.get(column + 1).copied().flatten());
            last = Some((field, value));
            value
        };
        let Some(event) = Event::from_values(place, ask) else {
            let (field, value) = last.map_or(("", Value::Absent), |(field, value)| (field.name, value));
            return Err(format!("`{value}` is not a `{field}` of `{name}`"));
        };
        let conn = u32::try_from(conn).map_err(|_| format!("no connection has the number {conn}"))?;
        Ok((number, Record { at: Instant::from_nanos(at), conn: ConnId(conn), event }))
    }
}

/// The part that is read first: later versions may have other content beside it.
#[derive(serde::Deserialize)]
struct Version {
    vocabulary: u32,
}

/// A field's value from its column, or two.
fn value<'w>(field: &FieldInfo, first: Option<Cell<'w>>, second: Option<Cell<'w>>) -> Value<'w> {
    let seq = |raw| SeqNum(u32::try_from(raw).unwrap_or_default());
    match (field.kind, first, second) {
        (Kind::Number, Some(Cell::Number(number)), _) => Value::Number(number),
        (Kind::Span, Some(Cell::Number(nanos)), _) => Value::Span(Duration::from_nanos(nanos)),
        (Kind::Moment, Some(Cell::Number(nanos)), _) => Value::Moment(Instant::from_nanos(nanos)),
        (Kind::Flag, Some(Cell::Flag(flag)), _) => Value::Flag(flag),
        (Kind::Word, Some(Cell::Word(word)), _) => Value::Word(word),
        (Kind::Seq, Some(Cell::Number(raw)), _) => Value::Seq(seq(raw)),
        (Kind::Range, Some(Cell::Number(start)), Some(Cell::Number(end))) => {
            Value::Range(SeqRange::new(seq(start), seq(end)))
        }
        _ => Value::Absent,
    }
}
