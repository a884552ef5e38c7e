//! Whether the congestion window is what holds the sender back.
//!
//! A window that was not used says nothing about the path and must not grow (RFC 9438 §5.8, RFC 7661 §4.1). Two rules, of
//! which the policy point `cc.validation` chooses one:
//!
//! * [`HalfUsed`]: an ACK counts as window-limited when the flight it acknowledges was sent up to the window, or, in slow
//!   start, when at least half of the window was in use, so that a doubling sender is not stopped by the grain of its own
//!   bursts.
//! * [`PacketsOut`]: what counts is how the window was used in the last window of data, as it stood whenever nothing more
//!   could be sent. This one also notices a window that was not used for long, which RFC 2861 §3.2 lets decay.

use base::{Bytes, Duration, Instant, SeqNum};
use cc::CwndValidation;

/// How the window was used, by the rule of the configuration.
#[derive(Clone, Debug)]
pub(crate) enum CwndUsage {
    HalfUsed(HalfUsed),
    PacketsOut(PacketsOut),
}

/// Where the sender stands when nothing more can be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    pub now: Instant,
    pub una: SeqNum,
    pub nxt: SeqNum,
    /// Full segments sent and not cumulatively acknowledged, ...
    pub outstanding: u32,
    /// ... of these those in flight, ...
    pub in_flight: u32,
    /// ... and the window in such segments.
    pub cwnd: u32,
    pub in_slow_start: bool,
    pub rto: Duration,
}

impl CwndUsage {
    /// Starts at the first sequence number.
    pub fn new(rule: CwndValidation, nxt: SeqNum, now: Instant) -> Self {
        match rule {
            CwndValidation::HalfUsed => Self::HalfUsed(HalfUsed::new(nxt)),
            CwndValidation::PacketsOut => Self::PacketsOut(PacketsOut::new(nxt, now)),
        }
    }
    /// A segment was sent; `pipe` includes it.
    #[inline]
    pub fn on_sent(&mut self, pipe: Bytes) {
        match self {
            Self::HalfUsed(usage) => usage.on_sent(pipe),
            Self::PacketsOut(usage) => usage.run = usage.run.max(Run::Sent),
        }
    }
    /// The window stopped a segment that was ready.
    #[inline]
    pub fn on_blocked(&mut self, nxt: SeqNum) {
        match self {
            Self::HalfUsed(usage) => usage.limited_at = nxt,
            Self::PacketsOut(usage) => usage.run = Run::Blocked,
        }
    }
    /// Nothing more can be sent for now. Says how many segments were in use at most, if it has not been the whole window
    /// for one RTO: then the window is larger than is known to be safe.
    #[inline]
    pub fn on_held(&mut self, standing: impl FnOnce() -> Standing) -> Option<u32> {
        match self {
            Self::PacketsOut(usage) if usage.run != Run::Idle => usage.on_held(&standing()),
            _ => None,
        }
    }
    /// The window was lowered because it was not used, or the sender hit its own limits: it is tried anew.
    pub fn restart(&mut self, now: Instant) {
        if let Self::PacketsOut(usage) = self {
            (usage.used, usage.full_ms) = (0, ms(now));
        }
    }
    //= specs/rfc9438.md#application-limit
    //# The window of a flow that does not use it does not grow.
    /// Whether the flight that ends at the acknowledged `una` was limited by the window.
    #[inline]
    pub fn on_ack(&mut self, una: SeqNum, nxt: SeqNum, window: &cc::Window) -> bool {
        match self {
            Self::HalfUsed(usage) => usage.on_ack(una, nxt, window.cwnd(), window.ssthresh()),
            Self::PacketsOut(usage) => usage.is_limited(window.cwnd() / window.smss(), window.in_slow_start()),
        }
    }
}

/// What happened since nothing more could be sent the last time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Run {
    Idle,
    Sent,
    /// The window stopped something.
    Blocked,
}

/// Remembers how the last window of data used the congestion window.
#[derive(Clone, Debug)]
pub(crate) struct PacketsOut {
    /// `SND.NXT` when it was used most.
    used_most_at: SeqNum,
    /// When all of it was in use the last time; milliseconds that wrap.
    full_ms: u32,
    /// Segments outstanding then, ...
    max_out: u16,
    /// ... and at most since all of it was in use.
    used: u16,
    limited: bool,
    run: Run,
}

fn ms(at: Instant) -> u32 {
    (at.as_nanos() / 1_000_000) as u32
}

impl PacketsOut {
    fn new(nxt: SeqNum, now: Instant) -> Self {
        Self { used_most_at: nxt, full_ms: ms(now), max_out: 0, used: 0, limited: false, run: Run::Idle }
    }
    fn is_limited(&self, cwnd: u32, in_slow_start: bool) -> bool {
        self.limited || (in_slow_start && cwnd < 2 * u32::from(self.max_out))
    }
    fn on_held(&mut self, at: &Standing) -> Option<u32> {
        let limited = self.run == Run::Blocked || at.in_flight >= at.cwnd;
        self.run = Run::Idle;
        let out = u16::try_from(at.outstanding).unwrap_or(u16::MAX);
        if at.una.at_or_after(self.used_most_at) || limited || (!self.limited && out > self.max_out) {
            (self.limited, self.max_out, self.used_most_at) = (limited, out, at.nxt);
        }
        if self.is_limited(at.cwnd, at.in_slow_start) {
            self.used = 0;
            self.full_ms = ms(at.now);
            return None;
        }
        self.used = self.used.max(out);
        let unused_for = Duration::from_millis(u64::from(ms(at.now).wrapping_sub(self.full_ms)));
        (unused_for >= at.rto).then_some(u32::from(self.used))
    }
}

/// Remembers how far the window was used.
#[derive(Clone, Debug)]
pub(crate) struct HalfUsed {
    /// `SND.NXT` when the window last stopped a segment that was ready to leave.
    limited_at: SeqNum,
    /// Most octets in flight since `round_end` was set.
    max_pipe: Bytes,
    round_end: SeqNum,
}

impl HalfUsed {
    fn new(nxt: SeqNum) -> Self {
        Self { limited_at: nxt, max_pipe: 0, round_end: nxt }
    }
    #[inline]
    fn on_sent(&mut self, pipe: Bytes) {
        self.max_pipe = self.max_pipe.max(pipe);
    }
    #[inline]
    fn on_ack(&mut self, una: SeqNum, nxt: SeqNum, cwnd: Bytes, ssthresh: Bytes) -> bool {
        let limited = una.at_or_before(self.limited_at) || (cwnd < ssthresh && cwnd / 2 < self.max_pipe);
        if una.at_or_after(self.round_end) {
            self.round_end = nxt;
            self.max_pipe = 0;
        }
        // Serial numbers compare within half the circle: an old mark must not come round again as a future one.
        if una.distance_from(self.limited_at) < 1 << 31 && una.distance_from(self.limited_at) > 1 << 30 {
            self.limited_at = una - 1;
        }
        limited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    //= specs/rfc9438.md#application-limit
    //= type=test
    //# The window of a flow that does not use it does not grow.
    #[test]
    fn a_flight_that_was_stopped_by_the_window_counts_and_a_later_one_does_not() {
        let mut usage = HalfUsed::new(SeqNum(0));
        usage.limited_at = SeqNum(10_000);
        assert!(usage.on_ack(SeqNum(1_000), SeqNum(10_000), 10_000, 5_000));
        assert!(usage.on_ack(SeqNum(10_000), SeqNum(12_000), 10_000, 5_000));
        assert!(!usage.on_ack(SeqNum(11_000), SeqNum(12_000), 10_000, 5_000));
    }

    #[test]
    fn slow_start_counts_a_window_that_was_half_used() {
        let mut usage = HalfUsed::new(SeqNum(0));
        usage.on_sent(6_000);
        assert!(usage.on_ack(SeqNum(1), SeqNum(6_000), 10_000, u32::MAX));
        let mut usage = HalfUsed::new(SeqNum(0));
        usage.on_sent(4_000);
        assert!(!usage.on_ack(SeqNum(1), SeqNum(4_000), 10_000, u32::MAX));
    }

    #[test]
    fn an_old_mark_does_not_come_round_again() {
        let mut usage = HalfUsed::new(SeqNum(0));
        let mut una = SeqNum(0);
        for _ in 0..64 {
            una += 1 << 27;
            assert!(!usage.on_ack(una, una, 10_000, 5_000));
        }
    }

    /// A window of ten segments of a thousand octets.
    fn held(usage: &mut PacketsOut, una: u32, nxt: u32, at_ms: u64) -> Option<u32> {
        let out = nxt.saturating_sub(una) / 1_000;
        usage.on_held(&Standing {
            now: Instant::from_nanos(at_ms * 1_000_000),
            una: SeqNum(una),
            nxt: SeqNum(nxt),
            outstanding: out,
            in_flight: out,
            cwnd: 10,
            in_slow_start: true,
            rto: Duration::from_millis(200),
        })
    }

    #[test]
    fn slow_start_goes_on_to_twice_what_was_outstanding() {
        let mut usage = PacketsOut::new(SeqNum(0), Instant::ZERO);
        held(&mut usage, 0, 9_000, 0);
        assert!(usage.is_limited(17, true) && !usage.is_limited(18, true) && !usage.is_limited(10, false));
    }

    #[test]
    fn what_a_full_window_says_holds_until_all_of_it_is_acknowledged() {
        let mut usage = PacketsOut::new(SeqNum(0), Instant::ZERO);
        held(&mut usage, 0, 10_000, 0);
        assert!(usage.is_limited(100, false));
        held(&mut usage, 9_000, 11_000, 1);
        assert!(usage.is_limited(100, false), "less is in use, but in the same window of data");
        held(&mut usage, 10_000, 11_000, 2);
        assert!(!usage.is_limited(100, false));
    }

    #[test]
    fn a_window_that_is_not_used_for_an_rto_is_reported_with_what_was_used() {
        let mut usage = PacketsOut::new(SeqNum(0), Instant::ZERO);
        assert_eq!(held(&mut usage, 0, 3_000, 100), None);
        assert_eq!(held(&mut usage, 3_000, 4_000, 199), None);
        assert_eq!(held(&mut usage, 4_000, 6_000, 200), Some(3));
    }
}
