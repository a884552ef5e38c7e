//! A TUN device under a stack: super-segments and checksums both ways, one packet a system call.

pub use net::{Cidr, Offload, Tun, TunConfig, TunError};

use longhaul_tokio::device::watch;
use longhaul_tokio::{Batch, Closed, Packet, Packets, Segmentation};
use net::Device;
use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::task::{Context, Poll, ready};
use tokio::io::unix::{AsyncFd, AsyncFdReadyGuard};

/// Packets that are moved before other tasks have their turn.
const BATCH: usize = 64;
/// Bytes that are read before the stack and the application have their turn: few enough that they are in the caches then.
const BATCH_BYTES: usize = 256 << 10;
/// Longest packet that a device with super-segments brings, in bytes.
const LONGEST: usize = u16::MAX as usize;
/// Packets up to this many bytes are copied out of the buffer that they were read into, so that a short one does not occupy a long
/// buffer.
const COPIED: usize = 2_048;

/// Moves packets between a TUN device and a stack until the stack is gone. To be called inside a runtime, and spawned.
///
/// # Errors
/// The device's.
pub async fn run(tun: Tun, packets: Packets) -> io::Result<()> {
    let ready = watch(tun.fd())?;
    packets.reads_device();
    let mut came = Batch::default();
    let caps = tun.caps();
    let longest = if caps.segmentation == Segmentation::Off { caps.mtu.into() } else { LONGEST };
    let reads_into = came.spare(longest);
    let mut mover = Mover { tun, ready, packets, came, longest, reads_into, leaves: Batch::default(), written: 0 };
    poll_fn(|cx| mover.poll(cx)).await
}

struct Mover {
    tun: Tun,
    ready: AsyncFd<OwnedFd>,
    packets: Packets,
    /// Read, and not with the stack yet.
    came: Batch,
    /// Longest packet that the device brings, in bytes.
    longest: usize,
    /// Where the next packet is read into.
    reads_into: Packet,
    /// From the stack; the first `written` are with the device.
    leaves: Batch,
    written: usize,
}

/// Why no more packets move.
enum Failed {
    Device(io::Error),
    /// The stack is gone.
    Over,
}

impl From<Closed> for Failed {
    fn from(_: Closed) -> Self {
        Self::Over
    }
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Device(error)
    }
}

impl Mover {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut left = BATCH_BYTES;
        for _ in 0..4 {
            match (self.poll_out(cx), self.poll_in(cx, &mut left)) {
                (Poll::Ready(Err(failed)), _) | (_, Poll::Ready(Err(failed))) => {
                    return Poll::Ready(match failed {
                        Failed::Device(error) => Err(error),
                        Failed::Over => Ok(()),
                    });
                }
                (Poll::Pending, Poll::Pending) if self.packets.poll_asked(cx).is_pending() => return Poll::Pending,
                _ if left == 0 => break,
                _ => {}
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Writes a batch.
    fn poll_out(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        if self.written == self.leaves.len() {
            self.written = 0;
            ready!(self.packets.poll_recv(cx, &mut self.leaves, BATCH))?;
        }
        let front = self.tun.front();
        while let Some(packet) = self.leaves.packets_mut().get_mut(self.written) {
            let (gso_size, checksum) = (packet.gso_size, packet.checksum);
            packet.prepend(front);
            let result = self.tun.transmit_behind_front(packet.bytes_mut(), gso_size, checksum);
            packet.strip(front);
            match result {
                Ok(()) => self.written += 1,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    ready!(self.ready.poll_write_ready(cx))?.clear_ready();
                }
                Err(error) => return Poll::Ready(Err(error.into())),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Reads a batch, or as many packets as there are, and takes their bytes from `left`.
    fn poll_in(&mut self, cx: &mut Context<'_>, left: &mut usize) -> Poll<Result<(), Failed>> {
        let Self { tun, ready, packets, came, longest, reads_into, .. } = self;
        let (front, longest) = (tun.front(), *longest);
        // The runtime may not have asked the kernel yet what is readable.
        let mut asked = packets.poll_asked(cx).is_ready();
        let mut readable = is_readable(ready, cx)?;
        let mut is_empty = false;
        while came.len() < BATCH && *left > 0 && (readable.is_some() || asked) {
            reads_into.resize(longest);
            reads_into.prepend(front);
            let read = tun.receive_behind_front(reads_into.bytes_mut());
            reads_into.strip(front);
            let read = match read {
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    (asked, is_empty) = (false, true);
                    if let Some(mut was) = readable.take() {
                        was.clear_ready();
                        // From here on the next packet wakes this task; there may be one already.
                        readable = is_readable(ready, cx)?;
                    }
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Poll::Ready(Err(error.into())),
            };
            is_empty = false;
            *left = left.saturating_sub(read.len);
            reads_into.truncate(read.len);
            let packet = if read.len <= COPIED && longest > COPIED {
                came.push(reads_into.bytes())
            } else {
                let next = came.spare(longest);
                came.add(std::mem::replace(reads_into, next))
            };
            (packet.gso_size, packet.checksum) = (read.gso_size, read.checksum);
        }
        let is_busy = !came.is_empty();
        ready!(packets.poll_send(cx, came))?;
        if is_empty {
            packets.device_is_empty();
        }
        if is_busy { Poll::Ready(Ok(())) } else { Poll::Pending }
    }
}

/// Returns whether the device may hold a packet; if not, the task is woken for the next one.
fn is_readable<'a>(
    ready: &'a AsyncFd<OwnedFd>,
    cx: &mut Context<'_>,
) -> io::Result<Option<AsyncFdReadyGuard<'a, OwnedFd>>> {
    match ready.poll_read_ready(cx) {
        Poll::Ready(readable) => readable.map(Some),
        Poll::Pending => Ok(None),
    }
}
