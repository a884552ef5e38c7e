//! The published results, in the order in which they are told.

mod receivers;
mod recovery;
mod reduction;
mod releases;
mod reordering;
mod slow_start;
mod windows;

use super::claim::{Ablation, Claim, Fact};
use super::estimate::{Across, Estimate, What};
use super::quantity::Quantity;
use super::study::Study;

/// By subject.
const ALL: &[&[Claim]] = &[
    releases::CLAIMS,
    reordering::CLAIMS,
    slow_start::CLAIMS,
    reduction::CLAIMS,
    recovery::CLAIMS,
    receivers::CLAIMS,
    windows::CLAIMS,
];

/// All of them.
pub fn all() -> impl Iterator<Item = &'static Claim> {
    ALL.iter().flat_map(|group| group.iter())
}

/// The profiles that take part, as often as they do.
pub fn profiles() -> impl Iterator<Item = &'static str> {
    all().flat_map(Claim::studies).flat_map(|study| study.arms.iter().map(|arm| arm.profile))
}

const fn fact(name: &'static str, estimate: Estimate, decimals: usize) -> Fact {
    Fact { name, estimate, decimals }
}

/// The mean of something, of all runs of an arm in these cells.
const fn mean(study: &'static Study, arm: &'static str, of: Quantity, cells: &'static [&'static str]) -> Estimate {
    Estimate { study, cells, arm, over: &[], what: What::Mean(of), across: Across::Together }
}

/// The same for arms that lack an ingredient each: its name, and the arm's.
const fn without<const N: usize>(whole: Estimate, ingredients: [(&'static str, &'static str); N]) -> [Ablation; N] {
    let mut found = [Ablation { ingredient: "", without: whole }; N];
    let mut at = 0;
    while at < N {
        let (ingredient, arm) = ingredients[at];
        found[at] = Ablation { ingredient, without: whole.for_arm(arm) };
        at += 1;
    }
    found
}
