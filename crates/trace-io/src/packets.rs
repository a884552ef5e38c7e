//! The packets of both ends as they left each host, in pcapng with nanoseconds; each packet's comment lists the events at its end
//! since that end's previous packet, one per line. Events after the last packet are in the comment of the statistics at the end.
//!
//! All packets have one interface. Each packet appears once, so to a reader of the file it is one capture point that all packets
//! pass: a round trip from it to the receiver and back, and one to the sender and back, add up to the path's.
//!
//! Checksums are correct. Packets may be truncated after the headers, because few readers need the payload. Time counts from
//! 1970, when the run began.

use crate::Meta;
use crate::meta::End;
use crate::recorder::{Chunk, Packet, Payload, Sink};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::blocks::interface_statistics::{InterfaceStatisticsBlock, InterfaceStatisticsOption};
use pcap_file::{DataLink, Endianness, PcapError};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::Duration;

/// Bytes of a packet that are kept: more than any header has.
pub const HEADERS: usize = 128;
/// Bytes of the longest packet.
pub const WHOLE: usize = 65_535;

/// Longest text of one comment, bytes; an option's length has 16 bits.
const MAX_COMMENT: usize = 60_000;
/// Powers of ten that a unit of time is smaller than a second.
const NANOSECONDS: u8 = 9;
/// The packet leaves its host (draft-ietf-opsawg-pcapng, flags word).
const OUTBOUND: u32 = 2;

/// Fills in bytes of the position-coded stream, by their offset in it.
pub type Fill = fn(u64, &mut [u8]);

/// The file.
pub struct PacketWriter<W: Write> {
    file: PcapNgWriter<W>,
    snaplen: usize,
    fill: Fill,
    /// The ends of the connections. Of one connection there is one at each host, in the hosts' order.
    ends: Vec<End>,
    /// What happened to each since its last packet.
    pending: Vec<String>,
    /// To which of them something happened last.
    last: usize,
    /// Packets so far, and the time of the last event.
    written: u64,
    last_at: u64,
    packet: Vec<u8>,
}

impl<W: Write> core::fmt::Debug for PacketWriter<W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PacketWriter").field("snaplen", &self.snaplen).finish_non_exhaustive()
    }
}

impl<W: Write> PacketWriter<W> {
    /// Begins a file for the ends of `meta`, with so many bytes of each packet.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(out: W, meta: &Meta, snaplen: usize, fill: Fill) -> io::Result<Self> {
        let mut file = PcapNgWriter::with_endianness(out, Endianness::Little).map_err(plain)?;
        let names: Vec<&str> = meta.ends.iter().map(|end| end.name.as_str()).collect();
        let name = names.join(" and ");
        let description = format!("{name}: each packet once, as it leaves its host");
        let options = vec![
            InterfaceDescriptionOption::IfName(Cow::Borrowed(&name)),
            InterfaceDescriptionOption::IfDescription(Cow::Borrowed(&description)),
            InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
        ];
        let interface = InterfaceDescriptionBlock { linktype: DataLink::RAW, snaplen: snaplen as u32, options };
        file.write_pcapng_block(interface).map_err(plain)?;
        let ends = meta.ends.clone();
        let pending = vec![String::new(); ends.len()];
        Ok(Self { file, snaplen, fill, ends, pending, last: 0, written: 0, last_at: 0, packet: Vec::new() })
    }

    fn write(&mut self, packet: &Packet) -> io::Result<()> {
        self.build(packet);
        // Of several connections the packet belongs to the one whose event is the last: a segment's event comes right before it.
        let end = if self.ends.len() > 2 { self.last } else { packet.host as usize };
        let comment = self.pending.get_mut(end).map(core::mem::take).unwrap_or_default();
        let mut options: Vec<EnhancedPacketOption<'_>> =
            parts(&comment).map(|part| EnhancedPacketOption::Comment(Cow::Borrowed(part))).collect();
        options.push(EnhancedPacketOption::Flags(OUTBOUND));
        let block = EnhancedPacketBlock {
            interface_id: 0,
            timestamp: Duration::from_nanos(packet.at.as_nanos()),
            original_len: self.packet.len() as u32,
            data: Cow::Borrowed(&self.packet[..self.packet.len().min(self.snaplen)]),
            options,
        };
        self.file.write_pcapng_block(block).map_err(plain)?;
        self.written += 1;
        Ok(())
    }

    /// Writes the events after the last packets, which have no packet to be attached to.
    fn write_rest(&mut self) -> io::Result<()> {
        let rest = self.ends.iter().zip(&self.pending).filter(|(_, events)| !events.is_empty());
        let comment: String = rest.map(|(end, events)| format!("{}:\n{events}", end.name)).collect();
        let mut options: Vec<InterfaceStatisticsOption<'_>> =
            parts(&comment).map(|part| InterfaceStatisticsOption::Comment(Cow::Borrowed(part))).collect();
        options.push(InterfaceStatisticsOption::IsbIfRecv(self.written));
        // Two words of 32 bits, the high one first, also in a file whose words are little-endian: the library writes one of 64.
        let timestamp = self.last_at.rotate_left(32);
        let block = InterfaceStatisticsBlock { interface_id: 0, timestamp, options };
        self.file.write_pcapng_block(block).map_err(plain)?;
        Ok(())
    }

    /// Builds the whole packet, with its checksum.
    fn build(&mut self, packet: &Packet) {
        let header_len = packet.header().len();
        self.packet.clear();
        self.packet.extend_from_slice(packet.header());
        match &packet.payload {
            Payload::Bytes(bytes) => self.packet.extend_from_slice(bytes),
            Payload::Stream { offset, len } => {
                self.packet.resize(header_len + *len as usize, 0);
                (self.fill)(*offset, &mut self.packet[header_len..]);
            }
        }
        let (header, payload) = self.packet.split_at_mut(header_len);
        wire::checksum::fill(header, payload);
    }
}

/// Splits a comment into pieces of whole lines within the limit.
fn parts(comment: &str) -> impl Iterator<Item = &str> {
    let mut rest = comment.trim_end();
    core::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let cut = if rest.len() <= MAX_COMMENT { None } else { rest[..MAX_COMMENT].rfind('\n') };
        let (part, more) = rest.split_at(cut.unwrap_or(rest.len()));
        rest = more.trim_start();
        Some(part)
    })
}

impl<W: Write + Send> Sink for PacketWriter<W> {
    fn take(&mut self, chunk: &Chunk) -> io::Result<()> {
        let mut noted = 0;
        for packet in &chunk.packets {
            self.note(&chunk.records[noted..packet.behind]);
            noted = packet.behind;
            self.write(packet)?;
        }
        self.note(&chunk.records[noted..]);
        Ok(())
    }
    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.write_rest()?;
        self.file.get_mut().flush()
    }
}

impl<W: Write> PacketWriter<W> {
    fn note(&mut self, records: &[crate::Record]) {
        for record in records {
            self.last_at = self.last_at.max(record.at.as_nanos());
            let Some(end) = self.ends.iter().position(|end| end.conn == record.conn.0) else { continue };
            self.last = end;
            // Writing to a `String` cannot fail.
            let _ = writeln!(self.pending[end], "{} {}", record.at.as_nanos(), record.event);
        }
    }
}

/// Returns the cause of an error, without the library's own wording around it.
fn plain(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_comment_is_cut_between_lines_and_loses_none() {
        let line = "123 SegmentSent{seq=1}\n";
        let comment = line.repeat(3 * MAX_COMMENT / line.len());
        let cut: Vec<&str> = parts(&comment).collect();
        assert!(cut.len() == 3 || cut.len() == 4, "{}", cut.len());
        assert!(cut.iter().all(|part| part.len() <= MAX_COMMENT && part.ends_with('}')));
        assert_eq!(cut.join("\n") + "\n", comment);
        assert_eq!(parts("").count(), 0);
    }
}
