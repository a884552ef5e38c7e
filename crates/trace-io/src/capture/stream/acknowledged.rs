//! Input for a stream's sender: acknowledgements, selective ones (RFC 2018), duplicate reports (RFC 2883), windows.

use super::{Counts, Stream, WIDEST};
use crate::capture::distribution::Samples;
use crate::capture::headers::Segment;
use crate::capture::pieces::{Fate, Piece};
use crate::capture::reordering::Deliveries;
use crate::capture::retransmission::Episode;
use wire::Flags;

impl Stream {
    /// The other end sends an acknowledgement. `delay` is the shortest round trip from here to this end.
    #[inline]
    pub fn on_acknowledged(&mut self, at: u64, segment: &Segment, delay: Option<u64>) {
        let tcp = &segment.tcp;
        let Some(ack) = tcp.ack else { return };
        if tcp.flags.contains(Flags::RST) {
            return;
        }
        self.open(ack.0);
        let echoed = tcp.options.timestamps.and_then(|stamps| self.stamps.echoed(at, stamps.tsecr));
        let ack = self.wide(ack.0);
        if ack.abs_diff(self.max_end) > WIDEST {
            self.counts.strange += 1;
            return;
        }
        let is_syn = tcp.flags.contains(Flags::SYN);
        let sender = self.sender(delay.unwrap_or(0));
        self.window.advance(at, &sender);
        if ack > self.max_end {
            self.counts.unseen += ack - self.max_end;
            self.max_end = ack;
        }
        // An ACK that acknowledges nothing new may have waited for its application (RFC 7323 §4.1).
        if let Some(round_trip) = echoed.filter(|_| ack > self.una) {
            self.stamped.push(round_trip);
        }
        let is_dup = self.is_dup_ack(ack, segment);
        let blocks = tcp.options.sack.as_slice().iter().map(|block| (block.start.0, block.end.0));
        let mut newest = None;
        if ack > self.una {
            self.advance_to(at, ack, &mut newest);
        }
        self.on_blocks(at, ack, blocks, &mut newest);
        if let Some(sent) = newest {
            self.rtt.push(at.saturating_sub(sent));
            self.rounds.reached_receiver(at.saturating_sub(sent));
        }
        if is_dup {
            self.counts.dup_acks += 1;
            self.dup_run += 1;
        }
        if ack >= self.una {
            self.window.announced(at, ack, tcp.window, !is_syn);
            if let Some(stamps) = tcp.options.timestamps {
                self.knowledge.passed(at, stamps.tsval, ack, self.window.edge);
            }
            self.last_ack_at = at;
            let sender = self.sender(delay.unwrap_or(0));
            self.window.advance(at, &sender);
        }
    }

    /// RFC 5681 §2: nothing new acknowledged, no other content, and data in flight.
    fn is_dup_ack(&self, ack: u64, segment: &Segment) -> bool {
        let control = Flags::SYN.with(Flags::FIN);
        let is_bare = segment.payload_len == 0 && segment.tcp.flags.without(control) == segment.tcp.flags;
        is_bare && ack == self.una && self.una < self.max_end && segment.tcp.window == self.window.field
    }

    #[inline]
    fn advance_to(&mut self, at: u64, ack: u64, newest: &mut Option<u64>) {
        let Self { pieces, deliveries, counts, rtt, .. } = self;
        pieces.acknowledge(ack, |piece| deliver(at, piece, rtt, deliveries, counts, newest));
        let bytes = ack - self.una;
        self.una = ack;
        self.rounds.delivered(bytes);
        if self.episode == Episode::None {
            let full = self.mss();
            self.rates.delivered(at, bytes, full);
        }
        self.fack = self.fack.max(ack);
        (self.dup_run, self.has_probed, self.last_at) = (0, false, at);
        if self.episode.is_over(ack) {
            self.episode = Episode::None;
        }
    }

    fn on_blocks(&mut self, at: u64, ack: u64, blocks: impl Iterator<Item = (u32, u32)>, newest: &mut Option<u64>) {
        let mut wide = [(0, 0); 4];
        let mut count = 0;
        for (start, end) in blocks {
            wide[count] = (self.wide(start), self.wide(end));
            count += 1;
        }
        let mut blocks = &wide[..count];
        let Some(&(start, end)) = blocks.first() else { return };
        self.has_sack = true;
        // RFC 2883 §4: the first block is a duplicate when it is acknowledged already, or part of the second.
        let inside = blocks.get(1).is_some_and(|&(outer, outer_end)| outer <= start && end <= outer_end);
        if start < end && (end <= ack || inside) {
            self.counts.dsacks += 1;
            self.counts.proved_spurious += u64::from(self.repeats.prove(start, end));
            self.dsack_times.push(at);
            blocks = &blocks[1..];
        }
        for &(start, end) in blocks {
            if start < end && start >= ack && end <= self.max_end {
                self.on_sacked(at, start, end, newest);
            }
        }
        self.sacked = wide;
    }

    /// Handles a block, skipping what the last acknowledgement already reported.
    fn on_sacked(&mut self, at: u64, start: u64, end: u64, newest: &mut Option<u64>) {
        let mut from = start;
        for &(known, known_end) in &self.sacked {
            if known <= from && from < known_end {
                from = known_end;
            }
        }
        let Self { pieces, deliveries, counts, rtt, .. } = self;
        pieces.within(from, end, |piece| {
            if piece.fate == Fate::Flying {
                deliver(at, piece, rtt, deliveries, counts, newest);
                piece.fate = Fate::Sacked;
            }
        });
        self.fack = self.fack.max(end);
    }
}

/// Marks a piece received. Of the pieces in one acknowledgement, the one sent last measures the round trip.
#[inline]
fn deliver(
    at: u64,
    piece: &Piece,
    rtt: &Samples,
    deliveries: &mut Deliveries,
    counts: &mut Counts,
    newest: &mut Option<u64>,
) {
    match piece.fate {
        Fate::Flying => {}
        Fate::Sacked => return,
        Fate::Hole(_) => return counts.unseen += piece.end - piece.start,
    }
    if piece.retransmits == 0 {
        deliveries.delivered(at, piece);
        *newest = (*newest).max(Some(piece.last_sent));
        return;
    }
    let since = at.saturating_sub(piece.last_sent);
    if rtt.min().is_some_and(|shortest| since < shortest - shortest / 10) {
        counts.original_arrived += 1;
        deliveries.delivered(at, piece);
    } else {
        deliveries.delivered_somehow(at, piece);
    }
}
