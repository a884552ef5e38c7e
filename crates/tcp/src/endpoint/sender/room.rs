//! Room in the send buffer: how much memory counts against it, when it grows, and when to wake a writer.

use super::Sender;
use crate::config::{Config, SendAccounting, SendGrowth};
use base::Bytes;

/// Free bytes of the send buffer that wake a writer. Waiting for half of a large buffer would drain a flight that nearly fills
/// it.
const WORTH_A_WRITE: Bytes = 128 << 10;

impl Sender {
    /// Returns how many of `len` bytes may be added to the unsent data.
    pub fn below_lowat(&self, cfg: &Config, len: u64) -> u64 {
        cfg.send.notsent_lowat.map_or(len, |lowat| len.min(u64::from(lowat.saturating_sub(self.unreleased()))))
    }

    /// Returns whether writing is worthwhile: a good part of the buffer is free, and little data waits to be sent.
    pub fn is_writable(&self, cfg: &Config) -> bool {
        let (capacity, memory) = (self.buffer.capacity(), self.queued_memory(cfg));
        let room = match cfg.send.accounting {
            SendAccounting::Chunks { .. } if self.segmenter.counts_pieces() => {
                capacity >= memory && capacity - memory >= memory / 2
            }
            _ => self.buffer.free() >= WORTH_A_WRITE.min(capacity / 2),
        };
        let waits = cfg.send.notsent_lowat.is_some_and(|lowat| 2 * u64::from(self.unreleased()) >= lowat.into());
        room && !waits
    }

    /// Returns the bytes that were written and have not been released.
    pub fn unreleased(&self) -> Bytes {
        // Not the distance to `data_end`: before the SYN and behind the FIN, SND.NXT is beyond the last byte.
        self.unsent().saturating_sub(self.planned())
    }

    /// Returns the memory of the buffered data that counts against the buffer.
    pub fn queued_memory(&self, cfg: &Config) -> Bytes {
        let cost = match cfg.send.accounting {
            SendAccounting::Bytes => 0,
            SendAccounting::Chunks { head, record } => head + record,
        };
        self.buffer.len().saturating_add(self.pieces().saturating_mul(cost))
    }

    /// Grows the send buffer to twice the memory of a congestion window's segments, if it may grow.
    pub fn grow_buffer(&mut self, cfg: &Config) {
        let SendGrowth::WithWindow { max } = cfg.send.growth else { return };
        let (head, record) = match cfg.send.accounting {
            SendAccounting::Bytes => (0, 0),
            SendAccounting::Chunks { head, record } => (head, record),
        };
        let smss = self.space.smss();
        let window = self.cc.window().cwnd().max(cfg.cc.initial_window.bytes(smss));
        let segment = (smss + head).next_power_of_two() + record;
        let grown = (window / smss).saturating_mul(2 * segment).min(max);
        self.buffer.set_capacity(self.buffer.capacity().max(grown));
    }

    /// Returns whether writing is worthwhile; otherwise the application is notified once it is.
    pub fn poll_writable(&mut self, cfg: &Config) -> bool {
        let writable = self.is_writable(cfg);
        self.buffer.set_writer_waits(self.buffer.writer_waits() || !writable);
        writable
    }

    /// Returns whether to wake a waiting writer, because writing is worthwhile again.
    pub fn wake_writer(&mut self, cfg: &Config) -> bool {
        let writable = self.is_writable(cfg);
        self.buffer.set_writer_waits(self.buffer.writer_waits() && !writable);
        writable
    }
}
