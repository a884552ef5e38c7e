//! Writes the table: events go into rows of their kind, and enough of these into the file. One row group per kind of event bounds
//! the memory, whatever the length of the run.

use super::file::TableFile;
use super::layout::Layout;
use super::rows::{BATCH, Key, Rows};
use crate::recorder::{Chunk, Sink};
use crate::{Meta, Record};
use std::io::{self, Write};
use trace::{ConnId, VOCABULARY};

/// Connections whose events have row groups of their own, in which most columns change little from row to row; what others there
/// are share theirs.
const OWN: usize = 8;

/// A file that grows.
pub struct TableWriter<W: Write + Send> {
    file: TableFile<W>,
    layout: Layout,
    /// Rows that wait for more of their kind: of the first connections, and of all others.
    sets: Vec<Set>,
    /// Events so far.
    events: u64,
}

/// Rows of one connection, or of many, by the event's place in the vocabulary.
struct Set {
    conn: Option<u32>,
    rows: Vec<Rows>,
}

impl<W: Write + Send> core::fmt::Debug for TableWriter<W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("TableWriter").field("events", &self.events).finish_non_exhaustive()
    }
}

impl<W: Write + Send> TableWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(out: W, meta: &Meta) -> io::Result<Self> {
        let layout = Layout::new();
        Ok(Self { file: TableFile::new(out, &layout, meta)?, layout, sets: Vec::new(), events: 0 })
    }

    /// Appends events.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&mut self, records: &[Record]) -> io::Result<()> {
        for record in records {
            let set = self.set_of(record.conn);
            let rows = &mut self.sets[set].rows[record.event.place()];
            rows.push(self.events, record);
            self.events += 1;
            if rows.len == BATCH {
                self.file.write(rows)?;
                rows.len = 0;
            }
        }
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        for rows in self.sets.iter().flat_map(|set| &set.rows).filter(|rows| rows.len > 0) {
            self.file.write(rows)?;
        }
        self.file.finish()
    }

    /// Returns the rows for a connection's events.
    #[inline]
    fn set_of(&mut self, conn: ConnId) -> usize {
        let known = self.sets.iter().position(|set| set.conn == Some(conn.0));
        known.unwrap_or_else(|| self.add(conn))
    }

    #[cold]
    fn add(&mut self, conn: ConnId) -> usize {
        if self.sets.len() <= OWN {
            let conn = (self.sets.len() < OWN).then_some(conn.0);
            let rows = (0..VOCABULARY.len()).map(|place| Rows::new(&self.layout, Key { conn, place }));
            self.sets.push(Set { conn, rows: rows.collect() });
        }
        self.sets.len() - 1
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
