//! Rows of a table in the buffers that Arrow prescribes.
//! Source: the Apache Arrow columnar format, "Fixed-size primitive layout", "Variable-size binary layout", "Validity bitmaps".

use std::sync::Arc;
use trace_io::sheet::{Cell, Column, ColumnKind, Sheet};

/// Rows of a batch: readers take batches to several processors, and offsets of words stay below 2³¹.
const ROWS: usize = 65_536;

/// A table: its columns, and their rows in batches.
#[derive(Debug)]
pub struct Data {
    pub columns: Vec<Column>,
    pub batches: Vec<Arc<Batch>>,
}

/// Some rows.
#[derive(Debug)]
pub struct Batch {
    pub rows: usize,
    /// In the order of the columns.
    pub values: Vec<Values>,
}

/// A column of some rows.
#[derive(Debug)]
pub struct Values {
    /// A bit each row, set where there is a value; `None` for a column in which every row has one.
    pub validity: Option<Bits>,
    /// Rows without a value.
    pub absent: usize,
    pub buffer: Buffer,
}

/// The values, one each row; where there is none, anything.
#[derive(Debug)]
pub enum Buffer {
    Wide(Vec<u64>),
    Narrow(Vec<u32>),
    Real(Vec<f64>),
    Flag(Bits),
    Word {
        /// Where each word begins, and where the last one ends.
        offsets: Vec<i32>,
        bytes: Vec<u8>,
    },
}

/// Bits, the lowest of a byte first.
#[derive(Debug, Default)]
pub struct Bits {
    pub bytes: Vec<u8>,
    len: usize,
}

impl Bits {
    fn push(&mut self, bit: bool) {
        if self.len.is_multiple_of(8) {
            self.bytes.push(0);
        }
        self.bytes[self.len / 8] |= u8::from(bit) << (self.len % 8);
        self.len += 1;
    }

    fn get(&self, index: usize) -> bool {
        self.bytes[index / 8] >> (index % 8) & 1 == 1
    }
}

impl Data {
    /// Takes a table over.
    pub fn new(sheet: &Sheet<'_>) -> Self {
        let full = sheet.rows() / ROWS;
        let sizes: Vec<usize> =
            (0..=full).map(|at| ROWS.min(sheet.rows() - at * ROWS)).filter(|rows| *rows > 0).collect();
        let mut batches: Vec<Batch> = sizes.iter().map(|rows| Batch { rows: *rows, values: Vec::new() }).collect();
        let mut columns = Vec::new();
        for (column, mut cells) in sheet.each_column() {
            for batch in &mut batches {
                let mut values = Values::new(column);
                (0..batch.rows).for_each(|_| values.push(cells.next().flatten()));
                batch.values.push(values);
            }
            columns.push(column.clone());
        }
        Self { columns, batches: batches.into_iter().map(Arc::new).collect() }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.batches.iter().map(|batch| batch.rows).sum()
    }

    /// Returns the values of a column.
    pub fn each(&self, column: usize) -> impl Iterator<Item = Option<Cell<'_>>> {
        self.batches.iter().flat_map(move |batch| (0..batch.rows).map(move |row| batch.values[column].get(row)))
    }
}

impl Values {
    fn new(column: &Column) -> Self {
        let buffer = match column.kind {
            ColumnKind::Wide => Buffer::Wide(Vec::new()),
            ColumnKind::Narrow => Buffer::Narrow(Vec::new()),
            ColumnKind::Real => Buffer::Real(Vec::new()),
            ColumnKind::Flag => Buffer::Flag(Bits::default()),
            ColumnKind::Word => Buffer::Word { offsets: vec![0], bytes: Vec::new() },
        };
        Self { validity: column.optional.then(Bits::default), absent: 0, buffer }
    }

    fn push(&mut self, cell: Option<Cell<'_>>) {
        self.absent += usize::from(cell.is_none());
        self.validity.iter_mut().for_each(|bits| bits.push(cell.is_some()));
        let number = if let Some(Cell::Number(number)) = cell { number } else { 0 };
        match &mut self.buffer {
            Buffer::Wide(values) => values.push(number),
            Buffer::Narrow(values) => values.push(u32::try_from(number).expect("a narrow column has narrow numbers")),
            Buffer::Real(values) => values.push(if let Some(Cell::Real(real)) = cell { real } else { 0.0 }),
            Buffer::Flag(bits) => bits.push(cell == Some(Cell::Flag(true))),
            Buffer::Word { offsets, bytes } => {
                if let Some(Cell::Word(word)) = cell {
                    bytes.extend(word.as_bytes());
                }
                offsets.push(i32::try_from(bytes.len()).expect("the words of a batch are shorter than 2 GiB"));
            }
        }
    }

    fn get(&self, row: usize) -> Option<Cell<'_>> {
        if self.validity.as_ref().is_some_and(|bits| !bits.get(row)) {
            return None;
        }
        Some(match &self.buffer {
            Buffer::Wide(values) => Cell::Number(values[row]),
            Buffer::Narrow(values) => Cell::Number(values[row].into()),
            Buffer::Real(values) => Cell::Real(values[row]),
            Buffer::Flag(bits) => Cell::Flag(bits.get(row)),
            Buffer::Word { offsets, bytes } => {
                let word = &bytes[offsets[row] as usize..offsets[row + 1] as usize];
                Cell::Word(std::str::from_utf8(word).expect("words are text"))
            }
        })
    }
}
