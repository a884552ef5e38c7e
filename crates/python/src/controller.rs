//! A congestion control in Python behind the seam of `cc::outside`: one object a connection, asked under the interpreter's lock.
//!
//! What such a class gets is a [`Report`], what it returns a [`Rule`]; `_controller.py` has the class that it extends, and what its identity
//! is made of. A class that raises ends its run, and the first such error stops the sweep.

mod report;
mod rule;

pub use report::Report;
pub use rule::Rule;

use crate::errors;
use cc::OutsideConfig;
use cc::outside::{self, Advisor, Advisors, Cause};
use lab::RunFailure;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};

/// What an arm's class is, and what became of it.
#[derive(Debug)]
pub struct Brought {
    /// The arm that has it, and the profile that the arm otherwise is.
    pub arm: String,
    pub profile: String,
    /// Copied for each connection.
    prototype: Py<PyAny>,
    name: String,
    /// Source and parameters.
    text: String,
    digest: String,
    /// The first error that it raised.
    raised: Mutex<Option<PyErr>>,
}

/// What travels to other processes.
pub type Travelling = (String, String, Py<PyAny>, String, String);

impl Brought {
    /// Takes a class or an object of one.
    pub fn new(arm: &str, profile: &str, controller: &Bound<'_, PyAny>) -> PyResult<Arc<Self>> {
        let captured = controller.py().import("longhaul._controller")?.call_method1("capture", (controller,));
        let (prototype, name, text, digest) = place(captured, controller.py(), arm)?.extract()?;
        Ok(Arc::new(Self {
            arm: arm.to_owned(),
            profile: profile.to_owned(),
            prototype,
            name,
            text,
            digest,
            raised: Mutex::default(),
        }))
    }

    /// Takes what another process sent.
    pub fn arrived(py: Python<'_>, (arm, profile, prototype, name, text): Travelling) -> PyResult<Arc<Self>> {
        let digest = py.import("longhaul._controller")?.call_method1("arrived", (&prototype, &name, &text));
        let digest = place(digest, py, &arm)?.extract()?;
        Ok(Arc::new(Self { arm, profile, prototype, name, text, digest, raised: Mutex::default() }))
    }

    /// Returns what travels.
    pub fn travelling(&self, py: Python<'_>) -> Travelling {
        (self.arm.clone(), self.profile.clone(), self.prototype.clone_ref(py), self.name.clone(), self.text.clone())
    }

    /// Returns it as the lab takes it.
    pub fn config(self: &Arc<Self>) -> OutsideConfig {
        OutsideConfig::new(Arc::new(Of(Arc::clone(self))))
    }

    /// Returns whether it raised since the last [`Self::take_raised`].
    pub fn has_raised(&self) -> bool {
        self.raised().is_some()
    }

    /// Takes the first error that it raised.
    pub fn take_raised(&self) -> Option<PyErr> {
        self.raised().take()
    }

    fn raised(&self) -> std::sync::MutexGuard<'_, Option<PyErr>> {
        self.raised.lock().expect("nothing panics while it holds the lock")
    }

    /// Names class, method and line of an error.
    fn explained(
        &self,
        py: Python<'_>,
        error: PyErr,
        object: &Bound<'_, PyAny>,
        method: &Bound<'_, PyString>,
    ) -> PyErr {
        let found = || {
            // Before 3.12 an exception that was caught here does not carry it yet.
            if let Some(traceback) = error.traceback(py) {
                error.value(py).setattr("__traceback__", traceback)?;
            }
            let arguments = (object, &self.name, method, error.value(py));
            let explained = py.import("longhaul._controller")?.call_method1("explain", arguments)?;
            explained.extract::<(String, Option<String>, Option<u64>)>()
        };
        match found() {
            Ok((sentence, path, line)) => {
                let method = method.to_string();
                errors::of_controller(py, sentence, (&self.name, &method, path, line), error)
            }
            Err(other) => other,
        }
    }

    /// Keeps an error, if it is the first, and ends the run.
    fn fail(&self, py: Python<'_>, raised: PyErr) -> RunFailure {
        let failure = RunFailure(raised.value(py).to_string());
        let mut first = self.raised();
        if first.is_none() {
            *first = Some(raised);
        }
        failure
    }
}

/// A class that cannot be taken is a wrong argument, in the words of `_controller.py`: problem and remedy.
fn place<'py>(found: PyResult<Bound<'py, PyAny>>, py: Python<'py>, arm: &str) -> PyResult<Bound<'py, PyAny>> {
    found.map_err(|error| match error.value(py).getattr("refused").and_then(|words| words.extract()) {
        Ok((problem, remedy)) => errors::of_place(py, &format!("arm {arm}"), problem, remedy),
        Err(_) => error,
    })
}

/// What the lab gets.
#[derive(Debug)]
struct Of(Arc<Brought>);

impl Advisors for Of {
    fn name(&self) -> &str {
        &self.0.name
    }
    fn digest(&self) -> &str {
        &self.0.digest
    }
    fn advisor(&self) -> Box<dyn Advisor> {
        Box::new(One { of: Arc::clone(&self.0), object: None })
    }
}

/// The object of a connection, which is made when it first gets a report.
#[derive(Debug)]
struct One {
    of: Arc<Brought>,
    object: Option<Py<PyAny>>,
}

impl One {
    fn ask(&mut self, py: Python<'_>, report: &outside::Report<'_>) -> PyResult<Option<outside::Rule>> {
        let object = match &self.object {
            Some(object) => object.bind(py),
            None => self.object.insert(copied(py, &self.of.prototype)?).bind(py),
        };
        let method = method(py, report.cause);
        let answer = object.call_method1(method, (Report::new(report),));
        let answer =
            answer.and_then(
                |answer| {
                    if answer.is_none() { Ok(None) } else { Ok(Some(answer.cast_into::<Rule>()?.get().of)) }
                },
            );
        answer.map_err(|error| self.of.explained(py, error, object, method))
    }
}

impl Advisor for One {
    fn advise(&mut self, report: &outside::Report<'_>) -> Option<outside::Rule> {
        let answer = Python::attach(|py| self.ask(py, report).map_err(|raised| self.of.fail(py, raised)));
        // Not by a panic, which would write to the terminal: the lab makes it the failure of the run.
        answer.unwrap_or_else(|failure| resume_unwind(Box::new(failure)))
    }

    fn clone_box(&self) -> Box<dyn Advisor> {
        let object = Python::attach(|py| {
            let object = self.object.as_ref().map(|object| copied(py, object)).transpose();
            object.map_err(|raised| self.of.fail(py, raised))
        });
        let object = object.unwrap_or_else(|failure| resume_unwind(Box::new(failure)));
        Box::new(Self { of: Arc::clone(&self.of), object })
    }
}

fn copied(py: Python<'_>, object: &Py<PyAny>) -> PyResult<Py<PyAny>> {
    Ok(py.import("copy")?.call_method1("deepcopy", (object,))?.unbind())
}

fn method(py: Python<'_>, cause: Cause) -> &Bound<'_, PyString> {
    match cause {
        Cause::Start => pyo3::intern!(py, "start"),
        Cause::Round => pyo3::intern!(py, "round"),
        Cause::Loss { .. } => pyo3::intern!(py, "loss"),
        Cause::Mark { .. } => pyo3::intern!(py, "mark"),
        Cause::Timeout { .. } => pyo3::intern!(py, "timeout"),
        Cause::Undone => pyo3::intern!(py, "undone"),
    }
}
