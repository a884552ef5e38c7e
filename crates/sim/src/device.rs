//! What a node's device does between stack and path: cut super-segments where they enter the path, and merge packets that
//! arrive together.
//!
//! Paths carry packets one by one, because hops lose, delay and reorder *packets*; super-segments exist between a stack and
//! its device alone, on both sides. Who watches packets sees them as the path carries them.

use crate::packet::{PacketPool, Parcel};
use base::{Duration, Instant};
use tcp::{DeviceCaps, Segmentation, TxChecksum};
use wire::MAX_HEADER;

/// Largest IP packet that a simulated device takes, bytes.
const MTU: u16 = 1_500;

/// Most payload bytes of a super-segment: with the largest header it still fits the 16-bit length field of an IP header.
const SUPER_SEGMENT_MAX: u32 = u16::MAX as u32 - MAX_HEADER as u32;

/// How long [`Device::SUPER_SEGMENTS`] keeps packets. At 10 Gbit/s that is 40 full packets, at 1 Gbit/s four; behind a slower
/// bottleneck packets arrive alone.
const HOLD: Duration = Duration::from_micros(50);

/// What a device takes from its stack, and what it hands to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// Who cuts a large frame into segments.
    pub segmentation: Segmentation,
    /// What becomes of packets that arrive together.
    pub merging: Merging,
}

/// What a device makes of packets that arrive together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merging {
    /// Each is a frame of its own, handed over at the moment at which it arrives.
    Off,
    /// Packets that continue each other become one super-segment. A packet waits for others at most this long, and less
    /// when the host looks for another reason: a timer, or an application.
    Within(Duration),
}

impl Merging {
    /// How long a packet waits at most.
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

    /// Capabilities that the stack on this device receives.
    pub(crate) const fn caps(self) -> DeviceCaps {
        DeviceCaps { mtu: MTU, checksum: TxChecksum::Unneeded, segmentation: self.segmentation }
    }
}

/// Merges the packets that are handed to a stack at `now`, in the order in which they arrived. Only neighbours are merged, so
/// nothing overtakes anything.
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
