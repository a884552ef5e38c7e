//! Which law a receive window grows by, and its numbers.

use super::stepped::SteppedConfig;
use crate::recv::ReceiveWindow;
use base::Bytes;

/// Where the size of the receive window comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveWindowConfig {
    /// It stays as it is.
    Fixed {
        /// Size of the buffer, 1 to 2^30 bytes.
        bytes: Bytes,
    },
    /// It grows with what the application takes, early enough not to hold slow start up.
    AutoTuned(DrsConfig),
    /// Dynamic right-sizing as it was published and deployed: once per round trip, and opened slowly as segments arrive.
    Drs(DrsConfig),
    /// It grows by steps, up to what a level allows, after round trips that used it well.
    Stepped(SteppedConfig),
}

/// The bounds of a growing receive window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrsConfig {
    /// Size at the start, in bytes; at least an initial window's worth of the peer.
    pub initial: Bytes,
    /// Largest size, in bytes: `initial` to 2^30. It determines the window shift.
    pub max: Bytes,
}

impl DrsConfig {
    /// As [`ReceiveWindowConfig::Drs`] is commonly deployed: ten segments of Ethernet at first, 6 MiB at last.
    pub const DEPLOYED: Self = Self { initial: 14_600, max: 6 << 20 };
}

impl ReceiveWindowConfig {
    /// Window of a new connection, in bytes.
    pub const fn initial(&self) -> Bytes {
        match *self {
            Self::Fixed { bytes } => bytes,
            Self::AutoTuned(drs) | Self::Drs(drs) => drs.initial,
            Self::Stepped(stepped) => stepped.initial,
        }
    }
    /// The largest window it can come to, in bytes.
    pub const fn largest(&self) -> Bytes {
        match *self {
            Self::Fixed { bytes } => bytes,
            Self::AutoTuned(drs) | Self::Drs(drs) => drs.max,
            Self::Stepped(stepped) => stepped.level.max(),
        }
    }
    /// The window shift it needs (RFC 7323 §2.2); `None` if it does without the option.
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

/// What a round trip is compared with at first, in segments: the initial window of RFC 6928.
pub(super) const FIRST_SPACE_SEGMENTS: u64 = 10;

/// What the laws are lent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lent<'a> {
    /// The configuration the connection was made with.
    pub config: &'a ReceiveWindowConfig,
    /// The present size of the window.
    pub limit: Bytes,
    /// The largest segment the peer sends.
    pub rmss: Bytes,
}
