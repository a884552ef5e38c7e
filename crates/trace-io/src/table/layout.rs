//! Which column holds which field.

use super::COMMON;
use crate::sheet::{Column, ColumnKind, schema};
use ::parquet::schema::types::TypePtr;
use trace::{Kind, VOCABULARY};

/// Columns that are not called as their fields are: by that name, so that SQL takes it without quotes and a number says its unit. Files of
/// earlier releases have the field's.
const RENAMED: [(&str, &str); 21] = [
    ("from", "from_state"),
    ("to", "to_state"),
    ("by", "by_what"),
    ("end", "end_seq"),
    ("window", "window_bytes"),
    ("len", "len_bytes"),
    ("acked", "acked_bytes"),
    ("sacked", "sacked_bytes"),
    ("newly_sacked", "newly_sacked_bytes"),
    ("lost", "lost_bytes"),
    ("pipe", "pipe_bytes"),
    ("cwnd", "cwnd_bytes"),
    ("ssthresh", "ssthresh_bytes"),
    ("snd_wnd", "snd_wnd_bytes"),
    ("delivered", "delivered_bytes"),
    ("extent", "extent_bytes"),
    ("max_extent", "max_extent_bytes"),
    ("backlog", "backlog_bytes"),
    ("bytes", "limit_bytes"),
    ("rate", "rate_bps"),
    ("pacing", "pacing_bps"),
];

/// Returns the column of a field, without what a time or a range appends.
pub(crate) fn column_of(field: &str) -> &str {
    RENAMED.iter().find(|(own, _)| *own == field).map_or(field, |(_, column)| column)
}

/// Returns what earlier releases called a column, if it was something else.
pub(crate) fn former(column: &str) -> Option<&'static str> {
    RENAMED.iter().find(|(_, name)| *name == column).map(|(own, _)| *own)
}

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
                let at: Vec<usize> = suffixes
                    .iter()
                    .map(|suffix| layout.column(format!("{}{suffix}", column_of(field.name)), kind))
                    .collect();
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

    /// What the grammars of PostgreSQL 16 and DuckDB 1.4 reserve, and what they take as a column only behind `AS` or a table.
    const RESERVED: &str = "all analyse analyze and anti any array as asc asof asymmetric authorization binary both by case cast check \
        collate collation column concurrently constraint create cross current_catalog current_date current_role current_schema current_time \
        current_timestamp current_user default deferrable desc describe distinct do else end except false fetch for foreign freeze from full \
        generated glob grant group having ilike in initially inner intersect into is isnull join lambda lateral leading left like limit \
        localtime localtimestamp map natural not notnull null offset on only or order outer overlaps pivot pivot_longer pivot_wider placing \
        positional primary qualify references returning right select semi session_user show similar some struct summarize symmetric \
        system_user table tablesample then to trailing true try_cast union unique unpivot user using variadic verbose when where window with";

    #[test]
    fn no_column_is_a_reserved_word_of_sql() {
        let reserved: Vec<&str> = RESERVED.split_whitespace().collect();
        for column in Layout::new().columns {
            assert!(!reserved.contains(&column.name.as_str()), "`{}`", column.name);
        }
    }

    #[test]
    fn a_renamed_column_is_that_of_a_field_and_has_one_former_name() {
        let fields = || VOCABULARY.iter().flat_map(|event| event.fields);
        for (own, column) in RENAMED {
            assert!(fields().any(|field| field.name == own), "no field is called `{own}`");
            assert!(fields().all(|field| field.name != column), "`{column}` is another field");
            assert_eq!((column_of(own), former(column)), (column, Some(own)));
        }
    }

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
