//! The tables of a plan's results as wholes, in the plan's order, whatever order its runs were made in and whichever shards hold them.

use super::named::Names;
use super::tables::{self, CELLS, FLOWS, RUNS, SERIES};
use super::{LAYOUT, StoreError, Table, file};
use crate::plan::{Plan, RunSpec};
use crate::run::{Made, Measured};
use std::collections::HashMap;
use std::path::Path;
use trace_io::sheet::{Cell, Sheet};

/// Returns the table of the cells.
pub fn cells(plan: &Plan) -> Sheet<'static> {
    let mut names = Names::default();
    let mut sheet = Sheet::new(&CELLS.columns);
    for runs in plan.runs.chunk_by(|one, next| one.cell == next.cell) {
        let named = names.of(plan, &runs[0]);
        sheet.push(&tables::of_cell(&tables::of_run(&runs[0], &named, &Measured::default())));
    }
    sheet
}

/// Returns the table of the runs that have a result.
pub fn runs(plan: &Plan, measured: &[Option<Measured>]) -> Sheet<'static> {
    let mut names = Names::default();
    let mut sheet = Sheet::new(&RUNS.columns);
    for (run, measured) in plan.runs.iter().zip(measured) {
        let Some(measured) = measured else { continue };
        let named = names.of(plan, run);
        sheet.push(&tables::of_run(run, &named, measured));
    }
    sheet
}

/// Returns the tables of flows and of series, of the runs of which `made` knows more than the results.
pub fn parts(plan: &Plan, made: impl Fn(&RunSpec) -> Option<Made>) -> [Sheet<'static>; 2] {
    let mut names = Names::default();
    let [mut flows, mut series] = [&*FLOWS, &*SERIES].map(|table| Sheet::new(&table.columns));
    for run in &plan.runs {
        let Some(Made { flows: of_run, series: values, .. }) = made(run) else { continue };
        let number = names.of(plan, run).number;
        of_run.iter().for_each(|flow| flows.push(&tables::of_flow(number, flow)));
        values.iter().for_each(|value| series.push(&tables::of_value(number, value)));
    }
    [flows, series]
}

/// Reads the tables of flows and of series, of the runs of a plan, from the shards of a folder.
///
/// # Errors
/// If it cannot be read, or holds something else.
pub fn read_parts(plan: &Plan, folder: &Path) -> Result<[Sheet<'static>; 2], StoreError> {
    let mut names = Names::default();
    let places = plan.runs.iter().zip(0..).map(|(run, place)| (names.of(plan, run).number, place)).collect();
    Ok([read(folder, &FLOWS, &places)?, read(folder, &SERIES, &places)?])
}

/// Reads the rows of runs that have a place, in the order of their places.
fn read(folder: &Path, table: &'static Table, places: &HashMap<u64, usize>) -> Result<Sheet<'static>, StoreError> {
    let mut shards = Vec::new();
    for path in file::shards(&folder.join(table.name))? {
        let foreign = |problem: String| StoreError::foreign(&path, problem);
        let bytes = std::fs::read(&path).map_err(|error| StoreError::io(&path, error))?;
        let (_, metadata) = Sheet::read(bytes.clone(), &[]).map_err(foreign)?;
        if metadata.get(LAYOUT) == Some(&table.layout()) {
            shards.push(Sheet::read(bytes, &table.columns).map_err(foreign)?.0);
        }
    }
    let mut rows: Vec<(usize, Vec<Option<Cell<'_>>>)> = Vec::new();
    for row in shards.iter().flat_map(Sheet::each_row) {
        let place = if let Some(Cell::Number(run)) = row[0] { places.get(&run) } else { None };
        rows.extend(place.map(|place| (*place, row)));
    }
    // Rows of a run lie together, in one shard and in their order.
    rows.sort_by_key(|(place, _)| *place);
    let mut sheet = Sheet::new(&table.columns);
    rows.iter().for_each(|(_, row)| sheet.push(row));
    Ok(sheet)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Memory, SimBackend, Store, Wanted, execute};
    use crate::spec::{self, Overrides};

    /// Every value of a table, as text.
    fn text(sheet: &Sheet<'_>) -> Vec<String> {
        sheet.each_row().map(|row| format!("{row:?}")).collect()
    }

    #[test]
    fn tables_in_memory_and_those_of_a_folder_are_the_same() {
        let mut experiment = spec::builtin("wan").unwrap();
        let set = ["path.rtt=25ms,30ms", "flow.bytes=50kB", "path.jitter=1ms"].map(str::to_owned).to_vec();
        experiment.apply(&Overrides { set, iterations: Some(2), ..Overrides::default() }).unwrap();
        let plan = Plan::new(experiment).unwrap();
        let memory = Memory::new(SimBackend, Wanted::Series);
        let made = execute(&plan, &memory, 2, None, &mut |_| ()).unwrap();
        let [flows, series] = parts(&plan, |run| memory.find(run));
        assert_eq!(flows.rows(), plan.runs.len());
        assert!(series.rows() > flows.rows());
        let folder = tempfile::tempdir().unwrap();
        // Rows of another experiment lie in the same folder.
        for iterations in [1, 2] {
            let mut store = Store::open(folder.path()).unwrap().with_series().unwrap();
            let part = Plan {
                runs: plan.runs.iter().filter(|run| run.iteration <= iterations).cloned().collect(),
                ..plan.clone()
            };
            let kept = execute(&part, &memory, 1, Some(&mut store), &mut |_| ()).unwrap();
            assert_eq!(kept.failures, []);
        }
        let read = read_parts(&plan, folder.path()).unwrap();
        assert_eq!(read.each_ref().map(text), [flows, series].each_ref().map(text));
        let first = Plan { runs: plan.runs[..plan.arms.len()].to_vec(), ..plan.clone() };
        assert_eq!(read_parts(&first, folder.path()).unwrap()[0].rows(), plan.arms.len());
        assert_eq!((runs(&plan, &made.measured).rows(), cells(&plan).rows()), (plan.runs.len(), 2));
        let cell = cells(&plan).each_row().last().map(|row| format!("{:?}", &row[1..3])).unwrap();
        assert_eq!(cell, "[Some(Number(2)), Some(Word(\"path.rtt=30ms\"))]");
    }
}
