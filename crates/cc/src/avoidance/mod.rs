//! The avoidance seam: how the window grows once the path's capacity has been met, and how it shrinks.

mod cubic;
pub mod cubic_math;
mod reno;

pub use cubic::Cubic;
pub use reno::Reno;

use crate::sample::{AckSample, CongestionEvent};
use crate::window::Window;
use base::{Bytes, Instant};
use core::fmt::Debug;

/// A congestion-avoidance algorithm. It is lent the window and returns numbers; it never writes `cwnd`.
pub trait Avoidance: Debug + Clone + Send + 'static {
    /// Name of the phase in traces.
    const NAME: &'static str;
    /// Avoidance begins, with or without a preceding congestion event.
    fn on_enter(&mut self, window: &Window, now: Instant);
    /// An ACK arrived in avoidance; octets to add to `cwnd`.
    fn on_ack(&mut self, ack: &AckSample, window: &Window) -> Bytes;
    /// A congestion signal; the new `ssthresh` in octets (the composite applies the floor of two segments).
    fn on_congestion(&mut self, window: &Window, event: &CongestionEvent, now: Instant) -> Bytes;
    /// Up to two named numbers for traces.
    fn values(&self) -> [(&'static str, u64); 2] {
        [("", 0); 2]
    }
}
