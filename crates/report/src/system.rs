//! Which operating system's TCP a profile imitates, so that the viewer shows that system's names of events, and only there.

/// Beginnings of the names of built-in profiles, and the system.
const SYSTEMS: &[(&str, &str)] = &[("windows-", "windows"), ("server-", "windows"), ("linux", "linux")];

/// Returns the system of a built-in profile, by its name or by that of a profile that it extends.
pub(crate) fn system_of(profile: &str) -> Option<&'static str> {
    let mut name = profile;
    loop {
        if let Some((_, system)) = SYSTEMS.iter().find(|(begins, _)| name.starts_with(begins)) {
            return Some(system);
        }
        name = profiles::get(name).ok()?.extends.as_deref()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_profile_is_of_its_system_or_of_none() {
        let found: Vec<_> =
            profiles::builtin().iter().map(|profile| (&*profile.name, system_of(&profile.name))).collect();
        for (name, system) in &found {
            let expected = match *name {
                "linux" | "bbr" => Some("linux"),
                "rfc" | "longhaul" | "inside" => None,
                _ => Some("windows"),
            };
            assert_eq!(*system, expected, "{name}");
        }
        assert!(found.len() > 10);
        assert_eq!(system_of("no-such-profile"), None);
    }
}
