//! The path: what routers report (RFC 1191, RFC 8201), how long a report is valid, what a search finds out without them (RFC
//! 4821), which segment size follows from that, and which errors the network reported.
//!
//! A path MTU that shrinks is not a sign of congestion: segments that are too large are split and retransmitted, and the window
//! stays.
//!
//! Deviation: a connection learns about its path from its own segments and from the stack when it begins, not from other
//! connections to the same host: each learns by itself, at the cost of one segment, and no message causes work that grows with
//! the number of connections.

mod cx;
mod reports;
mod router;
mod search;

pub(super) use cx::PathCx;
pub(super) use reports::Reports;
pub(super) use router::TooBig;
pub(crate) use router::{About, LearnedMtu, MayCut};
pub(super) use search::{ProbeLoss, ProbeNow, ProbeView};

use crate::config::{AnnouncedMss, Discovery, MtuProbing};
use base::{Bytes, Instant, SeqNum, SeqRange};
use router::{LEAST_V6, Pending};
use search::Search;

/// Minimum MTU announced when a router reports less: room for 256 bytes of data.
const LEAST_ANNOUNCED_V4: u16 = 296;
/// Minimum payload and options of a segment, on any path.
const LEAST_MSS: u32 = 48;

/// What is known about a connection's path beyond its first link.
#[derive(Clone, Debug)]
pub(super) struct Path {
    /// The segment size that the SYNs agreed on, options not deducted; saved when the size first falls below it.
    agreed: Option<u16>,
    /// What a router reported.
    learned: Option<LearnedMtu>,
    /// State of the search that needs no router.
    search: Option<Search>,
    /// A router's report that waits for its segment to time out.
    pending: Option<Pending>,
    /// Bytes retransmitted because of routers' reports since the last progress.
    resent: Bytes,
    /// The stack has not fetched the learned value yet.
    unfetched: bool,
    reports: Reports,
}

/// The effect of a router's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// Nothing changes, or nothing yet.
    Nothing,
    /// The path is narrower; `resent` bytes were retransmitted because of earlier reports.
    Narrower { resent: Bytes },
}

impl Default for Path {
    fn default() -> Self {
        Self::UNKNOWN
    }
}

impl Path {
    /// The state of a path about which nothing is known.
    pub const UNKNOWN: Self = Self {
        agreed: None,
        learned: None,
        search: None,
        pending: None,
        resent: 0,
        unfetched: false,
        reports: Reports::NONE,
    };

    /// Returns what the network reported.
    #[inline]
    pub fn reports(&self) -> &Reports {
        &self.reports
    }

    /// Returns what the network reported, for a change.
    pub fn reports_mut(&mut self) -> &mut Reports {
        &mut self.reports
    }

    /// Returns the largest packet that the path carries as far as routers have reported, in bytes (RFC 1191 §3: PMTU).
    pub fn mtu(&self, link: u16) -> u16 {
        self.learned.map_or(link, |learned| learned.mtu.min(link))
    }

    /// Returns the largest packet from which our SYN's segment size is computed, in bytes.
    pub fn announced_mtu(&self, at: &PathCx) -> u16 {
        let least = if at.local.is_ipv4() { LEAST_ANNOUNCED_V4 } else { LEAST_V6 as u16 };
        let heard = self.learned.filter(|learned| learned.about == About::This);
        match (at.config.announced, heard) {
            (AnnouncedMss::Path, Some(learned)) => learned.mtu.max(least).min(at.link),
            _ => at.link,
        }
    }

    /// Returns whether routers may fragment outgoing packets.
    #[inline]
    pub fn may_cut(&self) -> bool {
        self.learned.is_some_and(|learned| learned.cut == MayCut::Yes)
    }

    /// Returns the segment size that the SYNs agreed on, options not deducted.
    fn agreed(&self, at: &PathCx) -> u16 {
        self.agreed.unwrap_or((at.smss + at.options).min(u32::from(u16::MAX)) as u16)
    }

    /// Saves the agreed segment size before the path changes it: until then it is the current size.
    pub fn note_agreed(&mut self, at: &PathCx) {
        self.agreed = Some(self.agreed(at));
    }

    //= specs/rfc9293.md#segment-size
    //# A segment with its options is no larger than the peer and the path take.
    /// Returns the segment size that the path carries, options deducted.
    pub fn smss(&self, at: &PathCx) -> Bytes {
        let mtu = self.search.as_ref().map_or(u16::MAX, Search::confirmed).min(self.mtu(at.link));
        let room = u32::from(mtu.saturating_sub(at.headers()));
        room.min(u32::from(self.agreed(at))).max(LEAST_MSS + at.options) - at.options
    }

    //= specs/rfc1191.md#the-path-mtu
    //# A connection to a host whose path is known begins with segments that fit, and announces its own size as ever.
    /// Applies what the stack knows about the path from an earlier connection to the same host.
    pub fn know(&mut self, at: &PathCx, learned: LearnedMtu) {
        self.note_agreed(at);
        self.learned = Some(LearnedMtu { about: About::Earlier, ..learned });
    }

    /// Begins with the segment size that the SYNs have agreed on; the path may carry less.
    pub fn begin(&mut self, at: &PathCx, now: Instant) {
        self.agreed = None;
        self.note_agreed(at);
        if Self::begins_to_search(at) {
            self.search = Some(Search::new(at, self.most(at), now));
        }
    }

    /// Returns whether a search begins with the connection.
    pub fn begins_to_search(at: &PathCx) -> bool {
        at.config.probing == MtuProbing::Always && at.config.discovery != Discovery::Off
    }

    /// Returns the largest packet that the peer accepts and, by all that is known, the path carries.
    fn most(&self, at: &PathCx) -> u16 {
        at.packet_of(self.agreed(at)).min(self.mtu(at.link))
    }

    //= specs/rfc1191.md#the-path-mtu
    //# A message about a packet that was too large lowers the path MTU to what it names.
    //= specs/rfc1191.md#the-path-mtu
    //# The path MTU is never taken for less than 68 bytes.
    //= specs/rfc5927.md#path-mtu
    //# A message that names a size which no delivered segment exceeds lowers the path MTU at once.
    //= specs/rfc5927.md#path-mtu
    //# Any other message changes nothing until its segment times out, and is dropped when that is acknowledged.
    /// Handles a router's report that a segment of ours was too large to forward. `largest` is the size of the largest segment
    /// known to have arrived.
    pub fn on_too_big(&mut self, at: &PathCx, now: Instant, message: &TooBig, largest: Bytes) -> Heard {
        if at.config.discovery != Discovery::On {
            return Heard::Nothing;
        }
        let Some((mtu, cut)) = message.believed(at, self.mtu(at.link)) else { return Heard::Nothing };
        self.note_agreed(at);
        if largest > 0 && largest + u32::from(at.headers()) + at.options > u32::from(mtu) {
            let new = Pending { seq: message.seq, mtu, cut };
            self.pending = Some(self.pending.filter(|kept| kept.outranks(&new)).unwrap_or(new));
            return Heard::Nothing;
        }
        self.narrow(at, now, mtu, cut);
        Heard::Narrower { resent: self.resent }
    }

    /// Limits packets to `mtu` bytes from now on.
    fn narrow(&mut self, at: &PathCx, now: Instant, mtu: u16, cut: MayCut) {
        self.note_agreed(at);
        self.learned = Some(LearnedMtu { mtu, cut, until: now + at.config.raise_after, about: About::This });
        (self.pending, self.unfetched) = (None, true);
        if let Some(search) = &mut self.search {
            search.on_narrower(mtu);
        }
    }

    /// Notes that `bytes` of too large segments are retransmitted because of a router's report.
    pub fn on_sent_again(&mut self, bytes: Bytes) {
        self.resent += bytes;
    }

    /// Handles an expired retransmission timer of the segment `first`: a router's report about that segment now counts as true.
    /// Returns whether the path is narrower now.
    pub fn on_timeout(&mut self, at: &PathCx, now: Instant, first: Option<SeqRange>) -> bool {
        // The timeout has slowed the sender down, so the next message may cause as many retransmissions again.
        self.resent = 0;
        let about = |pending: &mut Pending| first.is_some_and(|first| first.contains(pending.seq));
        let Some(Pending { mtu, cut, .. }) = self.pending.take_if(about) else { return false };
        // The path may have become narrower meanwhile.
        let narrower = mtu < self.mtu(at.link);
        if narrower {
            self.narrow(at, now, mtu, cut);
        }
        narrower
    }

    //= specs/rfc4821.md#black-holes
    //# After repeated timeouts the segment size falls to the one that the search begins with, and with more of them further.
    /// Handles the `timeouts`-th timeout in a row: large packets may vanish without a report (RFC 4821 §7.7, RFC 2923 §2.1).
    /// Returns whether segments in flight may be too large.
    pub fn suspect_black_hole(&mut self, at: &PathCx, now: Instant, timeouts: u32) -> bool {
        let given_up = self.give_up_probe();
        let deaf = at.config.probing == MtuProbing::Off || at.config.discovery == Discovery::Off;
        if deaf || timeouts < at.config.black_hole_timeouts {
            return given_up;
        }
        self.note_agreed(at);
        match &mut self.search {
            Some(search) => search.on_black_hole(at),
            None => self.search = Some(Search::new(at, self.most(at), now)),
        }
        true
    }

    /// Handles the acknowledgement of everything before `una`. Returns whether the path carries more than was known.
    pub fn on_acked(&mut self, una: SeqNum) -> bool {
        self.resent = 0;
        self.pending = self.pending.filter(|pending| pending.seq.at_or_after(una));
        self.reports.on_progress();
        self.search.as_mut().is_some_and(|search| search.on_acked(una))
    }

    /// Returns a path that a message has just shown to be narrower, for other connections to the same host.
    #[inline]
    pub fn take_learned(&mut self) -> Option<LearnedMtu> {
        core::mem::take(&mut self.unfetched).then_some(self.learned)?
    }

    /// Returns whether time alone may change what is known.
    #[inline]
    pub fn ages(&self) -> bool {
        self.learned.is_some() || self.search.is_some()
    }

    //= specs/rfc1191.md#the-path-mtu
    //# A path MTU is kept for ten minutes after a router named it; then a larger one is tried.
    //= specs/rfc8201.md#the-path-mtu
    //# A larger path MTU is not tried within five minutes of the message that named the present one.
    /// Before new data leaves, drops a router's report that has expired, and restarts a search that has ended, if it began long
    /// ago. Returns whether the segment size may have changed.
    #[cold]
    pub fn prepare(&mut self, at: &PathCx, now: Instant) -> bool {
        let aged = self.learned.take_if(|learned| learned.until <= now).is_some();
        let most = self.most(at);
        if let Some(search) = self.search.as_mut().filter(|_| !self.learned.is_some_and(|it| it.cut == MayCut::Yes)) {
            search.begin_again(at, most, now);
        }
        aged
    }

    /// Returns whether a search is in progress, or may restart.
    #[inline]
    pub fn searches(&self) -> bool {
        self.search.is_some()
    }

    /// Returns the number of segments sent to test whether the path carries larger ones; saturates.
    pub fn probes(&self) -> u16 {
        self.search.as_ref().map_or(0, Search::probes)
    }

    /// Returns whether the next new data is to be a probe. A probe reveals nothing where routers fragment packets that are too
    /// large.
    #[cold]
    pub fn probe_now(&self, at: &PathCx, view: &ProbeView) -> ProbeNow {
        match &self.search {
            Some(search) if !self.may_cut() => search.probe_now(at, view),
            _ => ProbeNow::No,
        }
    }

    /// Notes that a probe with these sequence numbers left.
    pub fn on_probe_sent(&mut self, at: &PathCx, range: SeqRange) {
        let size = range.len() + u32::from(at.headers()) + at.options;
        if let Some(search) = &mut self.search {
            search.on_sent(range, size as u16);
        }
    }

    /// Returns whether a segment about to be built is the probe, which stays one segment whatever its size.
    #[inline]
    pub fn is_probe(&self, range: SeqRange) -> bool {
        self.search.as_ref().is_some_and(|search| search.is_probe(range))
    }

    /// Handles segments that were marked lost, in an episode or outside (`open`). Returns how a probe among them was lost.
    pub fn on_lost(&mut self, lost: impl ExactSizeIterator<Item = SeqRange>, open: bool) -> ProbeLoss {
        self.search.as_mut().map_or(ProbeLoss::None, |search| search.on_lost(lost, open))
    }

    /// Gives up the probe in flight: after about two round trips of silence, a probe at the end of the flight may be the cause.
    /// Returns whether there was one.
    pub fn give_up_probe(&mut self) -> bool {
        self.search.as_mut().is_some_and(Search::give_up_probe)
    }
}
