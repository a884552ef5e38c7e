//! What `--out` keeps, read without the program under test.

use lab::run::tables;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use trace_io::sheet::{Cell, Sheet};

/// The shards of a folder by name, each with its content.
pub fn shards(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let of_table = |table: &str| std::fs::read_dir(folder.join(table)).into_iter().flatten();
    let all =
        ["runs", "flows", "series"].into_iter().flat_map(of_table).map(|entry| entry.expect("it can be read").path());
    let shards = all.filter(|path| path.extension().is_some_and(|extension| extension == "parquet"));
    shards
        .map(|path| {
            (path.strip_prefix(folder).expect("it is inside").to_owned(), std::fs::read(&path).expect("it is there"))
        })
        .collect()
}

/// The rows of a table, by name of shard, each as an object; values that are absent are null.
pub fn rows(folder: &Path, table: &str) -> Vec<Value> {
    let table = tables().into_iter().find(|known| known.name == table).expect("there is such a table");
    let mut found = Vec::new();
    for (_, content) in shards(folder).into_iter().filter(|(path, _)| path.starts_with(table.name)) {
        let (sheet, _) = Sheet::read(content, &table.columns).expect("it is a shard");
        for row in sheet.each_row() {
            let fields = table.columns.iter().zip(row).map(|(column, cell)| {
                let value = match cell {
                    None => Value::Null,
                    Some(Cell::Number(number)) => number.into(),
                    Some(Cell::Real(real)) => real.into(),
                    Some(Cell::Flag(flag)) => flag.into(),
                    Some(Cell::Word(word)) => word.into(),
                };
                (column.name.clone(), value)
            });
            found.push(Value::Object(fields.collect::<Map<_, _>>()));
        }
    }
    found
}
