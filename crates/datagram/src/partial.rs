//! One packet of which fragments are missing (RFC 791 §3.2, RFC 8200 §4.5).
//!
//! Overlapping fragments spoil the packet, IPv6's as RFC 5722 demands and IPv4's alike: no sender makes them, and which of two bytes
//! counts is where firewalls and hosts were made to disagree (RFC 1858, RFC 3128). A spoiled packet holds no bytes, but is remembered
//! until its time is over, so that its other fragments make no new one. The exact repetition of a fragment is no overlap.

use crate::counters::DropReason;
use wire::{Carries, Ecn, Fragment, IpView};

/// What a fragment costs beside its bytes.
pub(crate) const FRAGMENT_BYTES: usize = 64;

/// The headers of the fragment at offset zero, and the protocol it names: that of others does not count (RFC 8200 §4.5).
#[derive(Debug)]
struct First {
    header: Vec<u8>,
    protocol: u8,
    ecn: Ecn,
}

#[derive(Debug)]
struct Piece {
    offset: usize,
    bytes: Box<[u8]>,
}

impl Piece {
    fn end(&self) -> usize {
        self.offset + self.bytes.len()
    }
}

/// The fragments of a packet.
#[derive(Debug, Default)]
pub(crate) struct Partial {
    first: Option<First>,
    /// By offset, without overlaps.
    pieces: Vec<Piece>,
    /// Bytes of all pieces.
    have: usize,
    /// Length of the packet's payload, once the last fragment is here.
    total: Option<usize>,
    is_spoiled: bool,
    has_ce: bool,
    has_not_ect: bool,
}

/// What a fragment did to its packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    /// Others are missing.
    Kept,
    /// It was known.
    Repeated,
    /// None is missing.
    Complete,
    /// The packet cannot be put together.
    Spoiled(DropReason),
}

/// Checks what a fragment says of itself alone.
pub(crate) fn check(packet: &IpView<'_>, fragment: &Fragment) -> Result<(), DropReason> {
    let len = packet.payload().len();
    if fragment.is_atomic() {
        return Ok(());
    }
    if len == 0 || fragment.more && !len.is_multiple_of(8) {
        return Err(DropReason::FragmentLength);
    }
    // IPv4 counts the header, IPv6 does not.
    let header = if packet.src.is_ipv4() { packet.header().len() } else { 0 };
    if header + usize::from(fragment.offset) + len > usize::from(u16::MAX) {
        return Err(DropReason::FragmentTooLong);
    }
    let transport = match packet.carries() {
        Carries::Tcp => 20,
        Carries::Udp | Carries::Icmp => 8,
        Carries::Other => 0,
    };
    if fragment.offset == 0 && len < transport { Err(DropReason::FragmentTiny) } else { Ok(()) }
}

impl Partial {
    /// Adds a fragment that was checked, if it is one of at most `max`.
    pub fn add(&mut self, packet: &IpView<'_>, fragment: &Fragment, max: usize) -> Added {
        if self.is_spoiled {
            return Added::Spoiled(DropReason::FragmentOverlap);
        }
        let (offset, bytes) = (usize::from(fragment.offset), packet.payload());
        let end = offset + bytes.len();
        let at = self.pieces.partition_point(|piece| piece.offset < offset);
        let known = self.pieces.get(at);
        let known = known.is_some_and(|piece| piece.offset == offset && *piece.bytes == *bytes);
        if known && fragment.more != (self.total == Some(end)) {
            return Added::Repeated;
        }
        let overlaps_next = self.pieces.get(at).is_some_and(|next| next.offset < end);
        let overlaps_last = at.checked_sub(1).is_some_and(|last| self.pieces[last].end() > offset);
        let contradicts = match self.total {
            Some(total) => end > total || !fragment.more && end != total,
            None => !fragment.more && self.pieces.last().is_some_and(|last| last.end() > end),
        };
        if overlaps_next || overlaps_last || contradicts {
            return self.spoil(DropReason::FragmentOverlap);
        }
        if self.pieces.len() >= max {
            return self.spoil(DropReason::FragmentCount);
        }
        self.has_ce |= packet.ecn == Ecn::Ce;
        self.has_not_ect |= packet.ecn == Ecn::NotEct;
        if self.has_ce && self.has_not_ect {
            return self.spoil(DropReason::FragmentEcn);
        }
        if offset == 0 {
            self.first = Some(First { header: packet.header().to_vec(), protocol: packet.protocol, ecn: packet.ecn });
        }
        if !fragment.more {
            self.total = Some(end);
        }
        self.pieces.insert(at, Piece { offset, bytes: bytes.into() });
        self.have += bytes.len();
        if self.total == Some(self.have) { Added::Complete } else { Added::Kept }
    }

    fn spoil(&mut self, reason: DropReason) -> Added {
        *self = Self { is_spoiled: true, ..Self::default() };
        Added::Spoiled(reason)
    }

    pub fn is_spoiled(&self) -> bool {
        self.is_spoiled
    }

    /// Returns the bytes that the fragments take.
    pub fn cost(&self) -> usize {
        let header = self.first.as_ref().map_or(0, |first| first.header.len());
        header + self.have + self.pieces.len() * FRAGMENT_BYTES
    }

    /// Puts a complete packet together.
    pub fn put_together(&self) -> Result<Vec<u8>, DropReason> {
        let first = self.first.as_ref().ok_or(DropReason::FragmentOverlap)?;
        let ecn = if self.has_ce { Ecn::Ce } else { first.ecn };
        let mut packet = Vec::with_capacity(first.header.len() + self.have);
        let payloads = self.pieces.iter().map(|piece| &*piece.bytes);
        match wire::put_together(&first.header, first.protocol, ecn, payloads, &mut packet) {
            true => Ok(packet),
            false => Err(DropReason::FragmentTooLong),
        }
    }
}
