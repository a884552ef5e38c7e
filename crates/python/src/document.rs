//! Python's values as TOML: a dict has the schema of an experiment's file because it is read as one.

use crate::errors;
use profiles::toml_file::{Entry, FileError, TomlFile, entries};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyRange, PyString, PyTuple};

/// The key of an arm that names its controller.
const CONTROLLER: &str = "controller";
/// The name of what a dict was written as.
pub const NAME: &str = "dict";

/// Returns a dict as a text of TOML, a line for each of its keys.
pub fn text(dict: &Bound<'_, PyDict>) -> PyResult<String> {
    let mut text = String::new();
    for (key, value) in dict.iter() {
        let mut line = String::new();
        let name = key_of(&key, "")?;
        write(&mut line, &value, &name)?;
        text.push_str(&format!("{} = {line}\n", quoted(&name)));
    }
    Ok(text)
}

/// Arms by name, and their controllers.
type Controllers<'py> = Vec<(String, Bound<'py, PyAny>)>;

/// Returns an experiment's dict without the controllers of its arms, which are classes and not text, and these.
pub fn without_controllers<'py>(spec: &Bound<'py, PyDict>) -> PyResult<(Bound<'py, PyDict>, Controllers<'py>)> {
    let mut found = Vec::new();
    let Some(arms) = spec.get_item("arms")?.and_then(|arms| arms.cast_into::<PyDict>().ok()) else {
        return Ok((spec.clone(), found));
    };
    let rest = arms.copy()?;
    for (name, arm) in arms.iter() {
        let Ok(arm) = arm.cast_into::<PyDict>() else { continue };
        if let Some(controller) = arm.get_item(CONTROLLER)? {
            let arm = arm.copy()?;
            arm.del_item(CONTROLLER)?;
            rest.set_item(&name, arm)?;
            found.push((key_of(&name, "arms")?, controller));
        }
    }
    let spec = spec.copy()?;
    spec.set_item("arms", rest)?;
    Ok((spec, found))
}

/// Returns a setting as the lab's overrides have it: several values with commas between them.
pub fn setting(value: &Bound<'_, PyAny>, place: &str) -> PyResult<String> {
    match items(value) {
        Some(items) => {
            let all = items?.iter().map(|item| scalar(item, place)).collect::<PyResult<Vec<_>>>()?;
            if all.is_empty() {
                let (problem, remedy) = ("an empty list".to_owned(), "give it one value or more".to_owned());
                return Err(errors::of_place(value.py(), place, problem, remedy));
            }
            Ok(all.join(","))
        }
        None => scalar(value, place),
    }
}

/// An error in a text that was made of a dict: its place is the keys that lead there.
pub fn error(py: Python<'_>, error: &FileError) -> PyErr {
    let file = TomlFile { name: &error.file, text: &error.text };
    let Ok(tree) = file.parse() else { return errors::of_file(py, error) };
    let mut keys = Vec::new();
    descend(&file, &entries(tree.get_ref()), error.span.start, &mut keys);
    let place = if keys.is_empty() { NAME.to_owned() } else { keys.join(".") };
    errors::of_place(py, &place, error.problem.clone(), error.remedy.clone())
}

fn descend(file: &TomlFile<'_>, level: &[Entry<'_>], at: usize, keys: &mut Vec<String>) {
    let holds = |entry: &&Entry<'_>| entry.key_span.contains(&at) || entry.value.span().contains(&at);
    let Some(entry) = level.iter().find(holds) else { return };
    keys.push(entry.key.to_owned());
    if let Ok(inner) = file.table(entry) {
        descend(file, &inner, at, keys);
    } else if let Ok(tables) = file.tables(entry) {
        tables.iter().for_each(|inner| descend(file, inner, at, keys));
    }
}

fn write(to: &mut String, value: &Bound<'_, PyAny>, place: &str) -> PyResult<()> {
    if let Ok(dict) = value.cast::<PyDict>() {
        to.push_str("{ ");
        for (index, (key, value)) in dict.iter().enumerate() {
            let key = key_of(&key, place)?;
            to.push_str(if index > 0 { ", " } else { "" });
            to.push_str(&format!("{} = ", quoted(&key)));
            write(to, &value, &format!("{place}.{key}"))?;
        }
        to.push_str(" }");
    } else if let Some(items) = items(value) {
        to.push('[');
        for (index, item) in items?.iter().enumerate() {
            to.push_str(if index > 0 { ", " } else { "" });
            write(to, item, place)?;
        }
        to.push(']');
    } else if value.is_instance_of::<PyString>() {
        to.push_str(&quoted(&scalar(value, place)?));
    } else {
        to.push_str(&scalar(value, place)?);
    }
    Ok(())
}

fn key_of(key: &Bound<'_, PyAny>, place: &str) -> PyResult<String> {
    let text =
        key.cast::<PyString>().map_err(|_| PyTypeError::new_err(format!("{place}: keys are strings, not {key}")));
    text?.to_str().map(str::to_owned)
}

/// The values of a list, a tuple, a range, or an array of numpy's; `None` if it is none of these.
fn items<'py>(value: &Bound<'py, PyAny>) -> Option<PyResult<Vec<Bound<'py, PyAny>>>> {
    let is_list =
        value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyRange>();
    if is_list {
        return Some(value.try_iter().and_then(Iterator::collect));
    }
    let list = value.getattr("tolist").ok()?.call0();
    Some(
        list.and_then(|list| if list.is_instance_of::<PyList>() { list.try_iter()?.collect() } else { Ok(vec![list]) }),
    )
}

/// A single value. Numbers are written without an exponent, which the lab's units do not know.
fn scalar(value: &Bound<'_, PyAny>, place: &str) -> PyResult<String> {
    if let Ok(text) = value.cast::<PyString>() {
        return text.to_str().map(str::to_owned);
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(flag.is_true().to_string());
    }
    if value.is_instance_of::<PyInt>() {
        return value.str()?.to_str().map(str::to_owned);
    }
    if value.is_instance_of::<PyFloat>() {
        let number: f64 = value.extract()?;
        if number.is_finite() {
            return Ok(number.to_string());
        }
    }
    let found = value.get_type().name()?;
    let (problem, remedy) = (format!("`{value}` is of type {found}"), "a string or a number belongs here".to_owned());
    Err(errors::of_place(value.py(), place, problem, remedy))
}

/// TOML's basic strings escape what JSON's do.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("text can be written")
}
