//! A namespace made of files, and the settings that follow from them.

use super::*;
use recovery::rtt::RttVariation;
use recovery::undo::FrtoDetection;
use recovery::{DetectorConfig, DsackAdaptation};
use tcp::config::{
    Discovery, EcnNegotiation, EcnSynAgain, FastOpenClient, FastOpenServer, MtuProbing, ReceiveWindowConfig,
    SackConfig, SynCookies, TimeWaitReset, TimeWaitReuse, TimestampConfig, WindowScaleConfig,
};
use test_case::test_case;

/// What is read from a directory that contains these files.
pub(crate) fn namespace(files: &[(&str, &str)]) -> Sysctls {
    let root = tempfile::tempdir().expect("there is room for a few small files");
    for (name, content) in files {
        let path = root.path().join(name);
        std::fs::create_dir_all(path.parent().expect("every name has a directory")).expect("as above");
        std::fs::write(path, format!("{content}\n")).expect("as above");
    }
    Sysctls::read(root.path())
}

const RMEM: (&str, &str) = ("ipv4/tcp_rmem", "4096 131072 6291456");

fn linux() -> Config {
    Config::clone(profiles::get("linux").unwrap().config())
}

/// The linux profile in a namespace with one setting.
pub(crate) fn with(name: &str, value: &str) -> Config {
    let mut config = linux();
    namespace(&[(name, value)]).edit(&mut config);
    config.clone().validate().unwrap_or_else(|errors| panic!("{name} = {value}: {errors:?}"));
    config
}

#[test]
fn what_cannot_be_read_leaves_the_profile_in_force() {
    let mut config = linux();
    namespace(&[]).edit(&mut config);
    assert_eq!(config, linux());
}

#[test]
fn what_means_nothing_leaves_the_profile_in_force() {
    for (name, value) in [("ipv4/tcp_sack", "yes"), ("ipv4/tcp_ecn", "9"), ("ipv4/tcp_congestion_control", "bbr")] {
        assert_eq!(with(name, value), linux(), "{name}");
    }
}

#[test]
fn options_of_syns_follow() {
    assert_eq!(with("ipv4/tcp_sack", "0").options.sack, SackConfig::Off);
    let mut quiet = linux();
    namespace(&[("ipv4/tcp_sack", "1"), ("ipv4/tcp_dsack", "0")]).edit(&mut quiet);
    assert_eq!(quiet.options.sack, SackConfig::WithoutDuplicates);
    assert_eq!(with("ipv4/tcp_timestamps", "0").options.timestamps, TimestampConfig::Off);
    assert_eq!(with("ipv4/tcp_timestamps", "2").options.timestamps, TimestampConfig::Offer);
    let mut unscaled = linux();
    namespace(&[("ipv4/tcp_window_scaling", "0"), RMEM]).edit(&mut unscaled);
    assert_eq!(unscaled.options.window_scale, WindowScaleConfig::Off);
    assert_eq!(unscaled.receive.window.largest(), 65_535);
    assert_eq!(with("ipv4/tcp_ecn", "0").ecn.negotiation, EcnNegotiation::Off);
    assert_eq!(with("ipv4/tcp_ecn", "1").ecn.negotiation, EcnNegotiation::Offer);
    assert_eq!(with("ipv4/tcp_ecn", "2").ecn.negotiation, EcnNegotiation::Answer);
    assert_eq!(with("ipv4/tcp_ecn_fallback", "0").ecn.syn_again, EcnSynAgain::SameAgain);
}

#[test]
fn recovery_follows() {
    let detector = |bits: &str| with("ipv4/tcp_recovery", bits).recovery.detector;
    assert!(matches!(detector("0"), DetectorConfig::DupThresh(_)));
    assert!(
        matches!(detector("1"), DetectorConfig::Rack(rack) if rack.dsack == DsackAdaptation::On && rack.dup_thresh == 3)
    );
    assert!(matches!(detector("3"), DetectorConfig::Rack(rack) if rack.dsack == DsackAdaptation::Off));
    assert!(matches!(detector("5"), DetectorConfig::Rack(rack) if rack.dup_thresh == u32::MAX));
    assert!(with("ipv4/tcp_early_retrans", "0").recovery.probe.is_none());
    assert!(with("ipv4/tcp_early_retrans", "3").recovery.probe.is_some());
    assert_eq!(with("ipv4/tcp_frto", "0").recovery.undo.frto, FrtoDetection::Off);
    assert!(
        matches!(with("ipv4/tcp_reordering", "9").recovery.detector, DetectorConfig::Rack(rack) if rack.dup_thresh == 9)
    );
}

#[test]
fn times_follow() {
    let config = with("ipv4/tcp_rto_min_us", "50000");
    assert_eq!(config.rto.min, Duration::from_millis(50));
    assert_eq!(config.rtt.variation, RttVariation::RoundPeak { floor: Duration::from_millis(50) });
    let config = with("ipv4/tcp_rto_max_ms", "90000");
    assert_eq!((config.rto.max, config.send.persist_max), (Duration::from_secs(90), Duration::from_secs(90)));
    let short = with("ipv4/tcp_rto_max_ms", "1000").rto;
    assert_eq!((short.max, short.initial), (Duration::from_secs(1), Duration::from_secs(1)));
    assert_eq!(with("ipv4/tcp_fin_timeout", "3").timers.fin_wait_2, Duration::from_secs(3));
    assert_eq!(with("ipv4/tcp_min_rtt_wlen", "7").rtt.min_rtt_window, Duration::from_secs(7));
    assert_eq!((with("ipv4/tcp_syn_retries", "2").retries.syn, with("ipv4/tcp_retries2", "8").retries.data), (2, 8));
}

#[test]
fn retries_follow() {
    let retries = with("ipv4/tcp_retries1", "4").retries;
    assert_eq!((retries.notify, retries.data), (4, linux().retries.data));
    assert_eq!(with("ipv4/tcp_synack_retries", "2").retries.syn_ack, 2);
    assert_eq!(with("ipv4/tcp_syn_linear_timeouts", "0").retries.syn_linear, 0);
    assert_eq!(with("ipv4/tcp_orphan_retries", "0").retries.orphan, Some(8));
    assert_eq!(with("ipv4/tcp_orphan_retries", "3").retries.orphan, Some(3));
}

#[test]
fn the_path_follows() {
    assert_eq!(with("ipv4/ip_default_ttl", "9").ip.ttl, 9);
    assert_eq!(with("ipv4/ip_no_pmtu_disc", "1").path_mtu.discovery, Discovery::Off);
    let probing = |mode: &str| with("ipv4/tcp_mtu_probing", mode).path_mtu.probing;
    assert_eq!(
        (probing("0"), probing("1"), probing("2")),
        (MtuProbing::Off, MtuProbing::AfterBlackHole, MtuProbing::Always)
    );
    assert_eq!(with("ipv4/tcp_base_mss", "900").path_mtu.base_mss, 900);
    assert_eq!(with("ipv4/tcp_probe_threshold", "16").path_mtu.search_end, 16);
    assert_eq!(with("ipv4/tcp_probe_interval", "7").path_mtu.search_again, Duration::from_secs(7));
    assert_eq!(with("ipv4/route/min_pmtu", "600").path_mtu.min_v4, 600);
    assert_eq!(with("ipv4/route/mtu_expires", "8").path_mtu.raise_after, Duration::from_secs(8));
    assert_eq!(with("ipv4/tcp_invalid_ratelimit", "250").challenge.interval, Duration::from_millis(250));
    assert_eq!(with("ipv4/tcp_invalid_ratelimit", "0").challenge.limit, u32::MAX);
}

#[test_case("0" => (FastOpenClient::Off, FastOpenServer::Off, 0))]
#[test_case("1" => (FastOpenClient::WithCookie, FastOpenServer::Off, 0))]
#[test_case("3" => (FastOpenClient::WithCookie, FastOpenServer::WithCookie, 0))]
#[test_case("519" => (FastOpenClient::WithoutCookie, FastOpenServer::WithoutCookie, 0); "cookies are not needed")]
fn fast_open_follows(bits: &str) -> (FastOpenClient, FastOpenServer, u32) {
    let fastopen = with("ipv4/tcp_fastopen", bits).fastopen;
    (fastopen.client, fastopen.server, fastopen.pending_max)
}

#[test]
fn every_listener_may_take_data_from_syns() {
    let mut config = linux();
    namespace(&[("ipv4/tcp_fastopen", "1026"), ("core/somaxconn", "77")]).edit(&mut config);
    assert_eq!(config.fastopen.pending_max, 77);
}

#[test]
fn a_key_may_have_one_before_it() {
    let keys = |text| namespace(&[("ipv4/tcp_fastopen_key", text)]).fast_open_keys();
    let two = keys("00000001-00000000-00000000-00000000,00000002-00000000-00000000-00000000").unwrap();
    assert_eq!((two.current[0], two.previous.map(|key| key[0])), (1, Some(2)));
    assert_eq!((keys("nonsense"), keys("1-2-3")), (None, None));
}

#[test]
fn time_wait_follows() {
    assert_eq!(with("ipv4/tcp_rfc1337", "0").timers.time_wait_reset, TimeWaitReset::Ends);
    assert_eq!(with("ipv4/tcp_rfc1337", "1").timers.time_wait_reset, TimeWaitReset::Ignored);
    let reuse = |mode: &str| with("ipv4/tcp_tw_reuse", mode).timers.time_wait_reuse;
    assert_eq!(reuse("1"), TimeWaitReuse::After(Duration::from_secs(1)));
    assert_eq!((reuse("0"), reuse("2")), (TimeWaitReuse::Never, TimeWaitReuse::Never));
}

#[test]
fn syn_cookies_follow() {
    let cookies = |mode: &str| with("ipv4/tcp_syncookies", mode).handshake.cookies;
    assert_eq!(["0", "1", "2"].map(cookies), [SynCookies::Off, SynCookies::WhenFull, SynCookies::Always].map(Some));
}

#[test]
fn an_algorithm_is_chosen_by_its_name() {
    assert!(matches!(with("ipv4/tcp_congestion_control", "reno").cc.avoidance, cc::AvoidanceConfig::Reno(_)));
    assert_eq!(with("ipv4/tcp_congestion_control", "cubic").cc, linux().cc);
}

// The kernel's documentation and what SYNs of a kernel with these settings show.
#[test_case("4096 131072 6291456" => (65_536, 3_145_728, 7); "the kernel's defaults")]
#[test_case("4096 131072 15728640" => (65_536, 7_864_320, 8); "packetdrill's defaults")]
#[test_case("4096 131072 33554432" => (65_536, 16_777_216, 10); "32 MiB")]
#[test_case("4096 8192 16384" => (4_096, 8_192, 2); "as little as the administrator's own maximum allows")]
fn the_receive_buffer_gives_window_and_shift(rmem: &str) -> (u32, u32, u8) {
    let config = with("ipv4/tcp_rmem", rmem);
    let (ReceiveWindowConfig::Drs(bounds), WindowScaleConfig::Shift(shift)) =
        (config.receive.window, config.options.window_scale)
    else {
        panic!("{config:?}")
    };
    (bounds.initial, bounds.max, shift)
}

#[test]
fn without_moderation_the_window_stays() {
    let mut config = linux();
    namespace(&[("ipv4/tcp_moderate_rcvbuf", "0"), RMEM]).edit(&mut config);
    assert!(matches!(config.receive.window, ReceiveWindowConfig::Drs(bounds) if bounds.initial == bounds.max));
}
