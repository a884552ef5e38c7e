//! The pages in which received bytes lie, and the pool of empty ones.
//!
//! Pages with readable bytes form a queue; pages with only out-of-order bytes are in a tree, so an out-of-order byte costs at most a
//! page, however far from the others it is. A page moves from the tree to the queue when the bytes before it have arrived: no byte
//! is copied more than once before it is read. A page is filled from its front, and only a gap before an out-of-order byte is
//! zeroed: clearing whole pages would cost more than copying the arriving bytes.
//!
//! The pool belongs to the stack, which lends it to a buffer while a segment arrives or the application reads. So received bytes
//! need no allocation as long as they are read, whichever connections they belong to, and a connection without bytes has no page.

use crate::pattern::{Payload, fill_pattern};
use base::{Duration, Instant};
use core::fmt;
use std::collections::{BTreeMap, VecDeque};

/// Bytes of a page. Larger ones make a buffer cheaper to fill; but one byte far from the others pins as much, and a packet may
/// have to zero it.
pub(super) const PAGE: usize = 2_048;
/// Capacity of the page queue that is kept even if there are few pages.
const KEPT: usize = 64;
/// After so long without bytes a stack is idle.
const IDLE: Duration = Duration::from_secs(1);
/// Pages that an idle stack keeps: 32 KiB.
const FEW: usize = 16;
/// Sets without a page that the pool keeps, ...
const SETS: usize = 64;
/// ... and how many of them may have a large queue: 12 KiB each.
const LARGE_SETS: usize = 4;
const KEPT_LARGE: usize = 512;

/// The bytes of a page up to the last one that arrived. Allocated in full, so that it never moves.
type Page = Vec<u8>;

/// Empty pages, and sets of none, for the bytes that arrive next.
#[derive(Debug, Default)]
pub(crate) struct PagePool {
    pages: Vec<Page>,
    #[expect(clippy::vec_box, reason = "the boxes move between the pool and connections")]
    sets: Vec<Box<Pages>>,
    /// Maximum number of pages.
    max: usize,
    /// When bytes last arrived.
    used_at: Instant,
}

impl PagePool {
    /// Creates a pool that keeps up to `bytes` bytes of pages.
    pub fn new(bytes: u64) -> Self {
        let max = usize::try_from(bytes).unwrap_or(usize::MAX) / PAGE;
        Self { max, ..Self::default() }
    }

    /// Frees everything.
    pub fn release(&mut self) {
        (self.pages, self.sets) = (Vec::new(), Vec::new());
    }

    /// Notes that bytes have arrived.
    #[inline]
    pub fn on_used(&mut self, now: Instant) {
        self.used_at = now;
    }

    /// Frees all but a few pages if no bytes have arrived for a while.
    pub fn shrink_if_idle(&mut self, now: Instant) {
        if now >= self.used_at + IDLE {
            self.pages.truncate(FEW);
            self.sets.clear();
        }
    }

    pub(super) fn take(&mut self) -> Box<Pages> {
        self.sets.pop().unwrap_or_default()
    }

    pub(super) fn put(&mut self, mut empty: Box<Pages>) {
        let kept = if self.sets.len() < LARGE_SETS { KEPT_LARGE } else { KEPT };
        if empty.ready.capacity() > kept {
            empty.ready.shrink_to(KEPT);
        }
        if self.sets.len() < SETS {
            self.sets.push(empty);
        }
    }
}

/// Received bytes. The `n`th page holds the stream's bytes from `n` times [`PAGE`] on.
#[derive(Clone, Default)]
pub(super) struct Pages {
    /// Pages with readable bytes; the reader is in the first one. The last one may hold out-of-order bytes behind them.
    ready: VecDeque<Page>,
    /// Pages with only out-of-order bytes, by their number.
    aside: BTreeMap<u64, Page>,
    /// The pool's pages, while it is lent; never more than fit its capacity.
    lent: Option<Vec<Page>>,
}

impl fmt::Debug for Pages {
    /// Prints the amount of data instead of megabytes of content.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} + {} pages", self.ready.len(), self.aside.len())
    }
}

/// Returns the number of the page that holds the stream's byte at `offset`.
const fn page_of(offset: u64) -> u64 {
    offset / PAGE as u64
}

/// Returns an empty page.
#[inline]
fn new_page(lent: &mut Option<Vec<Page>>) -> Page {
    lent.as_mut().and_then(Vec::pop).unwrap_or_else(|| Vec::with_capacity(PAGE))
}

/// Frees a page: it returns to the pool, if that is lent and has room.
#[inline]
fn free(lent: &mut Option<Vec<Page>>, mut page: Page) {
    if let Some(pool) = lent
        && pool.len() < pool.capacity()
    {
        page.clear();
        pool.push(page);
    }
}

/// Copies `bytes` into a page, `inside` bytes from its front.
#[inline]
fn put(page: &mut Page, inside: usize, bytes: &[u8]) {
    if page.len() < inside {
        page.resize(inside, 0);
    }
    let over = (page.len() - inside).min(bytes.len());
    page[inside..inside + over].copy_from_slice(&bytes[..over]);
    page.extend_from_slice(&bytes[over..]);
}

impl Pages {
    /// Returns the number of pages.
    #[inline]
    pub fn count(&self) -> usize {
        self.ready.len() + self.aside.len()
    }

    /// Returns a page by its place in the queue, or by its number.
    #[cfg(test)]
    pub fn page(&self, number: usize) -> &[u8] {
        self.ready.get(number).unwrap_or_else(|| &self.aside[&(number as u64)])
    }

    pub fn lend(&mut self, pool: &mut PagePool) {
        let mut pages = core::mem::take(&mut pool.pages);
        if pages.capacity() == 0 {
            pages.reserve_exact(pool.max);
        }
        self.lent = Some(pages);
    }

    /// Returns whether the pool was lent and no page is left.
    pub fn take_back(&mut self, pool: &mut PagePool) -> bool {
        let Some(pages) = self.lent.take() else { return false };
        pool.pages = pages;
        self.count() == 0
    }

    /// Frees the pages of out-of-order bytes.
    pub fn clear_aside(&mut self) {
        while let Some((_, page)) = self.aside.pop_first() {
            free(&mut self.lent, page);
        }
    }

    /// Frees the pages of out-of-order bytes from offset `end` of the stream on.
    pub fn clear_behind(&mut self, end: u64) {
        while let Some(last) = self.aside.last_entry().filter(|last| *last.key() >= end.div_ceil(PAGE as u64)) {
            free(&mut self.lent, last.remove());
        }
    }

    /// Frees every page.
    pub fn clear(&mut self) {
        self.clear_aside();
        for page in self.ready.drain(..) {
            free(&mut self.lent, page);
        }
    }

    /// Extends the queue to `end` of the stream, while the reader is at `consumed`.
    #[inline]
    pub fn make_ready(&mut self, consumed: u64, end: u64) {
        while page_of(consumed) + (self.ready.len() as u64) < end.div_ceil(PAGE as u64) {
            let number = page_of(consumed) + self.ready.len() as u64;
            let page = if self.aside.is_empty() { None } else { self.aside.remove(&number) };
            self.ready.push_back(page.unwrap_or_else(|| new_page(&mut self.lent)));
        }
    }

    /// Puts a payload into its pages. Pages beyond the queue stay in the tree.
    #[inline]
    pub fn write(&mut self, consumed: u64, stream_offset: u64, payload: Payload<'_>) {
        let mut done = 0;
        while done < payload.len() as usize {
            let at = stream_offset + done as u64;
            let inside = (at % PAGE as u64) as usize;
            let len = (PAGE - inside).min(payload.len() as usize - done);
            let page = match self.ready.get_mut((page_of(at) - page_of(consumed)) as usize) {
                Some(page) => page,
                None => self.aside.entry(page_of(at)).or_insert_with(|| new_page(&mut self.lent)),
            };
            match payload {
                Payload::Bytes(bytes) => put(page, inside, &bytes[done..done + len]),
                Payload::Pattern { offset, .. } => {
                    page.resize(page.len().max(inside + len), 0);
                    fill_pattern(offset + done as u64, &mut page[inside..inside + len]);
                }
            }
            done += len;
        }
    }

    /// Moves pages before `end` of the stream from the tree to the queue.
    ///
    /// # Panics
    /// When a page of it is missing.
    #[inline]
    pub fn fetch(&mut self, consumed: u64, end: u64) {
        while page_of(consumed) + (self.ready.len() as u64) < end.div_ceil(PAGE as u64) {
            let number = page_of(consumed) + self.ready.len() as u64;
            let page = self.aside.remove(&number);
            self.ready.push_back(page.unwrap_or_else(|| panic!("page {number} is readable but was never placed")));
        }
    }

    /// Returns the `len` bytes from `from` on, which are in the queue, page by page.
    pub fn parts(&self, consumed: u64, from: u64, len: usize) -> impl Iterator<Item = &[u8]> {
        let first = (page_of(from) - page_of(consumed)) as usize;
        let mut inside = (from % PAGE as u64) as usize;
        let mut left = len;
        self.ready.iter().skip(first).map_while(move |page| {
            let part = page.get(inside..(inside + left).min(PAGE)).filter(|part| !part.is_empty())?;
            (inside, left) = (0, left - part.len());
            Some(part)
        })
    }

    /// Moves the reader from `consumed` by `len` bytes, and frees the pages behind it.
    pub fn take(&mut self, consumed: u64, len: u64) {
        let passed = (page_of(consumed + len) - page_of(consumed)) as usize;
        for page in self.ready.drain(..passed) {
            free(&mut self.lent, page);
        }
        // With the pool, the next bytes will allocate nothing: neither should their queue.
        let kept = if self.lent.is_some() { KEPT_LARGE } else { KEPT };
        if self.ready.capacity() > kept && self.ready.len() < self.ready.capacity() / 4 {
            self.ready.shrink_to(self.ready.len() * 2);
        }
    }
}
