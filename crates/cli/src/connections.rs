//! `longhaul connections`: the connections of a running `serve` or `proxy`.

use crate::failure::Failure;
use crate::monitor::control;
use crate::output;
use clap::{Args, ValueEnum};
use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use serde_json::Value;
use std::path::PathBuf;

/// Replaces a number that does not exist.
const NOTHING: &str = "–";

/// Arguments of `longhaul connections`.
#[derive(Args, Clone, Debug)]
pub struct ConnectionsArgs {
    /// The socket that the running command was given.
    #[arg(long, value_name = "PATH")]
    control: PathBuf,
    /// How connections are written to stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
}

/// How connections are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Table,
    /// One array of objects; units are the last words of names.
    Json,
}

/// Prints the connections.
///
/// # Errors
/// If no stack answers, or nothing can be written.
pub fn run(args: &ConnectionsArgs) -> Result<(), Failure> {
    let connections = control::ask(&args.control)?;
    output::write(&match args.format {
        Format::Json => format!("{}\n", Value::Array(connections)),
        Format::Table => table(&connections),
    })
}

fn table(connections: &[Value]) -> String {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')));
    table.set_header([
        "id",
        "local",
        "remote",
        "state",
        "RTT ms",
        "cwnd kB",
        "in flight kB",
        "sent kB",
        "received kB",
        "again kB",
    ]);
    for connection in connections {
        let text = |name: &str| connection[name].as_str().unwrap_or(NOTHING).to_owned();
        let thousandths = |name: &str| {
            connection[name].as_f64().map_or(NOTHING.to_owned(), |number| format!("{:.3}", number / 1_000.0))
        };
        let thousands = |name: &str| {
            connection[name].as_f64().map_or(NOTHING.to_owned(), |number| format!("{:.1}", number / 1_000.0))
        };
        table.add_row([
            connection["id"].to_string(),
            text("local"),
            text("remote"),
            text("state"),
            thousandths("srtt_us"),
            thousands("cwnd_bytes"),
            thousands("in_flight_bytes"),
            thousands("bytes_sent"),
            thousands("bytes_received"),
            thousands("bytes_retransmitted"),
        ]);
    }
    for column in [0, 4, 5, 6, 7, 8, 9] {
        table.column_mut(column).expect("there are ten").set_cell_alignment(CellAlignment::Right);
    }
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}
