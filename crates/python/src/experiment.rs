//! Experiments as values: read once, changed by the lab's own overrides, run.

use crate::controller::{Brought, Travelling};
use crate::document;
use crate::errors;
use crate::place::Place;
use crate::progress::Progress;
use crate::results::{Folder, Results, experiment_cells};
use crate::table::Table;
use lab::run::{Wanted, elsewhere};
use lab::spec::{self, Overrides};
use lab::{Experiment as Spec, Plan, SimBackend, Store};
use profiles::toml_file::did_you_mean;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// What an experiment was read from.
#[derive(Clone, Debug)]
struct Origin {
    name: String,
    /// For messages.
    file: String,
    text: String,
    is_dict: bool,
}

/// What happened to it since.
#[derive(Clone, Debug)]
enum Change {
    Settings(Settings),
    Controller(Arc<Brought>),
}

/// Arms, settings, iterations and seed.
type Settings = (Vec<String>, Vec<String>, Option<u32>, Option<u64>);

/// A comparison of TCPs over paths. Values do not change: `set`, `sweep` and `with_arms` return a new experiment.
///
/// Keys are those of experiment files and of `longhaul ab --set`: `path.rtt`, `path.loss`, `flow.bytes`, and ARM.LEAF for a leaf of an
/// arm's profile. Values are strings with a unit (`"25ms"`, `"32MB"`, `"0.1%"`) or numbers where the key takes one.
#[pyclass(frozen, module = "longhaul")]
#[derive(Debug)]
pub struct Experiment {
    origin: Origin,
    changes: Vec<Change>,
    spec: Spec,
    /// Once it was asked for.
    plan: OnceLock<Plan>,
}

impl Experiment {
    fn read(py: Python<'_>, origin: Origin) -> PyResult<Self> {
        let spec = spec::read(&origin.name, &origin.file, &origin.text)
            .map_err(|error| if origin.is_dict { document::error(py, &error) } else { errors::of_file(py, &error) })?;
        Ok(Self { origin, changes: Vec::new(), spec, plan: OnceLock::new() })
    }

    fn changed(&self, py: Python<'_>, change: Change) -> PyResult<Self> {
        let mut spec = self.spec.clone();
        let applied = match &change {
            Change::Settings((arms, set, iterations, seed)) => {
                let (arms, set) = (arms.clone(), set.clone());
                spec.apply(&Overrides { arms, set, iterations: *iterations, seed: *seed, ..Overrides::default() })
            }
            Change::Controller(brought) => spec.bring(&brought.arm, &brought.profile, &brought.config()),
        };
        applied.map_err(|error| errors::of_usage(py, &error))?;
        Ok(Self {
            origin: self.origin.clone(),
            changes: [&self.changes[..], &[change]].concat(),
            spec,
            plan: OnceLock::new(),
        })
    }

    fn settings(&self, py: Python<'_>, settings: Settings) -> PyResult<Self> {
        self.changed(py, Change::Settings(settings))
    }

    /// The controllers that its arms brought.
    fn controllers(&self) -> Vec<Arc<Brought>> {
        let of = |change: &Change| match change {
            Change::Controller(brought) => Some(Arc::clone(brought)),
            Change::Settings(_) => None,
        };
        self.changes.iter().filter_map(of).collect()
    }

    fn plan(&self, py: Python<'_>) -> PyResult<&Plan> {
        if let Some(plan) = self.plan.get() {
            return Ok(plan);
        }
        let plan = Plan::new(self.spec.clone()).and_then(|plan| plan.can_be_simulated().map(|()| plan));
        let plan = plan.map(Plan::without_repetitions).map_err(|error| errors::of_usage(py, &error))?;
        Ok(self.plan.get_or_init(|| plan))
    }
}

#[pymethods]
impl Experiment {
    /// Reads an experiment from a TOML file (a path) or from text (a string of several lines).
    ///
    /// Raises SpecError with path, line, problem and remedy if it is wrong, and OSError if it cannot be read.
    #[staticmethod]
    #[pyo3(signature = (path_or_text, name=None))]
    fn from_toml(path_or_text: &Bound<'_, PyAny>, name: Option<String>) -> PyResult<Self> {
        let py = path_or_text.py();
        let text: Option<String> = path_or_text.cast::<PyString>().ok().map(|text| text.extract()).transpose()?;
        if let Some(text) = text.filter(|text| text.contains('\n')) {
            let name = name.unwrap_or_else(|| "experiment".to_owned());
            return Self::read(py, Origin { name, file: "text".to_owned(), text, is_dict: false });
        }
        let path: PathBuf = path_or_text.extract()?;
        let text = std::fs::read_to_string(&path).map_err(|error| {
            io::Error::new(error.kind(), format!("cannot read the experiment `{}`: {error}", path.display()))
        })?;
        let stem = Path::file_stem(&path).map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let file = path.display().to_string();
        Self::read(py, Origin { name: name.unwrap_or(stem), file, text, is_dict: false })
    }

    /// Returns a built-in experiment; `builtins()` lists them.
    ///
    /// Raises SpecError if there is none of this name.
    #[staticmethod]
    fn builtin(py: Python<'_>, name: &str) -> PyResult<Self> {
        let Some((name, text)) = spec::BUILTIN.iter().find(|(known, _)| *known == name) else {
            let known: Vec<&str> = spec::BUILTIN.iter().map(|(name, _)| *name).collect();
            let remedy = did_you_mean(name, &known);
            return Err(errors::of_place(py, "builtin", format!("unknown experiment `{name}`"), remedy));
        };
        let file = format!("experiments/{name}.toml");
        Self::read(py, Origin { name: (*name).to_owned(), file, text: (*text).to_owned(), is_dict: false })
    }

    /// Makes an experiment of a dict with the sections of an experiment's file.
    ///
    /// An arm may have a `controller`, a class that extends Controller or an object of one, beside its `profile`.
    ///
    /// Raises SpecError if it is wrong; its place is the keys that lead there, as in `path.rtt`.
    #[staticmethod]
    #[pyo3(signature = (spec, name="experiment"))]
    fn from_dict(spec: &Bound<'_, PyDict>, name: &str) -> PyResult<Self> {
        let (spec, controllers) = document::without_controllers(spec)?;
        let (py, text) = (spec.py(), document::text(&spec)?);
        let read =
            Self::read(py, Origin { name: name.to_owned(), file: document::NAME.to_owned(), text, is_dict: true })?;
        controllers.into_iter().try_fold(read, |experiment, (arm, controller)| {
            experiment.changed(py, Change::Controller(Brought::new(&arm, "", &controller)?))
        })
    }

    /// Gives an arm a congestion controller in Python: a class that extends Controller, or an object of it with parameters. An arm of this
    /// name keeps its leaves; otherwise one is added that is `profile` apart from its congestion control.
    ///
    /// Raises SpecError if it is not a controller, or there is no such profile.
    #[pyo3(signature = (arm, controller, profile="rfc"))]
    fn with_controller(&self, arm: &str, controller: &Bound<'_, PyAny>, profile: &str) -> PyResult<Self> {
        self.changed(controller.py(), Change::Controller(Brought::new(arm, profile, controller)?))
    }

    /// Sets a key to a value, or to several: a list makes a sweep. The file's sweep of this key no longer applies.
    ///
    /// Raises SpecError.
    fn set(&self, key: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let set = format!("{key}={}", document::setting(value, key)?);
        self.settings(value.py(), (Vec::new(), vec![set], None, None))
    }

    /// Sets several keys together, which then have to fit: `sweep(path={"rtt": ["25ms", "50ms"], "loss": 0.001})` or, for keys that are no
    /// names, `sweep({"longhaul.rto.min": "100ms"})`. The first key varies slowest.
    ///
    /// Raises SpecError.
    #[pyo3(signature = (settings=None, /, **keys))]
    fn sweep(
        &self,
        py: Python<'_>,
        settings: Option<&Bound<'_, PyDict>>,
        keys: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut all = Vec::new();
        for dict in [settings, keys].into_iter().flatten() {
            flatten(dict, "", &mut all)?;
        }
        self.settings(py, (Vec::new(), all, None, None))
    }

    /// Compares these arms instead: names of the experiment's arms, of profiles, or paths of profiles. The first is the reference; one
    /// named twice draws its own seeds.
    ///
    /// Raises SpecError.
    #[pyo3(signature = (*names))]
    fn with_arms(&self, names: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let arms: Vec<String> = names.extract()?;
        if arms.is_empty() {
            return Err(PyTypeError::new_err("with_arms: name one arm or more"));
        }
        self.settings(names.py(), (arms, Vec::new(), None, None))
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.spec.name
    }

    /// One sentence: what is compared.
    #[getter]
    fn title(&self) -> String {
        self.spec.title()
    }

    /// Names of the arms, the reference first.
    #[getter]
    fn arms(&self) -> Vec<&str> {
        self.spec.arms.iter().map(|arm| arm.name.as_str()).collect()
    }

    /// Runs of each arm in each cell.
    #[getter]
    fn iterations(&self) -> u32 {
        self.spec.iterations
    }

    /// The origin of all seeds.
    #[getter]
    fn seed(&self) -> u64 {
        self.spec.seed
    }

    /// The cells: one row each, with rtt in ns, rate in bit/s, buffer in bytes or packets, loss in per cent.
    ///
    /// Raises SpecError if values of a cell do not fit together.
    #[getter]
    fn cells(&self, py: Python<'_>) -> PyResult<Table> {
        Ok(experiment_cells(self.plan(py)?))
    }

    /// Makes all runs in the simulator.
    ///
    /// `jobs` threads run in parallel, 0 for one a processor; results are the same bytes whatever their number. The interpreter is free
    /// meanwhile. `progress` is True or a callable of (done, total). With `out`, a directory or a URL of fsspec such as `s3://bucket/results`, runs
    /// are kept there as Parquet, and those found there are not made again. `series` keeps what flows do second by second.
    ///
    /// With `engine="ray"` the machines of a Ray cluster make the runs: that at `address`, or one on this machine; `out` is then a directory
    /// that all of them reach, and `jobs` the tasks at once, 0 for two a processor.
    ///
    /// Ctrl-C stops between runs and raises Interrupted, whose `results` holds what is done; with `out`, complete units are on disk.
    /// Raises SpecError and StoreError; runs that fail are in the result's `failures`, with a warning.
    #[pyo3(signature = (*, iterations=None, seed=None, jobs=0, progress=None, out=None, series=false, engine="threads", address=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn run(
        &self,
        py: Python<'_>,
        iterations: Option<u32>,
        seed: Option<u64>,
        jobs: usize,
        progress: Option<&Bound<'_, PyAny>>,
        out: Option<&Bound<'_, PyAny>>,
        series: bool,
        engine: &str,
        address: Option<&str>,
    ) -> PyResult<Results> {
        let refused =
            |place, problem: String, remedy: &str| Err(errors::of_place(py, place, problem, remedy.to_owned()));
        if iterations == Some(0) {
            return refused("iterations", "`0` iterations cannot be made".to_owned(), "write 1 or more");
        }
        let of_all = self.settings(py, (Vec::new(), Vec::new(), iterations, seed))?;
        let total = of_all.plan(py)?.runs.len();
        let place = out.map(|out| Place::open(out, progress)).transpose()?;
        match (engine, &place) {
            ("threads", _) => {}
            ("ray", Some(place)) => {
                let steps = Progress::callable(progress)?;
                let ray = py.import("longhaul._ray")?;
                let of_all = Py::new(py, of_all.settings(py, (Vec::new(), Vec::new(), None, None))?)?;
                ray.call_method1("make", (of_all, &place.out, &place.folder, series, jobs, steps, address))?;
                place.call(py, "fetch")?;
            }
            ("ray", None) => {
                return refused(
                    "out",
                    "Ray's machines have no place for results".to_owned(),
                    "name a directory that all of them reach, or a URL",
                );
            }
            _ => return refused("engine", format!("unknown engine `{engine}`"), "write `threads` or `ray`"),
        }
        // What the cluster made is found in the folder, and nothing is left to make but runs that fail.
        let wanted = match &place {
            Some(Place { copy: Some(copy), .. }) => Some(copy.bind(py).getattr("step")?),
            _ => progress.cloned(),
        };
        let progress = Progress::new(wanted.as_ref().filter(|_| engine == "threads"), total, self.controllers())?;
        let plan = of_all.plan.into_inner().expect("it was asked for");
        let Some(place) = place else { return Results::make(py, plan, jobs, progress, None, series) };
        let folder = Folder { path: place.folder.clone(), copy: place.copy.as_ref().map(|copy| copy.clone_ref(py)) };
        let made = Results::make(py, plan, jobs, progress, Some(folder), series); // an interrupted one is sent, too
        place.call(py, "send")?;
        made
    }

    /// Returns the units to be made: all of them, or those that a directory lacks; name and places of its runs each.
    #[pyo3(signature = (out=None, series=false))]
    fn _units(&self, py: Python<'_>, out: Option<PathBuf>, series: bool) -> PyResult<Vec<(String, Vec<usize>)>> {
        let plan = self.plan(py)?;
        let found = py.detach(|| {
            let Some(out) = out else { return Ok(elsewhere::all(plan)) };
            let mut store = Store::open(&out)?;
            if series {
                store = store.with_series()?;
            }
            Ok(store.missing(plan))
        });
        let found = found.map_err(|error| errors::of_store(&error))?;
        Ok(found.into_iter().map(|task| (task.name, task.runs)).collect())
    }

    /// Makes a unit and writes its shards, unless they are there; returns the messages of runs that failed.
    fn _make(
        &self,
        py: Python<'_>,
        name: String,
        runs: Vec<usize>,
        out: PathBuf,
        series: bool,
    ) -> PyResult<Vec<String>> {
        let plan = self.plan(py)?;
        let wanted = if series { Wanted::Series } else { Wanted::Flows };
        let failures = py.detach(|| elsewhere::make(plan, &elsewhere::Task { name, runs }, &SimBackend, &out, wanted));
        let failures = failures.map_err(|error| errors::of_store(&error))?;
        if let Some(raised) = self.controllers().iter().find_map(|controller| controller.take_raised()) {
            return Err(raised);
        }
        Ok(failures
            .into_iter()
            .map(|(index, failure)| format!("{}: {failure}", plan.name_of(&plan.runs[index])))
            .collect())
    }

    fn __repr__(&self) -> String {
        let (name, arms) = (&self.spec.name, self.arms().join(", "));
        format!("<longhaul.Experiment {name}: {arms}; {} iterations, seed {}>", self.spec.iterations, self.spec.seed)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let Origin { name, file, text, is_dict } = &self.origin;
        let again = py.get_type::<Self>().getattr("_again")?;
        let changes = self.changes.iter().map(|change| match change {
            Change::Settings(settings) => Ok(settings.clone().into_pyobject(py)?.into_any()),
            Change::Controller(brought) => Ok(brought.travelling(py).into_pyobject(py)?.into_any()),
        });
        let changes = changes.collect::<PyResult<Vec<_>>>()?;
        Ok((again, (name, file, text, is_dict, changes).into_pyobject(py)?.into_any()))
    }

    /// Makes it again from what it was made of, in another process.
    #[staticmethod]
    fn _again(
        py: Python<'_>,
        name: String,
        file: String,
        text: String,
        is_dict: bool,
        changes: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let read = Self::read(py, Origin { name, file, text, is_dict })?;
        changes.into_iter().try_fold(read, |experiment, change| {
            let change = match change.extract::<Settings>() {
                Ok(settings) => Change::Settings(settings),
                Err(_) => Change::Controller(Brought::arrived(py, change.extract::<Travelling>()?)?),
            };
            experiment.changed(py, change)
        })
    }
}

/// Appends the settings of nested dicts, keys joined by dots.
fn flatten(dict: &Bound<'_, PyDict>, above: &str, to: &mut Vec<String>) -> PyResult<()> {
    for (key, value) in dict.iter() {
        let name = format!("{above}{key}");
        match value.cast::<PyDict>() {
            Ok(inner) => flatten(inner, &format!("{name}."), to)?,
            Err(_) => to.push(format!("{name}={}", document::setting(&value, &name)?)),
        }
    }
    Ok(())
}

/// Names and summaries of the built-in experiments.
#[pyfunction]
pub fn builtins() -> Vec<(&'static str, String)> {
    let summary = |name: &str| spec::builtin(name).map_or_else(String::new, |experiment| experiment.summary);
    spec::BUILTIN.iter().map(|(name, _)| (*name, summary(name))).collect()
}
