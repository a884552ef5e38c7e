//! The values of columns, row by row.

use super::{Column, ColumnKind};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::{ByteArray, DataType};
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::RowGroupReader;

/// A value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'w> {
    /// In a column for 64 or 32 bits.
    Number(u64),
    /// With a fraction.
    Real(f64),
    /// Yes or no.
    Flag(bool),
    /// Text.
    Word(&'w str),
}

/// Values of a column, without the rows that have none.
#[derive(Clone, Debug)]
pub(super) enum Cells {
    Wide(Vec<i64>),
    Narrow(Vec<i32>),
    Flags(Vec<bool>),
    Words(Vec<ByteArray>),
    Reals(Vec<f64>),
}

impl Cells {
    fn len(&self) -> usize {
        match self {
            Self::Wide(values) => values.len(),
            Self::Narrow(values) => values.len(),
            Self::Flags(values) => values.len(),
            Self::Words(values) => values.len(),
            Self::Reals(values) => values.len(),
        }
    }

    fn get(&self, index: usize) -> Option<Cell<'_>> {
        Some(match self {
            Self::Wide(values) => Cell::Number(*values.get(index)? as u64),
            Self::Narrow(values) => Cell::Number((*values.get(index)? as u32).into()),
            Self::Flags(values) => Cell::Flag(*values.get(index)?),
            Self::Words(values) => Cell::Word(values.get(index)?.as_utf8().unwrap_or("\u{fffd}")),
            Self::Reals(values) => Cell::Real(*values.get(index)?),
        })
    }
}

/// A column of some rows.
#[derive(Clone, Debug)]
pub(crate) struct Values {
    pub(super) cells: Cells,
    /// 1 for a value, 0 for none; empty for a column in which every row has a value.
    pub(super) levels: Vec<i16>,
}

impl Values {
    pub(super) fn new(column: &Column) -> Self {
        let cells = match column.kind {
            ColumnKind::Wide => Cells::Wide(Vec::new()),
            ColumnKind::Narrow => Cells::Narrow(Vec::new()),
            ColumnKind::Flag => Cells::Flags(Vec::new()),
            ColumnKind::Word => Cells::Words(Vec::new()),
            ColumnKind::Real => Cells::Reals(Vec::new()),
        };
        Self { cells, levels: Vec::new() }
    }

    /// Appends a row. Unsigned values keep their bits.
    pub(super) fn push(&mut self, optional: bool, cell: Option<Cell<'_>>) {
        if optional {
            self.levels.push(cell.is_some().into());
        }
        match (&mut self.cells, cell) {
            (_, None) => {}
            (Cells::Wide(values), Some(Cell::Number(number))) => values.push(number as i64),
            (Cells::Narrow(values), Some(Cell::Number(number))) => {
                values.push(u32::try_from(number).expect("a narrow column has narrow numbers") as i32);
            }
            (Cells::Flags(values), Some(Cell::Flag(flag))) => values.push(flag),
            (Cells::Words(values), Some(Cell::Word(word))) => values.push(word.into()),
            (Cells::Reals(values), Some(Cell::Real(real))) => values.push(real),
            (cells, Some(cell)) => panic!("{cell:?} does not fit among {cells:?}"),
        }
    }

    /// Appends further rows of the same column.
    pub(super) fn append(&mut self, other: Self) {
        self.levels.extend(other.levels);
        match (&mut self.cells, other.cells) {
            (Cells::Wide(own), Cells::Wide(more)) => own.extend(more),
            (Cells::Narrow(own), Cells::Narrow(more)) => own.extend(more),
            (Cells::Flags(own), Cells::Flags(more)) => own.extend(more),
            (Cells::Words(own), Cells::Words(more)) => own.extend(more),
            (Cells::Reals(own), Cells::Reals(more)) => own.extend(more),
            _ => unreachable!("a column has one kind"),
        }
    }
}

/// Goes through a column row by row.
pub(crate) struct Cursor<'v> {
    values: &'v Values,
    row: usize,
    next: usize,
}

impl<'v> Cursor<'v> {
    pub(crate) const fn new(values: &'v Values) -> Self {
        Self { values, row: 0, next: 0 }
    }

    pub(crate) fn next(&mut self) -> Option<Cell<'v>> {
        let there = self.values.levels.get(self.row).is_none_or(|level| *level > 0);
        self.row += 1;
        if !there {
            return None;
        }
        self.next += 1;
        self.values.cells.get(self.next - 1)
    }
}

/// Reads a column of a row group.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn read_column(group: &dyn RowGroupReader, column: &Column, rows: usize) -> Result<Values, String> {
    let chunks = group.metadata().columns();
    let found = chunks.iter().position(|chunk| chunk.column_path().parts() == [column.name.as_str()]);
    let index = found.ok_or_else(|| "it is missing".to_owned())?;
    if chunks[index].compressed_size() < 0 || chunks[index].data_page_offset() < 0 {
        return Err("it lies before the file".to_owned());
    }
    let descr = chunks[index].column_descr_ptr();
    let required = !column.optional;
    if descr.physical_type() != column.kind.physical()
        || descr.max_rep_level() != 0
        || descr.max_def_level() != i16::from(!required)
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
        ColumnReader::DoubleColumnReader(reader) => Cells::Reals(all(reader, rows, levels)?),
        _ => return Err(ParquetError::General("it is of another type".to_owned())),
    })
}
