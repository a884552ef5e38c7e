//! A packet as simulated paths carry it: the real header, and the payload's bytes or their description.
//!
//! Packets are boxed, so that moving one through hops and queues moves a pointer, and a [`PacketPool`] reuses the boxes, so that
//! the steady state allocates nothing.

use base::{Instant, SeqNum};
use core::ops::Range;
use netem::{Ecn, Packet};
use tcp::{ChecksumState, Payload, RxFrame, TxFrame};
use trace::{PacketPayload, PacketSent};
use wire::{Cuts, Header, MAX_HEADER, Merge};

/// How packets travel.
pub type Parcel = Box<SimPacket>;

/// One IP packet.
// In memory order: a data segment's own fields and its usual header share the first two cache lines.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct SimPacket {
    payload: StoredPayload,
    wire_len: u32,
    /// When it entered the network.
    pub(crate) entered: Instant,
    /// Segment size, where a device merged several packets; zero for a plain one.
    gso_size: u16,
    header_len: u8,
    header: [u8; MAX_HEADER],
}

/// [`Payload`] that owns its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredPayload {
    /// Bytes of the pattern, by position.
    Pattern {
        /// Position of the first byte in the stream.
        offset: u64,
        /// Bytes.
        len: u32,
    },
    /// Bytes themselves.
    Bytes(Vec<u8>),
}

impl SimPacket {
    fn empty() -> Self {
        Self {
            payload: StoredPayload::Pattern { offset: 0, len: 0 },
            wire_len: 0,
            entered: Instant::ZERO,
            gso_size: 0,
            header_len: 0,
            header: [0; MAX_HEADER],
        }
    }

    /// IP and TCP header.
    #[inline]
    pub fn header(&self) -> &[u8] {
        &self.header[..usize::from(self.header_len)]
    }

    /// Returns the frame that a receiving stack gets at `at`.
    #[inline]
    pub fn as_frame(&self, at: Instant) -> RxFrame<'_> {
        let payload = match &self.payload {
            StoredPayload::Pattern { offset, len } => Payload::Pattern { offset: *offset, len: *len },
            StoredPayload::Bytes(bytes) => Payload::Bytes(bytes),
        };
        let gso_size = if self.gso_size == 0 { None } else { Some(self.gso_size) };
        let header = if self.is_report() { Header::read(self.header()) } else { Header::emitted(self.header()) };
        RxFrame { at, header, payload, gso_size, checksum: ChecksumState::Unneeded }
    }

    /// Returns the TCP or UDP header, and whatever of the buffer is behind it.
    #[inline]
    fn tcp(&self) -> &[u8] {
        // IP headers of our stacks have neither options nor extensions.
        &self.header[if self.header[0] >> 4 == 4 { 20 } else { 40 }..]
    }

    /// Returns the number of the protocol that the IP packet carries.
    fn protocol(&self) -> u8 {
        self.header[if self.header[0] >> 4 == 4 { 9 } else { 6 }]
    }

    /// Returns whether it is a router's report, by ICMP.
    pub(crate) fn is_report(&self) -> bool {
        const ICMP: [u8; 2] = [1, 58];
        ICMP.contains(&self.protocol())
    }

    /// Source and destination port; a report has those of the packet that it is about.
    pub(crate) fn ports(&self) -> [u16; 2] {
        const ICMP_HEADER: usize = 8;
        let quoted = if self.header[0] >> 4 == 4 { 20 } else { 40 } + ICMP_HEADER;
        let tcp = if self.is_report() { &self.tcp()[quoted..] } else { self.tcp() };
        [0, 2].map(|at| u16::from_be_bytes([tcp[at], tcp[at + 1]]))
    }

    /// Returns whether it is UDP's.
    pub(crate) fn is_datagram(&self) -> bool {
        const UDP: u8 = 17;
        self.protocol() == UDP
    }

    /// Position of a described payload; zero for bytes.
    pub(crate) fn position(&self) -> u64 {
        match self.payload {
            StoredPayload::Pattern { offset, .. } => offset,
            StoredPayload::Bytes(_) => 0,
        }
    }

    /// First sequence number of the TCP segment inside.
    pub(crate) fn seq(&self) -> SeqNum {
        let tcp = self.tcp();
        SeqNum(u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]))
    }

    /// Returns what an observer of packets sees.
    pub(crate) fn as_sent(&self, host: usize) -> PacketSent<'_> {
        let payload = match &self.payload {
            StoredPayload::Pattern { offset, len } => PacketPayload::Stream { offset: *offset, len: *len },
            StoredPayload::Bytes(bytes) => PacketPayload::Bytes(bytes),
        };
        PacketSent { host: host as u32, header: self.header(), payload }
    }

    /// Payload bytes.
    pub(crate) fn payload_len(&self) -> u32 {
        self.wire_len - u32::from(self.header_len)
    }

    /// Begins a super-segment that may absorb later packets, if another packet may follow this one.
    pub(crate) fn begin_merge(&self) -> Option<Merge> {
        Merge::begin(self.header(), self.payload_len())
    }

    /// Absorbs the packet that arrived after this one, if both are parts of one super-segment.
    pub(crate) fn absorb(&mut self, merge: &mut Merge, next: &Self) -> bool {
        let len = next.payload_len();
        let header = &mut self.header[..usize::from(self.header_len)];
        if !self.payload.is_continued_by(&next.payload) || !merge.absorb(header, next.header(), len) {
            return false;
        }
        self.payload.append(&next.payload);
        self.wire_len += len;
        self.gso_size = merge.gso_size().unwrap_or(0);
        true
    }

    /// Becomes the packet with this header and this part of the frame's payload.
    #[inline]
    fn fill(&mut self, header: &[u8], payload: Payload<'_>) {
        let len = header.len();
        self.header[..len].copy_from_slice(header);
        self.header_len = len as u8;
        self.gso_size = 0;
        let payload_len = match (payload, &mut self.payload) {
            (Payload::Pattern { offset, len }, stored) => {
                *stored = StoredPayload::Pattern { offset, len };
                len
            }
            (Payload::Bytes(bytes), StoredPayload::Bytes(stored)) => {
                stored.clear();
                stored.extend_from_slice(bytes);
                bytes.len() as u32
            }
            (Payload::Bytes(bytes), stored) => {
                *stored = StoredPayload::Bytes(bytes.to_vec());
                bytes.len() as u32
            }
        };
        self.wire_len = len as u32 + payload_len;
    }
}

impl StoredPayload {
    /// Returns whether the payloads are of one kind and, where that is known, contiguous.
    fn is_continued_by(&self, next: &Self) -> bool {
        match (self, next) {
            (Self::Pattern { offset, len }, Self::Pattern { offset: next, .. }) => offset + u64::from(*len) == *next,
            (Self::Bytes(_), Self::Bytes(_)) => true,
            _ => false,
        }
    }

    fn append(&mut self, next: &Self) {
        match (self, next) {
            (Self::Pattern { len, .. }, Self::Pattern { len: more, .. }) => *len += more,
            (Self::Bytes(bytes), Self::Bytes(more)) => bytes.extend_from_slice(more),
            _ => unreachable!("payloads of one connection are of one kind"),
        }
    }
}

#[cfg(test)]
impl SimPacket {
    /// Damages the payload: it becomes that of another position.
    pub(crate) fn shift_payload(&mut self, by: u64) {
        if let StoredPayload::Pattern { offset, .. } = &mut self.payload {
            *offset += by;
        }
    }
}

impl Packet for Parcel {
    #[inline]
    fn wire_len(&self) -> u32 {
        self.wire_len
    }

    fn mark_ce(&mut self) -> bool {
        netem::ip::mark_ce(&mut self.header[..usize::from(self.header_len)])
    }

    fn ecn(&self) -> Ecn {
        netem::ip::ecn(self.header())
    }

    fn flow(&self) -> u64 {
        netem::ip::flow(self.header())
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn may_be_cut(&self) -> bool {
        netem::ip::may_be_cut(self.header())
    }

    fn may_wait(&self) -> bool {
        self.payload_len() == 0 && netem::ack::is_pure(self.header())
    }

    fn supersedes(&self, older: &Self) -> bool {
        self.may_wait() && older.payload_len() == 0 && netem::ack::supersedes(self.header(), older.header())
    }

    /// Returns the position in the stream; moved bytes do not reveal it.
    fn stream(&self) -> Option<Range<u64>> {
        match self.payload {
            StoredPayload::Pattern { offset, len: len @ 1.. } => Some(offset..offset + u64::from(len)),
            _ => None,
        }
    }
}

/// A frame's progress on its way into a path.
#[derive(Debug)]
pub(crate) enum Entry {
    /// It is one packet that has not entered yet.
    Whole,
    /// It is a super-segment that the device splits.
    Cut(Cuts),
    /// The packet has entered.
    Over,
}

impl Entry {
    /// Nothing of the frame has entered yet.
    #[inline]
    pub(crate) fn of(frame: &TxFrame<'_>) -> Self {
        match frame.gso_size {
            None => Self::Whole,
            size => Self::Cut(Cuts::new(frame.header, frame.payload.len() as usize, size)),
        }
    }
}

/// Boxes that carry no packet at the moment.
#[derive(Debug, Default)]
pub struct PacketPool {
    free: Vec<Parcel>,
}

impl PacketPool {
    /// Returns a packet with the contents of `frame`.
    ///
    /// # Panics
    /// If the frame is a super-segment: a device must split it before a path carries it.
    #[inline]
    pub fn packet(&mut self, frame: &TxFrame<'_>) -> Parcel {
        assert!(frame.gso_size.is_none(), "a super-segment is on a path, and no device has cut it");
        let mut packet = self.take();
        packet.fill(frame.header, frame.payload);
        packet
    }

    /// Returns the next packet of `frame` on its way into a path; `None` after the last.
    #[inline]
    pub(crate) fn next_packet(&mut self, frame: &TxFrame<'_>, entry: &mut Entry) -> Option<Parcel> {
        match entry {
            Entry::Whole => {
                *entry = Entry::Over;
                Some(self.packet(frame))
            }
            Entry::Cut(cuts) => self.part(frame, cuts),
            Entry::Over => None,
        }
    }

    /// Returns a packet with the next part of the super-segment in `frame`; `None` after the last.
    fn part(&mut self, frame: &TxFrame<'_>, cuts: &mut Cuts) -> Option<Parcel> {
        let mut header = [0; MAX_HEADER];
        let header = &mut header[..frame.header.len()];
        header.copy_from_slice(frame.header);
        let place = cuts.next_into(header)?;
        let payload = match frame.payload {
            Payload::Pattern { offset, .. } => {
                Payload::Pattern { offset: offset + place.start as u64, len: place.len() as u32 }
            }
            Payload::Bytes(bytes) => Payload::Bytes(&bytes[place]),
        };
        let mut packet = self.take();
        packet.fill(header, payload);
        Some(packet)
    }

    fn take(&mut self) -> Parcel {
        self.free.pop().unwrap_or_else(|| Box::new(SimPacket::empty()))
    }

    /// Takes back the box of a packet that has arrived or was lost.
    #[inline]
    pub fn put_back(&mut self, packet: Parcel) {
        self.free.push(packet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
    use test_case::test_case;
    use wire::{Ecn, Flags, IpRepr, Options, TcpRepr};

    fn frame<'a>(header: &'a [u8], payload: Payload<'a>) -> TxFrame<'a> {
        TxFrame { header, payload, gso_size: None, checksum: ChecksumState::Unneeded }
    }

    /// As many bytes as an IPv4 header and a TCP header with timestamps; of their fields only the ones that say so.
    const V4_WITH_TIMESTAMPS: [u8; 52] = {
        let mut header = [7; 52];
        header[0] = 0x45;
        (header[6], header[7], header[9]) = (0x40, 0, 6);
        header
    };

    #[test]
    fn a_packet_gives_back_what_was_put_in() {
        let mut pool = PacketPool::default();
        let described = pool.packet(&frame(&V4_WITH_TIMESTAMPS, Payload::Pattern { offset: 9, len: 1448 }));
        assert_eq!(described.wire_len(), 1500);
        let seen = described.as_frame(Instant::from_nanos(3));
        assert_eq!((seen.at, seen.header.bytes().len(), seen.payload.len()), (Instant::from_nanos(3), 52, 1448));
        assert_eq!(described.stream(), Some(9..1457));

        pool.put_back(described);
        let bytes = pool.packet(&frame(&V4_WITH_TIMESTAMPS, Payload::Bytes(b"abc")));
        assert_eq!((bytes.wire_len(), bytes.header()), (55, &V4_WITH_TIMESTAMPS[..]));
        assert!(matches!(bytes.as_frame(Instant::ZERO).payload, Payload::Bytes(b"abc")));
        assert_eq!(bytes.stream(), None);
        assert!(pool.free.is_empty());
    }

    #[test]
    fn boxes_and_byte_buffers_go_round() {
        let mut pool = PacketPool::default();
        let first = pool.packet(&frame(&[0; 40], Payload::Bytes(&[1; 1460])));
        let place: *const SimPacket = &raw const *first;
        pool.put_back(first);
        let second = pool.packet(&frame(&[0; 40], Payload::Bytes(&[])));
        assert_eq!(&raw const *second, place);
        assert!(matches!(&second.payload, StoredPayload::Bytes(bytes) if bytes.capacity() >= 1460));
    }

    const V4: (IpAddr, IpAddr) = (IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)));
    const V6: (IpAddr, IpAddr) = (IpAddr::V6(Ipv6Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::UNSPECIFIED));

    fn bare_ack() -> TcpRepr {
        let (src_port, dst_port, seq, window) = (50_000, 5_001, SeqNum(7), 1_000);
        let (ack, flags, urgent, options) = (Some(SeqNum(9)), Flags::NONE, 0, Options::default());
        TcpRepr { src_port, dst_port, seq, ack, flags, window, urgent, options }
    }

    #[test_case(V4, Ecn::NotEct, false)]
    #[test_case(V4, Ecn::Ect0, true)]
    #[test_case(V4, Ecn::Ect1, true)]
    #[test_case(V4, Ecn::Ce, true)]
    #[test_case(V6, Ecn::NotEct, false)]
    #[test_case(V6, Ecn::Ect0, true)]
    fn only_capable_packets_are_marked_and_stay_valid((src, dst): (IpAddr, IpAddr), ecn: Ecn, marked: bool) {
        let mut header = [0; MAX_HEADER];
        let ip = IpRepr { src, dst, ttl: 64, dscp: 46, ecn, fragmentation: wire::Fragmentation::Forbidden };
        let len = wire::emit(&ip, &bare_ack(), 0, &mut header);
        let mut packet = PacketPool::default().packet(&frame(&header[..len], Payload::Bytes(&[])));
        assert_eq!(packet.mark_ce(), marked);
        let (parsed, _) = wire::parse(packet.header(), 0).unwrap();
        assert_eq!(parsed, IpRepr { ecn: if marked { Ecn::Ce } else { ecn }, ..ip });
    }
}
