//! `name=value`, the only form of options here.

use std::collections::BTreeMap;
use std::str::FromStr;

/// The options of a command.
#[derive(Debug)]
pub(crate) struct Options(BTreeMap<String, String>);

impl Options {
    /// Reads them.
    pub(crate) fn parse(words: &[String]) -> Result<Self, String> {
        let pair = |word: &String| {
            let (name, value) =
                word.split_once('=').ok_or_else(|| format!("`{word}` is not of the form name=value"))?;
            Ok((name.to_owned(), value.to_owned()))
        };
        words.iter().map(pair).collect::<Result<_, String>>().map(Self)
    }

    /// The value of a required option.
    pub(crate) fn get<T: FromStr>(&self, name: &str) -> Result<T, String> {
        let text = self.0.get(name).ok_or_else(|| format!("{name}: missing; write `{name}=…`"))?;
        text.parse().map_err(|_| format!("{name}: `{text}` is not valid"))
    }
}
