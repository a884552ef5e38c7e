//! A first flight that leaves late: the radio has to wake up, the kernel resolves an address, the driver compiles a rule.
//!
//! The first packet with data closes a gate for a while; packets that come meanwhile leave together at the end, in order. The
//! handshake passes before, so that its round trip is shorter than that of the data.

use crate::hop::{Hop, HopKind, Offer, Packet};
use base::{Duration, Instant, Rng};

/// Larger packets carry data: options leave a bare header smaller.
const LARGEST_WITHOUT_DATA: u32 = 120;

/// Holds what follows the first data for a while.
#[derive(Debug)]
pub struct FirstFlight {
    hold: Duration,
    /// When the gate opens for good; `None` before the first data.
    opens: Option<Instant>,
}

impl FirstFlight {
    /// Holds packets for `hold`, from the first one with data on.
    pub fn new(hold: Duration) -> Self {
        Self { hold, opens: None }
    }
}

impl<P: Packet> Hop<P> for FirstFlight {
    fn offer(&mut self, now: Instant, packet: P, _rng: &mut Rng) -> Offer<P> {
        if self.opens.is_none() && packet.wire_len() > LARGEST_WITHOUT_DATA {
            self.opens = Some(now + self.hold);
        }
        let exit = self.opens.map_or(now, |opens| opens.max(now));
        Offer::Forwards(exit, packet)
    }
    fn kind(&self) -> HopKind {
        HopKind::FirstFlight
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_the_first_data_leaves_together_and_the_rest_at_once() {
        let mut hop = FirstFlight::new(Duration::from_nanos(100));
        let mut rng = Rng::new(1);
        let mut exit = |at: u64, len: usize| match hop.offer(Instant::from_nanos(at), vec![0_u8; len], &mut rng) {
            Offer::Forwards(exit, _) => exit.as_nanos(),
            other => panic!("{other:?}"),
        };
        let exits = [(0, 60), (10, 52), (10, 1_500), (50, 1_500), (60, 52), (110, 1_500), (111, 1_500)]
            .map(|(at, len)| exit(at, len));
        assert_eq!(exits, [0, 10, 110, 110, 110, 110, 111]);
    }
}
