//! The way back, which carries the ACKs: a bottleneck of its own, losses, and what links do to ACKs.

use crate::spec::buffer::{BufferSize, FULL_PACKET};
use crate::spec::gaps::Gaps;
use crate::spec::managed_queue::ManagedQueue;
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
    /// How it manages its queue.
    pub queue: BackQueue,
    /// Probability that a packet is lost on entry.
    pub loss: Ratio,
    /// Gaps between releases behind the bottleneck.
    pub release: Option<Gaps>,
    /// How long a pure ACK waits for a newer one that takes its place.
    pub thin: Option<Duration>,
}

/// How the bottleneck of the way back manages its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackQueue {
    /// It does not.
    DropTail,
    /// As that of the data does, with a queue of its own.
    Same,
    /// Like this.
    Managed(ManagedQueue),
}

impl BackQueue {
    /// Reads `same`, or a queue as in `path.queue`.
    pub(crate) fn parse(text: &str) -> Result<Self, Refusal> {
        if text.trim().eq_ignore_ascii_case("same") {
            return Ok(Self::Same);
        }
        Ok(ManagedQueue::parse(text)?.map_or(Self::DropTail, Self::Managed))
    }

    /// Returns its manager beside this one of the data's direction.
    pub(crate) fn managed(self, there: Option<ManagedQueue>) -> Option<ManagedQueue> {
        match self {
            Self::DropTail => None,
            Self::Same => there,
            Self::Managed(queue) => Some(queue),
        }
    }
}

impl Default for Back {
    fn default() -> Self {
        Self { rate: None, buffer: None, queue: BackQueue::DropTail, loss: Ratio::ZERO, release: None, thin: None }
    }
}

/// Least usual buffer, bytes.
const LEAST: u64 = 10 * FULL_PACKET;

impl Back {
    /// Returns the room of its bottleneck, on a path of this round-trip time: a managed queue's limit, or the buffer, or else a
    /// bandwidth-delay product of its own rate, at least ten full packets.
    pub fn room(&self, rtt: Duration, queue: Option<ManagedQueue>) -> Buffer {
        match (self.rate, queue.map(|queue| queue.limit).or(self.buffer)) {
            (None, _) => Buffer::Unlimited,
            (Some(rate), Some(size)) => size.room(rate, rtt),
            (Some(rate), None) => Buffer::Bytes(rate.bytes_in(rtt).max(LEAST)),
        }
    }

    /// Returns whether the seed has any effect.
    pub(crate) fn is_drawn(&self) -> bool {
        let by_queue = matches!(self.queue, BackQueue::Managed(queue) if queue.spec.is_drawn());
        by_queue || !self.loss.is_zero() || self.release.is_some_and(Gaps::is_drawn)
    }

    pub(crate) fn check(&self) -> Result<(), Refusal> {
        if self.queue != BackQueue::DropTail && self.rate.is_none() {
            let problem = "the way back has a managed queue and no bottleneck";
            return Err(Refusal::of_value(problem, "set `path.back.rate` too, for example to `1Mbit`"));
        }
        if self.buffer.is_some() && self.rate.is_none() {
            let problem = "the way back has a buffer and no bottleneck";
            return Err(Refusal::of_value(problem, "set `path.back.rate` too, for example to `1Mbit`"));
        }
        Ok(())
    }
}
