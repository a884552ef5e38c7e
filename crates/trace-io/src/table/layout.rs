//! Which column holds which field.

use super::COMMON;
use crate::sheet::{Column, ColumnKind, schema};
use ::parquet::schema::types::TypePtr;
use trace::{Kind, VOCABULARY};

/// The columns, and where each field of each event goes.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Those of every row first.
    pub columns: Vec<Column>,
    /// By event and field: the column, the first of two where there are two.
    places: Vec<Vec<usize>>,
}

impl Layout {
    /// That of the vocabulary.
    ///
    /// # Panics
    /// If two events use one field name for different kinds: a test ensures that none do.
    pub fn new() -> Self {
        let kinds = [ColumnKind::Wide, ColumnKind::Wide, ColumnKind::Narrow, ColumnKind::Word];
        let common = COMMON.iter().zip(kinds).map(|(name, kind)| Column {
            name: (*name).to_owned(),
            kind,
            optional: false,
            unit: None,
        });
        let mut layout = Self { columns: common.collect(), places: Vec::with_capacity(VOCABULARY.len()) };
        for event in VOCABULARY {
            let fields = event.fields.iter();
            let places = fields.map(|field| {
                let (kind, suffixes): (_, &[&str]) = match field.kind {
                    Kind::Number => (ColumnKind::Wide, &[""]),
                    Kind::Span | Kind::Moment => (ColumnKind::Wide, &["_ns"]),
                    Kind::Flag => (ColumnKind::Flag, &[""]),
                    Kind::Word => (ColumnKind::Word, &[""]),
                    Kind::Seq => (ColumnKind::Narrow, &[""]),
                    Kind::Range => (ColumnKind::Narrow, &["_start", "_end"]),
                };
                let at: Vec<usize> =
                    suffixes.iter().map(|suffix| layout.column(format!("{}{suffix}", field.name), kind)).collect();
                at[0]
            });
            let places = places.collect();
            layout.places.push(places);
        }
        layout
    }

    /// The column of this name, made when it is not there.
    fn column(&mut self, name: String, kind: ColumnKind) -> usize {
        if let Some(at) = self.columns.iter().position(|column| column.name == name) {
            assert!(
                at >= COMMON.len() && self.columns[at].kind == kind,
                "two fields called `{name}` hold different things"
            );
            return at;
        }
        self.columns.push(Column { name, kind, optional: true, unit: None });
        self.columns.len() - 1
    }

    /// The columns of an event's fields, by its place in the vocabulary.
    pub fn of(&self, event: usize) -> &[usize] {
        &self.places[event]
    }

    /// The schema of the file.
    pub fn schema(&self) -> TypePtr {
        schema("trace", &self.columns)
    }
}

impl Default for Layout {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_its_column_and_equal_names_share_one() {
        let layout = Layout::new();
        let of = |event: &str, field: usize| {
            let place = VOCABULARY.iter().position(|info| info.name == event).unwrap();
            layout.columns[layout.of(place)[field]].name.as_str()
        };
        assert_eq!(
            (of("SegmentSent", 0), of("SegmentLost", 0), of("RttUpdated", 1)),
            ("seq", "range_start", "srtt_ns")
        );
        assert_eq!(of("AckProcessed", 7), of("CcSnapshot", 1).trim());
        for (place, info) in VOCABULARY.iter().enumerate() {
            assert_eq!(layout.of(place).len(), info.fields.len());
        }
    }
}
