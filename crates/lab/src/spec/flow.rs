//! What is transferred in a run.

use base::Duration;

/// What is transferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// This many bytes of payload.
    Bytes(u64),
    /// As much as possible within this time.
    Seconds(Duration),
}
