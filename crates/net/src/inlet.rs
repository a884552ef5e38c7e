//! The input side: frames are read in batches, stamped when they are read, and pass the emulated path if there is one.
//!
//! A timestamp is the time of the read, not of the arrival, which no TUN device reports. The inlet also records up to which time
//! everything that arrived has been read; timers are served no further.

use crate::apps::ALLOWANCE;
use crate::clock::Clock;
use crate::device::{Device, Received};
use crate::impair::{Impairment, PacketPool, Parcel};
use base::Instant;
use netem::{Path, PathStats};
use std::cell::Cell;
use std::io;
use tcp::{DeviceCaps, Payload, RxFrame, Segmentation};

/// Frames read before the stack runs a turn: enough to share a turn's cost, few enough for the caches.
const BATCH: usize = 32;

/// After this many bytes no further frame is read. With one more super-segment it is half of what applications may move in a
/// step, so that they keep up with the input even if they send all of it back.
const BATCH_BYTES: usize = ALLOWANCE / 4;

/// Room for a frame of a device with super-segments: 65,535 bytes of IP, and a little that no sender uses.
const SUPER_FRAME: usize = 1 << 16;

/// A frame as it was read.
struct Slot {
    bytes: Box<[u8]>,
    at: Instant,
    received: Received,
}

/// The stage between the device and a turn.
pub(crate) struct Inlet {
    slots: Vec<Slot>,
    filled: usize,
    known: Known,
    /// Frames that were neither TCP segments nor ICMP messages, and were dropped.
    refused: Cell<u64>,
    impaired: Option<Impaired>,
}

/// Up to which time the input is complete.
#[derive(Debug)]
struct Known {
    /// Everything that had arrived by this moment has been read.
    until: Instant,
    /// A later time, and the frames read since. When they are as many as the device holds, everything that had arrived by that
    /// time is among them, although the device was never found empty.
    mark: Option<(Instant, usize)>,
}

impl Known {
    /// Notes that a read that began at `at` found the device empty.
    fn empty(&mut self, at: Instant) {
        *self = Self { until: at, mark: None };
    }

    /// Notes that `frames` were read from `at` on, and more may wait, at most `queue`.
    fn more(&mut self, at: Instant, frames: usize, queue: usize) {
        let (mark, read) = self.mark.unwrap_or((at, 0));
        self.mark = Some((mark, read + frames));
        if read + frames >= queue {
            *self = Self { until: mark, mark: None };
        }
    }
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
        let slot = || Slot { bytes: vec![0; size].into(), at: Instant::ZERO, received };
        let known = Known { until: Instant::ZERO, mark: None };
        let impaired =
            impairment.build_ingress().map(|path| Impaired { path, arrived: Vec::new(), pool: PacketPool::default() });
        Self {
            slots: std::iter::repeat_with(slot).take(BATCH).collect(),
            filled: 0,
            known,
            refused: Cell::new(0),
            impaired,
        }
    }

    /// Reads until the device is empty or the batch full. Returns up to which time everything that arrived has been read.
    pub(crate) fn fill<D: Device, C: Clock>(&mut self, device: &mut D, clock: &mut C) -> io::Result<Instant> {
        let began = clock.now();
        let (mut at, mut bytes) = (began, 0);
        while let Some(slot) = self.slots.get_mut(self.filled).filter(|_| bytes < BATCH_BYTES) {
            match device.receive(&mut slot.bytes) {
                Ok(received) => {
                    at = clock.now();
                    bytes += received.len;
                    slot.received = received;
                    slot.at = at;
                    self.filled += 1;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.known.empty(at);
                    return Ok(at);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.known.more(began, self.filled, device.queue());
        Ok(self.known.until)
    }

    /// Sends the frames read through the emulated path and collects those that have arrived by `now`.
    pub(crate) fn advance(&mut self, now: Instant) {
        let Some(Impaired { path, arrived, pool }) = &mut self.impaired else { return };
        for slot in &self.slots[..self.filled] {
            let Ok(split) = wire::split(&slot.bytes[..slot.received.len]) else {
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

    /// Returns the frames for the stack, in order of time and none before `seen`, the last time it knows; call it once. Frames
    /// that are neither TCP segments nor ICMP messages (stray datagrams) have no recipient here, and are counted.
    pub(crate) fn frames(&self, seen: Instant) -> impl Iterator<Item = RxFrame<'_>> {
        let read = self.slots[..self.filled].iter().filter_map(|slot| {
            let frame = slot.as_rx();
            self.refused.set(self.refused.get() + u64::from(frame.is_none()));
            frame
        });
        let arrived = self.impaired.iter().flat_map(|impaired| &impaired.arrived);
        read.chain(arrived.map(move |(at, packet)| packet.as_rx((*at).max(seen))))
    }

    /// Drops the frames after they were passed on.
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
        let split = wire::split(&self.bytes[..len]).ok()?;
        let payload = Payload::Bytes(split.payload);
        Some(RxFrame { at: self.at, header: split.header, payload, gso_size, checksum })
    }
}
