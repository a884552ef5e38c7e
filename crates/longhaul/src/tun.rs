//! A TUN device under a stack: super-segments and checksums both ways, one packet a system call.
//!
//! A stack's work depends on packets more than on bytes. For a device without offload its super-segments are therefore cut here, where they
//! lie, and packets that continue each other are merged before the stack sees them.

pub use net::{Cidr, Offload, Tun, TunConfig, TunError};

use crate::outlet::TunOutlet;
use longhaul_tokio::device::watch;
use longhaul_tokio::{Batch, Closed, Gather, Packet, Packets};
use net::Device as _;
use std::future::{Future, poll_fn};
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tcp::ChecksumState;
use tokio::io::unix::{AsyncFd, AsyncFdReadyGuard};
use tokio::task::yield_now;
use wire::CutInPlace;

/// Packets that are moved before other tasks have their turn.
const BATCH: usize = 64;
/// Bytes that are read before the stack and the application have their turn: few enough that they are in the caches then.
const BATCH_BYTES: usize = 256 << 10;
/// The same for a device without super-segments: a call for each packet costs so much that a turn of the stack costs little beside it.
const PLAIN_BATCH_BYTES: usize = 128 << 10;
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
    let gather = (tun.front() == 0).then(|| Gather::new(tun.caps().mtu));
    let inlet = Inlet { reads_into: came.spare(LONGEST), came, gather };
    let tun = Arc::new(tun);
    packets.set_outlet(Box::new(TunOutlet::new(tun.clone())));
    let mut mover = Mover { tun, ready, packets, inlet, outlet: Queued::default() };
    poll_fn(|cx| mover.poll(cx)).await
}

struct Mover {
    tun: Arc<Tun>,
    ready: AsyncFd<OwnedFd>,
    packets: Packets,
    inlet: Inlet,
    outlet: Queued,
}

/// Packets on their way in.
struct Inlet {
    /// Read, and not with the stack yet.
    came: Batch,
    /// Merges what a device without super-segments brings.
    gather: Option<Gather>,
    /// Where the next packet of a device with them is read into.
    reads_into: Packet,
}

/// Packets on their way out, which the device did not take straight from the stack.
#[derive(Default)]
struct Queued {
    /// From the stack; the first `written` are with the device.
    leaves: Batch,
    written: usize,
    /// The super-segment that is being cut, and the place of the packet that the device has not taken.
    cut: Option<(CutInPlace, Range<usize>)>,
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
        let mut left = if self.tun.front() == 0 { PLAIN_BATCH_BYTES } else { BATCH_BYTES };
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
        if left > 0 {
            cx.waker().wake_by_ref();
        } else {
            // Behind everything that is ready now. A task that wakes itself at once would leave the future that blocks on the runtime
            // waiting for dozens of batches, and what it is to read would leave the caches.
            let _ = pin!(yield_now()).poll(cx);
        }
        Poll::Pending
    }

    /// Writes a batch.
    fn poll_out(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        let Self { tun, ready, packets, outlet, .. } = self;
        if outlet.written == outlet.leaves.len() {
            outlet.written = 0;
            ready!(packets.poll_recv(cx, &mut outlet.leaves, BATCH))?;
        }
        while outlet.written < outlet.leaves.len() {
            match outlet.write(tun) {
                Ok(()) => outlet.written += 1,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    ready!(ready.poll_write_ready(cx))?.clear_ready();
                }
                Err(error) => return Poll::Ready(Err(error.into())),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Reads a batch, or as many packets as there are, and takes their bytes from `left`.
    fn poll_in(&mut self, cx: &mut Context<'_>, left: &mut usize) -> Poll<Result<(), Failed>> {
        let Self { tun, ready, packets, inlet, .. } = self;
        // The runtime may not have asked the kernel yet what is readable.
        let mut asked = packets.poll_asked(cx).is_ready();
        let mut readable = is_readable(ready, cx)?;
        let mut is_empty = false;
        while inlet.came.len() < BATCH && *left > 0 && (readable.is_some() || asked) {
            let read = match inlet.read(tun) {
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
            *left = left.saturating_sub(read);
        }
        let came = inlet.flush();
        let is_busy = !came.is_empty();
        ready!(packets.poll_send(cx, came))?;
        if is_empty {
            packets.device_is_empty();
        }
        if is_busy { Poll::Ready(Ok(())) } else { Poll::Pending }
    }
}

impl Queued {
    /// Writes the next packet. If that fails, a later call writes what the device did not take.
    fn write(&mut self, tun: &Tun) -> io::Result<()> {
        let packet = &mut self.leaves.packets_mut()[self.written];
        let (gso_size, checksum) = (packet.gso_size, packet.checksum);
        let front = tun.front();
        if front > 0 || checksum == ChecksumState::InHeader {
            packet.prepend(front);
            let result = tun.transmit_behind_front(packet.bytes_mut(), gso_size, checksum);
            packet.strip(front);
            return result;
        }
        let bytes = packet.bytes_mut();
        if self.cut.is_none() {
            let Ok(mut cut) = CutInPlace::new(bytes, gso_size) else {
                // Not a stack's packet.
                return tun.transmit_behind_front(bytes, gso_size, checksum);
            };
            self.cut = cut.next_in(bytes).map(|place| (cut, place));
        }
        while let Some((cut, place)) = &mut self.cut {
            tun.transmit_behind_front(&mut bytes[place.clone()], None, ChecksumState::InHeader)?;
            match cut.next_in(bytes) {
                Some(next) => *place = next,
                None => self.cut = None,
            }
        }
        Ok(())
    }
}

impl Inlet {
    /// Reads a packet, and returns its length.
    fn read(&mut self, tun: &Tun) -> io::Result<usize> {
        let Self { came, gather, reads_into } = self;
        if let Some(gather) = gather {
            let read = tun.receive_behind_front(gather.room(came))?;
            gather.came(came, read.len);
            return Ok(read.len);
        }
        let front = tun.front();
        reads_into.resize(LONGEST);
        reads_into.prepend(front);
        let read = tun.receive_behind_front(reads_into.bytes_mut());
        reads_into.strip(front);
        let read = read?;
        reads_into.truncate(read.len);
        let packet = if read.len <= COPIED {
            came.push(reads_into.bytes())
        } else {
            let next = came.spare(LONGEST);
            came.add(std::mem::replace(reads_into, next))
        };
        (packet.gso_size, packet.checksum) = (read.gso_size, read.checksum);
        Ok(read.len)
    }

    /// Returns what was read.
    fn flush(&mut self) -> &mut Batch {
        if let Some(gather) = &mut self.gather {
            gather.flush(&mut self.came);
        }
        &mut self.came
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
