//! The page of measurements lists every column of the tables of results.

use longhaul_lab::results::summaries;
use longhaul_lab::run::{Table, tables};
use std::path::Path;

const BEGIN: &str = "<!-- columns: begin (UPDATE_DOCS=1 cargo test -p longhaul-lab --test tables) -->\n";
const END: &str = "<!-- columns: end -->\n";

fn markdown(table: &Table) -> String {
    let row = |(column, said): (&trace_io::sheet::Column, &&str)| {
        let kind = format!("{:?}", column.kind).to_lowercase();
        let absent = if column.optional { ", or none" } else { "" };
        let said = said.replace('|', "\\|");
        format!("| `{}` | {kind}{absent} | {} | {said} |\n", column.name, column.unit.unwrap_or(""))
    };
    let rows: String = table.columns.iter().zip(&table.meanings).map(row).collect();
    format!("\n`{}`: {}.\n\n| Column | Kind | Unit | Meaning |\n|---|---|---|---|\n{rows}", table.name, table.said)
}

#[test]
fn the_page_of_measurements_has_every_column() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/result-tables.md");
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let (before, rest) = page.split_once(BEGIN).expect("the tables have a place");
    let (_, behind) = rest.split_once(END).expect("the place ends");
    let all: String = tables().into_iter().chain(summaries()).map(markdown).collect();
    let expected = format!("{before}{BEGIN}{all}\n{END}{behind}");
    let update = std::env::var_os("UPDATE_DOCS").is_some();
    if update {
        std::fs::write(&path, &expected).expect("the page can be written");
    }
    let command = "UPDATE_DOCS=1 cargo test -p longhaul-lab --test tables";
    assert!(update || page == expected, "docs/result-tables.md is out of date; {command} writes it");
}
