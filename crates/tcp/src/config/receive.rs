//! What counts against the receive buffer (RFC 9293 §3.8.6.2.2 leaves open what a buffer's size means).

use base::Bytes;

/// What counts against the receive buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveAccounting {
    /// Bytes in order that wait to be read.
    Bytes,
    /// The memory that frames are held in, out of order, too; how large the window is follows from what of it is payload.
    Frames(FrameMemory),
}

/// How much memory there is for frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameMemory {
    /// Memory there is at first; a frame that goes beyond it is the last one held.
    pub buffer: Bytes,
    /// The most it grows to.
    pub buffer_max: Bytes,
    /// Whether it does.
    pub growth: FrameGrowth,
}

/// Whether the memory for received frames grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameGrowth {
    /// It stays as it is.
    Fixed,
    /// For what a reader takes in a round trip, and for what waits out of order.
    Grows,
}

impl Default for FrameMemory {
    fn default() -> Self {
        Self { buffer: 131_072, buffer_max: 6 << 20, growth: FrameGrowth::Fixed }
    }
}
