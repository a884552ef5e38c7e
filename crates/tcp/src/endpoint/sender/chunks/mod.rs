//! Chunks of written data, for devices that take bursts: how long chunks become, which ones were released, and the input for the
//! decision about the next one ([`burst`] decides).

mod burst;
mod room;
mod store;
mod write;

use super::segmenter::{Released, Train, TurnCx};
use super::{HeldBy, Sender, View as PlanView};
use crate::config::{ChunkRefill, ChunksConfig, Config, CorkConfig, NagleConfig, PushConfig, SendConfig};
use crate::endpoint::SendSide;
use base::{Bytes, Duration, Instant, SeqNum};
use burst::{By, Hold, Place, Scope, Verdict, View, Wait, max_segments};
use recovery::{Episode, SegmentId, SentSegment};
use store::{Chunk, Chunks, SmallRule};
pub(in crate::endpoint) use store::{Chunked, Push};

/// After a pause longer than this, no train of bursts is in progress.
const RECENT: Duration = Duration::from_millis(1);
/// Lower bound of a round trip: an ACK for a segment that just left cannot have arrived.
const FINEST: Duration = Duration::from_nanos(125);
/// Largest window whose half is too small for a segment (RFC 9293 §3.7.1: the default segment size).
const TINY_WINDOW: Bytes = 536;
/// Minimum segment size for a peer with a tiny window.
const SMALLEST: Bytes = 48;

impl Sender {
    fn chunks(&self) -> Option<&Chunks> {
        self.chunked.get()
    }

    fn chunks_if_any(&mut self) -> Option<&mut Chunks> {
        self.chunked.0.as_deref_mut()
    }

    /// Returns the chunks; creates them if there are none yet.
    fn begun_chunks(&mut self) -> &mut Chunks {
        let begin = self.buffer.start_offset() + u64::from(self.buffer.len());
        self.chunked.0.get_or_insert_with(|| Box::new(Chunks::new(begin)))
    }

    /// Adds a chunk of `bytes` written bytes, for tests that release it by hand.
    #[cfg(test)]
    pub fn keep_chunk(&mut self, bytes: Bytes) {
        let chunks = self.begun_chunks();
        chunks.begin();
        chunks.fill(bytes, 0);
    }

    /// Returns `bytes`, but at most half of the largest window that the peer ever offered: more would make sending stop and go.
    pub fn within_half_window(&self, bytes: Bytes) -> Bytes {
        let max_wnd = self.space.max_wnd();
        let most = if max_wnd > TINY_WINDOW { max_wnd / 2 } else { max_wnd };
        if most > 0 && bytes > most { most.max(SMALLEST) } else { bytes }
    }

    /// Returns the target length of a chunk while full segments have `size` bytes.
    fn chunk_goal(&self, cfg: &ChunksConfig, size: Bytes) -> Bytes {
        (self.within_half_window(cfg.bytes_max) / size * size).max(size)
    }

    /// Returns the number of stream bytes before SND.NXT.
    fn sent_offset(&self) -> u64 {
        self.offset_of(self.space.nxt())
    }

    /// Returns the number of stream bytes before `seq`, which is not beyond the written data.
    fn offset_of(&self, seq: SeqNum) -> u64 {
        // The SYN has a sequence number but no place in the stream.
        let una = self.space.una() + u32::from(self.syn_is_out());
        let seq = seq.min(una + self.buffer.len()).max(una);
        self.buffer.start_offset() + u64::from(seq.distance_from(una))
    }

    /// Returns the end of the burst to which `seq` belongs.
    fn burst_of(&self, seq: SeqNum) -> Option<u64> {
        self.chunks()?.burst_end(self.offset_of(seq))
    }

    /// Returns the bytes that were released and have not left.
    pub fn planned_chunks(&self) -> Bytes {
        let committed = self.chunks().map_or(0, |chunks| chunks.committed());
        Bytes::try_from(committed.saturating_sub(self.sent_offset())).unwrap_or(Bytes::MAX)
    }

    /// Returns the number of segments that were released and have not left.
    pub fn planned_segments_of_chunks(&self) -> u32 {
        self.chunks().map_or(0, |chunks| chunks.segments_behind(self.sent_offset(), self.space.smss()))
    }

    /// Returns how the settings treat a small segment at the end of the written data.
    fn small_rule(&self, send: &SendConfig, urgent: bool) -> SmallRule {
        match (send.cork, send.nagle) {
            _ if self.chunks().is_some_and(|chunks| chunks.urged) || urgent => SmallRule::Leave,
            (CorkConfig::On, _) => SmallRule::Hold,
            (_, NagleConfig::Rfc896) => SmallRule::Rfc896,
            (_, NagleConfig::Minshall) => SmallRule::Minshall,
            (_, NagleConfig::Off) => SmallRule::Leave,
        }
    }

    /// Makes the next turn of new data check the chunks by this rule, or by a more lenient one that is already due.
    fn look_by(&mut self, rule: SmallRule) {
        if let Some(chunks) = self.chunks_if_any() {
            chunks.due = chunks.due.max(Some(rule));
        }
    }

    /// Does the same, by the rule that follows from the settings.
    pub fn look_at_chunks(&mut self, send: &SendConfig, urgent: bool) {
        let rule = self.small_rule(send, urgent);
        self.look_by(rule);
    }

    /// Does the same; small segments do not wait.
    pub fn release_small_chunks(&mut self) {
        self.look_by(SmallRule::Leave);
    }

    /// Does the same; small segments do not wait, nor do those written to the last chunk from now on.
    pub fn urge_chunks(&mut self) {
        if let Some(chunks) = self.chunks_if_any() {
            chunks.urged = true;
        }
        self.look_by(SmallRule::Leave);
    }

    /// Releases `bytes`, in segments of `size`.
    pub fn commit(&mut self, bytes: Bytes, push: Push, size: Bytes) {
        let Some(chunks) = self.chunks_if_any() else { return };
        chunks.commit(bytes, push);
        let committed = chunks.committed();
        if !bytes.is_multiple_of(size) {
            let from_una = committed - self.buffer.start_offset();
            let end = self.space.una() + Bytes::try_from(from_una).unwrap_or(Bytes::MAX);
            self.space.on_small_segment(end);
        }
    }

    /// Releases `len` bytes with PSH for a probe, unless released data already waits.
    pub fn commit_probe(&mut self, len: Bytes, size: Bytes) {
        if len > 0 && self.planned_chunks() == 0 {
            self.commit(len, Push::Yes, size);
        }
    }

    /// Handles the decision to hold the oldest chunk. Returns what holds it back.
    fn on_hold(&mut self, send: &SendConfig, hold: Hold) -> HeldBy {
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

    /// Returns how many bytes of a released burst leave in the next frame.
    pub fn next_of_burst(&self, view: PlanView) -> Result<Bytes, HeldBy> {
        let at = self.sent_offset();
        let end = self.chunks().and_then(|chunks| chunks.burst_end(at));
        let end = end.ok_or(view.chunk_held.unwrap_or(HeldBy::Deferred))?;
        let size = view.size;
        // A device that segments a frame would repeat its urgent pointer.
        let most = if view.urgent { size } else { (view.tso_max_bytes / size * size).max(size) };
        Ok(Bytes::try_from(end - at).unwrap_or(Bytes::MAX).min(most))
    }

    /// Releases chunks at the turn of new data, if a check is due.
    pub fn release_due_chunks(&mut self, turn: &TurnCx<'_>) -> Released {
        match self.chunks_if_any().and_then(|chunks| chunks.due.take()) {
            Some(rule) => self.release_chunks(turn, rule, Scope::All),
            None => Released::default(),
        }
    }

    /// Releases as many chunks as `scope` and the rules allow.
    fn release_chunks(&mut self, turn: &TurnCx<'_>, rule: SmallRule, scope: Scope) -> Released {
        let mut released = Released::default();
        let Some(&chunks) = turn.cfg.send.chunks() else { return released };
        if self.rec.board.is_empty() && self.planned_chunks() == 0 {
            self.restart_if_idle(turn.cfg, turn.now, turn.idle);
        }
        loop {
            let Some(view) = self.chunk_view(turn, &chunks, rule, scope) else { return released };
            if (turn.probes_path)(self) {
                // The following data belongs to the probe; the chunks behind it are checked again.
                self.look_by(rule);
                return released;
            }
            match view.decide(&chunks) {
                Verdict::Send(bytes) => {
                    let push = if bytes > view.size { Push::First } else { Push::No };
                    self.commit(bytes, push, view.size);
                    // The release may have made room for a writer that waits.
                    if self.buffer.writer_waits() && self.make_room(turn.cfg, turn.now) {
                        released.woken = true;
                    }
                    if scope == Scope::One {
                        return released;
                    }
                }
                Verdict::Hold(hold) => {
                    let asks = matches!(hold, Hold::PeerWindow | Hold::Small);
                    released.waits_for_window = asks && self.planned_chunks() == 0;
                    released.held = Some(self.on_hold(&turn.cfg.send, hold));
                    return released;
                }
            }
        }
    }

    /// Returns the input for the decision about the oldest chunk, after filling that chunk from the next one if allowed.
    fn chunk_view(&mut self, turn: &TurnCx<'_>, cfg: &ChunksConfig, rule: SmallRule, scope: Scope) -> Option<View> {
        let head = self.chunks()?.head()?;
        let mut view = self.view_of(turn, cfg, head, rule, scope);
        let burst = view.quota().saturating_mul(view.size);
        let wanted = match cfg.refill {
            ChunkRefill::Never => 0,
            ChunkRefill::ToSegment => head.len.next_multiple_of(view.size).min(burst),
            ChunkRefill::ToBurst => burst,
        };
        if wanted > head.len {
            let chunks = self.chunks_if_any()?;
            chunks.grow_head(wanted - head.len);
            view.head = chunks.head()?;
            view.place = self.place_of_head();
        }
        Some(view)
    }

    fn place_of_head(&self) -> Place {
        match (self.chunks().map_or(0, |chunks| chunks.unsent()), self.space.side()) {
            (2.., _) => Place::Middle,
            (_, SendSide::FinQueued) => Place::BeforeFin,
            _ => Place::Last,
        }
    }

    fn view_of(&self, turn: &TurnCx<'_>, cfg: &ChunksConfig, head: Chunk, rule: SmallRule, scope: Scope) -> View {
        let (planned, window) = (self.planned_chunks(), self.cc.window());
        let in_flight = self.segments_in_flight();
        let free_segments = self.free_segments(turn.cfg, in_flight);
        let at = self.space.nxt() + planned;
        let percent = if window.cwnd() < window.ssthresh() / 2 { 200 } else { 120 };
        let (srtt, min_rtt) = (self.rec.rtt.srtt(), self.rec.rtt.min_rtt());
        View {
            head,
            place: self.place_of_head(),
            size: turn.size,
            cwnd_segments: in_flight + free_segments,
            free_segments,
            max_segments: max_segments(
                cfg,
                window.cwnd().max(self.space.flight_size()),
                percent,
                turn.size,
                srtt,
                min_rtt,
            ),
            snd_wnd: self.space.wnd(),
            usable: self.space.usable().saturating_sub(planned),
            rule,
            outstanding: self.space.outstanding(at),
            scope,
            wait: self.wait(turn.now, planned),
        }
    }

    /// Returns how many segments congestion control still permits. Where the window is the limit, segments count rather than
    /// bytes, because a small segment costs the path as much as a full one; an empty path always takes one.
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

    /// Records that everything before `end` has left, whichever rule chose it.
    #[inline]
    pub fn cover_chunks(&mut self, end: SeqNum) {
        let end = self.offset_of(end);
        if let Some(chunks) = self.chunks_if_any() {
            chunks.cover(end);
        }
    }

    /// Returns `len`, or less if a chunk or burst ends earlier.
    pub fn up_to_chunk_end(&self, len: Bytes) -> Bytes {
        let Some(chunks) = self.chunks() else { return len };
        let at = self.sent_offset();
        match (chunks.burst_end(at), chunks.head()) {
            (Some(end), _) => len.min(Bytes::try_from(end - at).unwrap_or(Bytes::MAX)),
            (None, Some(head)) => len.min(head.len),
            (None, None) => len,
        }
    }

    /// Returns whether a segment that ends at `end` carries PSH, if chunks decide it.
    pub fn pushes_chunk(&self, send: &SendConfig, end: SeqNum, retransmits: u8) -> Option<bool> {
        if send.push != PushConfig::Writes {
            return None;
        }
        Some(match self.chunks().map(|chunks| chunks.push(self.offset_of(end))) {
            Some(Push::First) => retransmits == 0,
            push => push == Some(Push::Yes),
        })
    }

    /// Returns whether `segment`, which was just recorded as retransmitted, ends a new burst. Retransmitted segments of one burst
    /// that leave in sequence form such a burst; this time its last segment carries PSH.
    pub fn train_of_chunks(&mut self, cfg: &Config, now: Instant, segment: &SentSegment) -> Train {
        if cfg.send.push != PushConfig::Writes {
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
        // The reduction's allowance does not include this segment yet.
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
        if let Some(chunks) = self.chunks_if_any() {
            chunks.split_at(end);
        }
        Train::Ends
    }
}

#[cfg(test)]
mod tests;
