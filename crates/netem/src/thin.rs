//! ACK thinning: a pure ACK waits for a newer one of its flow, which takes its place, as cable modems and satellite gateways do (RFC 3449
//! §5.2.1, ACK filtering; RFC 3135 §3.1.2).
//!
//! Of each flow at most one packet waits, no longer than the hop's time; whoever takes its place leaves when it would have left. A packet
//! that does not replace the one that waits sends it ahead: the order within a flow is kept, and no flow waits for another. What may
//! wait, and what makes another packet needless, the packets decide (`Packet::may_wait`, `Packet::supersedes`). Draws nothing.

use crate::hop::{DropCause, Hop, HopKind, Left, Offer, Packet};
use base::{Duration, Instant, Rng};
use std::collections::VecDeque;

/// A thinner of ACKs.
#[derive(Debug)]
pub struct Thin<P> {
    wait: Duration,
    /// Who waits: until when, of which flow. In the order of those times.
    waiting: VecDeque<(Instant, u64, P)>,
    /// Fates that were decided and have not been collected.
    decided: VecDeque<Left<P>>,
}

impl<P> Thin<P> {
    /// Creates a hop in which an ACK waits for at most `wait`.
    pub fn new(wait: Duration) -> Self {
        Self { wait, waiting: VecDeque::new(), decided: VecDeque::new() }
    }
}

impl<P: Packet + Send> Hop<P> for Thin<P> {
    fn offer(&mut self, now: Instant, packet: P, _rng: &mut Rng) -> Offer<P> {
        let flow = packet.flow();
        let place = self.waiting.iter().position(|(_, other, _)| *other == flow);
        if let Some(place) = place {
            let (_, _, older) = &mut self.waiting[place];
            if packet.supersedes(older) {
                let older = core::mem::replace(older, packet);
                self.decided.push_back(Left::Dropped(older, DropCause::Thinned));
                return Offer::Queued;
            }
            if let Some((_, _, older)) = self.waiting.remove(place) {
                self.decided.push_back(Left::Leaves(now, older));
            }
        }
        if packet.may_wait() {
            self.waiting.push_back((now + self.wait, flow, packet));
            Offer::Queued
        } else if place.is_some() {
            self.decided.push_back(Left::Leaves(now, packet));
            Offer::Queued
        } else {
            Offer::Forwards(now, packet)
        }
    }
    fn next_deadline(&self) -> Option<Instant> {
        self.waiting.front().map(|(until, _, _)| *until)
    }
    fn poll(&mut self, now: Instant, _rng: &mut Rng) -> Option<Left<P>> {
        if let Some(left) = self.decided.pop_front() {
            return Some(left);
        }
        self.waiting.pop_front_if(|(until, _, _)| *until <= now).map(|(until, _, packet)| Left::Leaves(until, packet))
    }
    fn kind(&self) -> HopKind {
        HopKind::Thin
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::Path;
    use crate::testing::at;
    use test_case::test_case;

    /// An ACK with its number, or a packet that carries data; of one of two flows.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Sent {
        Ack(u64, u32),
        Data(u64),
    }
    use Sent::{Ack, Data};

    impl Packet for Sent {
        fn wire_len(&self) -> u32 {
            40
        }
        fn mark_ce(&mut self) -> bool {
            false
        }
        fn flow(&self) -> u64 {
            match self {
                Ack(flow, _) | Data(flow) => *flow,
            }
        }
        fn duplicate(&self) -> Self {
            *self
        }
        fn may_wait(&self) -> bool {
            matches!(self, Ack(..))
        }
        fn supersedes(&self, older: &Self) -> bool {
            matches!((self, older), (Ack(_, newer), Ack(_, older)) if newer > older)
        }
    }

    #[test_case(&[(0, Ack(1, 1))], &[(10, Ack(1, 1))]; "one alone leaves when it has waited")]
    #[test_case(&[(0, Ack(1, 1)), (4, Ack(1, 2)), (8, Ack(1, 3))], &[(10, Ack(1, 3))]; "the newest leaves when the first would have")]
    #[test_case(&[(0, Ack(1, 1)), (4, Ack(1, 1))], &[(4, Ack(1, 1)), (14, Ack(1, 1))]; "a duplicate replaces nothing")]
    #[test_case(&[(0, Ack(1, 1)), (4, Data(1))], &[(4, Ack(1, 1)), (4, Data(1))]; "data do not overtake")]
    #[test_case(&[(0, Ack(1, 1)), (4, Data(2)), (6, Ack(2, 9))], &[(4, Data(2)), (10, Ack(1, 1)), (16, Ack(2, 9))]; "flows wait apart")]
    #[test_case(&[(0, Ack(1, 1)), (10, Ack(1, 2))], &[(10, Ack(1, 1)), (20, Ack(1, 2))]; "at the end of its time it has left")]
    fn acks_are_thinned(offers: &[(u64, Sent)], expected: &[(u64, Sent)]) {
        let mut path: Path<Sent> = Path::new(vec![Box::new(Thin::new(Duration::from_nanos(10)))], &Rng::new(1));
        let (mut found, mut thinned) = (Vec::new(), 0);
        for (ns, packet) in offers {
            path.offer(at(*ns), *packet, &mut |_, kind, cause| {
                assert_eq!((kind, cause), (HopKind::Thin, DropCause::Thinned));
                thinned += 1;
            });
        }
        while let Some((at, packet)) =
            path.poll(at(1_000), &mut |_, _, _| unreachable!("nothing is dropped without an offer"))
        {
            found.push((at.as_nanos(), packet));
        }
        assert_eq!(found, expected);
        assert_eq!((path.stats().dropped.thinned, path.in_flight()), (thinned, 0));
        assert_eq!(found.len() + thinned as usize, offers.len());
    }
}
