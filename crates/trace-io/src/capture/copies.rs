//! Packets captured more than once: by a mirror port that copies both directions of a link, or by one capture on several
//! interfaces in a file that does not name them.
//!
//! A copy repeats the packet's headers, IP identification included, within less than a round trip; a host that retransmits a
//! segment gives it a new identification (RFC 6864 §4) and needs a round trip at least. The time to live and the checksums are
//! not compared: a router between two capture points changes them. IPv6 packets and some IPv4 senders have no identification.
//! There, equal headers prove less: an ACK that repeats another is a duplicate ACK, unless the connection's data also appears
//! twice.

use super::flow::Flow;
use super::headers::Segment;
use wire::Flags;

/// Packets remembered, and how many of them share a bucket, in which the oldest is replaced first.
const REMEMBERED: usize = 1 << 15;
const WAYS: usize = 4;
/// Time limit for copies if no round trip is known: no retransmission timer of a handshake is shorter.
const UNKNOWN_ROUND_TRIP: u64 = 200_000_000;
/// The same for packets without identification, until the connection is known to be captured twice.
const WITHOUT_IDENTIFICATION: u64 = 1_000_000;
/// Copies may be this late on the shortest path, nanoseconds.
const LEAST: u64 = 10_000;

/// Packets of all connections of which a copy may still come.
#[derive(Debug)]
pub(super) struct Copies(Vec<Seen>);

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    headers: u64,
    at: u64,
}

impl Default for Copies {
    fn default() -> Self {
        Self(vec![Seen::default(); REMEMBERED])
    }
}

impl Copies {
    /// Returns whether `segment` of `flow` repeats a recent packet; otherwise remembers it.
    #[inline]
    pub fn is_copy(&mut self, at: u64, flow: &Flow, segment: &Segment) -> bool {
        let headers = digest(flow, segment);
        let place = headers as usize % (REMEMBERED / WAYS) * WAYS;
        let places = &mut self.0[place..place + WAYS];
        if let Some(seen) = places.iter_mut().find(|seen| seen.headers == headers) {
            let is_copy = at.abs_diff(seen.at) <= longest(flow, segment);
            seen.at = if is_copy { seen.at } else { at };
            return is_copy;
        }
        if let Some(oldest) = places.iter_mut().min_by_key(|seen| seen.at) {
            *oldest = Seen { headers, at };
        }
        false
    }
}

/// Returns by how much a copy may be later than its original.
#[cold]
fn longest(flow: &Flow, segment: &Segment) -> u64 {
    let is_syn = segment.tcp.flags.contains(Flags::SYN);
    let round_trip = match (flow.half(0), flow.half(1)) {
        (Some(one), Some(other)) if !is_syn => (one + other).max(LEAST),
        _ => UNKNOWN_ROUND_TRIP,
    };
    if segment.ip_id != 0 || is_syn || flow.is_mirrored() {
        return round_trip;
    }
    // A bare ACK of equal headers may be a duplicate ACK (RFC 5681 §2).
    if segment.occupies() { round_trip.min(WITHOUT_IDENTIFICATION) } else { 0 }
}

/// Hashes what a retransmission or another ACK would change, and the connection and direction.
#[inline]
fn digest(flow: &Flow, segment: &Segment) -> u64 {
    let tcp = &segment.tcp;
    let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
    let mix = |sum: u64, word: u64| (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let mut sum = mix(flow.id, flow.side(segment) as u64);
    sum = mix(sum, pair(tcp.seq.0, tcp.ack.map_or(0, |ack| ack.0)));
    sum = mix(sum, pair(segment.payload_len, u32::from(tcp.window) << 16 | u32::from(segment.ip_id)));
    sum = mix(sum, u64::from(tcp.flags.bits()) << 1 | u64::from(tcp.ack.is_some()));
    if let Some(stamps) = tcp.options.timestamps {
        sum = mix(sum, pair(stamps.tsval, stamps.tsecr));
    }
    for block in tcp.options.sack.as_slice() {
        sum = mix(sum, pair(block.start.0, block.end.0));
    }
    sum ^ sum >> 32
}

#[cfg(test)]
mod tests;
