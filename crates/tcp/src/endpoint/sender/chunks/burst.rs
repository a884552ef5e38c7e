//! How much of the oldest chunk leaves, and when: bursts as large as the ACK clock of a round trip supports, at most half the
//! congestion window in one burst, and no burst that the next ACK would enlarge.
//!
//! RFC 9293 leaves this open. The rules are those common to senders with segmentation offload; they only decide at what time to
//! send data that the windows permit. A pure function: all its input is in [`View`].

use super::store::{Chunk, SmallRule, Tail};
use crate::config::ChunksConfig;
use crate::send::nagle::Outstanding;
use base::{Bytes, Duration};

/// Which chunks may be released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::endpoint) enum Scope {
    /// One burst of the oldest chunk, which is full.
    One,
    /// As many as the rules allow.
    All,
}

/// The position of the oldest chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::endpoint) enum Place {
    /// Another chunk follows it.
    Middle,
    /// It is the last chunk; later writes may add to it.
    Last,
    /// It is the last chunk, and the FIN follows.
    BeforeFin,
}

/// The input for the release of a burst.
#[derive(Clone, Copy, Debug)]
pub(in crate::endpoint) struct View {
    /// The oldest chunk.
    pub head: Chunk,
    pub place: Place,
    /// Payload bytes of a full segment.
    pub size: Bytes,
    /// The congestion window, and its free part; in full segments.
    pub cwnd_segments: u32,
    pub free_segments: u32,
    /// Maximum number of segments in a burst.
    pub max_segments: u32,
    /// The peer's window, and the part of it beyond released data, in bytes.
    pub snd_wnd: Bytes,
    pub usable: Bytes,
    /// How to treat a small segment, and whether any data, or a small segment, is outstanding.
    pub rule: SmallRule,
    pub outstanding: Outstanding,
    pub scope: Scope,
    pub wait: Wait,
}

/// Whether waiting for the next ACK is worthwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::endpoint) enum Wait {
    /// No: nothing is in flight, the last transmission was long ago, or losses are being repaired.
    Never,
    /// The next ACK is expected after this time, unless overdue, on a path with this smoothed round trip.
    Ack { expected_in: Duration, srtt: Duration },
}

/// The decision about the oldest chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::endpoint) enum Verdict {
    /// This many bytes leave as one burst.
    Send(Bytes),
    /// Nothing leaves, for this reason.
    Hold(Hold),
}

/// The reason for holding a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::endpoint) enum Hold {
    /// The congestion window.
    Cwnd,
    /// The peer's window.
    PeerWindow,
    /// The rule for small segments.
    Small,
    /// Waiting for the next ACK, or for a write, is worthwhile.
    Deferred(By),
}

/// The limit that keeps a burst from being larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::endpoint) enum By {
    Cwnd,
    PeerWindow,
    Writes,
}

/// A burst waits for an ACK expected within this time, or half a round trip.
const WORTH_WAITING: Duration = Duration::from_millis(1);

/// Returns the number of segments in the largest burst: the data that leaves in about a millisecond at the rate of `cwnd` bytes
/// per `srtt`, scaled by `percent`, and more on a path with little delay.
pub(in crate::endpoint) fn max_segments(
    cfg: &ChunksConfig,
    cwnd: Bytes,
    percent: u64,
    size: Bytes,
    srtt: Option<Duration>,
    min_rtt: Option<Duration>,
) -> u32 {
    // Deployed senders approximate the millisecond by 2^10 microseconds.
    let paced = srtt.map_or(u64::MAX, |srtt| {
        let scaled = u64::from(cwnd) * percent * 10_000;
        scaled.checked_div(srtt.as_micros()).map_or(u64::MAX, |rate| rate >> 10)
    });
    let halvings = min_rtt.unwrap_or_default().as_nanos().checked_div(cfg.rtt_halving.as_nanos()).unwrap_or(u64::MAX);
    let near = u32::try_from(halvings).ok().and_then(|halvings| cfg.bytes_max.checked_shr(halvings)).unwrap_or(0);
    let bytes = paced.saturating_add(u64::from(near)).min(u64::from(cfg.bytes_max));
    (bytes as Bytes / size).max(cfg.min_segments)
}

impl View {
    /// Returns the number of segments that may leave in one burst.
    pub fn quota(&self) -> u32 {
        // At least two bursts per window, so that one can be acknowledged while the other is in flight.
        self.free_segments.min((self.cwnd_segments / 2).max(1)).min(self.max_segments)
    }

    /// Decides about the oldest chunk, after the caller has refilled it.
    pub fn decide(&self, cfg: &ChunksConfig) -> Verdict {
        let quota = self.quota();
        if quota == 0 {
            return Verdict::Hold(Hold::Cwnd);
        }
        let len = self.head.len;
        let fin = u32::from(self.place == Place::BeforeFin && len <= self.size);
        if len.min(self.size) + fin > self.usable {
            return Verdict::Hold(Hold::PeerWindow);
        }
        if len <= self.size {
            if self.place == Place::Last && len < self.size && self.is_held() {
                return Verdict::Hold(Hold::Small);
            }
            return Verdict::Send(len);
        }
        if self.scope == Scope::All
            && let Some(by) = self.deferred(cfg)
        {
            return Verdict::Hold(Hold::Deferred(by));
        }
        Verdict::Send(self.cut(quota))
    }

    /// Returns whether the rule for small segments holds one now.
    fn is_held(&self) -> bool {
        match self.rule {
            SmallRule::Hold => true,
            SmallRule::Leave => false,
            SmallRule::Minshall => self.outstanding == Outstanding::Small,
            SmallRule::Rfc896 => self.outstanding != Outstanding::Nothing,
        }
    }

    /// Returns how many bytes of a chunk of several segments leave.
    fn cut(&self, quota: u32) -> Bytes {
        let (most, len) = (quota.saturating_mul(self.size), self.head.len);
        if self.place == Place::Middle && most <= self.usable {
            return most.min(len);
        }
        let needed = len.min(self.usable);
        if most <= needed {
            return most;
        }
        let small = needed % self.size;
        if small > 0 && self.is_held() { needed - small } else { needed }
    }

    /// Returns the limit that keeps the burst small, if the burst should wait for the next ACK or write to enlarge it.
    fn deferred(&self, cfg: &ChunksConfig) -> Option<By> {
        let Wait::Ack { expected_in, srtt } = self.wait else { return None };
        let free = self.free_segments.saturating_mul(self.size);
        let limit = self.usable.min(free);
        let full = limit >= self.max_segments.saturating_mul(self.size);
        let ends = self.place == Place::Middle && limit >= self.head.len;
        let window = self.snd_wnd.min(self.cwnd_segments.saturating_mul(self.size));
        let late = expected_in > srtt.scale(1, 2).min(WORTH_WAITING);
        if full || ends || limit >= window / cfg.win_divisor || late {
            None
        } else if limit > self.head.len {
            // Only a later write could enlarge it.
            (self.place == Place::Last && self.head.tail == Tail::Open).then_some(By::Writes)
        } else {
            Some(if free < self.usable { By::Cwnd } else { By::PeerWindow })
        }
    }
}

#[cfg(test)]
mod tests;
