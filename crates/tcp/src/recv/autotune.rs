//! How large the receive window may become: fixed, or grown with what the application takes (window limits RFC 7323 §2.3).
//!
//! Owns how much the application took within a round trip; [`ReceiverRtt`] owns how long one is. What follows from that is a
//! law, one a file and chosen by [`ReceiveWindowConfig`]: [`eager`], [`drs`] and [`stepped`]. The window's size itself belongs
//! to [`super::ReceiveWindow`], which receives the results. The configuration is lent: endpoints are many and share theirs.
//!
//! A reader that takes little gets little: all laws go by what was taken, not by what arrived. And a size, once offered, is
//! never taken back (RFC 7323 §2.4 discourages it).

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
    /// When the present period began: the round trip in which `copied` is counted.
    since: Instant,
    /// Bytes the application took in the present period.
    copied: Bytes,
    /// Most bytes it took in any earlier period.
    space: Bytes,
    /// What right-sizing allows the window to open to. Only [`drs`] knows a difference between the two.
    buffer: Bytes,
}

impl AutoTune {
    /// For a new connection.
    pub fn new(config: &ReceiveWindowConfig) -> Self {
        let buffer = match config {
            ReceiveWindowConfig::Drs(bounds) => drs::first_buffer(bounds),
            _ => 0,
        };
        Self { rtt: ReceiverRtt::new(), since: Instant::ZERO, copied: 0, space: 0, buffer }
    }

    /// What right-sizing allows the window to open to; zero for other laws.
    pub fn buffer(&self) -> Bytes {
        self.buffer
    }

    /// The round trip as the receiver knows it.
    pub fn rtt(&self) -> Option<Duration> {
        self.rtt.is_known().then(|| self.rtt.estimate())
    }

    /// Most bytes the application took in a round trip.
    pub fn space(&self) -> Bytes {
        self.space
    }

    /// The handshake took `rtt`. Only [`stepped`] begins with it; the others wait for data to measure by.
    pub fn on_handshake(&mut self, config: &ReceiveWindowConfig, now: Instant, rtt: Duration) {
        if matches!(config, ReceiveWindowConfig::Stepped(_)) {
            self.rtt.begin_with(rtt);
            self.since = now;
        }
    }

    /// A segment with `len` bytes arrived, after which `rcv_nxt` is expected and the peer may send `offered` bytes more.
    /// `echo` is the age of the timestamp it echoes, when the connection uses them. Returns the new size if the window is to
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
            // The edge an ACK shows may be rounded down by a unit of the field from one promised before.
            None => self.rtt.on_progress(now, rcv_nxt, offered + (lent.config.largest() >> 15)),
        }
        match lent.config {
            ReceiveWindowConfig::Drs(_) => drs::opened(lent, self.buffer, len),
            _ => None,
        }
    }

    /// The application took `bytes` bytes. Returns the new size if the window is to grow.
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
