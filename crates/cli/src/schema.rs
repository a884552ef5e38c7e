//! `longhaul schema`: JSON Schemas of the files that people write.

use crate::failure::Failure;
use crate::output;
use clap::{Args, ValueEnum};
use lab::schema;

/// Arguments of `longhaul schema`.
#[derive(Args, Clone, Debug)]
pub struct SchemaArgs {
    /// Of which file.
    of: Of,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Of {
    /// What `longhaul ab` runs.
    Experiment,
    /// A TCP.
    Profile,
}

/// Writes the schema.
///
/// # Errors
/// If stdout is closed.
pub fn run(args: &SchemaArgs) -> Result<(), Failure> {
    let schema = match args.of {
        Of::Experiment => schema::experiment(),
        Of::Profile => schema::profile(),
    };
    output::write(&format!("{schema:#}\n"))
}
