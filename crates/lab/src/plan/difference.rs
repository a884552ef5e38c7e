//! The leaves in which arms differ: what a comparison really compares.
//!
//! Every result lists them, since an arm that changes a kind may differ from its reference in more than its author meant.

use crate::plan::Plan;
use crate::spec::Ends;
use std::collections::BTreeMap;

/// Leaf by leaf: the value of the reference and that of the arm; `None` where the leaf does not apply.
pub type Differences = BTreeMap<String, [Option<String>; 2]>;

/// The leaves in which an arm differs from the reference; `None` unless both are profiles, since other ends have no leaves.
pub fn between(reference: &Ends, arm: &Ends) -> Option<Differences> {
    let (Ends::Profile(_), Ends::Profile(_)) = (reference, arm) else { return None };
    let [mut reference, arm] = [reference, arm].map(|ends| ends.lines().into_iter().collect::<BTreeMap<_, _>>());
    let mut found = Differences::new();
    for (path, own) in arm {
        let other = reference.remove(&path);
        if other.as_ref() != Some(&own) {
            found.insert(path, [other, Some(own)]);
        }
    }
    found.extend(reference.into_iter().map(|(path, other)| (path, [Some(other), None])));
    Some(found)
}

/// Returns the leaves in which a configuration differs from the root profile; for other ends, all that is known.
pub(crate) fn from_root(ends: &Ends) -> BTreeMap<String, String> {
    let root: BTreeMap<&str, String> = profiles::builtin()
        .iter()
        .find(|profile| profile.extends.is_none())
        .map(|root| profiles::values(root.config()).into_iter().collect())
        .unwrap_or_default();
    ends.lines().into_iter().filter(|(path, value)| root.get(path.as_str()) != Some(value)).collect()
}

/// Returns what an arm shares with the reference despite another kind: the leaves that both kinds have.
pub fn kept(reference: &Ends, arm: &Ends) -> BTreeMap<String, String> {
    let Some(differences) = between(reference, arm) else { return BTreeMap::new() };
    let changed = |path: &str| differences.contains_key(path);
    let beside = |path: &str| {
        let kind = profiles::resolve_leaf(path).ok().and_then(|leaf| leaf.kind_leaf());
        kind.is_some_and(|kind| changed(kind.path))
    };
    arm.lines().into_iter().filter(|(path, _)| beside(path) && !changed(path)).collect()
}

/// An arm against the reference, over all cells of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contrast {
    /// Label of the arm.
    pub arm: String,
    /// Differences common to all cells; `None` unless both are profiles.
    pub everywhere: Option<Differences>,
    /// Leaves whose difference depends on the cell: the sweep sets them.
    pub by_cell: Vec<String>,
    /// The unchanged leaves beside a kind that differs in every cell, leaf and value.
    pub kept: BTreeMap<String, String>,
}

/// Compares every arm except the reference with it, in the order of the arms.
pub fn of_plan(plan: &Plan) -> Vec<Contrast> {
    (1..plan.arms.len()).map(|arm| contrast(plan, arm)).collect()
}

fn contrast(plan: &Plan, arm: usize) -> Contrast {
    let cells = 0..plan.cells.len();
    let each: Vec<Option<Differences>> =
        cells.clone().map(|cell| between(&plan.ends(cell, 0), &plan.ends(cell, arm))).collect();
    let mut everywhere = each.first().cloned().flatten();
    let mut by_cell: Vec<String> = Vec::new();
    for other in each.iter().flatten() {
        let Some(common) = &mut everywhere else { break };
        let varies = |path: &String| common.get(path) != other.get(path);
        by_cell.extend(common.keys().chain(other.keys()).filter(|path| varies(path)).cloned());
        common.retain(|path, values| other.get(path) == Some(values));
    }
    by_cell.sort_unstable();
    by_cell.dedup();
    if let Some(common) = &mut everywhere {
        common.retain(|path, _| !by_cell.contains(path));
    }
    let mut kept = cells.map(|cell| kept(&plan.ends(cell, 0), &plan.ends(cell, arm)));
    let first = kept.next().unwrap_or_default();
    let kept = kept.fold(first, |common, other| {
        common.into_iter().filter(|(path, value)| other.get(path) == Some(value)).collect()
    });
    Contrast { arm: plan.arms[arm].label.clone(), everywhere, by_cell, kept }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec;
    use crate::spec::Overrides;

    fn plan(arms: &[&str], set: &[&str]) -> Plan {
        let mut experiment = spec::builtin("wan").unwrap();
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        experiment.apply(&Overrides { arms: texts(arms), set: texts(set), ..Overrides::default() }).unwrap();
        Plan::new(experiment).unwrap()
    }

    fn pair(one: Option<&str>, other: Option<&str>) -> [Option<String>; 2] {
        [one, other].map(|value| value.map(str::to_owned))
    }

    #[test]
    fn an_arm_that_changes_a_kind_differs_in_the_kind_and_in_what_only_one_of_them_has() {
        let mut plan = plan(&["server-2022", "longhaul"], &[]);
        let classic = [("cc.slow_start.kind".to_owned(), "classic".to_owned())];
        let reference = plan.arms[0].spec.ends(&[]).unwrap();
        let arm = plan.arms[0].spec.ends(&classic).unwrap();
        let found = between(&reference, &arm).unwrap();
        assert_eq!(found["cc.slow_start.kind"], pair(Some("hystart_pp_css"), Some("classic")));
        assert_eq!(found["cc.slow_start.min_eta"], pair(Some("4ms"), None));
        assert!(!found.contains_key("cc.slow_start.limit_segments"), "{found:?}");
        assert_eq!(
            kept(&reference, &arm).into_iter().collect::<Vec<_>>(),
            [("cc.slow_start.limit_segments".to_owned(), "8".to_owned())]
        );
        plan.arms.truncate(1);
        assert!(of_plan(&plan).is_empty());
    }

    #[test]
    fn what_the_sweep_sets_depends_on_the_cell() {
        let set = ["longhaul.ack.delay=40ms,25ms", "longhaul.rto.min=300ms", "flow.bytes=1MB", "path.rtt=25ms"];
        let found = of_plan(&plan(&["longhaul", "longhaul", "rfc", "kernel:bbr"], &set));
        let labels: Vec<&str> = found.iter().map(|contrast| contrast.arm.as_str()).collect();
        assert_eq!(labels, ["longhaul#2", "rfc", "kernel:bbr"]);
        // The sweep sets both arms of that name.
        assert_eq!((found[0].everywhere.as_ref().map(BTreeMap::len), found[0].by_cell.len()), (Some(0), 0));
        assert_eq!(found[1].by_cell, ["ack.delay"]);
        assert_eq!(found[1].everywhere.as_ref().unwrap()["rto.min"], pair(Some("300ms"), Some("1s")));
        assert_eq!(found[2].everywhere, None);
    }
}
