//! The published results, in the order in which they are reported.

mod receivers;
mod recovery;
mod reduction;
mod releases;
mod reordering;
mod shapes;
mod slow_start;
mod windows;

use super::claim::Claim;

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
