//! Which backend makes the runs of a command.

use clap::ValueEnum;

/// A backend by the name it has on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BackendChoice {
    /// The simulator.
    Sim,
    /// Network namespaces, in real time.
    Netns,
    /// Known results, for tests of this command.
    Mock,
}
