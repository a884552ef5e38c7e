//! What can be wrong with the settings of a stack.

/// Why a stack cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No address, and no other destination either: nothing could reach it.
    #[error("the stack has no address: give it `addresses`, or let it stand for `any_destination`")]
    NoAddress,
    /// The MTU is too small for the addresses' IP version.
    #[error("an MTU of {mtu} bytes: this stack needs {least} at least")]
    MtuTooSmall {
        /// What was given.
        mtu: u16,
        /// What is needed.
        least: u16,
    },
    /// No profile has the name.
    #[error(transparent)]
    UnknownProfile(#[from] profiles::UnknownProfile),
    /// Something that belongs to one stack was given to several shards.
    #[error("{given} for {shards} shards: {remedy}")]
    Shards {
        /// How many shards were asked for.
        shards: usize,
        /// What was given.
        given: &'static str,
        /// What to do instead.
        remedy: &'static str,
    },
    /// The system gives no random numbers.
    #[error("the system gives no random numbers for initial sequence numbers: {0}")]
    NoEntropy(getrandom::Error),
}
