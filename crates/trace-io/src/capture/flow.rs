//! A connection as seen at a capture point: two streams, what was negotiated, and the distance to the ends.

use super::headers::Segment;
use super::stream::Stream;
use super::window::Scale;
use std::net::SocketAddr;
use wire::Flags;

/// A capture point, as the file describes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Interface {
    /// Interface of the file.
    pub file: u32,
    /// Interface index of the capturing host, where frames carry one (LINKTYPE_LINUX_SLL2).
    pub index: Option<u32>,
    /// The VXLAN network in which the packet was carried: tenants may use the same addresses.
    pub network: Option<u32>,
}

/// An end's SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shake {
    pub isn: u32,
    pub mss: Option<u16>,
    pub window_scale: Option<u8>,
    pub sack_permitted: bool,
    pub timestamps: bool,
    pub first_at: u64,
    pub last_at: u64,
    /// How often it was retransmitted.
    pub repeats: u32,
    pub has_ack: bool,
    /// Whether its options were captured and could be read.
    pub is_whole: bool,
}

/// One connection.
#[derive(Debug)]
pub(super) struct Flow {
    /// Position in the order of first packets, from 1.
    pub id: u64,
    /// Where it was captured; packets of two interfaces are two connections.
    pub interface: Interface,
    /// The end that opened the connection, as far as that was captured, else the one seen first; and the other.
    pub ends: [SocketAddr; 2],
    /// The data that each of them sends.
    pub streams: [Stream; 2],
    pub shakes: [Option<Shake>; 2],
    /// Round trips from here to each end and back, from the handshake.
    shaken: [Option<u64>; 2],
    pub first_at: u64,
    pub last_at: u64,
    pub packets: u64,
    /// Packets that were captured once more, which count nowhere else; and those that take up sequence numbers, both copies
    /// and originals.
    pub copies: u64,
    occupying: [u64; 2],
    pub fins: [bool; 2],
    pub resets: u64,
    /// Packets whose options were damaged or truncated.
    pub options_missing: u64,
}

impl Flow {
    pub fn new(id: u64, interface: Interface, at: u64, segment: &Segment) -> Self {
        let is_answer = segment.tcp.flags.contains(Flags::SYN) && segment.tcp.ack.is_some();
        let ends = if is_answer { [segment.dst, segment.src] } else { [segment.src, segment.dst] };
        Self {
            id,
            interface,
            ends,
            streams: <[Stream; 2]>::default(),
            shakes: [None; 2],
            shaken: [None; 2],
            first_at: at,
            last_at: at,
            packets: 0,
            copies: 0,
            occupying: [0; 2],
            fins: [false; 2],
            resets: 0,
            options_missing: 0,
        }
    }

    pub fn side(&self, segment: &Segment) -> usize {
        usize::from(segment.src != self.ends[0])
    }

    /// Returns whether a segment opens another connection between the same ports.
    #[inline]
    pub fn is_another(&self, segment: &Segment) -> bool {
        let tcp = &segment.tcp;
        if !tcp.flags.contains(Flags::SYN) || tcp.ack.is_some() {
            return false;
        }
        match self.shakes[self.side(segment)] {
            Some(shake) => shake.isn != tcp.seq.0,
            None => self.streams.iter().any(|stream| stream.counts.packets > 0) && !self.is_answered_by(segment),
        }
    }

    /// Returns whether a SYN comes after its own answer: the capture has reordered them.
    fn is_answered_by(&self, segment: &Segment) -> bool {
        let other = &self.shakes[1 - self.side(segment)];
        other.is_some_and(|shake| shake.has_ack) && self.packets <= 2
    }

    /// The end that sends most; of two that send alike, the first.
    pub fn main_side(&self) -> usize {
        usize::from(self.streams[1].bytes() > self.streams[0].bytes())
    }

    /// Returns the round trip from here to an end and back, the shortest seen.
    #[inline]
    pub fn half(&self, end: usize) -> Option<u64> {
        let stream = &self.streams[1 - end];
        let measured = [stream.rtt.min(), stream.stamped.min(), self.streams[end].returns.min(), self.shaken[end]];
        measured.into_iter().flatten().min()
    }

    /// Counts a packet of this connection that was captured again.
    pub fn on_copy(&mut self, segment: &Segment) {
        self.copies += 1;
        self.occupying[0] += u64::from(segment.occupies());
    }

    /// Returns whether the connection is captured more than once: half of what it sent appeared again.
    pub fn is_mirrored(&self) -> bool {
        let [copies, originals] = self.occupying;
        copies > 0 && copies * 2 >= originals
    }

    /// Handles a packet of this connection.
    #[inline]
    pub fn on_segment(&mut self, at: u64, segment: &Segment) {
        let side = self.side(segment);
        let flags = segment.tcp.flags;
        self.packets += 1;
        self.occupying[1] += u64::from(segment.occupies());
        self.last_at = self.last_at.max(at);
        self.options_missing += u64::from(!segment.options_whole);
        self.resets += u64::from(flags.contains(Flags::RST));
        self.fins[side] |= flags.contains(Flags::FIN);
        if flags.contains(Flags::SYN) {
            self.on_syn(at, side, segment);
        } else {
            self.on_handshake_over(at, side, segment);
        }
        let [sender, receiver] = [self.half(side), self.half(1 - side)];
        self.streams[side].on_sent(at, segment, sender);
        // Data from this side also acknowledges: that concerns the other's stream, and the way to the other end.
        self.streams[1 - side].on_acknowledged(at, segment, receiver);
    }

    fn on_syn(&mut self, at: u64, side: usize, segment: &Segment) {
        let options = &segment.tcp.options;
        if let Some(shake) = &mut self.shakes[side] {
            shake.repeats += 1;
            shake.last_at = at;
            return;
        }
        self.shakes[side] = Some(Shake {
            isn: segment.tcp.seq.0,
            mss: options.mss,
            window_scale: options.window_scale,
            sack_permitted: options.sack_permitted,
            timestamps: options.timestamps.is_some(),
            first_at: at,
            last_at: at,
            repeats: 0,
            has_ack: segment.tcp.ack.is_some(),
            is_whole: segment.options_whole,
        });
        if let (true, Some(first)) = (segment.tcp.ack.is_some(), self.shakes[1 - side])
            && first.repeats == 0
        {
            self.shaken[side] = Some(at.saturating_sub(first.last_at));
        }
        self.agree();
    }

    /// The first packet after an answered SYN measures the way to the end that sends it.
    #[inline]
    fn on_handshake_over(&mut self, at: u64, side: usize, segment: &Segment) {
        if self.shaken[side].is_none()
            && self.streams[side].counts.packets <= 1
            && let Some(answer) = self.shakes[1 - side].filter(|shake| shake.has_ack && shake.repeats == 0)
            && segment.tcp.ack.is_some()
        {
            self.shaken[side] = Some(at.saturating_sub(answer.last_at));
        }
    }

    /// Combines what both SYNs say (RFC 7323 §2.2, RFC 2018 §2), or one that answers.
    fn agree(&mut self) {
        let shakes = self.shakes.map(|shake| shake.filter(|shake| shake.is_whole));
        for (side, stream) in self.streams.iter_mut().enumerate() {
            let (own, peers) = (shakes[side], shakes[1 - side]);
            stream.mss = peers.and_then(|shake| shake.mss).or(stream.mss);
            stream.window.scale = match (own, peers) {
                (Some(own), Some(peers)) if own.window_scale.is_none() || peers.window_scale.is_none() => {
                    Scale::Known(0)
                }
                (Some(_), Some(peers)) => Scale::Known(peers.window_scale.unwrap_or(0)),
                // An answer has the option only if the request had it.
                (None, Some(peers)) if peers.has_ack => Scale::Known(peers.window_scale.unwrap_or(0)),
                (Some(lone), None) | (None, Some(lone)) if lone.window_scale.is_none() => Scale::Known(0),
                _ => Scale::AtLeast(0),
            };
            stream.has_sack = own.is_some()
                && peers.is_some()
                && [own, peers].into_iter().flatten().all(|shake| shake.sack_permitted);
        }
    }

    /// Bytes of memory beside the flow itself, without samples.
    #[inline]
    pub fn heap(&self) -> usize {
        self.streams.iter().map(Stream::heap).sum()
    }

    /// The capture ends.
    pub fn finish(&mut self) {
        let at = self.last_at;
        self.streams.iter_mut().for_each(|stream| stream.finish(at));
    }
}

#[cfg(test)]
mod tests;
