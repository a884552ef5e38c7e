//! What came of an experiment.

use crate::errors;
use crate::progress::Progress;
use crate::table::Table;
use base::Instant;
use lab::results::{self, ROWS, conditions, summaries};
use lab::run::{Memory, Wanted, caught, execute_until, simulate, tables, whole};
use lab::spec::Primary;
use lab::{Finished, Plan, RunName, SimBackend, Store, execute};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeWarning};
use pyo3::prelude::*;
use report::{Commands, Comparison};
use std::ffi::CString;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use trace::Observer;
use trace_io::table::Layout;
use trace_io::{ConnId, Event, Record};

/// Where flows and series of the runs are.
#[derive(Debug)]
enum Parts {
    Memory(Memory<SimBackend>),
    Folder(Folder),
}

/// A directory of shards.
#[derive(Debug)]
pub struct Folder {
    pub path: PathBuf,
    /// What keeps it, if it is the copy of what is at a URL.
    pub copy: Option<Py<PyAny>>,
}

/// The results of an experiment as tables. `runs`, `flows`, `series`, `cells` and `rows` are made when they are asked for; columns and units
/// are those of docs/result-tables.md.
#[pyclass(frozen, module = "longhaul")]
#[derive(Debug)]
pub struct Results {
    /// When it was begun, since 1970.
    made_at: Duration,
    plan: Plan,
    finished: Finished,
    parts: Parts,
    series: bool,
}

/// The events of a run, in memory.
#[derive(Debug, Default)]
struct Records(Vec<Record>);

impl Observer for Records {
    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        self.0.push(Record { at, conn, event });
    }
}

/// Returns the cells of a plan.
pub fn experiment_cells(plan: &Plan) -> Table {
    let [declared, _] = summaries();
    Table::of(declared, &whole::cells(plan))
}

impl Results {
    /// Makes the runs of a plan.
    pub fn make(
        py: Python<'_>,
        plan: Plan,
        jobs: usize,
        mut progress: Progress,
        out: Option<Folder>,
        series: bool,
    ) -> PyResult<Self> {
        let jobs = if jobs > 0 { jobs } else { std::thread::available_parallelism().map_or(1, std::num::NonZero::get) };
        let made_at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let made = py.detach(|| {
            let mut step = |_: &lab::RunSpec| progress.step();
            match out {
                None => {
                    let memory = Memory::new(SimBackend, if series { Wanted::Series } else { Wanted::Flows });
                    let finished = execute_until(&plan, &memory, jobs, None, &mut step)?;
                    Ok((finished, Parts::Memory(memory)))
                }
                Some(folder) => {
                    let mut store = Store::open(&folder.path)?;
                    if series {
                        store = store.with_series()?;
                    }
                    let finished = execute_until(&plan, &SimBackend, jobs, Some(&mut store), &mut step)?;
                    Ok((finished, Parts::Folder(folder)))
                }
            }
        });
        let (finished, parts) = made.map_err(|error| errors::of_store(&error))?;
        let made = Self { made_at, plan, finished, parts, series };
        match progress.finish() {
            None => made.warned(py),
            Some(raised) if raised.is_instance_of::<PyKeyboardInterrupt>(py) => {
                let (done, all) = (made.done(), made.plan.runs.len());
                let error =
                    errors::Interrupted::new_err(format!("stopped after {done} of {all} runs; `results` holds them"));
                error.value(py).setattr("results", made)?;
                Err(error)
            }
            Some(raised) => Err(raised),
        }
    }

    fn done(&self) -> usize {
        self.finished.measured.iter().flatten().count()
    }

    /// Warns about runs that failed.
    fn warned(self, py: Python<'_>) -> PyResult<Self> {
        if let Some((first, failure)) = self.finished.failures.first() {
            let (count, name) = (self.finished.failures.len(), self.plan.name_of(&self.plan.runs[*first]));
            let text = format!("{count} of {} runs failed, see `failures`; {name}: {failure}", self.plan.runs.len());
            let text = CString::new(text.replace('\0', " ")).expect("it has no zero");
            PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &text, 1)?;
        }
        Ok(self)
    }

    fn parts(&self, py: Python<'_>, which: usize) -> PyResult<Table> {
        let sheets = py.detach(|| match &self.parts {
            Parts::Memory(memory) => Ok(whole::parts(&self.plan, |run| memory.find(run))),
            Parts::Folder(folder) => whole::read_parts(&self.plan, &folder.path),
        });
        let sheets = sheets.map_err(|error| errors::of_store(&error))?;
        Ok(py.detach(|| Table::of(tables()[1 + which], &sheets[which])))
    }
}

#[pymethods]
impl Results {
    /// One row a run that succeeded: its names, its path, goodput in Mbit/s, times in ns, counts.
    #[getter]
    fn runs(&self, py: Python<'_>) -> Table {
        py.detach(|| Table::of(tables()[0], &whole::runs(&self.plan, &self.finished.measured)))
    }

    /// One row a flow of a run: bytes, times in ns, counters.
    #[getter]
    fn flows(&self, py: Python<'_>) -> PyResult<Table> {
        self.parts(py, 0)
    }

    /// One row a value of a flow in a second, in long form; empty unless the runs were made with `series=True`.
    #[getter]
    fn series(&self, py: Python<'_>) -> PyResult<Table> {
        self.parts(py, 1)
    }

    /// One row a cell: its number, what the sweep set, and the path.
    #[getter]
    fn cells(&self, py: Python<'_>) -> Table {
        py.detach(|| experiment_cells(&self.plan))
    }

    /// One row an arm in a cell: medians over its runs, and the ratio of goodputs to the first arm on equal seeds, with a 95 % interval.
    #[getter]
    fn rows(&self, py: Python<'_>) -> Table {
        py.detach(|| {
            let rows = results::rows(&self.plan, &self.finished);
            Table::of(&ROWS, &results::table(&self.plan, &rows, |_| true))
        })
    }

    /// Compares two arms cell by cell on equal seeds, by a metric of which less or more is better.
    ///
    /// Returns the rows of `arm`, whose `ratio` is the median over seeds of its number divided by that of `reference`, with a 95 % interval
    /// and a verdict. Raises SpecError if there is no such arm or metric.
    #[pyo3(signature = (reference, arm, metric="goodput"))]
    fn compare(&self, py: Python<'_>, reference: &str, arm: &str, metric: &str) -> PyResult<Table> {
        let (mut plan, places) = self.plan.pair(reference, arm).map_err(|error| errors::of_usage(py, &error))?;
        plan.primary = Primary::find(metric).map_err(|refusal| errors::of_usage(py, &refusal.at("metric")))?;
        Ok(py.detach(|| {
            let measured = places.iter().map(|place| self.finished.measured[*place]).collect();
            let rows = results::rows(&plan, &Finished { measured, ..Finished::default() });
            let label = &plan.arms[1].label;
            Table::of(&ROWS, &results::table(&plan, &rows, |row| row.arm == *label))
        }))
    }

    /// Writes one page that opens in any browser and needs nothing else: what was compared, verdicts in sentences, figures with the rows in
    /// them, and how to make each run again.
    ///
    /// Raises OSError if the file cannot be written.
    fn report(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let experiment = &self.plan.experiment;
        let (name, iterations, seed) = (&experiment.name, experiment.iterations, experiment.seed);
        let title = if experiment.changed.is_empty() { String::new() } else { format!("  # {}", experiment.title()) };
        let of_run =
            |arm: &lab::plan::Arm| format!("results.trace({{cell}}, \"{}\", iteration={{iteration}})", arm.label);
        let commands = Commands {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            comparison: format!("experiment.run(iterations={iterations}, seed={seed})  # experiment {name}{title}"),
            run: self.plan.arms.iter().map(of_run).collect(),
            pages: Vec::new(),
        };
        py.detach(|| {
            let rows = results::rows(&self.plan, &self.finished);
            let conditions = conditions(&self.plan, &rows);
            let courses = results::courses(&self.plan, &rows, 1);
            let (plan, finished) = (&self.plan, &self.finished);
            let page = Comparison {
                plan,
                finished,
                rows: &rows,
                conditions: &conditions,
                courses: &courses,
                commands: &commands,
            };
            let mut whole = Vec::new();
            page.write(&mut whole).and_then(|()| std::fs::write(&path, whole))
        })
        .map_err(|error: std::io::Error| {
            std::io::Error::new(error.kind(), format!("cannot write the report `{}`: {error}", path.display())).into()
        })
    }

    /// Keeps the runs in a directory as Parquet, in tables `runs`, `flows` and `series`, as `longhaul ab --out` does. Runs that are there
    /// already stay; `run(out=...)` goes on from them.
    ///
    /// Raises StoreError.
    fn to_parquet(&self, py: Python<'_>, directory: PathBuf) -> PyResult<()> {
        let done = self.plan.runs.iter().zip(&self.finished.measured).filter(|(_, measured)| measured.is_some());
        let plan = Plan { runs: done.map(|(run, _)| run.clone()).collect(), ..self.plan.clone() };
        let kept = py.detach(|| {
            let mut store = Store::open(&directory)?;
            if self.series {
                store = store.with_series()?;
            }
            match &self.parts {
                Parts::Memory(memory) => execute(&plan, memory, 1, Some(&mut store), &mut |_| ()),
                // A run is the same whoever makes it, and its shards are read faster than it is made only for long ones.
                Parts::Folder(_) => execute(&plan, &SimBackend, 1, Some(&mut store), &mut |_| ()),
            }
        });
        kept.map(drop).map_err(|error| errors::of_store(&error))
    }

    /// Writes a data file of flent into a folder for each arm in a cell: its median run, which is made again, second by second, in Mbit/s and
    /// ms. Its name has the time, the experiment, the arm and what the sweep set.
    ///
    /// `at_s` is the time in names and files, in seconds since 1970; by default, when `run` began to make or find the runs. With the time of
    /// a comparison by the program, they are the bytes that `longhaul report --flent` writes.
    ///
    /// Raises OSError if a file cannot be written, SpecError if the time is after the year 9999, and Error if a run fails.
    #[pyo3(signature = (folder, *, at_s=None))]
    fn to_flent(&self, py: Python<'_>, folder: PathBuf, at_s: Option<u64>) -> PyResult<()> {
        let made_at = at_s.map_or(self.made_at, Duration::from_secs);
        let mut progress = Progress::new(None, 0, Vec::new())?;
        let written = py.detach(|| {
            let rows = results::rows(&self.plan, &self.finished);
            results::flent(&self.plan, &rows, made_at, &folder, &mut || progress.step())
        });
        written.map_err(|error| errors::of_flent(py, &error))?;
        progress.finish().map_or(Ok(()), Err)
    }

    /// Every event of a run, which is made again: `cell` and `iteration` count from one. Connection 0 is the sender.
    ///
    /// One row an event: `at_ns`, `conn`, `event` and the event's fields, which docs/events.md lists. Raises SpecError if there is no such run.
    #[pyo3(signature = (cell, arm, iteration=1))]
    fn trace(&self, py: Python<'_>, cell: usize, arm: &str, iteration: u32) -> PyResult<Table> {
        let name = RunName { cell, arm: arm.to_owned(), iteration };
        let mut one = self.plan.clone();
        one.keep_only(&name).map_err(|error| errors::of_usage(py, &error))?;
        py.detach(|| {
            let mut records = Records::default();
            caught(&one.runs[0], || simulate(&one.runs[0], &mut records))
                .map_err(|failure| errors::Error::new_err(format!("run {name}: {failure}")))?;
            Ok(Table::of_trace(&trace_io::table::sheet(&Layout::new(), &records.0)))
        })
    }

    /// The runs that failed: cell, arm, iteration, seed and message.
    #[getter]
    fn failures(&self) -> Vec<(usize, String, u32, u64, String)> {
        let of = |(index, failure): &(usize, lab::RunFailure)| {
            let run = &self.plan.runs[*index];
            let name = self.plan.name_of(run);
            (name.cell, name.arm, name.iteration, run.seed, failure.to_string())
        };
        self.finished.failures.iter().map(of).collect()
    }

    /// What the experiment expects and did not get, as sentences; and what could not be checked.
    #[getter]
    fn unmet(&self, py: Python<'_>) -> (Vec<String>, Vec<String>) {
        let found = py.detach(|| conditions(&self.plan, &results::rows(&self.plan, &self.finished)));
        (found.unmet.into_iter().map(|(_, sentence)| sentence).collect(), found.unchecked)
    }

    /// Labels of the arms, the reference first.
    #[getter]
    fn arms(&self) -> Vec<&str> {
        self.plan.arms.iter().map(|arm| arm.label.as_str()).collect()
    }

    /// Runs that were made now.
    #[getter]
    fn made(&self) -> usize {
        self.finished.made
    }

    /// Runs that were found in `out`.
    #[getter]
    fn resumed(&self) -> usize {
        self.finished.resumed
    }

    /// Runs with a result.
    fn __len__(&self) -> usize {
        self.done()
    }

    fn __repr__(&self) -> String {
        let (done, all, arms) = (self.done(), self.plan.runs.len(), self.arms().join(", "));
        format!("<longhaul.Results {}: {done} of {all} runs, {arms}>", self.plan.experiment.name)
    }
}
