//! State that most connections never need, in a separate box: it keeps an idle connection within a kibibyte.
//!
//! Owns nothing by itself; each field names the file that owns it.

use super::challenge::Allowance;
use super::life::{FastOpenState, Opening, Silence};
use super::path::Path;
use super::urgent::SentMark;
use base::{Duration, Instant};

/// State of rare events; every field's default means that the event has not happened.
#[derive(Clone, Debug, Default)]
pub(super) struct Extras {
    /// The window is one segment and a further mark arrived: no new data before this moment.
    pub held_by_marks: Option<Instant>,
    /// `life`: data in SYNs.
    pub fast_open: FastOpenState,
    /// `life`: since when the peer has been unresponsive.
    pub silence: Silence,
    /// `urgent.rs`: the urgent mark in the sent stream.
    pub urgent: SentMark,
    /// `challenge.rs`: ACKs still allowed in answer to segments that were not processed.
    pub answers: Option<Allowance>,
    /// `life`: state of the handshake, and what waits for its end.
    pub opening: Opening,
    /// `ack.rs`: resolution of the driver's clock, where it is coarser than a nanosecond.
    pub clock_resolution: Duration,
    /// `ack.rs`: minimum round trip of a SACKed segment; receivers do not delay such an ACK (RFC 5681 §4.2).
    pub prompt_rtt: Option<Duration>,
    /// `path`: state of the path beyond its first link.
    pub path: Path,
}
