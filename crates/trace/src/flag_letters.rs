//! The letters of a TCP header's control bits (RFC 9293 §3.1).

use crate::labels::FlagLetters;

impl FlagLetters {
    /// Returns the letters for the control bits as they stand in byte 13 of a TCP header.
    pub const fn of(bits: u8) -> Self {
        let (fin, syn, rst) = (bits & 0x01 != 0, bits & 0x02 != 0, bits & 0x04 != 0);
        let (psh, ack) = (bits & 0x08 != 0, bits & 0x10 != 0);
        match (syn, rst, fin, psh, ack) {
            (true, _, _, _, false) => Self::Syn,
            (true, _, _, _, true) => Self::SynAck,
            (_, true, _, _, false) => Self::Rst,
            (_, true, _, _, true) => Self::RstAck,
            (_, _, true, false, true) => Self::FinAck,
            (_, _, true, true, true) => Self::FinPshAck,
            (_, _, true, _, false) => Self::Fin,
            (_, _, _, true, true) => Self::PshAck,
            (_, _, _, true, false) => Self::Psh,
            (_, _, _, false, true) => Self::Ack,
            (_, _, _, false, false) => Self::None,
        }
    }
}
