//! A stream's sender sends: new octets, late ones, or old ones again.

use super::{Stream, WIDEST};
use crate::capture::headers::Segment;
use crate::capture::pieces::{Fate, Piece, Revealed};
use crate::capture::reordering::is_late_original;
use crate::capture::retransmission::{Cause, Circumstances, DUP_THRESH, Episode, cause};
use wire::Flags;

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
            self.on_octets(at, segment, start, end, delay);
        } else if start + 1 == self.max_end && self.una == self.max_end && !is_syn {
            self.counts.keep_alives += u64::from(tcp.flags == Flags::NONE);
        }
        self.last_id = segment.ip_id;
    }

    fn on_octets(&mut self, at: u64, segment: &Segment, start: u64, end: u64, delay: Option<u64>) {
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
        if end > self.max_end {
            self.on_new(at, segment, start, end);
        }
        self.order = self.order.wrapping_add(1);
        (self.last_sent_at, self.last_at) = (at, at);
        let sender = self.sender(delay.unwrap_or(0));
        self.window.sent(at, &sender, waited);
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

    /// Octets below the end: late, or sent again. How long a timer was waited for, when one made the sender send them.
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
                // Its place is that of its arrival here: what is overtaken behind this point is judged by that.
                (piece.fate, piece.order) = (Fate::Flying, self.order);
            } else {
                since_sent = at.saturating_sub(piece.last_sent);
                again = again.max(piece.retransmits);
                piece.retransmits = piece.retransmits.saturating_add(1);
            }
            piece.last_sent = at;
        });
        if let Some((order, elapsed)) = late {
            self.before_capture.note(self.order.wrapping_sub(order), elapsed);
            return None;
        }
        self.counts.retransmissions += 1;
        self.counts.retransmitted += (end - start).min(segment.payload_len.into());
        self.counts.already_acknowledged += u64::from(end <= self.una);
        self.repeats.sent(start, end);
        if again > 0 {
            self.counts.lost_retransmissions += 1;
            self.lost_retransmissions.add(at - since_sent, at);
        }
        self.judge(at, start, end, since_sent, delay.unwrap_or(0))
    }

    /// Files a retransmission under its cause.
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
