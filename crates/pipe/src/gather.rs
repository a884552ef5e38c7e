//! Packets as a device without offload brings them, merged into super-segments before a stack sees them.
//!
//! A stack's work depends on the number of packets more than on their bytes, so packets that continue each other become one, as in
//! devices that coalesce what they receive. Each packet is read to where its payload belongs: behind the payload of the one before.
//! Its header overwrites the last bytes there, which are put aside and restored. So merging copies headers, and no payload.

use crate::packet::{Batch, Packet, is_large};
use tcp::ChecksumState;
use wire::checksum::verify;
use wire::{MAX_HEADER, Merge};

/// Bytes of the longest packet.
const LONGEST: usize = u16::MAX as usize;
/// Fills a [`Batch`] from a device, packet by packet.
///
/// Merges neighbours only, so no packet overtakes another. The checksums of what may be merged are verified here; a packet whose checksum is
/// wrong stays as it is, for the stack to count.
#[derive(Debug)]
pub struct Gather {
    /// Longest packet that the device brings, in bytes.
    mtu: usize,
    /// Holds the packet that may still grow, and behind it the one that is read.
    packet: Packet,
    open: Option<Open>,
    /// Where the next packet begins in `packet`.
    at: usize,
    /// The bytes that its header overwrites, and whether it may have.
    aside: [u8; MAX_HEADER],
    is_lent: bool,
}

/// A packet that may grow.
#[derive(Clone, Copy, Debug)]
struct Open {
    merge: Merge,
    header_len: usize,
}

impl Gather {
    /// For a device that brings packets of up to `mtu` bytes.
    pub fn new(mtu: u16) -> Self {
        let mut packet = Packet::without_buffer();
        packet.clear();
        Self { mtu: mtu.into(), packet, open: None, at: 0, aside: [0; MAX_HEADER], is_lent: false }
    }

    /// Returns the place for the next packet, as long as the longest one.
    pub fn room(&mut self, batch: &mut Batch) -> &mut [u8] {
        self.restore();
        let len = self.packet.bytes().len();
        self.at = 0;
        if let Some(Open { header_len, .. }) = self.open {
            if len - header_len + self.mtu > LONGEST {
                self.flush(batch);
            } else {
                self.at = len - header_len;
                self.aside[..header_len].copy_from_slice(&self.packet.bytes()[self.at..]);
                self.is_lent = true;
            }
        }
        self.packet.room_behind(self.at, self.mtu)
    }

    /// Takes the packet of `len` bytes that was read into [`Self::room`].
    ///
    /// # Panics
    /// If it is longer than the room.
    pub fn came(&mut self, batch: &mut Batch, len: usize) {
        assert!(len <= self.mtu, "a packet of {len} bytes does not fit into a room of {}", self.mtu);
        let Some(open) = &mut self.open else {
            self.packet.resize(len);
            return self.begin(batch);
        };
        let (before, next) = self.packet.room_behind(0, self.at + len.max(open.header_len)).split_at_mut(self.at);
        let absorbed = open.absorb(before, &next[..len]);
        let behind = absorbed.is_none().then(|| {
            let mut behind = long(batch);
            behind.extend(&next[..len]);
            behind
        });
        self.restore();
        self.packet.resize(self.packet.bytes().len() + absorbed.unwrap_or(0));
        if let Some(behind) = behind {
            self.flush(batch);
            batch.recycle(std::mem::replace(&mut self.packet, behind));
            self.begin(batch);
        }
    }

    /// Puts the bytes back that a packet may have overwritten.
    fn restore(&mut self) {
        if let Some(Open { header_len, .. }) = self.open
            && std::mem::take(&mut self.is_lent)
        {
            self.packet.room_behind(self.at, header_len).copy_from_slice(&self.aside[..header_len]);
        }
    }

    /// Moves the packet that might still grow to the batch: nothing more will come for now.
    pub fn flush(&mut self, batch: &mut Batch) {
        self.restore();
        let Some(Open { merge, header_len }) = self.open.take() else { return };
        self.packet.gso_size = merge.gso_size();
        if self.packet.gso_size.is_some() {
            merge.finish(&mut self.packet.bytes_mut()[..header_len]);
        }
        self.packet.checksum = ChecksumState::Device;
        self.put(batch);
    }

    /// Keeps the only packet in `self.packet` for others to join, if they may.
    fn begin(&mut self, batch: &mut Batch) {
        self.open = Open::begin(self.packet.bytes());
        if self.open.is_none() {
            self.put(batch);
        }
    }

    /// Moves `self.packet` to the batch.
    fn put(&mut self, batch: &mut Batch) {
        let (gso_size, checksum) = (self.packet.gso_size, self.packet.checksum);
        // A short packet does not occupy a long buffer. One that does leaves with as many bytes as bring another one back.
        let packet = if is_large(self.packet.bytes().len()) {
            let next = long(batch);
            batch.add(std::mem::replace(&mut self.packet, next))
        } else {
            batch.push(self.packet.bytes())
        };
        (packet.gso_size, packet.checksum) = (gso_size, checksum);
        self.packet.clear();
    }
}

/// Returns an empty packet in a buffer that need not grow.
fn long(batch: &mut Batch) -> Packet {
    let mut packet = batch.spare(LONGEST);
    packet.reserve(LONGEST);
    packet
}

impl Open {
    /// Begins with a TCP segment that is intact, and that others may continue. Its payload takes more room than a header, so the next
    /// packet overwrites no byte of this one's.
    fn begin(packet: &[u8]) -> Option<Self> {
        let wire::Split { header, payload } = wire::split(packet).ok()?;
        let header_len = header.bytes().len();
        let is_short = payload.len() < header_len || header_len > MAX_HEADER;
        let len = payload.len() as u32;
        // The stack cannot see any more that a checksum of a merged packet was wrong.
        let is_intact = || header.parse(len).is_ok() && verify(&header, payload);
        if is_short || packet.len() > header_len + payload.len() || !is_intact() {
            return None;
        }
        let merge = Merge::begin(header.bytes(), len)?;
        Some(Self { merge, header_len })
    }

    /// Absorbs `next` if it continues the packets before it, whose bytes `before` begins with; returns the bytes of its payload.
    fn absorb(&mut self, before: &mut [u8], next: &[u8]) -> Option<usize> {
        let wire::Split { header, payload } = wire::split(next).ok()?;
        let len = payload.len() as u32;
        // Its headers need no parser: they equal the first packet's where they do not fail here.
        if header.bytes().len() != self.header_len || !header.ip_holds(len) || !verify(&header, payload) {
            return None;
        }
        self.merge.join(&mut before[..self.header_len], header.bytes(), len).then_some(payload.len())
    }
}

#[cfg(test)]
mod tests;
