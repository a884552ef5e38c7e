//! Timestamps and PAWS (RFC 7323 §3 to §5).
//!
//! Our clock ticks once a millisecond, from an offset per pair of addresses and ports, so that it reveals nothing about the host,
//! and yet continues where an earlier connection between the same two ends stopped (RFC 7323 §5.8, RFC 6191).

use base::{Duration, Instant, SeqNum};

/// `TS.Recent` is valid no longer than this (RFC 7323 §5.5).
const STALE_AFTER_S: u64 = 24 * 24 * 3600;

/// One connection's clock and the state of the peer's.
#[derive(Clone, Debug)]
pub(crate) struct TimestampState {
    offset: u32,
    /// `TS.Recent`; zero before the first.
    recent: u32,
    /// When it was received; [`NEVER`] before the first.
    recent_at: Instant,
    last_ack_sent: SeqNum,
}

/// No timestamp yet. (Endpoints are many; a sentinel keeps this one small.)
const NEVER: Instant = Instant::MAX;

impl TimestampState {
    /// A clock that starts from `offset`.
    pub fn new(offset: u32) -> Self {
        Self { offset, recent: 0, recent_at: NEVER, last_ack_sent: SeqNum(0) }
    }
    //= specs/rfc7323.md#timestamps
    //# The timestamp clock ticks at least once a second and at most once a millisecond, and never backwards.
    /// The TSval of a segment that leaves now.
    #[inline]
    pub fn tsval(&self, now: Instant) -> u32 {
        // Truncation is intended: the clock wraps (RFC 7323 §5.4).
        self.offset.wrapping_add((now.as_nanos() / 1_000_000) as u32)
    }
    /// The TSecr to send: `TS.Recent`.
    #[inline]
    pub fn tsecr(&self) -> u32 {
        self.recent
    }
    /// Takes the timestamp of the peer's SYN.
    pub fn on_syn(&mut self, tsval: u32, now: Instant) {
        (self.recent, self.recent_at) = (tsval, now);
    }
    /// Returns the last timestamp taken from the peer, and when; `None` before the first.
    pub fn recent(&self) -> Option<(u32, Instant)> {
        (self.recent_at != NEVER).then_some((self.recent, self.recent_at))
    }
    /// Notes that we acknowledged up to here (`Last.ACK.sent`).
    #[inline]
    pub fn on_ack_sent(&mut self, ack: SeqNum) {
        self.last_ack_sent = ack;
    }
    //= specs/rfc7323.md#protection-against-wrapped-sequence-numbers
    //# A segment whose timestamp is older than the one kept is dropped and answered with an ACK.
    //= specs/rfc7323.md#protection-against-wrapped-sequence-numbers
    //# A kept timestamp that is 24 days old judges no segment.
    //= specs/rfc7323.md#protection-against-wrapped-sequence-numbers
    //# Timestamps are compared as serial numbers.
    /// PAWS (§5.3 R1): returns whether a segment with this TSval is too old.
    #[inline]
    pub fn is_old(&self, tsval: u32, now: Instant) -> bool {
        self.recent_at != NEVER
            && (tsval.wrapping_sub(self.recent) as i32) < 0
            && now.since(self.recent_at).as_millis() / 1000 < STALE_AFTER_S
    }
    //= specs/rfc7323.md#timestamps
    //# The echoed timestamp is that of the last segment that began at or before the last acknowledgement sent.
    /// §4.3 (2): remembers the TSval of a segment that starts at or before what we last acknowledged, so that a delayed
    /// ACK echoes the oldest segment it covers.
    #[inline]
    pub fn on_segment(&mut self, tsval: u32, seq: SeqNum, now: Instant) {
        if seq.at_or_before(self.last_ack_sent) && !self.is_old(tsval, now) {
            (self.recent, self.recent_at) = (tsval, now);
        }
    }
    /// Returns the time since the segment that `tsecr` echoes left, at least one tick; `None` for an echo from the future.
    #[inline]
    pub fn echo_age(&self, tsecr: u32, now: Instant) -> Option<Duration> {
        let ticks = self.tsval(now).wrapping_sub(tsecr);
        (ticks < 1 << 31).then(|| Duration::from_millis(u64::from(ticks.max(1))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T0: Instant = Instant::from_nanos(5_000_000_000);

    //= specs/rfc7323.md#timestamps
    //= type=test
    //# The echoed timestamp is that of the last segment that began at or before the last acknowledgement sent.
    #[test]
    fn a_delayed_ack_echoes_the_oldest_segment_it_covers() {
        let mut ts = TimestampState::new(7);
        ts.on_syn(100, T0);
        ts.on_ack_sent(SeqNum(1000));
        ts.on_segment(110, SeqNum(1000), T0);
        ts.on_segment(120, SeqNum(2460), T0);
        assert_eq!(ts.tsecr(), 110);
        ts.on_ack_sent(SeqNum(3920));
        ts.on_segment(130, SeqNum(3920), T0);
        assert_eq!(ts.tsecr(), 130);
    }

    #[test]
    fn nothing_is_old_before_the_first_timestamp() {
        let ts = TimestampState::new(7);
        assert!(!ts.is_old(u32::MAX, T0) && ts.tsecr() == 0);
    }

    //= specs/rfc7323.md#protection-against-wrapped-sequence-numbers
    //= type=test
    //# A segment whose timestamp is older than the one kept is dropped and answered with an ACK.
    //= specs/rfc7323.md#protection-against-wrapped-sequence-numbers
    //= type=test
    //# A kept timestamp that is 24 days old judges no segment.
    #[test]
    fn an_older_timestamp_is_refused_until_24_days_have_passed() {
        let mut ts = TimestampState::new(0);
        ts.on_syn(100, T0);
        assert!(ts.is_old(99, T0) && !ts.is_old(100, T0));
        assert!(!ts.is_old(99, T0 + Duration::from_secs(STALE_AFTER_S)));
    }

    //= specs/rfc7323.md#protection-against-wrapped-sequence-numbers
    //= type=test
    //# Timestamps are compared as serial numbers.
    #[test]
    fn comparison_wraps() {
        let mut ts = TimestampState::new(0);
        ts.on_syn(u32::MAX, T0);
        assert!(!ts.is_old(3, T0) && ts.is_old(u32::MAX - 1, T0));
    }

    //= specs/rfc7323.md#timestamps
    //= type=test
    //# The timestamp clock ticks at least once a second and at most once a millisecond, and never backwards.
    #[test]
    fn the_clock_ticks_in_milliseconds_from_its_offset() {
        let ts = TimestampState::new(u32::MAX);
        assert_eq!(ts.tsval(Instant::from_nanos(1_999_999)), 0);
        assert_eq!(ts.echo_age(u32::MAX, Instant::from_nanos(2_000_000)), Some(Duration::from_millis(2)));
        assert_eq!(ts.echo_age(5, Instant::from_nanos(2_000_000)), None);
    }
}
