//! The decision about the next departure. [`Sender::next`] decides and changes nothing: the effects of time or a call were
//! applied before, and those of the departure are applied after it. So a table of tests can check what would leave now.

use super::Sender;
use crate::config::Config;
use crate::endpoint::path::ProbeNow;
use crate::endpoint::{Probing, SendSide};
use base::{Bytes, Instant, SeqNum};
use recovery::{Mark, SegmentId};

/// New data, with the FIN behind it if `fin`; a FIN alone has no bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NewData {
    pub len: Bytes,
    pub fin: bool,
}

/// The content of a tail loss probe (RFC 8985 §7.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TailProbe {
    New(NewData),
    /// The segment with the highest sequence numbers, again.
    Again(SegmentId),
}

/// The content of a probe of a closed window (RFC 9293 §3.8.6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// An empty segment.
    Empty,
    New(NewData),
}

/// The next departure, or the reason why nothing leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Departure {
    Reset,
    Syn,
    /// A segment that is marked lost; if `forced`, it may exceed the congestion window.
    Retransmit {
        id: SegmentId,
        forced: bool,
    },
    TailProbe(TailProbe),
    /// New data by which F-RTO examines a timeout (RFC 5682 §2.1, step 2b).
    Frto(NewData),
    New(NewData),
    /// A segment below a SACKed one that is not marked lost (RFC 6675 §4, NextSeg rule 3).
    UnmarkedHole(SegmentId),
    /// The highest segment outstanding, once in an episode (RFC 6675 §4, NextSeg rule 4).
    Rescue(SegmentId),
    WindowProbe(Ask),
    /// One segment larger than any known to arrive (RFC 4821 §7).
    MtuProbe {
        len: Bytes,
    },
    /// An empty segment that the peer must answer.
    BareProbe,
    Ack,
    /// No data leaves, for this reason.
    Held(HeldBy),
    Nothing,
}

/// The reason why no data leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeldBy {
    /// The congestion window, or the reduction of an episode.
    Cwnd,
    PeerWindow,
    /// The rule for small segments (RFC 9293 §3.7.4).
    Nagle,
    /// The application's request to send only full segments.
    Cork,
    Pacer(Instant),
    /// The flight has to shrink before a probe of the path's MTU may leave.
    MtuSearch,
    /// Congestion marks at a window of one segment (RFC 3168 §6.1.2).
    Ecn(Instant),
    /// F-RTO waits for an acknowledgement that shows whether the timeout was spurious.
    Frto,
    /// A chunk waits for the next acknowledgement or write.
    Deferred,
    /// All written data has left.
    AppLimited,
}

/// The input of the decision, beyond the sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub reset_due: bool,
    pub syn_due: bool,
    /// The connection's state allows data to leave.
    pub open: bool,
    /// Payload bytes of a full segment.
    pub size: Bytes,
    /// Maximum payload bytes of one frame; zero if the device does not segment frames.
    pub tso_max_bytes: Bytes,
    /// Urgent data is outstanding: a device that segments a frame would repeat its urgent pointer.
    pub urgent: bool,
    /// The next new data carries CWR, which only one segment may have.
    pub owes_cwr: bool,
    /// The next lost segment to retransmit, and its bytes.
    pub lost: Option<(SegmentId, Bytes)>,
    /// Bytes that were written and have not left, if new data or a FIN waits; a FIN alone has none.
    pub new: Option<Bytes>,
    pub paced_until: Option<Instant>,
    pub marks_until: Option<Instant>,
    pub(in crate::endpoint) mtu_probe: ProbeNow,
    /// The reason for not releasing the oldest chunk, if the chunks were checked.
    pub chunk_held: Option<HeldBy>,
}

impl View {
    /// Creates the input for a state in which no data may leave.
    pub fn without_data(reset_due: bool, syn_due: bool) -> Self {
        Self {
            reset_due,
            syn_due,
            open: false,
            size: 0,
            tso_max_bytes: 0,
            urgent: false,
            owes_cwr: false,
            lost: None,
            new: None,
            paced_until: None,
            marks_until: None,
            mtu_probe: ProbeNow::No,
            chunk_held: None,
        }
    }
}

impl Sender {
    /// Returns the next departure by priority; acknowledgements and bare probes have the lowest ([`Self::next_bare`]).
    #[inline(always)]
    pub fn next(&self, cfg: &Config, view: &View) -> Departure {
        if view.reset_due {
            return Departure::Reset;
        }
        if view.syn_due {
            return Departure::Syn;
        }
        if !view.open {
            return Departure::Nothing;
        }
        let data = if self.rec.tail.is_due() { self.next_tail_probe(view.size) } else { self.next_data(cfg, view) };
        if matches!(self.rec.probing(), Probing::Due(_))
            && matches!(data, Departure::Held(_) | Departure::Nothing)
            && let Some(ask) = self.next_window_probe(view.size)
        {
            return Departure::WindowProbe(ask);
        }
        data
    }

    /// Returns the segment without data that leaves when no data does.
    #[inline]
    pub fn next_bare(&self, ack_due: bool) -> Departure {
        if self.rec.owes_bare_probe() {
            Departure::BareProbe
        } else if ack_due {
            Departure::Ack
        } else {
            Departure::Nothing
        }
    }

    //= specs/rfc8985.md#sending-a-probe
    //# The probe is the next unsent segment, if there is one and the peer's window takes it.
    //= specs/rfc8985.md#sending-a-probe
    //# Without such a segment the probe is the segment with the highest sequence numbers, sent again.
    //= specs/rfc8985.md#sending-a-probe
    //# A probe may exceed the congestion window by one segment, and counts as in flight.
    /// Returns the tail loss probe to send. RFC 8985 §7.3: the congestion window does not limit it.
    #[cold]
    fn next_tail_probe(&self, size: Bytes) -> Departure {
        if let Some(new) = self.one_new(size) {
            return Departure::TailProbe(TailProbe::New(new));
        }
        match self.rec.board.last() {
            Some(last) if last.mark == Mark::Outstanding => Departure::TailProbe(TailProbe::Again(last.id)),
            _ => Departure::Nothing,
        }
    }

    //= specs/rfc6675.md#next-segment
    //# When no lost hole is left, new data is sent, if the peer's window takes it.
    //= specs/rfc5682.md#basic-algorithm
    //# A first ACK that advances SND.UNA otherwise lets up to two new segments leave, and no retransmission.
    #[inline(always)]
    fn next_data(&self, cfg: &Config, view: &View) -> Departure {
        if let Some(left) = self.examining() {
            return match self.one_new(view.size) {
                Some(new) if left > 0 => Departure::Frto(new),
                _ => Departure::Held(HeldBy::Frto),
            };
        }
        if view.lost.is_none() && view.new.is_none() && !self.has_unmarked() {
            return self.nothing_waits();
        }
        if let Some(until) = view.paced_until {
            return Departure::Held(HeldBy::Pacer(until));
        }
        if let Some((id, len)) = view.lost {
            return self.next_retransmission(cfg, id, len);
        }
        match self.next_new(cfg, view) {
            waits @ (Departure::Held(_) | Departure::Nothing) => self.next_unmarked(cfg).unwrap_or(waits),
            new => new,
        }
    }

    /// Returns the decision when all written data has left, and the FIN too if one was queued.
    #[inline]
    fn nothing_waits(&self) -> Departure {
        match self.space.side() {
            SendSide::Open => Departure::Held(HeldBy::AppLimited),
            SendSide::FinQueued | SendSide::FinSent => Departure::Nothing,
        }
    }

    //= specs/rfc9937.md#each-ack
    //# While nothing was sent in the episode, at least one SMSS may be sent.
    //= specs/rfc8985.md#other-algorithms
    //# A segment marked lost is not retransmitted before congestion control lets it.
    fn next_retransmission(&self, cfg: &Config, id: SegmentId, len: Bytes) -> Departure {
        let forced = self.rec.forced();
        // A FIN behind a full segment occupies a sequence number, but the window counts data.
        if !forced && len.min(self.space.smss()) > self.allowance(cfg) {
            return Departure::Held(HeldBy::Cwnd);
        }
        Departure::Retransmit { id, forced }
    }

    /// Returns the new data to send, or the FIN behind it.
    #[inline(always)]
    fn next_new(&self, cfg: &Config, view: &View) -> Departure {
        let Some(unsent) = view.new else {
            return self.nothing_waits();
        };
        if let Some(until) = view.marks_until {
            return Departure::Held(HeldBy::Ecn(until));
        }
        match view.mtu_probe {
            ProbeNow::Send(len) if self.planned() == 0 => return Departure::MtuProbe { len },
            ProbeNow::Wait if self.planned() == 0 => return Departure::Held(HeldBy::MtuSearch),
            _ => {}
        }
        let fin_waits = self.space.side() == SendSide::FinQueued;
        if unsent == 0 && self.fin_has_to_wait() {
            return Departure::Held(HeldBy::PeerWindow);
        }
        let cut = if unsent == 0 { Ok(0) } else { self.next_len(cfg, view, unsent) };
        match cut {
            Ok(len) => Departure::New(NewData { len, fin: fin_waits && len == unsent }),
            Err(by) => Departure::Held(by),
        }
    }

    //= specs/rfc9293.md#windows
    //# No new data leaves beyond the right edge of the peer's window.
    //= specs/rfc7323.md#window-scale
    //# No new data, other than a probe of a closed window, is sent beyond the window last received.
    /// Returns how many of `unsent` bytes leave, where data is cut into segments as it leaves.
    #[inline(always)]
    pub fn next_segments(&self, cfg: &Config, view: &View, unsent: Bytes) -> Result<Bytes, HeldBy> {
        let (size, usable) = (view.size, self.space.usable());
        let mut len = unsent.min(usable).min(self.frame(view));
        if len > size {
            // Whole segments only; the next call decides about the remainder.
            len -= len % size;
        }
        let allowance = self.allowance(cfg);
        if len > allowance && allowance >= size {
            len = allowance - allowance % size;
        }
        if len > allowance {
            return Err(HeldBy::Cwnd);
        }
        if len < size && !self.small_may_leave(&cfg.send, view.urgent, len, unsent) {
            return Err(if usable < unsent.min(size) { HeldBy::PeerWindow } else { HeldBy::Nagle });
        }
        Ok(len)
    }

    /// Returns the maximum payload bytes of one frame.
    #[inline(always)]
    fn frame(&self, view: &View) -> Bytes {
        if view.owes_cwr || view.urgent {
            return view.size;
        }
        let allowed = self.pacer.as_ref().map_or(Bytes::MAX, |pacer| pacer.allowed());
        view.tso_max_bytes.min(allowed).max(view.size)
    }

    /// Returns the segment that NextSeg rules 3 and 4 of RFC 6675 choose.
    fn next_unmarked(&self, cfg: &Config) -> Option<Departure> {
        if !self.has_unmarked() || self.allowance(cfg) < self.space.smss() {
            return None;
        }
        let hole = self.rec.board.next_unmarked_hole().map(|hole| Departure::UnmarkedHole(hole.id));
        hole.or_else(|| self.rec.board.rescue().map(|last| Departure::Rescue(last.id)))
    }

    /// Returns the probe of a closed window. RFC 9293 §3.8.6.1: one byte beyond the closed window, or, if the silly-window rules
    /// held data back, as much as the window takes; where probes are empty, nothing beyond a closed window.
    #[cold]
    fn next_window_probe(&self, size: Bytes) -> Option<Ask> {
        let empty = self.probes_are_empty();
        let unsent = self.unsent();
        if !self.new_waits() || (unsent == 0 && !empty) {
            return None;
        }
        if empty && self.space.wnd() == 0 {
            return Some(Ask::Empty);
        }
        let len = self.up_to_boundary(self.space.wnd().min(unsent).clamp(1, size));
        Some(Ask::New(NewData { len: len.min(unsent), fin: unsent == 0 }))
    }

    /// Returns one segment of up to `size` bytes of new data, if the peer's window takes it, regardless of the congestion window
    /// and Nagle's rule.
    pub fn one_new(&self, size: Bytes) -> Option<NewData> {
        let unsent = self.unsent();
        let len = self.up_to_boundary(unsent.min(size));
        if self.space.side() == SendSide::FinSent || len == 0 || len > self.space.usable() {
            return None;
        }
        Some(NewData { len, fin: self.space.side() == SendSide::FinQueued && len == unsent })
    }

    /// Returns the bytes that were written and have not left.
    #[inline]
    pub fn unsent(&self) -> Bytes {
        // A FIN that was sent has a number behind the data.
        let end: SeqNum = self.data_end();
        end.distance_from(self.space.nxt().min(end))
    }

    /// Returns whether new data or the FIN waits to leave.
    #[inline]
    pub fn new_waits(&self) -> bool {
        match self.space.side() {
            SendSide::Open => self.data_end() != self.space.nxt(),
            SendSide::FinQueued => true,
            SendSide::FinSent => false,
        }
    }

    /// Returns how many segments of new data F-RTO may still send in place of retransmissions, while it examines a timeout. The
    /// first retransmission precedes them.
    #[inline]
    pub fn examining(&self) -> Option<u8> {
        self.rec.undo.as_ref()?.frto.new_segments().filter(|_| !self.rec.forced())
    }
}

#[cfg(test)]
mod tests;
