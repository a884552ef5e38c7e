//! A second bottleneck in line with a link's own path. Flows cross both, or enter or leave between them: with one flow of each kind that is
//! a parking lot.

use crate::access::{FIRST_PORT, flow_of};
use crate::outcome::SecondOutcome;
use crate::packet::Parcel;
use crate::scenario::Hops;
use crate::waits::Waits;
use crate::watch::Delays;
use base::Instant;
use netem::{DropCause, HopKind, Path};
use std::collections::VecDeque;

/// A link's own path, and how long packets wait there.
type Own<'l> = (&'l mut Path<Parcel>, &'l mut Option<Waits>);

/// What is done with dropped packets. Not a type of its own for each caller: the paths of links with one bottleneck are compiled for those,
/// and each of their functions has one caller then.
type Dropped<'d> = &'d mut dyn FnMut(Parcel, HopKind, DropCause);

/// What a link with two bottlenecks has beside its own path.
#[derive(Debug)]
pub(crate) struct Tandem {
    pub(crate) path: Path<Parcel>,
    pub(crate) waits: Option<Waits>,
    /// Whether packets that cross both come to the link's own path first.
    own_first: bool,
    /// What each flow crosses.
    of_flow: Vec<Hops>,
    /// What has left the whole way: from the first bottleneck on it, and from the last.
    left: [VecDeque<(Instant, Parcel)>; 2],
    /// Packets that never cross the link's own path, that came from one to the other, and that left between the two.
    apart: u64,
    passed: u64,
    between: u64,
    /// Whether the last packet offered entered the link's own path.
    is_own: bool,
}

impl Tandem {
    pub(crate) fn new(path: Path<Parcel>, waits: Option<Waits>, own_first: bool, of_flow: Vec<Hops>) -> Self {
        Self {
            path,
            waits,
            own_first,
            of_flow,
            left: Default::default(),
            apart: 0,
            passed: 0,
            between: 0,
            is_own: true,
        }
    }

    /// What became of packets here.
    pub(crate) fn outcome(&self) -> SecondOutcome {
        let &Self { apart, passed, between, .. } = self;
        let delays = self.waits.as_ref().map_or_else(Delays::default, |waits| waits.delays.clone());
        SecondOutcome { path: self.path.stats(), delays, apart, passed, between }
    }

    /// Whether the last packet offered entered the link's own path.
    pub(crate) fn is_own(&self) -> bool {
        self.is_own
    }

    /// Packets inside.
    pub(crate) fn in_flight(&self) -> usize {
        self.path.in_flight() + self.left.iter().map(VecDeque::len).sum::<usize>()
    }

    /// Returns when to call `poll` next, as far as this part knows; `Instant::MAX` for never.
    pub(crate) fn next_deadline(&self) -> Instant {
        let left = self.left.iter().filter_map(|left| left.front()).map(|(at, _)| *at);
        left.chain(self.path.next_deadline()).min().unwrap_or(Instant::MAX)
    }

    /// A packet enters where its flow does.
    #[cold]
    pub(crate) fn offer(&mut self, (own, waits): Own<'_>, packet: Parcel, dropped: Dropped<'_>) {
        let now = packet.entered;
        // What leaves the first by now comes to the last before it.
        self.advance((own, waits), now, dropped);
        let hops = hops_of(&self.of_flow, &packet);
        self.apart += u64::from(hops == Hops::Second);
        self.is_own = match hops {
            Hops::Both => self.own_first,
            Hops::First => true,
            Hops::Second => false,
        };
        let path = if self.is_own { own } else { &mut self.path };
        path.offer(now, packet, &mut |packet, hop, cause| dropped(packet, hop, cause));
    }

    /// Returns a packet that has left the whole way by `now`, and when it did, in the order of their times.
    pub(crate) fn poll<F>(&mut self, (own, waits): Own<'_>, now: Instant, dropped: &mut F) -> Option<(Instant, Parcel)>
    where
        F: FnMut(Parcel, HopKind, DropCause),
    {
        self.advance((own, waits), now, dropped);
        let (last, waits) = if self.own_first { (&mut self.path, &mut self.waits) } else { (own, waits) };
        while let Some((at, packet)) = last.poll(now, &mut |packet, hop, cause| dropped(packet, hop, cause)) {
            note(waits, at, &packet);
            self.left[1].push_back((at, packet));
        }
        let at = |left: &VecDeque<(Instant, Parcel)>| left.front().map_or(Instant::MAX, |(at, _)| *at);
        let from = usize::from(at(&self.left[1]) < at(&self.left[0]));
        self.left[from].pop_front()
    }

    /// Moves on what has left the first bottleneck by `now`.
    fn advance(&mut self, (own, waits): Own<'_>, now: Instant, dropped: Dropped<'_>) {
        let (first, waits, last) = match self.own_first {
            true => (own, waits, &mut self.path),
            false => (&mut self.path, &mut self.waits, own),
        };
        while let Some((at, mut packet)) = first.poll(now, &mut |packet, hop, cause| dropped(packet, hop, cause)) {
            note(waits, at, &packet);
            if hops_of(&self.of_flow, &packet) == Hops::Both {
                packet.entered = at;
                self.passed += 1;
                last.offer(at, packet, &mut |packet, hop, cause| dropped(packet, hop, cause));
            } else {
                self.between += 1;
                self.left[0].push_back((at, packet));
            }
        }
    }
}

/// What a packet crosses. A router's report goes the whole way.
fn hops_of(of_flow: &[Hops], packet: &Parcel) -> Hops {
    if packet.is_report() { Hops::Both } else { of_flow[flow_of(packet, FIRST_PORT)] }
}

fn note(waits: &mut Option<Waits>, at: Instant, packet: &Parcel) {
    if let Some(waits) = waits {
        waits.note(at, packet);
    }
}
