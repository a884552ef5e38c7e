//! What a transmission carries for the sampler; the scoreboard keeps it and computes nothing from it.

use base::{Bytes, Instant};

/// What was known when a segment was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateStamp {
    /// Bytes delivered on the connection by then (`P.delivered`).
    pub delivered: u64,
    /// When the last of them was (`P.delivered_time`).
    pub delivered_at: Instant,
    /// When the segment was sent whose delivery began the current sending interval (`P.first_send_time`).
    pub first_sent: Instant,
    /// Bytes marked lost on the connection by then (`P.lost`).
    pub lost: u64,
    /// Bytes in flight: without this transmission when it is passed to the board, including it once the board keeps it
    /// (`P.tx_in_flight`).
    pub pipe: Bytes,
    /// The application had nothing more to send.
    pub app_limited: bool,
}
