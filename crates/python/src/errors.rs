//! What goes wrong, as exceptions: the lab's own words, with place, problem and remedy as attributes.

use lab::results::FlentError;
use lab::{StoreError as OfStore, UsageError};
use profiles::FileError;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt};
use pyo3::prelude::*;

pyo3::create_exception!(longhaul, Error, PyException, "Base of this package's errors.");
pyo3::create_exception!(
    longhaul,
    SpecError,
    Error,
    "An experiment, a profile or an argument is wrong.\n\nAttributes: `place` (key or option, or None), `path`, `line` and `column` (of a \
     file or text, counted from one, or None), `problem`, `remedy`."
);
pyo3::create_exception!(longhaul, StoreError, Error, "A folder of results cannot be used.");
pyo3::create_exception!(
    longhaul,
    ControllerError,
    Error,
    "A controller raised, or returned something else than a Rule, and the sweep stopped. Its cause is what was raised.\n\nAttributes: \
     `controller` (the class's name), `method`, `path` and `line` (of the class's code, or None)."
);
pyo3::create_exception!(
    longhaul,
    Interrupted,
    PyKeyboardInterrupt,
    "The user stopped a sweep. `results` holds the runs that were done, and `out=` what is complete on disk."
);

/// What a [`SpecError`] says beside its sentence.
#[derive(Debug, Default)]
struct Said<'s> {
    place: Option<&'s str>,
    /// Path, line and column.
    position: Option<(&'s str, usize, usize)>,
    problem: &'s str,
    remedy: &'s str,
}

fn spec(py: Python<'_>, sentence: String, said: &Said<'_>) -> PyErr {
    let error = SpecError::new_err(sentence);
    let value = error.value(py);
    let (path, line, column) = (said.position.map(|p| p.0), said.position.map(|p| p.1), said.position.map(|p| p.2));
    let set = || {
        value.setattr("place", said.place)?;
        value.setattr("path", path)?;
        value.setattr("line", line)?;
        value.setattr("column", column)?;
        value.setattr("problem", said.problem)?;
        value.setattr("remedy", said.remedy)
    };
    set().map_or_else(|failed: PyErr| failed, |()| error)
}

/// Something wrong in a file or a text.
pub fn of_file(py: Python<'_>, error: &FileError) -> PyErr {
    let (line, column) = error.position();
    let said = Said {
        place: None,
        position: Some((&error.file, line, column)),
        problem: &error.problem,
        remedy: &error.remedy,
    };
    spec(py, error.to_string(), &said)
}

/// A wrong argument. What the command line calls an option is one of the method here.
pub fn of_usage(py: Python<'_>, error: &UsageError) -> PyErr {
    let place = error.place.strip_prefix("--").unwrap_or(&error.place);
    let said = Said { place: Some(place), problem: &error.problem, remedy: &error.remedy, ..Said::default() };
    spec(py, format!("{place}: {}; {}", error.problem, error.remedy), &said)
}

/// The same, put together here.
pub fn of_place(py: Python<'_>, place: &str, problem: String, remedy: String) -> PyErr {
    of_usage(py, &UsageError { place: place.to_owned(), problem, remedy })
}

/// What a controller raised, with its class, method, path and line.
pub fn of_controller(
    py: Python<'_>,
    sentence: String,
    (class, method, path, line): (&str, &str, Option<String>, Option<u64>),
    cause: PyErr,
) -> PyErr {
    let error = ControllerError::new_err(sentence);
    let value = error.value(py);
    let set = || {
        value.setattr("controller", class)?;
        value.setattr("method", method)?;
        value.setattr("path", path)?;
        value.setattr("line", line)
    };
    let set = set();
    error.set_cause(py, Some(cause));
    set.map_or_else(|failed: PyErr| failed, |()| error)
}

/// A folder that cannot be used.
pub fn of_store(error: &OfStore) -> PyErr {
    StoreError::new_err(format!("{error}; or name another directory, which can be written"))
}

/// Data files of flent that cannot be written.
pub fn of_flent(py: Python<'_>, failure: &FlentError) -> PyErr {
    match failure {
        FlentError::Time(_) => of_place(py, "at_s", failure.to_string(), "give it seconds".to_owned()),
        FlentError::Folder { error, .. } | FlentError::File { error, .. } => {
            std::io::Error::new(error.kind(), failure.to_string()).into()
        }
        FlentError::Taken(_) => std::io::Error::new(std::io::ErrorKind::AlreadyExists, failure.to_string()).into(),
        FlentError::Run { .. } => Error::new_err(failure.to_string()),
    }
}
