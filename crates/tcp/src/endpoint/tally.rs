//! What an endpoint counts (RFC 4898 has names for most of it), kept small: what every connection needs stands in [`Tally`],
//! what only losses, resets and duplicates bring in [`RareTally`], which lives in the box of rare state.
//!
//! What can be computed from what others keep is not counted here: bytes acknowledged are the send buffer's, bytes sent
//! follow from sequence numbers.

use super::watch::Limit;
use crate::event::DropReason;
use base::{Bytes, Duration, Instant, RateSample};

/// What holds the sender back, for the accounts of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Held {
    /// Nothing is buffered: the application has nothing to send.
    #[default]
    Nothing,
    /// Data waits or is in flight, and neither of the following holds it back.
    Busy,
    /// The peer's window.
    Window,
    /// The send buffer: everything in it was sent, the congestion window has room and the application wants to write.
    Buffer,
}

/// Whether a delivery rate says what the path carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum RateOf {
    Path,
    /// Only how much the application had to send; so is it before the first sample.
    #[default]
    Application,
}

/// What every connection counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub segments_sent: u64,
    pub segments_received: u64,
    /// Time spent with something to send, up to `held_since`.
    busy: Duration,
    held_since: Instant,
    /// Segments with payload; these three wrap.
    pub data_segments_sent: u32,
    pub data_segments_received: u32,
    /// Segments the peer acknowledged, either way.
    pub delivered_segments: u32,
    /// Milliseconds that wrap: connections are many, and a pause of 49 days may pass for a shorter one.
    data_sent_ms: u32,
    data_received_ms: u32,
    ack_received_ms: u32,
    /// The latest delivery rate that says something: bytes, and the microseconds they took.
    rate_bytes: u32,
    rate_us: u32,
    held: Held,
    pub rate_of: RateOf,
    /// What held the sender back at the last report.
    pub limit: Limit,
}

/// What only troubles bring.
#[derive(Clone, Debug, Default)]
pub(super) struct RareTally {
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
    /// ACKs with SACK blocks, and those of them that said nothing new.
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
    /// Timeouts of whatever kind, SYNs' included; recoveries they began; how long those took that are over.
    pub all_timeouts: u16,
    pub timeout_recoveries: u16,
    timeout_time: Duration,
    timeout_since: Option<Instant>,
    window_limited: Duration,
    buffer_limited: Duration,
}

fn ms(at: Instant) -> u32 {
    (at.as_nanos() / 1_000_000) as u32
}

fn since(earlier_ms: u32, now: Instant) -> Duration {
    Duration::from_millis(u64::from(ms(now).wrapping_sub(earlier_ms)))
}

impl Tally {
    /// A connection that begins now.
    pub fn new(now: Instant) -> Self {
        let now_ms = ms(now);
        Self { data_sent_ms: now_ms, data_received_ms: now_ms, ack_received_ms: now_ms, ..Self::default() }
    }
    /// The handshake is over: what is reported as the time since data begins here.
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
    /// A segment with `payload` bytes arrived, whatever becomes of it.
    #[inline]
    pub fn on_arrival(&mut self, now: Instant, payload: Bytes) {
        self.segments_received += 1;
        if payload > 0 {
            self.data_segments_received = self.data_segments_received.wrapping_add(1);
            self.data_received_ms = ms(now);
        }
    }
    /// `payload` bytes are about to leave, in so many segments.
    #[inline]
    pub fn on_departure(&mut self, now: Instant, payload: Bytes, segments: u32) {
        if payload > 0 {
            self.data_sent_ms = ms(now);
            self.data_segments_sent = self.data_segments_sent.wrapping_add(segments);
        }
    }
    /// An acceptable ACK delivered so many segments.
    #[inline]
    pub fn on_ack(&mut self, segments: u32, rate: Option<&RateSample>) {
        self.delivered_segments = self.delivered_segments.wrapping_add(segments);
        if let Some(sample) = rate {
            self.on_rate(sample);
        }
    }
    /// An ACK arrived that shows that the peer lives.
    #[inline]
    pub fn on_answer(&mut self, now: Instant) {
        self.ack_received_ms = ms(now);
    }
    /// What holds the sender back now.
    #[inline]
    pub fn held(&self) -> Held {
        self.held
    }
    /// Goes on with `held`, after so much busy time.
    pub fn set_held(&mut self, now: Instant, held: Held, busy: Duration) {
        (self.busy, self.held_since, self.held) = (busy, now, held);
    }
    /// The accounts of time up to now.
    pub fn time_accounts(&self, rare: Option<&RareTally>, now: Instant) -> TimeAccounts {
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
    /// Bytes and time of the latest delivery rate; zero time for none.
    pub fn rate(&self) -> (u64, Duration) {
        (u64::from(self.rate_bytes), Duration::from_micros(u64::from(self.rate_us)))
    }
    /// Takes a sample of the delivery rate. One that measured the application says something only if it is not below what
    /// is known.
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

impl RareTally {
    /// `payload` bytes are about to leave again, in so many segments.
    pub fn on_retransmission(&mut self, payload: Bytes, segments: u32) {
        self.segments_retransmitted += segments;
        self.bytes_retransmitted += u64::from(payload);
    }
    /// An ACK with SACK blocks came. It should say something new: bytes acknowledged either way, or a duplicate.
    pub fn on_sack(&mut self, news: bool) {
        self.sacks_received += 1;
        self.stale_sacks += u32::from(!news);
    }
    /// The path was seen to reorder by so many bytes; returns the most that it was seen to.
    pub fn on_reordering(&mut self, extent: Bytes) -> Bytes {
        self.reorderings += 1;
        self.reordering_extent = self.reordering_extent.max(extent);
        self.reordering_extent
    }
    /// Time for which the peer's window and the send buffer held the sender back.
    pub fn set_limited(&mut self, window: Duration, buffer: Duration) {
        (self.window_limited, self.buffer_limited) = (window, buffer);
    }
    /// A timeout, the first since progress was made or a further one.
    pub fn on_timeout(&mut self, now: Instant, further: u32) {
        self.all_timeouts = self.all_timeouts.saturating_add(1);
        if further == 1 {
            self.timeout_recoveries = self.timeout_recoveries.saturating_add(1);
            self.on_timeout_over(now);
            self.timeout_since = Some(now);
        }
    }
    /// What a timeout began is over, if one did.
    pub fn on_timeout_over(&mut self, now: Instant) {
        if let Some(since) = self.timeout_since.take() {
            self.timeout_time += now.since(since);
        }
    }
    /// Time spent in recoveries from timeouts, the present one included.
    pub fn timeout_time(&self, now: Instant) -> Duration {
        self.timeout_time + self.timeout_since.map_or(Duration::ZERO, |since| now.since(since))
    }
}

/// How long the sender had something to send, and what held it back meanwhile.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TimeAccounts {
    pub busy: Duration,
    pub window: Duration,
    pub buffer: Duration,
}
