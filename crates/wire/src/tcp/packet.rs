//! The TCP header on the wire (RFC 9293 §3.1).
//!
//! Reserved bits are ignored on receipt and written as zero; the checksum belongs to [`crate::checksum`].

use super::options::{MAX_OPTIONS, Options};
use super::repr::ACK;
use super::{Flags, TcpRepr};
use crate::words::{self, FIXED};
use crate::{IpRepr, Malformed};
use base::SeqNum;

/// Bytes of the longest header.
pub(crate) const MAX_HEADER: usize = FIXED + MAX_OPTIONS;
/// Where the checksum stands.
pub(crate) const CHECKSUM_AT: usize = 16;

/// The header's own length in bytes; `segment` begins with it and may go on behind it.
#[inline]
pub(crate) fn header_len(segment: &[u8]) -> Result<usize, Malformed> {
    let fixed = segment.first_chunk::<FIXED>().ok_or(Malformed::Truncated)?;
    let len = usize::from(fixed[12] >> 4) * 4;
    if len < FIXED || len > segment.len() { Err(Malformed::TcpHeaderLength) } else { Ok(len) }
}

//= specs/rfc9293.md#segments
//# The window field is an unsigned number of 16 bits.
/// Reads a header that fills `bytes`, and hands `ip` through.
///
/// Both meanings are put into their final place together: the copy that joining them later would take is a third of the
/// time of the whole.
#[inline]
pub(crate) fn parse_behind(ip: IpRepr, bytes: &[u8]) -> Result<(IpRepr, TcpRepr), Malformed> {
    let (fixed, options) = bytes.split_first_chunk().ok_or(Malformed::Truncated)?;
    let [ports, seq, ack, control, tail] = words::read(fixed);
    if (control >> 28) as usize * 4 != bytes.len() {
        return Err(Malformed::TcpHeaderLength);
    }
    let (src_port, dst_port) = ((ports >> 16) as u16, ports as u16);
    if src_port == 0 || dst_port == 0 {
        return Err(Malformed::ZeroPort);
    }
    let bits = (control >> 16) as u8;
    let with = |options| TcpRepr {
        src_port,
        dst_port,
        seq: SeqNum(seq),
        ack: (bits & ACK != 0).then_some(SeqNum(ack)),
        flags: Flags::from_bits(bits),
        window: control as u16,
        urgent: tail as u16,
        options,
    };
    // Two paths to the end, so that the usual one builds the result in its place: it has no copy of the options to make.
    match Options::read_usual(options) {
        Some(options) => Ok((ip, with(options))),
        None => Ok((ip, with(Options::read_any(options)?))),
    }
}

/// Writes the header, its checksum zero, and returns its length in bytes.
#[inline]
pub(crate) fn emit(tcp: &TcpRepr, out: &mut [u8; MAX_HEADER]) -> usize {
    assert!(tcp.src_port != 0 && tcp.dst_port != 0, "a port is never zero");
    let (fixed, rest) = out.split_first_chunk_mut().expect("there is room");
    let len = FIXED + tcp.options.write(rest.first_chunk_mut().expect("there is room"));
    let ports = u32::from(tcp.src_port) << 16 | u32::from(tcp.dst_port);
    let control = (len as u32 / 4) << 28 | u32::from(tcp.control_bits()) << 16 | u32::from(tcp.window);
    words::write([ports, tcp.seq.0, tcp.ack.map_or(0, |ack| ack.0), control, u32::from(tcp.urgent)], fixed);
    len
}
