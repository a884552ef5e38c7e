//! `cargo xtask attacks`: the cost of strangers' packets in instructions, memory and lost service; writes the table in
//! `docs/SECURITY.md`.
//!
//! The bench `attacks` of `tcp` delivers each packet in a separate function. Callgrind counts only that function and closes a
//! part of its output after each call, so that both the mean and the most expensive packet are known.

use crate::needs;
use crate::runner::{Failure, Outcome, capture, cargo, root};
use serde_json::Value;
use std::fs;
use std::process::Command;

const PAGE: &str = "docs/SECURITY.md";
const BEGIN: &str = "<!-- written by `cargo xtask attacks` -->\n";
const END: &str = "<!-- end -->\n";
/// The function that callgrind counts.
const COUNTED: &str = "attacks::attack_packet";

/// What a reader needs to know about an attack: its name in the bench, what is sent, and the limit with its setting.
const ROWS: [(&str, &str, &str); 9] = [
    ("syn", "SYNs from ever new sources", "backlog + 1 handshakes; then cookies (`cookies`)"),
    ("syn-timestamps", "the same with timestamps", "backlog + 1 handshakes; then cookies (`cookies`)"),
    ("ack", "ACKs that guess cookies", "two hashes a guess; resets (`resets_per_second`)"),
    ("closed-port", "SYNs to a closed port", "`resets_per_second`, `replies_max`"),
    ("one-byte-holes", "single bytes with gaps", "`blocks_max` per connection, `memory_max`"),
    ("joining-holes", "segments that join such bytes", "searches of one tree: visits grow with log₂(`blocks_max`)"),
    ("far-bytes", "bytes far apart, 24 connections", "a page of 2 KiB each, `memory_max`"),
    ("time-wait", "connections left in TIME-WAIT", "`time_wait_max`"),
    ("orphans", "closed windows after our close", "`orphans_max`, `orphan_time`"),
];

/// What was counted of one attack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Count {
    packets: u64,
    mean: u64,
    /// The highest mean over a millisecond's packets in a row.
    worst_ms: u64,
    worst: u64,
    /// Most memory that counted against the budget, in bytes.
    memory: u64,
}

/// Builds the bench, counts every attack, plays honest peers, and writes the page.
pub fn run() -> Outcome {
    needs::provide_valgrind()?;
    let program = build()?;
    let listed = text(&mut Command::new(&program))?;
    let mut lines = String::from(
        "| Attack | Bound | Memory, bytes | Instructions per packet, mean | worst ms | worst | Share of 3·10⁹ at 100,000/s, mean | worst ms | worst |\n\
         |---|---|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for name in listed.lines() {
        let row = ROWS.iter().find(|row| row.0 == name);
        let (_, what, bound) =
            row.ok_or_else(|| Failure::Failed(format!("attack `{name}` has no row in attacks.rs")))?;
        lines.push_str(&line(what, bound, &counted(&program, name)?));
    }
    let beside = text(Command::new(&program).arg("beside"))?;
    let table = format!("{lines}\nBeside 100,000 spoofed SYNs a second, in virtual time:\n\n```text\n{beside}```\n");
    let path = root().join(PAGE);
    let failed = |error: std::io::Error| Failure::Failed(format!("{PAGE}: {error}"));
    let page = fs::read_to_string(&path).map_err(failed)?;
    let page =
        with_table(&page, &table).ok_or_else(|| Failure::Failed(format!("{PAGE} has no place for the table")))?;
    print!("{table}");
    fs::write(&path, page).map_err(failed)
}

/// Builds the bench and returns its path.
fn build() -> Result<String, Failure> {
    let output = capture(&mut cargo(&[
        "bench",
        "--no-run",
        "--quiet",
        "--package",
        "longhaul-tcp",
        "--bench",
        "attacks",
        "--message-format=json",
    ]))?;
    let lines = String::from_utf8_lossy(&output);
    let found = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).find_map(|message| {
        let wanted = message.pointer("/target/name").and_then(Value::as_str) == Some("attacks");
        message["executable"].as_str().filter(|_| wanted).map(str::to_owned)
    });
    found.ok_or_else(|| Failure::Failed("cargo named no executable for the bench `attacks`".to_owned()))
}

fn text(command: &mut Command) -> Result<String, Failure> {
    capture(command).map(|output| String::from_utf8_lossy(&output).into_owned())
}

/// Runs one attack under callgrind.
fn counted(program: &str, name: &str) -> Result<Count, Failure> {
    let out = root().join("target").join(format!("attacks.{name}.out"));
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--tool=callgrind", "--combine-dumps=yes", "--collect-atstart=no"]);
    command.arg(format!("--callgrind-out-file={}", out.display()));
    command.args([format!("--toggle-collect={COUNTED}"), format!("--dump-after={COUNTED}")]);
    let written = text(command.args([program, "packets", name]))?;
    let failed = |error: std::io::Error| Failure::Failed(format!("{}: {error}", out.display()));
    let parts = fs::read_to_string(&out).map_err(failed)?;
    fs::remove_file(&out).map_err(failed)?;
    let memory = written.trim().strip_prefix("memory ").and_then(|bytes| bytes.parse().ok());
    let memory =
        memory.ok_or_else(|| Failure::Failed(format!("`attacks packets {name}` wrote no memory: {written}")))?;
    match count(&parts) {
        Some(count) => Ok(Count { memory, ..count }),
        None => Err(Failure::Failed(format!("callgrind counted no packet of `{name}`"))),
    }
}

/// Packets in a millisecond, at 100,000 a second.
const MILLISECOND: usize = 100;

/// Mean, highest mean over a millisecond, and maximum over the parts of callgrind's output; the part after the last packet is empty.
fn count(parts: &str) -> Option<Count> {
    let totals = parts.lines().filter_map(|line| line.strip_prefix("totals: ")?.trim().parse::<u64>().ok());
    let totals: Vec<u64> = totals.filter(|total| *total > 0).collect();
    let packets = totals.len() as u64;
    let mean = totals.iter().sum::<u64>().checked_div(packets)?;
    let in_a_row = MILLISECOND.min(totals.len());
    let worst_ms = totals.windows(in_a_row).map(|row| row.iter().sum::<u64>() / in_a_row as u64).max()?;
    Some(Count { packets, mean, worst_ms, worst: totals.into_iter().max()?, memory: 0 })
}

fn line(what: &str, bound: &str, count: &Count) -> String {
    let share = |instructions: u64| {
        let permille = instructions * 100_000 / 3_000_000;
        format!("{}.{} %", permille / 10, permille % 10)
    };
    let Count { mean, worst_ms, worst, memory, .. } = *count;
    let [of_mean, of_ms, of_worst] = [mean, worst_ms, worst].map(share);
    format!("| {what} | {bound} | {memory} | {mean} | {worst_ms} | {worst} | {of_mean} | {of_ms} | {of_worst} |\n")
}

/// The page with another table.
fn with_table(page: &str, table: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, behind) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{table}\n{END}{behind}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_expensive_packet_is_shown_beside_the_mean() {
        let parts = "part: 1\ntotals: 100\npart: 2\ntotals: 300\npart: 3\ntotals: 0\n";
        assert_eq!(count(parts), Some(Count { packets: 2, mean: 200, worst_ms: 200, worst: 300, memory: 0 }));
        assert_eq!(count("totals: 0\n"), None);
    }

    #[test]
    fn a_millisecond_is_the_dearest_hundred_packets_in_a_row() {
        let cost = |n: u64| if (50..150).contains(&n) { 900 } else { 100 };
        let parts: String = (0..300).map(|n| format!("totals: {}\n", cost(n))).collect();
        assert_eq!(count(&parts).map(|count| count.worst_ms), Some(900));
    }

    #[test]
    fn shares_are_of_what_a_processor_executes_in_a_second() {
        let count = Count { packets: 1, mean: 3_000, worst_ms: 4_500, worst: 6_000, memory: 7 };
        assert_eq!(line("a", "b", &count), "| a | b | 7 | 3000 | 4500 | 6000 | 10.0 % | 15.0 % | 20.0 % |\n");
    }

    #[test]
    fn only_the_table_is_replaced() {
        let page = format!("before\n{BEGIN}old\n{END}behind\n");
        assert_eq!(with_table(&page, "new\n"), Some(format!("before\n{BEGIN}\nnew\n\n{END}behind\n")));
        assert_eq!(with_table("nothing", "new"), None);
    }
}
