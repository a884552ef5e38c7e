//! A column of a row group, encoded in memory piece by piece, and copied into the file when the group is complete: several groups
//! can be open at a time, and each takes no more memory than in the file.

use ::parquet::column::page::{CompressedPage, PageWriteSpec, PageWriter};
use ::parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use ::parquet::data_type::ByteArray;
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterPropertiesPtr;
use ::parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use ::parquet::schema::types::ColumnDescPtr;
use bytes::Bytes;
use std::sync::{Arc, Mutex, PoisonError};

/// A column under way.
pub(super) struct Encoder {
    /// Takes values.
    pub column: ColumnWriter<'static>,
    pages: Pages,
}

/// A column that is complete.
#[derive(Clone)]
pub(super) struct Encoded {
    /// What goes into the file.
    pub bytes: Bytes,
    /// What is reported of it.
    pub close: ColumnCloseResult,
}

impl Encoder {
    /// Begins a column.
    pub fn new(descr: &ColumnDescPtr, properties: &WriterPropertiesPtr) -> Self {
        let pages = Pages(Arc::new(Mutex::new(TrackedWrite::new(Vec::new()))));
        let column = get_column_writer(Arc::clone(descr), Arc::clone(properties), Box::new(pages.clone()));
        Self { column, pages }
    }

    /// Ends it.
    ///
    /// # Errors
    /// When the library cannot encode it.
    pub fn close(self) -> Result<Encoded, ParquetError> {
        let close = self.column.close()?;
        let pages = Arc::into_inner(self.pages.0).expect("the library released it when it closed the column");
        let bytes = pages.into_inner().unwrap_or_else(PoisonError::into_inner).into_inner()?.into();
        Ok(Encoded { bytes, close })
    }
}

/// A word as the library takes it.
pub(super) fn word(word: &'static str) -> ByteArray {
    Bytes::from_static(word.as_bytes()).into()
}

/// Pages in memory, shared by the library that writes them and the code that takes them at the end.
#[derive(Clone)]
struct Pages(Arc<Mutex<TrackedWrite<Vec<u8>>>>);

impl PageWriter for Pages {
    fn write_page(&mut self, page: CompressedPage) -> Result<PageWriteSpec, ParquetError> {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        SerializedPageWriter::new(&mut *pages).write_page(page)
    }

    fn close(&mut self) -> Result<(), ParquetError> {
        Ok(())
    }
}
