//! A packet in a buffer that is reused, with room in front of it, and batches of packets.

use tcp::{ChecksumState, Payload, TxFrame, fill_pattern};

/// Bytes of room in front of every packet: WireGuard's header takes 16, virtio's 12, an IPv4 header with UDP 28.
pub const HEAD_ROOM: usize = 64;

/// An IP packet, or a super-segment of many.
#[derive(Clone, Debug)]
pub struct Packet {
    /// The room in front, the packet, and bytes of earlier ones: a buffer that is read into again needs no clearing.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Segment size of a super-segment, in bytes of payload; `None` for a plain packet.
    pub gso_size: Option<u16>,
    /// What is known about the TCP checksum.
    pub checksum: ChecksumState,
}

impl Packet {
    /// A packet without a buffer, to be cleared before use. Takes no memory.
    pub(crate) const fn without_buffer() -> Self {
        Self { buffer: Vec::new(), start: 0, end: 0, gso_size: None, checksum: ChecksumState::InHeader }
    }

    /// The packet, from the first byte of its IP header, or of what [`Self::prepend`] has put in front of it.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// The same, to be changed in place, as encryption does.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[self.start..self.end]
    }

    /// Bytes that [`Self::prepend`] can still put in front.
    pub fn head_room(&self) -> usize {
        self.start
    }

    /// Puts `len` bytes in front of the packet and returns them; their content is unspecified.
    ///
    /// # Panics
    /// If there is less room than that ([`Self::head_room`]).
    pub fn prepend(&mut self, len: usize) -> &mut [u8] {
        assert!(len <= self.start, "{len} bytes do not fit into the {} in front of the packet", self.start);
        self.start -= len;
        &mut self.buffer[self.start..self.start + len]
    }

    /// Removes `len` bytes from the front, as decryption does with a header.
    ///
    /// # Panics
    /// If the packet is shorter.
    pub fn strip(&mut self, len: usize) {
        assert!(len <= self.bytes().len(), "a packet of {} bytes has no {len} to remove", self.bytes().len());
        self.start += len;
    }

    /// Appends bytes, as encryption does with its tag.
    pub fn extend(&mut self, bytes: &[u8]) {
        let used = (self.buffer.len() - self.end).min(bytes.len());
        let (over, behind) = bytes.split_at(used);
        self.buffer[self.end..self.end + used].copy_from_slice(over);
        self.buffer.extend_from_slice(behind);
        self.end += bytes.len();
    }

    /// Lengthens or shortens the packet to `len` bytes: room to be filled in place. The content of what is added is unspecified.
    pub fn resize(&mut self, len: usize) {
        self.end = self.start + len;
        if self.buffer.len() < self.end {
            self.buffer.resize(self.end, 0);
        }
    }

    /// Returns `len` bytes that begin `at` bytes behind the packet's first one, beyond its end too; the packet keeps its length.
    pub(crate) fn room_behind(&mut self, at: usize, len: usize) -> &mut [u8] {
        let from = self.start + at;
        if self.buffer.len() < from + len {
            self.buffer.resize(from + len, 0);
        }
        &mut self.buffer[from..from + len]
    }

    /// Makes the buffer take a packet of `len` bytes without growing.
    pub(crate) fn reserve(&mut self, len: usize) {
        self.buffer.reserve_exact((HEAD_ROOM + len).saturating_sub(self.buffer.len()));
    }

    /// Shortens the packet to `len` bytes; without effect on a shorter one.
    pub fn truncate(&mut self, len: usize) {
        self.end = self.end.min(self.start + len);
    }

    /// Empties the packet; the buffer stays.
    pub(crate) fn clear(&mut self) {
        if self.buffer.len() < HEAD_ROOM {
            self.buffer.resize(HEAD_ROOM, 0);
        }
        (self.start, self.end) = (HEAD_ROOM, HEAD_ROOM);
        (self.gso_size, self.checksum) = (None, ChecksumState::InHeader);
    }

    /// Bytes that the buffer takes.
    pub(crate) fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    /// Becomes the frame that a stack sends.
    pub(crate) fn fill(&mut self, frame: &TxFrame<'_>) {
        self.clear();
        self.extend(frame.header);
        match frame.payload {
            Payload::Bytes(bytes) => self.extend(bytes),
            Payload::Pattern { offset, len } => {
                let at = self.end;
                self.resize(at - self.start + len as usize);
                fill_pattern(offset, &mut self.buffer[at..self.end]);
            }
        }
        (self.gso_size, self.checksum) = (frame.gso_size, frame.checksum);
    }
}

/// Capacity from which a buffer is kept for super-segments, in bytes. Without the distinction ACKs would make use of the large buffers,
/// and every buffer would become a large one.
const LARGE: usize = 4_096;

/// Empty buffers, small and large.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    small: Vec<Packet>,
    large: Vec<Packet>,
}

impl Buffers {
    /// Returns an empty packet for `len` bytes, if there is one that need not grow by much.
    pub fn take(&mut self, len: usize) -> Option<Packet> {
        if is_large(len) { self.large.pop() } else { self.small.pop() }
    }

    pub fn put(&mut self, packet: Packet) {
        if packet.capacity() > LARGE { self.large.push(packet) } else { self.small.push(packet) }
    }

    /// Returns how many buffers there are, small and large.
    pub fn counts(&self) -> (usize, usize) {
        (self.small.len(), self.large.len())
    }

    /// Returns any of the buffers.
    pub fn pop(&mut self) -> Option<Packet> {
        self.large.pop().or_else(|| self.small.pop())
    }
}

/// Returns whether a packet of `len` bytes takes a large buffer.
pub(crate) fn is_large(len: usize) -> bool {
    len + HEAD_ROOM > LARGE
}

/// Packets on their way into a pipe or out of it, and the empty buffers that stay behind.
#[derive(Debug, Default)]
pub struct Batch {
    /// Oldest first.
    pub(crate) packets: Vec<Packet>,
    pub(crate) empty: Buffers,
    /// Where packets go that are sent to several shards; kept for its memory.
    pub(crate) places: Vec<usize>,
}

impl Batch {
    /// Adds a packet with a copy of `bytes`.
    pub fn push(&mut self, bytes: &[u8]) -> &mut Packet {
        let packet = self.push_empty(bytes.len());
        packet.extend(bytes);
        packet
    }

    /// Adds an empty packet, to be filled in place with about `len` bytes.
    pub fn push_empty(&mut self, len: usize) -> &mut Packet {
        let packet = self.spare(len);
        self.add(packet)
    }

    /// Returns an empty packet for about `len` bytes, which may be added later.
    pub fn spare(&mut self, len: usize) -> Packet {
        let mut packet = self.empty.take(len).unwrap_or(Packet::without_buffer());
        packet.clear();
        packet
    }

    /// Keeps the buffer of a packet that is not needed.
    pub(crate) fn recycle(&mut self, packet: Packet) {
        self.empty.put(packet);
    }

    /// Adds a packet.
    pub fn add(&mut self, packet: Packet) -> &mut Packet {
        self.packets.push(packet);
        self.packets.last_mut().expect("it was just added")
    }

    /// Removes the packet that was added last; its buffer stays.
    pub fn pop(&mut self) {
        if let Some(packet) = self.packets.pop() {
            self.empty.put(packet);
        }
    }

    /// The packets, oldest first.
    pub fn packets(&self) -> &[Packet] {
        &self.packets
    }

    /// The same, to be changed in place.
    pub fn packets_mut(&mut self) -> &mut [Packet] {
        &mut self.packets
    }

    /// Returns the number of packets.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Returns whether the batch holds no packets.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Drops the packets and keeps their buffers.
    pub fn clear(&mut self) {
        self.packets.drain(..).for_each(|packet| self.empty.put(packet));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tunnel_works_in_place() {
        let mut batch = Batch::default();
        let packet = batch.push(b"packet");
        let buffer = packet.buffer.as_ptr();
        assert_eq!((packet.bytes(), packet.head_room()), (&b"packet"[..], HEAD_ROOM));
        packet.prepend(4).copy_from_slice(b"head");
        packet.bytes_mut().make_ascii_uppercase();
        packet.truncate(10);
        assert_eq!((packet.bytes(), packet.head_room()), (&b"HEADPACKET"[..], HEAD_ROOM - 4));
        packet.strip(4);
        packet.extend(b"!");
        assert_eq!((packet.bytes(), packet.buffer.as_ptr()), (&b"PACKET!"[..], buffer));
        batch.clear();
        assert!(batch.is_empty());
        let again = batch.push(b"next");
        assert_eq!((again.bytes(), again.head_room(), again.buffer.as_ptr()), (&b"next"[..], HEAD_ROOM, buffer));
    }

    #[test]
    #[should_panic = "65 bytes do not fit into the 64 in front of the packet"]
    fn the_room_in_front_has_an_end() {
        Batch::default().push_empty(0).prepend(HEAD_ROOM + 1);
    }

    #[test]
    #[should_panic = "a packet of 3 bytes has no 4 to remove"]
    fn no_more_is_removed_than_there_is() {
        Batch::default().push(b"abc").strip(4);
    }
}
