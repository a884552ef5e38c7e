//! The page `docs/profiles.md`: every effective value of every profile side by side, and its source.

use crate::profile::Profile;
use crate::table::{Table, later, legend, markdown, own, side_by_side};

/// Minimum number of profiles for a separate table.
const FAMILY_MIN: usize = 3;

/// The page.
pub fn page(profiles: &[Profile]) -> String {
    let mut page = format!(
        "# Profiles\n\n\
         <!-- Generated from crates/profiles/data. Do not edit: UPDATE_DOCS=1 cargo test -p longhaul-profiles -->\n\n\
         Every value of every built-in profile; the sections below the tables say who gives it, and on what evidence.\n\n{}\n",
        legend()
    );
    for family in families(profiles) {
        let names: Vec<&str> = family.iter().map(|profile| profile.name.as_str()).collect();
        page.push_str(&format!("\n## Side by side: {}\n\n", names.join(", ")));
        page.push_str(&markdown(&side_by_side(&family)));
    }
    for profile in profiles {
        page.push_str(&section(profile));
    }
    page
}

/// Formats a profile's own leaves: all for the root, for others those that differ from their parent or have better evidence.
fn section(profile: &Profile) -> String {
    let mut text = format!("\n## {}\n\n{}.\n", profile.name, profile.summary);
    if let Some(parent) = &profile.extends {
        text.push_str(&format!("Whatever is not in this table is as in [{parent}](#{parent}).\n"));
    }
    text.push_str(&table(&own(profile)));
    for warning in profile.warnings() {
        text.push_str(&format!("\nWarning: {}; {}.\n", warning.problem, warning.remedy));
    }
    if !profile.later().is_empty() {
        text.push_str("\nThe described system also has, and this program does not:\n");
        text.push_str(&table(&later(profile)));
    }
    text
}

fn table(table: &Table) -> String {
    if table.rows.is_empty() { String::new() } else { format!("\n{}", markdown(table)) }
}

/// Groups the profiles into tables that fit a page: the descendants of one child of the root together; single ones join the root.
fn families(profiles: &[Profile]) -> Vec<Vec<&Profile>> {
    let mut families: Vec<(&str, Vec<&Profile>)> = Vec::new();
    for profile in profiles {
        let head = head(profile, profiles);
        match families.iter_mut().find(|(name, _)| *name == head) {
            Some((_, family)) => family.push(profile),
            None => families.push((head, vec![profile])),
        }
    }
    let (small, large): (Vec<_>, Vec<_>) = families.into_iter().partition(|(_, family)| family.len() < FAMILY_MIN);
    let small: Vec<&Profile> = small.into_iter().flat_map(|(_, family)| family).collect();
    core::iter::once(small).chain(large.into_iter().map(|(_, family)| family)).collect()
}

/// The ancestor right below the root, or the profile itself.
fn head<'p>(profile: &'p Profile, profiles: &'p [Profile]) -> &'p str {
    let parent = profile.extends.as_ref().and_then(|name| profiles.iter().find(|other| other.name == *name));
    match parent {
        Some(parent) if parent.extends.is_some() => head(parent, profiles),
        _ => &profile.name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LEAVES;
    use crate::builtin::builtin;

    #[test]
    fn the_page_in_docs_is_up_to_date() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/profiles.md");
        let page = page(builtin());
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, &page).expect("docs can be written");
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            found == page,
            "docs/profiles.md is out of date; UPDATE_DOCS=1 cargo test -p longhaul-profiles writes it"
        );
    }

    #[test]
    fn every_profile_stands_in_one_table_and_no_table_is_too_wide() {
        let families = families(builtin());
        let mut names: Vec<&str> = families.iter().flatten().map(|profile| profile.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), families.iter().flatten().count());
        assert_eq!(names.len(), builtin().len());
        assert!(families.iter().all(|family| family.len() <= 8));
    }

    #[test]
    fn every_effective_value_stands_on_the_page_with_the_profile_that_gives_it() {
        for profile in builtin() {
            for cited in LEAVES.iter().filter_map(|leaf| profile.leaf(leaf.path)) {
                let giver = builtin().iter().find(|giver| giver.name == cited.from).expect("it is an ancestor");
                assert!(own(giver).rows.iter().any(|row| row.contains(&cited.evidence.source)), "{}", cited.from);
            }
        }
    }
}
