//! What counts against the receive buffer (RFC 9293 §3.8.6.2.2 leaves open what a buffer's size means).

use base::Bytes;

/// What counts against the receive buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveAccounting {
    /// In-order bytes that wait to be read.
    Bytes,
    /// The memory of the frames, out-of-order ones included; the window follows from their share of payload.
    Frames(FrameMemory),
}

/// How much memory there is for frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameMemory {
    /// Initial memory; a frame that exceeds it is the last one held.
    pub buffer: Bytes,
    /// The limit of its growth.
    pub buffer_max: Bytes,
    /// Whether it does.
    pub growth: FrameGrowth,
}

/// Whether the memory for received frames grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameGrowth {
    /// It stays as it is.
    Fixed,
    /// Grows with what a reader takes in a round trip, and with what waits out of order.
    Grows,
}

impl Default for FrameMemory {
    fn default() -> Self {
        Self { buffer: 131_072, buffer_max: 6 << 20, growth: FrameGrowth::Fixed }
    }
}
