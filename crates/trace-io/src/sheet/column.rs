//! What a table's columns are.

use ::parquet::basic::{LogicalType, Repetition, Type as Physical};
use ::parquet::schema::types::{Type, TypePtr};
use std::sync::Arc;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Unsigned, 64 bits: numbers and times.
    Wide,
    /// Unsigned, 32 bits: sequence numbers and connections.
    Narrow,
    /// Yes or no.
    Flag,
    /// Text.
    Word,
    /// A number with a fraction, 64 bits.
    Real,
}

impl ColumnKind {
    /// The type in which the file has it.
    pub(crate) const fn physical(self) -> Physical {
        match self {
            Self::Wide => Physical::INT64,
            Self::Narrow => Physical::INT32,
            Self::Flag => Physical::BOOLEAN,
            Self::Word => Physical::BYTE_ARRAY,
            Self::Real => Physical::DOUBLE,
        }
    }

    fn logical(self) -> Option<LogicalType> {
        match self {
            Self::Wide => Some(LogicalType::integer(64, false)),
            Self::Narrow => Some(LogicalType::integer(32, false)),
            Self::Word => Some(LogicalType::String),
            Self::Flag | Self::Real => None,
        }
    }
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: ColumnKind,
    /// Whether rows may have no value.
    pub optional: bool,
    /// The unit of its numbers.
    pub unit: Option<&'static str>,
}

/// The schema of a file with these columns.
pub(crate) fn schema(name: &str, columns: &[Column]) -> TypePtr {
    let fields = columns.iter().map(|column| {
        let repetition = if column.optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let built = Type::primitive_type_builder(&column.name, column.kind.physical())
            .with_repetition(repetition)
            .with_logical_type(column.kind.logical())
            .build();
        Arc::new(built.expect("these types fit together"))
    });
    let root = Type::group_type_builder(name).with_fields(fields.collect()).build();
    Arc::new(root.expect("a group of columns"))
}
