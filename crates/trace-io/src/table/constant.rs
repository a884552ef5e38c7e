//! Columns of a row group whose rows are all alike: nothing, the name of the event,
//! or its connection. They are encoded once per length and type, and copied from
//! there.

use super::encoder::{Encoded, Encoder, word};
use super::rows::BATCH;
use ::parquet::column::writer::{ColumnCloseResult, ColumnWriter};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::ColumnChunkMetaData;
use ::parquet::file::properties::WriterPropertiesPtr;
use ::parquet::file::writer::SerializedRowGroupWriter;
use ::parquet::schema::types::ColumnDescPtr;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::Write;
use std::sync::Arc;

/// The content of every row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Constant {
    /// Nothing.
    Nothing,
    /// A number.
    Number(u32),
    /// A word.
    Word(&'static str),
}

/// What has been encoded so far, by its length, its type and what it holds. Few lengths occur: full row groups, and what is left
/// over at the end.
#[derive(Default)]
pub(super) struct Constants(BTreeMap<(usize, i32, Constant), Encoded>);

impl Constants {
    /// Appends a column with so many rows of one content.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append<W: Write + Send>(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, W>,
        descr: &ColumnDescPtr,
        (rows, content): (usize, Constant),
        properties: &WriterPropertiesPtr,
    ) -> Result<(), ParquetError> {
        let Encoded { bytes, close } = match self.0.entry((rows, descr.physical_type() as i32, content)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(vacant) => vacant.insert(encode(descr, rows, content, properties)?),
        };
        let metadata = of_column(descr, &close.metadata)?;
        group.append_column(bytes, ColumnCloseResult { metadata, ..close.clone() })
    }
}

/// Returns the metadata of an encoded column, adapted for another column of the same type.
fn of_column(descr: &ColumnDescPtr, encoded: &ColumnChunkMetaData) -> Result<ColumnChunkMetaData, ParquetError> {
    let mut metadata = ColumnChunkMetaData::builder(Arc::clone(descr))
        .set_compression_codec(encoded.compression_codec())
        .set_encodings_mask(*encoded.encodings_mask())
        .set_total_compressed_size(encoded.compressed_size())
        .set_total_uncompressed_size(encoded.uncompressed_size())
        .set_num_values(encoded.num_values())
        .set_data_page_offset(encoded.data_page_offset())
        .set_dictionary_page_offset(encoded.dictionary_page_offset());
    if let Some(statistics) = encoded.statistics() {
        metadata = metadata.set_statistics(statistics.clone());
    }
    metadata.build()
}

fn encode(
    descr: &ColumnDescPtr,
    rows: usize,
    content: Constant,
    properties: &WriterPropertiesPtr,
) -> Result<Encoded, ParquetError> {
    let mut encoder = Encoder::new(descr, properties);
    let words = if let Constant::Word(text) = content { vec![word(text); rows.min(BATCH)] } else { Vec::new() };
    let mut left = rows;
    while left > 0 {
        let now = left.min(BATCH);
        let levels = Some(&[0; BATCH][..now]);
        match (&mut encoder.column, content) {
            (ColumnWriter::ByteArrayColumnWriter(column), Constant::Word(_)) => {
                column.write_batch(&words[..now], None, None)
            }
            (ColumnWriter::Int32ColumnWriter(column), Constant::Number(number)) => {
                column.write_batch(&[number as i32; BATCH][..now], None, None)
            }
            (ColumnWriter::ByteArrayColumnWriter(column), Constant::Nothing) => column.write_batch(&[], levels, None),
            (ColumnWriter::Int64ColumnWriter(column), Constant::Nothing) => column.write_batch(&[], levels, None),
            (ColumnWriter::Int32ColumnWriter(column), Constant::Nothing) => column.write_batch(&[], levels, None),
            (ColumnWriter::BoolColumnWriter(column), Constant::Nothing) => column.write_batch(&[], levels, None),
            _ => unreachable!("the layout has no such column"),
        }?;
        left -= now;
    }
    encoder.close()
}
