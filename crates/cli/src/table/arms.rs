//! The text above a table: the leaves in which each arm differs from the reference.

use super::text::{NOTHING, paragraph};
use lab::Plan;
use lab::plan::Arm;
use lab::plan::difference::{Contrast, Differences, of_plan};
use lab::spec::{ArmKind, ArmSpec};

/// Differences beyond this number are counted, not listed: profiles of different systems differ in dozens of leaves.
const LISTED: usize = 12;

/// Returns one paragraph per arm; nothing if there is only the reference.
pub(super) fn differences(plan: &Plan) -> String {
    let Some((reference, arms)) = plan.arms.split_first() else { return String::new() };
    if arms.is_empty() {
        return String::new();
    }
    let mut text = format!("arms against {}, leaf by leaf ({} → arm):\n", reference.label, reference.label);
    for (arm, contrast) in arms.iter().zip(&of_plan(plan)) {
        text.push_str(&paragraph(&format!("  {}: ", arm.label), &sentence(reference, arm, contrast)));
    }
    text
}

fn sentence(reference: &Arm, arm: &Arm, contrast: &Contrast) -> String {
    let Some(everywhere) = &contrast.everywhere else {
        return "has no leaves to compare: only profiles have".to_owned();
    };
    let mut parts = Vec::new();
    if everywhere.is_empty() && contrast.by_cell.is_empty() {
        parts.push(if arm.ordinal > 1 { "nothing but the seeds" } else { "nothing" }.to_owned());
    } else if everywhere.len() <= LISTED {
        parts.extend((!everywhere.is_empty()).then(|| listed(everywhere)));
        let kept: Vec<String> = contrast.kept.iter().map(|(path, value)| format!("{path} {value}")).collect();
        parts.extend((!kept.is_empty()).then(|| format!("kept beside the kind: {}", kept.join(", "))));
    } else {
        parts.push(counted(reference, arm, everywhere.len()));
        parts.extend([reference, arm].into_iter().filter_map(set_here));
    }
    if !contrast.by_cell.is_empty() {
        parts.push(format!("by cell: {}", contrast.by_cell.join(", ")));
    }
    parts.join("; ")
}

/// `cc.slow_start.kind hystart → classic, …`
pub fn listed(differences: &Differences) -> String {
    let each = differences.iter().map(|(path, values)| {
        let [reference, arm] = values.each_ref().map(|value| value.as_deref().unwrap_or(NOTHING));
        format!("{path} {reference} → {arm}")
    });
    each.collect::<Vec<_>>().join(", ")
}

/// Returns how many leaves differ, and how to list them.
fn counted(reference: &Arm, arm: &Arm, leaves: usize) -> String {
    let names = [reference, arm].map(|arm| arm.spec.profile().map_or("", |profile| profile.name.as_str()));
    let plain = |arm: &Arm| own_leaves(&arm.spec).is_empty();
    if plain(reference) && plain(arm) && names.iter().all(|name| profiles::get(name).is_ok()) {
        format!("{leaves} leaves (`longhaul profiles {} {}` lists them)", names[0], names[1])
    } else {
        format!("{leaves} leaves (`--format jsonl` lists them)")
    }
}

/// Leaves that the experiment sets in an arm.
fn set_here(arm: &Arm) -> Option<String> {
    let own: Vec<String> = own_leaves(&arm.spec).iter().map(|(path, value)| format!("{path}={value}")).collect();
    (!own.is_empty()).then(|| format!("set in {}: {}", arm.label, own.join(", ")))
}

fn own_leaves(spec: &ArmSpec) -> &[(String, String)] {
    match &spec.kind {
        ArmKind::Profile { set, .. } => set,
        ArmKind::Kernel(_) | ArmKind::Command(_) => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::{Overrides, spec};

    fn differences_of(arms: &[&str], set: &[&str]) -> String {
        let mut experiment = spec::builtin("hystart").unwrap();
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        experiment.apply(&Overrides { arms: texts(arms), set: texts(set), ..Overrides::default() }).unwrap();
        differences(&Plan::new(experiment).unwrap())
    }

    #[test]
    fn an_arm_of_the_same_profile_is_listed_leaf_by_leaf_and_what_it_kept_too() {
        let text = differences_of(&[], &[]);
        let line = text.replace("\n               ", " ");
        assert!(line.contains("cc.slow_start.kind classic → hystart_pp_lss"), "{text}");
        assert!(line.contains("cc.slow_start.min_eta – → 4ms"), "{text}");
        assert!(line.contains("kept beside the kind: cc.slow_start.limit_segments 8"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }

    #[test]
    fn arms_of_different_profiles_are_counted_and_what_is_set_is_listed() {
        let text = differences_of(&["server-2022", "longhaul"], &[]);
        assert!(text.contains(" leaves (`longhaul profiles server-2022 longhaul` lists them)\n"), "{text}");
        let text = differences_of(&["server-2022", "longhaul"], &["longhaul.cc.slow_start.kind=classic"]);
        assert!(text.contains("(`--format jsonl` lists them); set in longhaul: cc.slow_start.kind=classic"), "{text}");
    }

    #[test]
    fn arms_that_differ_in_nothing_say_so() {
        let text = differences_of(&["longhaul", "longhaul", "kernel:bbr"], &[]);
        assert!(text.contains("  longhaul#2: nothing but the seeds\n"), "{text}");
        assert!(text.contains("  kernel:bbr: has no leaves to compare: only profiles have\n"), "{text}");
        assert_eq!(differences_of(&["longhaul"], &[]), "");
    }
}
