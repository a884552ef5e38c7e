//! The network between the two hosts: ICMP errors about our segments (RFC 9293 §3.9.2.2, RFC 5927), echoes of congestion marks
//! (RFC 3168), and the effects of the path's size on the connection.

use super::path::{Heard, LearnedMtu, Path, PathCx, ProbeNow, ProbeView, TooBig};
use super::sender::Sender;
use super::{Endpoint, Origin, Segment, State};
use crate::config::{Discovery, EcnResponse};
use crate::cx::Cx;
use crate::event::{CloseReason, Disposition, DropReason, IcmpError};
use crate::options::{self, TIMESTAMP_BYTES};
use base::{Bytes, Instant, SeqRange};
use recovery::{Episode, Mark};
use trace::{EpisodeCause, Observer};
use wire::{Flags, Fragmentation, IcmpKind, IcmpNotice, Unreachable};

impl Endpoint {
    /// Returns the state of the path.
    #[inline]
    pub(super) fn path(&self) -> &Path {
        self.extras.as_ref().map_or(&Path::UNKNOWN, |extras| &extras.path)
    }

    pub(super) fn path_cx(&self) -> PathCx {
        let options = if self.neg.timestamps { TIMESTAMP_BYTES } else { 0 };
        let smss = self.snd.space.smss();
        PathCx { config: self.cfg.path_mtu, link: self.mtu, local: self.tuple.local, options, smss }
    }

    /// Returns the largest packet that the path carries as far as routers have reported, in bytes (RFC 1191 §3: PMTU).
    pub fn path_mtu(&self) -> u16 {
        self.path().mtu(self.mtu)
    }

    /// Returns the number of segments sent to test whether the path carries larger ones; saturates.
    pub fn mtu_probes(&self) -> u16 {
        self.path().probes()
    }

    /// Returns the last error that the network reported, unless later progress disproved it (RFC 9293 MUST-47).
    pub fn soft_error(&self) -> Option<IcmpError> {
        self.path().reports().last()
    }

    /// Returns the segment size that our SYN announces.
    pub(super) fn announced_mss(&self) -> u16 {
        options::own_mss(&self.cfg, self.path().announced_mtu(&self.path_cx()), self.tuple.local)
    }

    //= specs/rfc1191.md#the-path-mtu
    //# Packets leave with DF set.
    /// Returns DF, and the identification of packets without it.
    #[inline]
    pub(super) fn fragmentation(&self) -> Fragmentation {
        let cut = self.cfg.path_mtu.discovery == Discovery::Off || self.path().may_cut();
        if cut && self.tuple.local.is_ipv4() {
            // RFC 6864 §4.3 asks for identifications that do not repeat soon: each connection starts at a different value.
            let from = (self.snd.space.iss().0 >> 16) as u16;
            return Fragmentation::Allowed { id: from.wrapping_add(self.stats.segments_sent() as u16) };
        }
        Fragmentation::Forbidden
    }

    //= specs/rfc5927.md#validity
    //# An error about a segment that is not in flight is dropped and counted.
    //= specs/rfc5927.md#errors
    //# A source quench does nothing.
    //= specs/rfc9293.md#network-layer
    //# The application learns what the network reports.
    //= specs/rfc5927.md#errors
    //# A soft error ends nothing, but is reported to the application.
    /// Handles a report from the network about a segment that this endpoint sent, at `cx.now`.
    pub fn handle_icmp<O: Observer>(&mut self, cx: &mut Cx<'_, O>, notice: &IcmpNotice) -> Disposition {
        if matches!(self.life.state(), State::TimeWait | State::Closed) {
            return Disposition::Dropped(DropReason::Closed);
        }
        // An early connection counts its SYN-ACK as acknowledged, but it is still in flight.
        let first = if self.is_early() { self.snd.space.iss() } else { self.snd.space.una() };
        if !SeqRange::new(first, self.snd.space.nxt()).contains(notice.seq) {
            return Disposition::Dropped(DropReason::OutOfWindow);
        }
        if let IcmpKind::TooBig { mtu, packet_len } = notice.kind {
            self.on_too_big(cx, &TooBig { seq: notice.seq, said: mtu, packet_len });
            return Disposition::Accepted;
        }
        let Some(error) = IcmpError::of(notice.kind) else { return Disposition::Accepted };
        let opening = self.is_opening();
        if opening && error.ends_opening(self.cfg.icmp.opening) {
            let reason = match (error, self.life.origin()) {
                (IcmpError::Unreachable(Unreachable::Port), Origin::Active) => CloseReason::Refused,
                _ => CloseReason::Icmp(error),
            };
            self.finish(cx, reason);
        } else {
            // An application does not learn of errors on a connection that it has not received yet.
            let known = !(opening && self.life.origin() == Origin::Passive);
            self.extras.get_or_insert_default().path.reports_mut().on_error(error, known);
        }
        Disposition::Accepted
    }

    /// Handles a router's report that a segment of ours was too large to forward.
    fn on_too_big<O: Observer>(&mut self, cx: &mut Cx<'_, O>, message: &TooBig) {
        let (at, largest) = (self.path_cx(), u32::from(self.snd.space.largest_delivered()));
        let Heard::Narrower { resent } =
            self.extras.get_or_insert_default().path.on_too_big(&at, cx.now, message, largest)
        else {
            return;
        };
        self.fit_path();
        self.snd.space.forget_larger();
        if self.life.state() == State::SynSent && self.extras.get_or_insert_default().fast_open.withdraw_data() {
            self.life.require_syn();
        }
        let most = self.cfg.cc.initial_window.bytes(self.snd.space.smss()).saturating_sub(resent);
        let marked = self.cut_to_path(cx, most);
        self.extras.get_or_insert_default().path.on_sent_again(marked);
    }

    /// Returns a path that a message has just shown to be narrower, for other connections to the same host.
    #[inline]
    pub(crate) fn take_learned_mtu(&mut self) -> Option<LearnedMtu> {
        self.extras.as_mut()?.path.take_learned()
    }

    /// Returns whether the next new data is to be a probe of the path.
    #[inline]
    pub(super) fn mtu_probe_now(&self) -> ProbeNow {
        if !self.path().searches() {
            return ProbeNow::No;
        }
        self.path().probe_now(&self.path_cx(), &probe_view(&self.snd, self.segment_size()))
    }

    /// Adjusts the path after a retransmission timeout: a router's report about the first segment is now believed, and after
    /// several timeouts in a row large packets are suspected of vanishing without a report. Segments that are too large are split
    /// and marked lost, and leave as after any timeout. In between, the receiver's SACKs of the flight may be discarded: the
    /// report is judged by the flight as it was.
    pub(super) fn judge_path_by_timeout(&mut self, now: Instant) {
        let at = self.path_cx();
        let first = self.snd.rec.board.first().filter(|first| first.mark != Mark::Sacked).map(|first| first.range());
        if self.extras.as_deref_mut().is_some_and(|extras| extras.path.on_timeout(&at, now, first)) {
            self.fit_path();
            self.snd.space.forget_larger();
            self.snd.recut(Bytes::MAX);
        }
        self.snd.forget_reneged();
        let (at, timeouts) = (self.path_cx(), self.snd.rec.retries());
        if self.refused_for().is_none()
            && self.extras.get_or_insert_default().path.suspect_black_hole(&at, now, timeouts)
        {
            self.fit_path();
            self.snd.recut(Bytes::MAX);
        }
    }

    //= specs/rfc1191.md#a-smaller-path-mtu
    //# The congestion window is not reduced.
    /// Adopts the segment size that the path carries now; the window keeps its bytes.
    pub(super) fn fit_path(&mut self) {
        let smss = self.path().smss(&self.path_cx());
        if smss == self.snd.space.smss() {
            return;
        }
        self.snd.space.set_smss(smss);
        if self.life.state().is_synchronized() || !self.snd.rec.board.is_empty() {
            self.snd.cc.on_smss_change(smss);
        } else {
            // Nothing was sent yet, so the initial window is computed with this segment size.
            self.snd.cc = cc::build(&self.cfg.cc, smss, self.snd.space.iss());
        }
    }

    //= specs/rfc1191.md#a-smaller-path-mtu
    //# Segments that are larger than the path takes now are cut, and no more than an initial window of them is sent again at once.
    //= specs/rfc1191.md#a-smaller-path-mtu
    //# A message that does not make the path MTU smaller causes no retransmission.
    /// Adapts to a device that takes packets of up to `mtu` bytes from now on. Segments in flight that are larger are split and sent
    /// again, as after a router's report; larger segments are possible up to the size that the SYNs agreed on.
    pub(crate) fn set_mtu<O: Observer>(&mut self, cx: &mut Cx<'_, O>, mtu: u16) {
        let before = self.path_mtu();
        let at = self.path_cx();
        self.extras.get_or_insert_default().path.note_agreed(&at);
        self.mtu = mtu;
        self.fit_path();
        if self.path_mtu() < before {
            self.snd.space.forget_larger();
            let most = self.cfg.cc.initial_window.bytes(self.snd.space.smss());
            self.cut_to_path(cx, most);
        }
    }

    /// Splits the part of the flight that is too large to arrive; up to `most` bytes of it wait for retransmission. The
    /// controller does not treat it as a loss, nor do duplicate ACKs for it count as one. Returns how many bytes wait.
    pub(super) fn cut_to_path<O: Observer>(&mut self, cx: &mut Cx<'_, O>, most: Bytes) -> Bytes {
        let marked = self.snd.recut(most);
        if marked == 0 {
            return 0;
        }
        if self.snd.rec.episode() == Episode::Open {
            self.snd.rec.tail.reset();
            self.snd.rec.undo = None;
            self.set_episode(cx, Episode::Loss { point: self.snd.space.nxt() }, EpisodeCause::PathMtu);
        }
        self.arm_loss_timer(cx);
        marked
    }

    /// Returns whether the segment's acknowledgement echoes a mark. On a SYN the flag has another meaning.
    #[inline]
    pub(super) fn echoes_mark(&self, seg: &Segment<'_>) -> bool {
        self.neg.ecn && seg.repr.flags.contains(Flags::ECE) && !seg.repr.flags.contains(Flags::SYN)
    }

    /// Returns until when new data has to wait because marks came at a window of one segment, if it has to.
    #[inline]
    pub(super) fn held_by_marks(&self, now: Instant) -> Option<Instant> {
        self.extras.as_ref()?.held_by_marks.filter(|&until| now < until)
    }

    //= specs/rfc3168.md#sender
    //# An echo at a window of one segment holds new data back until the retransmission timer would expire.
    //= specs/rfc9438.md#multiplicative-decrease
    //# With a window of one segment, further ECN echoes slow the sender down by other means.
    /// Step 7, after the losses: handles an acknowledgement that echoes a mark and delivered `segments`.
    pub(super) fn answer_mark<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        segments: usize,
        sacked_before: Bytes,
        newly_acked: Bytes,
    ) {
        let rare = self.stats.rare_mut();
        rare.delivered_ce = rare.delivered_ce.saturating_add(segments as u32);
        let Some(prior_cwnd) = self.snd.on_mark(&self.cfg, cx.now, sacked_before, newly_acked) else { return };
        rare.mark_reductions += 1;
        self.ecn.owe_cwr(self.neg.ecn);
        if self.cfg.ecn.response == EcnResponse::AtOnce && prior_cwnd <= self.snd.space.smss() {
            let until = cx.now + self.snd.rec.rto.current().duration();
            self.extras.get_or_insert_default().held_by_marks = Some(until);
        }
        self.set_episode(cx, Episode::Cwr { point: self.snd.space.nxt() }, EpisodeCause::Ecn);
    }
}

/// Returns what the search for the path's MTU needs to know about the sender; full segments have `size` bytes.
pub(super) fn probe_view(snd: &Sender, size: Bytes) -> ProbeView {
    ProbeView {
        quiet: snd.rec.episode() == Episode::Open && size == snd.space.smss(),
        cwnd: snd.cc.window().cwnd(),
        pipe: snd.rec.board.pipe(),
        usable: snd.space.usable(),
        planned: snd.planned(),
        unsent: snd.unreleased(),
    }
}
