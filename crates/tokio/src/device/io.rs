//! Devices whose reads and writes carry one packet each, as the asynchronous TUN devices of other crates do.

use pipe::{Batch, Closed, Gather, Tunnel};
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::unconstrained;

/// Packets of a batch.
const BATCH: usize = 64;
/// Batches each way before other tasks have their turn.
const BATCHES: usize = 8;
/// Bytes that are read before the stack and the application have their turn: few enough that they are in the caches then.
const BATCH_BYTES: usize = 128 << 10;

/// What a device puts in front of each packet, and how long packets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketIo {
    /// The header of four bytes, if there is one.
    pub header: PacketHeader,
    /// Largest packet that the device brings, in bytes: its MTU. Of a longer one it would cut the end.
    pub mtu: u16,
}

impl PacketIo {
    /// Packets without a header.
    pub fn plain(mtu: u16) -> Self {
        Self { header: PacketHeader::None, mtu }
    }
}

/// The header that a device puts in front of each packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketHeader {
    /// None: the packet begins with its IP header.
    None,
    /// Linux's packet information: two bytes of flags, two of the Ethernet protocol.
    Linux,
    /// The address family of macOS and the BSDs, four bytes.
    Utun,
}

/// Bytes of either header.
const HEADER: usize = 4;

impl PacketHeader {
    /// Returns the header of a packet.
    fn of(self, packet: &[u8]) -> Option<[u8; HEADER]> {
        let is_v6 = packet.first().is_some_and(|first| first >> 4 == 6);
        match (self, is_v6) {
            (Self::None, _) => None,
            (Self::Linux, false) => Some([0, 0, 0x08, 0x00]),
            (Self::Linux, true) => Some([0, 0, 0x86, 0xdd]),
            // AF_INET and macOS's AF_INET6.
            (Self::Utun, false) => Some([0, 0, 0, 2]),
            (Self::Utun, true) => Some([0, 0, 0, 30]),
        }
    }
}

/// Moves packets between a stack and a device until either ends. The buffers are the pipe's: a packet is copied once each way, and
/// nothing is allocated for it. Packets without a header are merged before the stack sees them if they continue each other; behind a
/// header they are not, because it would lie where the payload of the packet before ends.
///
/// The stack must send plain packets ([`tcp::DeviceCaps`] without segmentation, which is the default).
///
/// # Errors
/// The device's, or `InvalidData` if it takes a part of a packet. `Ok` when the device has no more packets or the stack is gone.
pub async fn over_io<D: AsyncRead + AsyncWrite + Unpin>(packets: Tunnel, device: D, cfg: PacketIo) -> io::Result<()> {
    packets.reads_device();
    let gather = (cfg.header == PacketHeader::None).then(|| Gather::new(cfg.mtu));
    let mut mover =
        Mover { packets, device, cfg, gather, came: Batch::default(), leaves: Batch::default(), written: 0 };
    // tokio's budget answers the 129th call of a task by a `Pending` that is none: the device would pass for empty, and the stack
    // would take for lost what waits in it. This future gives other tasks their turn by itself.
    unconstrained(poll_fn(|cx| mover.poll(cx))).await
}

struct Mover<D> {
    packets: Tunnel,
    device: D,
    cfg: PacketIo,
    /// Merges what the device brings.
    gather: Option<Gather>,
    /// Read, and not with the stack yet.
    came: Batch,
    /// From the stack; the first `written` are with the device.
    leaves: Batch,
    written: usize,
}

impl<D: AsyncRead + AsyncWrite + Unpin> Mover<D> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut left = BATCHES;
        loop {
            let out = self.poll_out(cx);
            let inward = self.poll_in(cx);
            match (out, inward) {
                (Poll::Ready(Err(failed)), _) | (_, Poll::Ready(Err(failed))) => return Poll::Ready(end(failed)),
                (Poll::Pending, Poll::Pending) if self.packets.poll_asked(cx).is_pending() => return Poll::Pending,
                _ => {}
            }
            left -= 1;
            if left == 0 {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
    }

    /// Writes a batch.
    fn poll_out(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        if self.written == self.leaves.len() {
            self.written = 0;
            ready!(self.packets.poll_recv(cx, &mut self.leaves, BATCH))?;
            for packet in self.leaves.packets_mut() {
                if let Some(header) = self.cfg.header.of(packet.bytes()) {
                    packet.prepend(HEADER).copy_from_slice(&header);
                }
            }
        }
        while let Some(packet) = self.leaves.packets().get(self.written) {
            let len = ready!(Pin::new(&mut self.device).poll_write(cx, packet.bytes()))?;
            if len < packet.bytes().len() {
                let text = format!("the device took {len} bytes of a packet of {}", packet.bytes().len());
                return Poll::Ready(Err(Failed::Device(io::Error::new(io::ErrorKind::InvalidData, text))));
            }
            self.written += 1;
        }
        Poll::Ready(Ok(()))
    }

    /// Reads a batch, or as many packets as there are.
    fn poll_in(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        let mut left = BATCH_BYTES;
        let mut is_empty = false;
        while self.came.len() < BATCH && left > 0 {
            match self.read(cx) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(Failed::Over)),
                Poll::Ready(Ok(len)) => left = left.saturating_sub(len),
                Poll::Ready(Err(failed)) => return Poll::Ready(Err(failed.into())),
                Poll::Pending => {
                    is_empty = true;
                    break;
                }
            }
        }
        let Self { packets, gather, came, .. } = self;
        if let Some(gather) = gather {
            gather.flush(came);
        }
        let is_busy = !came.is_empty();
        ready!(packets.poll_send(cx, came))?;
        if is_empty {
            packets.device_is_empty();
        }
        if is_busy { Poll::Ready(Ok(())) } else { Poll::Pending }
    }

    /// Reads a packet, and returns its length with its header.
    fn read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let Self { device, cfg, gather, came, .. } = self;
        if let Some(gather) = gather {
            let mut buf = ReadBuf::new(gather.room(came));
            ready!(Pin::new(device).poll_read(cx, &mut buf))?;
            let len = buf.filled().len();
            if len > 0 {
                gather.came(came, len);
            }
            return Poll::Ready(Ok(len));
        }
        let room = HEADER + usize::from(cfg.mtu);
        let packet = came.push_empty(room);
        packet.resize(room);
        let mut buf = ReadBuf::new(packet.bytes_mut());
        let read = Pin::new(device).poll_read(cx, &mut buf);
        let len = buf.filled().len();
        packet.truncate(len);
        match &read {
            Poll::Ready(Ok(())) if len > HEADER => packet.strip(HEADER),
            _ => came.pop(),
        }
        read.map_ok(|()| len)
    }
}

/// Why no more packets move.
enum Failed {
    Device(io::Error),
    /// The device has no more packets, or the stack is gone.
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

fn end(failed: Failed) -> io::Result<()> {
    match failed {
        Failed::Device(error) => Err(error),
        Failed::Over => Ok(()),
    }
}
