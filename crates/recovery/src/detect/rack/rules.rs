//! The rules of RFC 8985 §6.2 as pure functions, shared by [`Rack`](super::Rack) and by variants over other records.

use super::config::{EarlyAnswer, RttOf};
use crate::detect::DetectCx;
use crate::scoreboard::{Arrival, SentSegment, Xmit};
use base::{Duration, Instant, SeqNum};

/// How much hosts and their clocks may lengthen one round trip relative to another.
pub const TICK: Duration = Duration::from_millis(1);

//= specs/rfc8985.md#newest-delivered-segment
//# Of two segments sent at the same moment, the one with the higher end counts as sent later.
/// Returns whether transmission `a` came after transmission `b`; the sequence number breaks ties.
#[inline]
pub fn sent_after(a: Xmit, b: Xmit) -> bool {
    a.is_after(b)
}

//= specs/rfc8985.md#loss-detection
//# A segment is lost when one sent after it was delivered and its age is at least the RTT plus the window.
/// Returns when a segment sent at `sent_at` is overdue, if a later one has been delivered (step 5).
#[inline]
pub fn deadline(sent_at: Instant, rtt: Duration, reo_wnd: Duration) -> Instant {
    sent_at + rtt + reo_wnd
}

//= specs/rfc8985.md#newest-delivered-segment
//# A delivered retransmission is passed over when the echoed timestamp is older than its own.
//= specs/rfc8985.md#newest-delivered-segment
//# A delivered retransmission is passed over when it is younger than the minimum RTT.
/// Returns whether the delivery of a retransmitted segment may answer an earlier copy (step 2): the echoed timestamp is older
/// than the copy, or the answer was faster than the path has been, measured by `early`.
///
/// Deviation: the echo counts only for the segment at the left edge (`echo` is `None` for others). A receiver answers data above
/// a gap with the timestamp of the last segment in order (RFC 7323 §4.3), which is older than any copy; by the letter of the rule
/// no probe beyond a gap could ever be accepted on a connection with timestamps.
#[inline]
pub fn is_ambiguous(segment: &SentSegment, echo: Option<u32>, early: EarlyAnswer, cx: &DetectCx) -> bool {
    if segment.retransmits == 0 {
        return false;
    }
    echo.is_some_and(|tsecr| is_older(tsecr, segment.tsval)) || is_early(segment, early, cx)
}

/// Returns whether a delivery is evidence about the path: a retransmission's is only if the minimum RTT is known, and no earlier
/// copy can have caused it. Before that, an answer to the original would look like a path without delay.
#[inline]
pub fn is_believed(segment: &SentSegment, echo: Option<u32>, early: EarlyAnswer, cx: &DetectCx) -> bool {
    segment.retransmits == 0 || (cx.min_rtt.is_some() && !is_ambiguous(segment, echo, early, cx))
}

/// Returns whether a delivery came too soon after the segment's latest transmission to be its answer.
#[inline]
pub fn is_early(segment: &SentSegment, early: EarlyAnswer, cx: &DetectCx) -> bool {
    let rtt = cx.now.since(segment.xmit.at);
    cx.min_rtt.is_some_and(|min_rtt| match early {
        EarlyAnswer::MinRtt => rtt < min_rtt,
        EarlyAnswer::MinRttLessTick => rtt + TICK < min_rtt,
        EarlyAnswer::HalfMinRtt => rtt < min_rtt / 2,
    })
}

/// Returns the echoed timestamp if it refers to the segment at place `index` of a batch: the first one, if it moved the
/// cumulative acknowledgement.
#[inline]
pub fn echo_of(index: usize, segment: &SentSegment, cx: &DetectCx) -> Option<u32> {
    cx.tsecr.filter(|_| index == 0 && segment.xmit.end.at_or_before(cx.snd_una))
}

/// Whether a timestamp is older than another, serially (RFC 7323 §5.4).
#[inline]
pub fn is_older(tsecr: u32, tsval: u32) -> bool {
    (tsecr.wrapping_sub(tsval) as i32) < 0
}

/// The newest of all delivered transmissions, and the RTT of the latest delivery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Newest {
    /// `RACK.xmit_ts` and `RACK.end_seq`.
    pub xmit: Option<Xmit>,
    /// `RACK.rtt`.
    pub rtt: Duration,
}

impl Newest {
    //= specs/rfc8985.md#newest-delivered-segment
    //# The detector's RTT is the age of the segment sent last among those an ACK delivers.
    /// Step 2 for everything one ACK delivered. Visiting by send time and keeping the last comes to the same as looking
    /// for the newest, so nothing is sorted. Returns where the segment ends whose age the RTT is, if that is the last one in
    /// sequence.
    #[inline]
    pub fn advance(
        &mut self,
        batch: &[SentSegment],
        early: EarlyAnswer,
        rtt_of: RttOf,
        cx: &DetectCx,
    ) -> Option<SeqNum> {
        let mut newest: Option<Xmit> = None;
        let mut last: Option<Xmit> = None;
        for (index, segment) in batch.iter().enumerate() {
            let later = newest.is_none_or(|newest| sent_after(segment.xmit, newest));
            let asked = later || rtt_of == RttOf::LastInSequence;
            if asked && is_believed(segment, echo_of(index, segment, cx), early, cx) {
                newest = if later { Some(segment.xmit) } else { newest };
                last = Some(segment.xmit);
            }
        }
        if let Some(xmit) = newest {
            let before = self.rtt;
            self.take(xmit, cx.now);
            if rtt_of == RttOf::NewestInTurn && cx.arrival == Arrival::Overtaking {
                self.rtt = self.rtt.max(before).max(cx.min_rtt.unwrap_or_default());
            }
        }
        let last = last.filter(|_| rtt_of == RttOf::LastInSequence)?;
        self.rtt = cx.now.since(last.at);
        Some(last.end)
    }

    //= specs/rfc8985.md#newest-delivered-segment
    //# Of all delivered segments the one sent last is remembered, with its send time and its end.
    /// Notes the delivery of a transmission. The RTT also follows if a later segment was delivered earlier.
    #[inline]
    pub fn take(&mut self, xmit: Xmit, now: Instant) {
        self.rtt = now.since(xmit.at);
        if self.xmit.is_none_or(|newest| sent_after(xmit, newest)) {
            self.xmit = Some(xmit);
        }
    }
}
