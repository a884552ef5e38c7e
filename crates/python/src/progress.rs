//! Between two runs: whether the user wants to stop, and how far it is.

use crate::controller::Brought;
use core::ops::ControlFlow;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBool;
use std::sync::Arc;

/// Who wants to know how far it is.
#[derive(Debug)]
pub struct Progress {
    callable: Option<Py<PyAny>>,
    done: usize,
    total: usize,
    /// Controllers in Python, the first error of which stops it.
    controllers: Vec<Arc<Brought>>,
    /// What stopped it.
    raised: Option<PyErr>,
}

impl Progress {
    /// `True` writes to the terminal, `False` and `None` write nothing, and a callable gets the number of runs done and of all.
    pub fn new(wanted: Option<&Bound<'_, PyAny>>, total: usize, controllers: Vec<Arc<Brought>>) -> PyResult<Self> {
        Ok(Self { callable: Self::callable(wanted)?, done: 0, total, controllers, raised: None })
    }

    /// The callable behind it, if there is one.
    pub fn callable(wanted: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Py<PyAny>>> {
        Ok(match wanted {
            None => None,
            Some(wanted) => match wanted.cast::<PyBool>() {
                Ok(flag) if flag.is_true() => {
                    Some(wanted.py().import("longhaul._progress")?.getattr("Line")?.call0()?.unbind())
                }
                Ok(_) => None,
                Err(_) if wanted.is_callable() => Some(wanted.clone().unbind()),
                Err(_) => return Err(PyTypeError::new_err("progress: True, False or a callable of (done, total)")),
            },
        })
    }

    /// A run is done. Goes on unless a signal or the callable raises.
    pub fn step(&mut self) -> ControlFlow<()> {
        self.done += 1;
        if self.controllers.iter().any(|controller| controller.has_raised()) {
            return ControlFlow::Break(());
        }
        let outcome = Python::attach(|py| {
            py.check_signals()?;
            self.callable.iter().try_for_each(|callable| callable.call1(py, (self.done, self.total)).map(drop))
        });
        match outcome {
            Ok(()) => ControlFlow::Continue(()),
            Err(raised) => {
                self.raised = Some(raised);
                ControlFlow::Break(())
            }
        }
    }

    /// What stopped it, if anything did.
    pub fn finish(self) -> Option<PyErr> {
        self.raised.or_else(|| self.controllers.iter().find_map(|controller| controller.take_raised()))
    }
}
