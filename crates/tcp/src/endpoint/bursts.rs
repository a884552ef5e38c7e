//! Bursts of a segmenter that keeps chunks: when the unsent chunks are looked at, and what the connection knows then
//! ([`crate::send::burst`] decides).
//!
//! Chunks are looked at when something happened that may let them go: a write, a segment from the peer, a change of settings,
//! the pacer. What is let go is a burst, and leaves as soon as its turn comes; the numbers here count it as sent.

use super::mtu_search::ProbeNow;
use super::output::TxBuf;
use super::sender::Frames;
use super::{Endpoint, SendSide};
use crate::config::{ChunkRefill, ChunksConfig, CorkConfig, NagleConfig, PushConfig};
use crate::cx::Cx;
use crate::send::CwndUsage;
use crate::send::burst::{By, Hold, Place, Scope, SmallRule, Verdict, View, Wait, max_segments};
use crate::send::chunks::{Chunk, Push};
use base::{Bytes, Duration, Instant, SeqNum};
use recovery::Episode;
use trace::Observer;

/// A transmission longer ago than this says that no train of bursts is under way.
const RECENT: Duration = Duration::from_millis(1);
/// No round trip is shorter: an ACK of what has just left is not there yet.
const FINEST: Duration = Duration::from_nanos(125);
/// Largest window half of which is not enough for a segment (RFC 9293 §3.7.1: the default segment size).
const TINY_WINDOW: Bytes = 536;
/// Segments are not cut smaller for a peer with a tiny window.
const SMALLEST: Bytes = 48;

impl Endpoint {
    /// What is kept of chunks, if the profile and the device want them.
    #[inline]
    pub(super) fn chunks_config(&self) -> Option<&ChunksConfig> {
        match self.snd.frames {
            Frames::Segments => None,
            Frames::Bursts => self.cfg.send.chunks(),
        }
    }

    /// The device takes several segments at once.
    pub(crate) fn send_bursts(&mut self, now: Instant) {
        self.snd.frames = Frames::Bursts;
        if self.cfg.send.chunks().is_some() {
            self.snd.usage = CwndUsage::new(self.cfg.cc.validation, self.snd.space.nxt(), now);
        }
    }

    /// `octets`, but no more than half of the largest window the peer ever offered: more would make its window a stop and go.
    fn within_half_window(&self, octets: Bytes) -> Bytes {
        let max_wnd = self.snd.space.max_wnd();
        let most = if max_wnd > TINY_WINDOW { max_wnd / 2 } else { max_wnd };
        if most > 0 && octets > most { most.max(SMALLEST) } else { octets }
    }

    /// Payload octets of a full segment without SACK option.
    #[inline]
    pub(super) fn full_size(&self) -> Bytes {
        match self.chunks_config() {
            None => self.snd.space.smss(),
            Some(_) => self.within_half_window(self.snd.space.smss()),
        }
    }

    /// How long a chunk becomes.
    pub(super) fn chunk_goal(&self, cfg: &ChunksConfig) -> Bytes {
        let size = self.segment_size();
        (self.within_half_window(cfg.bytes_max) / size * size).max(size)
    }

    /// Octets of the stream before SND.NXT.
    fn sent_offset(&self) -> u64 {
        self.offset_of(self.snd.space.nxt())
    }

    /// Octets of the stream before `seq`, which is not beyond what was written.
    pub(super) fn offset_of(&self, seq: SeqNum) -> u64 {
        // The SYN has a number but no place in the stream.
        let una = self.snd.space.una().max(self.snd.space.iss() + 1);
        let seq = seq.min(una + self.snd.buffer.len()).max(una);
        self.snd.buffer.start_offset() + u64::from(seq.distance_from(una))
    }

    /// Where the burst ends that `seq` belongs to.
    pub(super) fn burst_of(&self, seq: SeqNum) -> Option<u64> {
        self.snd.buffer.chunks()?.burst_end(self.offset_of(seq))
    }

    /// Octets that were let go and have not left.
    pub(super) fn planned(&self) -> Bytes {
        let committed = self.snd.buffer.chunks().map_or(0, |chunks| chunks.committed());
        Bytes::try_from(committed.saturating_sub(self.sent_offset())).unwrap_or(Bytes::MAX)
    }

    /// Octets that were not let go.
    pub(super) fn not_let_go(&self) -> Bytes {
        self.data_end().distance_from(self.snd.space.nxt()).saturating_sub(self.planned())
    }

    /// How a small segment at the end of what was written is treated, by the settings.
    pub(super) fn small_rule(&self) -> SmallRule {
        let send = &self.cfg.send;
        match (send.cork, send.nagle) {
            _ if self.snd.buffer.chunks().is_some_and(|chunks| chunks.urged) || self.is_urgent() => SmallRule::Leave,
            (CorkConfig::On, _) => SmallRule::Hold,
            (_, NagleConfig::Rfc896) => SmallRule::Rfc896,
            (_, NagleConfig::Minshall) => SmallRule::Minshall,
            (_, NagleConfig::Off) => SmallRule::Leave,
        }
    }

    /// The chunks are to be looked at when it is the turn of new data.
    #[inline]
    pub(super) fn look_at_chunks(&mut self, rule: SmallRule) {
        if let Some(chunks) = self.snd.buffer.chunks_if_any() {
            chunks.due = chunks.due.max(Some(rule));
        }
    }

    /// The next part of a burst that is to leave.
    pub(super) fn next_of_burst<O: Observer>(&mut self, cx: &mut Cx<'_, O>, out: &TxBuf) -> Option<Bytes> {
        let due = self.snd.buffer.chunks_if_any()?.due.take();
        if let Some(rule) = due {
            self.let_go(cx, rule, Scope::All);
        }
        let at = self.sent_offset();
        let end = self.snd.buffer.chunks()?.burst_end(at)?;
        let size = self.segment_size();
        // A device that cuts a frame would repeat its urgent pointer.
        let most = if self.is_urgent() { size } else { (out.tso_max_bytes / size * size).max(size) };
        Some(Bytes::try_from(end - at).unwrap_or(Bytes::MAX).min(most))
    }

    /// Lets chunks go, as many as `scope` and the rules allow.
    pub(super) fn let_go<O: Observer>(&mut self, cx: &mut Cx<'_, O>, rule: SmallRule, scope: Scope) {
        let Some(&cfg) = self.chunks_config() else { return };
        if self.snd.rec.board.is_empty() && self.planned() == 0 {
            self.restart_if_idle(cx.now);
        }
        while let Some(view) = self.view(&cfg, cx.now, rule, scope) {
            if !matches!(self.mtu_probe_now(cx.now), ProbeNow::No) {
                // What follows is the probe's, and chunks are looked at again behind it.
                return self.look_at_chunks(rule);
            }
            match view.decide(&cfg) {
                Verdict::Send(octets) => {
                    self.commit(octets, if octets > view.size { Push::First } else { Push::No });
                    self.after_burst(cx.now);
                    if scope == Scope::One {
                        return;
                    }
                }
                Verdict::Hold(hold) => return self.on_hold(cx, hold),
            }
        }
    }

    fn on_hold<O: Observer>(&mut self, cx: &mut Cx<'_, O>, hold: Hold) {
        if matches!(hold, Hold::Cwnd | Hold::Deferred(By::Cwnd)) {
            self.snd.usage.on_blocked(self.snd.space.nxt());
        }
        if self.planned() == 0 {
            self.wait_for_window(cx, matches!(hold, Hold::PeerWindow | Hold::Small));
        }
    }

    fn commit(&mut self, octets: Bytes, push: Push) {
        let size = self.segment_size();
        let Some(chunks) = self.snd.buffer.chunks_if_any() else { return };
        chunks.commit(octets, push);
        let committed = chunks.committed();
        if !octets.is_multiple_of(size) {
            let from_una = committed - self.snd.buffer.start_offset();
            let end = self.snd.space.una() + Bytes::try_from(from_una).unwrap_or(Bytes::MAX);
            self.snd.space.on_small_segment(end);
        }
    }

    /// What is known of the oldest chunk, which takes from the next one first if it may.
    fn view(&mut self, cfg: &ChunksConfig, now: Instant, rule: SmallRule, scope: Scope) -> Option<View> {
        let head = self.snd.buffer.chunks()?.head()?;
        let mut view = self.view_of(cfg, head, now, rule, scope);
        let burst = view.quota().saturating_mul(view.size);
        let wanted = match cfg.refill {
            ChunkRefill::Never => 0,
            ChunkRefill::ToSegment => head.len.next_multiple_of(view.size).min(burst),
            ChunkRefill::ToBurst => burst,
        };
        if wanted > head.len {
            self.snd.buffer.chunks_mut().grow_head(wanted - head.len);
            view.head = self.snd.buffer.chunks()?.head()?;
            view.place = self.place_of_head();
        }
        Some(view)
    }

    fn place_of_head(&self) -> Place {
        match (self.snd.buffer.chunks().map_or(0, |chunks| chunks.unsent()), self.snd.space.side()) {
            (2.., _) => Place::Middle,
            (_, SendSide::FinQueued) => Place::BeforeFin,
            _ => Place::Last,
        }
    }

    fn view_of(&self, cfg: &ChunksConfig, head: Chunk, now: Instant, rule: SmallRule, scope: Scope) -> View {
        let (planned, window) = (self.planned(), self.snd.cc.window());
        let in_flight = self.segments_in_flight();
        let free_segments = self.free_segments(in_flight);
        let at = self.snd.space.nxt() + planned;
        let size = self.segment_size();
        let percent = if window.cwnd() < window.ssthresh() / 2 { 200 } else { 120 };
        let (srtt, min_rtt) = (self.snd.rec.rtt.srtt(), self.snd.rec.rtt.min_rtt());
        View {
            head,
            place: self.place_of_head(),
            size,
            cwnd_segments: in_flight + free_segments,
            free_segments,
            max_segments: max_segments(cfg, window.cwnd().max(self.flight_size()), percent, size, srtt, min_rtt),
            snd_wnd: self.snd.space.wnd(),
            usable: self.snd.space.usable().saturating_sub(planned),
            rule,
            outstanding: self.snd.space.outstanding(at),
            scope,
            wait: self.wait(now, planned),
        }
    }

    /// Segments in flight, with those that were let go.
    pub(super) fn segments_in_flight(&self) -> u32 {
        let (board, smss) = (&self.snd.rec.board, self.snd.space.smss());
        let planned = self.snd.buffer.chunks().map_or(0, |chunks| chunks.segments_behind(self.sent_offset(), smss));
        (board.outstanding_segments() + planned).saturating_sub(board.departed_bytes() / smss)
    }

    /// Segments that congestion control still lets leave. Counted in segments where the window is what limits them, as a
    /// small one costs the path as much as a full one; an empty path always takes one.
    fn free_segments(&self, in_flight: u32) -> u32 {
        let (window, smss) = (self.snd.cc.window().cwnd(), self.snd.space.smss());
        let free = match self.snd.rec.reduction {
            Some(_) => self.allowance().saturating_sub(self.planned()) / smss,
            None => (window / smss).saturating_sub(in_flight),
        };
        if in_flight == 0 { free.max(1) } else { free }
    }

    fn wait(&self, now: Instant, planned: Bytes) -> Wait {
        let board = &self.snd.rec.board;
        let newest = if planned > 0 { Some(now) } else { board.newest_sent_at() };
        let oldest = board.first().map(|first| first.xmit.at).or(newest);
        match (oldest, newest) {
            (Some(oldest), Some(newest)) if self.snd.rec.episode == Episode::Open && now.since(newest) <= RECENT => {
                let srtt = self.snd.rec.rtt.srtt().unwrap_or_default().max(FINEST);
                Wait::Ack { expected_in: (oldest + srtt).since(now), srtt }
            }
            _ => Wait::Never,
        }
    }

    /// Everything before `end` was emitted, whoever chose it.
    #[inline]
    pub(super) fn cover_chunks(&mut self, end: SeqNum) {
        let end = self.offset_of(end);
        if let Some(chunks) = self.snd.buffer.chunks_if_any() {
            chunks.cover(end);
        }
    }

    /// `len`, or less if a chunk or burst ends before.
    pub(super) fn up_to_chunk_end(&self, len: Bytes) -> Bytes {
        let Some(chunks) = self.snd.buffer.chunks() else { return len };
        let at = self.sent_offset();
        match (chunks.burst_end(at), chunks.head()) {
            (Some(end), _) => len.min(Bytes::try_from(end - at).unwrap_or(Bytes::MAX)),
            (None, Some(head)) => len.min(head.len),
            (None, None) => len,
        }
    }

    /// A probe of `len` octets, or up to the end of its chunk, is to leave, and to be pushed; returns how much it takes.
    pub(super) fn commit_probe(&mut self, len: Bytes) -> Bytes {
        let len = self.up_to_chunk_end(len);
        if self.planned() == 0 && self.chunks_config().is_some() {
            self.commit(len, Push::Yes);
        }
        len
    }

    //= specs/rfc9293.md#sending
    //# What an application has written leaves without waiting for more, and PSH is on its last segment.
    /// Whether a segment that ends at `end` carries PSH, now that it leaves for the first time or again.
    pub(super) fn pushes(&self, end: SeqNum, retransmits: u8) -> bool {
        match (self.cfg.send.push, self.snd.buffer.chunks(), self.chunks_config()) {
            (PushConfig::Writes, chunks, Some(_)) => match chunks.map(|chunks| chunks.push(self.offset_of(end))) {
                Some(Push::First) => retransmits == 0,
                push => push == Some(Push::Yes),
            },
            _ => end.at_or_after(self.data_end()),
        }
    }

    /// A burst was let go: a writer may have been waiting for that.
    fn after_burst(&mut self, now: Instant) {
        if self.snd.write_blocked {
            self.make_room(now);
        }
    }
}
