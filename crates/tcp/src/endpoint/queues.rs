//! What waits in a connection's two buffers, in the terms a socket speaks of (RFC 9293 §3.9.1).

use super::{Endpoint, SendSide};
use base::Bytes;

/// How full a connection's buffers are; octets of payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queues {
    /// Received in order and not yet read.
    pub readable: u64,
    /// Everything up to the peer's FIN has been received.
    pub fin_received: bool,
    /// Written and not yet acknowledged, sent or not.
    pub unacknowledged: Bytes,
    /// Written and not yet sent.
    pub unsent: Bytes,
    /// Room in the send buffer.
    pub room: Bytes,
    /// Our FIN: whether it has a number, and whether that is acknowledged.
    pub fin: FinProgress,
}

/// How far our FIN has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinProgress {
    /// The application has not closed this direction.
    Open,
    /// It waits behind data.
    Queued,
    /// It was sent.
    Sent,
    /// The peer has acknowledged it.
    Acknowledged,
}

impl Endpoint {
    /// What waits in the buffers.
    pub fn queues(&self) -> Queues {
        let fin = match self.snd.space.side() {
            SendSide::Open => FinProgress::Open,
            SendSide::FinQueued => FinProgress::Queued,
            // The FIN is the last thing in flight.
            SendSide::FinSent if self.snd.space.una() == self.snd.space.nxt() => FinProgress::Acknowledged,
            SendSide::FinSent => FinProgress::Sent,
        };
        Queues {
            readable: self.rcv.readable(),
            fin_received: self.rcv.fin_received(),
            unacknowledged: self.snd.buffer.len(),
            unsent: self.snd.buffer.len() - self.sent_in_buffer(),
            room: self.snd.buffer.capacity().saturating_sub(self.snd.queued_memory(&self.cfg)),
            fin,
        }
    }

    /// Copies received octets to the front of `out` without taking them, and returns how many.
    pub fn peek(&self, out: &mut [u8]) -> usize {
        self.rcv.peek(&self.cfg.receive, out)
    }
}
