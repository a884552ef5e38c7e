//! Judges claims by runs.

use super::claim::{Claim, Measure, Nothing, Unit, Verdict};
use super::estimate::{Estimate, Value};
use super::evidence::{Evidence, Runs};
use crate::plan::difference::{self, Differences};
use crate::results::stats::bootstrap::{self, RESAMPLES};
use base::Rng;

/// The finding about a claim.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Which.
    pub claim: &'static Claim,
    /// In the claim's unit; `None` when a run failed.
    pub measured: Option<f64>,
    /// The 95 % interval from the bootstrap; `None` without one.
    pub interval: Option<(f64, f64)>,
    /// What that says.
    pub verdict: Verdict,
    /// Where the number was found: the cell, and the arm of the comparison.
    pub place: String,
    /// Every ingredient that was removed, the one with the largest share first.
    pub ablated: Vec<Carrier>,
    /// What the traces show, with its numbers.
    pub shows: String,
    /// Why it is not reproduced, with its numbers; `None` when it is.
    pub reason: Option<String>,
}

/// The effect that remains without an ingredient.
#[derive(Clone, Debug, PartialEq)]
pub struct Carrier {
    /// Which.
    pub ingredient: &'static str,
    /// The claim's number without it.
    pub without: f64,
    /// The share of the effect lost without it, per cent; above a hundred if the effect changes sign.
    pub share_pct: f64,
    /// The leaves in which the arm without it differs from the row's own.
    pub differs: Differences,
}

impl Carrier {
    /// An ingredient with a smaller share is not named.
    const NAMED_FROM_PCT: f64 = 20.0;

    /// Returns whether its share is large enough to name it.
    pub fn carries(&self) -> bool {
        self.share_pct >= Self::NAMED_FROM_PCT
    }
}

/// Judges a claim by the runs of its studies.
pub fn find(claim: &'static Claim, evidence: &Evidence) -> Finding {
    let (value, interval) = match claim.measure {
        Measure::Runs(estimate) => (value(&estimate, evidence), interval(&estimate, evidence)),
        Measure::Examples(count) => {
            let number = count().0 as f64;
            (Some(Value { number, cell: None, over: None }), Some((number, number)))
        }
    };
    let measured = value.as_ref().map(|value| value.number);
    let verdict = claim.band.map_or(Verdict::Reported, |band| band.judge(claim.unit, measured, interval));
    let place = value.as_ref().map_or_else(String::new, |value| place(claim, value, evidence));
    let fill = |text: &str| fill(text, claim, measured, &place, evidence);
    let failures = failures(claim, evidence);
    let missed = measured.zip(claim.band).map(|(measured, band)| band.published.missed(claim.unit, measured, interval));
    let reason = if failures.is_empty() {
        missed.into_iter().chain(Some(fill(claim.reason))).filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
    } else {
        failures
    };
    Finding {
        claim,
        measured,
        interval: measured.and(interval),
        verdict,
        ablated: measured.map_or_else(Vec::new, |measured| ablated(claim, measured, evidence)),
        shows: fill(claim.shows),
        reason: (verdict != Verdict::Reproduced && !reason.is_empty()).then_some(reason),
        place,
    }
}

fn value(estimate: &Estimate, evidence: &Evidence) -> Option<Value> {
    estimate.of(&evidence.of(estimate.study)?.once())
}

fn interval(estimate: &Estimate, evidence: &Evidence) -> Option<(f64, f64)> {
    interval_of(estimate, evidence.of(estimate.study)?)
}

/// Returns the 95 % interval of an estimate from its study's runs, by the bootstrap.
pub(super) fn interval_of(estimate: &Estimate, runs: &Runs) -> Option<(f64, f64)> {
    let mut rng = Rng::new(runs.plan.experiment.seed).fork("headlines");
    let anew = (0..RESAMPLES).map(|_| Some(estimate.of(&runs.again(&mut rng)?)?.number));
    bootstrap::bounds(&anew.collect::<Option<Vec<f64>>>()?)
}

fn ablated(claim: &Claim, measured: f64, evidence: &Evidence) -> Vec<Carrier> {
    let nothing = match claim.nothing {
        Nothing::Is(number) => Some(number),
        Nothing::Measured(estimate) => value(&estimate, evidence).map(|value| value.number),
    };
    let effect = nothing.map(|nothing| measured - nothing).filter(|effect| *effect != 0.0);
    let without = claim.ablations.iter().filter_map(|ablation| {
        let without = value(&ablation.without, evidence)?.number;
        let share_pct = (measured - without) / effect? * 100.0;
        let differs = match claim.measure {
            Measure::Runs(own) => differs(&own, &ablation.without, evidence).unwrap_or_default(),
            Measure::Examples(_) => Differences::new(),
        };
        Some(Carrier { ingredient: ablation.ingredient, without, share_pct, differs })
    });
    let mut found: Vec<Carrier> = without.collect();
    found.sort_by(|a, b| b.share_pct.total_cmp(&a.share_pct));
    found
}

/// Returns the leaves in which the other estimate's arm differs from this one's. Studies sweep paths and flows, never leaves, so
/// the first cell represents all.
fn differs(own: &Estimate, other: &Estimate, evidence: &Evidence) -> Option<Differences> {
    let ends = |estimate: &Estimate| {
        let plan = &evidence.of(estimate.study)?.plan;
        let arm = plan.arms.iter().position(|arm| arm.label == estimate.arm)?;
        Some(plan.ends(0, arm))
    };
    difference::between(&ends(own)?, &ends(other)?)
}

/// `at rtt=200ms bytes=32MB, over server-2019`
fn place(claim: &Claim, value: &Value, evidence: &Evidence) -> String {
    let Measure::Runs(estimate) = claim.measure else { return String::new() };
    let cell = value.cell.and_then(|cell| Some(evidence.of(estimate.study)?.plan.cells.get(cell)?.swept.as_slice()));
    let short = |key: &str| key.split_once('.').map_or(key, |(_, rest)| rest).to_owned();
    let settings: Vec<String> =
        cell.unwrap_or_default().iter().map(|(key, value)| format!("{}={value}", short(key))).collect();
    let cell = (!settings.is_empty()).then(|| format!("at {}", settings.join(" ")));
    let over = value.over.map(|over| format!("over {over}"));
    cell.into_iter().chain(over).collect::<Vec<_>>().join(", ")
}

fn failures(claim: &Claim, evidence: &Evidence) -> String {
    let mut all = claim.studies().filter_map(|study| evidence.of(study)).flat_map(|runs| &runs.failures);
    let Some(first) = all.next() else { return String::new() };
    match all.count() {
        0 => format!("a run failed: {first}"),
        more => format!("{} runs failed, first {first}", more + 1),
    }
}

fn fill(text: &str, claim: &Claim, measured: Option<f64>, place: &str, evidence: &Evidence) -> String {
    const UNKNOWN: &str = "–";
    let mut filled = text.replace("{where}", place);
    let number = |number: Option<f64>, unit: Unit| number.map_or_else(|| UNKNOWN.to_owned(), |n| unit.number(n));
    filled = filled.replace("{measured}", &number(measured, claim.unit));
    for fact in claim.facts {
        let found = value(&fact.estimate, evidence).map(|value| value.number);
        let decimals = fact.decimals;
        let shown = found.map_or_else(|| UNKNOWN.to_owned(), |n| format!("{n:.decimals$}").replace('-', "−"));
        filled = filled.replace(&format!("{{{}}}", fact.name), &shown);
    }
    filled
}
