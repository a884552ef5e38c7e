//! Parses `key=value,key=value`, the syntax of `longhaul link`'s options; errors name the place.

use crate::failure::Failure;
use profiles::nearest;

/// One `key=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The option that contains it: `--ab`.
    option: &'static str,
    /// In lower case.
    pub key: String,
    /// As written.
    pub value: String,
}

impl Word {
    /// Returns an error about this word.
    pub fn wrong(&self, problem: impl std::fmt::Display) -> Failure {
        Failure::usage(format!("{} {}={}: {problem}", self.option, self.key, self.value))
    }

    /// The same, for a parser that returns the problem.
    pub fn read<T, E: std::fmt::Display>(&self, read: impl FnOnce(&str) -> Result<T, E>) -> Result<T, Failure> {
        read(&self.value).map_err(|problem| self.wrong(problem))
    }
}

/// Splits an option. Keys must be `known` and, except for those `repeated`, occur once.
///
/// # Errors
/// At the first wrong word.
pub fn words(option: &'static str, text: &str, known: &[&str], repeated: &[&str]) -> Result<Vec<Word>, Failure> {
    let mut words: Vec<Word> = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let word = Word { option, key: key.trim().to_ascii_lowercase(), value: value.trim().to_owned() };
        if !known.contains(&word.key.as_str()) {
            let hint = nearest(&word.key, known.iter().copied())
                .map_or(String::new(), |word| format!("did you mean `{word}`? "));
            let problem = format!("unknown key `{}`; {hint}Keys are {}", word.key, known.join(", "));
            return Err(Failure::usage(format!("{option} {part}: {problem}")));
        }
        if word.value.is_empty() {
            return Err(Failure::usage(format!("{option} {part}: no value; write `{}=…`", word.key)));
        }
        if words.iter().any(|other| other.key == word.key) && !repeated.contains(&word.key.as_str()) {
            return Err(word.wrong(format!("`{}` is given twice; keep one", word.key)));
        }
        words.push(word);
    }
    Ok(words)
}
