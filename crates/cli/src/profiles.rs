//! `longhaul profiles`: lists the TCP profiles, shows one with its evidence, or compares two.

use crate::failure::Failure;
use crate::output;
use crate::table::{annotated, paragraph};
use ::profiles::table::{differences, later, one, unproven};
use ::profiles::{FindError, Profile, builtin, find};
use clap::Args;
use std::sync::Arc;

/// Arguments of `longhaul profiles`.
#[derive(Args, Clone, Debug)]
pub struct ProfilesArgs {
    /// One profile to show in full, or two to compare: names, or paths of TOML files.
    #[arg(value_name = "NAME", num_args = 0..=2)]
    names: Vec<String>,
    /// Show only the values that are assumed.
    #[arg(long)]
    unproven: bool,
    /// Print the file of the built-in profile, as a template for one of your own.
    #[arg(long, requires = "names", conflicts_with = "unproven")]
    toml: bool,
}

/// Shows profiles.
///
/// # Errors
/// If a name has no profile.
pub fn run(args: &ProfilesArgs) -> Result<(), Failure> {
    let found: Vec<Arc<Profile>> = args.names.iter().map(|name| find(name)).collect::<Result<_, _>>()?;
    let chosen: Vec<&Profile> = found.iter().map(AsRef::as_ref).collect();
    chosen.iter().for_each(|profile| warn(profile));
    if args.toml {
        return template(&args.names);
    }
    let text = match chosen.as_slice() {
        _ if args.unproven => doubts(&chosen),
        [] => everything(),
        [profile] => in_full(profile),
        others => compare(others[0], others[1]),
    };
    output::write(&text)
}

/// Prints the file of a built-in profile.
fn template(names: &[String]) -> Result<(), Failure> {
    let [name] = names else { return Err(Failure::usage("--toml: name one profile")) };
    let text = ::profiles::text(name).ok_or_else(|| Failure::usage(format!("--toml: `{name}` is a file already")))?;
    output::write(text)
}

/// Warns about entries in a profile's file that are probably unintended.
pub fn warn(profile: &Profile) {
    for warning in profile.warnings() {
        anstream::eprintln!("warning: {warning}");
    }
}

impl From<FindError> for Failure {
    fn from(error: FindError) -> Self {
        match error {
            FindError::File(error) => Self::File(error),
            other => Self::usage(other),
        }
    }
}

fn everything() -> String {
    let width = builtin().iter().map(|profile| profile.name.len() + 2).max().unwrap_or_default();
    let summaries: String =
        builtin().iter().map(|profile| paragraph(&format!("{:width$}", profile.name), &profile.summary)).collect();
    let more = "`longhaul profiles NAME` shows one with its evidence, two names in what they differ; a name may be the \
                path of a TOML file, too. docs/profiles.md has all of them side by side.";
    format!("{summaries}\n{}", paragraph("", more))
}

fn title(profile: &Profile) -> String {
    paragraph(&format!("{}: ", profile.name), &profile.summary)
}

fn in_full(profile: &Profile) -> String {
    format!("{}\n{}{}{}", title(profile), annotated(&one(profile)), not_yet(profile), inherited(profile))
}

fn not_yet(profile: &Profile) -> String {
    if profile.later().is_empty() { String::new() } else { format!("\n{}", annotated(&later(profile))) }
}

fn inherited(profile: &Profile) -> String {
    match &profile.extends {
        Some(parent) => {
            format!("\nWhat comes from {parent} says what {parent} says, not what this system was seen to do.\n")
        }
        None => String::new(),
    }
}

fn compare(a: &Profile, b: &Profile) -> String {
    let table = differences(a, b);
    let body = if table.rows.is_empty() { "They do not differ.\n".to_owned() } else { annotated(&table) };
    format!("{}{}\n{body}\n{}{}", title(a), title(b), missing(a), missing(b))
}

fn missing(profile: &Profile) -> String {
    if profile.later().is_empty() {
        return String::new();
    }
    let paths: Vec<&str> = profile.later().iter().map(|leaf| leaf.path.as_str()).collect();
    paragraph(&format!("not yet modelled of {}: ", profile.name), &paths.join(", "))
}

fn doubts(chosen: &[&Profile]) -> String {
    let all: Vec<&Profile> = builtin().iter().collect();
    let profiles = if chosen.is_empty() { &all } else { chosen };
    let section =
        |profile: &&Profile| format!("{}: assumed values\n\n{}\n", profile.name, annotated(&unproven(profile)));
    profiles.iter().map(section).collect()
}
