//! `longhaul fidelity --path second`: our programs and the kernel's TCP over a path that shares no code with ours.
//!
//! The first path is made of our own hops, drivers and clocks; a mistake in these would be in both sides of its comparison.
//! Here the path is the yardstick's emulator, the sender is the program that everybody runs (`longhaul send`), the
//! receiver is the kernel or `longhaul serve`, and goodput is what the receiver saw. Runs are interleaved: what else the
//! machine does meets all arms alike. Before a cell is measured, datagrams measure the path.

mod rig;
mod table;

use super::table::Page;
use super::{FidelityArgs, Format};
use crate::failure::Failure;
use crate::output;
use indicatif::{ProgressBar, ProgressStyle};
use lab::results::stats::{Comparison, compare};
use lab::run::stamp;
use realtime::{Interrupt, NetnsBackend, Turn, remove_leftovers};
use rig::{Check, Outcome, Program, Rig};
use std::str::FromStr;

/// The path may differ from what was asked for by this share.
const TOLERANCE: f64 = 0.01;

/// A check that fails is made again this often: the machine may have been away.
const CHECKS: u32 = 3;

/// Round trips and rates of the experiments, and two that no experiment has.
const CELLS: [&str; 6] =
    ["25ms@100Mbit", "50ms@100Mbit", "100ms@100Mbit", "200ms@100Mbit", "37ms@60Mbit", "130ms@35Mbit"];

/// A path: a round-trip time and a rate, with a buffer of one product of both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    name: String,
    rtt_us: u64,
    rate_bps: u64,
}

impl Cell {
    fn buffer_bytes(&self) -> u64 {
        self.rate_bps * self.rtt_us / 8_000_000
    }

    /// One way through the empty path, for a packet of 1500 bytes, milliseconds.
    fn delay_ms(&self) -> f64 {
        self.rtt_us as f64 / 2e3 + 12e6 / self.rate_bps as f64
    }

    fn default_cells() -> Vec<Self> {
        CELLS.iter().map(|cell| cell.parse().expect("it is well-formed")).collect()
    }
}

impl FromStr for Cell {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (rtt, rate) = text.split_once('@').ok_or_else(|| format!("`{text}`: write for example `37ms@60Mbit`"))?;
        let (rtt, rate) = (profiles::units::duration(rtt)?, profiles::units::rate(rate)?);
        let cell = Self { name: text.to_owned(), rtt_us: rtt.as_nanos() / 1_000, rate_bps: rate.bits_per_sec() };
        if cell.buffer_bytes() < 3_000 {
            return Err(format!("`{text}`: a buffer of one product holds no two packets; choose more of either"));
        }
        Ok(cell)
    }
}

/// What is at the ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arm {
    /// The kernel's CUBIC at both: the reference.
    Kernel,
    /// `longhaul send` to the kernel.
    Send,
    /// `longhaul send` to `longhaul serve`.
    SendServe,
}

impl Arm {
    const ALL: [Self; 3] = [Self::Kernel, Self::Send, Self::SendServe];

    const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel:cubic",
            Self::Send => "send",
            Self::SendServe => "send, serve",
        }
    }
}

/// A cell with all that was measured in it.
struct Measured {
    cell: Cell,
    check: Check,
    /// For each arm, run by run.
    outcomes: [Vec<Outcome>; 3],
}

impl Measured {
    /// Median ratio to the kernel's goodput, and its interval.
    fn ratio(&self, arm: usize) -> Option<Comparison> {
        let of = |arm: usize| self.outcomes[arm].iter().map(|outcome| outcome.goodput_mbps);
        compare(&of(arm).zip(of(0)).collect::<Vec<_>>())
    }

    fn is_as_asked(check: &Check, cell: &Cell) -> bool {
        let near = |measured: f64, asked: f64| (measured / asked - 1.0).abs() <= TOLERANCE;
        near(check.rate_mbps, cell.rate_bps as f64 / 1e6) && near(check.delay_ms, cell.delay_ms())
    }
}

/// Runs the command.
///
/// # Errors
/// When a privilege is missing, a run fails, or the path is not what was asked for.
pub fn run(args: &FidelityArgs) -> Result<(), Failure> {
    const RUNS: u32 = 8;
    let runs = args.iterations.unwrap_or(RUNS);
    let cells = if args.cells.is_empty() { Cell::default_cells() } else { args.cells.clone() };
    let page = args.write.as_deref().map(|path| Page::read(path, "fidelity-second")).transpose()?;
    remove_leftovers().map_err(Failure::usage)?;
    let interrupt = Interrupt::catch("interrupted: nothing is kept".to_owned())
        .map_err(|error| Failure::Failed(format!("signals: {error}")))?;
    let measured = measure(args, &cells, runs, &interrupt);
    interrupt.obey();
    let measured = measured.map_err(Failure::Failed)?;
    let told = output::write(&match args.format {
        Format::Table => table::for_people(&measured),
        Format::Jsonl => table::jsonl(&measured),
    });
    page.map_or(Ok(()), |page| page.replace(&table::markdown(&measured, &headline(args, runs))))?;
    told
}

/// What made the table, below the stamp of the behaviour that it shows.
fn headline(args: &FidelityArgs, runs: u32) -> String {
    let mark = stamp::mark(["longhaul"], stamp::Devices::Both);
    let busy = if args.busy { ", one processor kept busy" } else { "" };
    format!("{mark}\n{runs} interleaved runs of {} MB, {}{busy}", args.bytes / 1_000_000, NetnsBackend::maker())
}

fn measure(args: &FidelityArgs, cells: &[Cell], runs: u32, interrupt: &Interrupt) -> Result<Vec<Measured>, String> {
    let _turn = Turn::take(interrupt).map_err(|failure| failure.to_string())?;
    let spin = || Program::start(None, &["yardstick", "spin"], interrupt);
    let _busy = args.busy.then(spin).transpose()?;
    let bar = ProgressBar::new((cells.len() * (Arm::ALL.len() * runs as usize + 1)) as u64);
    bar.set_style(ProgressStyle::with_template("{bar:40} {pos}/{len} {msg} {eta}").expect("the template is right"));
    let mut measured = Vec::new();
    for cell in cells {
        bar.set_message(cell.name.clone());
        measured.push(Measured { cell: cell.clone(), check: check(cell, interrupt)?, outcomes: Default::default() });
        bar.inc(1);
    }
    for run in 0..runs as usize {
        for measured in &mut measured {
            // The arms rotate, so that none always runs behind the same other one.
            for index in (0..Arm::ALL.len()).map(|step| (step + run) % Arm::ALL.len()) {
                let arm = Arm::ALL[index];
                bar.set_message(format!("{} {}", measured.cell.name, arm.name()));
                measured.outcomes[index].push(Rig::build(&measured.cell, interrupt)?.transfer(
                    &measured.cell,
                    arm,
                    args.bytes,
                )?);
                bar.inc(1);
            }
        }
    }
    bar.finish_and_clear();
    Ok(measured)
}

/// The path, measured by datagrams.
fn check(cell: &Cell, interrupt: &Interrupt) -> Result<Check, String> {
    let mut checks = 0;
    loop {
        let check = Rig::build(cell, interrupt)?.check(cell)?;
        checks += 1;
        if Measured::is_as_asked(&check, cell) {
            return Ok(check);
        }
        if checks == CHECKS {
            let (rate, delay) = (cell.rate_bps as f64 / 1e6, cell.delay_ms());
            return Err(format!(
                "{}: datagrams went through at {:.2} Mbit/s in {:.3} ms instead of at {rate:.2} in {delay:.3}: the machine \
                 is too busy to emulate this path within 1 %",
                cell.name, check.rate_mbps, check.delay_ms
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig::Seen;

    #[test]
    fn a_cell_is_a_round_trip_and_a_rate() {
        let cell: Cell = "37ms@60Mbit".parse().unwrap();
        assert_eq!((cell.rtt_us, cell.rate_bps, cell.buffer_bytes()), (37_000, 60_000_000, 277_500));
        assert!((cell.delay_ms() - 18.7).abs() < 1e-9);
        assert!("37ms".parse::<Cell>().is_err() && "1ms@1Mbit".parse::<Cell>().is_err());
        assert_eq!(Cell::default_cells().len(), CELLS.len());
    }

    #[test]
    fn the_table_on_the_page_has_a_mark_of_its_own() {
        let args = FidelityArgs { bytes: 32_000_000, ..crate::fidelity::tests::args(8) };
        let text = table::markdown(&[], &headline(&args, 8));
        let mark = stamp::mark(["longhaul"], stamp::Devices::Both);
        assert!(text.starts_with(&format!("{mark}\n8 interleaved runs of 32 MB, netns on kernel ")), "{text}");
    }

    #[test]
    fn the_path_has_to_be_within_a_per_cent() {
        let cell: Cell = "20ms@100Mbit".parse().unwrap();
        let check = |rate_mbps, delay_ms| Check { rate_mbps, delay_ms, seen: Seen::default() };
        assert!(Measured::is_as_asked(&check(99.1, 10.2), &cell));
        assert!(!Measured::is_as_asked(&check(98.9, 10.12), &cell));
        assert!(!Measured::is_as_asked(&check(100.0, 10.23), &cell));
    }
}
