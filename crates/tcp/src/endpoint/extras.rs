//! State that most connections never need, in a box of its own: an idle connection stays within a kibibyte.
//!
//! Owns nothing by itself; each field names the file that does.

use super::challenge::Allowance;
use super::life::{FastOpenState, Opening, Silence};
use super::path::Path;
use super::urgent::SentMark;
use base::{Duration, Instant};

/// What rare events leave behind; every field's default means that the event has not happened.
#[derive(Clone, Debug, Default)]
pub(super) struct Extras {
    /// The window is one segment and congestion marks came again: no new data before this moment.
    pub held_by_marks: Option<Instant>,
    /// `life`: data in SYNs.
    pub fast_open: FastOpenState,
    /// `life`: since when the peer has not answered.
    pub silence: Silence,
    /// `urgent.rs`: the mark in the stream that is sent.
    pub urgent: SentMark,
    /// `challenge.rs`: ACKs that may still answer what was not processed.
    pub answers: Option<Allowance>,
    /// `life`: what is remembered of the handshake, and waits for its end.
    pub opening: Opening,
    /// `ack.rs`: resolution of the driver's clock, where it is coarser than a nanosecond.
    pub clock_resolution: Duration,
    /// `ack.rs`: least round trip of a segment that was SACKed, since no receiver delays such an answer (RFC 5681 §4.2).
    pub prompt_rtt: Option<Duration>,
    /// `path`: what is known of the path beyond its first link.
    pub path: Path,
}
