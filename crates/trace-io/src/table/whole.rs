//! Events as rows in memory, with the columns of the file.

use super::layout::Layout;
use super::{AT, CONN, EVENT, ROW};
use crate::Record;
use crate::sheet::{Cell, Sheet};
use trace::{Kind, Value};

/// Returns events as a table, in their order.
pub fn sheet<'c>(layout: &'c Layout, records: &[Record]) -> Sheet<'c> {
    let mut sheet = Sheet::new(&layout.columns);
    for (record, number) in records.iter().zip(0..) {
        let mut row = vec![None; layout.columns.len()];
        row[ROW] = Some(Cell::Number(number));
        row[AT] = Some(Cell::Number(record.at.as_nanos()));
        row[CONN] = Some(Cell::Number(record.conn.0.into()));
        row[EVENT] = Some(Cell::Word(record.event.name()));
        let fields = record.event.info().fields;
        let mut places = layout.of(record.event.place()).iter().zip(fields);
        record.event.tell(&mut |value: Value<'static>| {
            let (place, field) = places.next().expect("an event has a value for each of its fields");
            row[*place] = match value {
                Value::Number(number) => Some(Cell::Number(number)),
                Value::Span(span) => Some(Cell::Number(span.as_nanos())),
                Value::Moment(at) => Some(Cell::Number(at.as_nanos())),
                Value::Seq(seq) => Some(Cell::Number(seq.0.into())),
                Value::Flag(flag) => Some(Cell::Flag(flag)),
                Value::Word(word) => Some(Cell::Word(word)),
                Value::Range(range) => {
                    debug_assert_eq!(field.kind, Kind::Range, "its end has the next column");
                    row[place + 1] = Some(Cell::Number(range.end.0.into()));
                    Some(Cell::Number(range.start.0.into()))
                }
                Value::Absent => None,
            };
        });
        sheet.push(&row);
    }
    sheet
}
