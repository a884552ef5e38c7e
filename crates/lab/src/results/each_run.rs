//! The numbers of single runs whose medians rows hold, for distributions.

use crate::plan::{Plan, RunSpec};
use crate::results::rounded::rounded;
use crate::run::{Finished, Measured};

/// One run of an arm in a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EachRun {
    /// Which cell of the plan.
    pub cell: usize,
    /// Which arm of the plan.
    pub arm: usize,
    /// Which run of the arm in the cell, from one.
    pub iteration: u32,
    /// The seed of its random streams.
    pub seed: u64,
    /// Payload bits over the time from the first SYN to the last byte read.
    pub goodput_mbps: f64,
    /// From the first SYN sent until the last byte read.
    pub elapsed_ms: f64,
    /// The wait at the bottleneck that 95 of 100 packets do not exceed; `None` for a run of one flow.
    pub wait_p95_ms: Option<f64>,
}

/// Returns every run that succeeded, in the order of the plan.
pub fn each_run(plan: &Plan, finished: &Finished) -> Vec<EachRun> {
    let runs = plan.runs.iter().zip(&finished.measured);
    let of_run = |(run, measured): (&RunSpec, &Option<Measured>)| {
        let measured = measured.as_ref()?;
        Some(EachRun {
            cell: run.cell,
            arm: run.arm,
            iteration: run.iteration,
            seed: run.seed,
            goodput_mbps: rounded(measured.goodput_mbps()),
            elapsed_ms: rounded(measured.elapsed_ms(&run.point)),
            wait_p95_ms: measured.wait_p95_ms(&run.point).map(rounded),
        })
    };
    runs.filter_map(of_run).collect()
}
