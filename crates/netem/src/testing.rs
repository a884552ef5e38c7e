//! Shared by the tests of several modules: a packet, and a path driven to its end.

use crate::hop::{DropCause, Hop, Offer, Packet};
use crate::ip::Ecn;
use crate::path::Path;
use base::{Duration, Instant, Rate, Ratio, Rng};

/// A packet with an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parcel {
    pub(crate) index: u64,
    pub(crate) len: u32,
}

impl Packet for Parcel {
    fn wire_len(&self) -> u32 {
        self.len
    }
    fn mark_ce(&mut self) -> bool {
        false
    }
    fn duplicate(&self) -> Self {
        *self
    }
}

/// A packet with what queue managers look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Traveller {
    pub(crate) index: u64,
    pub(crate) len: u32,
    pub(crate) flow: u64,
    pub(crate) ecn: Ecn,
}

impl Packet for Traveller {
    fn wire_len(&self) -> u32 {
        self.len
    }
    fn mark_ce(&mut self) -> bool {
        let capable = self.ecn != Ecn::NotEct;
        if capable {
            self.ecn = Ecn::Ce;
        }
        capable
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn flow(&self) -> u64 {
        self.flow
    }
    fn duplicate(&self) -> Self {
        *self
    }
}

/// The fate of travellers: arrivals as (nanosecond, packet) in order, and drops.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Journey {
    pub(crate) arrivals: Vec<(u64, Traveller)>,
    pub(crate) drops: Vec<(Traveller, DropCause)>,
}

/// Offers each packet at its nanosecond, polling at every deadline on the way and to the end.
pub(crate) fn travel(path: &mut Path<Traveller>, offers: &[(u64, Traveller)]) -> Journey {
    let mut journey = Journey::default();
    let mut poll_until = |path: &mut Path<Traveller>, end: Instant, offered: Option<Traveller>| {
        let Journey { arrivals, drops } = &mut journey;
        let mut on_drop = |lost: Traveller, _, cause| drops.push((lost, cause));
        while let Some(deadline) = path.next_deadline().filter(|deadline| *deadline <= end) {
            while let Some((at, packet)) = path.poll(deadline, &mut on_drop) {
                arrivals.push((at.as_nanos(), packet));
            }
        }
        if let Some(packet) = offered {
            path.offer(end, packet, &mut on_drop);
        }
    };
    for (ns, packet) in offers {
        poll_until(path, at(*ns), Some(*packet));
    }
    poll_until(path, at(u64::MAX - 1), None);
    journey
}

pub(crate) fn full_sized(index: u64) -> Parcel {
    Parcel { index, len: 1_500 }
}
pub(crate) fn at(ns: u64) -> Instant {
    Instant::from_nanos(ns)
}
pub(crate) fn ns(ns: u64) -> Duration {
    Duration::from_nanos(ns)
}
pub(crate) fn rate(bps: u64) -> Rate {
    Rate::from_bits_per_sec(bps).unwrap()
}
pub(crate) fn percent(num: u64) -> Ratio {
    Ratio::new(num, 100).unwrap()
}

/// The fate of a sequence of packets: arrivals as (nanosecond, index) in order, drops as (index, cause).
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) arrivals: Vec<(u64, u64)>,
    pub(crate) drops: Vec<(u64, DropCause)>,
}

/// Offers one packet at each (nanosecond, bytes), polling at every deadline on the way and to the end.
pub(crate) fn drive(path: &mut Path<Parcel>, offers: &[(u64, u32)]) -> Outcome {
    let mut outcome = Outcome::default();
    for (index, (ns, len)) in (0..).zip(offers) {
        poll_until(path, at(*ns), &mut outcome);
        let parcel = Parcel { index, len: *len };
        path.offer(at(*ns), parcel, &mut |lost, _, cause| outcome.drops.push((lost.index, cause)));
    }
    poll_until(path, at(u64::MAX - 1), &mut outcome);
    outcome
}

fn poll_until(path: &mut Path<Parcel>, end: Instant, outcome: &mut Outcome) {
    while let Some(deadline) = path.next_deadline()
        && deadline <= end
    {
        let drops = &mut outcome.drops;
        while let Some((at, parcel)) = path.poll(deadline, &mut |lost, _, cause| drops.push((lost.index, cause))) {
            assert!(at <= deadline, "{parcel:?} came out before its time");
            outcome.arrivals.push((at.as_nanos(), parcel.index));
        }
    }
}

/// One hop as a path.
pub(crate) fn path_of(hop: impl Hop<Parcel> + 'static) -> Path<Parcel> {
    Path::new(vec![Box::new(hop)], &Rng::new(1))
}

/// The exit time of a packet that a hop forwards at once.
pub(crate) fn exit_of(offer: Offer<Parcel>) -> Instant {
    match offer {
        Offer::Forwards(exit, _) | Offer::Moves(exit, _, _) => exit,
        other => panic!("not forwarded: {other:?}"),
    }
}
