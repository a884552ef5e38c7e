//! The network namespace's settings (`/proc/sys/net`), as scripts change them before they open a socket.
//!
//! Read for each socket, because a script may change them in between. A setting that cannot be read, or whose value is not
//! understood, leaves the profile's in force. Their meaning is defined in the kernel's documentation, `ip-sysctl`.

mod edit;

pub(crate) use edit::apply;

use base::Duration;
use recovery::rto::MaxBound;
use std::collections::BTreeMap;
use std::path::Path;
use tcp::FastOpenKeys;
use tcp::config::Config;

/// Where the namespace exposes them.
const ROOT: &str = "/proc/sys/net";

/// The settings that are read: each is used below, or in the defaults of socket options.
const NAMES: &[&str] = &[
    "core/rmem_max",
    "core/somaxconn",
    "core/wmem_max",
    "ipv4/ip_default_ttl",
    "ipv4/ip_no_pmtu_disc",
    "ipv4/route/min_pmtu",
    "ipv4/route/mtu_expires",
    "ipv4/tcp_base_mss",
    "ipv4/tcp_congestion_control",
    "ipv4/tcp_dsack",
    "ipv4/tcp_early_retrans",
    "ipv4/tcp_ecn",
    "ipv4/tcp_ecn_fallback",
    "ipv4/tcp_fastopen",
    "ipv4/tcp_fastopen_blackhole_timeout_sec",
    "ipv4/tcp_fastopen_key",
    "ipv4/tcp_fin_timeout",
    "ipv4/tcp_frto",
    "ipv4/tcp_invalid_ratelimit",
    "ipv4/tcp_keepalive_intvl",
    "ipv4/tcp_keepalive_probes",
    "ipv4/tcp_keepalive_time",
    "ipv4/tcp_min_rtt_wlen",
    "ipv4/tcp_min_tso_segs",
    "ipv4/tcp_moderate_rcvbuf",
    "ipv4/tcp_mtu_probing",
    "ipv4/tcp_notsent_lowat",
    "ipv4/tcp_orphan_retries",
    "ipv4/tcp_probe_interval",
    "ipv4/tcp_probe_threshold",
    "ipv4/tcp_recovery",
    "ipv4/tcp_reordering",
    "ipv4/tcp_retries1",
    "ipv4/tcp_retries2",
    "ipv4/tcp_rfc1337",
    "ipv4/tcp_rmem",
    "ipv4/tcp_rto_max_ms",
    "ipv4/tcp_rto_min_us",
    "ipv4/tcp_sack",
    "ipv4/tcp_slow_start_after_idle",
    "ipv4/tcp_stdurg",
    "ipv4/tcp_syn_linear_timeouts",
    "ipv4/tcp_syn_retries",
    "ipv4/tcp_synack_retries",
    "ipv4/tcp_syncookies",
    "ipv4/tcp_timestamps",
    "ipv4/tcp_tso_rtt_log",
    "ipv4/tcp_tso_win_divisor",
    "ipv4/tcp_tw_reuse",
    "ipv4/tcp_tw_reuse_delay",
    "ipv4/tcp_window_scaling",
    "ipv4/tcp_wmem",
];

/// What could be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sysctls {
    words: BTreeMap<&'static str, String>,
}

impl Sysctls {
    /// The settings of this thread's namespace.
    pub fn of_namespace() -> Self {
        Self::read(Path::new(ROOT))
    }

    /// The settings below `root`.
    pub fn read(root: &Path) -> Self {
        let word =
            |&name: &&'static str| Some((name, std::fs::read_to_string(root.join(name)).ok()?.trim().to_owned()));
        Self { words: NAMES.iter().filter_map(word).collect() }
    }

    /// A setting as it is written.
    pub fn word(&self, name: &str) -> Option<&str> {
        self.words.get(name).map(String::as_str)
    }

    /// A setting that is one number.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.word(name)?.parse().ok()
    }

    /// A setting that consists of a minimum, a default and a maximum size.
    pub fn sizes(&self, name: &str) -> Option<[u32; 3]> {
        let sizes: Vec<u32> = self.word(name)?.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        sizes.try_into().ok()
    }

    /// A count, limited to what a socket supports.
    pub fn count(&self, name: &str, least: u32, most: u32) -> Option<u32> {
        u32::try_from(self.number(name)?).ok().map(|count| count.clamp(least, most))
    }

    /// A duration that is not zero.
    pub fn span(&self, name: &str, unit: impl Fn(u64) -> Duration) -> Option<Duration> {
        u64::try_from(self.number(name)?).ok().filter(|span| *span > 0).map(unit)
    }

    /// The keys with which the namespace makes cookies (`tcp_fastopen_key`): the current one, and perhaps the previous one.
    pub fn fast_open_keys(&self) -> Option<FastOpenKeys> {
        let mut keys = self.word("ipv4/tcp_fastopen_key")?.split(',').map(fast_open_key);
        Some(FastOpenKeys { current: keys.next()??, previous: keys.next().flatten() })
    }
}

/// Four words of eight hexadecimal digits; each is stored in the machine's byte order, lowest word first.
fn fast_open_key(text: &str) -> Option<[u8; 16]> {
    let mut key = [0; 16];
    let mut words = text.trim().split('-');
    for place in key.chunks_exact_mut(4) {
        place.copy_from_slice(&u32::from_str_radix(words.next()?, 16).ok()?.to_le_bytes());
    }
    Some(key)
}

/// How many unsent bytes may wait; the largest number means no limit.
pub(crate) fn notsent_lowat(bytes: i64) -> Option<u32> {
    u32::try_from(bytes).ok().filter(|bytes| (1..u32::MAX).contains(bytes))
}

/// The smallest timeout, which also limits from below what the variation adds.
pub(crate) fn set_rto_min(config: &mut Config, min: Duration) {
    config.rto.min = min.min(config.rto.max);
    if let recovery::rtt::RttVariation::RoundPeak { floor } = &mut config.rtt.variation {
        *floor = config.rto.min;
    }
}

/// The largest timeout, which also limits the interval of window probes. It may be smaller than RFC 6298 §2.5 allows, and also
/// limits the first timeout.
pub(crate) fn set_rto_max(config: &mut Config, max: Duration) {
    config.rto.max_bound = MaxBound::Free;
    config.rto.max = max.max(config.rto.min);
    config.rto.initial = config.rto.initial.min(config.rto.max);
    config.send.persist_max = config.rto.max;
}

#[cfg(test)]
pub(crate) mod tests;
