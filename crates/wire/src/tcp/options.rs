//! TCP options: MSS, window scale, SACK-permitted, SACK, timestamps, Fast Open.
//!
//! On receipt any order and alignment is accepted (RFC 9293 MUST-64), unknown kinds are skipped (MUST-6), and of a repeated
//! option the last one counts. Deviation: an illegal length (MUST-7) invalidates the whole segment, even one that is only wrong
//! for its kind, because the bytes after it may not be an option.
//!
//! On transmission every group of options fills whole words, so the encoding is a run of words.

use super::fast_open::{EXPERIMENT, FAST_OPEN, FastOpen, FastOpenKind, MAGIC};
use crate::Malformed;
use base::{SeqNum, SeqRange};

/// Most bytes of options (RFC 9293 §3.1: the data offset counts at most 15 words).
pub(super) const MAX_OPTIONS: usize = 40;

const END: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// Timestamps after two NOPs, as in nearly every segment of a connection that uses them.
const PADDED_TIMESTAMPS: [u8; 4] = [NOP, NOP, TIMESTAMPS, 10];

/// Most SACK blocks that fit into 40 bytes of options (RFC 2018 §3).
pub const MAX_SACK_BLOCKS: usize = 4;

/// The options this implementation knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size (RFC 9293 §3.7.1).
    pub mss: Option<u16>,
    /// Window shift (RFC 7323 §2) as received; may exceed 14.
    pub window_scale: Option<u8>,
    /// SACK permitted (RFC 2018 §2).
    pub sack_permitted: bool,
    /// Timestamps (RFC 7323 §3).
    pub timestamps: Option<Timestamps>,
    /// Fast Open (RFC 7413 §4.1.1).
    pub fast_open: Option<FastOpen>,
    /// SACK blocks (RFC 2018 §3), in wire order.
    pub sack: SackBlocks,
}

/// The timestamps option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// The sender's clock.
    pub tsval: u32,
    /// The peer's clock, echoed; meaningful only with ACK.
    pub tsecr: u32,
}

impl Options {
    /// Parses an option field of a usual form: empty, or timestamps alone after two NOPs.
    #[inline]
    pub(super) fn read_usual(field: &[u8]) -> Option<Self> {
        if field.is_empty() {
            return Some(Self::default());
        }
        let body = <&[u8; 12]>::try_from(field).ok()?.strip_prefix(&PADDED_TIMESTAMPS)?;
        let (tsval, tsecr) = pair(*body.first_chunk()?);
        Some(Self { timestamps: Some(Timestamps { tsval, tsecr }), ..Self::default() })
    }

    //= specs/rfc9293.md#options
    //# Options are understood at any alignment.
    //= specs/rfc9293.md#options
    //# No length of an option makes the reader fail or loop.
    //= specs/rfc9293.md#options
    //# An option of unknown kind is passed over by the length it states.
    //= specs/rfc9293.md#options
    //# The end of the list, the empty option and the maximum segment size are understood in any segment.
    /// Parses an option field of any form.
    pub(super) fn read_any(mut rest: &[u8]) -> Result<Self, Malformed> {
        let mut options = Self::default();
        while let [kind, tail @ ..] = rest {
            match *kind {
                END => break,
                NOP => rest = tail,
                kind => {
                    let len = usize::from(*tail.first().ok_or(Malformed::OptionLength)?);
                    // A length below 2 reverses the range, one too long makes it exceed the field.
                    options.set(kind, rest.get(2..len).ok_or(Malformed::OptionLength)?)?;
                    rest = &rest[len..];
                }
            }
        }
        Ok(options)
    }

    #[inline]
    fn set(&mut self, kind: u8, body: &[u8]) -> Result<(), Malformed> {
        match kind {
            MSS => self.mss = Some(u16::from_be_bytes(exactly(body)?)),
            WINDOW_SCALE => self.window_scale = Some(u8::from_be_bytes(exactly(body)?)),
            SACK_PERMITTED => {
                let [] = exactly(body)?;
                self.sack_permitted = true;
            }
            SACK => self.sack.read(body)?,
            TIMESTAMPS => {
                let (tsval, tsecr) = pair(exactly(body)?);
                self.timestamps = Some(Timestamps { tsval, tsecr });
            }
            FAST_OPEN => self.fast_open = FastOpen::read(FastOpenKind::Assigned, body).or(self.fast_open),
            EXPERIMENT => {
                if let Some(body) = body.strip_prefix(&MAGIC) {
                    self.fast_open = FastOpen::read(FastOpenKind::Experimental, body).or(self.fast_open);
                }
            }
            _ => {}
        }
        Ok(())
    }

    //= specs/rfc9293.md#options
    //# The header is filled up with zeros to a multiple of four bytes.
    /// Writes the option field and returns its length in bytes, a multiple of 4.
    #[inline]
    pub(super) fn write(&self, out: &mut [u8; MAX_OPTIONS]) -> usize {
        let mut words = Words { out, len: 0 };
        if let Some(mss) = self.mss {
            let [high, low] = mss.to_be_bytes();
            words.push([MSS, 4, high, low]);
        }
        match (self.timestamps, self.sack_permitted) {
            (Some(stamps), true) => words.push_timestamps([SACK_PERMITTED, 2, TIMESTAMPS, 10], stamps),
            (Some(stamps), false) => words.push_timestamps(PADDED_TIMESTAMPS, stamps),
            (None, true) => words.push([NOP, NOP, SACK_PERMITTED, 2]),
            (None, false) => {}
        }
        if let Some(shift) = self.window_scale {
            words.push([NOP, WINDOW_SCALE, 3, shift]);
        }
        if let Some(fast_open) = &self.fast_open {
            words.push_fast_open(fast_open);
        }
        if !self.sack.is_empty() {
            words.push_sack(&self.sack);
        }
        words.len
    }
}

/// The body of an option whose length is fixed by its kind.
#[inline]
fn exactly<const N: usize>(body: &[u8]) -> Result<[u8; N], Malformed> {
    body.try_into().map_err(|_| Malformed::OptionLength)
}

/// The option field under construction, in whole words.
struct Words<'a> {
    out: &'a mut [u8; MAX_OPTIONS],
    len: usize,
}

impl Words<'_> {
    #[inline]
    fn push(&mut self, word: [u8; 4]) {
        self.out[self.len..self.len + 4].copy_from_slice(&word);
        self.len += 4;
    }

    #[inline]
    fn push_timestamps(&mut self, head: [u8; 4], stamps: Timestamps) {
        self.push(head);
        self.push(stamps.tsval.to_be_bytes());
        self.push(stamps.tsecr.to_be_bytes());
    }

    /// Padded at the end, as is usual. The groups before it take at most 20 bytes, so the longest cookie fits.
    fn push_fast_open(&mut self, fast_open: &FastOpen) {
        let len = fast_open.write(&mut self.out[self.len..]);
        let padded = len.next_multiple_of(4);
        self.out[self.len + len..self.len + padded].fill(NOP);
        self.len += padded;
    }

    /// Adds as many blocks as fit; the groups before take at most 20 bytes, so two always fit unless there is a cookie.
    fn push_sack(&mut self, sack: &SackBlocks) {
        let room = (MAX_OPTIONS - self.len).saturating_sub(4) / 8;
        if room == 0 {
            return;
        }
        let blocks = &sack.as_slice()[..sack.as_slice().len().min(room)];
        self.push([NOP, NOP, SACK, 2 + 8 * blocks.len() as u8]);
        for block in blocks {
            self.push(block.start.0.to_be_bytes());
            self.push(block.end.0.to_be_bytes());
        }
    }
}

/// Two numbers in a row: a pair of timestamps, or the edges of a SACK block.
#[inline]
fn pair(bytes: [u8; 8]) -> (u32, u32) {
    let both = u64::from_be_bytes(bytes);
    ((both >> 32) as u32, both as u32)
}

/// Up to [`MAX_SACK_BLOCKS`] SACK blocks, as received: a block may be empty or reversed; the caller's classification
/// decides.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [SeqRange; MAX_SACK_BLOCKS],
    len: u8,
}

impl SackBlocks {
    /// No block.
    pub const NONE: Self = Self { blocks: [SeqRange { start: SeqNum(0), end: SeqNum(0) }; 4], len: 0 };

    /// Parses the body of a SACK option: one block or more, each with two edges.
    fn read(&mut self, body: &[u8]) -> Result<(), Malformed> {
        let (edges, []) = body.as_chunks() else { return Err(Malformed::OptionLength) };
        *self = Self::NONE;
        for &edge in edges {
            let (start, end) = pair(edge);
            self.push(SeqRange::new(SeqNum(start), SeqNum(end)));
        }
        if edges.is_empty() { Err(Malformed::OptionLength) } else { Ok(()) }
    }
    /// Appends a block; returns `false` if the list is full.
    #[inline]
    pub fn push(&mut self, block: SeqRange) -> bool {
        match self.blocks.get_mut(usize::from(self.len)) {
            Some(place) => {
                *place = block;
                self.len += 1;
                true
            }
            None => false,
        }
    }
    /// The blocks in wire order.
    #[inline]
    pub fn as_slice(&self) -> &[SeqRange] {
        &self.blocks[..usize::from(self.len)]
    }
    /// Returns whether the list is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Returns only the first `n` blocks.
    pub fn truncated(mut self, n: usize) -> Self {
        self.len = self.len.min(n.min(MAX_SACK_BLOCKS) as u8);
        for place in &mut self.blocks[usize::from(self.len)..] {
            *place = SeqRange::default();
        }
        self
    }
}

impl core::fmt::Debug for SackBlocks {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

#[cfg(test)]
mod tests;
