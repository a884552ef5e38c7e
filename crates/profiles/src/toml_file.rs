//! TOML parsed by hand, so that every error names file, line and column.
//!
//! Shared by profiles and experiments: their keys are data (paths of leaves, names of arms), which derived parsers handle badly,
//! and a wrong value deserves a sentence with the remedy.

use core::fmt;
use core::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Something wrong in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// Name of the file as the user knows it.
    pub file: String,
    /// The whole text, for showing the place.
    pub text: String,
    /// Bytes of `text` that are wrong.
    pub span: Range<usize>,
    /// What is wrong.
    pub problem: String,
    /// What would be right.
    pub remedy: String,
}

impl FileError {
    /// Line and column of the place, both counted from one, columns in characters.
    pub fn position(&self) -> (usize, usize) {
        let before = self.text.get(..self.span.start).unwrap_or(&self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or(before).chars().count() + 1;
        (line, column)
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.position();
        write!(f, "{}:{line}:{column}: {}; {}", self.file, self.problem, self.remedy)
    }
}

impl core::error::Error for FileError {}

/// A file's name and text: the context of every error.
#[derive(Clone, Copy, Debug)]
pub struct TomlFile<'t> {
    /// As the user knows it.
    pub name: &'t str,
    /// All of it.
    pub text: &'t str,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub struct Entry<'d> {
    /// The key.
    pub key: &'d str,
    /// Where the key stands.
    pub key_span: Range<usize>,
    /// The value and where it stands.
    pub value: &'d Spanned<DeValue<'d>>,
}

impl<'t> TomlFile<'t> {
    /// The file as a tree.
    ///
    /// # Errors
    /// When it is not TOML.
    pub fn parse(&self) -> Result<Spanned<DeTable<'t>>, FileError> {
        DeTable::parse(self.text).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            self.error(
                span,
                format!("this is not valid TOML: {}", error.message()),
                "see https://toml.io for its rules",
            )
        })
    }

    /// Returns an error about a place.
    pub fn error(&self, span: Range<usize>, problem: impl Into<String>, remedy: impl Into<String>) -> FileError {
        FileError {
            file: self.name.to_owned(),
            text: self.text.to_owned(),
            span,
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }

    /// The value as a table.
    ///
    /// # Errors
    /// When it is something else.
    pub fn table<'d>(&self, entry: &Entry<'d>) -> Result<Vec<Entry<'d>>, FileError> {
        match entry.value.get_ref() {
            DeValue::Table(table) => Ok(entries(table)),
            other => Err(self.wrong_type(entry, other, "a table")),
        }
    }

    /// The value as text: a string, or a number as it is written.
    ///
    /// # Errors
    /// When it is something else.
    pub fn scalar(&self, entry: &Entry<'_>) -> Result<String, FileError> {
        scalar(entry.value.get_ref())
            .ok_or_else(|| self.wrong_type(entry, entry.value.get_ref(), "a string or a number"))
    }

    /// The value as a string.
    ///
    /// # Errors
    /// When it is something else, or empty.
    pub fn string(&self, entry: &Entry<'_>) -> Result<String, FileError> {
        match entry.value.get_ref() {
            DeValue::String(text) if !text.trim().is_empty() => Ok(text.to_string()),
            DeValue::String(_) => {
                Err(self.error(entry.value.span(), format!("`{}` is empty", entry.key), "write a sentence"))
            }
            other => Err(self.wrong_type(entry, other, "a string")),
        }
    }

    /// The value as a list of tables, `[[so]]`: what each holds, in the order of the file.
    ///
    /// # Errors
    /// When it is something else.
    pub fn tables<'d>(&self, entry: &Entry<'d>) -> Result<Vec<Vec<Entry<'d>>>, FileError> {
        let wrong = |found: &DeValue<'_>| {
            self.wrong_type(entry, found, &format!("one table or more, each under `[[{}]]`,", entry.key))
        };
        let DeValue::Array(array) = entry.value.get_ref() else { return Err(wrong(entry.value.get_ref())) };
        let all = array.iter().map(|item| match item.get_ref() {
            DeValue::Table(table) => Ok(entries(table)),
            other => Err(wrong(other)),
        });
        all.collect()
    }

    /// The value as a list of strings or numbers, each with its place.
    ///
    /// # Errors
    /// When it is something else, or empty.
    pub fn list(&self, entry: &Entry<'_>) -> Result<Vec<(String, Range<usize>)>, FileError> {
        let DeValue::Array(array) = entry.value.get_ref() else {
            return Err(self.wrong_type(entry, entry.value.get_ref(), "a list"));
        };
        let texts: Option<Vec<_>> = array.iter().map(|item| Some((scalar(item.get_ref())?, item.span()))).collect();
        match texts {
            Some(texts) if !texts.is_empty() => Ok(texts),
            Some(_) => Err(self.error(
                entry.value.span(),
                format!("`{}` is an empty list", entry.key),
                "give it one value or more",
            )),
            None => Err(self.wrong_type(entry, entry.value.get_ref(), "a list of strings or numbers")),
        }
    }

    /// Returns an error about an unknown key.
    pub fn unknown_key<'k>(&self, entry: &Entry<'_>, known: impl IntoIterator<Item = &'k str>) -> FileError {
        let known: Vec<&str> = known.into_iter().collect();
        let problem = format!("unknown key `{}`", entry.key);
        self.error(entry.key_span.clone(), problem, did_you_mean(entry.key, &known))
    }

    fn wrong_type(&self, entry: &Entry<'_>, found: &DeValue<'_>, expected: &str) -> FileError {
        let problem = format!("`{}` is of type {}", entry.key, found.type_str());
        self.error(entry.value.span(), problem, format!("{expected} belongs here"))
    }
}

/// Returns `did you mean …?` if a word is close, else all of them.
pub fn did_you_mean(text: &str, known: &[&str]) -> String {
    match crate::nearest(text, known.iter().copied()) {
        Some(word) => format!("did you mean `{word}`?"),
        None => format!("known here: {}", known.join(", ")),
    }
}

/// What a table holds, in the order of the file.
pub fn entries<'d>(table: &'d DeTable<'d>) -> Vec<Entry<'d>> {
    let mut entries: Vec<Entry<'d>> =
        table.iter().map(|(key, value)| Entry { key: key.get_ref().as_ref(), key_span: key.span(), value }).collect();
    entries.sort_by_key(|entry| entry.key_span.start);
    entries
}

fn scalar(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str().to_owned()),
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_names_file_line_and_column_in_characters() {
        let file = TomlFile { name: "a.toml", text: "x = 1\n\"é\" = 2\n" };
        let error = file.error(13..14, "no", "yes");
        assert_eq!(error.position(), (2, 7));
        assert_eq!(error.to_string(), "a.toml:2:7: no; yes");
    }

    #[test]
    fn broken_toml_is_a_complaint_with_its_place() {
        let error = TomlFile { name: "a.toml", text: "x = 1\ny = = 2\n" }.parse().unwrap_err();
        assert_eq!(error.position().0, 2);
    }

    #[test]
    fn entries_come_in_the_order_of_the_file_and_numbers_as_written() {
        let file = TomlFile { name: "a", text: "z = 0.70\na = 1_000\nm = [\"1ms\", 2]\nb = true\n" };
        let tree = file.parse().unwrap();
        let found = entries(tree.get_ref());
        assert_eq!(found.iter().map(|entry| entry.key).collect::<Vec<_>>(), ["z", "a", "m", "b"]);
        assert_eq!(file.scalar(&found[0]).unwrap(), "0.70");
        assert_eq!(file.scalar(&found[1]).unwrap(), "1000");
        let list: Vec<String> = file.list(&found[2]).unwrap().into_iter().map(|(text, _)| text).collect();
        assert_eq!(list, ["1ms", "2"]);
        assert_eq!(
            file.scalar(&found[3]).unwrap_err().to_string(),
            "a:4:5: `b` is of type boolean; a string or a number belongs here"
        );
        assert!(file.list(&found[0]).is_err() && file.table(&found[0]).is_err() && file.string(&found[0]).is_err());
    }
}
