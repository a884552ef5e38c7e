//! What options change in a connection's settings.

use super::names::{TCP_DELACK_MAX_US, TCP_RTO_MAX_MS, TCP_RTO_MIN_US};
use super::{Effect, Options, congestion};
use crate::sysctl::{set_rto_max, set_rto_min};
use base::Duration;
use libc::*;
use tcp::config::{Config, KeepAliveConfig, NagleConfig};

/// What setting an option to this number asks for.
pub(super) fn of(level: c_int, name: c_int, kept: c_int) -> Effect {
    match (level, name, kept) {
        (SOL_TCP, TCP_NODELAY, 1) | (SOL_TCP, TCP_CORK, 0) => Effect::Push,
        (SOL_TCP, TCP_QUICKACK, 1) => Effect::Acknowledge,
        (SOL_TCP | SOL_IP | SOL_IPV6, ..) | (SOL_SOCKET, SO_KEEPALIVE, _) => Effect::Settings,
        _ => Effect::Kept,
    }
}

impl Options {
    /// A connection's settings: the base with what the application has set on top.
    pub fn config(&self) -> Config {
        let mut config = Config::clone(&self.base);
        self.edit_sending(&mut config);
        self.edit_times(&mut config);
        if self.buffers != super::Buffers::new(&self.sysctls) {
            self.buffers.edit(&mut config);
        }
        if let Some(name) = self.congestion {
            congestion::choose(&mut config, name);
        }
        config
    }

    fn edit_sending(&self, config: &mut Config) {
        if self.is_on(SOL_TCP, TCP_NODELAY) {
            config.send.nagle = NagleConfig::Off;
        }
        if self.user_mss > 0 {
            config.options.mss_max = Some(config.options.mss_max.map_or(self.user_mss, |max| max.min(self.user_mss)));
        }
    }

    fn edit_times(&self, config: &mut Config) {
        if let Some(count) = self.set_number(SOL_TCP, TCP_SYNCNT) {
            config.retries.syn = count as u32;
        }
        if let Some(us) = self.set_number(SOL_TCP, TCP_RTO_MIN_US) {
            set_rto_min(config, Duration::from_micros(us as u64));
        }
        if let Some(ms) = self.set_number(SOL_TCP, TCP_RTO_MAX_MS) {
            set_rto_max(config, Duration::from_millis(ms as u64));
        }
        if let Some(us) = self.set_number(SOL_TCP, TCP_DELACK_MAX_US) {
            config.ack.delay = config.ack.delay.min(Duration::from_micros(us as u64));
        }
        if let Some(seconds) = self.set_number(SOL_TCP, TCP_LINGER2) {
            // Below zero there is no waiting.
            config.timers.fin_wait_2 = seconds_of(seconds);
        }
        if let Some(ms) = self.set_number(SOL_TCP, TCP_USER_TIMEOUT) {
            config.retries.user_timeout = (ms > 0).then(|| Duration::from_millis(ms.unsigned_abs().into()));
        }
        if self.is_on(SOL_SOCKET, SO_KEEPALIVE) {
            config.keepalive = KeepAliveConfig::On {
                idle: seconds_of(self.number(SOL_TCP, TCP_KEEPIDLE)),
                interval: seconds_of(self.number(SOL_TCP, TCP_KEEPINTVL)),
                count: self.number(SOL_TCP, TCP_KEEPCNT).unsigned_abs(),
            };
        }
    }
}

fn seconds_of(seconds: c_int) -> Duration {
    Duration::from_secs(seconds.max(0).unsigned_abs().into())
}
