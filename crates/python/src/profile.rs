//! Profiles and their leaves.

use crate::errors;
use ::profiles::{FindError, LEAVES, Profile as Of, builtin, find};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// A leaf of a profile: a value and the evidence for it.
#[pyclass(frozen, get_all, module = "longhaul")]
#[derive(Clone, Debug)]
pub struct Leaf {
    /// Its path, as in `rto.min`.
    path: String,
    /// Its value as profiles write it, with its unit.
    value: String,
    /// The publication, document or measurement.
    source: String,
    /// `documented`, `measured`, `inferred` or `assumed`.
    confidence: String,
    /// The profile that gives the value: this one or an ancestor.
    given_by: String,
}

#[pymethods]
impl Leaf {
    fn __repr__(&self) -> String {
        format!("<longhaul.Leaf {} = {} ({}: {})>", self.path, self.value, self.confidence, self.source)
    }
}

/// One TCP as data: rules and numbers, each with its source.
#[pyclass(frozen, module = "longhaul")]
#[derive(Debug)]
pub struct Profile {
    of: Arc<Of>,
}

#[pymethods]
impl Profile {
    /// What users call it.
    #[getter]
    fn name(&self) -> &str {
        &self.of.name
    }

    /// One sentence.
    #[getter]
    fn summary(&self) -> &str {
        &self.of.summary
    }

    /// The profile it differs from; None for the root.
    #[getter]
    fn extends(&self) -> Option<&str> {
        self.of.extends.as_deref()
    }

    /// Its leaves by path, in the order of the table of leaves.
    #[getter]
    fn leaves<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let leaves = PyDict::new(py);
        for (path, cited) in LEAVES.iter().filter_map(|leaf| Some((leaf.path, self.of.leaf(leaf.path)?))) {
            let leaf = Leaf {
                path: path.to_owned(),
                value: cited.value.clone(),
                source: cited.evidence.source.clone(),
                confidence: cited.evidence.confidence.word().to_owned(),
                given_by: cited.from.clone(),
            };
            leaves.set_item(path, Py::new(py, leaf)?)?;
        }
        Ok(leaves)
    }

    fn __repr__(&self) -> String {
        format!("<longhaul.Profile {}: {}>", self.of.name, self.of.summary)
    }
}

/// The built-in profiles.
#[pyfunction]
pub fn profiles() -> Vec<Profile> {
    builtin().iter().map(|profile| Profile { of: Arc::new(profile.clone()) }).collect()
}

/// A built-in profile by its name, or one of your own by the path of its TOML file.
///
/// Raises SpecError.
#[pyfunction]
pub fn profile(py: Python<'_>, name_or_path: &str) -> PyResult<Profile> {
    let found = find(name_or_path).map_err(|error| match error {
        FindError::File(error) => errors::of_file(py, &error),
        FindError::Unknown(error) => {
            errors::of_place(py, "profile", format!("unknown profile `{}`", error.name), error.remedy)
        }
        FindError::Unreadable { .. } => {
            errors::of_place(py, "profile", error.to_string(), "name a file that can be read".to_owned())
        }
    });
    found.map(|of| Profile { of })
}
