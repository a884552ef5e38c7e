//! The metadata by which readers of Arrow learn the unit of a column: Parquet has no room for it in its own schema. It is Arrow's
//! description of a schema, a *flatbuffer* within the envelope of a message, as text.
//! Source: the Apache Arrow columnar format, "Serialization and Interprocess Communication", with `Schema.fbs` and `Message.fbs`.

use super::{Column, ColumnKind};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// The key that readers know.
pub(super) const KEY: &str = "ARROW:schema";

/// Name of a field's metadata.
const UNIT: &str = "unit";
/// The format's version 5, and the message that is a schema.
const VERSION: u32 = 4;
const SCHEMA: u32 = 1;
/// Begins a message.
const CONTINUES: u32 = u32::MAX;

/// Returns the description of these columns.
pub(super) fn schema(columns: &[Column]) -> String {
    let mut to = Flat::default();
    let root = to.slot();
    let [_, _, header] = to.table(root, [Some(VERSION), Some(SCHEMA), Some(0)]);
    let [_, fields] = to.table(header, [None, Some(0)]);
    let fields = to.list(fields, columns.len());
    for (column, at) in columns.iter().zip(fields) {
        to.field(at, column);
    }
    to.0.resize(to.0.len().next_multiple_of(8), 0);
    let length = u32::try_from(to.0.len()).expect("a schema is short");
    let message = [CONTINUES, length].map(u32::to_le_bytes).concat();
    BASE64_STANDARD.encode([message, to.0].concat())
}

/// A flatbuffer: tables whose slots hold numbers, or how far ahead something else lies. Everything takes four bytes.
#[derive(Default)]
struct Flat(Vec<u8>);

impl Flat {
    /// Appends room for four bytes, and returns where it is.
    fn slot(&mut self) -> usize {
        self.word(0)
    }

    fn word(&mut self, word: u32) -> usize {
        self.0.extend(word.to_le_bytes());
        self.0.len() - 4
    }

    /// Lets a slot point to what is appended next.
    fn point(&mut self, slot: usize) {
        let ahead = u32::try_from(self.0.len() - slot).expect("a schema is short");
        self.0[slot..slot + 4].copy_from_slice(&ahead.to_le_bytes());
    }

    /// Appends a table with these slots, to which `from` then points, and returns where they are; absent ones have their default.
    fn table<const N: usize>(&mut self, from: usize, slots: [Option<u32>; N]) -> [usize; N] {
        // What describes a table lies before it, in units of two bytes: its own length, the table's, and where each slot is.
        let there = slots.iter().flatten().count();
        let mut places = vec![4 + 2 * N, 4 + 4 * there];
        let mut next = 4;
        for slot in &slots {
            places.push(if slot.is_some() { next } else { 0 });
            next += 4 * usize::from(slot.is_some());
        }
        if N % 2 == 1 {
            self.0.extend([0; 2]);
        }
        let description = self.0.len();
        self.0.extend(places.iter().flat_map(|place| u16::try_from(*place).expect("a small table").to_le_bytes()));
        self.point(from);
        let back = self.0.len() - description;
        self.word(u32::try_from(back).expect("a small table"));
        slots.map(|slot| slot.map_or(0, |word| self.word(word)))
    }

    /// Appends a list of pointers.
    fn list(&mut self, from: usize, len: usize) -> Vec<usize> {
        self.point(from);
        self.word(u32::try_from(len).expect("a short list"));
        (0..len).map(|_| self.slot()).collect()
    }

    fn text(&mut self, from: usize, text: &str) {
        self.point(from);
        self.word(u32::try_from(text.len()).expect("a short text"));
        self.0.extend(text.as_bytes());
        // Readers expect a zero behind it.
        self.0.resize((self.0.len() + 1).next_multiple_of(4), 0);
    }

    /// Appends a column's description: name, whether rows may lack it, the number of its type in the list of types, the type, how words
    /// are numbered, parts, metadata.
    fn field(&mut self, from: usize, column: &Column) {
        let number = match column.kind {
            ColumnKind::Wide | ColumnKind::Narrow => 2,
            ColumnKind::Real => 3,
            ColumnKind::Word => 5,
            ColumnKind::Flag => 6,
        };
        let metadata = column.unit.map(|_| 0);
        let slots = [Some(0), Some(column.optional.into()), Some(number), Some(0), None, Some(0), metadata];
        let [name, _, _, kind, _, parts, metadata] = self.table(from, slots);
        self.text(name, &column.name);
        match column.kind {
            // Bits, and no sign.
            ColumnKind::Wide => drop(self.table(kind, [Some(64), None])),
            ColumnKind::Narrow => drop(self.table(kind, [Some(32), None])),
            // Of double precision.
            ColumnKind::Real => drop(self.table(kind, [Some(2)])),
            ColumnKind::Word | ColumnKind::Flag => drop(self.table(kind, [])),
        }
        self.list(parts, 0);
        if let Some(unit) = column.unit {
            let pair = self.list(metadata, 1);
            let [key, value] = self.table(pair[0], [Some(0), Some(0)]);
            self.text(key, UNIT);
            self.text(value, unit);
        }
    }
}
