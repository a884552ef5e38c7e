//! `longhaul init`: a commented experiment.

use crate::failure::Failure;
use crate::progress::note;
use clap::Args;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `longhaul init`.
#[derive(Args, Clone, Debug)]
pub struct InitArgs {
    /// Where to write it; nothing is overwritten.
    #[arg(value_name = "FILE", default_value = "experiment.toml")]
    file: PathBuf,
}

/// Lines that begin with `#` and a key can be used as they are.
const TEMPLATE: &str = include_str!("init/experiment.toml");

/// Writes the template.
///
/// # Errors
/// If the file is there already, or cannot be written.
pub fn run(args: &InitArgs) -> Result<(), Failure> {
    let path = args.file.display();
    let file = OpenOptions::new().write(true).create_new(true).open(&args.file);
    file.and_then(|mut file| file.write_all(TEMPLATE.as_bytes()))
        .map_err(|error| Failure::usage(format!("cannot write `{path}`: {error}; name another file")))?;
    note!("wrote {path}: check it with `longhaul check {path}`, run it with `longhaul ab {path}`");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::TEMPLATE;
    use lab::{Plan, spec};

    fn cells(text: &str) -> usize {
        let experiment = spec::read("mine", "mine.toml", text).unwrap_or_else(|error| panic!("{error}"));
        Plan::new(experiment).unwrap_or_else(|error| panic!("{error}")).cells.len()
    }

    #[test]
    fn the_template_is_an_experiment_and_so_it_is_with_every_line_in_use() {
        assert_eq!(cells(TEMPLATE), 2);
        let in_use = |line: &str| {
            let rest = line.strip_prefix('#').filter(|rest| !rest.starts_with(' '));
            rest.unwrap_or(line).to_owned() + "\n"
        };
        let whole: String = TEMPLATE.lines().map(in_use).collect();
        assert_ne!(whole, TEMPLATE);
        assert_eq!(cells(&whole), 4);
    }
}
