//! A second path in real time: our programs and the kernel's TCP over a path that shares no code with ours.
//!
//! The first path consists of our own hops, drivers and clocks; a bug in these would affect both sides of its comparison. Here
//! the path is the yardstick's emulator, the sender is the program that users run (`longhaul send`), the receiver is the kernel
//! or `longhaul serve`, and goodput is measured at the receiver. Runs are interleaved, so that disturbances by the machine affect
//! all arms alike. Before a cell is measured, datagrams measure the path.

mod cell;
mod rig;

use crate::interrupt::Interrupt;
use crate::turn::Turn;
use lab::results::stats::{Comparison, compare};
use rig::{Program, Rig};

pub use cell::{Arm, Cell};
pub use rig::{Check, Outcome, Seen};

/// The path may differ from the request by this fraction.
const TOLERANCE: f64 = 0.01;

/// Number of attempts of a failing check: the machine may have been busy.
const CHECKS: u32 = 3;

/// A cell with all its measurements.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The path.
    pub cell: Cell,
    /// The measurement of the path by datagrams.
    pub check: Check,
    /// For each arm, run by run.
    pub outcomes: [Vec<Outcome>; 3],
}

impl Measured {
    /// Median ratio to the kernel's goodput, and its interval.
    pub fn ratio(&self, arm: usize) -> Option<Comparison> {
        let of = |arm: usize| self.outcomes[arm].iter().map(|outcome| outcome.goodput_mbps);
        compare(&of(arm).zip(of(0)).collect::<Vec<_>>())
    }

    fn is_as_asked(check: &Check, cell: &Cell) -> bool {
        let near = |measured: f64, asked: f64| (measured / asked - 1.0).abs() <= TOLERANCE;
        near(check.rate_mbps, cell.rate_bps as f64 / 1e6) && near(check.delay_ms, cell.delay_ms())
    }
}

/// What is measured over every cell.
#[derive(Clone, Debug)]
pub struct Order {
    /// The paths.
    pub cells: Vec<Cell>,
    /// Runs of each arm in each cell.
    pub runs: u32,
    /// Payload of a transfer.
    pub bytes: u64,
    /// Whether to keep one processor busy during the runs.
    pub busy: bool,
}

impl Order {
    /// Returns the number of steps of the whole measurement.
    pub fn steps(&self) -> u64 {
        (self.cells.len() * (Arm::ALL.len() * self.runs as usize + 1)) as u64
    }
}

/// What goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A step of this name begins.
    Begins(String),
    /// It is done.
    Done,
}

/// Measures every cell, and reports progress.
///
/// # Errors
/// If a run fails or the program was asked to end.
pub fn measure(order: &Order, interrupt: &Interrupt, progress: &dyn Fn(Step)) -> Result<Vec<Measured>, String> {
    let _turn = Turn::take(interrupt).map_err(|failure| failure.to_string())?;
    let spin = || Program::start(None, &["yardstick", "spin"], interrupt);
    let _busy = order.busy.then(spin).transpose()?;
    let mut measured = Vec::new();
    for cell in &order.cells {
        progress(Step::Begins(cell.name.clone()));
        measured.push(Measured { cell: cell.clone(), check: check(cell, interrupt)?, outcomes: Default::default() });
        progress(Step::Done);
    }
    for run in 0..order.runs as usize {
        for measured in &mut measured {
            // The arms rotate, so that none always runs after the same other one.
            for index in (0..Arm::ALL.len()).map(|step| (step + run) % Arm::ALL.len()) {
                let arm = Arm::ALL[index];
                progress(Step::Begins(format!("{} {}", measured.cell.name, arm.name())));
                let rig = Rig::build(&measured.cell, interrupt)?;
                measured.outcomes[index].push(rig.transfer(&measured.cell, arm, order.bytes)?);
                progress(Step::Done);
            }
        }
    }
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

    #[test]
    fn the_path_has_to_be_within_a_per_cent() {
        let cell: Cell = "20ms@100Mbit".parse().unwrap();
        let check = |rate_mbps, delay_ms| Check { rate_mbps, delay_ms, seen: Seen::default() };
        assert!(Measured::is_as_asked(&check(99.1, 10.2), &cell));
        assert!(!Measured::is_as_asked(&check(98.9, 10.12), &cell));
        assert!(!Measured::is_as_asked(&check(100.0, 10.23), &cell));
    }
}
