//! Formats comparisons: for people, for programs, and for a page.

use crate::failure::Failure;
use crate::whole_file;
use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use realtime::fidelity::Comparison;
use std::path::{Path, PathBuf};

/// A table for a terminal.
pub(super) fn for_people(comparisons: &[Comparison]) -> String {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')));
    table.set_header(["cell", "simulated/real", "sim", "real Mbit/s", "ratio", "band", ""]);
    for comparison in comparisons {
        let verdict = if comparison.is_inside() { "inside" } else { "OUTSIDE" };
        table.add_row([
            comparison.cell.clone(),
            comparison.pair.clone(),
            format!("{:.2}", comparison.sim_mbps),
            format!("{:.2}", comparison.real_mbps),
            format!("{:.3}", comparison.ratio()),
            format!("{:.0} %", comparison.band * 100.0),
            verdict.to_owned(),
        ]);
    }
    for column in 2..=5 {
        table.column_mut(column).expect("there are seven").set_cell_alignment(CellAlignment::Right);
    }
    table.to_string() + "\n"
}

/// One object.
pub(super) fn jsonl(comparison: &Comparison) -> String {
    let rounded = |value: f64, unit: f64| (value * unit).round() / unit;
    serde_json::json!({
        "cell": comparison.cell,
        "pair": comparison.pair,
        "sim_mbps": rounded(comparison.sim_mbps, 1e3),
        "real_mbps": rounded(comparison.real_mbps, 1e3),
        "ratio": rounded(comparison.ratio(), 1e4),
        "band": comparison.band,
        "inside": comparison.is_inside(),
    })
    .to_string()
}

/// Formats a table for a page, with a line that describes it.
pub(super) fn markdown(comparisons: &[Comparison], headline: &str) -> String {
    let mut text = format!("{headline}\n\n| cell | simulated / real | sim Mbit/s | real Mbit/s | ratio | band | |\n");
    text.push_str("| --- | --- | ---: | ---: | ---: | ---: | --- |\n");
    for comparison in comparisons {
        text.push_str(&format!(
            "| {} | {} | {:.2} | {:.2} | {:.3} | {:.0} % | {} |\n",
            comparison.cell,
            comparison.pair,
            comparison.sim_mbps,
            comparison.real_mbps,
            comparison.ratio(),
            comparison.band * 100.0,
            if comparison.is_inside() { "inside" } else { "**outside**" },
        ));
    }
    text
}

/// A Markdown file with a place for the table.
#[derive(Debug)]
pub(super) struct Page {
    path: PathBuf,
    before: String,
    behind: String,
}

impl Page {
    /// Reads the file. The place is between two comments that contain this name.
    ///
    /// # Errors
    /// If it cannot be read, or has no place for the table.
    pub fn read(path: &Path, place: &str) -> Result<Self, Failure> {
        let [begin, end] = ["begin", "end"].map(|side| format!("<!-- {place}: {side} -->\n"));
        let wrong = |problem: String| Failure::usage(format!("--write {}: {problem}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let missing =
            || wrong(format!("no place for the table; put the lines `{}` and `{}` there", begin.trim(), end.trim()));
        let from = text.find(&begin).ok_or_else(missing)? + begin.len();
        let to = from + text[from..].find(&end).ok_or_else(missing)?;
        Ok(Self { path: path.to_owned(), before: text[..from].to_owned(), behind: text[to..].to_owned() })
    }

    /// Writes the file with this text between the two comments.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn replace(self, table: &str) -> Result<(), Failure> {
        let text = format!("{}{table}{}", self.before, self.behind);
        whole_file::write(&self.path, &text)
            .map_err(|error| Failure::Failed(format!("--write {}: {error}", self.path.display())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(real_mbps: f64) -> Comparison {
        let (cell, pair) = ("wan 25ms".into(), "linux/kernel:cubic".into());
        Comparison { cell, pair, sim_mbps: 92.0, real_mbps, band: 0.1, disturbed: 0 }
    }

    #[test]
    fn an_object_has_what_is_asked_of_it() {
        let expected = r#"{"band":0.1,"cell":"wan 25ms","inside":true,"pair":"linux/kernel:cubic","ratio":0.9783,"real_mbps":90.0,"sim_mbps":92.0}"#;
        assert_eq!(jsonl(&comparison(90.0)), expected);
    }

    #[test]
    fn a_page_keeps_what_is_around_the_table() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("page.md");
        std::fs::write(&path, "# Title\n<!-- fidelity: begin -->\nold\n<!-- fidelity: end -->\ncauses\n").unwrap();
        Page::read(&path, "fidelity").unwrap().replace(&markdown(&[comparison(60.0)], "Seed 1")).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# Title\n<!--") && text.ends_with("end -->\ncauses\n") && !text.contains("old"));
        assert!(
            text.contains("| wan 25ms | linux/kernel:cubic | 92.00 | 60.00 | 0.652 | 10 % | **outside** |"),
            "{text}"
        );
    }

    #[test]
    fn a_page_without_a_place_is_refused_with_what_it_lacks() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("page.md");
        std::fs::write(&path, "# Title\n").unwrap();
        assert!(
            matches!(Page::read(&path, "fidelity"), Err(Failure::Usage(problem)) if problem.contains("fidelity: begin"))
        );
    }
}
