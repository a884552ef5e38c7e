//! How much of each flow a bottleneck holds: a hop around it that keeps account of what enters and leaves, and changes nothing.
//!
//! A packet counts from its entry until its last bit has left, as in the backlog.

use crate::hop::{Hop, HopKind, Left, Offer, Packet, Peak};
use base::{Instant, Rng};
use std::collections::{BTreeMap, VecDeque};

/// A bottleneck with an account for each flow; `flow_of` tells the flows apart.
#[derive(Debug)]
pub(crate) struct Metered<P> {
    hop: Box<dyn Hop<P>>,
    flow_of: fn(&P) -> usize,
    flows: BTreeMap<usize, Account>,
    /// Who entered at the last offer, and when, while it is open what the hop makes of it.
    entered: Option<(usize, Instant)>,
}

#[derive(Debug, Default)]
struct Account {
    bytes: u64,
    packets: u32,
    /// Packets whose exit is known, oldest first: when, and their bytes.
    leaving: VecDeque<(Instant, u32)>,
    peaks: Vec<Peak>,
}

impl Account {
    fn remove(&mut self, bytes: u32) {
        self.bytes -= u64::from(bytes);
        self.packets -= 1;
    }

    fn forget(&mut self, now: Instant) {
        while let Some((_, bytes)) = self.leaving.pop_front_if(|(exit, _)| *exit <= now) {
            self.remove(bytes);
        }
    }

    fn note(&mut self, at: Instant) {
        if self.peaks.last().is_none_or(|peak| peak.bytes < self.bytes) {
            self.peaks.push(Peak { at, bytes: self.bytes, packets: self.packets });
        }
    }
}

impl<P: Packet> Metered<P> {
    pub(crate) fn new(hop: Box<dyn Hop<P>>, flow_of: fn(&P) -> usize) -> Self {
        Self { hop, flow_of, flows: BTreeMap::new(), entered: None }
    }

    fn account(&mut self, packet: &P) -> &mut Account {
        self.flows.entry((self.flow_of)(packet)).or_default()
    }

    fn note(&mut self) {
        if let Some((flow, at)) = self.entered.take() {
            self.flows.entry(flow).or_default().note(at);
        }
    }
}

impl<P: Packet> Hop<P> for Metered<P> {
    fn begin(&mut self, at: Instant) {
        self.hop.begin(at);
    }

    fn offer(&mut self, now: Instant, packet: P, rng: &mut Rng) -> Offer<P> {
        self.note();
        let (flow, bytes) = ((self.flow_of)(&packet), packet.wire_len());
        let account = self.account(&packet);
        account.forget(now);
        account.bytes += u64::from(bytes);
        account.packets += 1;
        self.entered = Some((flow, now));
        let offer = self.hop.offer(now, packet, rng);
        match &offer {
            Offer::Forwards(exit, packet) | Offer::Moves(exit, packet, _) | Offer::Both(exit, packet, ..) => {
                let bytes = packet.wire_len();
                self.account(packet).leaving.push_back((*exit, bytes));
                self.note();
            }
            Offer::Dropped(..) => {
                self.entered = None;
                self.flows.entry(flow).or_default().remove(bytes);
            }
            // What it drops instead, this packet or another, comes out of `poll`.
            Offer::Queued => {}
        }
        offer
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.hop.next_deadline()
    }

    fn poll(&mut self, now: Instant, rng: &mut Rng) -> Option<Left<P>> {
        let left = self.hop.poll(now, rng);
        match &left {
            Some(Left::Leaves(exit, packet)) => {
                let bytes = packet.wire_len();
                self.account(packet).leaving.push_back((*exit, bytes));
            }
            Some(Left::Dropped(packet, _)) => {
                let bytes = packet.wire_len();
                self.account(packet).remove(bytes);
            }
            None => self.note(),
        }
        left
    }

    fn reorders(&self) -> bool {
        self.hop.reorders()
    }

    fn backlog(&self, now: Instant) -> u64 {
        self.hop.backlog(now)
    }

    fn max_backlog(&self) -> u64 {
        self.hop.max_backlog()
    }

    fn marks(&self) -> u64 {
        self.hop.marks()
    }

    fn peaks(&self, flow: usize) -> &[Peak] {
        self.flows.get(&flow).map_or(&[], |account| &account.peaks)
    }

    fn hand_over(&mut self) -> Vec<(Instant, u32)> {
        self.hop.hand_over()
    }

    fn take_over(&mut self, waiting: &[(Instant, u32)]) {
        self.hop.take_over(waiting);
    }

    fn kind(&self) -> HopKind {
        self.hop.kind()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ip::Ecn;
    use crate::path::Path;
    use crate::presets::PathSpec;
    use crate::queue::droptail::Buffer;
    use crate::queue::{Codel, DualPi2, FqCodel, Pie, QueueSpec};
    use crate::testing::{Traveller, rate, travel};
    use base::Duration;
    use test_case::test_case;

    fn flow_of(packet: &Traveller) -> usize {
        packet.flow as usize
    }

    /// 8 Mbit/s: a packet of a thousand bytes takes a millisecond.
    fn path(queue: QueueSpec, buffer: Buffer) -> Path<Traveller> {
        let spec = PathSpec { rate: Some(rate(8_000_000)), buffer, queue, ..PathSpec::ideal(Duration::from_millis(5)) };
        spec.build(&Rng::new(1))
    }

    fn packet(index: u64, flow: u64) -> Traveller {
        Traveller { index, len: 1_000, flow, ecn: Ecn::NotEct }
    }

    #[test]
    fn a_flow_has_its_own_packets_and_those_of_others_are_apart() {
        let mut path = path(QueueSpec::DropTail, Buffer::Packets(4));
        path.meter(flow_of);
        // Three of the first flow and one of the second fill the buffer; two are dropped. The next ones meet one of each flow.
        let offers = [(0, 1), (1, 1), (2, 2), (3, 1), (4, 1), (5, 2), (2_500_000, 2), (2_600_000, 2)];
        let offers = offers.into_iter().enumerate().map(|(index, (ns, flow))| (ns, packet(index as u64, flow)));
        assert_eq!(travel(&mut path, &offers.collect::<Vec<_>>()).drops.len(), 2);
        let peaks = |flow| path.peaks(flow).iter().map(|peak| (peak.at.as_nanos(), peak.bytes, peak.packets)).collect();
        let (first, second): (Vec<_>, Vec<_>) = (peaks(1), peaks(2));
        assert_eq!(first, [(0, 1_000, 1), (1, 2_000, 2), (3, 3_000, 3)]);
        assert_eq!(second, [(2, 1_000, 1), (2_500_000, 2_000, 2), (2_600_000, 3_000, 3)]);
        assert!(path.peaks(3).is_empty());
    }

    #[test_case(QueueSpec::DropTail; "drop-tail")]
    #[test_case(QueueSpec::Codel(Codel::default()); "CoDel")]
    #[test_case(QueueSpec::FqCodel(FqCodel::default()); "FQ-CoDel")]
    #[test_case(QueueSpec::Pie(Pie::default()); "PIE")]
    #[test_case(QueueSpec::DualPi2(DualPi2::default()); "DualPI2")]
    fn an_account_changes_nothing_and_the_peak_of_all_is_that_of_the_queue(queue: QueueSpec) {
        let build = || path(queue, Buffer::Packets(60));
        // Twice the rate for 400 ms.
        let offers: Vec<_> = (0..800).map(|index| (index * 500_000, packet(index, index % 3))).collect();
        let (mut plain, mut metered) = (build(), build());
        metered.meter(|_| 0);
        let journey = travel(&mut plain, &offers);
        assert!(!journey.drops.is_empty());
        assert_eq!(travel(&mut metered, &offers), journey);
        let most = metered.peaks(0).last().unwrap().bytes;
        assert_eq!(most, metered.stats().max_backlog_bytes);
    }
}
