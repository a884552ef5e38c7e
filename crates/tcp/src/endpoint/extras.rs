//! State that most connections never need, in a box of its own: an idle connection stays within a kibibyte.
//!
//! Owns nothing by itself; each field names the file that does.

use super::challenge::Allowance;
use super::deferred::Deferred;
use super::fastopen::FastOpenState;
use super::path::Path;
use super::patience::Silence;
use super::urgent::SentMark;
use base::{Duration, Instant};

/// What rare events leave behind; every field's default means that the event has not happened.
#[derive(Clone, Debug, Default)]
pub(super) struct Extras {
    /// The window is one segment and congestion marks came again: no new data before this moment.
    pub held_by_marks: Option<Instant>,
    /// Data in SYNs: `fastopen`.
    pub fast_open: FastOpenState,
    /// `patience.rs`: since when the peer has not answered.
    pub silence: Silence,
    /// `urgent.rs`: the mark in the stream that is sent.
    pub urgent: SentMark,
    /// `challenge.rs`: ACKs that may still answer what was not processed.
    pub answers: Option<Allowance>,
    /// `deferred.rs`: what waits for the end of the handshake.
    pub deferred: Deferred,
    /// `ack.rs`: resolution of the driver's clock, where it is coarser than a nanosecond.
    pub clock_resolution: Duration,
    /// `ack.rs`: least round trip of a segment that was SACKed, since no receiver delays such an answer (RFC 5681 §4.2).
    pub prompt_rtt: Option<Duration>,
    /// `handshake.rs`: the peer repeated its SYN, and so did we our SYN-ACK.
    pub syn_ack_repeated: bool,
    /// `rebuild.rs`: it was made from the acknowledgement of a SYN cookie.
    pub rebuilt: bool,
    /// `path`: what is known of the path beyond its first link.
    pub path: Path,
}
