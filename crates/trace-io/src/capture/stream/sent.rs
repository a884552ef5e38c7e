//! Output of a stream's sender: new bytes, late ones, or retransmissions.

use super::{Stream, WIDEST};
use crate::capture::headers::Segment;
use crate::capture::pieces::{Fate, Piece, Revealed};
use crate::capture::reordering::is_late_original;
use crate::capture::retransmission::{Cause, Circumstances, DUP_THRESH, Episode, cause};
use crate::capture::rounds::Leaving;
use crate::capture::rtt;
use wire::Flags;

/// Lower limit of all senders' timeouts (RFC 6298 §2.4 asks for a second, systems use a fifth of it).
const UNSEEN_TIMEOUT: u64 = 200_000_000;
/// Packets that may have been lost before the capture; a larger step of the identification says nothing.
const MOST_UNSEEN: u16 = 0x2000;

impl Stream {
    /// This end sends a segment. `delay` is the shortest round trip from here to it.
    #[inline]
    pub fn on_sent(&mut self, at: u64, segment: &Segment, delay: Option<u64>) {
        let tcp = &segment.tcp;
        let is_syn = tcp.flags.contains(Flags::SYN);
        self.counts.packets += 1;
        self.counts.congestion_experienced += u64::from(segment.congestion_experienced);
        self.open(tcp.seq.0.wrapping_add(is_syn.into()));
        if let Some(stamps) = tcp.options.timestamps
            && segment.occupies()
        {
            self.stamps.sent(at, stamps.tsval);
        }
        let start = self.wide(tcp.seq.0.wrapping_add(is_syn.into()));
        let len = u64::from(segment.payload_len) + u64::from(tcp.flags.contains(Flags::FIN));
        let end = start + len;
        if tcp.flags.contains(Flags::FIN) {
            self.fin = Some(end - 1);
        }
        if len > 0 && !tcp.flags.contains(Flags::RST) {
            if start.abs_diff(self.max_end) > WIDEST {
                self.counts.strange += 1;
                return;
            }
            self.on_bytes(at, segment, start, end, delay);
        } else if start + 1 == self.max_end && self.una == self.max_end && !is_syn {
            self.counts.keep_alives += u64::from(tcp.flags == Flags::NONE);
        }
        if let Some(stamps) = tcp.options.timestamps
            && self.newest_stamp.is_none_or(|newest| rtt::is_after(stamps.tsval, newest))
        {
            self.newest_stamp = Some(stamps.tsval);
        }
        self.last_id = segment.ip_id;
        let packets = u64::from(segment.payload_len).div_ceil(self.full(tcp.options.timestamps.is_some())).max(1);
        self.next_id = segment.ip_id.wrapping_add(packets as u16);
    }

    fn on_bytes(&mut self, at: u64, segment: &Segment, start: u64, end: u64, delay: Option<u64>) {
        let is_keep_alive = segment.payload_len == 1 && end == self.max_end && self.una == self.max_end;
        if is_keep_alive && self.counts.data_packets > 0 {
            self.counts.keep_alives += 1;
            return;
        }
        self.counts.data_packets += 1;
        self.counts.payload += u64::from(segment.payload_len);
        self.largest_payload = self.largest_payload.max(segment.payload_len);
        let sender = self.sender(delay.unwrap_or(0));
        self.first_at.get_or_insert(at);
        self.window.advance(at, &sender);
        let waited = (start < self.max_end).then(|| self.on_old(at, segment, start, end, delay)).flatten();
        let waited = waited.or_else(|| self.unseen_timeout(at, segment, start, delay));
        let is_new = end > self.max_end;
        if is_new {
            self.on_new(at, segment, start, end);
        }
        self.order = self.order.wrapping_add(1);
        let pause = at.saturating_sub(self.last_sent_at);
        (self.last_sent_at, self.last_at) = (at, at);
        let sender = self.sender(delay.unwrap_or(0));
        self.window.sent(at, &sender, waited);
        if is_new {
            self.on_round(at, segment, end, pause, delay);
        }
    }

    /// Returns how long the sender was silent if data that is new to the capture was sent before, and lost: all captured data was
    /// acknowledged, and identifications are missing. A timer ended that silence.
    fn unseen_timeout(&mut self, at: u64, segment: &Segment, start: u64, delay: Option<u64>) -> Option<u64> {
        let silence = at.saturating_sub(self.last_sent_at.max(self.last_ack_at.saturating_add(delay.unwrap_or(0))));
        if silence < UNSEEN_TIMEOUT || start != self.max_end || self.una != self.max_end || self.last_id == 0 {
            return None;
        }
        let used = segment.ip_id.wrapping_sub(self.next_id);
        if !(1..MOST_UNSEEN).contains(&used) {
            return None;
        }
        self.counts.timeouts_before += 1;
        self.rounds.lost();
        Some(silence)
    }

    /// New bytes belong to a round.
    #[inline]
    fn on_round(&mut self, at: u64, segment: &Segment, end: u64, pause: u64, delay: Option<u64>) {
        let stamps = segment.tcp.options.timestamps;
        let (mut una, mut edge) = self.window.known();
        let mut unheard = at.saturating_sub(self.window.heard());
        if let Some(answer) = stamps.and_then(|stamps| self.knowledge.echoed(at, stamps.tsecr, pause)) {
            (una, edge) = (answer.ack, answer.edge);
            let shortest = self.returns.min().or(delay).unwrap_or(0).min(answer.round_trip.unwrap_or(u64::MAX));
            unheard = answer.since.saturating_sub(shortest);
            if let Some(round_trip) = answer.round_trip {
                self.returns.push(round_trip);
                self.rounds.came_from_sender(round_trip);
            }
        }
        let una = una.max(self.first);
        self.rounds.sent(at, &Leaving { end, una, edge, pause, unheard }, &self.window.shares);
    }

    #[inline]
    fn on_new(&mut self, at: u64, segment: &Segment, start: u64, end: u64) {
        let piece =
            |start, end, order, fate| Piece { start, end, first_sent: at, last_sent: at, order, retransmits: 0, fate };
        if start > self.max_end {
            let tsval = segment.tcp.options.timestamps.map(|stamps| stamps.tsval);
            let revealed = Revealed { tsval, ids: (self.last_id, segment.ip_id) };
            self.pieces.push(piece(self.max_end, start, self.order, Fate::Hole(revealed)));
        }
        self.pieces.push(piece(start.max(self.max_end), end, self.order, Fate::Flying));
        self.max_end = end;
        self.window.used(end, self.una);
    }

    /// Handles bytes below the end: late, or retransmitted. Returns how long a timer waited, if one made the sender send them.
    #[inline(never)]
    fn on_old(&mut self, at: u64, segment: &Segment, start: u64, end: u64, delay: Option<u64>) -> Option<u64> {
        let end = end.min(self.max_end);
        let round_trip = match (delay, self.rtt.min().or(self.stamped.min())) {
            (None, None) => None,
            (here, there) => Some(here.unwrap_or(0) + there.unwrap_or(0)),
        };
        let (mut late, mut since_sent, mut again) = (None, 0, 0);
        self.pieces.within(start, end, |piece| {
            if let Fate::Hole(hole) = piece.fate {
                let elapsed = at.saturating_sub(piece.first_sent);
                if is_late_original(&hole, segment, elapsed, round_trip) {
                    late = Some((piece.order, elapsed));
                } else {
                    (since_sent, piece.retransmits) = (elapsed, 1);
                }
                // Its position is that of its arrival here: overtaking after this point is judged by that.
                (piece.fate, piece.order) = (Fate::Flying, self.order);
            } else {
                since_sent = at.saturating_sub(piece.last_sent);
                again = again.max(piece.retransmits);
                piece.retransmits = piece.retransmits.saturating_add(1);
            }
            piece.last_sent = at;
        });
        if late.is_none() && (again > 0 || end <= self.una) && self.is_overtaken(segment) {
            // Its retransmission, sent later, arrived first.
            self.counts.already_acknowledged += u64::from(end <= self.una);
            self.before_capture.note(0, since_sent);
            return None;
        }
        if let Some((order, elapsed)) = late {
            self.before_capture.note(self.order.wrapping_sub(order), elapsed);
            return None;
        }
        self.counts.retransmissions += 1;
        self.rates.interrupt();
        self.rounds.lost();
        self.counts.retransmitted += (end - start).min(segment.payload_len.into());
        self.counts.already_acknowledged += u64::from(end <= self.una);
        self.repeats.sent(start, end);
        if again > 0 {
            self.counts.lost_retransmissions += 1;
            self.lost_retransmissions.add(at - since_sent, at);
        }
        self.judge(at, start, end, since_sent, delay.unwrap_or(0))
    }

    /// Returns whether the sender's clock shows that this was sent before an earlier captured segment (RFC 7323 §3.2).
    fn is_overtaken(&self, segment: &Segment) -> bool {
        let stamp = segment.tcp.options.timestamps.map(|stamps| stamps.tsval);
        matches!((self.newest_stamp, stamp), (Some(newest), Some(stamp)) if rtt::is_after(newest, stamp))
    }

    /// Counts a retransmission under its cause.
    fn judge(&mut self, at: u64, start: u64, end: u64, since_sent: u64, delay: u64) -> Option<u64> {
        let heard = self.last_ack_at.saturating_add(delay).max(self.last_sent_at).min(at);
        let silence = at - heard;
        let now = Circumstances {
            silence,
            since_sent: since_sent.max(silence),
            smoothed: self.rtt.smoothed().map(|here| here + delay),
            variation: 4 * self.rtt.variation(),
            evidence: self.fack > end || (self.dup_run >= DUP_THRESH && start <= self.una),
            is_last: end == self.max_end,
            is_first: start <= self.una,
            window_closed: self.window.is_closed(),
            has_probed: self.has_probed,
            sack: self.has_sack,
            start,
        };
        let point = self.max_end;
        match cause(&now, self.episode) {
            Cause::Fast => {
                self.counts.fast += 1;
                if self.episode == Episode::None {
                    self.episode = Episode::Fast { point };
                }
                return None;
            }
            Cause::TailProbe => {
                self.counts.tail_probes += 1;
                self.has_probed = true;
            }
            Cause::Timeout => {
                self.counts.timeouts += 1;
                self.episode = Episode::Timeout { point };
            }
            Cause::AfterTimeout => {
                self.counts.after_timeouts += 1;
                return None;
            }
            Cause::WindowProbe => {
                self.counts.window_probes += 1;
                return None;
            }
            Cause::Unexplained => {
                self.counts.unexplained += 1;
                return None;
            }
        }
        Some(silence)
    }
}
