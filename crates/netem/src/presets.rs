//! One direction of a WAN path as plain data, and its hops.
//!
//! The order is part of the numbers' meaning: loss by position first, which counts every transmission; loss on entry, before the
//! queue (a packet lost at random takes no room in the buffer and no time on the link) → largest packet → policer → thinning of ACKs → rate and buffer → release in groups → delay with jitter and
//! reordering, after the bottleneck → duplication. Duplication comes last so that a copy costs the bottleneck nothing and arrives
//! right after its original: this shows how an endpoint handles a copy, not a slower link.

use crate::course::Course;
use crate::delay::{Delay, Jitter};
use crate::duplicate::Duplicate;
use crate::first_flight::FirstFlight;
use crate::hop::{Hop, Packet};
use crate::loss::gilbert_elliott::Chain;
use crate::loss::{Bernoulli, ByPosition, ChangingLoss, GilbertElliott, Mask, StreamLoss};
use crate::mtu::{Mtu, MtuLimit};
use crate::path::Path;
use crate::police::{Policer, PolicerSpec};
use crate::queue::QueueSpec;
use crate::queue::droptail::Buffer;
use crate::rate::Bottleneck;
use crate::rate::changing::ChangingLink;
use crate::rate::delivery_trace::{DeliveryTrace, TraceLink};
use crate::rate::managed::ManagedBottleneck;
use crate::rate::serialiser::{Serialiser, Service};
use crate::release::{Release, ReleaseSpec};
use crate::reorder::ReorderSpec;
use crate::shifting::ShiftingDelay;
use crate::thin::Thin;
use base::{Duration, Rate, Ratio, Rng};
use std::sync::Arc;

/// One direction of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathSpec {
    /// Rate of the bottleneck, in IP bytes; `None` for no bottleneck, which makes `buffer` and `queue` meaningless.
    pub rate: Option<Rate>,
    /// When the bottleneck passes packets, if not at `rate`, which is then their mean and has no effect.
    pub trace: Option<Arc<DeliveryTrace>>,
    /// How the rate changes with time: then neither `rate` nor `trace` has an effect, beyond that there is a bottleneck.
    pub rates: Option<Course>,
    /// Room of the bottleneck: for all its packets behind a drop-tail queue, for those that wait behind any other.
    pub buffer: Buffer,
    /// How the bottleneck manages its queue.
    pub queue: QueueSpec,
    /// One-way delay.
    pub delay: Duration,
    /// How it changes with time.
    pub delays: Option<Course>,
    /// Random extra delay after the bottleneck.
    pub jitter: Option<Jitter>,
    /// Loss on entry, of segments by their place in the stream.
    pub drops: Vec<StreamLoss>,
    /// Loss on entry, of any packet.
    pub loss: LossSpec,
    /// The largest packet, by time, without a limit before the first: what is larger is dropped on entry, behind any loss.
    pub mtus: Option<Arc<[Mtu]>>,
    /// What is dropped on entry, behind any loss, because it exceeds a rate.
    pub policer: Option<PolicerSpec>,
    /// How long a pure ACK waits before the bottleneck for a newer one that takes its place.
    pub thin: Option<Duration>,
    /// Gaps between releases behind the bottleneck.
    pub release: Option<ReleaseSpec>,
    /// Reordering after the bottleneck.
    pub reorder: ReorderSpec,
    /// How often a packet is duplicated.
    pub duplicate: Ratio,
    /// How long the first flight of data waits before it enters the path.
    pub first_flight: Duration,
}

/// Which packets are lost on entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LossSpec {
    /// None are.
    #[default]
    None,
    /// Each with the same probability.
    Bernoulli(Ratio),
    /// In bursts.
    GilbertElliott(Chain),
    /// Each with the first probability, and with another one from each of these times on, which do not decrease.
    Changing(Ratio, Arc<[(Duration, Ratio)]>),
    /// Those with these indices, counted from zero.
    Mask(Vec<u64>),
}

impl PathSpec {
    /// A path with only a delay: no limit, no loss, no disturbance.
    pub const fn ideal(delay: Duration) -> Self {
        Self {
            rate: None,
            trace: None,
            rates: None,
            buffer: Buffer::Unlimited,
            queue: QueueSpec::DropTail,
            delay,
            delays: None,
            jitter: None,
            drops: Vec::new(),
            loss: LossSpec::None,
            mtus: None,
            policer: None,
            thin: None,
            release: None,
            reorder: ReorderSpec::None,
            duplicate: Ratio::ZERO,
            first_flight: Duration::ZERO,
        }
    }

    /// The path, with its random streams forked from `rng`.
    pub fn build<P: Packet + Send + 'static>(&self, rng: &Rng) -> Path<P> {
        let mut hops: Vec<Box<dyn Hop<P>>> = Vec::new();
        if !self.first_flight.is_zero() {
            hops.push(Box::new(FirstFlight::new(self.first_flight)));
        }
        if !self.drops.is_empty() {
            hops.push(Box::new(ByPosition::new(&self.drops, &mut rng.fork("drop/places"))));
        }
        match &self.loss {
            LossSpec::None => {}
            LossSpec::Bernoulli(probability) => hops.push(Box::new(Bernoulli::new(*probability))),
            LossSpec::GilbertElliott(chain) => hops.push(Box::new(GilbertElliott::new(*chain))),
            LossSpec::Changing(first, changes) => hops.push(Box::new(ChangingLoss::new(*first, changes.clone()))),
            LossSpec::Mask(indices) => hops.push(Box::new(Mask::new(indices.clone()))),
        }
        if let Some(mtus) = &self.mtus {
            hops.push(Box::new(MtuLimit::new(mtus.clone())));
        }
        if let Some(policer) = self.policer {
            hops.push(Box::new(Policer::new(policer)));
        }
        if let Some(wait) = self.thin {
            hops.push(Box::new(Thin::new(wait)));
        }
        if let Some(rate) = self.rate {
            hops.push(match (&self.rates, &self.trace) {
                (Some(course), _) => self.bottleneck(ChangingLink::new(course), rng),
                (None, Some(trace)) => self.bottleneck(TraceLink::new(trace.clone()), rng),
                (None, None) => self.bottleneck(Serialiser::new(rate), rng),
            });
        }
        if let Some(release) = self.release {
            hops.push(Box::new(Release::new(release)));
        }
        let line = Delay::new(self.delay, self.jitter, self.reorder);
        hops.push(match &self.delays {
            Some(course) => Box::new(ShiftingDelay::new(line, course)),
            None => Box::new(line),
        });
        if !self.duplicate.is_zero() {
            hops.push(Box::new(Duplicate::new(self.duplicate)));
        }
        Path::new(hops, rng)
    }

    fn bottleneck<P: Packet + Send + 'static>(&self, link: impl Service + 'static, rng: &Rng) -> Box<dyn Hop<P>> {
        match self.queue {
            QueueSpec::DropTail => Box::new(Bottleneck::of(link, self.buffer)),
            _ => Box::new(ManagedBottleneck::new(link, &self.queue, self.buffer, rng).expect("it is managed")),
        }
    }
}

#[cfg(test)]
mod tests;
