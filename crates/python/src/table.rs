//! A table for readers of Arrow.

use crate::arrow::{Schema, Stream};
use crate::batch::Data;
use lab::run::Table as Declared;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use std::sync::Arc;
use trace_io::sheet::{Cell, Sheet};

/// A table of typed columns.
///
/// Anything that reads Arrow takes it without a copy: `pyarrow.table(t)`, `polars.DataFrame(t)`, `duckdb.from_arrow(t)`,
/// `pandas.DataFrame.from_arrow(t)`. `t["goodput_mbps"]` is a column as a list. Units are in `units` and in the metadata of fields.
#[pyclass(frozen, module = "longhaul")]
#[derive(Debug)]
pub struct Table {
    name: String,
    data: Arc<Data>,
    /// What each column says, where the lab's tables say so.
    meanings: Vec<&'static str>,
}

impl Table {
    /// Events of a run.
    pub fn of_trace(sheet: &Sheet<'_>) -> Self {
        Self { name: "trace".to_owned(), data: Arc::new(Data::new(sheet)), meanings: Vec::new() }
    }

    /// A table of the lab's.
    pub fn of(declared: &Declared, sheet: &Sheet<'_>) -> Self {
        Self { name: declared.name.to_owned(), data: Arc::new(Data::new(sheet)), meanings: declared.meanings.clone() }
    }
}

#[pymethods]
impl Table {
    /// The table's name: `runs`, `flows`, `series`, `cells`, `rows` or `trace`.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.data.rows()
    }

    /// Names of the columns, in their order.
    #[getter]
    fn column_names(&self) -> Vec<&str> {
        self.data.columns.iter().map(|column| column.name.as_str()).collect()
    }

    /// The unit of each column of numbers by its name; counts and ratios have `1`.
    #[getter]
    fn units<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let units = PyDict::new(py);
        let known = self.data.columns.iter().filter_map(|column| Some((&column.name, column.unit?)));
        known.into_iter().try_for_each(|(name, unit)| units.set_item(name, unit))?;
        Ok(units)
    }

    /// What each column says, by its name.
    #[getter]
    fn meanings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let meanings = PyDict::new(py);
        let mut all = self.data.columns.iter().zip(&self.meanings);
        all.try_for_each(|(column, said)| meanings.set_item(&column.name, said))?;
        Ok(meanings)
    }

    fn __len__(&self) -> usize {
        self.data.rows()
    }

    /// A column as a list, with `None` where a row has no value.
    fn __getitem__<'py>(&self, py: Python<'py>, column: &str) -> PyResult<Bound<'py, PyList>> {
        let found = self.data.columns.iter().position(|known| known.name == column);
        let found = found.ok_or_else(|| {
            let remedy = profiles::toml_file::did_you_mean(column, &self.column_names());
            PyKeyError::new_err(format!("no column `{column}` in the table `{}`: {remedy}", self.name))
        })?;
        let list = PyList::empty(py);
        for cell in self.data.each(found) {
            match cell {
                None => list.append(py.None())?,
                Some(Cell::Number(number)) => list.append(number)?,
                Some(Cell::Real(real)) => list.append(real)?,
                Some(Cell::Flag(flag)) => list.append(flag)?,
                Some(Cell::Word(word)) => list.append(word)?,
            }
        }
        Ok(list)
    }

    fn __repr__(&self) -> String {
        format!("<longhaul.Table {}: {} rows, {} columns>", self.name, self.data.rows(), self.data.columns.len())
    }

    /// The schema, by Arrow's PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        PyCapsule::new_with_value(py, Schema::of_table(&self.data.columns), c"arrow_schema")
    }

    /// All rows, by Arrow's PyCapsule interface; each call begins a new stream. The types of columns are those of the schema, whatever is
    /// requested: readers convert.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        PyCapsule::new_with_value(py, Stream::new(Arc::clone(&self.data)), c"arrow_array_stream")
    }
}
