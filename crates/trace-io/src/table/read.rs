//! Reads the table back. A foreign or damaged file gives an error, never a panic.

use super::layout::{Column, ColumnKind, Layout};
use super::{AT, COMMON, CONN, EVENT, META, ROW};
use crate::{Meta, Record, Trace, TraceError, VERSION};
use ::parquet::basic::Type as Physical;
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::{ByteArray, DataType};
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{FileReader, RowGroupReader};
use ::parquet::file::serialized_reader::SerializedFileReader;
use base::{Duration, Instant, SeqNum, SeqRange};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::Path;
use std::sync::Once;
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
            let read =
                read_column(&*group, column, rows).map_err(|problem| format!("column `{}`: {problem}", column.name));
            columns.push(read?);
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
    fn record(&self, row: &[Option<Raw<'_>>]) -> Result<(u64, Record), String> {
        let (Some(Raw::Number(number)), Some(Raw::Number(at)), Some(Raw::Number(conn)), Some(Raw::Word(name))) =
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

thread_local! {
    /// Whether the library is running in this thread.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Catches the library's assertions about damaged files. Their message is not shown; all other panics behave as usual.
fn guarded<T>(read: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let former = take_hook();
        set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                former(panic);
            }
        }));
    });
    GUARDED.set(true);
    let result = catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err("it is damaged".to_owned()));
    GUARDED.set(false);
    result
}

/// The part that is read first: later versions may have other content beside it.
#[derive(serde::Deserialize)]
struct Version {
    vocabulary: u32,
}

/// A field's value from its column, or two.
fn value<'w>(field: &FieldInfo, first: Option<Raw<'w>>, second: Option<Raw<'w>>) -> Value<'w> {
    let seq = |raw| SeqNum(u32::try_from(raw).unwrap_or_default());
    match (field.kind, first, second) {
        (Kind::Number, Some(Raw::Number(number)), _) => Value::Number(number),
        (Kind::Span, Some(Raw::Number(nanos)), _) => Value::Span(Duration::from_nanos(nanos)),
        (Kind::Moment, Some(Raw::Number(nanos)), _) => Value::Moment(Instant::from_nanos(nanos)),
        (Kind::Flag, Some(Raw::Flag(flag)), _) => Value::Flag(flag),
        (Kind::Word, Some(Raw::Word(word)), _) => Value::Word(word),
        (Kind::Seq, Some(Raw::Number(raw)), _) => Value::Seq(seq(raw)),
        (Kind::Range, Some(Raw::Number(start)), Some(Raw::Number(end))) => {
            Value::Range(SeqRange::new(seq(start), seq(end)))
        }
        _ => Value::Absent,
    }
}

#[derive(Clone, Copy)]
enum Raw<'w> {
    Number(u64),
    Flag(bool),
    Word(&'w str),
}

/// Values of a column, without the rows that have none.
enum Cells {
    Wide(Vec<i64>),
    Narrow(Vec<i32>),
    Flags(Vec<bool>),
    Words(Vec<ByteArray>),
}

impl Cells {
    fn len(&self) -> usize {
        match self {
            Self::Wide(values) => values.len(),
            Self::Narrow(values) => values.len(),
            Self::Flags(values) => values.len(),
            Self::Words(values) => values.len(),
        }
    }

    fn get(&self, index: usize) -> Option<Raw<'_>> {
        Some(match self {
            Self::Wide(values) => Raw::Number(*values.get(index)? as u64),
            Self::Narrow(values) => Raw::Number((*values.get(index)? as u32).into()),
            Self::Flags(values) => Raw::Flag(*values.get(index)?),
            // No name of ours is anything but ASCII.
            Self::Words(values) => Raw::Word(values.get(index)?.as_utf8().unwrap_or("\u{fffd}")),
        })
    }
}

/// A column of one row group.
struct Values {
    cells: Cells,
    /// Empty for a column in which every row has a value.
    levels: Vec<i16>,
}

/// Goes through a column row by row.
struct Cursor<'v> {
    values: &'v Values,
    row: usize,
    next: usize,
}

impl<'v> Cursor<'v> {
    const fn new(values: &'v Values) -> Self {
        Self { values, row: 0, next: 0 }
    }

    fn next(&mut self) -> Option<Raw<'v>> {
        let there = self.values.levels.get(self.row).is_none_or(|level| *level > 0);
        self.row += 1;
        if !there {
            return None;
        }
        self.next += 1;
        self.values.cells.get(self.next - 1)
    }
}

fn read_column(group: &dyn RowGroupReader, column: &Column, rows: usize) -> Result<Values, String> {
    let chunks = group.metadata().columns();
    let found = chunks.iter().position(|chunk| chunk.column_path().parts() == [column.name.as_str()]);
    let index = found.ok_or_else(|| "it is missing".to_owned())?;
    if chunks[index].compressed_size() < 0 || chunks[index].data_page_offset() < 0 {
        return Err("it lies before the file".to_owned());
    }
    let descr = chunks[index].column_descr_ptr();
    let physical = match column.kind {
        ColumnKind::Wide => Physical::INT64,
        ColumnKind::Narrow => Physical::INT32,
        ColumnKind::Flag => Physical::BOOLEAN,
        ColumnKind::Word => Physical::BYTE_ARRAY,
    };
    let required = COMMON.contains(&column.name.as_str());
    if descr.physical_type() != physical || descr.max_rep_level() != 0 || descr.max_def_level() != i16::from(!required)
    {
        return Err("it is of another type".to_owned());
    }
    let mut levels = Vec::new();
    let reader = group.get_column_reader(index).map_err(|error| error.to_string())?;
    let cells = read_cells(reader, rows, (!required).then_some(&mut levels)).map_err(|error| error.to_string())?;
    let expected = if required { rows } else { levels.iter().filter(|level| **level > 0).count() };
    if cells.len() != expected || (!required && levels.len() != rows) {
        return Err("it ends too soon".to_owned());
    }
    Ok(Values { cells, levels })
}

fn read_cells(reader: ColumnReader, rows: usize, levels: Option<&mut Vec<i16>>) -> Result<Cells, ParquetError> {
    fn all<T: DataType>(
        mut reader: ColumnReaderImpl<T>,
        rows: usize,
        levels: Option<&mut Vec<i16>>,
    ) -> Result<Vec<T::T>, ParquetError> {
        let mut values = Vec::new();
        reader.read_records(rows, levels, None, &mut values)?;
        Ok(values)
    }
    Ok(match reader {
        ColumnReader::Int64ColumnReader(reader) => Cells::Wide(all(reader, rows, levels)?),
        ColumnReader::Int32ColumnReader(reader) => Cells::Narrow(all(reader, rows, levels)?),
        ColumnReader::BoolColumnReader(reader) => Cells::Flags(all(reader, rows, levels)?),
        ColumnReader::ByteArrayColumnReader(reader) => Cells::Words(all(reader, rows, levels)?),
        _ => return Err(ParquetError::General("it is of another type".to_owned())),
    })
}
