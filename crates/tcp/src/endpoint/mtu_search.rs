//! Packetization-layer path MTU discovery (RFC 4821): the sender finds out by itself what its path takes.
//!
//! Two bounds close in on the path MTU: `low` is known to arrive, `high` is not known to fail. A probe is one segment of new
//! data of a size between them. Its arrival raises `low`, and with it the segment size; its loss alone lowers `high`, is
//! repaired by segments of the usual size, and is not a sign of congestion.
//!
//! Deviations: a probe is one packet of data that is needed anyway, never padding; it is sent only outside episodes with a
//! window of at least eleven segments and data behind it, so that what follows reveals its loss without a timeout.

use super::Endpoint;
use super::output::{Outgoing, Transmit, TxBuf};
use super::path_mtu::{MayCut, headers};
use super::watch::SendCause;
use super::write::Train;
use crate::config::{Discovery, MtuProbing};
use crate::cx::Cx;
use base::{Bytes, Duration, Instant, SeqRange};
use recovery::Episode;
use trace::Observer;

/// A search under way, or ended and waiting to begin anew. Sizes are of packets.
#[derive(Clone, Debug)]
pub(super) struct Search {
    low: u16,
    high: u16,
    probe: Option<MtuProbe>,
    /// When the search began.
    since: Instant,
    /// Probes sent since the connection began.
    probes: u16,
}

/// A probe in flight.
#[derive(Clone, Copy, Debug)]
struct MtuProbe {
    range: SeqRange,
    size: u16,
}

/// Segments that the congestion window has to hold before one of them may be a probe.
const PROBE_WINDOW: u32 = 11;
/// Segments of the usual size that follow a probe, so that their arrival reveals its loss.
const FOLLOWERS: u32 = 4;
/// Least payload and options that repeated timeouts lead to.
const LEAST_MSS: u16 = 48;

/// Whether new data may leave instead of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProbeNow {
    /// No probe is to be sent now.
    No,
    /// A probe is to be sent once the flight has become small enough.
    Wait,
    /// A probe with this payload.
    Send(Bytes),
}

impl Search {
    /// The largest size known to arrive.
    pub fn confirmed(&self) -> u16 {
        self.low
    }

    /// A router named a size that the path takes.
    pub fn on_narrower(&mut self, mtu: u16) {
        (self.low, self.high) = (self.low.min(mtu), self.high.min(mtu));
        self.probe = None;
    }

    //= specs/rfc4821.md#the-search
    //# A probe has a size between the largest that is known to arrive and the smallest that is known to fail.
    fn middle(&self) -> u16 {
        self.low + (self.high - self.low) / 2
    }

    fn has_ended(&self, end: u16) -> bool {
        self.high - self.low < end
    }
}

impl Endpoint {
    fn search(&self) -> Option<&Search> {
        self.extras.as_ref()?.path.search.as_ref()
    }

    /// Segments sent to find out whether the path takes larger ones; saturates.
    pub fn mtu_probes(&self) -> u16 {
        self.search().map_or(0, |search| search.probes)
    }

    fn search_mut(&mut self) -> Option<&mut Search> {
        self.extras.as_mut()?.path.search.as_mut()
    }

    /// What a packet of full-sized segments has.
    fn packet_of(&self, mss: u16) -> u16 {
        mss.saturating_add(headers(self.tuple.local))
    }

    //= specs/rfc4821.md#the-search
    //# The search begins with a size of about 1024 bytes, whatever the first link takes, and ends with what the peer takes.
    /// Nothing is taken for granted but the smallest size.
    pub(super) fn begin_search(&mut self, now: Instant) {
        let high = self.packet_of(self.agreed_mss()).min(self.path_mtu());
        let low = self.packet_of(self.cfg.path_mtu.base_mss).min(high);
        self.path_mut().search = Some(Search { low, high, probe: None, since: now, probes: 0 });
    }

    //= specs/rfc4821.md#the-search
    //# A search that has ended begins anew after a while, for paths that have become wider.
    fn search_again(&mut self, now: Instant, after: Duration) {
        let high = self.packet_of(self.agreed_mss()).min(self.path_mtu());
        if let Some(search) = self.search_mut().filter(|search| now.since(search.since) >= after) {
            (search.high, search.since) = (high.max(search.low), now);
        }
    }

    //= specs/rfc4821.md#probes
    //# A probe is sent only outside recovery, with enough data behind it for its loss to be noticed without a timeout.
    //= specs/rfc4821.md#probes
    //# There is never more than one probe in flight.
    /// Whether the next new data is to be a probe.
    #[inline]
    pub(super) fn mtu_probe_now(&mut self, now: Instant) -> ProbeNow {
        if self.search().is_none() { ProbeNow::No } else { self.consider_probe(now) }
    }

    #[cold]
    fn consider_probe(&mut self, now: Instant) -> ProbeNow {
        let (config, cwnd, smss) = (self.cfg.path_mtu, self.snd.cc.window().cwnd(), self.snd.space.smss());
        let uncut = self.learned_mtu().is_none_or(|learned| learned.cut == MayCut::No);
        let Some(search) = self.search().filter(|search| search.probe.is_none() && uncut) else { return ProbeNow::No };
        if search.has_ended(config.search_end) {
            self.search_again(now, config.search_again);
            return ProbeNow::No;
        }
        let fixed = u32::from(headers(self.tuple.local)) + self.option_bytes();
        let len = u32::from(search.middle()).saturating_sub(fixed);
        let needed = len + FOLLOWERS * smss;
        let unsent = self.snd.not_let_go();
        let quiet = self.snd.rec.episode() == Episode::Open && self.segment_size() == smss;
        let takes = self.snd.planned() + needed <= self.snd.space.usable();
        if !quiet || cwnd / smss < PROBE_WINDOW || unsent < needed || !takes {
            return ProbeNow::No;
        }
        let pipe = self.snd.rec.board.pipe() + self.snd.planned();
        match (pipe + len.max(2 * smss) <= cwnd, pipe) {
            (true, _) => ProbeNow::Send(len),
            (false, 0) => ProbeNow::No,
            (false, _) => ProbeNow::Wait,
        }
    }

    /// Sends `len` bytes of new data in one segment larger than any that is known to arrive.
    pub(super) fn send_mtu_probe<O: Observer>(&mut self, cx: &mut Cx<'_, O>, out: &mut TxBuf, len: Bytes) -> Transmit {
        let range = self.snd.on_mtu_probe(cx.now, self.ts.tsval(cx.now), len);
        let size = len + u32::from(headers(self.tuple.local)) + self.option_bytes();
        if let Some(search) = self.search_mut() {
            search.probe = Some(MtuProbe { range, size: size as u16 });
            search.probes = search.probes.saturating_add(1);
        }
        self.emit_data(cx, out, Outgoing { range, retransmits: 0, train: Train::No, cause: SendCause::MtuProbe })
    }

    /// Whether a segment about to be built is the probe: one segment, whatever its size.
    #[inline]
    pub(super) fn is_mtu_probe(&self, range: SeqRange) -> bool {
        self.search().and_then(|search| search.probe).is_some_and(|probe| probe.range == range)
    }

    //= specs/rfc4821.md#probes
    //# A probe that arrives raises the segment size to its own.
    /// `SND.UNA` advanced.
    pub(super) fn judge_probe_by_ack(&mut self) {
        let una = self.snd.space.una();
        let Some(search) = self.search_mut() else { return };
        if let Some(probe) = search.probe.take_if(|probe| probe.range.end.at_or_before(una)) {
            search.low = search.low.max(probe.size);
            self.fit_path();
        }
    }

    //= specs/rfc4821.md#probes
    //# The loss of a probe alone lowers the upper bound, and is not answered as congestion.
    //= specs/rfc4821.md#probes
    //# The loss of a probe among other losses says nothing of its size.
    /// Step 7: segments were marked lost. When the probe was all of them, that is taken back and repaired, and what remains
    /// to be answered is nothing; when it was one of several, its loss says nothing about its size.
    pub(super) fn judge_probe_by_loss<O: Observer>(&mut self, cx: &mut Cx<'_, O>, newly_lost: Bytes) -> Bytes {
        let Some(probe) = self.search().and_then(|search| search.probe) else { return newly_lost };
        let inside = |segment: &recovery::SentSegment| probe.range.covers(segment.range());
        let mine = self.snd.rec.board.lost_log().iter().filter(|(segment, _)| inside(segment)).count();
        let all = self.snd.rec.board.lost_log().len();
        if mine == 0 {
            return newly_lost;
        }
        let alone = mine == all && self.snd.rec.episode() == Episode::Open;
        if let Some(search) = self.search_mut() {
            search.probe = None;
            if alone {
                search.high = (probe.size - 1).max(search.low);
            }
        }
        if !alone {
            self.recut(Bytes::MAX);
            return newly_lost;
        }
        self.snd.rec.board.clear_lost_log();
        self.cut_to_path(cx, Bytes::MAX);
        0
    }

    /// Nothing was heard for about two round trips, which may be the fault of a probe at the end of the flight: it is
    /// repaired instead of being repeated. Returns whether there was one.
    pub(super) fn give_up_mtu_probe<O: Observer>(&mut self, cx: &mut Cx<'_, O>) -> bool {
        let given_up = self.search_mut().and_then(|search| search.probe.take()).is_some();
        if given_up {
            self.cut_to_path(cx, Bytes::MAX);
        }
        given_up
    }

    //= specs/rfc4821.md#black-holes
    //# After repeated timeouts the segment size falls to the one that the search begins with, and with more of them further.
    /// Timeout after timeout: perhaps what is large vanishes without a word (RFC 4821 §7.7, RFC 2923 §2.1).
    pub(super) fn suspect_black_hole(&mut self, now: Instant) {
        let config = self.cfg.path_mtu;
        if self.search_mut().and_then(|search| search.probe.take()).is_some() {
            self.recut(Bytes::MAX);
        }
        let deaf = config.probing == MtuProbing::Off || config.discovery == Discovery::Off;
        if deaf || self.snd.rec.retries() < config.black_hole_timeouts {
            return;
        }
        if self.search().is_none() {
            self.begin_search(now);
        } else {
            let header = headers(self.tuple.local);
            if let Some(search) = self.search_mut() {
                let half = (search.low - header) / 2;
                search.low = search.low.min(half.min(config.base_mss).max(LEAST_MSS) + header);
            }
        }
        self.fit_path();
        self.recut(Bytes::MAX);
    }
}
