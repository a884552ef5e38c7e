//! The hop seam: what one stage of a one-way path promises to the path that composes it (`path.rs`).

use base::{Instant, Rng};
use core::fmt::Debug;
use core::ops::Range;

/// What a hop has to know about the thing it carries.
pub trait Packet: Debug + Sized {
    /// Bytes of the IP packet, headers included, link layer excluded.
    fn wire_len(&self) -> u32;
    /// Sets the congestion-experienced mark; `false` when the packet is not ECN-capable.
    fn mark_ce(&mut self) -> bool;
    /// An identical second packet.
    fn duplicate(&self) -> Self;
    /// The bytes of its stream that the packet carries, counted from the start of the stream; `None` when it carries none
    /// or the position is not known.
    fn stream(&self) -> Option<Range<u64>> {
        None
    }
}

/// An IP packet as its bytes, for those who give it no meaning: it is not ECN-capable.
impl Packet for Vec<u8> {
    fn wire_len(&self) -> u32 {
        self.len() as u32
    }
    fn mark_ce(&mut self) -> bool {
        false
    }
    fn duplicate(&self) -> Self {
        self.clone()
    }
}

/// What became of a packet offered to a hop.
#[derive(Debug)]
pub enum Offer<P> {
    /// It leaves at this time, known already now: no event of its own is needed. Never earlier than the offer.
    Forwards(Instant, P),
    /// The hop keeps it and will decide when leaving; ask `next_deadline` and `poll`.
    Queued,
    /// It is gone; the packet is handed back so that its storage can be used again.
    Dropped(P, DropCause),
    /// As `Forwards`, at another time than its turn would be: the hop chose it to leave the order.
    Moves(Instant, P, Moved),
    /// It leaves, and so does a copy of it; the second time is not before the first unless the hop reorders.
    Both(Instant, P, Instant, P),
}

/// How a packet was moved out of the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// It takes longer.
    Late,
    /// It takes less long.
    Early,
}

impl Moved {
    /// Name for traces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Late => "late",
            Self::Early => "early",
        }
    }
}

/// Why the network dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// The queue was full.
    Tail,
    /// Random or scripted loss.
    Loss,
    /// An active queue manager chose it.
    Aqm,
}

/// One stage of a one-way path.
///
/// `offer` is called in order of time. A hop keeps state but no clock and no randomness: both come in with the call.
pub trait Hop<P: Packet>: Debug + Send {
    /// A packet arrives at `now`.
    fn offer(&mut self, now: Instant, packet: P, rng: &mut Rng) -> Offer<P>;
    /// When `poll` wants to be called next; only for hops that answer `Queued`.
    fn next_deadline(&self) -> Option<Instant> {
        None
    }
    /// A packet whose time has come, if any; call until `None`, after which the next deadline is later than `now`.
    fn poll(&mut self, _now: Instant) -> Option<P> {
        None
    }
    /// Whether packets can leave in another order than they came: behind such a hop the path offers packets to the
    /// next one by event, in the order of their times.
    fn reorders(&self) -> bool {
        false
    }
    /// Bytes inside at `now`, the packet in service counted whole; zero for hops that keep no queue.
    fn backlog(&self, _now: Instant) -> u64 {
        0
    }
    /// The most bytes that were ever inside at once.
    fn max_backlog(&self) -> u64 {
        0
    }
    /// What waits here, given up to a hop that takes this one's place: when each packet leaves, and its bytes, oldest first.
    /// The packets themselves leave as they would have.
    fn hand_over(&mut self) -> Vec<(Instant, u32)> {
        Vec::new()
    }
    /// Begins behind what waits where this hop takes another's place; before anything is offered.
    fn take_over(&mut self, _waiting: &[(Instant, u32)]) {}
    /// Short name for traces: `loss`, `rate`, `delay`, …
    fn name(&self) -> &'static str;
}
