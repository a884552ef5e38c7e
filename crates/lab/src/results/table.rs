//! Rows as a table of typed columns, beside those of the runs that they sum up.

use crate::plan::Plan;
use crate::results::rows::Row;
use crate::run::Table;
use crate::run::store::CELLS;
use crate::spec::{METRICS, Primary, unit_of};
use std::sync::LazyLock;
use trace_io::sheet::ColumnKind::{Flag, Narrow, Real, Word};
use trace_io::sheet::{Cell, Column, ColumnKind, Sheet};

/// A column: name, kind, whether rows may lack it, what it says.
type Own = (&'static str, ColumnKind, bool, &'static str);

/// What every row has, before its metrics.
const FIRST: [Own; 11] = [
    ("experiment", Word, false, "Name of the experiment."),
    ("cell", Narrow, false, "Number of the cell in the experiment as it was made, from one."),
    ("swept", Word, false, "What the sweep set in the cell, key and value."),
    ("arm", Word, false, "Label of the arm."),
    ("profile", Word, true, "The profile behind the arm, if it is one."),
    ("runs", Narrow, false, "Runs that succeeded."),
    ("deterministic", Flag, false, "Whether the seed has no effect here, so that one run stands for all."),
    ("goodput_mbps", Real, true, "Goodput; median of the runs."),
    ("goodput_mean_mbps", Real, true, "Its mean."),
    ("goodput_p10_mbps", Real, true, "One tenth of the runs are at or below; none below 50 runs."),
    ("goodput_p90_mbps", Real, true, "Nine tenths of the runs are at or below; none below 50 runs."),
];

/// What rows have behind their metrics.
const LAST: [Own; 8] = [
    ("reference", Word, true, "The arm with which this one is compared; none for that arm itself."),
    ("metric", Word, true, "What is compared."),
    ("ratio", Real, true, "Median over seeds of this arm's number divided by the reference's."),
    ("ratio_lo", Real, true, "Lower bound of its 95 % interval; none where there are too few runs."),
    ("ratio_hi", Real, true, "Upper bound."),
    ("verdict", Word, true, "What this says."),
    ("p", Real, true, "Probability of a difference at least as clear between equal arms; none where nothing varies."),
    ("p_table", Real, true, "The same for all comparisons of the table together (Holm)."),
];

/// The table of rows.
pub static ROWS: LazyLock<Table> = LazyLock::new(|| {
    let metrics = METRICS.iter().map(|metric| (metric.name, Real, true, metric.description));
    let all: Vec<Own> = FIRST.into_iter().chain(metrics).chain(LAST).collect();
    let column = |(name, kind, optional, _): &Own| Column {
        name: (*name).to_owned(),
        kind: *kind,
        optional: *optional,
        unit: (!matches!(kind, Word | Flag)).then(|| unit_of(name)),
    };
    Table {
        name: "rows",
        said: "one row an arm in a cell, over all its runs",
        columns: all.iter().map(column).collect(),
        meanings: all.iter().map(|(.., said)| *said).collect(),
    }
});

/// Returns the tables that sum up those of results: made of them, and not kept.
pub fn summaries() -> [&'static Table; 2] {
    [&CELLS, &ROWS]
}

/// Returns rows of a plan as a table; `of` says which.
pub fn table(plan: &Plan, rows: &[Row], of: impl Fn(&Row) -> bool) -> Sheet<'static> {
    let mut sheet = Sheet::new(&ROWS.columns);
    for (index, row) in rows.iter().enumerate().filter(|(_, row)| of(row)) {
        let place = index / plan.arms.len();
        let swept = plan.cells[place].title();
        let (word, real) = (|text| Some(Cell::Word(text)), |number: Option<f64>| number.map(Cell::Real));
        let (goodput, versus) = (&row.goodput_mbps, row.vs_reference.as_ref());
        let mut cells = vec![
            word(&row.experiment),
            Some(Cell::Number(place as u64 + 1)),
            word(&swept),
            word(&row.arm),
            row.profile.as_deref().and_then(word),
            Some(Cell::Number(row.runs as u64)),
            Some(Cell::Flag(row.deterministic)),
        ];
        cells.extend([goodput.median, goodput.mean, goodput.p10, goodput.p90].map(real));
        cells.extend(row.metrics.all().into_iter().map(|(_, value)| real(value)));
        cells.extend([
            versus.and(word(&plan.arms[0].label)),
            versus.and_then(|versus| word(versus.metric.unwrap_or(Primary::default().name))),
            real(versus.map(|versus| versus.median_ratio)),
            real(versus.and_then(|versus| versus.lo)),
            real(versus.and_then(|versus| versus.hi)),
            versus.and_then(|versus| word(versus.verdict)),
            real(versus.and_then(|versus| versus.p)),
            real(versus.and_then(|versus| versus.p_table)),
        ]);
        sheet.push(&cells);
    }
    sheet
}
