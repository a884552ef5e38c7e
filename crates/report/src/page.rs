//! The file: the viewer's page with the data in the place that the build left empty.
//!
//! Numbers are one block of little-endian arrays, deflated and base64-encoded. Most are differences from the previous row, which
//! deflate shrinks to a few bits. Everything else is JSON beside it.

use crate::model::{Column, Finding, Run, Table, Unit};
use base64::Engine;
use flate2::{Compression, write::DeflateEncoder};
use serde_json::{Value, json};
use std::io::{self, Write};

/// The viewer, built from `web/`.
const VIEWER: &str = include_str!("../assets/viewer.html");
/// The place of its data.
const PLACE: &str = r#"<script type="application/json" id="longhaul-data">null</script>"#;
/// Version of the data format; the viewer rejects any other.
const FORMAT: u32 = 1;

/// Writes the page that shows these runs on one time axis, the first as A.
///
/// # Errors
/// Those of `out`.
///
/// # Panics
/// If the viewer has no place for data, which a test excludes.
pub fn view(title: &str, runs: &[Run], out: &mut impl Write) -> io::Result<()> {
    embed(VIEWER, &data(title, runs)?, out)
}

/// Writes a page with this JSON in the place for data.
pub(crate) fn embed(page: &str, json: &str, out: &mut impl Write) -> io::Result<()> {
    let (before, after) = page.split_once(PLACE).expect("the page has a place for data");
    // Within an HTML script only this character can end the data.
    let json = json.replace('<', "\\u003c");
    write!(out, r#"{before}<script type="application/json" id="longhaul-data">{json}</script>{after}"#)
}

/// Deflates bytes, and encodes them as text.
pub(crate) fn packed(bytes: &[u8]) -> io::Result<String> {
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::default());
    packed.write_all(bytes)?;
    Ok(base64::engine::general_purpose::STANDARD.encode(packed.finish()?))
}

fn data(title: &str, runs: &[Run]) -> io::Result<String> {
    let mut block = Vec::new();
    let runs: Vec<Value> = runs.iter().map(|run| run_json(run, &mut block)).collect();
    let block = packed(&block)?;
    Ok(json!({ "format": FORMAT, "title": title, "runs": runs, "block": block }).to_string())
}

fn run_json(run: &Run, block: &mut Vec<u8>) -> Value {
    let tables: serde_json::Map<String, Value> =
        run.tables.iter().map(|(&name, table)| (name.to_owned(), table_json(table, block))).collect();
    let finding = |found: &Finding| json!({ "says": found.says, "cost_pct": found.cost_pct, "is_note": found.is_note });
    json!({
        "name": run.name, "about": run.about, "facts": run.facts, "verdict": run.verdict, "shares": run.shares,
        "end": run.end, "tables": tables, "why_empty": run.why_empty, "queue_before": run.queue_before,
        "numbers": run.numbers, "system": run.system, "findings": run.findings.iter().map(finding).collect::<Vec<_>>(),
    })
}

fn table_json(table: &Table, block: &mut Vec<u8>) -> Value {
    let columns: Vec<Value> = table.columns().iter().map(|column| column_json(column, block)).collect();
    json!({ "rows": table.rows(), "columns": columns })
}

fn column_json(column: &Column, block: &mut Vec<u8>) -> Value {
    let at = block.len();
    let kind = append(column, block);
    let mut json = json!({ "name": column.name, "unit": column.unit.name(), "type": kind, "at": at });
    if column.unit == Unit::Text {
        json["words"] = json!(column.words);
    }
    json
}

/// Appends the values in the smallest type, and returns its name.
fn append(column: &Column, block: &mut Vec<u8>) -> &'static str {
    let greatest = column.values.iter().copied().max().unwrap_or(0);
    if let (Unit::Text, Ok(_)) = (column.unit, u8::try_from(greatest)) {
        block.extend(column.values.iter().map(|&value| value as u8));
        return "u8";
    }
    if u32::try_from(greatest).is_err() {
        block.extend(column.values.iter().flat_map(|&value| (value as f64).to_le_bytes()));
        return "f64";
    }
    let mut before = 0_u32;
    for &value in &column.values {
        let value = value as u32;
        block.extend(value.wrapping_sub(before).to_le_bytes());
        before = value;
    }
    "u32"
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::DeflateDecoder;
    use std::io::Read;

    fn page(runs: &[Run]) -> String {
        let mut out = Vec::new();
        view("</script><b>title", runs, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn data_of(page: &str) -> Value {
        let (_, rest) = page.split_once(r#"id="longhaul-data">"#).unwrap();
        serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
    }

    fn run() -> Run {
        let mut table = Table::new(&[("v", Unit::Bytes), ("big", Unit::Bytes), ("by", Unit::Text)]);
        table.push(10, [7.into(), (1 << 40).into(), "rack".into()]);
        table.push(30, [5.into(), 1.into(), "sequence".into()]);
        let mut run = Run { name: "arm".into(), end: 30, ..Run::default() };
        run.tables.insert("cwnd", table);
        run
    }

    #[test]
    fn the_viewer_asks_for_nothing_from_elsewhere() {
        assert_eq!(VIEWER.matches(PLACE).count(), 1);
        assert!(VIEWER.contains("default-src 'none'"));
        let (_, page) = VIEWER.split_once("-->").expect("the licence of what it contains stands first");
        // The name of SVG, a place within a file and what a script sets cause no request; the policy forbids requests.
        let page = ["http://www.w3.org/2000/svg", "url(#", ".href="]
            .iter()
            .fold(page.to_owned(), |page, own| page.replace(own, ""));
        for reference in ["http:", "https:", "src=", "href=", "@import", "url("] {
            assert!(!page.contains(reference), "the viewer contains `{reference}`");
        }
    }

    #[test]
    fn nothing_in_the_data_ends_the_script_or_opens_an_element() {
        let page = page(&[run()]);
        assert_eq!(page.matches("</script>").count(), VIEWER.matches("</script>").count());
        assert_eq!(data_of(&page)["title"], "</script><b>title");
    }

    #[test]
    fn columns_come_back_from_the_block_as_their_types_say() {
        let data = data_of(&page(&[run()]));
        let packed = base64::engine::general_purpose::STANDARD.decode(data["block"].as_str().unwrap()).unwrap();
        let mut block = Vec::new();
        DeflateDecoder::new(&packed[..]).read_to_end(&mut block).unwrap();
        let columns = data["runs"][0]["tables"]["cwnd"]["columns"].as_array().unwrap();
        let kinds: Vec<_> = columns.iter().map(|column| column["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["u32", "u32", "f64", "u8"]);
        let at = |i: usize| columns[i]["at"].as_u64().unwrap() as usize;
        let word = |from: usize| u32::from_le_bytes(block[from..from + 4].try_into().unwrap());
        assert_eq!([word(at(0)), word(at(0) + 4)], [10, 20]);
        assert_eq!([word(at(1)), word(at(1) + 4)], [7, 2_u32.wrapping_neg()]);
        assert_eq!(block[at(2)..at(2) + 8], ((1_u64 << 40) as f64).to_le_bytes());
        assert_eq!((&block[at(3)..], &columns[3]["words"]), (&[0, 1][..], &json!(["rack", "sequence"])));
    }
}
