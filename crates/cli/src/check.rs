//! `longhaul check`: files of experiments and profiles, without a run.

use crate::ab;
use crate::failure::Failure;
use crate::output;
use ::profiles::toml_file::{TomlFile, entries};
use clap::Args;
use lab::Plan;

/// Arguments of `longhaul check`.
#[derive(Args, Clone, Debug)]
pub struct CheckArgs {
    /// Files to check.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
}

/// Checks files, and says what each is.
///
/// # Errors
/// At the first file that is wrong, with the place.
pub fn run(args: &CheckArgs) -> Result<(), Failure> {
    args.files.iter().try_for_each(|file| output::write(&format!("{file}: {}\n", checked(file)?)))
}

/// What a file is, if it is right.
fn checked(name: &str) -> Result<String, Failure> {
    let text =
        std::fs::read_to_string(name).map_err(|error| Failure::usage(format!("cannot read `{name}`: {error}")))?;
    let file = TomlFile { name, text: &text };
    let tree = file.parse()?;
    if !entries(tree.get_ref()).iter().any(|entry| entry.key == "arms") {
        let profile = ::profiles::find(&as_path(name))?;
        crate::profiles::warn(&profile);
        let parent = profile.extends.as_deref().unwrap_or("nothing");
        return Ok(format!("a profile that extends {parent}, without an error; an experiment has `[arms]`"));
    }
    let experiment = ab::find(&as_path(name))?;
    let plan = Plan::new(experiment).map_err(Failure::usage)?;
    let (cells, arms, runs) = (plan.cells.len(), plan.arms.len(), plan.experiment.iterations);
    Ok(format!("an experiment of {cells} cells, {arms} arms and {runs} runs of each, without an error"))
}

/// A file of this directory could have a built-in name.
fn as_path(name: &str) -> String {
    if name.contains(std::path::MAIN_SEPARATOR) {
        name.to_owned()
    } else {
        format!(".{}{name}", std::path::MAIN_SEPARATOR)
    }
}
