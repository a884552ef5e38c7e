//! The output side: frames pass the emulated path if there is one, and are written while the device has room.

use crate::device::{Device, Frame};
use crate::impair::{Impairment, PacketPool, Parcel};
use base::Instant;
use netem::{Path, PathStats};
use std::io;
use tcp::{Payload, Sent, TxFrame, fill_pattern};

/// The stage between a turn and the device.
pub(crate) struct Outlet<D> {
    pub(crate) device: D,
    impaired: Option<Impaired>,
    /// The bytes of a described payload.
    scratch: Vec<u8>,
    room: Room,
    error: Option<io::Error>,
}

struct Impaired {
    path: Path<Parcel>,
    /// A packet that left the path and did not fit into the device.
    waiting: Option<Parcel>,
    pool: PacketPool,
}

/// Whether the device accepted the last frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    Some,
    None,
}

impl<D: Device> Outlet<D> {
    pub(crate) fn new(device: D, impairment: &Impairment) -> Self {
        let impaired =
            impairment.build_egress().map(|path| Impaired { path, waiting: None, pool: PacketPool::default() });
        Self { device, impaired, scratch: Vec::new(), room: Room::Some, error: None }
    }

    /// Starts a turn: the device may have room again.
    pub(crate) fn begin(&mut self) {
        self.room = Room::Some;
    }

    pub(crate) fn room(&self) -> Room {
        self.room
    }

    /// Accepts a frame from the stack.
    pub(crate) fn send(&mut self, now: Instant, frame: TxFrame<'_>) -> Sent {
        if let Some(Impaired { path, pool, .. }) = &mut self.impaired {
            let packet = pool.outgoing(&frame);
            path.offer(now, packet, &mut |lost, _, _| pool.put_back(lost));
            return Sent::Accepted;
        }
        let payload = match frame.payload {
            Payload::Bytes(bytes) => bytes,
            Payload::Pattern { offset, len } => {
                self.scratch.resize(len as usize, 0);
                fill_pattern(offset, &mut self.scratch);
                &self.scratch
            }
        };
        let frame = Frame { header: frame.header, payload, gso_size: frame.gso_size, checksum: frame.checksum };
        write(&mut self.device, &frame, &mut self.room, &mut self.error)
    }

    /// Writes the packets that have left the emulated path by `now`.
    ///
    /// # Errors
    /// The first failed write since the last call, in this call or in a turn.
    pub(crate) fn flush(&mut self, now: Instant) -> io::Result<()> {
        if let Some(Impaired { path, waiting, pool }) = &mut self.impaired {
            let mut next = waiting.take();
            loop {
                let arrived = || path.poll(now, &mut |lost, _, _| pool.put_back(lost)).map(|(_, packet)| packet);
                let Some(packet) = next.take().or_else(arrived) else { break };
                match write(&mut self.device, &packet.as_frame(), &mut self.room, &mut self.error) {
                    Sent::Accepted | Sent::Last => pool.put_back(packet),
                    Sent::Full => {
                        *waiting = Some(packet);
                        break;
                    }
                }
            }
        }
        self.error.take().map_or(Ok(()), Err)
    }

    /// Returns whether no packet is on its way to the device.
    pub(crate) fn is_empty(&self) -> bool {
        let on_the_way = |impaired: &Impaired| impaired.waiting.is_some() || impaired.path.in_flight() > 0;
        !self.impaired.as_ref().is_some_and(on_the_way)
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.impaired.as_ref()?.path.next_deadline()
    }

    pub(crate) fn path_stats(&self) -> Option<PathStats> {
        self.impaired.as_ref().map(|impaired| impaired.path.stats())
    }
}

/// Writes one frame. A turn cannot fail, so an error is kept for [`Outlet::flush`], and the frame counts as sent.
fn write<D: Device>(device: &mut D, frame: &Frame<'_>, room: &mut Room, kept: &mut Option<io::Error>) -> Sent {
    loop {
        match device.transmit(frame) {
            Ok(()) => return Sent::Accepted,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                *room = Room::None;
                return Sent::Full;
            }
            Err(error) => {
                kept.get_or_insert(error);
                return Sent::Accepted;
            }
        }
    }
}
