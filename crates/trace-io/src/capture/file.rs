//! Capture files as a stream of packets: pcap (draft-ietf-opsawg-pcap) and pcapng (draft-ietf-opsawg-pcapng), either byte
//! order.
//!
//! Owns the one buffer from which packets are borrowed, and reports the byte at which a file becomes invalid. The framing is
//! parsed here and not by `pcap-file`, with which this project writes captures: its reader parses the options of every packet
//! into a vector, interprets each timestamp as nanoseconds, rejects a file for a name that is not UTF-8 or a list of options
//! without an end, and loses its position in the file. Tests read what it writes.

use super::unpack::Source;
use std::io::{self, Read};

/// Bytes requested from the file at once.
const CHUNK: usize = 1 << 20;
/// No packet or block of a valid capture is longer; a longer length marks the end of the readable part.
const LONGEST: usize = 16 << 20;
/// The largest snapshot length that capture programs use, whatever a file's header says.
const SNAPLEN: u32 = 262_144;
/// More interfaces than any machine has.
const INTERFACES: usize = 4_096;

/// The remedy for a damaged file; what precedes the damage is analysed in any case.
const WHOLE: &str =
    "the packets before it are analysed; for the rest copy the file again, or end the capturing program by Ctrl-C";
const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// Why a file cannot be read at all.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// The file system reports an error.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Its beginning is not that of a capture.
    #[error("not a capture: it begins as neither pcap nor pcapng, nor as gzip or zstd of these")]
    NotACapture,
    /// Its first bytes cannot be unpacked.
    #[error("not a whole gzip or zstd file: {0}; copy it again, or see what `gzip -dc` or `zstd -dc` can save of it")]
    Packed(io::Error),
}

/// Where and why a file becomes invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Number of the packet, from 1, as Wireshark numbers them; where a file ends too early, of the first that is missing.
    pub packet: u64,
    /// Offset of the packet or block, in bytes from the beginning; for a compressed file, of its content.
    pub offset: u64,
    /// What is wrong there.
    pub problem: String,
    /// What helps.
    pub remedy: &'static str,
}

/// A packet as it is in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packet<'a> {
    /// Its number, from 1.
    pub number: u64,
    /// Where it begins, as in [`Broken`].
    pub offset: u64,
    /// Nanoseconds since the epoch.
    pub at: u64,
    /// Link type, a number of the registry that both formats share.
    pub link: u32,
    /// Which interface of the file it was seen at.
    pub interface: u32,
    /// Bytes on the link; `data` may be fewer.
    pub original_len: u32,
    /// The bytes kept of it.
    pub data: &'a [u8],
}

#[derive(Clone, Copy, Debug)]
enum Order {
    Big,
    Little,
}

impl Order {
    fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let pair = [bytes[at], bytes[at + 1]];
        match self {
            Self::Big => u16::from_be_bytes(pair),
            Self::Little => u16::from_le_bytes(pair),
        }
    }
    fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let four = bytes[at..at + 4].try_into().expect("four bytes");
        match self {
            Self::Big => u32::from_be_bytes(four),
            Self::Little => u32::from_le_bytes(four),
        }
    }
}

/// An interface's time unit in a pcapng file, and its link type.
#[derive(Clone, Copy, Debug)]
struct Interface {
    link: u32,
    ticks_per_sec: u64,
    offset_sec: i64,
}

#[derive(Debug)]
enum Format {
    Pcap { order: Order, link: u32, ns_per_tick: u64, longest: u32 },
    Pcapng { order: Order, interfaces: Vec<Interface>, first: u32 },
}

/// An open capture.
pub(super) struct File<R> {
    source: Source<R>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Offset in the file of `buffer[start]`.
    offset: u64,
    /// Packets returned.
    packets: u64,
    format: Format,
}

/// The result of a step through the file.
enum Step {
    /// A packet: time, link, interface, original length, and the range of its bytes after `start`.
    Packet {
        at: u64,
        link: u32,
        interface: u32,
        original_len: u32,
        from: usize,
        len: usize,
        whole: usize,
    },
    /// Something that is not a packet, of this many bytes.
    Other(usize),
    End,
}

impl<R: Read> File<R> {
    /// Opens a capture.
    pub fn open(file: R) -> Result<Self, Unreadable> {
        let source = Source::open(file)?;
        let format = Format::Pcapng { order: Order::Big, interfaces: Vec::new(), first: 0 };
        let mut this = Self { source, buffer: vec![0; CHUNK], start: 0, end: 0, offset: 0, packets: 0, format };
        let has = match this.have(24) {
            Ok(has) => has,
            Err(error) if matches!(this.source, Source::Plain(_)) => return Err(error.into()),
            Err(error) => return Err(Unreadable::Packed(error)),
        };
        let head = &this.buffer[..this.end];
        let magic = head.first_chunk().map_or(0, |four| u32::from_be_bytes(*four));
        let (order, ns_per_tick) = match magic {
            SECTION if head.len() >= 12 => return Ok(this),
            0xa1b2_c3d4 => (Order::Big, 1_000),
            0xd4c3_b2a1 => (Order::Little, 1_000),
            0xa1b2_3c4d => (Order::Big, 1),
            0x4d3c_b2a1 => (Order::Little, 1),
            _ => return Err(Unreadable::NotACapture),
        };
        if !has {
            return Err(Unreadable::NotACapture);
        }
        // The upper bits say whether a checksum follows each frame; the lengths inside make that irrelevant.
        let link = order.u32(head, 20) & 0x03ff_ffff;
        let longest = order.u32(head, 16).clamp(SNAPLEN, LONGEST as u32);
        this.format = Format::Pcap { order, link, ns_per_tick, longest };
        this.skip(24);
        Ok(this)
    }

    /// Returns the next packet; `None` after the last.
    ///
    /// # Errors
    /// Where the file becomes invalid. Do not call it again after that.
    pub fn next(&mut self) -> Result<Option<Packet<'_>>, Broken> {
        loop {
            let step = match self.format {
                Format::Pcap { .. } => self.pcap(),
                Format::Pcapng { .. } => self.block(),
            };
            let (number, offset) = (self.packets + 1, self.offset);
            match step.map_err(|problem| Broken { packet: number, offset, problem, remedy: WHOLE })? {
                Step::End => return Ok(None),
                Step::Other(len) => self.skip(len),
                Step::Packet { at, link, interface, original_len, from, len, whole } => {
                    let from = self.start + from;
                    self.skip(whole);
                    self.packets = number;
                    let data = &self.buffer[from..from + len];
                    return Ok(Some(Packet { number, offset, at, link, interface, original_len, data }));
                }
            }
        }
    }

    fn skip(&mut self, len: usize) {
        self.start += len;
        self.offset += len as u64;
    }

    /// Returns whether `len` bytes are in the buffer, from `start` on; reads as needed.
    fn have(&mut self, len: usize) -> io::Result<bool> {
        if self.end - self.start >= len {
            return Ok(true);
        }
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        if self.buffer.len() < len {
            self.buffer.resize(len, 0);
        }
        while self.end < len {
            match self.source.read(&mut self.buffer[self.end..])? {
                0 => return Ok(false),
                read => self.end += read,
            }
        }
        Ok(true)
    }

    /// As [`Self::have`], but treats everything else as a defect; returns `false` only at the very end of the file.
    fn want(&mut self, len: usize, what: &str) -> Result<bool, String> {
        match self.have(len) {
            Ok(true) => Ok(true),
            Ok(false) if self.end == self.start => Ok(false),
            Ok(false) => Err(format!("the file ends in the middle of {what}")),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(format!("the compressed file ends in the middle of {what}"))
            }
            Err(error) => Err(format!("cannot read on: {error}")),
        }
    }

    fn pcap(&mut self) -> Result<Step, String> {
        let Format::Pcap { order, link, ns_per_tick, longest } = self.format else { return Ok(Step::End) };
        if !self.want(16, "a packet's header")? {
            return Ok(Step::End);
        }
        let head = &self.buffer[self.start..];
        let field = |at| order.u32(head, at);
        let (sec, fraction, len, original_len) = (field(0), field(4), field(8), field(12));
        if len > longest {
            return Err(format!("a packet claims {len} bytes"));
        }
        let len = len as usize;
        self.want(16 + len, "a packet")?;
        let at = u64::from(sec) * 1_000_000_000 + u64::from(fraction) * ns_per_tick;
        Ok(Step::Packet { at, link, interface: 0, original_len, from: 16, len, whole: 16 + len })
    }

    fn block(&mut self) -> Result<Step, String> {
        if !self.want(12, "a block's header")? {
            return Ok(Step::End);
        }
        let head = &self.buffer[self.start..];
        let Format::Pcapng { order, .. } = &mut self.format else { return Ok(Step::End) };
        let kind = order.u32(head, 0);
        if kind == SECTION {
            *order = match order_of_section(head) {
                Some(order) => order,
                None => return Err("a section of unknown byte order".to_owned()),
            };
        }
        let order = *order;
        let whole = order.u32(head, 4) as usize;
        if whole < 12 || !whole.is_multiple_of(4) || whole > LONGEST {
            return Err(format!("a block claims {whole} bytes"));
        }
        self.want(whole, "a block")?;
        let block = &self.buffer[self.start..self.start + whole];
        let again = order.u32(block, whole - 4) as usize;
        if again != whole {
            return Err(format!("a block of {whole} bytes ends with a length of {again}"));
        }
        let Format::Pcapng { interfaces, first, .. } = &mut self.format else { return Ok(Step::End) };
        let body = &block[8..whole - 4];
        match kind {
            SECTION => {
                // Interfaces are numbered separately in each section; this stream of packets numbers them all.
                *first = first.saturating_add(interfaces.len() as u32);
                interfaces.clear();
            }
            INTERFACE if interfaces.len() == INTERFACES => return Err("more interfaces than are kept".to_owned()),
            INTERFACE => interfaces.push(interface(order, body)?),
            ENHANCED_PACKET | OBSOLETE_PACKET => return enhanced(order, body, kind, interfaces, *first, whole),
            SIMPLE_PACKET => return simple(order, body, interfaces, *first, whole),
            _ => {}
        }
        Ok(Step::Other(whole))
    }
}

fn order_of_section(head: &[u8]) -> Option<Order> {
    match head[8..12] {
        [0x1a, 0x2b, 0x3c, 0x4d] => Some(Order::Big),
        [0x4d, 0x3c, 0x2b, 0x1a] => Some(Order::Little),
        _ => None,
    }
}

/// Parses an interface description; of its options only those about time matter.
fn interface(order: Order, body: &[u8]) -> Result<Interface, String> {
    const TIME_RESOLUTION: u16 = 9;
    const TIME_OFFSET: u16 = 14;
    if body.len() < 8 {
        return Err("an interface without a link type".to_owned());
    }
    let mut found = Interface { link: order.u16(body, 0).into(), ticks_per_sec: 1_000_000, offset_sec: 0 };
    let mut rest = &body[8..];
    while rest.len() >= 4 {
        let (code, len) = (order.u16(rest, 0), usize::from(order.u16(rest, 2)));
        let Some(value) = rest.get(4..4 + len) else { break };
        match (code, value) {
            (0, _) => break,
            (TIME_RESOLUTION, &[exponent]) => {
                let ticks = match exponent {
                    two if two & 0x80 != 0 => 2_u64.checked_pow((two & 0x7f).into()),
                    ten => 10_u64.checked_pow(ten.into()),
                };
                found.ticks_per_sec = ticks.ok_or("an interface whose clock is finer than 64 bits can say")?;
            }
            (TIME_OFFSET, eight) if eight.len() == 8 => {
                let (first, second) = (u64::from(order.u32(eight, 0)), u64::from(order.u32(eight, 4)));
                found.offset_sec = match order {
                    Order::Big => first << 32 | second,
                    Order::Little => second << 32 | first,
                } as i64;
            }
            _ => {}
        }
        rest = rest.get(4 + len.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(found)
}

impl Interface {
    fn nanoseconds(self, ticks: u64) -> u64 {
        let fraction = u128::from(ticks) * 1_000_000_000 / u128::from(self.ticks_per_sec);
        let ns = fraction as i128 + i128::from(self.offset_sec) * 1_000_000_000;
        ns.clamp(0, u64::MAX.into()) as u64
    }
}

fn enhanced(
    order: Order,
    body: &[u8],
    kind: u32,
    interfaces: &[Interface],
    first: u32,
    whole: usize,
) -> Result<Step, String> {
    if body.len() < 20 {
        return Err("a packet's block without a header".to_owned());
    }
    let index = if kind == OBSOLETE_PACKET { order.u16(body, 0).into() } else { order.u32(body, 0) };
    let Some(interface) = interfaces.get(index as usize) else {
        return Err(format!("a packet of interface {index}, which is not described"));
    };
    let ticks = u64::from(order.u32(body, 4)) << 32 | u64::from(order.u32(body, 8));
    let (len, original_len) = (order.u32(body, 12) as usize, order.u32(body, 16));
    if len > body.len() - 20 {
        return Err(format!("a packet claims {len} bytes in a block of {whole}"));
    }
    let (at, link) = (interface.nanoseconds(ticks), interface.link);
    Ok(Step::Packet { at, link, interface: first.saturating_add(index), original_len, from: 28, len, whole })
}

/// Parses a packet without a time: it can be counted but not analysed, and is passed on with time zero.
fn simple(order: Order, body: &[u8], interfaces: &[Interface], first: u32, whole: usize) -> Result<Step, String> {
    let Some(interface) = interfaces.first().filter(|_| body.len() >= 4) else {
        return Err("a packet of an interface that is not described".to_owned());
    };
    let original_len = order.u32(body, 0);
    let len = (body.len() - 4).min(original_len as usize);
    Ok(Step::Packet { at: 0, link: interface.link, interface: first, original_len, from: 12, len, whole })
}

#[cfg(test)]
mod tests;
