//! Flat tables in Parquet: typed columns, in which a row has a value or none. Tables of events ([`table`](crate::table)) are built from
//! their columns; a [`Sheet`] is a small table that is written and read whole, with the unit of each column as metadata of its field.

mod arrow;
mod cells;
mod column;
mod guarded;
mod write;

pub use cells::Cell;
pub use column::{Column, ColumnKind};

pub(crate) use cells::{Cursor, Values, read_column};
pub(crate) use column::schema;
pub(crate) use guarded::guarded;
pub(crate) use write::{io_error, plain};

use ::parquet::file::reader::FileReader;
use ::parquet::file::serialized_reader::SerializedFileReader;
use bytes::Bytes;
use std::collections::BTreeMap;

/// A table in memory.
#[derive(Clone, Debug)]
pub struct Sheet<'c> {
    columns: &'c [Column],
    values: Vec<Values>,
    rows: usize,
}

impl<'c> Sheet<'c> {
    /// Begins one without rows.
    pub fn new(columns: &'c [Column]) -> Self {
        Self { columns, values: columns.iter().map(Values::new).collect(), rows: 0 }
    }

    /// Returns the number of rows.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Appends a row.
    ///
    /// # Panics
    /// When it has another number of values than there are columns, a value of another kind, or none where one has to be.
    pub fn push(&mut self, row: &[Option<Cell<'_>>]) {
        assert_eq!(row.len(), self.columns.len(), "a row has a value, or none, for each column");
        for ((column, values), cell) in self.columns.iter().zip(&mut self.values).zip(row) {
            assert!(column.optional || cell.is_some(), "`{}` has a value in every row", column.name);
            values.push(column.optional, *cell);
        }
        self.rows += 1;
    }

    /// Reads these columns of a file, wherever they stand in it, and the file's metadata.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(bytes: Vec<u8>, columns: &'c [Column]) -> Result<(Self, BTreeMap<String, String>), String> {
        let file = SheetFile::open(bytes)?;
        Ok((file.read(columns)?, file.metadata))
    }

    /// Returns its columns, each with its values: one, or none, for each row.
    pub fn each_column(&self) -> impl Iterator<Item = (&'c Column, impl Iterator<Item = Option<Cell<'_>>>)> {
        self.columns.iter().zip(&self.values).map(|(column, values)| {
            let mut cursor = Cursor::new(values);
            (column, (0..self.rows).map(move |_| cursor.next()))
        })
    }

    /// Returns the rows one after the other, each with a value, or none, for each column.
    pub fn each_row(&self) -> impl Iterator<Item = Vec<Option<Cell<'_>>>> {
        let mut cursors: Vec<Cursor<'_>> = self.values.iter().map(Cursor::new).collect();
        (0..self.rows).map(move |_| cursors.iter_mut().map(Cursor::next).collect())
    }
}

/// A file of which only the end has been read, which says what it holds.
pub struct SheetFile {
    file: SerializedFileReader<Bytes>,
    metadata: BTreeMap<String, String>,
}

impl SheetFile {
    /// Reads what a file says of itself.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn open(bytes: Vec<u8>) -> Result<Self, String> {
        guarded(|| {
            let file = SerializedFileReader::new(Bytes::from(bytes)).map_err(|error| error.to_string())?;
            let pairs = file.metadata().file_metadata().key_value_metadata().into_iter().flatten();
            let metadata = pairs.filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?))).collect();
            Ok(Self { file, metadata })
        })
    }

    /// Returns its metadata.
    pub const fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// Reads these columns, wherever they stand in it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read<'c>(&self, columns: &'c [Column]) -> Result<Sheet<'c>, String> {
        guarded(|| {
            let mut sheet = Sheet::new(columns);
            for group in 0..self.file.num_row_groups() {
                let group = self.file.get_row_group(group).map_err(|error| error.to_string())?;
                let rows = usize::try_from(group.metadata().num_rows()).map_err(|_| "a negative number of rows")?;
                for (column, values) in columns.iter().zip(&mut sheet.values) {
                    let found = read_column(&*group, column, rows);
                    values.append(found.map_err(|problem| format!("column `{}`: {problem}", column.name))?);
                }
                sheet.rows += rows;
            }
            Ok(sheet)
        })
    }
}

#[cfg(test)]
mod tests;
