//! Arms: the sides of a comparison, each with a unique label.

use crate::plan::identity::label;
use crate::spec::ArmSpec;

/// One side of the comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arm {
    /// Unique in the experiment: `name`, or `name#2` for the second of that name.
    pub label: String,
    /// Its position among the arms of that name, from one.
    pub ordinal: u32,
    /// What it is.
    pub spec: ArmSpec,
}

/// Gives repeated arms their ordinals.
pub(crate) fn arms(specs: &[ArmSpec]) -> Vec<Arm> {
    let mut arms: Vec<Arm> = Vec::with_capacity(specs.len());
    for spec in specs {
        let ordinal = arms.iter().filter(|arm| arm.spec.name == spec.name).count() as u32 + 1;
        arms.push(Arm { label: label(&spec.name, ordinal), ordinal, spec: spec.clone() });
    }
    arms
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
            arms(&[spec("a"), spec("b"), spec("a"), spec("a")]).into_iter().map(|arm| arm.label).collect();
        assert_eq!(labels, ["a", "b", "a#2", "a#3"]);
    }
}
