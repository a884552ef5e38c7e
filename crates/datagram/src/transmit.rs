//! Packets that wait to leave: one queue, first in, first out, with a bound for answers of its own.

use crate::config::ReplyConfig;
use crate::event::SocketId;
use crate::socket::DATAGRAM_BYTES;
use std::collections::VecDeque;

#[derive(Debug)]
struct Waiting {
    /// Whose datagram it is; `None` for an answer.
    of: Option<SocketId>,
    packet: Vec<u8>,
}

/// The queue.
#[derive(Debug)]
pub(crate) struct Transmit {
    queue: VecDeque<Waiting>,
    /// Bytes of datagrams.
    bytes: usize,
    replies: usize,
    reply_bytes: usize,
    bounds: ReplyConfig,
}

impl Transmit {
    pub fn new(bounds: ReplyConfig) -> Self {
        Self { queue: VecDeque::new(), bytes: 0, replies: 0, reply_bytes: 0, bounds }
    }

    /// What a packet costs.
    pub const fn cost(len: usize) -> usize {
        len + DATAGRAM_BYTES
    }

    /// Adds the datagram of a socket, for which there is room.
    pub fn push(&mut self, id: SocketId, packet: Vec<u8>) {
        self.bytes += Self::cost(packet.len());
        self.queue.push_back(Waiting { of: Some(id), packet });
    }

    /// Returns whether an answer of `len` bytes has room.
    pub fn has_room_for_reply(&self, len: usize) -> bool {
        self.replies < self.bounds.waiting_max && self.reply_bytes + Self::cost(len) <= self.bounds.bytes_max
    }

    /// Adds an answer, for which there is room.
    pub fn reply(&mut self, packet: Vec<u8>) {
        self.replies += 1;
        self.reply_bytes += Self::cost(packet.len());
        self.queue.push_back(Waiting { of: None, packet });
    }

    /// Returns the oldest packet.
    pub fn peek(&self) -> Option<&[u8]> {
        self.queue.front().map(|waiting| &*waiting.packet)
    }

    /// Takes the oldest packet, with whose datagram it is.
    pub fn pop(&mut self) -> Option<(Option<SocketId>, Vec<u8>)> {
        let Waiting { of, packet } = self.queue.pop_front()?;
        let cost = Self::cost(packet.len());
        if of.is_some() {
            self.bytes -= cost;
        } else {
            self.replies -= 1;
            self.reply_bytes -= cost;
        }
        Some((of, packet))
    }

    /// Returns the bytes of datagrams.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the bytes of answers.
    pub fn reply_bytes(&self) -> usize {
        self.reply_bytes
    }
}
