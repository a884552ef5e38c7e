//! Where runs are kept: a directory, or a URL, for which `_place.py` keeps a local copy.

use crate::progress::Progress;
use pyo3::prelude::*;
use std::path::PathBuf;

/// Where runs are kept.
#[derive(Debug)]
pub struct Place {
    /// A directory or a URL.
    pub out: String,
    /// The directory, or the copy of what is at the URL.
    pub folder: PathBuf,
    /// The object of `_place.py` that has the copy.
    pub copy: Option<Py<PyAny>>,
}

impl Place {
    /// Finds out which it is, and copies what is at a URL.
    pub fn open(out: &Bound<'_, PyAny>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let places = out.py().import("longhaul._place")?;
        let found = places.call_method1("resolved", (out,))?;
        let out: String = found.extract()?;
        if !places.call_method1("is_url", (found,))?.is_truthy()? {
            return Ok(Self { folder: PathBuf::from(&out), out, copy: None });
        }
        let copy = places.call_method1("Copy", (&out, Progress::callable(progress)?))?;
        Ok(Self { folder: copy.getattr("folder")?.extract()?, out, copy: Some(copy.unbind()) })
    }

    /// Fetches or sends shards, if they are at a URL.
    pub fn call(&self, py: Python<'_>, method: &str) -> PyResult<()> {
        self.copy.as_ref().map_or(Ok(()), |copy| copy.call_method0(py, method).map(drop))
    }
}
