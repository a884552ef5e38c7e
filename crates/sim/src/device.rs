//! What a node's device does between stack and path: cut super-segments where they enter the path, and merge packets that
//! arrive together.
//!
//! Paths carry single packets, because hops lose, delay and reorder *packets*; super-segments exist only between a stack and its
//! device, on both sides. An observer of packets sees them as the path carries them.

use crate::packet::{PacketPool, Parcel};
use base::{Duration, Instant};
use tcp::{DeviceCaps, Segmentation, TxChecksum};
use wire::MAX_HEADER;

/// Largest IP packet of a simulated device, in bytes.
const MTU: u16 = 1_500;

/// Most payload bytes of a super-segment: with the largest header it still fits the 16-bit length field of an IP header.
const SUPER_SEGMENT_MAX: u32 = u16::MAX as u32 - MAX_HEADER as u32;

/// How long [`Device::SUPER_SEGMENTS`] holds packets. At 10 Gbit/s that is 40 full packets, at 1 Gbit/s four; behind a slower
/// bottleneck packets arrive one by one.
const HOLD: Duration = Duration::from_micros(50);

/// What a device accepts from its stack, and what it delivers to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// Which part cuts a large frame into segments.
    pub segmentation: Segmentation,
    /// How to treat packets that arrive together.
    pub merging: Merging,
}

/// How a device treats packets that arrive together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merging {
    /// Each becomes a separate frame, delivered on arrival.
    Off,
    /// Packets that continue each other become one super-segment. A packet waits for others at most this long, and less if the
    /// host runs for another reason: a timer, or an application.
    Within(Duration),
}

impl Merging {
    /// Returns the longest time that a packet waits.
    pub(crate) const fn hold(self) -> Duration {
        match self {
            Self::Off => Duration::ZERO,
            Self::Within(hold) => hold,
        }
    }
}

impl Device {
    /// A frame is a packet.
    pub const PLAIN: Self = Self { segmentation: Segmentation::Off, merging: Merging::Off };
    /// As usual on hosts: frames of up to 64 KiB in both directions, and interrupts that wait for some packets.
    pub const SUPER_SEGMENTS: Self =
        Self { segmentation: Segmentation::Tso { max_bytes: SUPER_SEGMENT_MAX }, merging: Merging::Within(HOLD) };

    /// Returns the capabilities that the stack on this device receives.
    pub(crate) const fn caps(self) -> DeviceCaps {
        DeviceCaps { mtu: MTU, checksum: TxChecksum::Unneeded, segmentation: self.segmentation }
    }
}

/// Merges the packets delivered to a stack at `now`, in order of arrival. Merges only neighbours, so that nothing is
/// overtaken.
pub(crate) fn merge(now: Instant, arrivals: &mut Vec<(Instant, Parcel)>, pool: &mut PacketPool) {
    let mut kept: usize = 0;
    let mut growing = None;
    for index in 0..arrivals.len() {
        let (before, behind) = arrivals.split_at_mut(index);
        let next = &behind[0].1;
        let taken_in = match (&mut growing, before.get_mut(kept.wrapping_sub(1))) {
            (Some(merge), Some((_, first))) => first.absorb(merge, next),
            _ => false,
        };
        if !taken_in {
            growing = next.begin_merge();
            arrivals.swap(kept, index);
            kept += 1;
        }
    }
    for (_, packet) in arrivals.drain(kept..) {
        pool.put_back(packet);
    }
    arrivals.iter_mut().for_each(|(at, _)| *at = now);
}
