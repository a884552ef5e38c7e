//! Tests of leaves and of the table of all of them.

use super::*;
use crate::leaves::LEAVES;
use crate::lookup::find;
use std::collections::BTreeSet;
use tcp::config::{KeepAliveConfig, OptionsConfig, ReceiveConfig, RetryConfig, SendConfig, TimersConfig};
use test_case::test_case;

/// Configurations that together have every kind.
fn every_kind() -> Vec<Config> {
    let mut configs = vec![Config::default()];
    for leaf in LEAVES.iter().filter(|leaf| leaf.is_kind()) {
        let Access::Choice { words, .. } = &leaf.access else { panic!("a kind is a choice") };
        for word in *words {
            let mut config = Config::default();
            leaf.write(&mut config, word).unwrap();
            configs.push(config);
        }
    }
    configs
}

#[test]
fn every_leaf_applies_to_some_kind_and_what_it_shows_it_reads_back() {
    let mut seen = BTreeSet::new();
    for config in every_kind() {
        for leaf in LEAVES {
            let Some(text) = leaf.read(&config) else { continue };
            seen.insert(leaf.path);
            let mut copy = config.clone();
            leaf.write(&mut copy, &text).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(leaf.read(&copy), Some(text), "{}", leaf.path);
        }
    }
    assert_eq!(seen.len(), LEAVES.len());
}

#[test]
fn every_choice_reads_back_as_it_was_written() {
    for leaf in LEAVES {
        let Access::Choice { words, .. } = &leaf.access else { continue };
        let applies = every_kind().into_iter().find(|config| leaf.read(config).is_some());
        for word in *words {
            let mut config = applies.clone().expect("it applies to some kind");
            leaf.write(&mut config, &word.to_uppercase()).unwrap();
            assert_eq!(leaf.read(&config).as_deref(), Some(*word));
        }
    }
}

#[test]
fn writing_a_leaf_changes_no_other() {
    for config in every_kind() {
        for leaf in LEAVES.iter().filter(|leaf| !leaf.is_kind()) {
            let Access::Quantity { unit, place } = &leaf.access else { continue };
            let mut changed = config.clone();
            if place(&mut changed).is_none() {
                continue;
            }
            let text = if *unit == Unit::Time {
                "77ms"
            } else if *unit == Unit::Share {
                "0.77"
            } else {
                "77"
            };
            leaf.write(&mut changed, text).unwrap();
            let differing = LEAVES.iter().filter(|other| other.read(&config) != other.read(&changed));
            assert_eq!(differing.map(|other| other.path).collect::<Vec<_>>(), [leaf.path]);
        }
    }
}

#[test]
fn paths_are_unique_and_kinds_stand_before_what_depends_on_them() {
    let paths: BTreeSet<&str> = LEAVES.iter().map(|leaf| leaf.path).collect();
    assert_eq!(paths.len(), LEAVES.len());
    for (index, leaf) in LEAVES.iter().enumerate() {
        if let Some(kind) = leaf.kind_leaf() {
            assert!(LEAVES[..index].iter().any(|before| before.path == kind.path), "{}", leaf.path);
        }
    }
}

/// Each change of a kind, from every kind: what both kinds have stays, whatever its value, and what only the new one has is
/// its default.
#[test]
fn a_changed_kind_keeps_every_leaf_that_the_new_kind_has_too() {
    let mut kept = BTreeSet::new();
    for kind in LEAVES.iter().filter(|leaf| leaf.is_kind()) {
        let Access::Choice { words, .. } = &kind.access else { panic!("a kind is a choice") };
        for (from, to) in words.iter().flat_map(|from| words.iter().map(move |to| (from, to))) {
            let [mut before, mut defaults] = [Config::default(), Config::default()];
            kind.write(&mut before, from).unwrap();
            for leaf in kind.dependents() {
                set_apart(leaf, &mut before);
            }
            kind.write(&mut defaults, to).unwrap();
            let mut after = before.clone();
            kind.write(&mut after, to).unwrap();
            for leaf in kind.dependents() {
                let (had, has) = (leaf.read(&before), leaf.read(&after));
                if has.is_some() && had.is_some() {
                    assert_eq!(has, had, "{}: {from} to {to}", leaf.path);
                    kept.extend((from != to).then_some(leaf.path));
                } else {
                    assert_eq!(has.is_some(), leaf.read(&defaults).is_some(), "{}: {from} to {to}", leaf.path);
                }
            }
        }
    }
    for path in ["cc.slow_start.limit_segments", "cc.avoidance.beta", "recovery.detector.dup_thresh"] {
        assert!(kept.contains(path), "{kept:?}");
    }
}

/// Gives a leaf that applies a value that differs from every kind's default.
fn set_apart(leaf: &Leaf, config: &mut Config) {
    match &leaf.access {
        Access::Choice { words, .. } => {
            let _ = leaf.write(config, words.last().expect("a choice has words"));
        }
        Access::Quantity { unit, .. } => {
            let _ = leaf.write(
                config,
                if *unit == Unit::Time {
                    "77ms"
                } else if *unit == Unit::Share {
                    "0.77"
                } else {
                    "77"
                },
            );
        }
    }
}

#[test_case("rto.mim", "300ms", "there is no leaf `rto.mim`: did you mean `rto.min`?")]
#[test_case(
    "rto.min",
    "300",
    "`rto.min`: `300` is not a valid duration: use a number and one of ns, us, ms, s, min, h, for example `25ms`"
)]
#[test_case("send.nagle", "maybe", "`send.nagle`: `maybe` is not among its choices: `rfc896`, `minshall`, `off`")]
#[test_case("receive.window.max", "5GB", "`receive.window.max`: `5GB` is too large")]
#[test_case(
    "receive.window.bytes",
    "1MB",
    "`receive.window.bytes` does not apply while `receive.window.kind` is `auto_tuned`"
)]
fn what_is_wrong_is_said(path: &str, text: &str, message: &str) {
    let error = find(path).and_then(|leaf| leaf.write(&mut Config::default(), text)).unwrap_err();
    assert_eq!(error.to_string(), message);
}

fn every_field_of_sending(send: SendConfig) {
    let SendConfig {
        buffer: _,
        growth: _,
        accounting: _,
        notsent_lowat: _,
        segmenter: _,
        push: _,
        nagle: _,
        cork: _,
        sws_override: _,
        persist_max: _,
        window_probe: _,
        shrinking: _,
    } = send;
    let tcp::config::ChunksConfig { bytes_max: _, win_divisor: _, min_segments: _, rtt_halving: _, refill: _ } =
        Default::default();
}

fn every_field_of_patience(retries: RetryConfig, keepalive: KeepAliveConfig) {
    let RetryConfig {
        notify: _,
        data: _,
        limit: _,
        orphan: _,
        syn: _,
        syn_linear: _,
        syn_ack: _,
        user_timeout: _,
        counted_from: _,
        farewell: _,
        refused: _,
    } = retries;
    match keepalive {
        KeepAliveConfig::Off | KeepAliveConfig::On { idle: _, interval: _, count: _ } => {}
    }
}

fn every_field_of_handshakes(handshake: tcp::config::HandshakeConfig) {
    let tcp::config::HandshakeConfig {
        syn_data: _,
        defer_accept: _,
        cookies: _,
        wrong_ack: _,
        syn_fin: _,
        syn_ack_answer: _,
    } = handshake;
}

/// A field added to the configuration makes this stop compiling: give it a leaf in `leaves.rs`, and then a name here.
#[test]
fn every_field_of_the_configuration_has_been_thought_of() {
    let Config {
        cc,
        recovery,
        rto,
        rtt,
        retries,
        keepalive,
        ack,
        receive,
        send,
        options,
        ecn,
        challenge,
        handshake,
        fastopen,
        timers,
        ip,
        path_mtu,
        icmp,
    } = Config::default();
    controls_have_been_thought_of(cc, recovery, rto, rtt);
    every_field_of_patience(retries, keepalive);
    let tcp::config::AckConfig {
        delay: _,
        timer: _,
        delay_max: _,
        every_segments: _,
        quick_segments: _,
        quick_again: _,
    } = ack;
    let ReceiveConfig {
        window: _,
        reassembly_max: _,
        rounding: _,
        spare_segments: _,
        accounting: _,
        urgent: _,
        urgent_pointer: _,
    } = receive;
    every_field_of_sending(send);
    let OptionsConfig { sack: _, timestamps: _, timestamps_missing: _, window_scale: _, mss_max: _, syn_ack_echo: _ } =
        options;
    let tcp::config::EcnConfig { negotiation: _, syn_again: _, response: _, mark_beta: _ } = ecn;
    every_field_of_handshakes(handshake);
    let tcp::config::ChallengeConfig { limit: _, interval: _, unsent_ack: _ } = challenge;
    let tcp::config::FastOpenConfig { client: _, server: _, pending_max: _, pause: _ } = fastopen;
    let TimersConfig { granularity: _, time_wait: _, time_wait_reset: _, time_wait_reuse: _, fin_wait_2: _ } = timers;
    let tcp::config::IpConfig { ttl: _, dscp: _ } = ip;
    let tcp::config::PathMtuConfig {
        discovery: _,
        min_v4: _,
        unsaid: _,
        announced: _,
        raise_after: _,
        probing: _,
        base_mss: _,
        search_end: _,
        search_again: _,
        black_hole_timeouts: _,
    } = path_mtu;
    let tcp::config::IcmpConfig { opening: _ } = icmp;
    assert!(LEAVES.len() >= 29, "a leaf for each of these fields, and the kinds' own");
}

/// The parts of the test above that other crates own.
fn controls_have_been_thought_of(
    cc: cc::CcConfig,
    recovery: recovery::RecoveryConfig,
    rto: recovery::rto::RtoConfig,
    rtt: recovery::rtt::RttConfig,
) {
    let cc::CcConfig {
        initial_window,
        slow_start: _,
        avoidance: _,
        pacing: _,
        validation: _,
        idle_restart: _,
        growth: _,
    } = cc;
    let cc::InitialWindow { segments: _, bytes_max: _ } = initial_window;
    let recovery::RecoveryConfig {
        detector: _,
        blocks: _,
        reduction: _,
        probe,
        undo,
        limited_transmit: _,
        lost_retransmission: _,
    } = recovery;
    let recovery::TlpConfig { max_ack_delay: _, pto_min: _, after_ack: _ } = probe.unwrap_or_default();
    let recovery::UndoConfig { dsack: _, eifel: _, frto: _, further_round_trips: _ } = undo;
    let recovery::rto::RtoConfig { initial: _, min: _, max: _, granularity: _, max_bound: _ } = rto;
    let recovery::rtt::RttConfig { min_rtt_window: _, gains: _, variation: _, syn_echo: _, overtaking: _ } = rtt;
}

#[test_case("hystart", 8)]
#[test_case("hystart_pp_css", 7)]
#[test_case("hystart_pp_lss", 7)]
fn every_bound_of_a_slow_start_has_a_leaf_of_that_path(kind: &str, bounds: usize) {
    let mut config = Config::default();
    find("cc.slow_start.kind").unwrap().write(&mut config, kind).unwrap();
    for leaf in LEAVES.iter().filter(|leaf| leaf.path.starts_with("cc.slow_start.")) {
        if let Access::Quantity { unit, .. } = leaf.access {
            // What does not apply to this kind is not set.
            let _ = leaf.write(&mut config, if unit == Unit::Time { "0ns" } else { "0" });
        }
    }
    let errors = config.validate().unwrap_err();
    assert_eq!(errors.len(), bounds, "{errors:?}");
    assert!(errors.iter().all(|error| find(error.path).is_ok()), "{errors:?}");
}

#[test]
fn every_bound_that_the_core_checks_has_a_leaf_of_that_path() {
    let mut config = Config::default();
    config.cc.initial_window.segments = 0;
    config.rto.min = Duration::ZERO;
    config.rtt.min_rtt_window = Duration::ZERO;
    config.retries = RetryConfig {
        notify: 0,
        data: 0,
        syn: 0,
        syn_ack: 0,
        user_timeout: Some(Duration::ZERO),
        refused: Some(Duration::ZERO),
        ..RetryConfig::default()
    };
    config.keepalive = KeepAliveConfig::On { idle: Duration::ZERO, interval: Duration::ZERO, count: 0 };
    config.ack.every_segments = 0;
    config.ack.timer = tcp::config::AckTimer::Adaptive;
    config.receive.spare_segments = 65;
    config.ack.delay = Duration::from_secs(1);
    config.send.buffer = 0;
    config.send.sws_override = Duration::ZERO;
    config.send.persist_max = Duration::ZERO;
    config.options.mss_max = Some(1);
    config.ecn.mark_beta = tcp::config::MarkBeta::Own { beta: base::Ratio::ZERO };
    config.ip = tcp::config::IpConfig { ttl: 0, dscp: 64 };
    config.path_mtu.min_v4 = 67;
    config.path_mtu.raise_after = Duration::ZERO;
    (config.path_mtu.base_mss, config.path_mtu.search_end, config.path_mtu.black_hole_timeouts) = (47, 0, 0);
    find("receive.window.max").unwrap().write(&mut config, "0").unwrap();
    find("options.window_scale.kind").unwrap().write(&mut config, "shift").unwrap();
    find("options.window_scale.shift").unwrap().write(&mut config, "15").unwrap();
    find("recovery.detector.dup_thresh").unwrap().write(&mut config, "0").unwrap();
    let mut stepped = Config::default();
    for (path, text) in [
        ("receive.window.kind", "stepped"),
        ("receive.window.initial", "20MB"),
        ("receive.window.share", "0"),
        ("receive.window.factor_percent", "99"),
        ("options.window_scale.kind", "off"),
    ] {
        find(path).unwrap().write(&mut stepped, text).unwrap();
    }
    let mut errors = config.validate().unwrap_err();
    errors.extend(stepped.validate().unwrap_err());
    assert!(errors.len() >= 26, "{errors:?}");
    for error in errors {
        assert!(find(error.path).is_ok(), "{}", error.path);
    }
}
