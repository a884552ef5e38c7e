//! An allocator that counts what is allocated on behalf of something, wherever it is freed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

static LIVE: AtomicU64 = AtomicU64::new(0);
static PEAK: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static COUNTS: Cell<bool> = const { Cell::new(false) };
}

/// Bytes that are attributed now.
pub fn live() -> u64 {
    LIVE.load(Relaxed)
}

/// The most that were attributed at a time.
pub fn peak() -> u64 {
    PEAK.load(Relaxed)
}

/// Attributes what is allocated meanwhile.
pub fn during<T>(call: impl FnOnce() -> T) -> T {
    let before = COUNTS.replace(true);
    let result = call();
    COUNTS.set(before);
    result
}

/// Puts a note in front of each allocation: whether it is attributed.
struct Noting;

fn with_note(layout: Layout) -> (Layout, usize) {
    let room = layout.align().max(16);
    (Layout::from_size_align(layout.size() + room, layout.align().max(16)).expect("a small addition"), room)
}

// SAFETY: every allocation is one of the system's with room in front, which `dealloc` finds by the same computation.
unsafe impl GlobalAlloc for Noting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (whole, room) = with_note(layout);
        // SAFETY: the layout is larger than zero bytes; the note is written within it.
        unsafe {
            let place = System.alloc(whole);
            if place.is_null() {
                return place;
            }
            let counts = COUNTS.try_with(Cell::get).unwrap_or(false);
            place.write(u8::from(counts));
            if counts {
                let live = LIVE.fetch_add(layout.size() as u64, Relaxed) + layout.size() as u64;
                PEAK.fetch_max(live, Relaxed);
            }
            place.add(room)
        }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        let (whole, room) = with_note(layout);
        // SAFETY: `place` came from `alloc`, with the same layout.
        unsafe {
            let place = place.sub(room);
            if place.read() == 1 {
                LIVE.fetch_sub(layout.size() as u64, Relaxed);
            }
            System.dealloc(place, whole);
        }
    }
}

#[global_allocator]
static NOTING: Noting = Noting;

/// Attributes what is allocated while it is polled.
pub struct Attributed<T>(pub T);

impl<T: Future + Unpin> Future for Attributed<T> {
    type Output = T::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T::Output> {
        during(|| Pin::new(&mut self.0).poll(cx))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Attributed<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        during(|| Pin::new(&mut self.0).poll_read(cx, buf))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Attributed<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        during(|| Pin::new(&mut self.0).poll_write(cx, buf))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        during(|| Pin::new(&mut self.0).poll_flush(cx))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        during(|| Pin::new(&mut self.0).poll_shutdown(cx))
    }
}
