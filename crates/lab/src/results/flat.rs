//! Rows as one flat table: what a line of JSON says, with the members of its objects as columns.

use crate::results::line::jsonl;
use crate::results::rows::Row;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// Objects whose members are columns. The members of all others differ from row to row, so that those stay JSON in one column.
const OPENED: [&str; 4] = ["cell", "goodput_mbps", "vs_reference", "median_run"];

/// Rows as CSV, quoted as RFC 4180 has it: a line of names, then a line a row. What does not exist is empty. Numbers are those of the lines of JSON,
/// digit by digit.
pub fn csv(rows: &[Row]) -> String {
    let lines: Vec<String> = rows.iter().map(jsonl).collect();
    let flat: Vec<Vec<(String, &str)>> = lines.iter().map(|line| flat(line)).collect();
    let names = names(&flat);
    let mut text = names.join(",") + "\n";
    for line in &flat {
        let value =
            |name: &String| line.iter().find(|(known, _)| known == name).map_or(String::new(), |(_, raw)| field(raw));
        text.push_str(&names.iter().map(value).collect::<Vec<_>>().join(","));
        text.push('\n');
    }
    text
}

/// The names of all lines, each after the one that it follows.
fn names(lines: &[Vec<(String, &str)>]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for line in lines {
        let mut next = 0;
        for (name, _) in line {
            next = 1 + names.iter().position(|known| known == name).unwrap_or_else(|| {
                names.insert(next, name.clone());
                next
            });
        }
    }
    names
}

/// The columns of a line: names, and values as JSON has them.
fn flat(line: &str) -> Vec<(String, &str)> {
    let mut found = Vec::new();
    for (name, value) in members(line) {
        match OPENED.contains(&name.as_str()) {
            true => found.extend(members(value).into_iter().map(|(inner, value)| (format!("{name}_{inner}"), value))),
            false => found.push((name, value)),
        }
    }
    found
}

/// The members of an object in their order; none of anything else.
fn members(object: &str) -> Vec<(String, &str)> {
    serde_json::from_str(object).map(|Members(members)| members).unwrap_or_default()
}

struct Members<'l>(Vec<(String, &'l str)>);

impl<'l> Deserialize<'l> for Members<'l> {
    fn deserialize<D: Deserializer<'l>>(line: D) -> Result<Self, D::Error> {
        line.deserialize_map(Self(Vec::new()))
    }
}

impl<'l> Visitor<'l> for Members<'l> {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'l>>(mut self, mut members: A) -> Result<Self, A::Error> {
        while let Some((name, value)) = members.next_entry::<String, &RawValue>()? {
            self.0.push((name, value.get()));
        }
        Ok(self)
    }
}

/// A value as a field.
fn field(raw: &str) -> String {
    let text = match raw {
        "null" => String::new(),
        raw if raw.starts_with('"') => serde_json::from_str(raw).unwrap_or_else(|_| raw.to_owned()),
        raw => raw.to_owned(),
    };
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_known_objects_are_columns_and_others_stay_json() {
        let line = r#"{"arm":"a","cell":{"rtt_ms":25.0,"swept":{"path.rtt":"25ms"}},"vs_reference":null,"differs":{"x":["1","2"]},"rtos":0.5}"#;
        let found = flat(line);
        let expected = [
            ("arm", "\"a\""),
            ("cell_rtt_ms", "25.0"),
            ("cell_swept", r#"{"path.rtt":"25ms"}"#),
            ("differs", r#"{"x":["1","2"]}"#),
            ("rtos", "0.5"),
        ];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value)));
    }

    #[test]
    fn text_with_signs_of_json_is_text() {
        assert_eq!(members(r#"{"a":"x,}\"]{","b":1}"#), [("a".to_owned(), r#""x,}\"]{""#), ("b".to_owned(), "1")]);
        assert_eq!(field(r#""x,}\"""#), r#""x,}""""#);
        assert_eq!((field("null"), field("1.50"), field("\"plain\"")), (String::new(), "1.50".into(), "plain".into()));
    }

    #[test]
    fn a_column_stands_behind_the_one_that_it_follows() {
        let line = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), "1")).collect::<Vec<_>>();
        assert_eq!(names(&[line(&["a", "c"]), line(&["a", "b", "c", "d"])]), ["a", "b", "c", "d"]);
    }
}
