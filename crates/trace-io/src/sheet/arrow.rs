//! The metadata by which readers of Arrow learn the unit of a column: Parquet has no room for it in its own schema. It is Arrow's
//! description of a schema, a *flatbuffer* within the envelope of a message, as text. What columns have in common is there once, since
//! readers open thousands of small files.
//! Source: the Apache Arrow columnar format, "Serialization and Interprocess Communication", with `Schema.fbs` and `Message.fbs`.

use super::{Column, ColumnKind};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::collections::BTreeMap;

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
    let root = to.word(0);
    let (message, [_, _, header]) = to.table([Some(VERSION), Some(SCHEMA), Some(0)]);
    to.point(root, message);
    let (schema, [_, list]) = to.table([None, Some(0)]);
    to.point(header, schema);
    let (fields, slots) = to.list(columns.len());
    to.point(list, fields);
    let (mut kinds, mut parts, mut units) = (Wanted::new(), Vec::new(), Wanted::new());
    for (column, slot) in columns.iter().zip(slots) {
        let number = type_of(column.kind);
        let metadata = column.unit.map(|_| 0);
        // Name, whether rows may lack it, the type's number, the type, how words are numbered, parts, metadata.
        let described = [Some(0), Some(column.optional.into()), Some(number.0), Some(0), None, Some(0), metadata];
        let (field, [name, _, _, kind, _, none, unit]) = to.table(described);
        to.point(slot, field);
        let text = to.text(&column.name);
        to.point(name, text);
        kinds.entry(number).or_default().push(kind);
        parts.push(none);
        if let Some(text) = column.unit {
            units.entry(text).or_default().push(unit);
        }
    }
    to.once(kinds, |to, (number, bits)| to.kind(number, bits));
    to.once(BTreeMap::from([((), parts)]), |to, ()| to.list(0).0);
    to.once(units, Flat::unit);
    BASE64_STANDARD.encode(to.message())
}

/// Slots by what they are to point to.
type Wanted<T> = BTreeMap<T, Vec<usize>>;

/// Returns the number of a column's type in Arrow's list of types, and the bits of a whole number.
const fn type_of(kind: ColumnKind) -> (u32, u32) {
    match kind {
        ColumnKind::Wide => (WHOLE, 64),
        ColumnKind::Narrow => (WHOLE, 32),
        ColumnKind::Real => (REAL, 0),
        ColumnKind::Word => (5, 0),
        ColumnKind::Flag => (6, 0),
    }
}
const WHOLE: u32 = 2;
const REAL: u32 = 3;
/// Of 64 bits.
const DOUBLE: u32 = 2;

/// A flatbuffer: tables whose slots hold numbers, or how far ahead something else lies. Everything takes four bytes.
#[derive(Default)]
struct Flat {
    bytes: Vec<u8>,
    /// Where each description of a table stands.
    descriptions: BTreeMap<Vec<usize>, usize>,
}

impl Flat {
    /// Appends four bytes, and returns where they are.
    fn word(&mut self, word: u32) -> usize {
        self.bytes.extend(word.to_le_bytes());
        self.bytes.len() - 4
    }

    /// Lets a slot point to something behind it.
    fn point(&mut self, slot: usize, to: usize) {
        self.bytes[slot..slot + 4].copy_from_slice(&number(to - slot).to_le_bytes());
    }

    /// Appends each thing once, and lets all slots that want it point to it.
    fn once<T>(&mut self, wanted: Wanted<T>, append: impl Fn(&mut Self, T) -> usize) {
        for (what, slots) in wanted {
            let at = append(self, what);
            slots.into_iter().for_each(|slot| self.point(slot, at));
        }
    }

    /// Appends a table with these slots, and returns where it is and where they are; absent ones have their default.
    fn table<const N: usize>(&mut self, slots: [Option<u32>; N]) -> (usize, [usize; N]) {
        // What describes a table, in units of two bytes: its own length, the table's, and where each slot is.
        let there = slots.iter().flatten().count();
        let mut description = vec![4 + 2 * N, 4 + 4 * there];
        let mut next = 4;
        for slot in &slots {
            description.push(if slot.is_some() { next } else { 0 });
            next += 4 * usize::from(slot.is_some());
        }
        let described = self.descriptions.get(&description).copied().unwrap_or_else(|| self.describe(description));
        let at = self.word(number(self.bytes.len() - described));
        (at, slots.map(|slot| slot.map_or(0, |word| self.word(word))))
    }

    fn describe(&mut self, description: Vec<usize>) -> usize {
        let at = self.bytes.len();
        self.bytes.extend(description.iter().flat_map(|place| (*place as u16).to_le_bytes()));
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.descriptions.insert(description, at);
        at
    }

    /// Appends a list of pointers, and returns where it is and where they are.
    fn list(&mut self, len: usize) -> (usize, Vec<usize>) {
        (self.word(number(len)), (0..len).map(|_| self.word(0)).collect())
    }

    fn text(&mut self, text: &str) -> usize {
        let at = self.word(number(text.len()));
        self.bytes.extend(text.as_bytes());
        // Readers expect a zero behind it.
        self.bytes.resize((self.bytes.len() + 1).next_multiple_of(4), 0);
        at
    }

    /// Appends a type: whole numbers have bits and no sign.
    fn kind(&mut self, kind: u32, bits: u32) -> usize {
        match kind {
            WHOLE => self.table([Some(bits), None]).0,
            REAL => self.table([Some(DOUBLE)]).0,
            _ => self.table([]).0,
        }
    }

    /// Appends metadata: a list of one pair.
    fn unit(&mut self, unit: &str) -> usize {
        let (list, pairs) = self.list(1);
        // Some readers, polars among them, find the description of a list's member only behind the list.
        self.descriptions.clear();
        let (pair, [key, value]) = self.table([Some(0), Some(0)]);
        self.point(pairs[0], pair);
        for (slot, text) in [(key, UNIT), (value, unit)] {
            let at = self.text(text);
            self.point(slot, at);
        }
        list
    }

    /// Returns it as a message.
    fn message(mut self) -> Vec<u8> {
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        let begin = [CONTINUES, number(self.bytes.len())].map(u32::to_le_bytes).concat();
        [begin, self.bytes].concat()
    }
}

fn number(number: usize) -> u32 {
    u32::try_from(number).expect("a schema is short")
}
