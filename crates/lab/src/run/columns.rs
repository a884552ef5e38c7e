//! The numbers of a run as columns of a table: what a struct of results declares is its columns, and their description is its field's.

use core::iter;

/// A column of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) name: &'static str,
    /// What it says.
    pub(crate) said: &'static str,
    /// Whether a run may lack it.
    pub(crate) optional: bool,
    pub(crate) kind: Kind,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Wide,
    Narrow,
    Flag,
}

/// A part of a run's results, in one column or several. In all of them a value is at most 64 bits, and yes is 1.
pub(crate) trait Columns: Sized {
    /// Appends the columns; a single one has this name.
    fn declare(name: &'static str, said: &'static str, to: &mut Vec<Declared>);
    /// Appends the values.
    fn put(&self, to: &mut Vec<Option<u64>>);
    /// Takes as many values as there are columns; `None` when one is missing that has to be there.
    fn take(from: &mut dyn Iterator<Item = Option<u64>>) -> Option<Self>;
}

/// A single column.
macro_rules! single {
    ($($type:ty, $kind:ident, $put:expr, $take:expr;)*) => {$(
        impl Columns for $type {
            fn declare(name: &'static str, said: &'static str, to: &mut Vec<Declared>) {
                to.push(Declared { name, said: said.trim(), optional: false, kind: Kind::$kind });
            }
            fn put(&self, to: &mut Vec<Option<u64>>) {
                to.push(Some($put(*self)));
            }
            fn take(from: &mut dyn Iterator<Item = Option<u64>>) -> Option<Self> {
                from.next().flatten().and_then($take)
            }
        }
    )*};
}
single! {
    u64, Wide, u64::from, Some;
    u32, Narrow, u64::from, |value| u32::try_from(value).ok();
    bool, Flag, u64::from, |value| Some(value != 0);
}

impl<T: Columns> Columns for Option<T> {
    fn declare(name: &'static str, said: &'static str, to: &mut Vec<Declared>) {
        let first = to.len();
        T::declare(name, said, to);
        to[first..].iter_mut().for_each(|column| column.optional = true);
    }

    fn put(&self, to: &mut Vec<Option<u64>>) {
        match self {
            Some(value) => value.put(to),
            None => to.extend(iter::repeat_n(None, declared::<T>().len())),
        }
    }

    /// What has no value in any column is not there.
    fn take(from: &mut dyn Iterator<Item = Option<u64>>) -> Option<Self> {
        let found = T::take(from);
        Some(found.filter(|found| {
            let mut values = Vec::new();
            found.put(&mut values);
            values.iter().any(Option::is_some)
        }))
    }
}

/// Returns the columns of a type that names its own.
pub(crate) fn declared<T: Columns>() -> Vec<Declared> {
    let mut columns = Vec::new();
    T::declare("", "", &mut columns);
    columns
}

/// Declares a struct of results whose fields are columns, each described by its documentation. `prefix` begins the names of all.
macro_rules! recorded {
    (
        prefix $prefix:literal;
        $(#[$of:meta])*
        pub struct $result:ident {
            $(
                #[doc = $said:literal]
                $(#[doc = $more:literal])*
                $(#[serde $serde:tt])?
                pub $name:ident: $type:ty,
            )*
        }
    ) => {
        $(#[$of])*
        pub struct $result {
            $(
                #[doc = $said]
                $(#[doc = $more])*
                $(#[serde $serde])?
                pub $name: $type,
            )*
        }

        impl $crate::run::columns::Columns for $result {
            fn declare(_: &'static str, _: &'static str, to: &mut Vec<$crate::run::columns::Declared>) {
                $(<$type as $crate::run::columns::Columns>::declare(
                    concat!($prefix, stringify!($name)),
                    concat!($said $(, $more)*),
                    to,
                );)*
            }
            fn put(&self, to: &mut Vec<Option<u64>>) {
                $($crate::run::columns::Columns::put(&self.$name, to);)*
            }
            fn take(from: &mut dyn Iterator<Item = Option<u64>>) -> Option<Self> {
                // All are taken, whichever is missing.
                $(let $name = <$type as $crate::run::columns::Columns>::take(from);)*
                Some(Self { $($name: $name?,)* })
            }
        }
    };
}
pub(crate) use recorded;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{ApplicationResult, CompanyResult, Measured, Punctuality, StartUpResult};

    fn back(of: &Measured) -> Option<Measured> {
        let mut values = Vec::new();
        of.put(&mut values);
        assert_eq!(values.len(), declared::<Measured>().len());
        let mut values = values.into_iter();
        let found = Measured::take(&mut values);
        assert_eq!(values.next(), None);
        found
    }

    #[test]
    fn results_come_back_from_their_columns() {
        let bare = Measured { bytes: 7, elapsed_ns: u64::MAX, ..Measured::default() };
        assert_eq!(back(&bare), Some(bare));
        let startup = StartUpResult { burst_bytes: Some(3), ..StartUpResult::default() };
        let applications = ApplicationResult { ping_p99_us: Some(0), ..ApplicationResult::default() };
        let company =
            CompanyResult { share_ppm: 500_000, converged_s: Some(2), applications, ..CompanyResult::default() };
        let punctuality = Punctuality { latest_ns: 5, late: 1, attempts: 2, disturbed: true };
        let full = Measured {
            startup: Some(startup),
            company: Some(company),
            punctuality: Some(punctuality),
            reo_wnd_mult: Some(4),
            rtos: Some(0),
            ..bare
        };
        assert_eq!(back(&full), Some(full));
    }

    #[test]
    fn a_value_that_has_to_be_there_is_missed() {
        let mut values = vec![None; declared::<Measured>().len()];
        assert_eq!(Measured::take(&mut values.iter().copied()), None);
        values.clear();
        assert_eq!(Measured::take(&mut values.into_iter()), None);
    }

    #[test]
    fn every_column_has_a_name_of_its_own_and_says_what_it_is() {
        let columns = declared::<Measured>();
        let mut names: Vec<&str> = columns.iter().map(|column| column.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), columns.len());
        let vague = columns.iter().find(|column| !column.said.ends_with('.') || column.said.starts_with(' '));
        assert_eq!(vague, None);
    }
}
