//! The meaning of a TCP header.

use super::options::Options;
use base::SeqNum;

/// The ACK bit in byte 13.
pub(super) const ACK: u8 = 0x10;

/// The control bits other than ACK, which [`TcpRepr::ack`] carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// No bit.
    pub const NONE: Self = Self(0);
    /// No more data from the sender.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Push.
    pub const PSH: Self = Self(0x08);
    /// The urgent pointer is significant.
    pub const URG: Self = Self(0x20);
    /// ECN echo (RFC 3168).
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Self = Self(0x80);

    /// Both sets together.
    #[inline]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    /// This set less `other`.
    #[inline]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
    /// Whether every bit of `other` is set.
    #[inline]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
    /// The bits as they stand in byte 13, ACK excluded.
    #[inline]
    pub const fn bits(self) -> u8 {
        self.0
    }
    /// From byte 13; the ACK bit is masked away.
    #[inline]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits & !ACK)
    }
}

/// The meaning of a TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpRepr {
    /// Source port, never zero.
    pub src_port: u16,
    /// Destination port, never zero.
    pub dst_port: u16,
    /// Sequence number of the first byte (or of the SYN).
    pub seq: SeqNum,
    /// Acknowledgement number; present when the ACK bit is set.
    pub ack: Option<SeqNum>,
    /// The other control bits.
    pub flags: Flags,
    /// Window as it stands on the wire, unscaled.
    pub window: u16,
    /// Urgent pointer.
    pub urgent: u16,
    /// Options this implementation knows; others are skipped.
    pub options: Options,
}

impl TcpRepr {
    /// Returns the control bits as they stand in byte 13, ACK included.
    #[inline]
    pub const fn control_bits(&self) -> u8 {
        self.flags.bits() | if self.ack.is_some() { ACK } else { 0 }
    }
}
