//! Whether the congestion window is what limits the sender.
//!
//! An unused window says nothing about the path and must not grow (RFC 9438 §5.8, RFC 7661 §4.1). There are two rules; the
//! setting `cc.validation` selects one:
//!
//! * [`HalfUsed`]: an ACK counts as window-limited when the flight it acknowledges was sent up to the window or, in slow
//!   start, when at least half of the window was in use, so that the granularity of its own bursts does not stop a doubling
//!   sender. It also knows which round trip last used half of the window: to RFC 7661 that proves that the path still carries
//!   it.
//! * [`PacketsOut`]: an ACK counts according to the use of the window in the last window of data, sampled whenever nothing more
//!   could be sent. It also notices a window unused for long, which decays by RFC 2861 §3.2.

use base::{Bytes, Duration, Instant, SeqNum};
use cc::CwndValidation;

/// How the window was used, by the configured rule.
#[derive(Clone, Debug)]
pub(crate) enum CwndUsage {
    HalfUsed(HalfUsed),
    PacketsOut(PacketsOut),
}

/// The sender's state when nothing more can be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    pub now: Instant,
    pub una: SeqNum,
    pub nxt: SeqNum,
    /// Full segments sent and not cumulatively acknowledged, ...
    pub outstanding: u32,
    /// ... those of them in flight, ...
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
            CwndValidation::HalfUsed => Self::HalfUsed(HalfUsed::new(nxt, now)),
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
    /// Notes that the window stopped a segment that was ready.
    #[inline]
    pub fn on_blocked(&mut self, nxt: SeqNum) {
        match self {
            Self::HalfUsed(usage) => usage.limited_at = nxt,
            Self::PacketsOut(usage) => usage.run = Run::Blocked,
        }
    }
    /// Notes that nothing more can be sent for now. Returns the peak number of segments in use if the whole window has been
    /// unused for one RTO: then the window is larger than is known to be safe.
    #[inline]
    pub fn on_held(&mut self, standing: impl FnOnce() -> Standing) -> Option<u32> {
        match self {
            Self::PacketsOut(usage) if usage.run != Run::Idle => usage.on_held(&standing()),
            _ => None,
        }
    }
    /// Returns how many times [`VALID_FOR`] has passed since half of the window was in use, or since the last reaction; always
    /// zero for the rule that reports unused windows itself.
    #[inline]
    pub fn periods_unused(&mut self, now: Instant) -> u32 {
        match self {
            Self::HalfUsed(usage) if ticks(now) >= usage.valid_until => usage.periods_unused(now),
            _ => 0,
        }
    }
    /// Restarts after the window was lowered because it was unused, or because the sender hit its own limits.
    pub fn restart(&mut self, now: Instant) {
        if let Self::PacketsOut(usage) = self {
            (usage.used, usage.full_ms) = (0, ms(now));
        }
    }
    //= specs/rfc9438.md#application-limit
    //# The window of a flow that does not use it does not grow.
    /// Whether the flight that ends at the acknowledged `una` was limited by the window.
    #[inline]
    pub fn on_ack(&mut self, now: Instant, una: SeqNum, nxt: SeqNum, window: &cc::Window) -> bool {
        match self {
            Self::HalfUsed(usage) => usage.on_ack(now, una, nxt, window),
            Self::PacketsOut(usage) => usage.is_limited(window.cwnd() / window.smss(), window.in_slow_start()),
        }
    }
}

/// What happened since sending last stopped.
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
    /// When all of it was last in use; milliseconds that wrap.
    full_ms: u32,
    /// Segments outstanding then, ...
    max_out: u16,
    /// ... and the peak since all of it was in use.
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

/// How long an unused window stays valid (RFC 7661 §4.4): five minutes, in [`ticks`].
const VALID_FOR: u32 = 280;

/// Returns time in units of 2^30 nanoseconds, a little more than a second: half the size of an instant, and no division.
#[inline]
fn ticks(at: Instant) -> u32 {
    (at.as_nanos() >> 30) as u32
}

/// Remembers how far the window was used.
#[derive(Clone, Debug)]
pub(crate) struct HalfUsed {
    /// `SND.NXT` when the window last stopped a segment that was ready to leave.
    limited_at: SeqNum,
    /// Most bytes in flight since `round_end` was set.
    max_pipe: Bytes,
    round_end: SeqNum,
    /// [`VALID_FOR`] after the end of the last round that had used half of the window.
    valid_until: u32,
}

impl HalfUsed {
    fn new(nxt: SeqNum, now: Instant) -> Self {
        Self { limited_at: nxt, max_pipe: 0, round_end: nxt, valid_until: ticks(now) + VALID_FOR }
    }
    #[inline]
    fn on_sent(&mut self, pipe: Bytes) {
        self.max_pipe = self.max_pipe.max(pipe);
    }
    #[inline]
    fn on_ack(&mut self, now: Instant, una: SeqNum, nxt: SeqNum, window: &cc::Window) -> bool {
        let half = window.cwnd() / 2;
        let limited = una.at_or_before(self.limited_at) || (window.in_slow_start() && half < self.max_pipe);
        if una.at_or_after(self.round_end) {
            if half <= self.max_pipe {
                self.valid_until = ticks(now) + VALID_FOR;
            }
            self.round_end = nxt;
            self.max_pipe = 0;
        }
        // Serial numbers compare within half the circle: an old mark must not reappear as a future one after a wrap.
        self.limited_at = self.limited_at.max(una - 1);
        limited
    }
    fn periods_unused(&mut self, now: Instant) -> u32 {
        let now = ticks(now);
        let periods = now.checked_sub(self.valid_until).map_or(0, |late| late / VALID_FOR + 1);
        self.valid_until += periods * VALID_FOR;
        periods
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cc::{InitialWindow, Window};

    /// A window of ten thousand bytes in slow start.
    fn slow_start() -> Window {
        Window::new(&InitialWindow::plain(10), 1_000)
    }

    /// The same in congestion avoidance.
    fn avoiding() -> Window {
        let mut window = slow_start();
        window.set_ssthresh(5_000);
        window
    }

    //= specs/rfc9438.md#application-limit
    //= type=test
    //# The window of a flow that does not use it does not grow.
    #[test]
    fn a_flight_that_was_stopped_by_the_window_counts_and_a_later_one_does_not() {
        let mut usage = HalfUsed::new(SeqNum(0), Instant::ZERO);
        usage.limited_at = SeqNum(10_000);
        assert!(usage.on_ack(Instant::ZERO, SeqNum(1_000), SeqNum(10_000), &avoiding()));
        assert!(usage.on_ack(Instant::ZERO, SeqNum(10_000), SeqNum(12_000), &avoiding()));
        assert!(!usage.on_ack(Instant::ZERO, SeqNum(11_000), SeqNum(12_000), &avoiding()));
    }

    #[test]
    fn slow_start_counts_a_window_that_was_half_used() {
        let mut usage = HalfUsed::new(SeqNum(0), Instant::ZERO);
        usage.on_sent(6_000);
        assert!(usage.on_ack(Instant::ZERO, SeqNum(1), SeqNum(6_000), &slow_start()));
        let mut usage = HalfUsed::new(SeqNum(0), Instant::ZERO);
        usage.on_sent(4_000);
        assert!(!usage.on_ack(Instant::ZERO, SeqNum(1), SeqNum(4_000), &slow_start()));
    }

    #[test]
    fn a_window_is_believed_for_five_minutes_after_a_round_that_used_half_of_it() {
        let minutes = |minutes: u64| Instant::ZERO + Duration::from_secs(60 * minutes);
        let mut usage = HalfUsed::new(SeqNum(0), Instant::ZERO);
        usage.on_sent(5_000);
        usage.on_ack(minutes(2), SeqNum(1), SeqNum(5_000), &avoiding());
        assert_eq!((usage.periods_unused(minutes(6)), usage.periods_unused(minutes(7))), (0, 1));
        assert_eq!(usage.periods_unused(minutes(11)), 0, "that much was said already");
        usage.on_sent(4_999);
        usage.on_ack(minutes(11), SeqNum(5_000), SeqNum(9_999), &avoiding());
        assert_eq!(usage.periods_unused(minutes(63)), 11, "less than half is not a proof");
    }

    #[test]
    fn an_old_mark_does_not_come_round_again() {
        let mut usage = HalfUsed::new(SeqNum(0), Instant::ZERO);
        let mut una = SeqNum(0);
        for _ in 0..64 {
            una += 1 << 27;
            assert!(!usage.on_ack(Instant::ZERO, una, una, &avoiding()));
        }
    }

    /// A window of ten segments of a thousand bytes.
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
