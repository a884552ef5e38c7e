//! What an application has read of a flow.

use crate::watch::Bins;
use base::{Duration, Instant};

/// Bytes that were read, and when.
#[derive(Debug)]
pub(crate) struct Reading {
    bytes: u64,
    bins: Bins,
    last: Option<Instant>,
    saw_end: bool,
}

impl Reading {
    /// Nothing yet. It counts in bins of this length, too.
    pub(super) fn new(bin: Option<Duration>) -> Self {
        Self { bytes: 0, bins: Bins::new(bin), last: None, saw_end: false }
    }

    /// Adds bytes that were read at `now`.
    #[inline]
    pub(super) fn add(&mut self, now: Instant, bytes: u64) {
        self.bytes += bytes;
        self.bins.add(now, bytes);
        self.last = Some(now);
    }

    /// Notes the end of the stream.
    pub(super) fn end(&mut self) {
        self.saw_end = true;
    }

    /// Bytes read so far.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The same by bin.
    pub(crate) fn bins(&self) -> &[u64] {
        self.bins.bytes()
    }

    /// When the last of them were read.
    pub(crate) fn last(&self) -> Option<Instant> {
        self.last
    }

    /// Returns whether the end of the stream was read.
    pub(crate) fn saw_end(&self) -> bool {
        self.saw_end
    }
}
