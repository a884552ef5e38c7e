//! The file: rows of each kind are encoded as they arrive, and are written when they fill a row group.

use super::constant::{Constant, Constants};
use super::encoder::{Encoded, Encoder, word};
use super::layout::Layout;
use super::rows::{BATCH, Content, Key, Rows, Values};
use super::{AT, CONN, EVENT, META, ROWS};
use crate::Meta;
use crate::sheet::{ColumnKind, io_error, plain};
use ::parquet::basic::{Compression, Encoding};
use ::parquet::column::writer::ColumnWriter;
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::{ColumnDescPtr, ColumnPath};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;
use trace::VOCABULARY;

/// Levels of rows that all have a value.
const ONES: &[i16] = &[1; BATCH];

/// A table that grows.
pub(super) struct TableFile<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<ColumnDescPtr>,
    properties: WriterPropertiesPtr,
    constants: Constants,
    /// Open row groups.
    groups: BTreeMap<Key, Group>,
}

/// An open row group.
#[derive(Default)]
struct Group {
    rows: usize,
    /// By column.
    encoders: BTreeMap<usize, Encoder>,
}

impl<W: Write + Send> TableFile<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(out: W, layout: &Layout, meta: &Meta) -> io::Result<Self> {
        let text = serde_json::to_string(meta).map_err(io::Error::other)?;
        let properties = Arc::new(properties(layout, text));
        let file = SerializedFileWriter::new(out, layout.schema(), Arc::clone(&properties)).map_err(io_error)?;
        let columns = file.schema_descr().columns().to_vec();
        Ok(Self { file, columns, properties, constants: Constants::default(), groups: BTreeMap::new() })
    }

    /// Appends rows of one kind.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&mut self, rows: &Rows) -> io::Result<()> {
        let group = self.groups.entry(rows.key).or_default();
        for column in rows.columns() {
            let encoder = group.encoders.entry(column.index);
            let encoder = encoder.or_insert_with(|| Encoder::new(&self.columns[column.index], &self.properties));
            encode(encoder, &column, rows.len).map_err(io_error)?;
        }
        group.rows += rows.len;
        if group.rows >= ROWS {
            self.write_group(rows.key).map_err(io_error)?;
        }
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        while let Some(&key) = self.groups.keys().next() {
            self.write_group(key).map_err(io_error)?;
        }
        self.file.finish().map_err(io_error)?;
        self.file.inner_mut().flush()
    }

    fn write_group(&mut self, key: Key) -> Result<(), ParquetError> {
        let Some(Group { rows, mut encoders }) = self.groups.remove(&key) else { return Ok(()) };
        let mut group = self.file.next_row_group()?;
        for (index, descr) in self.columns.iter().enumerate() {
            if let Some(encoder) = encoders.remove(&index) {
                let Encoded { bytes, close } = encoder.close()?;
                group.append_column(&bytes, close)?;
                continue;
            }
            let content = match (index, key.conn) {
                (EVENT, _) => Constant::Word(VOCABULARY[key.place].name),
                (CONN, Some(conn)) => Constant::Number(conn),
                _ => Constant::Nothing,
            };
            self.constants.append(&mut group, descr, (rows, content), &self.properties)?;
        }
        group.close().map(|_| ())
    }
}

fn encode(encoder: &mut Encoder, content: &Content<'_>, rows: usize) -> Result<(), ParquetError> {
    // Columns that every row has ignore them.
    let levels = content.levels.unwrap_or(&ONES[..rows]);
    // Unsigned values keep their bits.
    match (&mut encoder.column, content.values) {
        (ColumnWriter::Int64ColumnWriter(column), Values::Bits(bits)) => {
            column.write_batch(&there(bits, levels, |bits| bits as i64), Some(levels), None)
        }
        (ColumnWriter::Int32ColumnWriter(column), Values::Bits(bits)) => {
            column.write_batch(&there(bits, levels, |bits| bits as i32), Some(levels), None)
        }
        (ColumnWriter::BoolColumnWriter(column), Values::Bits(bits)) => {
            column.write_batch(&there(bits, levels, |bits| bits != 0), Some(levels), None)
        }
        (ColumnWriter::ByteArrayColumnWriter(column), Values::Words(words)) => {
            column.write_batch(&there(words, levels, word), Some(levels), None)
        }
        _ => unreachable!("the layout has no such column"),
    }?;
    Ok(())
}

/// Returns the values that are present, in the library's form.
fn there<T: Copy, U>(values: &[T], levels: &[i16], as_taken: impl Fn(T) -> U) -> Vec<U> {
    values.iter().zip(levels).filter(|(_, level)| **level > 0).map(|(value, _)| as_taken(*value)).collect()
}

/// Times and numbers of a stream grow slowly: their differences are small, and compression hardly reduces them. Words repeat,
/// which compression exploits as well as a dictionary does, and faster. Minimum and maximum are useful for time, connection and
/// event: a query for one kind of event, or for a period, skips all other groups.
fn properties(layout: &Layout, meta: String) -> WriterProperties {
    let mut properties = plain(vec![KeyValue::new(META.to_owned(), meta)]);
    for (index, column) in layout.columns.iter().enumerate() {
        let path = ColumnPath::from(column.name.as_str());
        if [AT, CONN, EVENT].contains(&index) {
            properties = properties.set_column_statistics_enabled(path.clone(), EnabledStatistics::Chunk);
        }
        properties = match column.kind {
            ColumnKind::Word => properties.set_column_compression(path, Compression::SNAPPY),
            ColumnKind::Wide | ColumnKind::Narrow => {
                properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED)
            }
            ColumnKind::Flag | ColumnKind::Real => properties,
        };
    }
    properties.build()
}
