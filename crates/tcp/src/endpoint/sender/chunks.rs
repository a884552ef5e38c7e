//! Chunks of what was written, where the device takes bursts: how long they become, which of them were let go, and what is known
//! when the next is judged ([`crate::send::burst`] decides).

use super::{Frames, HeldBy, Sender};
use crate::config::{ChunkRefill, ChunksConfig, Config, CorkConfig, NagleConfig, PushConfig, SendConfig};
use crate::endpoint::SendSide;
use crate::endpoint::write::Train;
use crate::send::CwndUsage;
use crate::send::burst::{By, Hold, Place, Scope, SmallRule, View, Wait, max_segments};
use crate::send::chunks::{Chunk, Push};
use base::{Bytes, Duration, Instant, SeqNum};
use recovery::{Episode, SegmentId, SentSegment};

/// A transmission longer ago than this says that no train of bursts is under way.
const RECENT: Duration = Duration::from_millis(1);
/// No round trip is shorter: an ACK of what has just left is not there yet.
const FINEST: Duration = Duration::from_nanos(125);
/// Largest window half of which is not enough for a segment (RFC 9293 §3.7.1: the default segment size).
const TINY_WINDOW: Bytes = 536;
/// Segments are not cut smaller for a peer with a tiny window.
const SMALLEST: Bytes = 48;

/// What the oldest chunk is judged by beside the sender's own state.
#[derive(Clone, Copy, Debug)]
pub(in crate::endpoint) struct ChunkCx<'a> {
    pub cfg: &'a Config,
    pub chunks: &'a ChunksConfig,
    /// Bytes of a full segment.
    pub size: Bytes,
    pub now: Instant,
    pub rule: SmallRule,
    pub scope: Scope,
}

impl Sender {
    /// What is kept of chunks, if the profile and the device want them.
    #[inline]
    pub fn chunks_config<'a>(&self, cfg: &'a Config) -> Option<&'a ChunksConfig> {
        match self.frames {
            Frames::Segments => None,
            Frames::Bursts => cfg.send.chunks(),
        }
    }

    /// The device takes several segments at once.
    pub fn send_bursts(&mut self, cfg: &Config, now: Instant) {
        self.frames = Frames::Bursts;
        if cfg.send.chunks().is_some() {
            self.usage = CwndUsage::new(cfg.cc.validation, self.space.nxt(), now);
        }
    }

    /// `bytes`, but no more than half of the largest window the peer ever offered: more would make its window a stop and go.
    fn within_half_window(&self, bytes: Bytes) -> Bytes {
        let max_wnd = self.space.max_wnd();
        let most = if max_wnd > TINY_WINDOW { max_wnd / 2 } else { max_wnd };
        if most > 0 && bytes > most { most.max(SMALLEST) } else { bytes }
    }

    /// Payload bytes of a full segment without SACK option.
    #[inline]
    pub fn full_size(&self, cfg: &Config) -> Bytes {
        match self.chunks_config(cfg) {
            None => self.space.smss(),
            Some(_) => self.within_half_window(self.space.smss()),
        }
    }

    /// How long a chunk becomes while full segments have `size` bytes.
    pub fn chunk_goal(&self, cfg: &ChunksConfig, size: Bytes) -> Bytes {
        (self.within_half_window(cfg.bytes_max) / size * size).max(size)
    }

    /// Bytes of the stream before SND.NXT.
    pub fn sent_offset(&self) -> u64 {
        self.offset_of(self.space.nxt())
    }

    /// Bytes of the stream before `seq`, which is not beyond what was written.
    pub fn offset_of(&self, seq: SeqNum) -> u64 {
        // The SYN has a number but no place in the stream.
        let una = self.space.una().max(self.space.iss() + 1);
        let seq = seq.min(una + self.buffer.len()).max(una);
        self.buffer.start_offset() + u64::from(seq.distance_from(una))
    }

    /// Where the burst ends that `seq` belongs to.
    pub fn burst_of(&self, seq: SeqNum) -> Option<u64> {
        self.buffer.chunks()?.burst_end(self.offset_of(seq))
    }

    /// Bytes that were released and have not left.
    pub fn planned(&self) -> Bytes {
        let committed = self.buffer.chunks().map_or(0, |chunks| chunks.committed());
        Bytes::try_from(committed.saturating_sub(self.sent_offset())).unwrap_or(Bytes::MAX)
    }

    /// Bytes that have not been released.
    pub fn not_let_go(&self) -> Bytes {
        self.data_end().distance_from(self.space.nxt()).saturating_sub(self.planned())
    }

    /// How a small segment at the end of what was written is treated, by the settings.
    pub fn small_rule(&self, send: &SendConfig, urgent: bool) -> SmallRule {
        match (send.cork, send.nagle) {
            _ if self.buffer.chunks().is_some_and(|chunks| chunks.urged) || urgent => SmallRule::Leave,
            (CorkConfig::On, _) => SmallRule::Hold,
            (_, NagleConfig::Rfc896) => SmallRule::Rfc896,
            (_, NagleConfig::Minshall) => SmallRule::Minshall,
            (_, NagleConfig::Off) => SmallRule::Leave,
        }
    }

    /// The chunks are to be looked at when it is the turn of new data.
    #[inline]
    pub fn look_at_chunks(&mut self, rule: SmallRule) {
        if let Some(chunks) = self.buffer.chunks_if_any() {
            chunks.due = chunks.due.max(Some(rule));
        }
    }

    /// The same, by the settings.
    #[inline]
    pub fn look_by_settings(&mut self, send: &SendConfig, urgent: bool) {
        let rule = self.small_rule(send, urgent);
        self.look_at_chunks(rule);
    }

    /// `bytes` are let go, in segments of `size`.
    pub fn commit(&mut self, bytes: Bytes, push: Push, size: Bytes) {
        let Some(chunks) = self.buffer.chunks_if_any() else { return };
        chunks.commit(bytes, push);
        let committed = chunks.committed();
        if !bytes.is_multiple_of(size) {
            let from_una = committed - self.buffer.start_offset();
            let end = self.space.una() + Bytes::try_from(from_una).unwrap_or(Bytes::MAX);
            self.space.on_small_segment(end);
        }
    }

    /// A probe of `len` bytes is to leave, and to be pushed.
    pub fn commit_probe(&mut self, cfg: &Config, len: Bytes, size: Bytes) {
        if len > 0 && self.planned() == 0 && self.chunks_config(cfg).is_some() {
            self.commit(len, Push::Yes, size);
        }
    }

    /// The oldest chunk is not released. Returns what that means for what waits.
    pub fn on_hold(&mut self, send: &SendConfig, hold: Hold) -> HeldBy {
        if matches!(hold, Hold::Cwnd | Hold::Deferred(By::Cwnd)) {
            self.usage.on_blocked(self.space.nxt());
        }
        match hold {
            Hold::Cwnd => HeldBy::Cwnd,
            Hold::PeerWindow => HeldBy::PeerWindow,
            Hold::Small if send.cork == CorkConfig::On => HeldBy::Cork,
            Hold::Small => HeldBy::Nagle,
            Hold::Deferred(_) => HeldBy::Deferred,
        }
    }

    /// How much of a burst that was released leaves in the next frame.
    pub fn next_of_burst(&self, view: &super::View) -> Result<Bytes, HeldBy> {
        let at = self.sent_offset();
        let end = self.buffer.chunks().and_then(|chunks| chunks.burst_end(at));
        let end = end.ok_or(view.chunk_held.unwrap_or(HeldBy::Deferred))?;
        let size = view.size;
        // A device that cuts a frame would repeat its urgent pointer.
        let most = if view.urgent { size } else { (view.tso_max_bytes / size * size).max(size) };
        Ok(Bytes::try_from(end - at).unwrap_or(Bytes::MAX).min(most))
    }

    /// What is known of the oldest chunk, which takes from the next one first if it may.
    pub fn view(&mut self, cx: &ChunkCx<'_>) -> Option<View> {
        let head = self.buffer.chunks()?.head()?;
        let mut view = self.view_of(cx, head);
        let burst = view.quota().saturating_mul(view.size);
        let wanted = match cx.chunks.refill {
            ChunkRefill::Never => 0,
            ChunkRefill::ToSegment => head.len.next_multiple_of(view.size).min(burst),
            ChunkRefill::ToBurst => burst,
        };
        if wanted > head.len {
            self.buffer.chunks_mut().grow_head(wanted - head.len);
            view.head = self.buffer.chunks()?.head()?;
            view.place = self.place_of_head();
        }
        Some(view)
    }

    fn place_of_head(&self) -> Place {
        match (self.buffer.chunks().map_or(0, |chunks| chunks.unsent()), self.space.side()) {
            (2.., _) => Place::Middle,
            (_, SendSide::FinQueued) => Place::BeforeFin,
            _ => Place::Last,
        }
    }

    fn view_of(&self, cx: &ChunkCx<'_>, head: Chunk) -> View {
        let &ChunkCx { cfg, chunks, size, now, rule, scope } = cx;
        let (planned, window) = (self.planned(), self.cc.window());
        let in_flight = self.segments_in_flight();
        let free_segments = self.free_segments(cfg, in_flight);
        let at = self.space.nxt() + planned;
        let percent = if window.cwnd() < window.ssthresh() / 2 { 200 } else { 120 };
        let (srtt, min_rtt) = (self.rec.rtt.srtt(), self.rec.rtt.min_rtt());
        View {
            head,
            place: self.place_of_head(),
            size,
            cwnd_segments: in_flight + free_segments,
            free_segments,
            max_segments: max_segments(
                chunks,
                window.cwnd().max(self.space.flight_size()),
                percent,
                size,
                srtt,
                min_rtt,
            ),
            snd_wnd: self.space.wnd(),
            usable: self.space.usable().saturating_sub(planned),
            rule,
            outstanding: self.space.outstanding(at),
            scope,
            wait: self.wait(now, planned),
        }
    }

    /// Segments in flight, including those that were released.
    pub fn segments_in_flight(&self) -> u32 {
        let (board, smss) = (&self.rec.board, self.space.smss());
        let planned = self.buffer.chunks().map_or(0, |chunks| chunks.segments_behind(self.sent_offset(), smss));
        (board.outstanding_segments() + planned).saturating_sub(board.departed_bytes() / smss)
    }

    /// Segments that congestion control still lets leave. Counted in segments where the window is what limits them, as a
    /// small one costs the path as much as a full one; an empty path always takes one.
    fn free_segments(&self, cfg: &Config, in_flight: u32) -> u32 {
        let (window, smss) = (self.cc.window().cwnd(), self.space.smss());
        let free = match self.rec.reduction {
            Some(_) => self.allowance(cfg).saturating_sub(self.planned()) / smss,
            None => (window / smss).saturating_sub(in_flight),
        };
        if in_flight == 0 { free.max(1) } else { free }
    }

    fn wait(&self, now: Instant, planned: Bytes) -> Wait {
        let board = &self.rec.board;
        let newest = if planned > 0 { Some(now) } else { board.newest_sent_at() };
        let oldest = board.first().map(|first| first.xmit.at).or(newest);
        match (oldest, newest) {
            (Some(oldest), Some(newest)) if self.rec.episode() == Episode::Open && now.since(newest) <= RECENT => {
                let srtt = self.rec.rtt.srtt().unwrap_or_default().max(FINEST);
                Wait::Ack { expected_in: (oldest + srtt).since(now), srtt }
            }
            _ => Wait::Never,
        }
    }

    /// Everything before `end` was emitted, whoever chose it.
    #[inline]
    pub fn cover_chunks(&mut self, end: SeqNum) {
        let end = self.offset_of(end);
        if let Some(chunks) = self.buffer.chunks_if_any() {
            chunks.cover(end);
        }
    }

    /// `len`, or less if a chunk or burst ends before.
    pub fn up_to_chunk_end(&self, len: Bytes) -> Bytes {
        let Some(chunks) = self.buffer.chunks() else { return len };
        let at = self.sent_offset();
        match (chunks.burst_end(at), chunks.head()) {
            (Some(end), _) => len.min(Bytes::try_from(end - at).unwrap_or(Bytes::MAX)),
            (None, Some(head)) => len.min(head.len),
            (None, None) => len,
        }
    }

    //= specs/rfc9293.md#sending
    //# What an application has written leaves without waiting for more, and PSH is on its last segment.
    /// Whether a segment that ends at `end` carries PSH, now that it leaves for the first time or again.
    pub fn pushes(&self, cfg: &Config, end: SeqNum, retransmits: u8) -> bool {
        match (cfg.send.push, self.buffer.chunks(), self.chunks_config(cfg)) {
            (PushConfig::Writes, chunks, Some(_)) => match chunks.map(|chunks| chunks.push(self.offset_of(end))) {
                Some(Push::First) => retransmits == 0,
                push => push == Some(Push::Yes),
            },
            _ => end.at_or_after(self.data_end()),
        }
    }

    /// Segments of one burst that are sent again one after the other are a burst of their own: the last is pushed, this
    /// time. `segment` was just booked as sent again.
    pub fn train_at(&mut self, cfg: &Config, now: Instant, segment: &SentSegment) -> Train {
        if cfg.send.push != PushConfig::Writes || self.chunks_config(cfg).is_none() {
            return Train::No;
        }
        let (start, end) = (segment.start, segment.xmit.end);
        let before = segment.id.0.checked_sub(1).and_then(|id| self.rec.board.get(SegmentId(id)));
        let follows = before.filter(|before| {
            before.xmit.at == now && before.retransmits > 0 && self.burst_of(before.start) == self.burst_of(start)
        });
        if follows.is_none() {
            return Train::No;
        }
        // The reduction's allowance does not account for this segment yet.
        let spent = if self.rec.reduction.is_some() { end.distance_from(start) } else { 0 };
        let room = self.allowance(cfg).saturating_sub(spent);
        let goes_on = self.rec.board.next_lost().is_some_and(|next| {
            next.start == end
                && next.xmit.end.distance_from(next.start) <= room
                && self.burst_of(next.start) == self.burst_of(start)
        });
        if goes_on {
            return Train::No;
        }
        let end = self.offset_of(end);
        self.buffer.chunks_mut().split_at(end);
        Train::Ends
    }
}
