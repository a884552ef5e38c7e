//! The metrics of a row: every entry of the list (`spec/metrics.rs`), computed from an arm's runs in a cell.

use crate::results::rounded::rounded;
use crate::results::stats;
use crate::run::Measured;
use crate::spec::{Point, for_each_metric};

/// The runs of an arm in a cell.
pub(crate) struct Runs<'r> {
    pub(crate) measured: &'r [(u32, Measured)],
    pub(crate) point: &'r Point,
}

/// A count that may be unknown for a run.
trait Count: Copy {
    fn known(self) -> Option<u64>;
}

impl Count for u64 {
    fn known(self) -> Option<u64> {
        Some(self)
    }
}

impl<T: Copy + Into<u64>> Count for Option<T> {
    fn known(self) -> Option<u64> {
        self.map(Into::into)
    }
}

impl Runs<'_> {
    fn all(&self) -> impl Iterator<Item = &Measured> {
        self.measured.iter().map(|(_, measured)| measured)
    }

    /// Returns the median over the runs that know the value.
    fn median<V: Into<Option<f64>>>(&self, of: impl Fn(&Measured, &Point) -> V) -> Option<f64> {
        let each: Vec<f64> = self.all().filter_map(|run| of(run, self.point).into()).collect();
        stats::median(&each).map(rounded)
    }

    /// The bounds of a 95 % interval of the median, by order statistics; `None` below six runs.
    fn interval<V: Into<Option<f64>>>(&self, of: impl Fn(&Measured, &Point) -> V) -> Option<(f64, f64)> {
        let against_one = |run| Some((of(run, self.point).into()?, 1.0));
        let each: Vec<(f64, f64)> = self.all().filter_map(against_one).collect();
        stats::compare(&each)?.interval
    }

    fn low<V: Into<Option<f64>>>(&self, of: impl Fn(&Measured, &Point) -> V) -> Option<f64> {
        self.interval(of).map(|(low, _)| rounded(low))
    }

    fn high<V: Into<Option<f64>>>(&self, of: impl Fn(&Measured, &Point) -> V) -> Option<f64> {
        self.interval(of).map(|(_, high)| rounded(high))
    }

    /// Returns the mean over the runs that know the value.
    fn mean<C: Count>(&self, of: impl Fn(&Measured) -> C) -> Option<f64> {
        let known: Vec<u64> = self.all().filter_map(|run| of(run).known()).collect();
        (!known.is_empty()).then(|| rounded(known.iter().sum::<u64>() as f64 / known.len() as f64))
    }

    /// Returns one sum in per cent of another.
    fn share<C: Count>(&self, part: impl Fn(&Measured) -> C, whole: impl Fn(&Measured) -> C) -> Option<f64> {
        let part = self.all().filter_map(|run| part(run).known()).sum::<u64>();
        let whole = self.all().filter_map(|run| whole(run).known()).sum::<u64>();
        (whole > 0).then(|| rounded(part as f64 * 100.0 / whole as f64))
    }

    /// Returns the runs with at least one, in per cent of the runs that know.
    fn having<C: Count>(&self, of: impl Fn(&Measured) -> C) -> Option<f64> {
        self.share(|run| of(run).known().map(|count| u64::from(count > 0)), |run| of(run).known().map(|_| 1_u64))
    }
}

/// Combines runs as the list says.
macro_rules! computed {
    ($runs:ident median $of:ident) => {
        $runs.median(Measured::$of)
    };
    ($runs:ident low $of:ident) => {
        $runs.low(Measured::$of)
    };
    ($runs:ident high $of:ident) => {
        $runs.high(Measured::$of)
    };
    ($runs:ident $how:ident $($of:ident)+) => {
        $runs.$how($(|run| run.$of),+)
    };
}

macro_rules! metrics {
    ($(
        $name:ident
        $(= $end:ident . $counter:ident $said:literal)?
        $(=> $how:ident ($($of:ident),*) $([$head:literal $decimals:literal $meaning:literal])? $description:literal)?;
    )*) => {
        /// The metrics of an arm's runs in a cell; `None` if the ends do not report one or the divisor is zero.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Metrics {
            $($(
                #[doc = $description]
                pub $name: Option<f64>,
            )?)*
        }

        impl Metrics {
            pub(crate) fn of(runs: &Runs<'_>) -> Self {
                Self { $($($name: computed!(runs $how $($of)*),)?)* }
            }

            /// Every metric by its name, in the order of the list.
            pub(crate) fn all(&self) -> Vec<(&'static str, Option<f64>)> {
                vec![$($((named(stringify!($name), $description), self.$name),)?)*]
            }
        }
    };
}
for_each_metric!(metrics);

/// A macro repeats a part only if it contains a variable of that part, hence the second argument.
const fn named(name: &'static str, _description: &str) -> &'static str {
    name
}

impl Metrics {
    /// Returns the metric of this name; `None` if the run lacks it or the name is unknown.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.all().into_iter().find(|(known, _)| *known == name).and_then(|(_, value)| value)
    }
}
