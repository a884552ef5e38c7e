//! Building blocks that several claims share.

use crate::headlines::claim::{Ablation, Fact};
use crate::headlines::estimate::{Across, Estimate, What};
use crate::headlines::quantity::Quantity;
use crate::headlines::study::Study;

/// A number that the page reports beside a claim.
pub(super) const fn fact(name: &'static str, estimate: Estimate, decimals: usize) -> Fact {
    Fact { name, estimate, decimals }
}

/// The mean of something, of all runs of an arm in these cells.
pub(super) const fn mean(
    study: &'static Study,
    arm: &'static str,
    of: Quantity,
    cells: &'static [&'static str],
) -> Estimate {
    Estimate { study, cells, arm, over: &[], what: What::Mean(of), across: Across::Together }
}

/// The same for arms that lack an ingredient each: its name, and the arm's.
pub(super) const fn without<const N: usize>(
    whole: Estimate,
    ingredients: [(&'static str, &'static str); N],
) -> [Ablation; N] {
    let mut found = [Ablation { ingredient: "", without: whole }; N];
    let mut at = 0;
    while at < N {
        let (ingredient, arm) = ingredients[at];
        found[at] = Ablation { ingredient, without: whole.for_arm(arm) };
        at += 1;
    }
    found
}
