//! A profile as named on a command line: a built-in one, or a user's file.

use crate::builtin::{BUILTIN, builtin, get, load_files, names_of};
use crate::profile::{Profile, UnknownProfile};
use crate::toml_file::FileError;
use std::path::Path;
use std::sync::Arc;

/// Why a profile was not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// None is built in under this name.
    #[error("{0}, or the path of a TOML file")]
    Unknown(UnknownProfile),
    /// The file is not there, or not readable.
    #[error("cannot read the profile `{path}`: {problem}")]
    Unreadable {
        /// As it was named.
        path: String,
        /// What the system says.
        problem: String,
    },
    /// The file is wrong.
    #[error("{0}")]
    File(Box<FileError>),
}

/// Returns the built-in profile of this name, or the one in the file at this path, which may extend a built-in one and is named
/// after its file without the extension.
///
/// # Errors
/// If there is none, or it has an error.
pub fn find(name: &str) -> Result<Arc<Profile>, FindError> {
    if !name.ends_with(".toml") && !name.contains(std::path::MAIN_SEPARATOR) {
        return get(name).map(|profile| Arc::new(profile.clone())).map_err(FindError::Unknown);
    }
    let unreadable = |problem: String| FindError::Unreadable { path: name.to_owned(), problem };
    let text = std::fs::read_to_string(name).map_err(|error| unreadable(error.to_string()))?;
    let stem = Path::new(name).file_stem().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
    read(stem, name, &text).map(Arc::new).map_err(|error| FindError::File(Box::new(error)))
}

/// The profile called `name` in the text of `file_name`.
fn read(name: &str, file_name: &str, text: &str) -> Result<Profile, FileError> {
    let file = crate::toml_file::TomlFile { name: file_name, text };
    if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_') {
        let problem = format!("`{name}` cannot be the name of a profile");
        return Err(file.error(0..0, problem, "call the file something of letters, digits, `-` and `_`"));
    }
    if builtin().iter().any(|known| known.name == name) {
        return Err(file.error(0..0, format!("`{name}` is built in"), "call the file something else, and extend it"));
    }
    let own = names_of(BUILTIN);
    let mut files: Vec<(&str, &str, &str)> =
        BUILTIN.iter().zip(&own).map(|((name, text), file)| (*name, file.as_str(), *text)).collect();
    files.push((name, file_name, text));
    let mut read = load_files(&files)?;
    Ok(read.pop().expect("as many profiles as files"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "extends = \"windows-2000\"\nsummary = \"mine\"\n\
                       [registry]\nTcpWindowSize = { value = 65536, source = \"here\", confidence = \"assumed\" }\n";

    #[test]
    fn a_file_extends_what_is_built_in_and_is_called_as_its_file() {
        let mine = read("mine", "some/mine.toml", OWN).unwrap();
        assert_eq!((mine.name.as_str(), mine.extends.as_deref()), ("mine", Some("windows-2000")));
        assert_eq!(mine.leaf("receive.window.bytes").map(|cited| cited.value.as_str()), Some("64KiB"));
        assert_eq!(mine.leaf("retries.data").map(|cited| cited.from.as_str()), Some("windows-2000"));
    }

    #[test]
    fn what_is_wrong_in_a_file_is_said_with_the_path_that_was_given() {
        let error = read("mine", "some/mine.toml", &OWN.replace("65536", "-1")).unwrap_err().to_string();
        assert!(error.starts_with("some/mine.toml:4:27: `-1` is not a valid value of `TcpWindowSize`"), "{error}");
        let error = read("rfc", "rfc.toml", OWN).unwrap_err().to_string();
        assert_eq!(error, "rfc.toml:1:1: `rfc` is built in; call the file something else, and extend it");
        let error = read("my.own", "my.own.toml", OWN).unwrap_err().to_string();
        assert!(error.starts_with("my.own.toml:1:1: `my.own` cannot be the name of a profile; "), "{error}");
    }

    #[test]
    fn a_name_is_looked_up_and_a_path_is_read() {
        assert_eq!(find("server-2022").unwrap().name, "server-2022");
        let error = find("server-2021").unwrap_err().to_string();
        assert!(error.contains("did you mean `server-2022`?") && error.ends_with(", or the path of a TOML file"));
        let error = find("no-such.toml").unwrap_err().to_string();
        assert!(error.starts_with("cannot read the profile `no-such.toml`: "), "{error}");
    }
}
