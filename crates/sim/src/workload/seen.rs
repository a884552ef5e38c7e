//! What checkers and results see of a flow's two applications, whichever they are.

use super::end::End;
use super::reading::Reading;
use crate::outcome::Piece;
use base::Instant;

/// The end that a flow's data comes from.
pub(crate) trait Source {
    /// Its end of the connection.
    fn end(&self) -> &End;
    /// When the first SYN of the flow leaves.
    fn started(&self) -> Instant;
    /// Bytes handed to the stack.
    fn written(&self) -> u64;
    /// Whether it waits for its own time to continue, or to be asked, and not for room.
    fn pauses(&self) -> bool;
}

/// The end that reads it.
pub(crate) trait Sink {
    /// Its end of the connection.
    fn end(&self) -> &End;
    /// What it has read.
    fn reading(&self) -> &Reading;
    /// Position of the first byte that was not what it should be, when bytes are moved.
    fn mismatch(&self) -> Option<u64>;
    /// What was asked for apart, and due by `now`.
    fn pieces(&self, now: Instant) -> Vec<Piece>;
}
