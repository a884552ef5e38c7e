//! Results on disk: shards of Parquet, one for each unit of work and table, on disk before the unit counts as done.
//!
//! A unit (`unit.rs`) is cut from the plan alone, and its shard is named by a digest of its runs, so that equal experiments write equal
//! files for any number of jobs, in any order. A shard is created whole or not at all (`file.rs`); a sweep that was killed makes the units
//! again that were under way. That of `runs` comes last, and completes the unit.
//!
//! A run's identity is everything that determines its result — digest of network, flow and configuration, seed, version — so the same
//! folder also works for a sweep that was widened or whose arms were renamed: runs that some shard holds are not made again, and the unit
//! consists of the rest. A version is the program's release and the stamp of the behaviour of the arm's configuration (`stamp.rs`), so
//! results survive code changes that do not change behaviour. Rows of another version are kept but not used.

pub mod elsewhere;
mod error;
mod file;
mod lines;
mod named;
mod tables;
mod unit;
pub mod whole;

pub(crate) use self::tables::CELLS;
pub use self::tables::{Table, tables};
pub(crate) use lines::FILE_NAME as LINES;
pub(crate) use unit::Units;

pub use self::error::StoreError;
use self::lines::RunKey;
use self::named::Names;
use self::tables::{FLOWS, RUNS, SERIES};
use crate::plan::{Plan, RunSpec, fnv128};
use crate::run::identity::Identity;
use crate::run::{Made, Measured, Wanted};
use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use trace_io::sheet::{Sheet, SheetFile};

/// What only says where and when runs were made: one object a line. It is also what two writers compete for.
const MACHINE: &str = "machine.jsonl";
/// Keys of a shard's metadata: its unit, and the digest of its columns.
const UNIT: &str = "longhaul.unit";
const LAYOUT: &str = "longhaul.layout";

/// What is kept of one run, by version.
type ByVersion = BTreeMap<String, Kept>;

/// What is kept of one run.
#[derive(Clone, Copy, Debug)]
struct Kept {
    /// `None` if other code measured other things.
    measured: Option<Measured>,
    /// Whether its series are kept, too.
    series: bool,
}

/// The open folder.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    machine: File,
    known: HashMap<RunKey, ByVersion>,
    names: Names,
    wanted: Wanted,
    without_series: usize,
    notes: Vec<String>,
}

impl Store {
    /// Opens a folder, creating it if it is missing, removes what an interrupted run left unfinished, and reads the results.
    ///
    /// # Errors
    /// If it cannot be written, or holds something else.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        std::fs::create_dir_all(folder).map_err(|error| StoreError::io(folder, error))?;
        let path = folder.join(MACHINE);
        let machine = OpenOptions::new().read(true).append(true).create(true).open(&path);
        let machine = machine.map_err(|error| StoreError::io(&path, error))?;
        machine.try_lock().map_err(|_| StoreError::Busy(folder.to_owned()))?;
        for table in [&*RUNS, &*FLOWS] {
            file::prepare(&folder.join(table.name))?;
        }
        let mut store = Self {
            folder: folder.to_owned(),
            machine,
            known: HashMap::new(),
            names: Names::default(),
            wanted: Wanted::Flows,
            without_series: 0,
            notes: Vec::new(),
        };
        store.read_lines()?;
        for path in file::shards(&folder.join(RUNS.name))? {
            store.read_shard(&path)?;
        }
        Ok(store)
    }

    /// Keeps series, too, of the runs that are made from now on.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn with_series(mut self) -> Result<Self, StoreError> {
        file::prepare(&self.folder.join(SERIES.name))?;
        self.wanted = Wanted::Series;
        Ok(self)
    }

    /// Returns what is worth knowing of the folder as it was found.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Adds a line to the file beside the results: where and when they were made, which they do not depend on.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn note_machine(&mut self, line: &str) -> Result<(), StoreError> {
        let written = self.machine.write_all(format!("{line}\n").as_bytes());
        written.map_err(|error| StoreError::io(&self.folder.join(MACHINE), error))
    }

    /// The result of a run that was made before.
    pub fn find(&mut self, run: &RunSpec) -> Option<Measured> {
        if self.known.is_empty() {
            return None;
        }
        let by_version = self.known.get(&(run.digest.clone(), run.seed))?;
        let kept = by_version.get(self.names.version(run))?;
        let measured = kept.measured?;
        self.without_series += usize::from(self.wanted == Wanted::Series && !kept.series);
        Some(measured)
    }

    /// How many of the runs that were found lack the series that are kept of others: they were made without.
    pub fn without_series(&self) -> usize {
        self.without_series
    }

    /// Which parts of runs are kept.
    pub(crate) const fn wanted(&self) -> Wanted {
        self.wanted
    }

    /// Writes a finished unit; it is on disk when this returns.
    ///
    /// # Errors
    /// When it is not.
    pub(crate) fn write(&mut self, plan: &Plan, unit: &unit::Unit) -> Result<(), StoreError> {
        let name = name_of(plan, &unit.runs, &mut self.names);
        write_unit(&self.folder, plan, (&name, unit), &mut self.names)
    }

    fn read_lines(&mut self) -> Result<(), StoreError> {
        let path = self.folder.join(lines::FILE_NAME);
        let Some((results, note)) = lines::read(&path)? else { return Ok(()) };
        for (key, version, measured) in results {
            self.known.entry(key).or_default().insert(version, Kept { measured, series: false });
        }
        self.notes.push(note);
        Ok(())
    }

    fn read_shard(&mut self, path: &Path) -> Result<(), StoreError> {
        let Some(shard) = known_shard(path)? else { return Ok(()) };
        let columns = tables::columns_of_results();
        let foreign = |problem: String| StoreError::foreign(path, problem);
        let sheet = shard.read(&columns).map_err(foreign)?;
        // A unit has one name in all tables.
        let of_series = path.file_name().map(|name| self.folder.join(SERIES.name).join(name));
        let series = of_series.is_some_and(|path| path.exists());
        for row in sheet.each_row() {
            let found = tables::result_of(&row).ok_or_else(|| foreign("a row lacks what every run has".to_owned()))?;
            let (spec, version, seed, measured) = found;
            self.known.entry((spec, seed)).or_default().insert(version, Kept { measured: Some(measured), series });
        }
        Ok(())
    }
}

/// Returns the name of a unit: a digest of its runs.
fn name_of(plan: &Plan, runs: &[usize], names: &mut Names) -> String {
    let mut of_unit = RUNS.layout();
    for index in runs {
        let (run, place) = (&plan.runs[*index], plan.runs[*index].cell);
        let (version, title) = (names.version(run), plan.cells[place].title());
        let label = &plan.arms[run.arm].label;
        let words = [&plan.experiment.name, &title, label, &run.digest, version];
        of_unit.push_str(&format!("\n{place} {} {} {}", run.iteration, run.seed, words.join("\t")));
    }
    fnv128(&of_unit)
}

/// Writes the shards of a unit of this name, that of runs last.
fn write_unit(
    folder: &Path,
    plan: &Plan,
    (name, unit): (&str, &unit::Unit),
    names: &mut Names,
) -> Result<(), StoreError> {
    let [mut runs, mut flows, mut series] = [&*RUNS, &*FLOWS, &*SERIES].map(|table| Sheet::new(&table.columns));
    for (index, Made { measured, flows: of_run, series: values }) in unit.made() {
        let run = &plan.runs[index];
        let named = names.of(plan, run);
        runs.push(&tables::of_run(run, &named, measured));
        of_run.iter().for_each(|flow| flows.push(&tables::of_flow(named.number, flow)));
        values.iter().for_each(|value| series.push(&tables::of_value(named.number, value)));
    }
    create(folder, &SERIES, name, &series)?;
    create(folder, &FLOWS, name, &flows)?;
    create(folder, &RUNS, name, &runs)
}

fn create(folder: &Path, table: &Table, name: &str, sheet: &Sheet<'_>) -> Result<(), StoreError> {
    if sheet.rows() == 0 {
        return Ok(());
    }
    let mut bytes = Vec::new();
    let metadata = [(UNIT, name.to_owned()), (LAYOUT, table.layout())];
    sheet.write(&mut bytes, table.name, &metadata).map_err(|error| StoreError::io(folder, error))?;
    file::create(&folder.join(table.name), name, &bytes)
}

/// Returns the names of all runs in a folder's shards, by experiment, cell and iteration, so that their order does not depend on names of
/// files; none if it has no shards.
///
/// # Errors
/// If it cannot be read, or holds something else.
pub(crate) fn identities(folder: &Path) -> Result<Vec<Identity>, StoreError> {
    let columns = tables::columns_of_names();
    let mut found = Vec::new();
    for path in file::shards(&folder.join(RUNS.name))? {
        let Some(shard) = known_shard(&path)? else { continue };
        let foreign = |problem: String| StoreError::foreign(&path, problem);
        let sheet = shard.read(&columns).map_err(foreign)?;
        for row in sheet.each_row() {
            let names = tables::names_of(&row);
            found.push(names.ok_or_else(|| foreign("a row lacks what every run has".to_owned()))?);
        }
    }
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(found.into_iter().map(|(_, identity)| identity).collect())
}

/// Opens a shard of runs; `None` if another release made it, which counts other things.
fn known_shard(path: &Path) -> Result<Option<SheetFile>, StoreError> {
    let foreign = |problem: String| StoreError::foreign(path, problem);
    let bytes = std::fs::read(path).map_err(|error| StoreError::io(path, error))?;
    let shard = SheetFile::open(bytes).map_err(foreign)?;
    let of = |key: &str| shard.metadata().get(key).ok_or_else(|| foreign(format!("it has no `{key}`")));
    let (unit, layout) = (of(UNIT)?, of(LAYOUT)?);
    if path.file_stem().is_none_or(|name| name.to_string_lossy() != unit.as_str()) {
        return Err(foreign(format!("it holds the unit {unit}, and has another name")));
    }
    let is_known = *layout == RUNS.layout();
    Ok(is_known.then_some(shard))
}

#[cfg(test)]
mod tests;
