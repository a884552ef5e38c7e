//! Parses `key=value,key=value`, the syntax of `longhaul link`'s options; errors name the place.

use crate::failure::Failure;
use profiles::nearest;

/// One `key=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The option that contains it: `--ab`.
    option: &'static str,
    /// In lower case.
    pub key: String,
    /// As written.
    pub value: String,
}

impl Pair {
    /// Returns an error about this pair.
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
/// At the first wrong pair.
pub fn pairs(option: &'static str, text: &str, known: &[&str], repeated: &[&str]) -> Result<Vec<Pair>, Failure> {
    let mut pairs: Vec<Pair> = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let pair = Pair { option, key: key.trim().to_ascii_lowercase(), value: value.trim().to_owned() };
        if !known.contains(&pair.key.as_str()) {
            let hint = nearest(&pair.key, known.iter().copied())
                .map_or(String::new(), |key| format!("did you mean `{key}`? "));
            let problem = format!("unknown key `{}`; {hint}Keys are {}", pair.key, known.join(", "));
            return Err(Failure::usage(format!("{option} {part}: {problem}")));
        }
        if pair.value.is_empty() {
            return Err(Failure::usage(format!("{option} {part}: no value; write `{}=…`", pair.key)));
        }
        if pairs.iter().any(|other| other.key == pair.key) && !repeated.contains(&pair.key.as_str()) {
            return Err(pair.wrong(format!("`{}` is given twice; keep one", pair.key)));
        }
        pairs.push(pair);
    }
    Ok(pairs)
}
