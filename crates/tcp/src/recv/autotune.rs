//! How large the receive window may become: fixed, or grown with the application's reading (window limits RFC 7323 §2.3).
//!
//! Owns how much the application took within a round trip; [`ReceiverRtt`] owns how long one is. The algorithms that use them are
//! one per file, and [`ReceiveWindowConfig`] selects one: [`eager`], [`drs`] and [`stepped`]. [`super::ReceiveWindow`] owns the
//! window's size and receives the results. The configuration is borrowed, because many endpoints share one.
//!
//! A slow reader gets a small window: every algorithm measures what was taken, not what arrived. A size, once offered, is never
//! reduced (RFC 7323 §2.4 discourages that).

mod config;
mod drs;
mod eager;
mod round_trip;
mod stepped;

pub(crate) use config::Lent;
pub use config::{DrsConfig, ReceiveWindowConfig};
pub use stepped::{SteppedConfig, WindowLevel};

use base::{Bytes, Duration, Instant, SeqNum};
use round_trip::ReceiverRtt;

/// The growth of one connection's receive window.
#[derive(Clone, Debug)]
pub(crate) struct AutoTune {
    rtt: ReceiverRtt,
    /// Start of the current period: the round trip in which `copied` counts.
    since: Instant,
    /// Bytes the application took in the current period.
    copied: Bytes,
    /// Most bytes it took in any earlier period.
    space: Bytes,
    /// The size up to which right-sizing may open the window. Only [`drs`] distinguishes the two.
    buffer: Bytes,
}

impl AutoTune {
    /// Creates the state for a new connection.
    pub fn new(config: &ReceiveWindowConfig) -> Self {
        let buffer = match config {
            ReceiveWindowConfig::Drs(bounds) => drs::first_buffer(bounds),
            _ => 0,
        };
        Self { rtt: ReceiverRtt::new(), since: Instant::ZERO, copied: 0, space: 0, buffer }
    }

    /// Returns the size up to which right-sizing may open the window; zero for other algorithms.
    pub fn buffer(&self) -> Bytes {
        self.buffer
    }

    /// Returns the receiver's estimate of the round trip.
    pub fn rtt(&self) -> Option<Duration> {
        self.rtt.is_known().then(|| self.rtt.estimate())
    }

    /// Returns the most bytes that the application took in a round trip.
    pub fn space(&self) -> Bytes {
        self.space
    }

    /// Notes that the handshake took `rtt`. Only [`stepped`] starts from it; the others wait for data to measure.
    pub fn on_handshake(&mut self, config: &ReceiveWindowConfig, now: Instant, rtt: Duration) {
        if matches!(config, ReceiveWindowConfig::Stepped(_)) {
            self.rtt.begin_with(rtt);
            self.since = now;
        }
    }

    /// Notes a segment with `len` bytes, after which `rcv_nxt` is expected and the peer may send `offered` more bytes.
    /// `echo` is the age of the timestamp it echoes, if the connection uses them. Returns the new size if the window is to
    /// grow.
    #[inline]
    pub fn on_data(
        &mut self,
        lent: &Lent<'_>,
        now: Instant,
        rcv_nxt: SeqNum,
        len: Bytes,
        offered: Bytes,
        echo: Option<Duration>,
    ) -> Option<Bytes> {
        if matches!(lent.config, ReceiveWindowConfig::Fixed { .. }) || len == 0 {
            return None;
        }
        match echo {
            Some(age) => self.rtt.on_echo(age),
            // The edge that an ACK advertises may be up to one unit of the field below an earlier one.
            None => self.rtt.on_progress(now, rcv_nxt, offered + (lent.config.largest() >> 15)),
        }
        match lent.config {
            ReceiveWindowConfig::Drs(_) => drs::opened(lent, self.buffer, len),
            _ => None,
        }
    }

    /// Notes that the application took `bytes` bytes. Returns the new size if the window is to grow.
    #[inline]
    pub fn on_consumed(&mut self, lent: &Lent<'_>, now: Instant, bytes: u64) -> Option<Bytes> {
        if matches!(lent.config, ReceiveWindowConfig::Fixed { .. }) {
            return None;
        }
        self.copied = self.copied.saturating_add(Bytes::try_from(bytes).unwrap_or(Bytes::MAX));
        let elapsed = now.since(self.since);
        let over = self.rtt.is_over(elapsed);
        let size = match lent.config {
            ReceiveWindowConfig::AutoTuned(bounds) => {
                eager::size(lent, bounds.max, self.copied, self.space, self.rtt.is_known())
            }
            ReceiveWindowConfig::Stepped(law) if over => {
                let delivered = stepped::per_round_trip(self.copied, self.rtt.estimate(), elapsed);
                law.grown(lent.limit, delivered)
            }
            ReceiveWindowConfig::Drs(bounds) if over => {
                let buffer = drs::buffer(lent, bounds.max, self.copied, self.space);
                self.buffer = self.buffer.max(buffer);
                None
            }
            _ => None,
        };
        if over {
            self.begin_period(now);
        }
        size
    }

    fn begin_period(&mut self, now: Instant) {
        self.space = self.space.max(self.copied);
        self.copied = 0;
        self.since = now;
        self.rtt.on_round_trip();
    }
}

#[cfg(test)]
mod tests;
