//! Writing the table, a row group at a time: memory is bounded by one row group, whatever the length of the run.

use super::layout::{ColumnKind, Layout};
use super::{META, ROWS};
use crate::recorder::{Chunk, Sink};
use crate::{Meta, Record};
use ::parquet::basic::{Compression, Encoding};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int32Type, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::schema::types::ColumnPath;
use bytes::Bytes;
use std::io::{self, Write};
use std::sync::Arc;
use trace::{VOCABULARY, Value};

/// A file that grows.
pub struct TableWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    layout: Layout,
    columns: Vec<Buffer>,
    /// The row group under way, as it happened.
    pending: Vec<Record>,
    /// Its rows by the event's place in the vocabulary.
    by_place: Vec<Vec<u32>>,
    /// Rows of the groups before.
    written: u64,
}

impl<W: Write + Send> core::fmt::Debug for TableWriter<W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("TableWriter").field("written", &self.written).finish_non_exhaustive()
    }
}

impl<W: Write + Send> TableWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(out: W, meta: &Meta) -> io::Result<Self> {
        let layout = Layout::new();
        let text = serde_json::to_string(meta).map_err(io::Error::other)?;
        let properties = Arc::new(properties(&layout, text));
        let file = SerializedFileWriter::new(out, layout.schema(), properties).map_err(io_error)?;
        let columns = layout.columns.iter().map(|column| Buffer::new(column.kind)).collect();
        let by_place = vec![Vec::new(); VOCABULARY.len()];
        Ok(Self { file, layout, columns, pending: Vec::new(), by_place, written: 0 })
    }

    /// Appends events.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&mut self, records: &[Record]) -> io::Result<()> {
        let mut rest = records;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(ROWS - self.pending.len()));
            self.pending.extend_from_slice(now);
            if self.pending.len() == ROWS {
                self.flush_rows()?;
            }
            rest = later;
        }
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush_rows()?;
        self.file.finish().map_err(io_error)?;
        self.file.inner_mut().flush()
    }

    /// Appends a row to the columns: the `row`th of the group, which was the `index`th to happen.
    #[inline]
    fn push(&mut self, row: usize, index: usize) {
        let record = self.pending[index];
        let place = record.event.place();
        self.columns[0].put(row, Value::Number(self.written + index as u64));
        self.columns[1].put(row, Value::Moment(record.at));
        self.columns[2].put(row, Value::Number(record.conn.0.into()));
        self.columns[3].put(row, Value::Word(VOCABULARY[place].name));
        let mut columns = self.layout.of(place).iter();
        record.event.values(|value| {
            let Some(&column) = columns.next() else { return };
            if let Value::Range(range) = value {
                self.columns[column].put(row, Value::Seq(range.start));
                self.columns[column + 1].put(row, Value::Seq(range.end));
            } else {
                self.columns[column].put(row, value);
            }
        });
    }

    fn flush_rows(&mut self) -> io::Result<()> {
        let rows = self.pending.len();
        if rows == 0 {
            return Ok(());
        }
        for (index, record) in self.pending.iter().enumerate() {
            self.by_place[record.event.place()].push(index as u32);
        }
        let mut row = 0;
        for place in 0..self.by_place.len() {
            let indices = core::mem::take(&mut self.by_place[place]);
            for index in &indices {
                self.push(row, *index as usize);
                row += 1;
            }
            self.by_place[place] = indices;
            self.by_place[place].clear();
        }
        let mut group = self.file.next_row_group().map_err(io_error)?;
        for column in &mut self.columns {
            let mut out = group.next_column().map_err(io_error)?.expect("as many as the schema has");
            column.write(&mut out, rows).and_then(|()| out.close()).map_err(io_error)?;
        }
        group.close().map_err(io_error)?;
        self.written += rows as u64;
        self.pending.clear();
        Ok(())
    }
}

impl<W: Write + Send> Sink for TableWriter<W> {
    fn take(&mut self, chunk: &Chunk) -> io::Result<()> {
        self.write(&chunk.records)
    }
    fn finish(self: Box<Self>) -> io::Result<()> {
        (*self).finish()
    }
}

/// Times and numbers of a stream grow slowly: their differences are small. Only words repeat so much that a dictionary pays.
fn properties(layout: &Layout, meta: String) -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_max_row_group_row_count(Some(ROWS))
        .set_created_by(format!("longhaul {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(vec![KeyValue::new(META.to_owned(), meta)]));
    for column in &layout.columns {
        let path = ColumnPath::from(column.name.as_str());
        properties = match column.kind {
            ColumnKind::Word => properties.set_column_dictionary_enabled(path, true),
            ColumnKind::Wide | ColumnKind::Narrow => {
                properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED)
            }
            ColumnKind::Flag => properties,
        };
    }
    properties.build()
}

fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(inner) => io::Error::other(inner),
        },
        other => io::Error::other(other),
    }
}

/// A column of the row group under way. Rows without a value are filled in when the next value comes.
struct Buffer {
    values: Values,
    /// 1 for a value, 0 for none.
    levels: Vec<i16>,
}

enum Values {
    Wide(Vec<i64>),
    Narrow(Vec<i32>),
    Flag(Vec<bool>),
    Word(Vec<ByteArray>),
}

impl Buffer {
    fn new(kind: ColumnKind) -> Self {
        let values = match kind {
            ColumnKind::Wide => Values::Wide(Vec::new()),
            ColumnKind::Narrow => Values::Narrow(Vec::new()),
            ColumnKind::Flag => Values::Flag(Vec::new()),
            ColumnKind::Word => Values::Word(Vec::new()),
        };
        Self { values, levels: Vec::new() }
    }

    #[inline]
    fn put(&mut self, row: usize, value: Value) {
        match (&mut self.values, value) {
            (_, Value::Absent | Value::Range(_)) => return,
            // Unsigned values keep their bits.
            (Values::Wide(values), Value::Number(number)) => values.push(number as i64),
            (Values::Wide(values), Value::Span(span)) => values.push(span.as_nanos() as i64),
            (Values::Wide(values), Value::Moment(at)) => values.push(at.as_nanos() as i64),
            (Values::Narrow(values), Value::Number(number)) => values.push(number as i32),
            (Values::Narrow(values), Value::Seq(seq)) => values.push(seq.0 as i32),
            (Values::Flag(values), Value::Flag(flag)) => values.push(flag),
            (Values::Word(values), Value::Word(word)) => values.push(Bytes::from_static(word.as_bytes()).into()),
            _ => unreachable!("the layout gives each kind its column"),
        }
        self.levels.resize(row, 0);
        self.levels.push(1);
    }

    fn write(&mut self, out: &mut SerializedColumnWriter<'_>, rows: usize) -> Result<(), ParquetError> {
        self.levels.resize(rows, 0);
        // Required columns ignore the levels.
        let levels = Some(&self.levels[..]);
        match &mut self.values {
            Values::Wide(values) => out.typed::<Int64Type>().write_batch(values, levels, None).map(|_| values.clear()),
            Values::Narrow(values) => {
                out.typed::<Int32Type>().write_batch(values, levels, None).map(|_| values.clear())
            }
            Values::Flag(values) => out.typed::<BoolType>().write_batch(values, levels, None).map(|_| values.clear()),
            Values::Word(values) => {
                out.typed::<ByteArrayType>().write_batch(values, levels, None).map(|_| values.clear())
            }
        }?;
        self.levels.clear();
        Ok(())
    }
}
