//! Who watches. The observer is a parameter of every call, not a field: state stays free of type parameters, and
//! [`Off`] costs nothing because `ENABLED` is a constant.

use crate::{Event, PacketSent};
use base::Instant;

/// A connection as traces name it: the order in which its stack created it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnId(pub u32);

/// Receives events.
pub trait Observer {
    /// Whether events are built at all; a constant, so that a disabled observer leaves no code behind.
    const ENABLED: bool = true;
    /// Whether it wants to see packets, too.
    const PACKETS: bool = false;
    /// Returns whether it wants events now; without, none is built.
    #[inline(always)]
    fn is_on(&self) -> bool {
        true
    }
    /// Takes one event.
    fn record(&mut self, at: Instant, conn: ConnId, event: Event);
    /// Takes a packet that leaves a host, behind the event of the segment. Called where the world shows packets, and only if
    /// they are wanted.
    fn packet(&mut self, _at: Instant, _packet: &PacketSent<'_>) {}
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Off;

impl Observer for Off {
    const ENABLED: bool = false;
    fn record(&mut self, _at: Instant, _conn: ConnId, _event: Event) {}
}

impl<O: Observer> Observer for &mut O {
    const ENABLED: bool = O::ENABLED;
    const PACKETS: bool = O::PACKETS;
    #[inline(always)]
    fn is_on(&self) -> bool {
        (**self).is_on()
    }
    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        (**self).record(at, conn, event);
    }
    fn packet(&mut self, at: Instant, packet: &PacketSent<'_>) {
        (**self).packet(at, packet);
    }
}

/// Keeps everything, in order; for tests.
impl Observer for Vec<(Instant, ConnId, Event)> {
    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        self.push((at, conn, event));
    }
}
