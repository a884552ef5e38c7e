//! A TUN device under a stack: super-segments and checksums both ways, one packet a system call.

pub use net::{Cidr, Offload, Tun, TunConfig, TunError};

use longhaul_tokio::device::watch;
use longhaul_tokio::{Batch, Closed, Packet, Packets};
use net::{Device, Frame};
use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::task::{Context, Poll, ready};
use tokio::io::unix::AsyncFd;

/// Packets that are moved before other tasks have their turn.
const BATCH: usize = 64;
/// Longest packet that a device brings, in bytes.
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
    let reads_into = came.spare(LONGEST);
    let mut mover = Mover { tun, ready, packets, came, reads_into, leaves: Batch::default(), written: 0 };
    poll_fn(|cx| mover.poll(cx)).await
}

struct Mover {
    tun: Tun,
    ready: AsyncFd<OwnedFd>,
    packets: Packets,
    /// Read, and not with the stack yet.
    came: Batch,
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
        for _ in 0..4 {
            match (self.poll_out(cx), self.poll_in(cx)) {
                (Poll::Ready(Err(failed)), _) | (_, Poll::Ready(Err(failed))) => {
                    return Poll::Ready(match failed {
                        Failed::Device(error) => Err(error),
                        Failed::Over => Ok(()),
                    });
                }
                (Poll::Pending, Poll::Pending) if self.packets.poll_asked(cx).is_pending() => return Poll::Pending,
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
        while let Some(packet) = self.leaves.packets().get(self.written) {
            let bytes = packet.bytes();
            let behind = wire::split(bytes).map_or(0, |split| split.payload.len());
            let (header, payload) = bytes.split_at(bytes.len() - behind);
            let frame = Frame { header, payload, gso_size: packet.gso_size, checksum: packet.checksum };
            match self.tun.transmit(&frame) {
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

    /// Reads a batch, or as many packets as there are.
    fn poll_in(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        let mut is_empty = false;
        // The runtime may not have asked the kernel yet what is readable.
        let mut asked = self.packets.poll_asked(cx).is_ready();
        while self.came.len() < BATCH && !is_empty {
            let ready = match self.ready.poll_read_ready(cx) {
                Poll::Ready(ready) => Some(ready?),
                Poll::Pending if asked => None,
                Poll::Pending => break,
            };
            self.reads_into.resize(LONGEST);
            let read = match self.tun.receive(self.reads_into.bytes_mut()) {
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    ready.into_iter().for_each(|mut ready| ready.clear_ready());
                    (asked, is_empty) = (false, true);
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Poll::Ready(Err(error.into())),
            };
            self.reads_into.truncate(read.len);
            let packet = if read.len <= COPIED {
                self.came.push(self.reads_into.bytes())
            } else {
                let next = self.came.spare(LONGEST);
                self.came.add(std::mem::replace(&mut self.reads_into, next))
            };
            (packet.gso_size, packet.checksum) = (read.gso_size, read.checksum);
        }
        let is_busy = !self.came.is_empty();
        ready!(self.packets.poll_send(cx, &mut self.came))?;
        if is_empty {
            self.packets.device_is_empty();
        }
        if is_busy { Poll::Ready(Ok(())) } else { Poll::Pending }
    }
}
