//! Writes a sheet: one row group, and no statistics, so that a reader of thousands of small files spends little on each.

use super::cells::{Cells, Values};
use super::column::{Column, ColumnKind, schema};
use super::{Sheet, arrow};
use ::parquet::basic::{Compression, Encoding};
use ::parquet::column::writer::ColumnWriter;
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::ColumnPath;
use std::io::{self, Write};
use std::sync::Arc;

impl Sheet<'_> {
    /// Writes it as a file of its own; equal sheets are equal bytes.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write<W: Write + Send>(&self, out: W, name: &str, metadata: &[(&str, String)]) -> io::Result<()> {
        let mut pairs: Vec<KeyValue> =
            metadata.iter().map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone())).collect();
        pairs.push(KeyValue::new(arrow::KEY.to_owned(), arrow::schema(self.columns)));
        let properties = Arc::new(properties(self.columns, pairs));
        let file = SerializedFileWriter::new(out, schema(name, self.columns), properties);
        let mut file = file.map_err(io_error)?;
        if self.rows > 0 {
            self.write_rows(&mut file).map_err(io_error)?;
        }
        file.finish().map_err(io_error)?;
        file.inner_mut().flush()
    }

    fn write_rows<W: Write + Send>(&self, file: &mut SerializedFileWriter<W>) -> Result<(), ParquetError> {
        let mut group = file.next_row_group()?;
        for values in &self.values {
            let mut column = group.next_column()?.expect("the schema has a column for each");
            write_column(column.untyped(), values)?;
            column.close()?;
        }
        group.close().map(|_| ())
    }
}

fn write_column(column: &mut ColumnWriter<'_>, values: &Values) -> Result<(), ParquetError> {
    let levels = (!values.levels.is_empty()).then_some(&values.levels[..]);
    match (column, &values.cells) {
        (ColumnWriter::Int64ColumnWriter(column), Cells::Wide(values)) => column.write_batch(values, levels, None),
        (ColumnWriter::Int32ColumnWriter(column), Cells::Narrow(values)) => column.write_batch(values, levels, None),
        (ColumnWriter::BoolColumnWriter(column), Cells::Flags(values)) => column.write_batch(values, levels, None),
        (ColumnWriter::ByteArrayColumnWriter(column), Cells::Words(values)) => column.write_batch(values, levels, None),
        (ColumnWriter::DoubleColumnWriter(column), Cells::Reals(values)) => column.write_batch(values, levels, None),
        _ => unreachable!("the schema was made of these columns"),
    }
    .map(|_| ())
}

/// What all our files have in common: each column says for itself what else it needs.
pub(crate) fn plain(metadata: Vec<KeyValue>) -> WriterPropertiesBuilder {
    WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_created_by(format!("longhaul {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(metadata))
}

/// Words of a few rows repeat, and a dictionary holds each once. Numbers are near their neighbours.
fn properties(columns: &[Column], metadata: Vec<KeyValue>) -> WriterProperties {
    let mut properties = plain(metadata);
    for column in columns {
        let path = ColumnPath::from(column.name.as_str());
        properties = match column.kind {
            ColumnKind::Word => properties.set_column_dictionary_enabled(path, true),
            ColumnKind::Wide | ColumnKind::Narrow => {
                properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED)
            }
            ColumnKind::Flag | ColumnKind::Real => properties,
        };
    }
    properties.build()
}

/// The operating system's error, where there is one.
pub(crate) fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(inner) => io::Error::other(inner),
        },
        other => io::Error::other(other),
    }
}
