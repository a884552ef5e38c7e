//! One direction of a link: the current path, and earlier ones until their last packets have arrived.
//!
//! A changed path draws from separate streams, and its bottleneck begins behind the packets that still wait in the old one;
//! packets in flight arrive as without the change. A link that is never changed draws exactly what the simulator draws for the
//! same seed.

use super::packet::{Datagram, Parcel};
use super::report::DirectionReport;
use crate::pool::Pool;
use base::{Instant, Rng};
use netem::{HopKind, Path, PathSpec, PathStats};

/// The direction of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From end a to end b.
    Ab,
    /// From end b to end a.
    Ba,
}

impl Way {
    /// Returns the name of its random streams, as in the simulator.
    const fn label(self) -> &'static str {
        match self {
            Self::Ab => "link/a→b",
            Self::Ba => "link/b→a",
        }
    }
}

/// One direction.
#[derive(Debug)]
pub(crate) struct Direction {
    rng: Rng,
    /// How often the path was changed.
    changes: u64,
    path: Path<Parcel>,
    older: Vec<Path<Parcel>>,
    /// Sum of the statistics of paths that have emptied and are gone.
    gone: PathStats,
}

impl Direction {
    pub(crate) fn new(way: Way, spec: &PathSpec, seed: u64) -> Self {
        let rng = Rng::new(seed).fork(way.label());
        let path = spec.build(&rng);
        Self { rng, changes: 0, path, older: Vec::new(), gone: PathStats::default() }
    }

    /// Begins at `now`; call it before the first packet.
    pub(crate) fn begin(&mut self, now: Instant) {
        self.path.begin(now);
    }

    /// Sends later packets over another path, which begins at `now`.
    pub(crate) fn change(&mut self, now: Instant, spec: &PathSpec) {
        self.changes += 1;
        let mut path = spec.build(&self.rng.fork(&format!("change/{}", self.changes)));
        path.begin(now);
        path.take_over(&mut self.path);
        let old = std::mem::replace(&mut self.path, path);
        self.older.push(old);
    }

    /// Accepts a packet at `now`.
    pub(crate) fn offer(&mut self, now: Instant, packet: Parcel, pool: &mut Pool<Datagram>) {
        self.path.offer(now, packet, &mut |lost, _, _| pool.put_back(lost));
    }

    /// Returns the next packet that has arrived by `now`, and its arrival time.
    pub(crate) fn poll(&mut self, now: Instant, pool: &mut Pool<Datagram>) -> Option<(Instant, Parcel)> {
        let mut back = |lost: Parcel, _: HopKind, _| pool.put_back(lost);
        if self.older.is_empty() {
            return self.path.poll(now, &mut back);
        }
        loop {
            let paths = self.older.iter_mut().chain([&mut self.path]);
            let (due, path) = paths.filter_map(|path| Some((path.next_deadline()?, path))).min_by_key(|(at, _)| *at)?;
            if due > now {
                return None;
            }
            let arrived = path.poll(now, &mut back);
            self.forget_the_empty();
            if arrived.is_some() {
                return arrived;
            }
        }
    }

    fn forget_the_empty(&mut self) {
        let gone = &mut self.gone;
        self.older.retain(|path| {
            if path.in_flight() == 0 {
                add(gone, &path.stats());
            }
            path.in_flight() > 0
        });
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.paths().filter_map(Path::next_deadline).min()
    }

    /// Returns the hops' statistics so far, and their content at `now`. The paths do not know the rest.
    pub(crate) fn report(&self, now: Instant) -> DirectionReport {
        let mut path = self.gone;
        self.paths().for_each(|one| add(&mut path, &one.stats()));
        DirectionReport {
            path,
            backlog_bytes: self.paths().map(|path| path.backlog(now)).sum(),
            in_flight: self.paths().map(|path| path.in_flight() as u64).sum(),
            ..DirectionReport::default()
        }
    }

    fn paths(&self) -> impl Iterator<Item = &Path<Parcel>> {
        self.older.iter().chain([&self.path])
    }
}

fn add(sum: &mut PathStats, one: &PathStats) {
    sum.offered += one.offered;
    sum.offered_bytes += one.offered_bytes;
    sum.delivered += one.delivered;
    sum.delivered_bytes += one.delivered_bytes;
    sum.duplicated += one.duplicated;
    sum.dropped = sum.dropped.plus(one.dropped);
    sum.marked += one.marked;
    sum.max_backlog_bytes = sum.max_backlog_bytes.max(one.max_backlog_bytes);
}

#[cfg(test)]
mod tests;
