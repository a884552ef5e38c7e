//! The built-in profiles, and reading files that extend them or one another.

use crate::load::read;
use crate::merge;
use crate::nearest;
use crate::profile::{Profile, UnknownProfile};
use crate::toml_file::{FileError, TomlFile};
use std::sync::OnceLock;

/// The files of these names, with their text.
macro_rules! data {
    ($($name:literal),+ $(,)?) => { &[$(($name, include_str!(concat!("../data/", $name, ".toml")))),+] };
}

/// Name and text of the files that are compiled in; their order is free except that tables show it.
pub(crate) const BUILTIN: &[(&str, &str)] = data![
    "rfc",
    "longhaul",
    "inside",
    "linux",
    "bbr",
    "windows-2000",
    "windows-2000-tuned",
    "server-2016",
    "server-2016-cubic",
    "server-2019-1809",
    "server-2019",
    "server-2022",
    "windows-11-21h2",
    "windows-11-22h2",
];

/// Reads profiles that may extend one another, given as name and text.
///
/// # Errors
/// At the first thing that is wrong, with its place and what would be right.
pub fn load(files: &[(&str, &str)]) -> Result<Vec<Profile>, FileError> {
    let names = names_of(files);
    let named: Vec<_> = files.iter().zip(&names).map(|((name, text), file)| (*name, file.as_str(), *text)).collect();
    load_files(&named)
}

/// The same, given as name, name of the file, and text.
pub(crate) fn load_files(files: &[(&str, &str, &str)]) -> Result<Vec<Profile>, FileError> {
    let mut raw = Vec::with_capacity(files.len());
    for (name, file_name, text) in files {
        raw.push(read(TomlFile { name: file_name, text }, name)?);
    }
    merge::all(&raw)
}

/// What the files of built-in profiles are called.
pub(crate) fn names_of(files: &[(&str, &str)]) -> Vec<String> {
    files.iter().map(|(name, _)| format!("{name}.toml")).collect()
}

/// Returns the file of a built-in profile, as a template for one's own.
pub fn text(name: &str) -> Option<&'static str> {
    BUILTIN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The built-in profiles: the root first, then by name.
pub fn builtin() -> &'static [Profile] {
    static KNOWN: OnceLock<Vec<Profile>> = OnceLock::new();
    KNOWN.get_or_init(|| load(BUILTIN).unwrap_or_else(|error| panic!("a built-in profile is wrong: {error}")))
}

/// The built-in profile of this name.
///
/// # Errors
/// When there is none; the closest is named.
pub fn get(name: &str) -> Result<&'static Profile, UnknownProfile> {
    builtin().iter().find(|profile| profile.name == name).ok_or_else(|| {
        let known: Vec<&str> = builtin().iter().map(|profile| profile.name.as_str()).collect();
        let remedy = match nearest(name, known.iter().copied()) {
            Some(word) => format!("did you mean `{word}`? There are {}", known.join(", ")),
            None => format!("there are {}", known.join(", ")),
        };
        UnknownProfile { name: name.to_owned(), remedy }
    })
}
