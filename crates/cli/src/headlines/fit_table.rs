//! Formats a fit for people, for the page and for programs.

use super::table::rounded;
use crate::table::{NOTHING, annotated, paragraph};
use ::profiles::table::{Table, markdown};
use lab::headlines::Verdict;
use lab::headlines::fit::confirm::Confirmation;
use lab::headlines::fit::{Confirmed, Fit, Found, Row};
use serde_json::json;

/// What stands below the tables of the page.
pub(super) const LEGEND: &str = "\
* **as it is** and **best combination** have ten runs a cell and the intervals of the table at the top of this page. A star marks a row
  that is reproduced.
* **all combinations**: from the smallest to the largest number of all of them, with one run a cell. **reproduced by**: their share that reproduces
  the row. With one run there is no interval, so a bound counts as kept where the number keeps it, which accepts more than the table at the top.
* A *combination* is a setting of all experiments with a setting of each profile. They are drawn from a Latin hypercube over the values
  tried; those of later rounds differ in one value from the best so far. The search has no flows of 128 MB in the tests of HyStart++; the two
  best combinations are made again with them, and with ten runs a cell.
* There are more parameters than rows, so a combination that reproduces rows shows that the profiles' laws can give them together. It is no
  evidence for its values, since others do as well, and the profiles keep theirs.
* Not searched: values between and beyond those tried, laws other than the profiles' own (of the receive window, of the ring of blocks), leaves that a source
  documents, leaves of Windows 2000, the leaves in which Windows 11 differs from Server 2022, and the paths of `dsack` and `smb`. A few hundred settings stand
  for a space of far more: that no combination has two rows together is evidence that they exclude each other here, and no proof.
";

/// Formats tables for a terminal.
pub(super) fn for_people(fit: &Fit, found: &Found) -> String {
    let findings: String =
        sentences(fit, found).iter().map(|(title, text)| paragraph(&format!("{title}: "), text)).collect();
    format!(
        "{}\n{}\n{findings}\n{}",
        paragraph("", &head(fit, found)),
        annotated(&with_notes(rows(found))),
        annotated(&with_notes(parameters(fit, found))),
    )
}

/// Formats the part of the page that the fit writes. `mark` names the behaviour that its numbers come from.
pub(super) fn for_page(fit: &Fit, found: &Found, mark: &str, command: &str) -> String {
    let findings: String =
        sentences(fit, found).iter().map(|(title, text)| format!("* **{title}**: {text}\n")).collect();
    format!(
        "Some leaves of the servers and some settings of the experiments are guesses, since no source states them. This part answers whether other \
         guesses reproduce more rows together.\n\nMade by `{command}`.\n\n{mark}\n{}\n\n{}\n{findings}\n{}\n{LEGEND}",
        head(fit, found),
        markdown(&rows(found)),
        markdown(&parameters(fit, found)),
    )
}

/// The tables of a terminal end with a column of notes, which is empty here.
fn with_notes(mut table: Table) -> Table {
    table.header.push("notes".to_owned());
    table.rows.iter_mut().for_each(|row| row.push(String::new()));
    table
}

/// States the result.
fn head(fit: &Fit, found: &Found) -> String {
    let (rows, by_rows) = (found.rows.len(), found.by_rows());
    let most = by_rows.iter().rposition(|count| *count > 0).unwrap_or(0);
    let parameters: usize = fit.space.groups().map(|group| group.parameters.len()).sum();
    let settings: usize = found.worlds.iter().flat_map(|world| &world.settings).map(Vec::len).sum();
    let [now, best] = [&found.confirmed[0], found.best()].map(Confirmed::reproduced);
    format!(
        "The search varied {parameters} parameters: {} settings of all experiments and {settings} of the profiles, {} combinations, {} runs. As they are, profiles and \
         experiments reproduce {now} of {rows} rows; with ten runs a cell, the best combination reproduces {best}. With one run a cell, {} of all combinations \
         reproduce {most}, and none reproduces more.",
        found.worlds.len(),
        found.candidates.len(),
        found.runs,
        by_rows[most],
    )
}

/// A line for each row.
fn rows(found: &Found) -> Table {
    let header = ["row", "published", "as it is", "best combination", "all combinations", "reproduced by"];
    let best = found.best();
    let of = |(at, row): (usize, &Row)| {
        let unit = row.claim.unit;
        let shown = |confirmed: &Confirmed| {
            let Confirmation { number, verdict, .. } = confirmed.rows[at];
            let star = if verdict == Verdict::Reproduced { " *" } else { "" };
            number.map_or_else(|| NOTHING.to_owned(), |number| format!("{}{star}", unit.show(number)))
        };
        let range = row.range.map(|(lo, hi)| format!("{} … {}", unit.number(lo), unit.show(hi)));
        vec![
            row.claim.id.to_owned(),
            row.claim.published.to_owned(),
            shown(&found.confirmed[0]),
            shown(best),
            range.unwrap_or_else(|| NOTHING.to_owned()),
            per_cent(row.met, found.candidates.len()),
        ]
    };
    Table { header: header.map(str::to_owned).to_vec(), rows: found.rows.iter().enumerate().map(of).collect() }
}

fn per_cent(part: usize, whole: usize) -> String {
    match part {
        0 => "none".to_owned(),
        _ => format!("{:.1} %", part as f64 * 100.0 / whole as f64),
    }
}

/// What the combinations say together, with a title each.
fn sentences(fit: &Fit, found: &Found) -> Vec<(&'static str, String)> {
    let id = |row: usize| found.rows[row].claim.id;
    let listed = |parts: Vec<String>| if parts.is_empty() { "none".to_owned() } else { parts.join("; ") + "." };
    let never = found.rows.iter().filter(|row| row.met == 0).map(|row| row.claim.id.to_owned()).collect();
    let pairs = found.never_together().iter().map(|(a, b)| format!("{} and {}", id(*a), id(*b))).collect();
    let missed = found.missed_by_best();
    let missed = missed.iter().take(5).map(|(rows, count)| format!("{} ({count})", rows.join(", "))).collect();
    let by_rows = found.by_rows();
    let counts = by_rows.iter().enumerate().rev().filter(|(_, count)| **count > 0);
    let counts = counts.map(|(rows, count)| format!("{rows}: {count}")).collect();
    let confirmed = found.confirmed[1..].iter().map(|confirmed| confirmed.reproduced().to_string()).collect();
    let changes = found.best().changes(&fit.space);
    let changes = changes.iter().map(|(group, name, value)| format!("{group}: {name} = {value}")).collect();
    vec![
        ("Reproduced by no combination", listed(never)),
        ("Never reproduced together", listed(pairs)),
        ("Missed by the combinations that reproduce the most rows (how many)", listed(missed)),
        ("Rows reproduced (combinations)", listed(counts)),
        ("Rows that the best reproduce with ten runs a cell", listed(confirmed)),
        ("What the best combination changes", listed(changes)),
    ]
}

/// A line for each parameter.
fn parameters(fit: &Fit, found: &Found) -> Table {
    let header = ["of", "parameter", "as it is", "tried", "best combination"];
    let mut lines = Vec::new();
    for (group, best) in fit.space.groups().zip(&found.best().levels) {
        for (parameter, level) in group.parameters.iter().zip(best) {
            let values = &parameter.values;
            lines.push(vec![
                group.name.clone(),
                parameter.name.clone(),
                values[parameter.now].clone(),
                values.join(" · "),
                values[*level].clone(),
            ]);
        }
    }
    Table { header: header.map(str::to_owned).to_vec(), rows: lines }
}

/// Formats an object for each row, one for each parameter, and one for the whole.
pub(super) fn jsonl(fit: &Fit, found: &Found) -> String {
    let mut text = String::new();
    let mut put = |object: serde_json::Value| text.push_str(&format!("{object}\n"));
    let best = found.best();
    for (at, row) in found.rows.iter().enumerate() {
        let confirmed = |confirmed: &Confirmed| {
            let Confirmation { number, interval, verdict } = confirmed.rows[at];
            let [lo, hi] = [interval.map(|(lo, _)| rounded(lo)), interval.map(|(_, hi)| rounded(hi))];
            json!({"measured": number.map(rounded), "lo": lo, "hi": hi, "verdict": verdict.word()})
        };
        put(json!({
            "row": row.claim.id,
            "published": row.claim.published,
            "unit": row.claim.unit.word(),
            "as_it_is": confirmed(&found.confirmed[0]),
            "best": confirmed(best),
            "smallest": row.range.map(|(lo, _)| rounded(lo)),
            "largest": row.range.map(|(_, hi)| rounded(hi)),
            "reproduced_by": row.met,
        }));
    }
    for (group, levels) in fit.space.groups().zip(&best.levels) {
        for (parameter, level) in group.parameters.iter().zip(levels) {
            let values = &parameter.values;
            put(json!({
                "of": group.name,
                "parameter": parameter.name,
                "as_it_is": values[parameter.now],
                "tried": values,
                "best": values[*level],
            }));
        }
    }
    let ids = |(a, b): &(usize, usize)| [*a, *b].map(|row| found.rows[row].claim.id);
    let missed = found.missed_by_best();
    put(json!({
        "combinations": found.candidates.len(),
        "worlds": found.worlds.len(),
        "runs": found.runs,
        "combinations_by_rows": found.by_rows(),
        "never_together": found.never_together().iter().map(ids).collect::<Vec<_>>(),
        "missed_by_best": missed.iter().map(|(rows, count)| json!({"rows": rows, "combinations": count})).collect::<Vec<_>>(),
        "reproduced_as_it_is": found.confirmed[0].reproduced(),
        "reproduced_by_best": best.reproduced(),
    }));
    text
}
