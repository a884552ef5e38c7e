//! How large the receive buffer is: fixed, or grown with what the application takes (dynamic right-sizing, M. Fisk and
//! W. Feng, "Dynamic Right-Sizing in TCP", 2001; window limits RFC 7323 §2.3).
//!
//! Owns an estimate of the round-trip time as seen by a receiver, and how much the application took within one. The
//! buffer follows: twice what was taken in a round trip, so that the peer's next doubling fits, 16 segments more, and, when
//! one round trip brought more than any before, as much again in proportion to the increase.
//!
//! Deviations from the published scheme: the buffer grows as soon as the octets of the present round trip ask for it,
//! not only at its end; and before the round-trip time is known, twice everything taken so far is the measure. A sender in
//! slow start from any initial window has at most that window plus everything acknowledged in flight, so it is never
//! held up before `max`, whatever the round-trip time.

use base::{Bytes, Duration, Instant, SeqNum};

/// Where the size of the receive buffer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveWindowConfig {
    /// It stays as it is.
    Fixed {
        /// Size of the buffer, 1 to 2^30 octets.
        bytes: Bytes,
    },
    /// It grows with what the application takes.
    AutoTuned(DrsConfig),
}

/// The bounds of a growing receive buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrsConfig {
    /// Size at the start, in octets; at least an initial window's worth of the peer.
    pub initial: Bytes,
    /// Largest size, in octets: `initial` to 2^30. It determines the window shift.
    pub max: Bytes,
}

impl ReceiveWindowConfig {
    /// Size of the buffer of a new connection, in octets.
    pub const fn initial(&self) -> Bytes {
        match *self {
            Self::Fixed { bytes } => bytes,
            Self::AutoTuned(drs) => drs.initial,
        }
    }
}

impl Default for DrsConfig {
    fn default() -> Self {
        Self { initial: 65_535, max: 16 << 20 }
    }
}

impl Default for ReceiveWindowConfig {
    fn default() -> Self {
        Self::AutoTuned(DrsConfig::default())
    }
}

/// What a round trip is compared with at first, in segments: the initial window of RFC 6928.
const FIRST_SPACE_SEGMENTS: u64 = 10;
/// Multiple of a round trip's octets that the buffer holds.
const ROUND_TRIPS: u64 = 4;
/// Room beyond that, in segments.
const MARGIN_SEGMENTS: u64 = 16;

/// Dynamic right-sizing of one connection's receive buffer.
#[derive(Clone, Debug)]
pub(crate) struct AutoTune {
    /// Largest size; zero for a buffer that stays as it is.
    max: Bytes,
    /// The round-trip time; [`UNKNOWN`] before the first measurement.
    rtt: Duration,
    /// Smallest echo of a timestamp in the present period; [`UNKNOWN`] before the first.
    least: Duration,
    /// What ends the running measurement of the time in which a full window arrives, ...
    window_edge: SeqNum,
    /// ... and when it began; [`Instant::MAX`] before the first.
    window_since: Instant,
    /// When the present period began: the round trip in which `copied` is counted.
    since: Instant,
    /// Octets the application took in the present period.
    copied: Bytes,
    /// Most octets it took in any earlier period.
    space: Bytes,
}

/// No estimate yet. (Endpoints are many; a sentinel keeps this one small.)
const UNKNOWN: Duration = Duration::MAX;

impl AutoTune {
    /// For a new connection.
    pub fn new(config: ReceiveWindowConfig) -> Self {
        Self {
            max: match config {
                ReceiveWindowConfig::Fixed { .. } => 0,
                ReceiveWindowConfig::AutoTuned(drs) => drs.max,
            },
            rtt: UNKNOWN,
            least: UNKNOWN,
            window_edge: SeqNum(0),
            window_since: Instant::MAX,
            since: Instant::ZERO,
            copied: 0,
            space: 0,
        }
    }

    /// A segment with `len` octets arrived, after which `rcv_nxt` is expected and the peer may send `offered` octets more.
    /// `echo` is the age of the timestamp it echoes, when the connection uses them.
    #[inline]
    pub fn on_data(&mut self, now: Instant, rcv_nxt: SeqNum, len: Bytes, offered: Bytes, echo: Option<Duration>) {
        if self.max == 0 || len == 0 {
            return;
        }
        match echo {
            // An echo can be older than a round trip, when the peer had nothing to send, but never younger. Too long an
            // estimate, until the next echo lowers it, only makes the present period seem richer.
            Some(age) => {
                self.least = self.least.min(age);
                self.rtt = self.rtt.min(age);
            }
            None => self.on_progress(now, rcv_nxt, offered),
        }
    }

    /// Without timestamps: octets beyond the edge that was promised at some moment can have been sent only after an ACK that
    /// left later, so they arrive at least a round trip after that moment; and soon after it, when the peer uses the window.
    fn on_progress(&mut self, now: Instant, rcv_nxt: SeqNum, offered: Bytes) {
        if self.window_since != Instant::MAX {
            if !rcv_nxt.after(self.window_edge) {
                return;
            }
            self.rtt = self.rtt.min(now.since(self.window_since));
        }
        // The edge an ACK shows may be rounded down by a unit of the field from one promised before.
        let rounding = self.max >> 15;
        self.window_edge = rcv_nxt + offered + rounding;
        self.window_since = now;
    }

    /// The application took `bytes` octets from a buffer of size `limit`. Returns the new size if it is to grow.
    #[inline]
    pub fn on_consumed(&mut self, now: Instant, bytes: u64, rmss: Bytes, limit: Bytes) -> Option<Bytes> {
        if self.max == 0 {
            return None;
        }
        self.copied = self.copied.saturating_add(Bytes::try_from(bytes).unwrap_or(Bytes::MAX));
        let target = self.target(rmss);
        if now.since(self.since) >= self.rtt {
            self.begin_period(now);
        }
        // Steps of an eighth, so that slow start does not mean a new size with every segment.
        let worth_it = target >= limit.saturating_add(limit / 8) || (target == self.max && limit < self.max);
        worth_it.then_some(target)
    }

    /// The size the octets of the present period ask for; zero when they ask for nothing.
    #[inline]
    fn target(&self, rmss: Bytes) -> Bytes {
        let space = u64::from(self.space).max(FIRST_SPACE_SEGMENTS * u64::from(rmss));
        // More than the largest size asks for no more than that; and the products below stay inside 64 bits.
        let copied = u64::from(self.copied.min(self.max));
        if copied <= space {
            return 0;
        }
        let window = ROUND_TRIPS * copied + MARGIN_SEGMENTS * u64::from(rmss);
        // A round trip that brought twice as much as any before is slow start at full speed; more than that is the
        // end of a pause, or the filling of a gap, and no reason to grow faster still.
        let growth = if self.rtt != UNKNOWN { window * (copied - space).min(space) / space } else { 0 };
        Bytes::try_from(window + growth).unwrap_or(Bytes::MAX).min(self.max)
    }

    fn begin_period(&mut self, now: Instant) {
        self.space = self.space.max(self.copied);
        self.copied = 0;
        self.since = now;
        // The estimate follows a round trip that has become longer, be it by a queue the peer fills.
        if self.least != UNKNOWN {
            self.rtt = core::mem::replace(&mut self.least, UNKNOWN);
        }
    }
}

#[cfg(test)]
mod tests;
