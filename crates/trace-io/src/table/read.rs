//! Reads the table back. A foreign or damaged file gives an error, never a panic.

use super::layout::{Column, ColumnKind, Layout};
use super::{AT, COMMON, CONN, EVENT, META, ROW};
use crate::{Meta, Record, Trace, TraceError, VERSION, words};
use ::parquet::basic::Type as Physical;
use ::parquet::column::reader::ColumnReader;
use ::parquet::data_type::ByteArray;
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
        let mut values = vec![None; columns.len()];
        for row in 0..rows {
            // All columns advance together, whether or not the event uses them.
            values.iter_mut().zip(&mut columns).for_each(|(value, column)| *value = column.next());
            let record = self.record(&values);
            numbered.push(record.ok_or_else(|| format!("row {row} of group {index} is not an event"))?);
        }
        Ok(())
    }

    /// A row, and its number.
    fn record(&self, row: &[Option<Raw>]) -> Option<(u64, Record)> {
        let (Raw::Number(number), Raw::Number(at)) = (row[ROW]?, row[AT]?) else { return None };
        let (Raw::Number(conn), Raw::Word(name)) = (row[CONN]?, row[EVENT]?) else { return None };
        let place = *self.events.get(name)?;
        let mut places = self.layout.of(place).iter();
        let ask = |field: &'static FieldInfo| {
            let column = places.next().copied().unwrap_or_default();
            value(field, row[column], row.get(column + 1).copied().flatten())
        };
        let event = Event::from_values(place, ask)?;
        let record = Record { at: Instant::from_nanos(at), conn: ConnId(u32::try_from(conn).ok()?), event };
        Some((number, record))
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
fn value(field: &FieldInfo, first: Option<Raw>, second: Option<Raw>) -> Value {
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
enum Raw {
    Number(u64),
    Flag(bool),
    Word(&'static str),
}

/// A column of one row group.
struct Values {
    values: Vec<Raw>,
    /// Empty for a column in which every row has a value.
    levels: Vec<i16>,
    row: usize,
    next: usize,
}

impl Values {
    fn next(&mut self) -> Option<Raw> {
        let there = self.levels.get(self.row).is_none_or(|level| *level > 0);
        self.row += 1;
        if !there {
            return None;
        }
        self.next += 1;
        self.values.get(self.next - 1).copied()
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
    let values = read_values(reader, rows, (!required).then_some(&mut levels)).map_err(|error| error.to_string())?;
    let expected = if required { rows } else { levels.iter().filter(|level| **level > 0).count() };
    if values.len() != expected || (!required && levels.len() != rows) {
        return Err("it ends too soon".to_owned());
    }
    Ok(Values { values, levels, row: 0, next: 0 })
}

fn read_values(reader: ColumnReader, rows: usize, levels: Option<&mut Vec<i16>>) -> Result<Vec<Raw>, ParquetError> {
    let too_odd = || ParquetError::General("a word that none of ours would be".to_owned());
    Ok(match reader {
        ColumnReader::Int64ColumnReader(mut reader) => {
            let mut values = Vec::new();
            reader.read_records(rows, levels, None, &mut values)?;
            values.into_iter().map(|value: i64| Raw::Number(value as u64)).collect()
        }
        ColumnReader::Int32ColumnReader(mut reader) => {
            let mut values = Vec::new();
            reader.read_records(rows, levels, None, &mut values)?;
            values.into_iter().map(|value: i32| Raw::Number((value as u32).into())).collect()
        }
        ColumnReader::BoolColumnReader(mut reader) => {
            let mut values = Vec::new();
            reader.read_records(rows, levels, None, &mut values)?;
            values.into_iter().map(Raw::Flag).collect()
        }
        ColumnReader::ByteArrayColumnReader(mut reader) => {
            let mut values: Vec<ByteArray> = Vec::new();
            reader.read_records(rows, levels, None, &mut values)?;
            let mut last: Option<&'static str> = None;
            let keep = |value: &ByteArray| {
                let text = value.as_utf8().ok()?;
                last = last.filter(|last| *last == text).or_else(|| words::keep(text));
                last.map(Raw::Word)
            };
            values.iter().map(keep).collect::<Option<Vec<_>>>().ok_or_else(too_odd)?
        }
        _ => return Err(ParquetError::General("it is of another type".to_owned())),
    })
}
