//! The search for the path MTU by segments of TCP (RFC 4821): the sender discovers by itself which packet size its path carries.
//!
//! Two bounds enclose the path MTU: size `low` is known to arrive, and `high` is the largest one not known to fail. A probe is
//! one segment of new data whose size lies between them. Its arrival raises `low`, and with it the segment size; its loss alone
//! lowers `high`, is repaired by segments of the usual size, and is not a sign of congestion.
//!
//! Deviations: a probe is one segment of data that has to leave anyway, never padding; it is sent only outside episodes, with a
//! window of at least eleven segments and more data behind it, so that later segments reveal its loss without a timeout.

use super::cx::PathCx;
use base::{Bytes, Instant, SeqNum, SeqRange};

/// Minimum congestion window, in segments, for sending a probe.
const PROBE_WINDOW: u32 = 11;
/// Segments of the usual size that follow a probe, so that their arrival reveals its loss.
const FOLLOWERS: u32 = 4;
/// Minimum payload and options to which repeated timeouts reduce the segment size, in bytes.
const LEAST_MSS: u16 = 48;

/// A search that is in progress, or has ended and waits to restart. Sizes are packet sizes in bytes.
#[derive(Clone, Debug)]
pub(super) struct Search {
    low: u16,
    high: u16,
    probe: Option<Probe>,
    /// When the search began.
    since: Instant,
    /// Probes sent since the connection began.
    probes: u16,
}

/// A probe in flight.
#[derive(Clone, Copy, Debug)]
struct Probe {
    range: SeqRange,
    size: u16,
}

/// The state of the sender that a probe depends on, in bytes.
#[derive(Clone, Copy, Debug)]
pub(in crate::endpoint) struct ProbeView {
    /// No episode is in progress, and a new segment may be a full one.
    pub quiet: bool,
    pub cwnd: Bytes,
    pub pipe: Bytes,
    /// Bytes that the peer's window takes beyond SND.NXT.
    pub usable: Bytes,
    /// Bytes that were released before the probe and have not left.
    pub planned: Bytes,
    /// Bytes that were written and have not been released.
    pub unsent: Bytes,
}

/// Whether new data may leave instead of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::endpoint) enum ProbeNow {
    /// No probe is to be sent now.
    No,
    /// A probe is to leave once the flight has become small enough.
    Wait,
    /// A probe with this many bytes of payload leaves.
    Send(Bytes),
}

/// How a probe was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::endpoint) enum ProbeLoss {
    /// It was not lost.
    None,
    /// Other segments were lost as well, or an episode was in progress: the loss says nothing about the probe's size.
    AmongOthers,
    /// Nothing else was lost: the probe was too large.
    Alone,
}

impl Search {
    //= specs/rfc4821.md#the-search
    //# The search begins with a size of about 1024 bytes, whatever the first link takes, and ends with what the peer takes.
    /// Starts a search that assumes only the smallest size; `most` is the largest packet that the peer and the path may take.
    pub fn new(at: &PathCx, most: u16, now: Instant) -> Self {
        let low = at.packet_of(at.config.base_mss).min(most);
        Self { low, high: most, probe: None, since: now, probes: 0 }
    }

    /// Returns the largest size known to arrive.
    pub fn confirmed(&self) -> u16 {
        self.low
    }

    /// Returns the number of probes sent since the connection began; saturates.
    pub fn probes(&self) -> u16 {
        self.probes
    }

    /// Adjusts the bounds to a smaller path MTU that a router reported.
    pub fn on_narrower(&mut self, mtu: u16) {
        (self.low, self.high) = (self.low.min(mtu), self.high.min(mtu));
        self.probe = None;
    }

    //= specs/rfc4821.md#the-search
    //# A probe has a size between the largest that is known to arrive and the smallest that is known to fail.
    fn middle(&self) -> u16 {
        self.low + (self.high - self.low) / 2
    }

    /// Returns whether no probe is in flight.
    pub fn is_free(&self) -> bool {
        self.probe.is_none()
    }

    fn has_ended(&self, end: u16) -> bool {
        self.high - self.low < end
    }

    //= specs/rfc4821.md#the-search
    //# A search that has ended begins anew after a while, for paths that have become wider.
    /// Restarts a search that has ended, if it began long enough ago; `most` is the largest packet that the peer and the path may
    /// take.
    pub fn begin_again(&mut self, at: &PathCx, most: u16, now: Instant) {
        if self.is_free() && self.has_ended(at.config.search_end) && now.since(self.since) >= at.config.search_again {
            (self.high, self.since) = (most.max(self.low), now);
        }
    }

    //= specs/rfc4821.md#probes
    //# A probe is sent only outside recovery, with enough data behind it for its loss to be noticed without a timeout.
    //= specs/rfc4821.md#probes
    //# There is never more than one probe in flight.
    /// Returns whether the next new data is to be a probe.
    pub fn probe_now(&self, at: &PathCx, view: &ProbeView) -> ProbeNow {
        if !self.is_free() || self.has_ended(at.config.search_end) {
            return ProbeNow::No;
        }
        let len = u32::from(self.middle()).saturating_sub(u32::from(at.headers()) + at.options);
        let needed = len + FOLLOWERS * at.smss;
        let takes = view.planned + needed <= view.usable;
        if !view.quiet || view.cwnd / at.smss < PROBE_WINDOW || view.unsent < needed || !takes {
            return ProbeNow::No;
        }
        let pipe = view.pipe + view.planned;
        match (pipe + len.max(2 * at.smss) <= view.cwnd, pipe) {
            (true, _) => ProbeNow::Send(len),
            (false, 0) => ProbeNow::No,
            (false, _) => ProbeNow::Wait,
        }
    }

    /// Records that a probe left, in a packet of `size` bytes.
    pub fn on_sent(&mut self, range: SeqRange, size: u16) {
        self.probe = Some(Probe { range, size });
        self.probes = self.probes.saturating_add(1);
    }

    /// Returns whether these sequence numbers are the probe's.
    pub fn is_probe(&self, range: SeqRange) -> bool {
        self.probe.is_some_and(|probe| probe.range == range)
    }

    //= specs/rfc4821.md#probes
    //# A probe that arrives raises the segment size to its own.
    /// Handles the acknowledgement of everything before `una`. Returns whether a larger size is now known to arrive.
    pub fn on_acked(&mut self, una: SeqNum) -> bool {
        let arrived = self.probe.take_if(|probe| probe.range.end.at_or_before(una));
        self.low = arrived.map_or(self.low, |probe| self.low.max(probe.size));
        arrived.is_some()
    }

    //= specs/rfc4821.md#probes
    //# The loss of a probe alone lowers the upper bound, and is not answered as congestion.
    //= specs/rfc4821.md#probes
    //# The loss of a probe among other losses says nothing of its size.
    /// Handles segments that were marked lost, in an episode or outside (`open`). Returns how the probe was lost, if it was.
    pub fn on_lost(&mut self, lost: impl ExactSizeIterator<Item = SeqRange>, open: bool) -> ProbeLoss {
        let Some(probe) = self.probe else { return ProbeLoss::None };
        let all = lost.len();
        let mine = lost.filter(|&range| probe.range.covers(range)).count();
        if mine == 0 {
            return ProbeLoss::None;
        }
        self.probe = None;
        if mine < all || !open {
            return ProbeLoss::AmongOthers;
        }
        self.high = (probe.size - 1).max(self.low);
        ProbeLoss::Alone
    }

    /// Gives up the probe in flight. Returns whether there was one.
    pub fn give_up_probe(&mut self) -> bool {
        self.probe.take().is_some()
    }

    /// Reduces the segment size, because segments of the current size seem to vanish.
    pub fn on_black_hole(&mut self, at: &PathCx) {
        let half = (self.low - at.headers()) / 2;
        self.low = self.low.min(at.packet_of(half.min(at.config.base_mss).max(LEAST_MSS)));
    }
}
