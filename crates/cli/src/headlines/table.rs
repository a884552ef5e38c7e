//! Formats rows for people and for programs.

use crate::table::paragraph;
use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use lab::headlines::{Carrier, Finding, Unit, Verdict};
use serde_json::{Value, json};

/// Replaces a number that does not exist.
const NOTHING: &str = "–";

/// Formats a table for a terminal, followed by the reasons why rows are not reproduced.
pub(super) fn for_people(findings: &[Finding]) -> String {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')));
    table.set_header(["row", "published", "measured", "95 %", "band", "verdict"]);
    for finding in findings {
        table.add_row([
            finding.claim.id.to_owned(),
            finding.claim.published.to_owned(),
            measured(finding),
            interval(finding),
            band(finding),
            finding.verdict.word().to_owned(),
        ]);
    }
    for column in 2..=3 {
        table.column_mut(column).expect("there are six").set_cell_alignment(CellAlignment::Right);
    }
    let lines: String = table.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    let carried: String = findings
        .iter()
        .filter(|finding| !finding.ablated.is_empty())
        .map(|finding| paragraph(&format!("{}: ", finding.claim.id), &carried_by(finding)))
        .collect();
    let reasons: String = findings
        .iter()
        .filter_map(|finding| Some((finding, finding.reason.as_ref()?)))
        .map(|(finding, reason)| paragraph(&format!("{}: ", finding.claim.id), reason))
        .collect();
    let titled = |title: &str, text: String| if text.is_empty() { text } else { format!("\n{title}\n{text}") };
    let carried = titled("Carried by (share of the effect that goes with it)", carried);
    format!("{lines}{carried}{}", titled("Why a row is not reproduced, or has no band", reasons))
}

/// One object.
pub(super) fn jsonl(finding: &Finding) -> String {
    let claim = finding.claim;
    let [lo, hi] = [0, 1].map(|end| finding.interval.map(|(lo, hi)| rounded([lo, hi][end])));
    let carried: Vec<Value> = finding
        .ablated
        .iter()
        .filter(|carrier| carrier.carries())
        .map(|carrier| {
            let share_pct = rounded(carrier.share_pct);
            json!({"ingredient": carrier.ingredient, "share_pct": share_pct, "differs": carrier.differs})
        })
        .collect();
    let band = claim.band.map(|band| band.text(claim.unit));
    json!({
        "id": claim.id,
        "claim": claim.claim,
        "source": claim.source,
        "published": claim.published,
        "unit": claim.unit.word(),
        "measured": finding.measured.map(rounded),
        "lo": lo,
        "hi": hi,
        "band": band,
        "verdict": finding.verdict.word(),
        "carried_by": carried,
        "where": finding.place,
        "reason": finding.reason,
    })
    .to_string()
}

pub(super) fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

pub(super) fn measured(finding: &Finding) -> String {
    finding.measured.map_or_else(|| NOTHING.to_owned(), |number| finding.claim.unit.show(number))
}

/// `[1.02, 1.05]`
pub(super) fn interval(finding: &Finding) -> String {
    let unit = finding.claim.unit;
    let show = |(lo, hi)| format!("[{}, {}]", unit.number(lo), unit.number(hi));
    finding.interval.map_or_else(String::new, show)
}

pub(super) fn band(finding: &Finding) -> String {
    finding.claim.band.map_or_else(|| NOTHING.to_owned(), |band| band.text(finding.claim.unit))
}

/// Names the ingredients that cause the effect, with their shares; the largest one if none is large.
pub(super) fn carried_by(finding: &Finding) -> String {
    let named: Vec<&Carrier> = finding.ablated.iter().filter(|carrier| carrier.carries()).collect();
    let named = if named.is_empty() { finding.ablated.iter().take(1).collect() } else { named };
    let each = named.into_iter().map(|carrier| format!("{} {}", carrier.ingredient, share(carrier)));
    each.collect::<Vec<_>>().join(", ")
}

/// `93 %`
pub(super) fn share(carrier: &Carrier) -> String {
    Unit::Share.show(carrier.share_pct)
}

/// Counts, by verdict, the rows that can be reproduced.
pub(super) fn reproduced(findings: &[Finding]) -> String {
    let banded = || findings.iter().filter(|finding| finding.claim.band.is_some());
    let count = |verdict| banded().filter(|finding| finding.verdict == verdict).count();
    let mut text = format!("{} of {} rows are reproduced", count(Verdict::Reproduced), banded().count());
    for verdict in [Verdict::InBand, Verdict::Direction, Verdict::NotReproduced] {
        match count(verdict) {
            0 => {}
            rows => text.push_str(&format!(", {rows} {}", verdict.word())),
        }
    }
    text + "."
}
