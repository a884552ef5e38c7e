//! The hop seam: what one stage of a one-way path guarantees to the path that composes it (`path.rs`).

use crate::ack;
use crate::ip::{self, Ecn};
use base::{Instant, Rng};
use core::fmt::Debug;
use core::ops::Range;

/// What a hop needs to know about a packet.
pub trait Packet: Debug + Sized {
    /// Bytes of the IP packet, headers included, link layer excluded.
    fn wire_len(&self) -> u32;
    /// Sets the congestion-experienced mark; returns `false` if the packet is not ECN-capable.
    fn mark_ce(&mut self) -> bool;
    /// Returns the ECN codepoint, by which a queue manager for two kinds of traffic tells them apart.
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
    /// Returns a number that all packets of one flow share and that other flows have by chance only; queue managers hash it with
    /// a number of their own. All packets without a flow share zero.
    fn flow(&self) -> u64 {
        0
    }
    /// An identical second packet.
    fn duplicate(&self) -> Self;
    /// Returns the bytes of its stream that the packet carries, counted from the start of the stream; `None` if it carries none
    /// or the position is unknown.
    fn stream(&self) -> Option<Range<u64>> {
        None
    }
    /// Returns whether a router may cut the packet into fragments.
    fn may_be_cut(&self) -> bool {
        false
    }
    /// Returns whether a later packet could make this one needless, for which it may wait a while: it is a pure ACK.
    fn may_wait(&self) -> bool {
        false
    }
    /// Returns whether this packet makes `older`, of the same flow, needless: an ACK that says all that the older one says.
    fn supersedes(&self, _older: &Self) -> bool {
        false
    }
}

/// An IP packet as its bytes.
impl Packet for Vec<u8> {
    fn wire_len(&self) -> u32 {
        self.len() as u32
    }
    fn mark_ce(&mut self) -> bool {
        ip::mark_ce(self)
    }
    fn ecn(&self) -> Ecn {
        ip::ecn(self)
    }
    fn flow(&self) -> u64 {
        ip::flow(self)
    }
    fn duplicate(&self) -> Self {
        self.clone()
    }
    fn may_be_cut(&self) -> bool {
        ip::may_be_cut(self)
    }
    fn may_wait(&self) -> bool {
        ack::is_pure(self)
    }
    fn supersedes(&self, older: &Self) -> bool {
        ack::supersedes(self, older)
    }
}

/// The fate of a packet offered to a hop.
#[derive(Debug)]
pub enum Offer<P> {
    /// It leaves at this time, which is already known: no separate event is needed. Never earlier than the offer.
    Forwards(Instant, P),
    /// The hop keeps it, or has decided about it and others: use `poll` at once, and at each `next_deadline`.
    Queued,
    /// It was dropped; the packet is returned so that its storage can be reused.
    Dropped(P, DropCause),
    /// As `Forwards`, at a time other than its regular one: the hop reordered it.
    Moves(Instant, P, Moved),
    /// It leaves, and so does a copy of it; the second time is not before the first unless the hop reorders.
    Both(Instant, P, Instant, P),
}

/// What became of a packet that a hop kept.
#[derive(Debug)]
pub enum Left<P> {
    /// It leaves at this time, not earlier than the call and not before any packet that left earlier.
    Leaves(Instant, P),
    /// It was dropped.
    Dropped(P, DropCause),
}

/// How a packet was reordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// It takes longer.
    Late,
    /// It takes less time than the others.
    Early,
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
    /// It exceeded a policer's rate and burst.
    Policed,
    /// A newer ACK took its place: nothing was lost.
    Thinned,
    /// It is larger than a router can forward, which says so to the sender, or says nothing.
    TooBig {
        /// The size that it reports, in bytes.
        said: Option<u16>,
    },
}

/// What a hop does to packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HopKind {
    /// Holds the first flight of data.
    FirstFlight,
    /// Loses packets, at random or by a list.
    Loss,
    /// Loses packets at positions of the stream.
    Drop,
    /// Duplicates packets.
    Duplicate,
    /// Delays and reorders packets.
    Delay,
    /// A bottleneck with its queue.
    Rate,
    /// Drops what exceeds a rate and a burst.
    Police,
    /// Drops ACKs that newer ones make needless.
    Thin,
    /// Lets packets leave in groups.
    Release,
    /// Drops packets that are too large.
    Mtu,
}

impl HopKind {
    /// Returns the label of the random stream that a hop of this kind draws from. Frozen: under another label, a seed gives
    /// another run.
    pub(crate) const fn stream(self) -> &'static str {
        match self {
            Self::FirstFlight => "first flight",
            Self::Loss => "loss",
            Self::Drop => "drop",
            Self::Duplicate => "duplicate",
            Self::Delay => "delay",
            Self::Rate => "rate",
            Self::Police => "police",
            Self::Thin => "thin",
            Self::Release => "release",
            Self::Mtu => "mtu",
        }
    }
}

/// A moment at which a flow had more bytes in a bottleneck than ever before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peak {
    /// When.
    pub at: Instant,
    /// Bytes of its IP packets inside, the one in service counted whole.
    pub bytes: u64,
    /// Packets of the flow inside.
    pub packets: u32,
}

/// One stage of a one-way path.
///
/// The path calls `offer` and `poll` in order of time. A hop keeps state but no clock and no randomness: both come in with the
/// call.
pub trait Hop<P: Packet>: Debug + Send {
    /// Moves the beginning of what the hop replays, a trace of a rate, from the start of time to `at`; call it before anything is
    /// offered.
    fn begin(&mut self, _at: Instant) {}
    /// A packet arrives at `now`.
    fn offer(&mut self, now: Instant, packet: P, rng: &mut Rng) -> Offer<P>;
    /// Returns when to call `poll` next; only for hops that return `Queued`.
    fn next_deadline(&self) -> Option<Instant> {
        None
    }
    /// Returns the fate of a packet that is due, if any; call until `None`, after which the next deadline is later than `now`.
    fn poll(&mut self, _now: Instant, _rng: &mut Rng) -> Option<Left<P>> {
        None
    }
    /// Returns whether packets can leave in a different order from their arrival: after such a hop the path offers packets to the
    /// next one by event, in the order of their times.
    fn reorders(&self) -> bool {
        false
    }
    /// Returns the bytes inside at `now`, the packet in service counted whole; zero for hops that keep no queue.
    fn backlog(&self, _now: Instant) -> u64 {
        0
    }
    /// Returns the peak number of bytes inside.
    fn max_backlog(&self) -> u64 {
        0
    }
    /// Returns the number of packets that left with a congestion-experienced mark set here.
    fn marks(&self) -> u64 {
        0
    }
    /// Returns each moment at which a flow had more bytes inside than before, in order, if the hop keeps account of flows.
    fn peaks(&self, _flow: usize) -> &[Peak] {
        &[]
    }
    /// Hands the waiting packets' exit times and bytes, oldest first, to a hop that replaces this one. The packets themselves
    /// leave as before.
    fn hand_over(&mut self) -> Vec<(Instant, u32)> {
        Vec::new()
    }
    /// Starts behind the waiting packets of a hop that this one replaces; call it before anything is offered.
    fn take_over(&mut self, _waiting: &[(Instant, u32)]) {}
    /// What it does to packets.
    fn kind(&self) -> HopKind;
}
