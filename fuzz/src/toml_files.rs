//! Any text as a profile and as an experiment: a rejection must state a place and a remedy, and never panic.

use lab::spec;

/// Reads the input as both kinds of file.
pub fn toml_files(bytes: &[u8]) {
    let Ok(text) = core::str::from_utf8(bytes) else { return };
    match profiles::load(&[("fuzzed", text)]) {
        Ok(read) => {
            for profile in &read {
                // An accepted profile can be displayed and used to build a configuration.
                let _ = profiles::table::markdown(&profiles::table::one(profile));
                let _ = profile.config();
            }
        }
        Err(refusal) => says_where(&refusal, text),
    }
    match spec::read("fuzzed", "fuzzed.toml", text) {
        Ok(experiment) => assert!(!experiment.arms.is_empty(), "an experiment compares something"),
        Err(refusal) => says_where(&refusal, text),
    }
}

fn says_where(refusal: &profiles::FileError, text: &str) {
    let (line, column) = refusal.position();
    assert!(line >= 1 && line <= text.lines().count() + 1 && column >= 1, "{line}:{column} is outside: {refusal}");
    assert!(refusal.to_string().contains("fuzzed.toml"), "which file? {refusal}");
}
