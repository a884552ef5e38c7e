//! The way in: frames are read in batches, stamped as they are read, and pass the emulated path if there is one.

use crate::clock::Clock;
use crate::device::{Device, Received};
use crate::impair::{Impairment, PacketPool, Parcel};
use base::Instant;
use netem::{Path, PathStats};
use std::cell::Cell;
use std::io;
use tcp::{DeviceCaps, Payload, RxFrame, Segmentation};

/// Frames read before the stack gets its turn: enough to share a turn's cost, few enough for the caches.
const BATCH: usize = 32;

/// Room for a frame of a device that gives super-segments: 65,535 octets of IP, and a little that nobody sends.
const SUPER_FRAME: usize = 1 << 16;

/// A frame as it was read.
struct Slot {
    octets: Box<[u8]>,
    at: Instant,
    received: Received,
}

/// What stands between the device and a turn.
pub(crate) struct Inlet {
    slots: Vec<Slot>,
    filled: usize,
    /// Frames that are neither TCP segments nor ICMP messages, and went no further.
    refused: Cell<u64>,
    impaired: Option<Impaired>,
}

struct Impaired {
    path: Path<Parcel>,
    arrived: Vec<(Instant, Parcel)>,
    pool: PacketPool,
}

impl Inlet {
    pub(crate) fn new(caps: DeviceCaps, impairment: &Impairment) -> Self {
        let size = match caps.segmentation {
            Segmentation::Off => usize::from(caps.mtu),
            Segmentation::Tso { .. } => SUPER_FRAME,
        };
        let received = Received { len: 0, gso_size: None, checksum: tcp::ChecksumState::InHeader };
        let slot = || Slot { octets: vec![0; size].into(), at: Instant::ZERO, received };
        let impaired =
            impairment.build_ingress().map(|path| Impaired { path, arrived: Vec::new(), pool: PacketPool::default() });
        Self { slots: std::iter::repeat_with(slot).take(BATCH).collect(), filled: 0, refused: Cell::new(0), impaired }
    }

    /// Reads until the device is empty or the batch full.
    pub(crate) fn fill<D: Device, C: Clock>(&mut self, device: &mut D, clock: &mut C) -> io::Result<()> {
        while let Some(slot) = self.slots.get_mut(self.filled) {
            match device.receive(&mut slot.octets) {
                Ok(received) => {
                    slot.received = received;
                    slot.at = clock.now();
                    self.filled += 1;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Sends what was read down the emulated path and collects what has arrived by `now`.
    pub(crate) fn advance(&mut self, now: Instant) {
        let Some(Impaired { path, arrived, pool }) = &mut self.impaired else { return };
        for slot in &self.slots[..self.filled] {
            let Ok(split) = wire::split(&slot.octets[..slot.received.len]) else {
                self.refused.set(self.refused.get() + 1);
                continue;
            };
            pool.incoming(&split, slot.received.gso_size, slot.received.checksum, |pool, packet| {
                path.offer(slot.at, packet, &mut |lost, _, _| pool.put_back(lost));
            });
        }
        self.filled = 0;
        while let Some(arrival) = path.poll(now, &mut |lost, _, _| pool.put_back(lost)) {
            arrived.push(arrival);
        }
    }

    /// What the stack is to be handed, in order of time; to be taken once. What is neither a TCP segment nor an ICMP message
    /// (stray datagrams) is nobody's here, and counted.
    pub(crate) fn frames(&self) -> impl Iterator<Item = RxFrame<'_>> {
        let read = self.slots[..self.filled].iter().filter_map(|slot| {
            let frame = slot.as_rx();
            self.refused.set(self.refused.get() + u64::from(frame.is_none()));
            frame
        });
        let arrived = self.impaired.iter().flat_map(|impaired| &impaired.arrived);
        read.chain(arrived.map(|(at, packet)| packet.as_rx(*at)))
    }

    /// The frames have been handed over.
    pub(crate) fn clear(&mut self) {
        self.filled = 0;
        if let Some(Impaired { arrived, pool, .. }) = &mut self.impaired {
            arrived.drain(..).for_each(|(_, packet)| pool.put_back(packet));
        }
    }

    pub(crate) fn refused(&self) -> u64 {
        self.refused.get()
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.impaired.as_ref()?.path.next_deadline()
    }

    pub(crate) fn path_stats(&self) -> Option<PathStats> {
        self.impaired.as_ref().map(|impaired| impaired.path.stats())
    }
}

impl Slot {
    fn as_rx(&self) -> Option<RxFrame<'_>> {
        let Received { len, gso_size, checksum } = self.received;
        let split = wire::split(&self.octets[..len]).ok()?;
        let payload = Payload::Bytes(split.payload);
        Some(RxFrame { at: self.at, header: split.header, payload, gso_size, checksum })
    }
}
