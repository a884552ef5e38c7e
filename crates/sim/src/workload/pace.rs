//! In which pieces an application moves bytes, and how often.

use crate::scenario::Carriage;
use base::{Duration, Instant};

/// Bytes that an application moves per call when it moves bytes.
pub(super) const CHUNK: usize = 16 << 10;

/// Room for the bytes of one call; none where they are only described.
pub(super) fn chunk_for(carriage: Carriage) -> Vec<u8> {
    match carriage {
        Carriage::Described => Vec::new(),
        Carriage::Bytes => vec![0; CHUNK],
    }
}

/// When an application that acts once in `every` acts next.
///
/// # Panics
/// When `every` is zero.
pub(super) fn next_after(now: Instant, every: Duration) -> Instant {
    assert!(!every.is_zero(), "an application that acts all the time has no pace");
    now + every
}
