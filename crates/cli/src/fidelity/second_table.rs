//! Formats the second path's measurements.

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use realtime::second::{Arm, Measured, Outcome};

const HEADER: [&str; 10] =
    ["cell", "arm", "Mbit/s", "vs kernel", "95 %", "again %", "dropped", "lost", "late p99 ms", "max ms"];

/// Returns the lines of one cell, one string per column.
fn lines(measured: &Measured) -> Vec<[String; 10]> {
    let line = |(index, arm): (usize, &Arm)| {
        let outcomes = &measured.outcomes[index];
        let median = |of: &dyn Fn(&Outcome) -> f64| {
            lab::results::stats::median(&outcomes.iter().map(of).collect::<Vec<_>>()).unwrap_or(f64::NAN)
        };
        let most = |of: &dyn Fn(&Outcome) -> f64| outcomes.iter().map(of).fold(0.0, f64::max);
        let ratio = measured.ratio(index).filter(|_| index > 0);
        let interval = ratio.and_then(|ratio| ratio.interval);
        [
            if index == 0 { measured.cell.name.clone() } else { String::new() },
            arm.name().to_owned(),
            format!("{:.2}", median(&|run| run.goodput_mbps)),
            ratio.map_or(String::new(), |ratio| format!("{:.3}", ratio.median_ratio)),
            interval.map_or(String::new(), |(lo, hi)| format!("[{lo:.3}, {hi:.3}]")),
            format!("{:.2}", median(&|run| run.again_pct)),
            format!("{:.0}", median(&|run| run.seen.dropped)),
            format!("{:.0}", most(&|run| run.seen.lost)),
            format!("{:.2}", median(&|run| run.seen.late_p99_ms)),
            format!("{:.2}", most(&|run| run.seen.late_max_ms)),
        ]
    };
    Arm::ALL.iter().enumerate().map(line).collect()
}

fn check_line(measured: &Measured) -> String {
    let (cell, check) = (&measured.cell, &measured.check);
    format!(
        "{}: rate {:.2} of {:.2} Mbit/s, one way {:.3} of {:.3} ms; latest packet {:.2} ms, lost {:.0}",
        cell.name,
        check.rate_mbps,
        cell.rate_bps as f64 / 1e6,
        check.delay_ms,
        cell.delay_ms(),
        check.seen.late_max_ms,
        check.seen.lost,
    )
}

/// Tables for a terminal.
pub(super) fn for_people(all: &[Measured]) -> String {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')));
    table.set_header(HEADER);
    for line in all.iter().flat_map(lines) {
        table.add_row(line);
    }
    for column in 2..HEADER.len() {
        table.column_mut(column).expect("it is there").set_cell_alignment(CellAlignment::Right);
    }
    let checks: Vec<String> = all.iter().map(check_line).collect();
    format!("the path by datagrams:\n{}\n\n{table}\n", checks.join("\n"))
}

/// An object a run.
pub(super) fn jsonl(all: &[Measured]) -> String {
    let mut text = String::new();
    for measured in all {
        for (arm, outcomes) in Arm::ALL.iter().zip(&measured.outcomes) {
            for (run, outcome) in outcomes.iter().enumerate() {
                let seen = outcome.seen;
                let object = serde_json::json!({
                    "cell": measured.cell.name, "arm": arm.name(), "run": run,
                    "goodput_mbps": outcome.goodput_mbps, "again_pct": outcome.again_pct,
                    "dropped": seen.dropped, "lost": seen.lost,
                    "late_p99_ms": seen.late_p99_ms, "late_max_ms": seen.late_max_ms,
                    "check_rate_mbps": measured.check.rate_mbps, "check_delay_ms": measured.check.delay_ms,
                });
                text.push_str(&format!("{object}\n"));
            }
        }
    }
    text
}

/// Formats tables for a page, with a line that describes them.
pub(super) fn markdown(all: &[Measured], headline: &str) -> String {
    let checks: Vec<String> = all.iter().map(|measured| format!("* {}", check_line(measured))).collect();
    let mut text = format!("{headline}. The path by datagrams:\n\n{}\n\n", checks.join("\n"));
    text.push_str(&format!("| {} |\n| --- | --- |{}\n", HEADER.join(" | "), " ---: |".repeat(HEADER.len() - 2)));
    for line in all.iter().flat_map(lines) {
        text.push_str(&format!("| {} |\n", line.join(" | ")));
    }
    text
}
