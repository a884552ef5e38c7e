//! TCP options: MSS, window scale, SACK-permitted, SACK, timestamps.

use base::SeqRange;

/// Most SACK blocks that fit into 40 octets of options (RFC 2018 §3).
pub const MAX_SACK_BLOCKS: usize = 4;

/// The options this implementation knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size (RFC 9293 §3.7.1).
    pub mss: Option<u16>,
    /// Window shift (RFC 7323 §2) as it stood on the wire; may exceed 14.
    pub window_scale: Option<u8>,
    /// SACK permitted (RFC 2018 §2).
    pub sack_permitted: bool,
    /// Timestamps (RFC 7323 §3).
    pub timestamps: Option<Timestamps>,
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

/// Up to [`MAX_SACK_BLOCKS`] SACK blocks, as they stand on the wire: a block may be empty or reversed, for the
/// classification above to judge.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [SeqRange; MAX_SACK_BLOCKS],
    len: u8,
}

impl SackBlocks {
    /// No block.
    pub const NONE: Self = Self { blocks: [SeqRange { start: base::SeqNum(0), end: base::SeqNum(0) }; 4], len: 0 };

    /// Appends a block; `false` when all places are taken.
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
    pub fn as_slice(&self) -> &[SeqRange] {
        &self.blocks[..usize::from(self.len)]
    }
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// The first `n` blocks only.
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
