//! What an endpoint counts (RFC 4898 has names for most of it), kept small: what every connection needs stands in [`Tally`],
//! what only losses, resets and duplicates bring in [`RareTally`], which lives in the box of rare state.
//!
//! What can be computed from what others keep is not counted here: octets acknowledged are the send buffer's, octets sent
//! follow from sequence numbers.

use super::watch::Limit;
use super::{Endpoint, Segment, SendSide};
use crate::cx::Cx;
use crate::event::DropReason;
use base::{Bytes, Duration, Instant, RateSample, SeqNum};
use recovery::{Delivered, Episode};
use trace::{Event, Observer};

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
    /// The latest delivery rate that says something: octets, and the microseconds they took.
    rate_bytes: u32,
    rate_us: u32,
    held: Held,
    pub rate_of: RateOf,
    /// What held the sender back when it was told last.
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
    /// ACKs that showed reordering, and its largest extent in octets.
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
    /// The handshake is over: what is told as the time since data begins here.
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
    /// Octets and time of the latest delivery rate; zero time for none.
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

impl Endpoint {
    /// The counters of rare events, made on first use.
    #[inline]
    pub(super) fn rare_mut(&mut self) -> &mut RareTally {
        &mut self.extras_mut().rare
    }

    /// A segment arrived, whatever becomes of it.
    #[inline]
    pub(super) fn note_arrival(&mut self, now: Instant, seg: &Segment<'_>) {
        self.tally.segments_received += 1;
        if !seg.payload.is_empty() {
            self.tally.data_segments_received = self.tally.data_segments_received.wrapping_add(1);
            self.tally.data_received_ms = ms(now);
        }
    }

    /// How many segments make a frame with so many octets of payload.
    #[inline]
    pub(super) fn segments_of(&self, payload: Bytes) -> u32 {
        if payload > self.snd.space.smss() { payload.div_ceil(self.segment_size()) } else { 1 }
    }

    /// A data segment, or a FIN without data, is about to leave. `payload` octets may make several segments.
    #[inline]
    pub(super) fn note_departure(&mut self, now: Instant, payload: Bytes, retransmits: u8) {
        let segments = self.segments_of(payload);
        if payload > 0 {
            self.tally.data_sent_ms = ms(now);
            self.tally.data_segments_sent = self.tally.data_segments_sent.wrapping_add(segments);
        }
        if retransmits > 0 {
            let rare = self.rare_mut();
            rare.segments_retransmitted += segments;
            rare.bytes_retransmitted += u64::from(payload);
        }
    }

    /// What an acceptable ACK brought, if it brought something. One from before `SND.UNA` is no sign that the peer lives: it
    /// left before another, or is that of a peer that lacks what was acknowledged in its name, and will never go on.
    #[inline]
    pub(super) fn note_ack(
        &mut self,
        now: Instant,
        ack: SeqNum,
        delivered: Option<&Delivered>,
        rate: Option<&RateSample>,
    ) {
        if !ack.before(self.snd.space.una()) {
            self.tally.ack_received_ms = ms(now);
            self.on_answer();
        }
        let segments = delivered.map_or(0, |d| d.batch.len() as u32);
        self.tally.delivered_segments = self.tally.delivered_segments.wrapping_add(segments);
        if let Some(sample) = rate {
            self.tally.on_rate(sample);
        }
    }

    /// An ACK came; one with SACK blocks should say something new: octets acknowledged either way, or a duplicate.
    #[inline]
    pub(super) fn note_sack(&mut self, seg: &Segment<'_>, news: bool) {
        if self.neg.sack && !seg.repr.options.sack.as_slice().is_empty() {
            let rare = self.rare_mut();
            rare.sacks_received += 1;
            rare.stale_sacks += u32::from(!news);
        }
    }

    /// Something never sent again was delivered after something behind it: the path reorders (RFC 4737). `fack` is the
    /// highest number that was selectively acknowledged before this ACK.
    #[inline]
    pub(super) fn note_reordering<O: Observer>(&mut self, cx: &mut Cx<'_, O>, d: &Delivered, fack: Option<SeqNum>) {
        let Some(fack) = fack else { return };
        // The batch is in sequence order, so the first one is what was overtaken by most.
        let Some(late) = d.batch.iter().find(|s| s.retransmits == 0).filter(|s| s.start.before(fack)) else { return };
        let (fack, end) = (self.snd.rec.board.highest_sacked().unwrap_or(fack).max(fack), late.xmit.end);
        let extent = fack.distance_from(late.start);
        let rare = self.rare_mut();
        rare.reorderings += 1;
        rare.reordering_extent = rare.reordering_extent.max(extent);
        let max_extent = rare.reordering_extent;
        cx.emit(|| Event::ReorderingSeen { extent, max_extent, fack, end });
    }

    /// Nothing more can leave for now: who is to blame for the time until something does?
    #[inline]
    pub(super) fn note_held(&mut self, now: Instant) {
        let held = self.held();
        if held != self.tally.held {
            self.book_time(now, held);
        }
    }

    #[inline]
    fn held(&self) -> Held {
        let unsent = self.snd.data_end().distance_from(self.snd.space.nxt());
        let fin_waits = match self.snd.space.side() {
            SendSide::Open => false,
            SendSide::FinQueued => true,
            SendSide::FinSent => self.snd.space.una() != self.snd.space.nxt(),
        };
        if (self.snd.buffer.len() == 0 && !fin_waits) || !self.may_send() {
            return Held::Nothing;
        }
        let size = self.segment_size();
        let room = self.snd.cc.window().cwnd().saturating_sub(self.snd.rec.board.pipe());
        // Inside an episode the reduction rules, and the congestion window holds everything back.
        if room < size.min(unsent.max(1)) || self.snd.rec.episode != Episode::Open {
            return Held::Busy;
        }
        if unsent > 0 && self.snd.space.usable() < unsent.min(size) {
            Held::Window
        } else if unsent == 0 && self.snd.write_blocked {
            Held::Buffer
        } else {
            Held::Busy
        }
    }

    /// Books the time since the last change, and goes on with `held`.
    #[cold]
    fn book_time(&mut self, now: Instant, held: Held) {
        let TimeAccounts { busy, window, buffer } = self.time_accounts(now);
        if matches!(self.tally.held, Held::Window | Held::Buffer) {
            let rare = self.rare_mut();
            (rare.window_limited, rare.buffer_limited) = (window, buffer);
        }
        (self.tally.busy, self.tally.held_since, self.tally.held) = (busy, now, held);
    }

    /// The accounts of time up to now.
    pub(super) fn time_accounts(&self, now: Instant) -> TimeAccounts {
        let rare = self.extras.as_deref().map(|extras| &extras.rare);
        let mut accounts = TimeAccounts {
            busy: self.tally.busy,
            window: rare.map_or(Duration::ZERO, |rare| rare.window_limited),
            buffer: rare.map_or(Duration::ZERO, |rare| rare.buffer_limited),
        };
        let running = now.since(self.tally.held_since);
        if self.tally.held != Held::Nothing {
            accounts.busy += running;
        }
        match self.tally.held {
            Held::Window => accounts.window += running,
            Held::Buffer => accounts.buffer += running,
            Held::Nothing | Held::Busy => {}
        }
        accounts
    }
}
