//! Byte counts.

/// A count of bytes inside one window: `cwnd`, `pipe`, a segment, one ACK's progress.
///
/// RFC 7323 §2.3 bounds a window by 2^30 bytes, so 32 bits are enough. Counts over the life of a flow are `u64`.
pub type Bytes = u32;
