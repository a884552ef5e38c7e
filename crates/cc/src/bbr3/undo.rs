//! What an undo restores.

use super::bounds::ShortTerm;
use super::state::State;
use base::Bytes;

/// The state from before an episode.
#[derive(Clone, Debug)]
pub(super) struct Undo {
    pub state: State,
    pub short: ShortTerm,
    pub inflight_long: Bytes,
    /// The episode is not over: its further losses change nothing here.
    pub present: bool,
}
