//! The objective: one number for a setting beside a reference, declared before anything was tuned, and the bounds that a setting must keep.
//!
//! A run's figure is the logarithm of its efficiency (ideal time / time) over the reference's on the same seed; a cell's figure is the mean
//! over seeds, and the objective the mean over cells, experiments weighing the same. Means of logarithms, because of two
//! settings the reference then cancels out: what one gains over the other is the mean of paired differences, without the
//! reference's noise. The median over cells would not see what changes a few cells, the worst cell sees only itself; both are reported, and
//! the worst is a bound.

use crate::results::stats;
use crate::results::stats::bootstrap::{self, RESAMPLES};
use crate::run::Measured;
use crate::spec::Point;
use crate::tune::ground::Place;
use crate::tune::trials::Cells;
use base::Rng;
use core::fmt;

/// Percentage points of a cell's bytes that may be sent again beyond the reference's share.
pub const SENT_AGAIN_POINTS: f64 = 2.0;
/// Of what the reference leaves its neighbours, the part that a setting has to leave them.
pub const LEFT_TO_OTHERS: f64 = 0.95;
/// How much less than now a setting may make of the worst cell.
pub const WORST_LESS: f64 = 0.01;

/// By this much a bound may be broken more than now: points, or hundredths of a part.
const SLACK: f64 = 0.1;
/// Stands for the efficiency of a run that got nothing through.
const NOTHING: f64 = 1e-4;
/// Of all, in millionths.
const MILLION: f64 = 1e6;

/// What a setting's runs say.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// The objective, a logarithm.
    pub objective: f64,
    /// Each cell's figure, a logarithm.
    pub cells: Vec<f64>,
    /// The median of them.
    pub median: f64,
    /// The cell with the least.
    pub worst: usize,
    /// Per cent of all bytes that were sent again, cells weighted as in the objective.
    pub sent_again_pct: f64,
    /// By how much each cell is beyond each bound: points sent again, hundredths of what neighbours lack.
    excess: Vec<[f64; 2]>,
    /// Runs that failed.
    pub failed: usize,
}

/// What a setting gains over another.
#[derive(Clone, Debug, PartialEq)]
pub struct Gain {
    /// The mean of the paired differences of the logarithms, weighted as in the objective.
    pub gain: f64,
    /// The interval that holds 95 % of what comes out when the seeds are drawn again; `None` where there are too few, or none is drawn.
    pub interval: Option<(f64, f64)>,
    /// Each cell's.
    pub cells: Vec<f64>,
}

/// A bound that a setting breaks, and the profile as it is does not.
#[derive(Clone, Debug, PartialEq)]
pub enum Broken {
    /// Runs that did not come to their end.
    Failed(usize),
    /// The cell in which too much is sent again, and the points beyond the bound.
    SentAgain(String, f64),
    /// The cell whose neighbours get too little, and the per cent that they lack.
    Neighbours(String, f64),
    /// The worst cell, which is worse than that of the profile as it is.
    Worst(String),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(runs) => write!(f, "{runs} runs failed"),
            Self::SentAgain(cell, points) => write!(f, "sends {points:.1} points more again than allowed in {cell}"),
            Self::Neighbours(cell, lack) => write!(f, "leaves neighbours {lack:.1} % less than allowed in {cell}"),
            Self::Worst(cell) => write!(f, "a worst cell below that of now, {cell}"),
        }
    }
}

/// Scores the runs of a setting beside the reference's; both by the cells of the ground.
pub fn score(places: &[Place], own: &Cells, reference: &Cells) -> Score {
    let cells: Vec<f64> = (0..places.len()).map(|at| figure(&places[at].point, &own[at], &reference[at])).collect();
    let worst = (0..cells.len()).min_by(|a, b| cells[*a].total_cmp(&cells[*b])).unwrap_or(0);
    let excess = own.iter().zip(reference).map(|(own, reference)| {
        let more = sent_again(own) - sent_again(reference) - SENT_AGAIN_POINTS;
        let left = ratio(left_to_others(own), left_to_others(reference));
        [more.max(0.0), (LEFT_TO_OTHERS - left).max(0.0) * 100.0]
    });
    Score {
        objective: weighted(places, &cells),
        median: stats::median(&cells).unwrap_or(0.0),
        worst,
        sent_again_pct: weighted(places, &own.iter().map(|runs| sent_again(runs)).collect::<Vec<_>>()),
        excess: excess.collect(),
        failed: own.iter().flatten().filter(|run| run.is_none()).count(),
        cells,
    }
}

impl Score {
    /// Returns what the setting breaks that the profile as it is keeps.
    pub fn breaks(&self, places: &[Place], now: &Self) -> Vec<Broken> {
        let name = |cell: usize| place(&places[cell]);
        let most = |bound: usize| {
            let beyond = |cell: &usize| self.excess[*cell][bound] - now.excess[*cell][bound];
            let cell = (0..places.len()).max_by(|a, b| beyond(a).total_cmp(&beyond(b)))?;
            (beyond(&cell) > SLACK).then(|| (name(cell), self.excess[cell][bound]))
        };
        let worse = self.cells[self.worst] < now.cells[now.worst] + libm::log(1.0 - WORST_LESS);
        let failed = (self.failed > now.failed).then_some(Broken::Failed(self.failed));
        let sent = most(0).map(|(cell, points)| Broken::SentAgain(cell, points));
        let others = most(1).map(|(cell, lack)| Broken::Neighbours(cell, lack));
        let worst = worse.then(|| Broken::Worst(name(self.worst)));
        failed.into_iter().chain(sent).chain(others).chain(worst).collect()
    }

    /// Returns the number of cells beyond a bound.
    pub fn beyond(&self) -> usize {
        self.excess.iter().filter(|excess| excess.iter().any(|beyond| *beyond > 0.0)).count()
    }
}

/// Returns what one setting gains over another. The interval draws the seeds of each cell anew.
pub fn gain(places: &[Place], own: &Cells, other: &Cells) -> Gain {
    let pairs: Vec<Vec<f64>> =
        (0..places.len()).map(|at| differences(&places[at].point, &own[at], &other[at])).collect();
    let cells: Vec<f64> = pairs.iter().map(|pairs| mean(pairs)).collect();
    let varies = |pairs: &Vec<f64>| pairs.iter().any(|one| *one != pairs[0]);
    let enough = places.iter().zip(&pairs).all(|(place, pairs)| place.once || pairs.len() >= bootstrap::MIN_SEEDS);
    let interval = (enough && pairs.iter().any(varies)).then(|| {
        let mut rng = Rng::new(0).fork("tune");
        let mut again = || {
            let anew: Vec<f64> = pairs
                .iter()
                .zip(&cells)
                .map(|(pairs, known)| match varies(pairs) {
                    true => {
                        bootstrap::resample(pairs.len(), &mut rng).iter().map(|at| pairs[*at]).sum::<f64>()
                            / pairs.len() as f64
                    }
                    false => *known,
                })
                .collect();
            weighted(places, &anew)
        };
        let drawn: Vec<f64> = (0..RESAMPLES).map(|_| again()).collect();
        bootstrap::bounds(&drawn).expect("there are samples")
    });
    Gain { gain: weighted(places, &cells), interval, cells }
}

/// Returns a logarithm of a ratio as per cent above one.
pub fn percent(logarithm: f64) -> f64 {
    (libm::exp(logarithm) - 1.0) * 100.0
}

/// The cell of an experiment, in words.
pub fn place(place: &Place) -> String {
    format!("{} {}", place.experiment, place.cell).trim_end().to_owned()
}

fn weighted(places: &[Place], cells: &[f64]) -> f64 {
    places.iter().zip(cells).map(|(place, cell)| place.weight * cell).sum()
}

fn figure(point: &Point, own: &[Option<Measured>], reference: &[Option<Measured>]) -> f64 {
    mean(&differences(point, own, reference))
}

/// Differences of the logarithms, seed by seed.
fn differences(point: &Point, own: &[Option<Measured>], other: &[Option<Measured>]) -> Vec<f64> {
    let efficiency = |run: &Measured| libm::log(run.efficiency(point).max(NOTHING));
    let pairs = own.iter().zip(other);
    pairs.filter_map(|(own, other)| Some(efficiency(own.as_ref()?) - efficiency(other.as_ref()?))).collect()
}

fn mean(values: &[f64]) -> f64 {
    stats::mean(values).unwrap_or(0.0)
}

/// Per cent of the bytes of these runs that were sent again.
fn sent_again(runs: &[Option<Measured>]) -> f64 {
    let sum = |of: fn(&Measured) -> Option<u64>| runs.iter().flatten().filter_map(of).sum::<u64>() as f64;
    sum(|run| run.bytes_retransmitted) / sum(|run| run.bytes_sent).max(1.0) * 100.0
}

/// What is left to others, summed over runs, in millionths; nothing where a flow is alone.
fn left_to_others(runs: &[Option<Measured>]) -> f64 {
    runs.iter().flatten().filter_map(|run| run.company).map(|company| MILLION - company.share_ppm as f64).sum()
}

/// The quotient; one of nothing.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 1.0 }
}
