//! The only way from [`Config`] to [`ValidConfig`].

use super::SegmenterConfig; // variant: chunks
use super::{
    Config, KeepAliveConfig, MarkBeta, ReceiveAccounting, SendAccounting, SendGrowth, ValidConfig, WindowScaleConfig,
};
use crate::recv::{AckTimer, ReceiveWindowConfig};
use base::Duration;
use core::fmt;

/// One leaf that is out of bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Dotted path of the leaf, e.g. `rto.min`.
    pub path: &'static str,
    /// What is wrong, and which values are valid.
    pub problem: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.problem)
    }
}

impl core::error::Error for ConfigError {}

/// Largest window that RFC 7323 §2.3 can express.
const MAX_WINDOW: u32 = 1 << 30;
/// No chunk costs more than it can hold.
const MAX_COST: u32 = 1 << 16;
// variant: chunks {
/// Largest payload that an IP packet's length can express.
const MAX_FRAME: u32 = 65_535;
// variant: chunks }

impl Config {
    //= specs/rfc5681.md#acknowledging
    //# An ACK is delayed by less than 500 ms.
    /// Checks every leaf.
    ///
    /// # Errors
    /// Lists every leaf that is out of bounds, in the order of the fields.
    pub fn validate(self) -> Result<ValidConfig, Vec<ConfigError>> {
        let mut errors: Vec<ConfigError> = Vec::new();
        let found = [self.cc.problems(), self.recovery.problems(), self.rto.problems(), self.rtt.problems()];
        errors.extend(found.into_iter().flatten().map(|(path, problem)| ConfigError { path, problem }));
        let mut need = |holds: bool, path, problem: &str| {
            if !holds {
                errors.push(ConfigError { path, problem: problem.to_owned() });
            }
        };
        self.lifetime_problems(&mut need);
        need(self.challenge.limit >= 1, "challenge.limit", "must be at least 1");
        need(!self.challenge.interval.is_zero(), "challenge.interval", "must not be zero");
        need(
            self.ack.delay < Duration::from_millis(500) || self.ack.every_segments == 1,
            "ack.delay",
            "must be below 500ms (RFC 9293 §3.8.6.3)",
        );
        need(
            self.ack.timer == AckTimer::PerSegment || !self.ack.delay.is_zero(),
            "ack.delay",
            "must not be zero while ack.timer is heartbeat",
        );
        need(
            self.ack.delay_max >= self.ack.delay && self.ack.delay_max < Duration::from_millis(500)
                || self.ack.timer != AckTimer::Adaptive,
            "ack.delay_max",
            "must be at least ack.delay and below 500ms (RFC 9293 §3.8.6.3)",
        );
        need(self.ack.every_segments >= 1, "ack.every_segments", "must be at least 1");
        self.receive_window_problems(&mut need);
        need(self.receive.spare_segments <= 64, "receive.spare_segments", "must be at most 64");
        self.send_buffer_problems(&mut need);
        need(
            self.send.sws_override >= Duration::from_millis(100) && self.send.sws_override <= Duration::from_secs(1),
            "send.sws_override",
            "must be between 100ms and 1s (RFC 9293 §3.8.6.2.1)",
        );
        need(!self.send.persist_max.is_zero(), "send.persist_max", "must not be zero");
        if let WindowScaleConfig::Shift(shift) = self.options.window_scale {
            need(shift <= 14, "options.window_scale.shift", "must be at most 14 (RFC 7323 §2.3)");
            need(
                shift > 14 || self.receive.window.initial() >> shift >= 2,
                "options.window_scale.shift",
                "must leave the receive window at least two units of 2^shift bytes",
            );
        }
        need(self.fastopen.pause.is_none_or(|first| !first.is_zero()), "fastopen.pause.first", "must not be zero");
        if let MarkBeta::Own { beta } = self.ecn.mark_beta {
            need(!beta.is_zero(), "ecn.mark_beta.share", "must be greater than zero");
        }
        need(self.options.mss_max.is_none_or(|mss| mss >= 48), "options.mss_max", "must be at least 48");
        self.ip.problems(&mut need);
        self.path_mtu.problems(&mut need);
        if errors.is_empty() { Ok(ValidConfig::new(self)) } else { Err(errors) }
    }

    /// Checks the limits after which a connection gives up on a silent peer.
    fn lifetime_problems(&self, need: &mut impl FnMut(bool, &'static str, &str)) {
        let retries = &self.retries;
        need(retries.notify >= 3, "retries.notify", "must be at least 3 (RFC 9293 §3.8.3: R1)");
        need(retries.data >= 3, "retries.data", "must be at least 3 (RFC 9293 §3.8.3: R1)");
        need(retries.syn >= 1, "retries.syn", "must be at least 1");
        need(retries.syn_ack >= 1, "retries.syn_ack", "must be at least 1");
        let user_timeout = retries.user_timeout.is_none_or(|limit| !limit.is_zero());
        need(user_timeout, "retries.user_timeout", "must not be zero; none for no limit");
        let refused = retries.refused.is_none_or(|wait| !wait.is_zero());
        need(refused, "retries.refused", "must not be zero; none to take data for sent");
        if let KeepAliveConfig::On { idle, interval, count } = self.keepalive {
            need(!idle.is_zero(), "keepalive.idle", "must not be zero");
            need(!interval.is_zero(), "keepalive.interval", "must not be zero");
            need(count >= 1, "keepalive.count", "must be at least 1 (RFC 9293 §3.8.4: one lost answer proves nothing)");
        }
    }

    /// Checks the send buffer's size and its segmentation.
    fn send_buffer_problems(&self, need: &mut impl FnMut(bool, &'static str, &str)) {
        let room = 1..=MAX_WINDOW;
        need(room.contains(&self.send.buffer), "send.buffer", "must be between 1 byte and 1 GiB");
        need(self.send.notsent_lowat != Some(0), "send.notsent_lowat", "must be at least 1 byte, or absent");
        if let SendGrowth::WithWindow { max } = self.send.growth {
            need(room.contains(&max), "send.growth.max", "must be between 1 byte and 1 GiB");
        }
        if let SendAccounting::Chunks { head, record } = self.send.accounting {
            need(head <= MAX_COST, "send.accounting.head", "must be at most 64 KiB");
            need(record <= MAX_COST, "send.accounting.record", "must be at most 64 KiB");
        }
        // variant: chunks {
        if let SegmenterConfig::Chunks(chunks) = &self.send.segmenter {
            let sizes = 1..=MAX_FRAME;
            need(sizes.contains(&chunks.bytes_max), "send.segmenter.bytes_max", "must be between 1 and 65535 bytes");
            need(chunks.win_divisor >= 1, "send.segmenter.win_divisor", "must be at least 1");
            need(chunks.min_segments >= 1, "send.segmenter.min_segments", "must be at least 1");
            need(!chunks.rtt_halving.is_zero(), "send.segmenter.rtt_halving", "must not be zero");
        }
        // variant: chunks }
    }

    /// Checks the receive window, by itself and together with the shift that follows from it.
    fn receive_window_problems(&self, need: &mut impl FnMut(bool, &'static str, &str)) {
        match self.receive.window {
            ReceiveWindowConfig::Fixed { bytes } => need(
                (1..=MAX_WINDOW).contains(&bytes),
                "receive.window.bytes",
                "must be between 1 byte and 1 GiB (RFC 7323 §2.3)",
            ),
            ReceiveWindowConfig::AutoTuned(drs) | ReceiveWindowConfig::Drs(drs) => need(
                drs.initial >= 1 && drs.initial <= drs.max && drs.max <= MAX_WINDOW,
                "receive.window.max",
                "must be at least receive.window.initial and at most 1 GiB (RFC 7323 §2.3)",
            ),
            ReceiveWindowConfig::Stepped(stepped) => {
                need(
                    (1..=stepped.level.max()).contains(&stepped.initial),
                    "receive.window.initial",
                    "must be between 1 byte and what receive.window.level allows",
                );
                need(!stepped.share.is_zero(), "receive.window.share", "must be greater than zero");
                need(stepped.factor_percent >= 100, "receive.window.factor_percent", "must be at least 100");
                need(
                    self.options.window_scale == WindowScaleConfig::FromBuffer,
                    "options.window_scale.kind",
                    "must be from_buffer while receive.window.kind is stepped: the level decides",
                );
            }
        }
        if let ReceiveAccounting::Frames(frames) = &self.receive.accounting {
            let sizes = 1..=MAX_WINDOW;
            need(sizes.contains(&frames.buffer), "receive.accounting.buffer", "must be between 1 byte and 1 GiB");
            need(
                sizes.contains(&frames.buffer_max),
                "receive.accounting.buffer_max",
                "must be between 1 byte and 1 GiB",
            );
        }
        if let (WindowScaleConfig::FromBuffer, Some(shift)) = (self.options.window_scale, self.receive.window.shift()) {
            need(
                shift == 0 || self.receive.window.initial() >> shift >= 2,
                "receive.window.initial",
                "must be at least two units of 2^shift bytes, with the shift that the largest window needs",
            );
        }
    }
}
