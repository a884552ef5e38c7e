//! How options change a connection's settings.

use super::names::{TCP_DELACK_MAX_US, TCP_RTO_MAX_MS, TCP_RTO_MIN_US};
use super::{Options, congestion};
use crate::sysctl::{Sysctls, notsent_lowat, set_rto_max, set_rto_min};
use base::Duration;
use libc::*;
use std::sync::Arc;
use tcp::FastOpenKeys;
use tcp::config::{
    Config, CorkConfig, DeferAccept, Discovery, FastOpenClient, FastOpenServer, KeepAliveConfig, NagleConfig,
    UrgentDelivery,
};

impl Options {
    /// The keys for cookies: a listener's own, or the namespace's.
    pub fn fast_open_keys(&self) -> Option<FastOpenKeys> {
        let key = |at: usize| self.fastopen_key.get(at..).and_then(|rest| rest.first_chunk::<16>()).copied();
        let own = key(0).map(|current| FastOpenKeys { current, previous: key(16) });
        own.or_else(|| self.sysctls.fast_open_keys())
    }

    /// A connection's settings for a listener with this backlog. Where every listener accepts data in SYNs, the backlog limits
    /// how many such connections may be pending.
    pub fn listening(&self, mut config: Config, backlog: u32) -> Config {
        if self.set_number(SOL_TCP, TCP_FASTOPEN).is_none() {
            config.fastopen.pending_max = config.fastopen.pending_max.min(backlog);
        }
        config
    }

    /// The namespace's Fast Open setting is read when a connection is opened, not when its socket was created.
    pub fn renew_fast_open(&mut self, sysctls: &Sysctls) {
        let mut base = Config::clone(&self.base);
        sysctls.edit_fast_open(&mut base);
        self.base = Arc::new(base);
    }

    /// A connection's settings: the base, overlaid with what the application has set.
    pub fn config(&self) -> Config {
        let mut config = Config::clone(&self.base);
        self.edit_sending(&mut config);
        self.edit_times(&mut config);
        self.edit_path(&mut config);
        self.edit_fast_open(&mut config);
        if self.is_on(SOL_SOCKET, SO_OOBINLINE) {
            config.receive.urgent = UrgentDelivery::InStream;
        }
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
        if self.is_on(SOL_TCP, TCP_CORK) {
            config.send.cork = CorkConfig::On;
        }
        // Zero means that the namespace's limit applies.
        if let Some(bytes) = self.set_number(SOL_TCP, TCP_NOTSENT_LOWAT).filter(|bytes| *bytes != 0) {
            config.send.notsent_lowat = notsent_lowat(bytes.into());
        }
        if self.user_mss > 0 {
            config.options.mss_max = Some(config.options.mss_max.map_or(self.user_mss, |max| max.min(self.user_mss)));
        }
    }

    /// The IP header and the path MTU; the options of an IPv6 socket take precedence.
    fn edit_path(&self, config: &mut Config) {
        let set = |v6, v4| self.set_number(SOL_IPV6, v6).or_else(|| self.set_number(SOL_IP, v4));
        if let Some(hops) = set(IPV6_UNICAST_HOPS, IP_TTL) {
            // A packet with a hop limit of zero does not leave the host.
            config.ip.ttl = hops.clamp(1, 255) as u8;
        }
        if let Some(service) = set(IPV6_TCLASS, IP_TOS) {
            config.ip.dscp = (service >> 2 & 0x3f) as u8;
        }
        match set(IPV6_MTU_DISCOVER, IP_MTU_DISCOVER) {
            Some(IP_PMTUDISC_WANT | IP_PMTUDISC_DO) => config.path_mtu.discovery = Discovery::On,
            Some(IP_PMTUDISC_PROBE) => config.path_mtu.discovery = Discovery::Deaf,
            // The interface's MTU without DF, regardless of what routers report.
            Some(_) => config.path_mtu.discovery = Discovery::Off,
            None => {}
        }
    }

    fn edit_fast_open(&self, config: &mut Config) {
        let fastopen = &mut config.fastopen;
        if let Some(pending) = self.set_number(SOL_TCP, TCP_FASTOPEN) {
            fastopen.pending_max = pending.unsigned_abs();
        }
        if self.is_on(SOL_TCP, TCP_FASTOPEN_NO_COOKIE) {
            if fastopen.client == FastOpenClient::WithCookie {
                fastopen.client = FastOpenClient::WithoutCookie;
            }
            if fastopen.server == FastOpenServer::WithCookie {
                fastopen.server = FastOpenServer::WithoutCookie;
            }
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
            // With a negative value the connection does not wait.
            config.timers.fin_wait_2 = seconds_of(seconds);
        }
        if let Some(seconds) = self.set_number(SOL_TCP, TCP_DEFER_ACCEPT) {
            let wait = (seconds > 0).then(|| DeferAccept::For(seconds_of(seconds)));
            config.handshake.defer_accept = wait.unwrap_or(DeferAccept::Off);
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
