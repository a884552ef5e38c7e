//! What a profile may choose about the send side: how writes become segments, and what counts against the send buffer.

use base::{Bytes, Duration};

/// The send side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendConfig {
    /// What the application may have written and not yet had acknowledged: bytes, or bytes and memory, depending on `accounting`.
    /// Changing it affects open connections.
    pub buffer: Bytes,
    /// Whether the buffer grows.
    pub growth: SendGrowth,
    /// What counts against the buffer.
    pub accounting: SendAccounting,
    /// Rejects writes while this many bytes or more are unsent; a writer wakes when half of it is left.
    pub notsent_lowat: Option<Bytes>,
    // variant: chunks {
    /// How writes become bursts of segments.
    pub segmenter: SegmenterConfig,
    // variant: chunks }
    /// Which segments carry PSH.
    pub push: PushConfig,
    /// How to treat a segment smaller than the maximum.
    pub nagle: NagleConfig,
    /// Whether to hold such a segment back altogether.
    pub cork: CorkConfig,
    /// How long silly-window avoidance may hold a segment back (RFC 9293 §3.8.6.2.1: 0.1 to 1 s).
    pub sws_override: Duration,
    /// Longest interval between zero-window probes (RFC 9293 §3.8.6.1).
    pub persist_max: Duration,
    /// What a zero-window probe carries.
    pub window_probe: WindowProbe,
    /// When to accept a narrower window.
    pub shrinking: WindowShrinking,
}

/// How to treat a window that the peer shrinks without closing it (RFC 9293 SHLD-14 advises against shrinking).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowShrinking {
    /// The window is what the latest segment says (RFC 9293 §3.10.7.4, fifth).
    Taken,
    /// The same, but only if that segment also brings new data or acknowledges some.
    WithProgress,
}

/// A probe of a closed window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowProbe {
    /// The next byte, beyond the window (RFC 9293 §3.8.6.1). A window too narrow for silly-window avoidance is used after
    /// [`SendConfig::sws_override`].
    Byte,
    /// No byte: a segment one number below SND.UNA, which its receiver must answer (RFC 9293 §3.10.7.4, first). Each answer
    /// restarts the interval, and a window too narrow for the next segment is used only when a probe is due.
    Empty,
}

/// Coalescing of small segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NagleConfig {
    /// A small segment waits while anything is unacknowledged (RFC 9293 §3.7.4).
    Rfc896,
    /// A small segment waits only while a small segment is unacknowledged (Minshall's rule).
    Minshall,
    /// Nothing waits.
    Off,
}

/// Whether to send full segments only. Only a segmenter that keeps chunks obeys it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CorkConfig {
    /// None.
    Off,
    /// A small segment at the end of the written data waits; with nothing in flight, for at most one RTO.
    On,
}

// variant: chunks {
/// How writes become bursts of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmenterConfig {
    /// The written data is one stream; each frame takes as much of it as windows and device allow.
    Stream,
    /// The written data is kept in chunks, and each chunk leaves in separate bursts.
    Chunks(ChunksConfig),
}

/// Parameters of a segmenter that keeps chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunksConfig {
    /// Maximum bytes of a chunk, and at most half the largest window that the peer has offered.
    pub bytes_max: Bytes,
    /// A burst that could be larger waits for the next ACK unless this fraction of the window is free.
    pub win_divisor: u32,
    /// A burst may always have this many segments, ...
    pub min_segments: u32,
    /// ... and `bytes_max` on a path without delay, halved for each such span of the minimum RTT.
    pub rtt_halving: Duration,
    /// How to treat a chunk that is smaller than its burst may be.
    pub refill: ChunkRefill,
}

/// What is done about a chunk that is smaller than its burst may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkRefill {
    /// It leaves as it is.
    Never,
    /// It fills its last segment from the next chunk, unless a record ends between them.
    ToSegment,
    /// It fills its burst from the next chunk, unless a record ends between them.
    ToBurst,
}
// variant: chunks }

/// Which segments carry PSH (RFC 9293 §3.9.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushConfig {
    /// The one that takes the last byte written.
    LastQueued,
    /// The last one of each write, the last one of each burst of several, and one per half of the largest window.
    Writes,
}

/// What counts against the send buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendAccounting {
    /// Bytes; a write is truncated exactly where the buffer is full.
    Bytes,
    /// Bytes plus the overhead of each chunk. A chunk that has been started may be filled, and a writer wakes when a third of the
    /// buffer is free.
    Chunks {
        /// Memory for a chunk's headers.
        head: Bytes,
        /// Memory for its descriptor.
        record: Bytes,
    },
}

/// Whether the send buffer grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendGrowth {
    /// It stays as it is.
    Fixed,
    /// Whenever it limited the application, it grows to twice the memory of a congestion window.
    WithWindow {
        /// Upper limit.
        max: Bytes,
    },
}

impl Default for SendConfig {
    fn default() -> Self {
        Self {
            buffer: 16 << 20,
            growth: SendGrowth::Fixed,
            accounting: SendAccounting::Bytes,
            notsent_lowat: None,
            segmenter: SegmenterConfig::Stream, // variant: chunks
            push: PushConfig::LastQueued,
            nagle: NagleConfig::Rfc896,
            cork: CorkConfig::Off,
            sws_override: Duration::from_millis(200),
            persist_max: Duration::from_secs(60),
            window_probe: WindowProbe::Byte,
            shrinking: WindowShrinking::Taken,
        }
    }
}

// variant: chunks {
impl Default for ChunksConfig {
    fn default() -> Self {
        Self {
            bytes_max: 65_215,
            win_divisor: 3,
            min_segments: 2,
            rtt_halving: Duration::from_micros(512),
            refill: ChunkRefill::Never,
        }
    }
}

impl SendConfig {
    /// What is kept of chunks, if they are.
    #[inline]
    pub(crate) const fn chunks(&self) -> Option<&ChunksConfig> {
        match &self.segmenter {
            SegmenterConfig::Stream => None,
            SegmenterConfig::Chunks(chunks) => Some(chunks),
        }
    }
}
// variant: chunks }
