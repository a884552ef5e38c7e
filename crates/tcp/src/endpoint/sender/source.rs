//! The data that an application writes (RFC 9293 §3.9.1.2): bytes or the position-coded pattern, and what is at the end of it.

use crate::send::SendBuffer;
use base::Bytes;

/// What is at the end of a write. Segmenters without chunks treat all of these alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Boundary {
    /// No special end: the written data is pushed.
    #[default]
    None,
    /// More follows at once: a small segment at the end waits for it; with nothing in flight, for at most one RTO.
    More,
    /// The end of a record: no segment carries bytes from both sides of it.
    Record,
}

/// The data of a write.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// These bytes.
    Bytes(&'a [u8]),
    /// This many bytes of the pattern, which continues from the previous write.
    Pattern(u64),
}

impl Source<'_> {
    /// Returns the first `most` bytes, or all if there are fewer.
    pub(crate) fn up_to(self, most: u64) -> Self {
        match self {
            Self::Bytes(bytes) => Self::Bytes(&bytes[..bytes.len().min(usize::try_from(most).unwrap_or(usize::MAX))]),
            Self::Pattern(len) => Self::Pattern(len.min(most)),
        }
    }

    /// Returns the number of bytes.
    pub fn len(&self) -> u64 {
        match self {
            Self::Bytes(data) => data.len() as u64,
            Self::Pattern(len) => *len,
        }
    }

    /// Returns whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends `len` bytes, from offset `from` on, to `buffer`.
    pub(in crate::endpoint) fn append_to(&self, buffer: &mut SendBuffer, from: u64, len: Bytes) {
        match self {
            Self::Bytes(data) => buffer.append(&data[from as usize..][..len as usize]),
            Self::Pattern(_) => buffer.append_pattern(len),
        }
    }
}
