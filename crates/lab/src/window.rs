//! The arithmetic of receive windows: the bytes in flight until the first of them is acknowledged, the rate that a window allows,
//! and how it is announced. In whole numbers.

use base::Duration;

/// The largest window that TCP can announce: 16 bits and a shift of 14 (RFC 7323 §2.3).
pub const LARGEST: u64 = 65_535 << 14;

/// Returns the bytes that a link of `rate` bits per second carries in `span`, rounded up.
pub fn bytes(rate: u64, span: Duration) -> u64 {
    (u128::from(rate) * u128::from(span.as_nanos())).div_ceil(8_000_000_000) as u64
}

/// Returns bits per second if `bytes` are carried in each `span`, rounded down.
///
/// # Panics
/// When `span` is zero.
pub fn bits_per_sec(bytes: u64, span: Duration) -> u64 {
    (u128::from(bytes) * 8_000_000_000 / u128::from(span.as_nanos())) as u64
}

/// Returns the smallest shift with which 16 bits can express `window` (RFC 7323 §2.2).
pub fn shift(window: u64) -> u32 {
    (0..=14).find(|shift| 65_535 << shift >= window).unwrap_or(14)
}

/// Returns the number of full segments that hold `bytes`.
pub fn segments(bytes: u64, mss: u32) -> u64 {
    bytes.div_ceil(mss.into())
}
