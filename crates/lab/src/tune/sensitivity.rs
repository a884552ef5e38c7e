//! Sensitivity: what each leaf does alone, and which leaves do nothing that matters.

use crate::run::StoreError;
use crate::tune::objective::{Gain, Score, gain, score};
use crate::tune::setting::{Choices, Setting, of_root};
use crate::tune::trials::Trials;
use profiles::Profile;
use std::sync::Arc;

/// An effect on the objective within this does not matter, a logarithm: one per cent.
pub const MATTERS: f64 = 0.01;

/// A leaf with one other value.
#[derive(Clone, Debug)]
pub struct Effect {
    /// The value.
    pub value: String,
    /// Over the profile as it is.
    pub gain: Gain,
    /// What its runs say beside the reference.
    pub score: Score,
}

/// All values of a leaf.
#[derive(Clone, Debug)]
pub struct LeafEffect {
    /// The leaf, and its value now.
    pub choices: Choices,
    /// What was tried.
    pub effects: Vec<Effect>,
    /// Values that do not fit the others, with the reason.
    pub refused: Vec<(String, String)>,
}

/// What all leaves do.
#[derive(Clone, Debug)]
pub struct Sensitivity {
    /// The profile as it is beside the reference.
    pub now: Score,
    /// Leaf by leaf.
    pub leaves: Vec<LeafEffect>,
    /// Several leaves at once, as the root has them: alone each does little, together they may not. First those without an effect in any
    /// cell, then all candidates for deletion; only sets of two and more.
    pub together: Vec<(Setting, Effect)>,
}

impl LeafEffect {
    /// Returns whether no value has an effect on the objective that matters.
    pub fn is_candidate_for_deletion(&self) -> bool {
        !self.effects.is_empty() && self.effects.iter().all(|effect| effect.gain.gain.abs() < MATTERS)
    }

    /// Returns the cells in which some value has an effect that matters.
    pub fn cells(&self) -> Vec<usize> {
        let Some(first) = self.effects.first() else { return Vec::new() };
        let matters = |cell: &usize| self.effects.iter().any(|effect| effect.gain.cells[*cell].abs() >= MATTERS);
        (0..first.gain.cells.len()).filter(matters).collect()
    }
}

/// Changes one leaf at a time, and then candidates for deletion together.
///
/// # Errors
/// When a result cannot be written.
pub fn sensitivity(
    profile: &Arc<Profile>,
    against: &Arc<Profile>,
    choices: &[Choices],
    trials: &mut Trials<'_, '_>,
) -> Result<Sensitivity, StoreError> {
    let present = Setting::default();
    let tried = |choices: &Choices| {
        let settings = choices.values.iter().map(|value| (value.clone(), present.with(choices.leaf, value)));
        settings.collect::<Vec<_>>()
    };
    let all: Vec<Setting> = choices.iter().flat_map(tried).map(|(_, setting)| setting).collect();
    let valid = all.into_iter().filter(|setting| setting.refused_by(profile).is_none());
    let mut arms = vec![(Arc::clone(against), present.clone()), (Arc::clone(profile), present.clone())];
    arms.extend(valid.map(|setting| (Arc::clone(profile), setting)));
    trials.make(&arms)?;
    let leaves: Vec<LeafEffect> = choices
        .iter()
        .map(|choices| {
            let mut leaf = LeafEffect { choices: choices.clone(), effects: Vec::new(), refused: Vec::new() };
            for (value, setting) in tried(choices) {
                match setting.refused_by(profile) {
                    Some(why) => leaf.refused.push((value, why)),
                    None => leaf.effects.push(effect(profile, against, value, &setting, trials)),
                }
            }
            leaf
        })
        .collect();
    let inert = |leaf: &&LeafEffect| leaf.is_candidate_for_deletion() && leaf.cells().is_empty();
    let mut sets = vec![as_root(profile, leaves.iter().filter(inert))];
    sets.push(as_root(profile, leaves.iter().filter(|leaf| leaf.is_candidate_for_deletion())));
    sets.dedup();
    let mut together = Vec::new();
    for setting in sets.into_iter().filter(|setting| setting.leaves().count() > 1) {
        trials.make(&[(Arc::clone(profile), setting.clone())])?;
        together.push((setting.clone(), effect(profile, against, String::new(), &setting, trials)));
    }
    let own = trials.of(profile, &present);
    let now = score(trials.ground.places(), own, trials.of(against, &present));
    Ok(Sensitivity { now, leaves, together })
}

/// These leaves as the root has them, as far as it has them and the profile takes it.
fn as_root<'l>(profile: &Profile, leaves: impl Iterator<Item = &'l LeafEffect>) -> Setting {
    leaves.fold(Setting::default(), |setting, LeafEffect { choices, .. }| {
        let differs = of_root(choices.leaf).filter(|value| Some(value) != choices.now.as_ref());
        let next = differs.map(|value| setting.with(choices.leaf, &value));
        next.filter(|next| next.refused_by(profile).is_none()).unwrap_or(setting)
    })
}

fn effect(profile: &Profile, against: &Profile, value: String, setting: &Setting, trials: &Trials<'_, '_>) -> Effect {
    let (places, present) = (trials.ground.places(), Setting::default());
    let own = trials.of(profile, setting);
    let gain = gain(places, own, trials.of(profile, &present));
    Effect { value, gain, score: score(places, own, trials.of(against, &present)) }
}
