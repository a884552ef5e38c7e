//! How far packets overtake each other, and whether a late byte is a late packet or a retransmission.
//!
//! Two places are distinguished. *Before* the capture: a segment comes after later ones although it was sent first. *After* it:
//! the receiver reports later segments (RFC 2018) while an earlier one, which was never retransmitted, is still to come.

use super::headers::Segment;
use super::pieces::{Piece, Revealed};
use super::rtt;
use std::collections::VecDeque;

/// Deliveries whose times are remembered.
const REMEMBERED: usize = 1_024;
/// Time limit for reordering by a network if no round trip is known: a retransmission takes a round trip.
const UNKNOWN_ROUND_TRIP: u64 = 3_000_000;

/// How often, and how far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    /// Packets that came late.
    pub packets: u64,
    /// Most packets that overtook one.
    pub overtaken_by: u32,
    /// Longest time by which one came late.
    pub late: u64,
}

impl Extent {
    pub fn note(&mut self, overtaken_by: u32, late: u64) {
        self.packets += 1;
        self.overtaken_by = self.overtaken_by.max(overtaken_by);
        self.late = self.late.max(late);
    }
}

/// The order in which the receiver got the segments.
#[derive(Debug, Default)]
pub(super) struct Deliveries {
    pub extent: Extent,
    /// When a segment of at least this order was delivered first; both rise.
    passed: VecDeque<(u64, u32)>,
}

impl Deliveries {
    /// A piece that was never sent again, or whose original it was, has reached the receiver.
    #[inline]
    pub fn delivered(&mut self, at: u64, piece: &Piece) {
        match self.passed.back() {
            Some(&(_, highest)) if piece.order < highest => {
                let first = self.passed.partition_point(|&(_, order)| order <= piece.order);
                let (since, _) = self.passed[first];
                self.extent.note(highest - piece.order, at.saturating_sub(since));
            }
            Some(&(_, highest)) if piece.order == highest => {}
            _ => self.pass(at, piece.order),
        }
    }

    /// Notes that a piece has reached the receiver that was never retransmitted, or whose original is known to have arrived.
    pub fn delivered_somehow(&mut self, at: u64, piece: &Piece) {
        if self.passed.back().is_none_or(|&(_, highest)| piece.order > highest) {
            self.pass(at, piece.order);
        }
    }

    fn pass(&mut self, at: u64, order: u32) {
        match self.passed.back_mut() {
            Some(last) if last.0 == at => last.1 = order,
            _ => {
                if self.passed.len() == REMEMBERED {
                    self.passed.pop_front();
                }
                self.passed.push_back((at, order));
            }
        }
    }
}

/// Returns whether `segment`, which fills a hole `elapsed` after it appeared, was sent before the segment that revealed the hole.
///
/// The sender's clock decides (RFC 7323 §3.2), else the IP identification if it is a counter, else the time: a sender that
/// retransmits has learned of the hole, which takes a round trip.
pub(super) fn is_late_original(hole: &Revealed, segment: &Segment, elapsed: u64, round_trip: Option<u64>) -> bool {
    if let (Some(revealed), Some(stamps)) = (hole.tsval, segment.tcp.options.timestamps)
        && revealed != stamps.tsval
    {
        return rtt::is_after(revealed, stamps.tsval);
    }
    let (before, behind) = hole.ids;
    let span = behind.wrapping_sub(before);
    if before != 0 && behind != 0 && segment.ip_id != 0 && (2..0x4000).contains(&span) {
        let place = segment.ip_id.wrapping_sub(before);
        if place != 0 && place < 0x4000 {
            return place < span;
        }
    }
    elapsed < round_trip.unwrap_or(UNKNOWN_ROUND_TRIP)
}

#[cfg(test)]
mod tests;
