//! The search: coordinate descent, leaf by leaf.
//!
//! Each leaf in turn gets all of its values while the others stay, and takes the one that gains most, if the interval of its gain over the
//! best setting so far lies above zero and no bound breaks that the profile as it is keeps. The search ends with a turn in which
//! no leaf changes, or with the budget. It takes a sum of runs and not a product, and needs no random choice. Its price is that two
//! leaves that are good only together are not found from values that are good alone.
//!
//! The best of many looks better than it is. So the last step makes the best setting and the profile as it is again, on seeds
//! that chose nothing ([`Found::confirmed`]).

use crate::run::StoreError;
use crate::tune::ground::Ground;
use crate::tune::objective::{Broken, Gain, Score, gain, score};
use crate::tune::setting::{Choices, Setting};
use crate::tune::trials::{Maker, Trials};
use profiles::Profile;
use std::sync::Arc;

/// A gain below this is none, a logarithm: where nothing is drawn, a byte's time would be one.
const LEAST_GAIN: f64 = 0.000_5;

/// What is searched.
pub struct Task<'a> {
    /// The profile whose leaves change.
    pub profile: &'a Arc<Profile>,
    /// Beside which the objective is measured.
    pub against: &'a Arc<Profile>,
    /// The leaves, in the order of their turns.
    pub choices: &'a [Choices],
    /// The most runs to take, the last ones included.
    pub budget: usize,
}

/// A setting that was tried.
#[derive(Clone, Debug)]
pub struct Step {
    /// The setting.
    pub setting: Setting,
    /// What its runs say; `None` if the profile refuses it.
    pub score: Option<Score>,
    /// What it gains over the best setting before it.
    pub gain: Option<Gain>,
    /// What became of it.
    pub outcome: Outcome,
}

/// What became of a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The profile as it is.
    Present,
    /// It was the best from then on.
    Taken,
    /// Another value of the leaf was better.
    Surpassed,
    /// It gains nothing.
    NoGain,
    /// It gains, and the interval reaches below zero.
    Unsure,
    /// It breaks bounds.
    Breaks(Vec<Broken>),
    /// Its values do not fit together.
    Refused(String),
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Found {
    /// What was tried, in order; the profile as it is first.
    pub steps: Vec<Step>,
    /// The best setting; empty if no setting is better.
    pub best: Setting,
    /// What the best one gains over the profile as it is, on seeds that chose nothing, and what it breaks there; `None` if
    /// the search found no better one.
    pub confirmed: Option<(Gain, Vec<Broken>)>,
    /// Whether the budget ended the search.
    pub out_of_budget: bool,
    /// Runs that it took, those found in the store among them.
    pub runs: usize,
    /// The first failed run, in a sentence.
    pub failure: Option<String>,
}

/// Searches on `ground`, and confirms on `fresh`.
///
/// # Errors
/// When a result cannot be written.
pub fn search(task: &Task<'_>, ground: &Ground, fresh: &Ground, maker: Maker<'_>) -> Result<Found, StoreError> {
    let mut searching = Searching::begin(task, Trials::new(ground, maker), fresh.runs() * 3)?;
    while searching.turn()? {}
    searching.confirm(fresh)
}

struct Searching<'g, 'm> {
    task: &'g Task<'g>,
    trials: Trials<'g, 'm>,
    /// Runs of the confirmation.
    reserved: usize,
    steps: Vec<Step>,
    best: Setting,
    now: Score,
    out_of_budget: bool,
}

impl<'g, 'm> Searching<'g, 'm> {
    fn begin(task: &'g Task<'g>, mut trials: Trials<'g, 'm>, reserved: usize) -> Result<Self, StoreError> {
        let present = Setting::default();
        let both = [(Arc::clone(task.against), present.clone()), (Arc::clone(task.profile), present.clone())];
        trials.make(&both)?;
        let own = trials.of(task.profile, &present);
        let now = score(trials.ground.places(), own, trials.of(task.against, &present));
        let first = Step { setting: present.clone(), score: Some(now.clone()), gain: None, outcome: Outcome::Present };
        Ok(Self { task, trials, reserved, steps: vec![first], best: present, now, out_of_budget: false })
    }

    /// Gives each leaf its turn; returns whether one of them changed.
    fn turn(&mut self) -> Result<bool, StoreError> {
        let before = self.best.clone();
        for choices in self.task.choices {
            let of_profile = self.best.without(choices.leaf);
            let others = choices.values.iter().map(|value| self.best.with(choices.leaf, value));
            let new = |setting: &Setting| self.steps.iter().all(|step| step.setting != *setting);
            let wanted: Vec<Setting> = others.chain([of_profile]).filter(new).collect();
            if wanted.is_empty() {
                continue;
            }
            let refused = |setting: &Setting| setting.refused_by(self.task.profile);
            let valid: Vec<Setting> = wanted.iter().filter(|setting| refused(setting).is_none()).cloned().collect();
            if self.trials.runs + valid.len() * self.trials.ground.runs() + self.reserved > self.task.budget {
                self.out_of_budget = true;
                return Ok(false);
            }
            self.steps.extend(wanted.into_iter().filter_map(|setting| {
                let outcome = Outcome::Refused(refused(&setting)?);
                Some(Step { setting, score: None, gain: None, outcome })
            }));
            self.leaf(&valid)?;
        }
        Ok(self.best != before)
    }

    /// Tries the values of a leaf.
    fn leaf(&mut self, settings: &[Setting]) -> Result<(), StoreError> {
        let Task { profile, against, .. } = self.task;
        let arms: Vec<_> = settings.iter().map(|setting| (Arc::clone(profile), setting.clone())).collect();
        self.trials.make(&arms)?;
        let places = self.trials.ground.places();
        let (best, reference) = (self.trials.of(profile, &self.best), self.trials.of(against, &Setting::default()));
        let mut found: Vec<Step> = Vec::new();
        for setting in settings {
            let own = self.trials.of(profile, setting);
            let (score, gain) = (score(places, own, reference), gain(places, own, best));
            let outcome = judged(&gain, score.breaks(places, &self.now));
            found.push(Step { setting: setting.clone(), score: Some(score), gain: Some(gain), outcome });
        }
        let taken = |step: &&mut Step| step.outcome == Outcome::Taken;
        let size = |step: &Step| step.gain.as_ref().map_or(0.0, |gain| gain.gain);
        let mut better: Vec<&mut Step> = found.iter_mut().filter(taken).collect();
        better.sort_by(|a, b| size(b).total_cmp(&size(a)));
        if let Some(first) = better.first() {
            self.best = first.setting.clone();
        }
        better.into_iter().skip(1).for_each(|step| step.outcome = Outcome::Surpassed);
        self.steps.extend(found);
        Ok(())
    }

    /// Makes the best setting and the profile as it is again, on fresh seeds.
    fn confirm(self, fresh: &Ground) -> Result<Found, StoreError> {
        let Self { task, trials, steps, best, out_of_budget, .. } = self;
        let (searched, failure, maker) = (trials.runs, trials.failure.clone(), trials.into_maker());
        let mut again = Trials::new(fresh, maker);
        let mut confirmed = None;
        if !best.is_empty() {
            let present = Setting::default();
            let arms = [(task.against, &present), (task.profile, &present), (task.profile, &best)];
            again.make(&arms.map(|(profile, setting)| (Arc::clone(profile), setting.clone())))?;
            let [reference, now, own] = arms.map(|(profile, setting)| again.of(profile, setting));
            let places = fresh.places();
            let broken = score(places, own, reference).breaks(places, &score(places, now, reference));
            confirmed = Some((gain(places, own, now), broken));
        }
        let (runs, failure) = (searched + again.runs, failure.or(again.failure));
        Ok(Found { steps, best, confirmed, out_of_budget, runs, failure })
    }
}

fn judged(gain: &Gain, breaks: Vec<Broken>) -> Outcome {
    let failed = breaks.iter().any(|broken| matches!(broken, Broken::Failed(_)));
    match gain.interval {
        _ if gain.gain < LEAST_GAIN && !failed => Outcome::NoGain,
        _ if !breaks.is_empty() => Outcome::Breaks(breaks),
        Some((lo, _)) if lo <= 0.0 => Outcome::Unsure,
        _ => Outcome::Taken,
    }
}
