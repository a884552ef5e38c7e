//! Packets for tests: an end, its numbers and a time, in a line.

use super::flow::{Flow, Interface};
use super::headers::Segment;
use base::{SeqNum, SeqRange};
use std::net::SocketAddr;
use wire::{Flags, Options, SackBlocks, TcpRepr, Timestamps};

/// A millisecond.
pub const MS: u64 = 1_000_000;
/// Full segments.
pub const FULL: u32 = 1_000;

fn end(side: usize) -> SocketAddr {
    ["10.0.0.1:5000", "10.0.0.2:80"][side].parse().unwrap()
}

/// A bare ACK of the other's first byte, from one side.
pub fn from(side: usize) -> Segment {
    let (src, dst) = (end(side), end(1 - side));
    let tcp = TcpRepr {
        src_port: src.port(),
        dst_port: dst.port(),
        seq: SeqNum(1),
        ack: Some(SeqNum(1)),
        flags: Flags::NONE,
        window: 60_000,
        urgent: 0,
        options: Options::default(),
    };
    Segment { src, dst, ip_id: 0, congestion_experienced: false, payload_len: 0, tcp, options_whole: true }
}

impl Segment {
    pub fn seq(mut self, seq: u32) -> Self {
        self.tcp.seq = SeqNum(seq);
        self
    }
    /// The `nth` full segment behind the SYN.
    pub fn full(self, nth: u32) -> Self {
        self.seq(1 + nth * FULL).len(FULL)
    }
    pub fn len(mut self, len: u32) -> Self {
        self.payload_len = len;
        self
    }
    pub fn ack(mut self, ack: u32) -> Self {
        self.tcp.ack = Some(SeqNum(ack));
        self
    }
    /// Acknowledges so many full segments.
    pub fn got(self, count: u32) -> Self {
        self.ack(1 + count * FULL)
    }
    pub fn window(mut self, window: u16) -> Self {
        self.tcp.window = window;
        self
    }
    pub fn flags(mut self, flags: Flags) -> Self {
        self.tcp.flags = flags;
        self
    }
    pub fn id(mut self, id: u16) -> Self {
        self.ip_id = id;
        self
    }
    pub fn stamped(mut self, tsval: u32, tsecr: u32) -> Self {
        self.tcp.options.timestamps = Some(Timestamps { tsval, tsecr });
        self
    }
    /// Blocks of full segments, first and behind the last.
    pub fn sack(mut self, blocks: &[(u32, u32)]) -> Self {
        let mut sack = SackBlocks::NONE;
        for &(first, behind) in blocks {
            sack.push(SeqRange::new(SeqNum(1 + first * FULL), SeqNum(1 + behind * FULL)));
        }
        self.tcp.options.sack = sack;
        self
    }
    /// A SYN without ACK, at sequence number 0.
    pub fn syn(mut self, shift: Option<u8>) -> Self {
        self = self.seq(0).flags(Flags::SYN);
        self.tcp.ack = None;
        self.tcp.options =
            Options { mss: Some(FULL as u16), window_scale: shift, sack_permitted: true, ..Options::default() };
        self
    }
    /// The answer to one.
    pub fn syn_ack(self, shift: Option<u8>) -> Self {
        self.syn(shift).ack(1)
    }
}

/// A connection opened at time zero, seen at the client, whose round trip takes 100 ms.
pub fn opened(shifts: [Option<u8>; 2]) -> Flow {
    let mut flow = Flow::new(1, Interface::default(), 0, &from(0).syn(shifts[0]));
    flow.on_segment(0, &from(0).syn(shifts[0]));
    flow.on_segment(100 * MS, &from(1).syn_ack(shifts[1]));
    flow.on_segment(100 * MS, &from(0));
    flow
}
