//! Arms and the seeds of their runs.
//!
//! Arms of one cell run on equal seeds, so that they meet the same weather; an arm that is named twice draws its own the
//! second time, which shows how large the noise is. A seed depends on the experiment's seed, the cell's network and the
//! iteration, never on what else is in the sweep: narrowing a sweep to one cell repeats that cell's runs exactly.

use crate::spec::{ArmSpec, Point};
use base::Rng;

/// One side of the comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arm {
    /// Unique in the experiment: `name`, or `name#2` for the second of that name.
    pub label: String,
    /// How many of that name stood before it, plus one.
    pub ordinal: u32,
    /// What it is.
    pub spec: ArmSpec,
}

/// Gives repeated arms their ordinals.
pub(crate) fn label(specs: &[ArmSpec]) -> Vec<Arm> {
    let mut arms: Vec<Arm> = Vec::with_capacity(specs.len());
    for spec in specs {
        let ordinal = arms.iter().filter(|arm| arm.spec.name == spec.name).count() as u32 + 1;
        let label = if ordinal == 1 { spec.name.clone() } else { format!("{}#{ordinal}", spec.name) };
        arms.push(Arm { label, ordinal, spec: spec.clone() });
    }
    arms
}

/// The seed of a run; it fits into 53 bits, so that every reader of JSON gets it whole.
pub(crate) fn seed(experiment: u64, point: &Point, ordinal: u32, iteration: u32) -> u64 {
    let mut rng = Rng::new(experiment).fork(&point.canonical()).fork(&format!("iteration {iteration}"));
    if ordinal > 1 {
        rng = rng.fork(&format!("arm {ordinal}"));
    }
    rng.next_u64() >> 11
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(name: &str) -> ArmSpec {
        ArmSpec { name: name.into(), ..ArmSpec::of_builtin("rfc").expect("built in") }
    }

    #[test]
    fn repeated_arms_are_numbered_from_two() {
        let labels: Vec<String> =
            label(&[spec("a"), spec("b"), spec("a"), spec("a")]).into_iter().map(|arm| arm.label).collect();
        assert_eq!(labels, ["a", "b", "a#2", "a#3"]);
    }

    #[test]
    fn seeds_differ_by_everything_but_the_arm() {
        let (here, mut there) = (Point::default(), Point::default());
        there.rtt = base::Duration::from_millis(25);
        let mut seeds = vec![
            seed(1, &here, 1, 1),
            seed(2, &here, 1, 1),
            seed(1, &there, 1, 1),
            seed(1, &here, 1, 2),
            seed(1, &here, 2, 1),
        ];
        assert_eq!(seeds[0], seed(1, &here, 1, 1));
        assert!(seeds.iter().all(|seed| *seed < 1 << 53));
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 5);
    }

    /// A changed seed changes every published number: this is to happen knowingly.
    #[test]
    fn the_derivation_of_seeds_is_frozen() {
        assert_eq!(seed(1, &Point::default(), 1, 1), FROZEN);
    }
    const FROZEN: u64 = 5_879_033_818_802_952;
}
