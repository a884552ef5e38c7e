//! Published results, and the criteria for reproducing them.

use super::estimate::Estimate;
use super::study::Study;
use core::ops::{Bound, RangeBounds};

/// A published result.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// Short and unique id for the command line.
    pub id: &'static str,
    /// The claim, a sentence without its full stop.
    pub claim: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// The number as published.
    pub published: &'static str,
    /// The unit of the measured number.
    pub unit: Unit,
    /// The range of acceptable numbers; `None` if the claim has no criterion.
    pub band: Option<Band>,
    /// How it is measured.
    pub measure: Measure,
    /// The number that means no effect.
    pub nothing: Nothing,
    /// The same without one ingredient each, to show what causes the effect.
    pub ablations: &'static [Ablation],
    /// Further numbers for the texts.
    pub facts: &'static [Fact],
    /// What the traces show. `{name}` stands for a fact, `{measured}` and `{where}` for the row's own.
    pub shows: &'static str,
    /// The reason why the claim does not reproduce, or why it has no criterion; printed unless it reproduces.
    pub reason: &'static str,
}

/// How a number is obtained.
#[derive(Clone, Copy, Debug)]
pub enum Measure {
    /// From runs.
    Runs(Estimate),
    /// From arithmetic: how many of the examples match to the digit.
    Examples(fn() -> (usize, usize)),
}

/// The criteria for a measured number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// The published value: a number that agrees with it counts as reproduced.
    pub published: Published,
    /// In band: a range that we chose.
    pub inside: Range,
    /// The range for the right sign and order, if not inside.
    pub direction: Range,
}

/// What a publication says, in the unit of its row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Published {
    /// A number: reproduced if the effect is within a quarter of the published one.
    Number(f64),
    /// A bound: reproduced if the whole interval satisfies it.
    Bound(Range),
    /// Words without a number, and the range that we read into them: judged like a bound.
    Words(Range),
}

/// Both ends.
pub type Range = (Bound<f64>, Bound<f64>);

/// From `lo` to `hi`, both included.
pub const fn between(lo: f64, hi: f64) -> Range {
    (Bound::Included(lo), Bound::Included(hi))
}

/// From `lo` on.
pub const fn at_least(lo: f64) -> Range {
    (Bound::Included(lo), Bound::Unbounded)
}

/// Up to `hi`.
pub const fn at_most(hi: f64) -> Range {
    (Bound::Unbounded, Bound::Included(hi))
}

/// Above `lo`.
pub const fn above(lo: f64) -> Range {
    (Bound::Excluded(lo), Bound::Unbounded)
}

/// Below `hi`.
pub const fn below(hi: f64) -> Range {
    (Bound::Unbounded, Bound::Excluded(hi))
}

/// What a claim's numbers count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Cells of an experiment.
    Cells,
    /// A difference in per cent.
    Percent,
    /// A share in per cent.
    Share,
    /// A difference of shares.
    Points,
    /// A multiple.
    Times,
    /// Time.
    Milliseconds,
    /// Time on a path.
    RoundTrips,
    /// Megabits in a second.
    Mbit,
    /// Events per 10 MB.
    Per10Mb,
    /// Worked examples.
    Examples,
}

/// The number that means the absence of an effect.
#[derive(Clone, Copy, Debug)]
pub enum Nothing {
    /// By its definition.
    Is(f64),
    /// By measurement.
    Measured(Estimate),
}

/// A claim's number without one ingredient.
#[derive(Clone, Copy, Debug)]
pub struct Ablation {
    /// What is missing.
    pub ingredient: &'static str,
    /// The number then.
    pub without: Estimate,
}

/// A number for a text.
#[derive(Clone, Copy, Debug)]
pub struct Fact {
    /// In braces in the text.
    pub name: &'static str,
    /// How it is measured.
    pub estimate: Estimate,
    /// Decimals shown.
    pub decimals: usize,
}

/// The result of comparing a measurement with a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The published statement holds.
    Reproduced,
    /// It does not hold, but the number lies in the band that we chose.
    InBand,
    /// The right sign and order, outside the band.
    Direction,
    /// Neither.
    NotReproduced,
    /// The claim has no band.
    Reported,
}

impl Verdict {
    /// The word in results.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::InBand => "in band",
            Self::Direction => "direction",
            Self::NotReproduced => "not reproduced",
            Self::Reported => "reported",
        }
    }
}

impl Published {
    /// An effect within this share of the published one reproduces it.
    const TOLERANCE: f64 = 0.25;

    /// Returns whether a number and its 95 % interval reproduce the statement.
    fn holds(&self, unit: Unit, measured: f64, interval: Option<(f64, f64)>) -> bool {
        match self {
            Self::Number(number) => {
                let effect = (number - unit.without_effect()).abs();
                (measured - number).abs() <= effect * Self::TOLERANCE
            }
            Self::Bound(range) | Self::Words(range) => {
                let keeps = |(lo, hi): (f64, f64)| range.contains(&lo) && range.contains(&hi);
                range.contains(&measured) && interval.is_some_and(keeps)
            }
        }
    }

    /// Returns why it does not hold, with the numbers.
    pub(super) fn missed(&self, unit: Unit, measured: f64, interval: Option<(f64, f64)>) -> String {
        match self {
            Self::Number(number) => {
                let share = (measured - unit.without_effect()) / (number - unit.without_effect());
                let share = Unit::Share.show(share * 100.0);
                format!("The measured effect is {share} of the published one; 75 to 125 % would reproduce it.")
            }
            Self::Bound(range) | Self::Words(range) => {
                let bound = in_words(*range, unit);
                let found = interval.map_or_else(
                    || format!("{} has no interval", unit.show(measured)),
                    |(lo, hi)| format!("the interval is {} to {}", unit.show(lo), unit.show(hi)),
                );
                format!("The bound {bound} does not hold: {found}.")
            }
        }
    }
}

impl Band {
    /// Judges a number and its 95 % interval; without a number the claim is not reproduced.
    pub fn judge(&self, unit: Unit, measured: Option<f64>, interval: Option<(f64, f64)>) -> Verdict {
        match measured {
            Some(number) if self.published.holds(unit, number, interval) => Verdict::Reproduced,
            Some(number) if self.inside.contains(&number) => Verdict::InBand,
            Some(number) if self.direction.contains(&number) => Verdict::Direction,
            _ => Verdict::NotReproduced,
        }
    }

    /// The numbers in the band, in words.
    pub fn text(&self, unit: Unit) -> String {
        in_words(self.inside, unit)
    }
}

fn in_words(range: Range, unit: Unit) -> String {
    let show = |number: f64| unit.short(number);
    match range {
        (Bound::Included(lo), Bound::Included(hi)) if lo == hi => show(lo),
        (Bound::Included(lo) | Bound::Excluded(lo), Bound::Included(hi) | Bound::Excluded(hi)) => {
            format!("{} … {}", show(lo), show(hi))
        }
        (Bound::Included(lo), Bound::Unbounded) => format!("≥ {}", show(lo)),
        (Bound::Excluded(lo), Bound::Unbounded) => format!("> {}", show(lo)),
        (Bound::Unbounded, Bound::Included(hi)) => format!("≤ {}", show(hi)),
        (Bound::Unbounded, Bound::Excluded(hi)) => format!("< {}", show(hi)),
        (Bound::Unbounded, Bound::Unbounded) => "any".to_owned(),
    }
}

impl Unit {
    /// The word in results.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Cells => "cells",
            Self::Percent | Self::Share => "%",
            Self::Points => "points",
            Self::Times => "x",
            Self::Milliseconds => "ms",
            Self::RoundTrips => "RTT",
            Self::Mbit => "Mbit/s",
            Self::Per10Mb => "per 10 MB",
            Self::Examples => "examples",
        }
    }

    /// Decimals of measured numbers.
    pub const fn decimals(self) -> usize {
        match self {
            Self::Cells | Self::Examples | Self::Milliseconds | Self::Share => 0,
            Self::Percent | Self::Points => 1,
            Self::Times | Self::RoundTrips | Self::Mbit | Self::Per10Mb => 2,
        }
    }

    /// Returns the number that means no effect: one for a multiple.
    pub(super) const fn without_effect(self) -> f64 {
        match self {
            Self::Times => 1.0,
            _ => 0.0,
        }
    }

    /// Returns whether numbers of this unit are differences and show their sign.
    const fn is_signed(self) -> bool {
        matches!(self, Self::Percent | Self::Points)
    }

    /// A number of this unit, without it.
    pub fn number(self, number: f64) -> String {
        let decimals = self.decimals();
        // A value that rounds to zero has no sign.
        let number = if number.abs() < 0.5 / 10_f64.powi(decimals as i32) { 0.0 } else { number };
        let text = if self.is_signed() { format!("{number:+.decimals$}") } else { format!("{number:.decimals$}") };
        text.replace('-', "−")
    }

    /// A number of this unit.
    pub fn show(self, number: f64) -> String {
        format!("{}{}", self.number(number), self.tail())
    }

    /// A bound of a band.
    fn short(self, number: f64) -> String {
        let text = if self.is_signed() { format!("{number:+}") } else { format!("{number}") };
        format!("{}{}", text.replace('-', "−"), self.tail())
    }

    fn tail(self) -> String {
        match self {
            Self::Times => "×".to_owned(),
            Self::Percent | Self::Share => " %".to_owned(),
            unit => format!(" {}", unit.word()),
        }
    }
}

impl Claim {
    /// Returns every estimate it needs, its own first.
    pub fn estimates(&self) -> Vec<Estimate> {
        let own = match self.measure {
            Measure::Runs(estimate) => Some(estimate),
            Measure::Examples(_) => None,
        };
        let nothing = match self.nothing {
            Nothing::Is(_) => None,
            Nothing::Measured(estimate) => Some(estimate),
        };
        let ablations = self.ablations.iter().map(|ablation| ablation.without);
        own.into_iter().chain(nothing).chain(ablations).chain(self.facts.iter().map(|fact| fact.estimate)).collect()
    }

    /// The studies it needs, its own first; one may be named several times.
    pub fn studies(&self) -> impl Iterator<Item = &'static Study> {
        self.estimates().into_iter().map(|estimate| estimate.study)
    }
}
