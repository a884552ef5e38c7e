//! Which law a receive window grows by, and its numbers.

use super::stepped::SteppedConfig;
use crate::recv::ReceiveWindow;
use base::Bytes;

/// The algorithm that sets the size of the receive window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveWindowConfig {
    /// It stays as it is.
    Fixed {
        /// Size of the buffer, 1 to 2^30 bytes.
        bytes: Bytes,
    },
    /// Grows with the application's reading, early enough not to slow down slow start.
    AutoTuned(DrsConfig),
    /// Dynamic right-sizing as published and deployed: once per round trip, opened slowly as segments arrive.
    Drs(DrsConfig),
    /// Grows by steps, up to the limit of a level, after round trips that used it well.
    Stepped(SteppedConfig),
}

/// The bounds of a growing receive window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrsConfig {
    /// Initial size in bytes; at least the peer's initial window.
    pub initial: Bytes,
    /// Largest size, in bytes: `initial` to 2^30. It determines the window shift.
    pub max: Bytes,
}

impl DrsConfig {
    /// As [`ReceiveWindowConfig::Drs`] is commonly deployed: ten Ethernet segments at first, 6 MiB at most.
    pub const DEPLOYED: Self = Self { initial: 14_600, max: 6 << 20 };
}

impl ReceiveWindowConfig {
    /// Returns the window of a new connection, in bytes.
    pub const fn initial(&self) -> Bytes {
        match *self {
            Self::Fixed { bytes } => bytes,
            Self::AutoTuned(drs) | Self::Drs(drs) => drs.initial,
            Self::Stepped(stepped) => stepped.initial,
        }
    }
    /// Returns the largest window it can reach, in bytes.
    pub const fn largest(&self) -> Bytes {
        match *self {
            Self::Fixed { bytes } => bytes,
            Self::AutoTuned(drs) | Self::Drs(drs) => drs.max,
            Self::Stepped(stepped) => stepped.level.max(),
        }
    }
    /// Returns the window shift it needs (RFC 7323 §2.2); `None` if it needs no option.
    pub fn shift(&self) -> Option<u8> {
        match *self {
            Self::Stepped(stepped) => stepped.level.shift(),
            _ => Some(ReceiveWindow::shift_for(self.largest())),
        }
    }
}

impl Default for DrsConfig {
    fn default() -> Self {
        Self { initial: 65_535, max: 16 << 20 }
    }
}

impl Default for ReceiveWindowConfig {
    fn default() -> Self {
        Self::AutoTuned(DrsConfig::default())
    }
}

/// The initial reference for a round trip, in segments: the initial window of RFC 6928.
pub(super) const FIRST_SPACE_SEGMENTS: u64 = 10;

/// The values that the algorithms borrow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lent<'a> {
    /// The connection's original configuration.
    pub config: &'a ReceiveWindowConfig,
    /// The present size of the window.
    pub limit: Bytes,
    /// The largest segment the peer sends.
    pub rmss: Bytes,
}
