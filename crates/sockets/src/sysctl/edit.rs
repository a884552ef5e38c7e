//! What the namespace's settings change in a connection's.

use super::{Sysctls, notsent_lowat, set_rto_max, set_rto_min};
use crate::options::{Buffers, Options, congestion};
use crate::settings::Settings;
use base::Duration;
use cc::IdleRestart;
use recovery::undo::FrtoDetection;
use recovery::{DetectorConfig, DsackAdaptation, DupThreshConfig};
use tcp::config::SegmenterConfig; // variant: chunks
use tcp::config::{
    Config, Discovery, EcnNegotiation, EcnSynAgain, FastOpenClient, FastOpenServer, MtuProbing, SackConfig, SynCookies,
    TimeWaitReset, TimeWaitReuse, TimestampConfig, UrgentPointer,
};

/// The profile whose settings these are.
const LINUX: &str = "linux";
/// Bits of `tcp_recovery`.
const RACK: i64 = 1;
const STATIC_REORDERING_WINDOW: i64 = 2;
const NO_DUP_THRESH: i64 = 4;
/// Bits of `tcp_fastopen`.
const FAST_OPEN_CLIENT: i64 = 1;
const FAST_OPEN_SERVER: i64 = 2;
const FAST_OPEN_CLIENT_NO_COOKIE: i64 = 4;
const FAST_OPEN_SERVER_NO_COOKIE: i64 = 0x200;
const FAST_OPEN_SERVER_ALL: i64 = 0x400;

/// Prepares a new socket's settings. The namespace's settings override the profile's only if the profile is Linux's: with them,
/// another system's profile would no longer model that system.
pub(crate) fn apply(config: &mut Config, settings: &mut Settings, profile: &profiles::Profile) {
    let sysctls = Sysctls::of_namespace();
    if goes_by_them(profile) {
        sysctls.edit(config);
    }
    settings.options = Options::new(config.clone(), sysctls);
}

fn goes_by_them(profile: &profiles::Profile) -> bool {
    [Some(profile.name.as_str()), profile.extends.as_deref()].contains(&Some(LINUX))
}

impl Sysctls {
    /// The namespace's settings, if the profile uses them.
    pub fn in_force(profile: &profiles::Profile) -> Option<Self> {
        goes_by_them(profile).then(Self::of_namespace)
    }

    /// Overrides the profile's settings with the namespace's.
    pub fn edit(&self, config: &mut Config) {
        self.edit_options(config);
        self.edit_recovery(config);
        self.edit_times(config);
        self.edit_bursts(config);
        if self.word("ipv4/tcp_rmem").is_some() {
            Buffers::new(self).edit(config);
        }
        self.edit_path(config);
        self.edit_fast_open(config);
        if self.number("ipv4/tcp_stdurg").is_some_and(|standard| standard != 0) {
            config.receive.urgent_pointer = UrgentPointer::Last;
        }
        if let Some(name) = self.word("ipv4/tcp_congestion_control") {
            congestion::choose(config, name);
        }
    }

    /// The IP header, the path MTU, and the rate limit of answers to out-of-place segments.
    fn edit_path(&self, config: &mut Config) {
        if let Some(ttl) = self.count("ipv4/ip_default_ttl", 1, 255) {
            config.ip.ttl = ttl as u8;
        }
        if let Some(off) = self.number("ipv4/ip_no_pmtu_disc") {
            config.path_mtu.discovery = if off == 0 { Discovery::On } else { Discovery::Off };
        }
        match self.number("ipv4/tcp_mtu_probing") {
            Some(0) => config.path_mtu.probing = MtuProbing::Off,
            Some(1) => config.path_mtu.probing = MtuProbing::AfterBlackHole,
            Some(_) => config.path_mtu.probing = MtuProbing::Always,
            None => {}
        }
        let path = &mut config.path_mtu;
        let bytes = |name, least| self.count(name, least, u32::from(u16::MAX)).map(|bytes| bytes as u16);
        path.base_mss = bytes("ipv4/tcp_base_mss", 48).unwrap_or(path.base_mss);
        path.search_end = bytes("ipv4/tcp_probe_threshold", 1).unwrap_or(path.search_end);
        path.min_v4 = bytes("ipv4/route/min_pmtu", 68).unwrap_or(path.min_v4);
        path.search_again = self.span("ipv4/tcp_probe_interval", Duration::from_secs).unwrap_or(path.search_again);
        path.raise_after = self.span("ipv4/route/mtu_expires", Duration::from_secs).unwrap_or(path.raise_after);
        match self.number("ipv4/tcp_invalid_ratelimit") {
            Some(0) => config.challenge.limit = u32::MAX,
            Some(ms) if ms > 0 => config.challenge.interval = Duration::from_millis(ms.unsigned_abs()),
            _ => {}
        }
    }

    /// Data in SYNs. The listener limits its pending connections itself, unless the namespace admits all.
    pub fn edit_fast_open(&self, config: &mut Config) {
        if let Some(pause) = self.number("ipv4/tcp_fastopen_blackhole_timeout_sec") {
            config.fastopen.pause = u64::try_from(pause).ok().filter(|s| *s > 0).map(Duration::from_secs);
        }
        let Some(bits) = self.number("ipv4/tcp_fastopen") else { return };
        config.fastopen.client = match (bits & FAST_OPEN_CLIENT != 0, bits & FAST_OPEN_CLIENT_NO_COOKIE != 0) {
            (false, _) => FastOpenClient::Off,
            (true, false) => FastOpenClient::WithCookie,
            (true, true) => FastOpenClient::WithoutCookie,
        };
        config.fastopen.server = match (bits & FAST_OPEN_SERVER != 0, bits & FAST_OPEN_SERVER_NO_COOKIE != 0) {
            (false, _) => FastOpenServer::Off,
            (true, false) => FastOpenServer::WithCookie,
            (true, true) => FastOpenServer::WithoutCookie,
        };
        let all = if bits & FAST_OPEN_SERVER_ALL != 0 { self.count("core/somaxconn", 0, u32::MAX) } else { Some(0) };
        config.fastopen.pending_max = all.unwrap_or(config.fastopen.pending_max);
    }

    /// What SYNs offer.
    fn edit_options(&self, config: &mut Config) {
        if let Some(sack) = self.number("ipv4/tcp_sack") {
            config.options.sack = match (sack, self.number("ipv4/tcp_dsack")) {
                (0, _) => SackConfig::Off,
                (_, Some(0)) => SackConfig::WithoutDuplicates,
                _ => SackConfig::Offer,
            };
        }
        if let Some(timestamps) = self.number("ipv4/tcp_timestamps") {
            config.options.timestamps = if timestamps == 0 { TimestampConfig::Off } else { TimestampConfig::Offer };
        }
        match self.number("ipv4/tcp_ecn") {
            Some(0) => config.ecn.negotiation = EcnNegotiation::Off,
            // From 3 on the kernel prefers AccECN (RFC 9768), and accepts this from a peer without it.
            Some(1 | 3) => config.ecn.negotiation = EcnNegotiation::Offer,
            Some(2 | 4 | 5) => config.ecn.negotiation = EcnNegotiation::Answer,
            _ => {}
        }
        match self.number("ipv4/tcp_ecn_fallback") {
            Some(0) => config.ecn.syn_again = EcnSynAgain::SameAgain,
            Some(_) => config.ecn.syn_again = EcnSynAgain::Plain,
            None => {}
        }
    }

    /// How losses are detected and spurious ones undone.
    fn edit_recovery(&self, config: &mut Config) {
        let recovery = &mut config.recovery;
        let mut dup_thresh = self.count("ipv4/tcp_reordering", 1, 1_000);
        if let Some(bits) = self.number("ipv4/tcp_recovery") {
            if bits & RACK == 0 {
                recovery.detector = DetectorConfig::DupThresh(DupThreshConfig::default());
            } else if let DetectorConfig::Rack(rack) = &mut recovery.detector {
                let fixed = bits & STATIC_REORDERING_WINDOW != 0;
                rack.dsack = if fixed { DsackAdaptation::Off } else { DsackAdaptation::On };
                if bits & NO_DUP_THRESH != 0 {
                    dup_thresh = Some(u32::MAX);
                }
            }
        }
        match (&mut recovery.detector, dup_thresh) {
            (DetectorConfig::DupThresh(detector), Some(count)) => detector.dup_thresh = count,
            (DetectorConfig::Rack(detector), Some(count)) => detector.dup_thresh = count,
            _ => {}
        }
        match self.number("ipv4/tcp_early_retrans") {
            // The other numbers requested early retransmit, which was removed, and no probes.
            Some(3 | 4) | None => {}
            Some(_) => recovery.probe = None,
        }
        if let Some(frto) = self.number("ipv4/tcp_frto") {
            recovery.undo.frto = if frto == 0 { FrtoDetection::Off } else { FrtoDetection::On };
        }
    }

    /// How writes become bursts, and how an unused window is reduced.
    fn edit_bursts(&self, config: &mut Config) {
        if let Some(restart) = self.number("ipv4/tcp_slow_start_after_idle") {
            config.cc.idle_restart = if restart == 0 { IdleRestart::Off } else { IdleRestart::HalvePerRto };
        }
        if let Some(bytes) = self.number("ipv4/tcp_notsent_lowat") {
            config.send.notsent_lowat = notsent_lowat(bytes);
        }
        // variant: chunks {
        let SegmenterConfig::Chunks(chunks) = &mut config.send.segmenter else { return };
        if let Some(divisor) = self.count("ipv4/tcp_tso_win_divisor", 0, u32::MAX) {
            // Zero selects another rule, which holds back little more than no rule at all.
            chunks.win_divisor = if divisor == 0 { u32::MAX } else { divisor };
        }
        chunks.min_segments = self.count("ipv4/tcp_min_tso_segs", 1, 65_535).unwrap_or(chunks.min_segments);
        if let Some(log) = self.count("ipv4/tcp_tso_rtt_log", 0, 31) {
            chunks.rtt_halving = Duration::from_micros(1 << log);
        }
        // variant: chunks }
    }

    /// Timeouts and retries.
    fn edit_times(&self, config: &mut Config) {
        if let Some(min) = self.span("ipv4/tcp_rto_min_us", Duration::from_micros) {
            set_rto_min(config, min);
        }
        if let Some(max) = self.span("ipv4/tcp_rto_max_ms", Duration::from_millis) {
            set_rto_max(config, max);
        }
        if let Some(window) = self.span("ipv4/tcp_min_rtt_wlen", Duration::from_secs) {
            config.rtt.min_rtt_window = window;
        }
        if let Some(wait) = self.span("ipv4/tcp_fin_timeout", Duration::from_secs) {
            config.timers.fin_wait_2 = wait;
        }
        self.edit_retries(config);
        self.edit_time_wait(config);
        match self.number("ipv4/tcp_syncookies") {
            Some(0) => config.handshake.cookies = Some(SynCookies::Off),
            Some(1) => config.handshake.cookies = Some(SynCookies::WhenFull),
            Some(_) => config.handshake.cookies = Some(SynCookies::Always),
            None => {}
        }
    }

    /// What may end TIME-WAIT early. Reuse for loopback alone has no effect: this host has no loopback.
    fn edit_time_wait(&self, config: &mut Config) {
        match self.number("ipv4/tcp_rfc1337") {
            Some(0) => config.timers.time_wait_reset = TimeWaitReset::Ends,
            Some(_) => config.timers.time_wait_reset = TimeWaitReset::Ignored,
            None => {}
        }
        let delay = self.number("ipv4/tcp_tw_reuse_delay").and_then(|ms| u64::try_from(ms).ok()).unwrap_or(1_000);
        match self.number("ipv4/tcp_tw_reuse") {
            Some(1) => config.timers.time_wait_reuse = TimeWaitReuse::After(Duration::from_millis(delay)),
            Some(_) => config.timers.time_wait_reuse = TimeWaitReuse::Never,
            None => {}
        }
    }

    /// When to give up on a silent peer. With fewer retransmissions of data, it would not count as retrying under RFC 9293.
    fn edit_retries(&self, config: &mut Config) {
        let retries = &mut config.retries;
        retries.notify = self.count("ipv4/tcp_retries1", 3, 255).unwrap_or(retries.notify);
        retries.data = self.count("ipv4/tcp_retries2", 3, 255).unwrap_or(retries.data);
        retries.syn = self.count("ipv4/tcp_syn_retries", 1, 127).unwrap_or(retries.syn);
        retries.syn_ack = self.count("ipv4/tcp_synack_retries", 1, 255).unwrap_or(retries.syn_ack);
        retries.syn_linear = self.count("ipv4/tcp_syn_linear_timeouts", 0, 127).unwrap_or(retries.syn_linear);
        if let Some(count) = self.count("ipv4/tcp_orphan_retries", 0, 255) {
            // Zero stands for a number that suffices for any peer that answers at all.
            retries.orphan = Some(if count == 0 { 8 } else { count });
        }
    }
}
