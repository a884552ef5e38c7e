//! The tables of results: which columns they have, and their rows.

use super::named::Named;
use crate::plan::RunSpec;
use crate::plan::fnv128;
use crate::run::columns::{Columns, Declared, Kind, declared};
use crate::run::identity::Identity;
use crate::run::{FlowResult, FlowRow, Measured, SeriesRow};
use crate::spec::{Flow, unit_of};
use netem::Buffer;
use std::sync::LazyLock;
use trace_io::sheet::{Cell, Column, ColumnKind};

/// A table of results.
#[derive(Debug)]
pub struct Table {
    /// Its name, and that of its folder.
    pub name: &'static str,
    /// What a row is.
    pub said: &'static str,
    /// Its columns.
    pub columns: Vec<Column>,
    /// What each column says.
    pub meanings: Vec<&'static str>,
}

/// Returns all tables of results.
pub fn tables() -> [&'static Table; 3] {
    [&RUNS, &FLOWS, &SERIES]
}

/// Columns that are not numbers of the lists of results: name, kind, whether rows may lack it, what it says.
type Own = (&'static str, ColumnKind, bool, &'static str);
use ColumnKind::{Flag, Narrow, Real, Wide, Word};

/// What every run has, before its results.
const RUN: &[Own] = &[
    ("run", Wide, false, "Number of the run in all tables: a digest of `spec`, `seed`, `version` and `arm`."),
    ("experiment", Word, false, "Name of the experiment."),
    ("cell", Narrow, false, "Number of the cell in the experiment as it was made, from one."),
    ("swept", Word, false, "What the sweep set in the cell, key and value."),
    ("arm", Word, false, "Label of the arm."),
    ("profile", Word, true, "The profile behind the arm, if it is one."),
    ("iteration", Narrow, false, "Which run of the arm in the cell, from one: arms of one iteration are pairs."),
    ("seed", Wide, false, "Seed of the run's random streams."),
    ("spec", Word, false, "Digest of path, flow and both ends."),
    ("version", Word, false, "Release of the program, and the stamp of the arm's behaviour."),
    ("made_by", Word, true, "What made the run, if not the simulator."),
    ("path", Word, false, "Path and flow, as experiments write them."),
    ("twin", Word, true, "The same without what disturbs the cell, if it is compared with that."),
    ("config", Word, false, "Leaves in which the arm differs from the root profile, as JSON."),
    ("path_rtt_ns", Wide, false, "Round-trip time of the path."),
    ("path_rate_bps", Wide, false, "Rate of the bottleneck."),
    ("path_buffer_bytes", Wide, true, "Room of the bottleneck's queue, unless it is counted in packets."),
    ("path_buffer_packets", Narrow, true, "Room of the bottleneck's queue, if it is counted in packets."),
    ("path_loss_pct", Real, false, "Probability of loss."),
    ("flow_bytes", Wide, true, "Payload of a sized flow."),
    ("flow_length_ns", Wide, true, "Length of a timed flow."),
    ("goodput_mbps", Real, false, "Payload bits over the time from the first SYN to the last byte read."),
    ("efficiency", Real, false, "Ideal time divided by actual time."),
];

/// Those of them that are the same for all runs of a cell.
const CELL: [&str; 13] = [
    "experiment",
    "cell",
    "swept",
    "path",
    "twin",
    "path_rtt_ns",
    "path_rate_bps",
    "path_buffer_bytes",
    "path_buffer_packets",
    "path_loss_pct",
    "flow_bytes",
    "flow_length_ns",
    "made_by",
];

/// What every flow has, before its numbers.
const FLOW: &[Own] = &[
    ("run", Wide, false, "Number of its run."),
    ("flow_group", Word, false, "Its group as experiments write it; `arm` where there is one flow."),
];

/// The table of series has no other columns.
const SERIES_OWN: &[Own] = &[
    ("run", Wide, false, "Number of its run."),
    ("flow", Narrow, false, "Which of the run's flows, from zero."),
    ("second", Narrow, false, "From the start of the run, counted from zero."),
    (
        "name",
        Word,
        false,
        "What the value is, and its unit. `sent_bytes` and `acked_bytes` count sequence numbers in that second, a FIN as one; `cwnd_bytes` and `srtt_ns` are the last of it.",
    ),
    ("value", Wide, false, "The value."),
];

/// A row each run.
pub(crate) static RUNS: LazyLock<Table> =
    LazyLock::new(|| Table::new("runs", "one row a run", RUN, &declared::<Measured>()));
/// A row each flow.
pub(crate) static FLOWS: LazyLock<Table> = LazyLock::new(|| {
    Table::new("flows", "one row a flow, of runs that the simulator made", FLOW, &declared::<FlowResult>())
});
/// A row each value of a series.
pub(crate) static SERIES: LazyLock<Table> =
    LazyLock::new(|| Table::new("series", "one row a value of a flow in a second, with `--series`", SERIES_OWN, &[]));

/// A row each cell.
pub(crate) static CELLS: LazyLock<Table> = LazyLock::new(|| {
    let places = || RUN.iter().enumerate().filter(|(_, (name, ..))| CELL.contains(name)).map(|(place, _)| place);
    Table {
        name: "cells",
        said: "one row a cell",
        columns: places().map(|place| RUNS.columns[place].clone()).collect(),
        meanings: places().map(|place| RUNS.meanings[place]).collect(),
    }
});

impl Table {
    fn new(name: &'static str, said: &'static str, own: &[Own], numbers: &[Declared]) -> Self {
        let column = |name: &str, kind, optional| {
            let unit = (kind != Word && kind != Flag).then(|| unit_of(name));
            Column { name: name.to_owned(), kind, optional, unit }
        };
        let own_columns = own.iter().map(|(name, kind, optional, _)| column(name, *kind, *optional));
        let of_numbers = numbers.iter().map(|declared| {
            let kind = match declared.kind {
                Kind::Wide => Wide,
                Kind::Narrow => Narrow,
                Kind::Flag => Flag,
            };
            column(declared.name, kind, declared.optional)
        });
        let meanings = own.iter().map(|(.., said)| *said).chain(numbers.iter().map(|declared| declared.said));
        Self { name, said, columns: own_columns.chain(of_numbers).collect(), meanings: meanings.collect() }
    }

    /// Returns a digest of what a file of it looks like: one with another is of another release.
    pub(crate) fn layout(&self) -> String {
        let columns =
            self.columns.iter().map(|column| format!("{} {:?} {}\n", column.name, column.kind, column.optional));
        fnv128(&columns.collect::<String>())
    }
}

/// Numbers as cells of their columns.
fn cells<'c>(numbers: &impl Columns, columns: &[Column]) -> Vec<Option<Cell<'c>>> {
    let mut values = Vec::with_capacity(columns.len());
    numbers.put(&mut values);
    let cell = |(value, column): (Option<u64>, &Column)| {
        value.map(|value| if column.kind == Flag { Cell::Flag(value != 0) } else { Cell::Number(value) })
    };
    values.into_iter().zip(columns).map(cell).collect()
}

/// Returns the number in a cell.
fn value(cell: Option<Cell<'_>>) -> Option<u64> {
    match cell? {
        Cell::Number(number) => Some(number),
        Cell::Flag(flag) => Some(flag.into()),
        Cell::Real(_) | Cell::Word(_) => None,
    }
}

/// Returns a run's row.
pub(crate) fn of_run<'n>(run: &RunSpec, named: &'n Named, measured: &Measured) -> Vec<Option<Cell<'n>>> {
    let (word, number) = (|text: &'n str| Some(Cell::Word(text)), |number: u64| Some(Cell::Number(number)));
    let (point, identity) = (&run.point, &named.identity);
    let (buffer_bytes, buffer_packets) = match point.buffer() {
        Buffer::Bytes(bytes) => (Some(bytes), None),
        Buffer::Packets(packets) => (None, Some(packets.into())),
        Buffer::Unlimited => (None, None),
    };
    let (bytes, length) = match point.flow {
        Flow::Bytes(bytes) => (Some(bytes), None),
        Flow::Seconds(span) => (None, Some(span.as_nanos())),
    };
    let alone = point.company.is_empty();
    let mut row = vec![
        number(named.number),
        word(&identity.experiment),
        number(run.cell as u64 + 1),
        word(&named.swept),
        word(&identity.arm),
        identity.profile.as_deref().and_then(word),
        number(identity.iteration.into()),
        number(identity.seed),
        word(&identity.spec),
        word(&identity.version),
        identity.made_by.as_deref().and_then(word),
        word(&identity.path),
        identity.twin.as_deref().and_then(word),
        word(&named.config),
        number(point.usual_rtt().as_nanos()),
        number(point.usual_rate().bits_per_sec()),
        buffer_bytes.and_then(number),
        buffer_packets.and_then(number),
        Some(Cell::Real(point.loss.num() as f64 * 100.0 / point.loss.den() as f64)),
        bytes.filter(|_| alone).and_then(number),
        length.filter(|_| alone).and_then(number),
        Some(Cell::Real(measured.goodput_mbps())),
        Some(Cell::Real(measured.efficiency(point))),
    ];
    row.extend(cells(measured, &RUNS.columns[RUN.len()..]));
    row
}

/// Returns the row of a cell, of that of one of its runs.
pub(crate) fn of_cell<'n>(run: &[Option<Cell<'n>>]) -> Vec<Option<Cell<'n>>> {
    RUN.iter().zip(run).filter(|((name, ..), _)| CELL.contains(name)).map(|(_, cell)| *cell).collect()
}

/// Returns a flow's row.
pub(crate) fn of_flow(run: u64, flow: &FlowRow) -> Vec<Option<Cell<'_>>> {
    let mut row = vec![Some(Cell::Number(run)), Some(Cell::Word(&flow.group))];
    row.extend(cells(&flow.result, &FLOWS.columns[FLOW.len()..]));
    row
}

/// Returns a value's row.
pub(crate) fn of_value(run: u64, row: &SeriesRow) -> Vec<Option<Cell<'static>>> {
    let SeriesRow { flow, second, name, value } = *row;
    let number = |number| Some(Cell::Number(number));
    vec![number(run), number(flow.into()), number(second.into()), Some(Cell::Word(name)), number(value)]
}

/// What reading the results of runs takes.
pub(crate) fn columns_of_results() -> Vec<Column> {
    let key = |name: &str| RUNS.columns.iter().find(|column| column.name == name).expect("it is a column").clone();
    ["spec", "version", "seed"].map(key).into_iter().chain(RUNS.columns[RUN.len()..].iter().cloned()).collect()
}

/// Takes them from a row: digest, version, seed, results.
pub(crate) fn result_of(row: &[Option<Cell<'_>>]) -> Option<(String, String, u64, Measured)> {
    let [Some(Cell::Word(spec)), Some(Cell::Word(version)), Some(Cell::Number(seed)), results @ ..] = row else {
        return None;
    };
    let measured = Measured::take(&mut results.iter().map(|cell| value(*cell)))?;
    Some(((*spec).to_owned(), (*version).to_owned(), *seed, measured))
}

/// What reading the names of runs takes.
pub(crate) fn columns_of_names() -> Vec<Column> {
    RUNS.columns[..RUN.len()].to_vec()
}

/// Takes them from a row, behind its place among others: experiment, cell and iteration.
pub(crate) fn names_of(row: &[Option<Cell<'_>>]) -> Option<((String, u64, u64), Identity)> {
    let at = |name: &str| row[RUN.iter().position(|(column, ..)| *column == name).expect("it is a column")];
    let word = |name: &str| if let Some(Cell::Word(word)) = at(name) { Some(word.to_owned()) } else { None };
    let number = |name: &str| value(at(name));
    let identity = Identity {
        version: word("version")?,
        experiment: word("experiment")?,
        spec: word("spec")?,
        path: word("path")?,
        twin: word("twin"),
        arm: word("arm")?,
        profile: word("profile"),
        iteration: u32::try_from(number("iteration")?).ok()?,
        seed: number("seed")?,
        config: serde_json::from_str(&word("config")?).ok()?,
        made_by: word("made_by"),
    };
    Some(((identity.experiment.clone(), number("cell")?, number("iteration")?), identity))
}
