//! The largest packet that a path carries, which may change with time: a router drops what is larger and may not be cut. It says so to the
//! sender (RFC 1191 §4, RFC 8201 §3), or it is a black hole (RFC 2923 §2.1): the caller sends what a drop's cause names.
//!
//! Deviation: a larger packet that may be cut passes whole. Its fragments would take a little more of the link, and arrive together.
//! Draws nothing.

use crate::hop::{DropCause, Hop, HopKind, Offer, Packet};
use base::{Duration, Instant, Rng};
use std::sync::Arc;

/// The largest packet from a moment on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mtu {
    /// From when on, counted from the beginning of the path's time.
    pub from: Duration,
    /// Bytes of an IP packet.
    pub bytes: u16,
    /// Whether the sender learns of it.
    pub reports: TooBigReports,
}

/// What a router says about packets that are too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooBigReports {
    /// Which size it can forward.
    Sent,
    /// Nothing.
    Missing,
}

/// A router that drops what is too large.
#[derive(Debug)]
pub struct MtuLimit {
    mtus: Arc<[Mtu]>,
    /// The first one that is not yet valid.
    next: usize,
}

impl MtuLimit {
    /// Creates one with these sizes, whose times do not decrease; before the first, everything passes.
    pub fn new(mtus: Arc<[Mtu]>) -> Self {
        Self { mtus, next: 0 }
    }
}

impl<P: Packet> Hop<P> for MtuLimit {
    fn offer(&mut self, now: Instant, packet: P, _rng: &mut Rng) -> Offer<P> {
        while self.mtus.get(self.next).is_some_and(|mtu| Instant::ZERO + mtu.from <= now) {
            self.next += 1;
        }
        let valid = self.next.checked_sub(1).map(|index| self.mtus[index]);
        match valid.filter(|mtu| packet.wire_len() > u32::from(mtu.bytes) && !packet.may_be_cut()) {
            None => Offer::Forwards(now, packet),
            Some(mtu) => {
                let said = (mtu.reports == TooBigReports::Sent).then_some(mtu.bytes);
                Offer::Dropped(packet, DropCause::TooBig { said })
            }
        }
    }
    fn kind(&self) -> HopKind {
        HopKind::Mtu
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{drive, path_of};

    fn mtu(ms: u64, bytes: u16, reports: TooBigReports) -> Mtu {
        Mtu { from: Duration::from_millis(ms), bytes, reports }
    }

    #[test]
    fn what_is_larger_is_dropped_while_the_size_is_valid() {
        let mtus = [
            mtu(1, 1_400, TooBigReports::Sent),
            mtu(2, 1_300, TooBigReports::Missing),
            mtu(3, 1_500, TooBigReports::Sent),
        ];
        let offers = [
            (999_999, 1_500),
            (1_000_000, 1_400),
            (1_000_000, 1_401),
            (1_999_999, 1_400),
            (2_000_000, 1_301),
            (2_500_000, 1_300),
            (3_000_000, 1_500),
        ];
        let mut path = path_of(MtuLimit::new(mtus.into()));
        let outcome = drive(&mut path, &offers);
        assert_eq!(outcome.arrivals.iter().map(|(_, index)| *index).collect::<Vec<_>>(), [0, 1, 3, 5, 6]);
        let causes: Vec<DropCause> = outcome.drops.iter().map(|(_, cause)| *cause).collect();
        assert_eq!(causes, [DropCause::TooBig { said: Some(1_400) }, DropCause::TooBig { said: None }]);
        assert_eq!((path.stats().dropped.too_big, path.stats().dropped.total()), (2, 2));
    }

    /// An IPv4 packet of 1,500 bytes, with these flags.
    fn packet(flags: u8) -> Vec<u8> {
        let mut packet = vec![0; 1_500];
        (packet[0], packet[6]) = (0x45, flags);
        packet
    }

    #[test]
    fn a_packet_that_may_be_cut_passes_and_one_of_ipv6_may_not() {
        let mut six = vec![0; 1_500];
        six[0] = 0x60;
        let (mut hop, mut rng) = (MtuLimit::new([mtu(0, 1_400, TooBigReports::Sent)].into()), Rng::new(1));
        for (packet, passes) in [(packet(0), true), (packet(0x40), false), (six, false)] {
            let offer = hop.offer(Instant::ZERO, packet, &mut rng);
            assert_eq!(matches!(offer, Offer::Forwards(..)), passes);
        }
    }
}
