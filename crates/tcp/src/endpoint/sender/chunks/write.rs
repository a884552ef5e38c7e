//! Writing into chunks: a write fills the last chunk first, and chunks that become full may leave before the write has ended.

use super::super::Sender;
use super::super::segmenter::{Released, TurnCx};
use super::burst::Scope;
use super::store::SmallRule;
use crate::endpoint::sender::{Boundary, Source};
use base::Bytes;
use recovery::Episode;

impl Released {
    /// Adds the outcome of a later release.
    pub fn add(&mut self, later: Self) {
        self.held = later.held;
        self.waits_for_window |= later.waits_for_window;
        self.woken |= later.woken;
    }
}

impl Sender {
    /// Takes as much of `source` as there is room for. Returns how much, and what was released.
    pub fn write_chunks(&mut self, turn: &TurnCx<'_>, source: Source<'_>, boundary: Boundary) -> (u64, Released) {
        let (mut taken, mut released, len) = (0, Released::default(), source.len());
        let Some(cfg) = turn.cfg.send.chunks() else { return (taken, released) };
        while taken < len {
            let goal = self.chunk_goal(cfg, turn.size);
            let open = self.chunks().and_then(|chunks| chunks.room(goal));
            if open.is_none() && !self.has_room(turn.cfg) {
                break;
            }
            let part = Bytes::try_from(len - taken).unwrap_or(Bytes::MAX).min(open.unwrap_or(goal));
            let chunks = self.begun_chunks();
            if open.is_none() {
                chunks.begin();
            }
            chunks.fill(part, taken);
            source.append_to(&mut self.buffer, taken, part);
            taken += u64::from(part);
            // Where more is to be written, the chunk took all that it could.
            if taken < len {
                released.add(self.on_full_chunk(turn));
            }
        }
        self.on_write(taken < len);
        if taken > 0 {
            released.add(self.end_write(turn, boundary));
        }
        self.on_write(taken < len);
        (taken, released)
    }

    /// Handles a chunk that became full while more is to be written: it may leave.
    fn on_full_chunk(&mut self, turn: &TurnCx<'_>) -> Released {
        let half = self.space.max_wnd() / 2;
        let Some(chunks) = self.chunks_if_any() else { return Released::default() };
        if chunks.push_overdue(half) {
            chunks.mark_push();
            self.look_now(turn, SmallRule::Leave, Scope::All)
        } else if chunks.unsent() == 1 {
            self.look_now(turn, SmallRule::Leave, Scope::One)
        } else {
            Released::default()
        }
    }

    fn end_write(&mut self, turn: &TurnCx<'_>, boundary: Boundary) -> Released {
        let (half, blocked) = (self.space.max_wnd() / 2, self.buffer.writer_waits());
        let Some(chunks) = self.chunks_if_any() else { return Released::default() };
        if boundary == Boundary::Record && !blocked {
            chunks.end_record();
        }
        if boundary != Boundary::More || blocked || chunks.push_overdue(half) {
            chunks.mark_push();
        }
        let rule = match boundary {
            _ if blocked => SmallRule::Leave,
            Boundary::More => SmallRule::Hold,
            Boundary::None | Boundary::Record => self.small_rule(&turn.cfg.send, turn.urgent),
        };
        self.look_now(turn, rule, Scope::All)
    }

    /// Checks the chunks at once if nothing else has to leave first.
    fn look_now(&mut self, turn: &TurnCx<'_>, rule: SmallRule, scope: Scope) -> Released {
        let free = turn.open && self.rec.episode() == Episode::Open && self.rec.board.lost_bytes() == 0;
        if free && !self.rec.tail.is_due() && self.cc.pacing().is_none() {
            return self.release_chunks(turn, rule, scope);
        }
        self.look_by(rule);
        Released::default()
    }
}
