//! `longhaul fidelity --path second`: the crate `realtime` makes the measurement.

use super::args::FidelityArgs;
use super::second_table as table;
use super::table::Page;
use crate::failure::Failure;
use crate::output::{self, RowFormat};
use crate::progress;
use lab::run::stamp;
use realtime::second::{Cell, Order, Step, measure};
use realtime::{Interrupt, NetnsBackend, remove_leftovers};

/// Runs the command.
///
/// # Errors
/// If a privilege is missing, a run fails, or the path differs from the request.
pub fn run(args: &FidelityArgs) -> Result<(), Failure> {
    const RUNS: u32 = 8;
    let runs = args.iterations.unwrap_or(RUNS);
    let cells = if args.cells.is_empty() { Cell::default_cells() } else { args.cells.clone() };
    let page = args.write.as_deref().map(|path| Page::read(path, "fidelity-second")).transpose()?;
    remove_leftovers().map_err(Failure::usage)?;
    let interrupt = Interrupt::catch("interrupted: nothing is kept".to_owned())
        .map_err(|error| Failure::Failed(format!("signals: {error}")))?;
    let order = Order { cells, runs, bytes: args.bytes, busy: args.busy };
    let bar = progress::bar(order.steps(), "{pos}/{len} {msg} {eta} left");
    let measured = measure(&order, &interrupt, &|step| match step {
        Step::Begins(name) => bar.set_message(name),
        Step::Done => bar.inc(1),
    });
    if measured.is_ok() {
        bar.finish_and_clear();
    }
    interrupt.obey();
    let measured = measured.map_err(Failure::Failed)?;
    let written = output::write(&match args.format {
        RowFormat::Table => table::for_people(&measured),
        RowFormat::Jsonl => table::jsonl(&measured),
    });
    page.map_or(Ok(()), |page| page.replace(&table::markdown(&measured, &headline(args, runs))))?;
    written
}

/// Describes how the table was made, below the stamp of its behaviour.
fn headline(args: &FidelityArgs, runs: u32) -> String {
    let mark = stamp::mark(["longhaul"], stamp::Devices::Both);
    let busy = if args.busy { ", one processor kept busy" } else { "" };
    format!("{mark}\n{runs} interleaved runs of {} MB, {}{busy}", args.bytes / 1_000_000, NetnsBackend::maker())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_on_the_page_has_a_mark_of_its_own() {
        let args = FidelityArgs { bytes: 32_000_000, ..crate::fidelity::tests::args(8) };
        let text = table::markdown(&[], &headline(&args, 8));
        let mark = stamp::mark(["longhaul"], stamp::Devices::Both);
        assert!(text.starts_with(&format!("{mark}\n8 interleaved runs of 32 MB, netns on kernel ")), "{text}");
    }
}
