//! The way back, which carries the ACKs: a bottleneck of its own, losses, and what links do to ACKs.

use crate::spec::buffer::BufferSize;
use crate::spec::gaps::Gaps;
use crate::spec::refusal::Refusal;
use base::{Duration, Rate, Ratio};
use netem::Buffer;

/// What the way back has beside its delay; by default nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Back {
    /// Rate of its bottleneck; `None` for no limit.
    pub rate: Option<Rate>,
    /// Buffer of the bottleneck; `None` for [`Self::room`]'s usual one.
    pub buffer: Option<BufferSize>,
    /// Probability that a packet is lost on entry.
    pub loss: Ratio,
    /// Gaps between releases behind the bottleneck.
    pub release: Option<Gaps>,
    /// How long a pure ACK waits for a newer one that takes its place.
    pub thin: Option<Duration>,
}

impl Default for Back {
    fn default() -> Self {
        Self { rate: None, buffer: None, loss: Ratio::ZERO, release: None, thin: None }
    }
}

/// Least usual buffer, bytes: ten full packets.
const LEAST: u64 = 15_000;

impl Back {
    /// Returns the room of its bottleneck, on a path of this round-trip time: the buffer, or else a bandwidth-delay product of its own
    /// rate, at least ten full packets.
    pub fn room(&self, rtt: Duration) -> Buffer {
        match (self.rate, self.buffer) {
            (None, _) => Buffer::Unlimited,
            (Some(rate), Some(size)) => size.room(rate, rtt),
            (Some(rate), None) => Buffer::Bytes(rate.bytes_in(rtt).max(LEAST)),
        }
    }

    /// Returns whether the seed has any effect.
    pub(crate) fn is_drawn(&self) -> bool {
        !self.loss.is_zero() || self.release.is_some_and(Gaps::is_drawn)
    }

    pub(crate) fn check(&self) -> Result<(), Refusal> {
        if self.buffer.is_some() && self.rate.is_none() {
            let problem = "the way back has a buffer and no bottleneck";
            return Err(Refusal::of_value(problem, "set `path.back.rate` too, for example to `1Mbit`"));
        }
        Ok(())
    }
}
