//! Fuzz targets as plain functions from bytes, each asserting what must hold for any input.
//!
//! A target is one file here, one line in [`TARGETS`], one directory `corpus/<target>` with its seeds, and one program in
//! `fuzz_targets/` for `cargo +nightly fuzz run --features libfuzzer <target>`. On stable, `tests/replay.rs` runs every stored
//! input through its target; an input that once failed is stored under a name that says why.
#![forbid(unsafe_code)]

pub mod adversary;
mod captures;
mod conversation;
mod datagrams;
mod input;
pub mod packetdrill_calls;
pub mod program;
mod toml_files;
mod wire_parse;

pub use adversary::adversary;
pub use captures::captures;
pub use conversation::conversation;
pub use datagrams::datagrams;
pub use packetdrill_calls::packetdrill_calls;
pub use program::program;
pub use toml_files::toml_files;
pub use wire_parse::wire_parse;

/// Checks one input; panics when a required property does not hold.
pub type Target = fn(&[u8]);

/// Every target, under the name of its corpus and its program.
pub const TARGETS: &[(&str, Target)] = &[
    ("adversary", adversary),
    ("captures", captures),
    ("conversation", conversation),
    ("datagrams", datagrams),
    ("packetdrill_calls", packetdrill_calls),
    ("program", program),
    ("toml_files", toml_files),
    ("wire_parse", wire_parse),
];

/// What happened in a run of a target that plays a game.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Steps of the game.
    pub steps: u64,
    /// Packets delivered to a stack, and packets that left one.
    pub packets: u64,
}
