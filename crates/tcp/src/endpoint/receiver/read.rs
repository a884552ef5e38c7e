//! The application's side of the receive buffer: reading, peeking, and how a reader's pace affects the window and the ACKs.

use super::Receiver;
use crate::config::{AckConfig, Config, ReceiveConfig};
use crate::endpoint::State;
use crate::recv::{AckPace, Lent};
use base::{Bytes, Duration, Instant};

impl Receiver {
    /// Moves received bytes to the front of `buf` and returns their number; bytes before an urgent mark and bytes from it on
    /// never share a call.
    pub fn read(&mut self, config: &ReceiveConfig, buf: &mut [u8]) -> u64 {
        let most = usize::try_from(self.readable_in_one(config)).unwrap_or(usize::MAX).min(buf.len());
        self.buffer.read(&mut buf[..most]) as u64
    }

    /// Like [`Self::read`], but checks up to `max` bytes against the pattern instead of moving them.
    pub fn read_pattern(&mut self, config: &ReceiveConfig, max: u64) -> u64 {
        let max = max.min(self.readable_in_one(config));
        self.buffer.read_pattern(max)
    }

    /// Copies received bytes to the front of `out` without consuming them; returns their number.
    pub fn peek(&self, config: &ReceiveConfig, out: &mut [u8]) -> usize {
        let (behind, most) = self.visible(config);
        let most = usize::try_from(most).unwrap_or(usize::MAX).min(out.len());
        self.buffer.peek_behind(behind, &mut out[..most])
    }

    /// Handles the room that the application made by reading `taken` bytes: the buffer may grow, and the peer may need an update.
    /// Returns the new size of the receive window if it has grown.
    pub fn on_consumed(&mut self, cfg: &Config, state: State, now: Instant, taken: u64) -> Option<Bytes> {
        let lent = Lent { config: &cfg.receive.window, limit: self.window.limit(), rmss: self.rmss };
        let buffer = self.autotune.buffer();
        let grown = self.autotune.on_consumed(&lent, now, taken);
        self.grow(grown);
        self.release_frames(&cfg.receive, Some(self.autotune.buffer()).filter(|now| *now > buffer));
        let all_read = self.buffer.readable() == 0 && self.assembler.block_count() == 0;
        if all_read {
            self.buffer.release_if_empty();
        }
        if self.policy.on_read(self.rmss, all_read) {
            self.due_ack();
        }
        let may_grow = state.may_receive() || state == State::SynReceived;
        if may_grow && self.window_update_due(&cfg.receive) {
            self.due_ack();
        }
        grown
    }

    /// Makes ACKs leave sooner or later from now on; later traffic may change this again. A waiting ACK may leave now, in a state
    /// in which an ACK can.
    pub fn set_ack_pace(&mut self, state: State, pace: AckPace) {
        let all_read = self.buffer.readable() == 0;
        let now = self.policy.set_pace(pace, self.rmss, all_read);
        self.due_ack_if(now && matches!(state, State::Established | State::CloseWait));
    }

    /// Returns the delay of ACKs in force.
    pub fn ack_delay(&self, config: &AckConfig) -> Duration {
        self.policy.delay(config)
    }

    /// Returns whether a reply of the application is likely to carry the ACK.
    pub fn expects_reply(&self) -> bool {
        self.policy.expects_reply()
    }

    /// Returns the bytes of the largest segment that the peer has sent; zero before the first.
    pub fn largest_segment(&self) -> Bytes {
        self.policy.largest()
    }

    /// Returns the size of the receive window with an empty buffer, in bytes.
    pub fn window_limit(&self) -> Bytes {
        self.window.limit()
    }

    /// Returns the receiver's estimate of the round trip.
    pub fn rtt(&self) -> Option<Duration> {
        self.autotune.rtt()
    }

    /// Returns the most bytes that the application took in one round trip.
    pub fn taken_in_round_trip(&self) -> Bytes {
        self.autotune.space()
    }

    /// Returns whether ACKs currently leave quickly or wait for replies.
    pub fn ack_pace(&self) -> AckPace {
        self.policy.pace()
    }
}
