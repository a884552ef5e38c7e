//! Counters of an endpoint (RFC 4898 names most of them), kept small so that an idle connection stays within a kibibyte:
//! [`Statistics`] holds what every connection needs, [`RareStatistics`], a box of its own, what only losses, resets and
//! duplicates cause.
//!
//! Values that follow from other state have no counter here: the send buffer knows the bytes acknowledged, and sequence numbers
//! give the bytes sent.

use crate::endpoint::sender::{Held, Overtaken};
use crate::info::EcnInfo;
use base::{Bytes, Duration, Instant, RateSample};
use recovery::Delivered;
use trace::{DropReason, Limit};
use wire::Ecn;

/// Whether a delivery rate measures the path's capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum RateOf {
    Path,
    /// It only measures how much the application had to send; also before the first sample.
    #[default]
    Application,
}

/// What an acceptable ACK reported.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::endpoint) struct AckReport<'a> {
    /// The ACK is not from before `SND.UNA`. An earlier one does not show that the peer is alive: it left before another ACK, or
    /// its sender lacks what was acknowledged in its name and will never continue.
    pub is_current: bool,
    /// SACK blocks that report duplicates.
    pub dsacks: u8,
    /// For an ACK with SACK blocks: whether it reports anything new, which is newly acknowledged bytes or a duplicate.
    pub sack_news: Option<bool>,
    pub delivered: Option<&'a Delivered>,
    pub rate: Option<&'a RateSample>,
    pub overtaken: Option<Overtaken>,
}

/// Counters that every connection needs.
#[derive(Clone, Debug, Default)]
pub(in crate::endpoint) struct Statistics {
    /// Time spent with something to send, up to `held_since`.
    busy: Duration,
    held_since: Instant,
    /// Segments with or without payload, low halves; [`RareStatistics`] has the high halves, which few connections need.
    segments_sent: u32,
    segments_received: u32,
    /// Segments with payload; these three counters wrap, as those of RFC 4898 (Counter32) do.
    pub data_segments_sent: u32,
    pub data_segments_received: u32,
    /// Segments that the peer acknowledged, cumulatively or selectively.
    pub delivered_segments: u32,
    /// When data last left, and data and an ACK last arrived, in milliseconds; wraps to save memory per connection, so a pause of
    /// 49 days may look like a shorter one.
    data_sent_ms: u32,
    data_received_ms: u32,
    ack_received_ms: u32,
    /// The latest meaningful delivery rate: bytes, and the microseconds in which they were delivered.
    rate_bytes: u32,
    rate_us: u32,
    held: Held,
    pub(super) rate_of: RateOf,
    /// What limited the sender at the last report.
    limit: Limit,
    /// Counters of rare events; allocated with the first such event.
    rare: Option<Box<RareStatistics>>,
}

/// Counters that only rare events need.
#[derive(Clone, Debug, Default)]
pub(in crate::endpoint) struct RareStatistics {
    /// How often the counters of segments with or without payload have passed 2^32.
    segments_sent_high: u32,
    segments_received_high: u32,
    pub bytes_retransmitted: u64,
    pub bytes_lost: u64,
    pub segments_retransmitted: u32,
    pub episodes: u32,
    pub fast_retransmits: u32,
    pub episodes_without_timeout: u32,
    pub timeouts: u32,
    pub lost_retransmissions: u32,
    pub dsacks_received: u32,
    pub dsacks_sent: u32,
    /// ACKs with SACK blocks, and how many of them reported nothing new.
    pub sacks_received: u32,
    pub stale_sacks: u32,
    /// Segments received that left a gap before them.
    pub out_of_order_segments: u32,
    /// ACKs that showed reordering, and its largest extent in bytes.
    pub reorderings: u32,
    pub reordering_extent: Bytes,
    pub probes: u16,
    pub undone: u16,
    pub dropped: [u16; DropReason::COUNT],
    /// Segments delivered by acknowledgements that echo a mark, and echoes in reaction to which the window was reduced.
    pub delivered_ce: u32,
    pub mark_reductions: u32,
    /// Data segments that arrived with a mark, and those that arrived with any ECN-capable codepoint.
    pub received_ce: u32,
    pub received_capable: u32,
    /// All timeouts, including those of SYNs; recoveries that they began; total duration of the completed recoveries.
    pub all_timeouts: u16,
    pub timeout_recoveries: u16,
    timeout_time: Duration,
    timeout_since: Option<Instant>,
    window_limited: Duration,
    buffer_limited: Duration,
    /// Window, threshold and the peer's window as last reported to an observer.
    last_snapshot: (Bytes, Bytes, Bytes),
}

fn ms(at: Instant) -> u32 {
    (at.as_nanos() / 1_000_000) as u32
}

fn since(earlier_ms: u32, now: Instant) -> Duration {
    Duration::from_millis(u64::from(ms(now).wrapping_sub(earlier_ms)))
}

impl Statistics {
    /// Creates the counters of a connection that begins now.
    pub fn new(now: Instant) -> Self {
        let now_ms = ms(now);
        Self { data_sent_ms: now_ms, data_received_ms: now_ms, ack_received_ms: now_ms, ..Self::default() }
    }
    /// Notes the end of the handshake: reported times since data begin here.
    pub fn on_established(&mut self, now: Instant) {
        (self.data_sent_ms, self.data_received_ms, self.ack_received_ms) = (ms(now), ms(now), ms(now));
    }
    pub fn since_data_sent(&self, now: Instant) -> Duration {
        since(self.data_sent_ms, now)
    }
    pub fn since_data_received(&self, now: Instant) -> Duration {
        since(self.data_received_ms, now)
    }
    pub fn since_ack_received(&self, now: Instant) -> Duration {
        since(self.ack_received_ms, now)
    }
    /// Counts an arrived segment with `payload` bytes, accepted or not.
    #[inline]
    pub fn on_arrival(&mut self, now: Instant, payload: Bytes) {
        self.segments_received = self.segments_received.wrapping_add(1);
        if self.segments_received == 0 {
            self.rare_mut().segments_received_high += 1;
        }
        if payload > 0 {
            self.data_segments_received = self.data_segments_received.wrapping_add(1);
            self.data_received_ms = ms(now);
        }
    }
    /// Counts the `segments` of a frame that leaves.
    #[inline]
    pub fn on_frame(&mut self, segments: u32) {
        let (sent, wraps) = self.segments_sent.overflowing_add(segments);
        self.segments_sent = sent;
        if wraps {
            self.rare_mut().segments_sent_high += 1;
        }
    }
    /// Returns the segments sent, with or without payload.
    #[inline]
    pub fn segments_sent(&self) -> u64 {
        let high = self.rare().map_or(0, |rare| rare.segments_sent_high);
        u64::from(high) << 32 | u64::from(self.segments_sent)
    }
    /// Returns the segments received, with or without payload.
    #[inline]
    pub fn segments_received(&self) -> u64 {
        let high = self.rare().map_or(0, |rare| rare.segments_received_high);
        u64::from(high) << 32 | u64::from(self.segments_received)
    }
    /// Counts `payload` bytes, or a FIN without data, that are about to leave in `segments` segments; `again` marks a
    /// retransmission.
    #[inline]
    pub fn on_departure(&mut self, now: Instant, payload: Bytes, segments: u32, again: bool) {
        if payload > 0 {
            self.data_sent_ms = ms(now);
            self.data_segments_sent = self.data_segments_sent.wrapping_add(segments);
        }
        if again {
            self.rare_mut().on_retransmission(payload, segments);
        }
    }
    /// Counts what an acceptable ACK reported. Returns the largest extent of reordering so far if the ACK showed reordering.
    #[inline]
    pub(super) fn book_ack(&mut self, now: Instant, ack: &AckReport<'_>) -> Option<Bytes> {
        if ack.is_current {
            self.ack_received_ms = ms(now);
        }
        let segments = ack.delivered.map_or(0, |d| d.batch.len() as u32);
        self.delivered_segments = self.delivered_segments.wrapping_add(segments);
        if let Some(sample) = ack.rate {
            self.on_rate(sample);
        }
        if ack.dsacks > 0 {
            self.rare_mut().dsacks_received += u32::from(ack.dsacks);
        }
        if let Some(news) = ack.sack_news {
            self.rare_mut().on_sack(news);
        }
        ack.overtaken.map(|late| self.rare_mut().on_reordering(late.extent))
    }
    /// Accounts the time from now until something can leave to `held`.
    #[inline]
    pub fn note_held(&mut self, now: Instant, held: Held) {
        if held != self.held {
            self.book_time(now, held);
        }
    }
    /// Adds the time since the last change to the account of the old limit, and continues with `held`.
    #[cold]
    fn book_time(&mut self, now: Instant, held: Held) {
        let TimeAccounts { busy, window, buffer } = self.time_accounts(now);
        if matches!(self.held, Held::Window | Held::Buffer) {
            let rare = self.rare_mut();
            (rare.window_limited, rare.buffer_limited) = (window, buffer);
        }
        (self.busy, self.held_since, self.held) = (busy, now, held);
    }
    /// Records what limits the sender. Returns whether that has changed.
    #[inline]
    pub fn turn_to(&mut self, limit: Limit) -> bool {
        core::mem::replace(&mut self.limit, limit) != limit
    }
    /// Returns the time statistics up to now.
    pub(super) fn time_accounts(&self, now: Instant) -> TimeAccounts {
        let rare = self.rare();
        let mut accounts = TimeAccounts {
            busy: self.busy,
            window: rare.map_or(Duration::ZERO, |rare| rare.window_limited),
            buffer: rare.map_or(Duration::ZERO, |rare| rare.buffer_limited),
        };
        let running = now.since(self.held_since);
        if self.held != Held::Nothing {
            accounts.busy += running;
        }
        match self.held {
            Held::Window => accounts.window += running,
            Held::Buffer => accounts.buffer += running,
            Held::Nothing | Held::Busy => {}
        }
        accounts
    }
    /// Returns the counters of rare events, if any was needed.
    #[inline]
    pub fn rare(&self) -> Option<&RareStatistics> {
        self.rare.as_deref()
    }
    /// Returns the counters of rare events; allocates them on first use.
    #[inline]
    pub fn rare_mut(&mut self) -> &mut RareStatistics {
        self.rare.get_or_insert_default()
    }
    /// Returns the largest extent of reordering so far, in bytes.
    #[inline]
    pub fn reordering_extent(&self) -> Bytes {
        self.rare.as_deref().map_or(0, |rare| rare.reordering_extent)
    }
    /// Returns the ECN statistics; `negotiated` says whether the connection uses ECN.
    pub fn ecn(&self, negotiated: bool) -> EcnInfo {
        let (delivered_ce, received_ce, reductions, received_capable) = self.rare().map_or((0, 0, 0, 0), |rare| {
            (rare.delivered_ce, rare.received_ce, rare.mark_reductions, rare.received_capable)
        });
        EcnInfo { negotiated, delivered_ce, received_ce, reductions, received_capable }
    }
    /// Returns the bytes of the box of rare counters.
    pub fn heap_size(&self) -> usize {
        self.rare.as_deref().map_or(0, size_of_val)
    }
    /// Returns bytes and time of the latest delivery rate; zero time for none.
    pub fn rate(&self) -> (u64, Duration) {
        (u64::from(self.rate_bytes), Duration::from_micros(u64::from(self.rate_us)))
    }
    /// Takes a sample of the delivery rate. A sample that the application limited counts only if it is not below the known rate.
    #[inline]
    fn on_rate(&mut self, sample: &RateSample) {
        let bytes = u32::try_from(sample.delivered).unwrap_or(u32::MAX);
        let us = u32::try_from(sample.interval.as_micros()).unwrap_or(u32::MAX);
        let not_below = u64::from(bytes) * u64::from(self.rate_us) >= u64::from(self.rate_bytes) * u64::from(us);
        if !sample.app_limited || not_below {
            (self.rate_bytes, self.rate_us) = (bytes, us);
            self.rate_of = if sample.app_limited { RateOf::Application } else { RateOf::Path };
        }
    }
}

impl RareStatistics {
    /// Counts `payload` bytes that are about to be retransmitted, and their segments.
    fn on_retransmission(&mut self, payload: Bytes, segments: u32) {
        self.segments_retransmitted += segments;
        self.bytes_retransmitted += u64::from(payload);
    }
    /// Counts a segment that was refused for `reason`.
    pub fn on_dropped(&mut self, reason: DropReason) {
        let count = &mut self.dropped[reason as usize];
        *count = count.saturating_add(1);
    }
    /// Counts a data segment that came in a packet marked `mark`, on a connection that uses ECN.
    pub fn on_capable(&mut self, mark: Ecn) {
        self.received_capable += 1;
        self.received_ce += u32::from(mark == Ecn::Ce);
    }
    /// Counts an ACK with SACK blocks; `news` says whether it reported anything new: acknowledged bytes or a duplicate.
    pub fn on_sack(&mut self, news: bool) {
        self.sacks_received += 1;
        self.stale_sacks += u32::from(!news);
    }
    /// Notes reordering by `extent` bytes; returns the largest extent so far.
    pub fn on_reordering(&mut self, extent: Bytes) -> Bytes {
        self.reorderings += 1;
        self.reordering_extent = self.reordering_extent.max(extent);
        self.reordering_extent
    }
    /// Stores window, threshold and the peer's window. Returns whether they differ from the last reported ones.
    pub fn is_new_snapshot(&mut self, numbers: (Bytes, Bytes, Bytes)) -> bool {
        core::mem::replace(&mut self.last_snapshot, numbers) != numbers
    }
    /// Counts a timeout; `further` is its number since the last progress, from 1.
    pub fn on_timeout(&mut self, now: Instant, further: u32) {
        self.all_timeouts = self.all_timeouts.saturating_add(1);
        if further == 1 {
            self.timeout_recoveries = self.timeout_recoveries.saturating_add(1);
            self.on_timeout_over(now);
            self.timeout_since = Some(now);
        }
    }
    /// Ends the recovery that a timeout began, if there is one.
    pub fn on_timeout_over(&mut self, now: Instant) {
        if let Some(since) = self.timeout_since.take() {
            self.timeout_time += now.since(since);
        }
    }
    /// Returns the time spent in recoveries from timeouts, including the current one.
    pub fn timeout_time(&self, now: Instant) -> Duration {
        self.timeout_time + self.timeout_since.map_or(Duration::ZERO, |since| now.since(since))
    }
}

/// How long the sender had something to send, and what limited it meanwhile.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TimeAccounts {
    pub busy: Duration,
    pub window: Duration,
    pub buffer: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_counted_beyond_32_bits() {
        let mut stats = Statistics {
            segments_sent: u32::MAX - 1,
            segments_received: u32::MAX - 1,
            ..Statistics::new(Instant::ZERO)
        };
        stats.on_frame(1);
        stats.on_arrival(Instant::ZERO, 0);
        let most = u64::from(u32::MAX);
        assert_eq!((stats.segments_sent(), stats.segments_received()), (most, most));
        assert_eq!(stats.heap_size(), 0, "the high halves cost nothing until they are needed");
        stats.on_frame(3);
        stats.on_arrival(Instant::ZERO, 0);
        assert_eq!((stats.segments_sent(), stats.segments_received()), (most + 3, most + 1));
    }
}
