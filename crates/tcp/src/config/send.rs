//! What a profile may choose about the send side: how writes become segments, and what the send buffer counts.

use base::{Bytes, Duration};

/// The send side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendConfig {
    /// What the application may have written that is not yet acknowledged: bytes, or bytes and memory, as `accounting`
    /// says. An open connection follows when this changes.
    pub buffer: Bytes,
    /// Whether the buffer grows.
    pub growth: SendGrowth,
    /// What counts against the buffer.
    pub accounting: SendAccounting,
    /// No more is written while so many bytes, or more, have not been sent, and a writer is woken at half of it.
    pub notsent_lowat: Option<Bytes>,
    // variant: chunks {
    /// How writes become bursts of segments.
    pub segmenter: SegmenterConfig,
    // variant: chunks }
    /// Which segments carry PSH.
    pub push: PushConfig,
    /// What is done with a segment smaller than the maximum.
    pub nagle: NagleConfig,
    /// Whether such a segment is held back altogether.
    pub cork: CorkConfig,
    /// How long a segment that the silly-window rules hold back may wait (RFC 9293 §3.8.6.2.1: 0.1 to 1 s).
    pub sws_override: Duration,
    /// Longest interval between zero-window probes (RFC 9293 §3.8.6.1).
    pub persist_max: Duration,
    /// What a zero-window probe carries.
    pub window_probe: WindowProbe,
    /// When a narrower window counts.
    pub shrinking: WindowShrinking,
}

/// A window that the peer makes narrower than it was, short of closing it (RFC 9293 SHLD-14 wants none to do it).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowShrinking {
    /// The window is what the latest segment says (RFC 9293 §3.10.7.4, fifth).
    Taken,
    /// So it is, if that segment also brings or acknowledges something new.
    WithProgress,
}

/// A probe of a closed window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowProbe {
    /// The next byte, beyond the window (RFC 9293 §3.8.6.1). A window too narrow for the silly-window rules is used after
    /// [`SendConfig::sws_override`].
    Byte,
    /// Nothing: a segment one number below SND.UNA, which its receiver must answer (RFC 9293 §3.10.7.4, first). Each answer
    /// starts the interval anew, and a window too narrow for the next segment is used only when a probe is due.
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

/// An order to send full segments only. Only a segmenter that keeps chunks obeys it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CorkConfig {
    /// None.
    Off,
    /// A small segment at the end of what was written waits; with nothing in flight no longer than one RTO.
    On,
}

// variant: chunks {
/// How writes become bursts of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmenterConfig {
    /// What was written is one stream, of which each frame takes as much as windows and device allow.
    Stream,
    /// What was written is kept in chunks, each of which leaves in bursts of its own.
    Chunks(ChunksConfig),
}

/// The numbers of a segmenter that keeps chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunksConfig {
    /// Most bytes of a chunk. It is also at most half the largest window the peer has offered.
    pub bytes_max: Bytes,
    /// A burst that could be larger waits for the next ACK unless this part of the window is free.
    pub win_divisor: u32,
    /// A burst may always have so many segments, ...
    pub min_segments: u32,
    /// ... and `bytes_max` on a path without delay, which is halved for each such span of the minimum RTT.
    pub rtt_halving: Duration,
    /// What is done about a chunk that is smaller than its burst may be.
    pub refill: ChunkRefill,
}

/// What is done about a chunk that is smaller than its burst may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkRefill {
    /// It leaves as it is.
    Never,
    /// It takes what its last segment lacks from the next one, unless a record ends between them.
    ToSegment,
    /// It takes what its burst lacks from the next one, unless a record ends between them.
    ToBurst,
}
// variant: chunks }

/// Which segments carry PSH (RFC 9293 §3.9.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushConfig {
    /// The one that takes the last byte written.
    LastQueued,
    /// The last of each write, the last of each burst of several, and one each half of the largest window.
    Writes,
}

/// What counts against the send buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendAccounting {
    /// Bytes; a write is cut short exactly where the buffer is full.
    Bytes,
    /// Bytes and what each chunk costs beside them. A chunk that is begun may be filled, and a writer is woken when a third
    /// of the buffer is free.
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
    /// When it held the application back, it grows to twice the memory of a congestion window.
    WithWindow {
        /// No further than this.
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
