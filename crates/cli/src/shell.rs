//! `longhaul completions` and `longhaul man`: what shells and readers of manuals get from the parser.

use crate::failure::Failure;
use crate::output;
use clap::{Args, Command};
use clap_complete::{Shell, generate};
use clap_mangen::Man;

/// Arguments of `longhaul completions`.
#[derive(Args, Clone, Debug)]
pub struct CompletionsArgs {
    /// Whose form it is to have.
    shell: Shell,
}

/// Writes what a shell completes words with.
///
/// # Errors
/// If stdout is closed.
pub fn completions(args: &CompletionsArgs, command: &mut Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    generate(args.shell, command, "longhaul", &mut script);
    output::write(&String::from_utf8_lossy(&script))
}

/// Writes the man page: the program's section, and one for each command.
///
/// # Errors
/// If stdout is closed.
pub fn man(command: &Command) -> Result<(), Failure> {
    let mut page = Vec::new();
    let cannot = |error| Failure::Failed(format!("the man page: {error}"));
    Man::new(command.clone()).render(&mut page).map_err(cannot)?;
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        let name = format!("longhaul {}", sub.get_name());
        let man = Man::new(sub.clone().bin_name(name));
        let parts = [Man::render_synopsis_section, Man::render_description_section, Man::render_options_section];
        page.extend(format!(".SH \"LONGHAUL {}\"\n", sub.get_name().to_uppercase()).bytes());
        parts.into_iter().try_for_each(|part| part(&man, &mut page)).map_err(cannot)?;
    }
    output::write(&String::from_utf8_lossy(&page))
}
