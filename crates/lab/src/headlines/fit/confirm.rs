//! Judges candidates as the page judges the profiles as they are: with all runs, and with intervals.

use super::sample::Levels;
use super::space::Space;
use super::trials::{Effort, Error, Maker, Trials, World};
use crate::headlines::claim::{Claim, Measure, Verdict};
use crate::headlines::judge;

/// A candidate with all runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Confirmed {
    /// The settings, the experiments' first.
    pub levels: Vec<Levels>,
    /// What became of each row.
    pub rows: Vec<Confirmation>,
}

/// A row's number with all runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Confirmation {
    /// In the row's unit; `None` where a run failed.
    pub number: Option<f64>,
    /// The 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// What that says.
    pub verdict: Verdict,
}

impl Confirmed {
    /// Returns how many rows are reproduced.
    pub fn reproduced(&self) -> usize {
        self.rows.iter().filter(|row| row.verdict == Verdict::Reproduced).count()
    }

    /// Returns what it changes, as group, parameter and value.
    pub fn changes<'s>(&self, space: &'s Space) -> Vec<(&'s str, &'s str, &'s str)> {
        let groups = space.groups().zip(&self.levels);
        let moved = groups.flat_map(|(group, levels)| {
            let parameters = group.parameters.iter().zip(levels).filter(|(parameter, level)| **level != parameter.now);
            parameters.map(|(parameter, level)| {
                (group.name.as_str(), parameter.name.as_str(), parameter.values[*level].as_str())
            })
        });
        moved.collect()
    }
}

/// Makes all runs of a candidate, and judges every row.
///
/// # Errors
/// When a result cannot be written.
pub fn confirm(
    levels: Vec<Levels>,
    rows: &[&'static Claim],
    trials: &mut Trials<'_>,
    maker: &mut Maker<'_>,
) -> Result<Confirmed, Error> {
    let settings = levels[1..].iter().map(|levels| vec![levels.clone()]).collect();
    let mut made = trials.make(&World { levels: levels[0].clone(), settings }, Effort::Page, maker)?;
    let of_row = |claim: &&'static Claim| {
        let (number, interval) = match claim.measure {
            Measure::Runs(estimate) => {
                let own = made.iter_mut().find(|made| made.study.name == estimate.study.name);
                let runs = own.expect("the studies of all rows are made").combined(&|_| Some(0));
                (estimate.of(&runs.once()).map(|value| value.number), judge::interval_of(&estimate, runs))
            }
            Measure::Examples(count) => {
                let number = count().0 as f64;
                (Some(number), Some((number, number)))
            }
        };
        let verdict = claim.band.map_or(Verdict::Reported, |band| band.judge(claim.unit, number, interval));
        Confirmation { number, interval, verdict }
    };
    let rows = rows.iter().map(of_row).collect();
    Ok(Confirmed { levels, rows })
}
