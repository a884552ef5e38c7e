//! Paths that are more than a pipe: a transfer over each comes through, and the path shows what it was asked for.

use longhaul_lab::run::{Backend, RunFailure};
use longhaul_lab::spec::Point;
use longhaul_lab::{Measured, Overrides, Plan, RunSpec, SimBackend, spec};
use test_case::test_case;

/// One run of `longhaul` over 10 Mbit/s and 50 ms with these settings.
fn spec_of(settings: &[&str]) -> RunSpec {
    let mut experiment = spec::builtin("wan").unwrap();
    let set = ["path.rate=10Mbit", "path.rtt=50ms", "flow.bytes=2MB"].iter().chain(settings);
    let set = set.map(|setting| (*setting).to_owned()).collect();
    let arms = vec!["longhaul".to_owned()];
    experiment.apply(&Overrides { set, arms, iterations: Some(1), ..Overrides::default() }).unwrap();
    Plan::new(experiment).unwrap().runs.remove(0)
}

fn run(settings: &[&str]) -> Measured {
    SimBackend.run(&spec_of(settings)).unwrap()
}

fn point(settings: &[&str]) -> Point {
    Point::clone(&spec_of(settings).point)
}

#[test_case(&["path.duplicate=10%"]; "copies")]
#[test_case(&["path.bursts=1%/4"]; "losses in bursts")]
#[test_case(&["path.policer=5Mbit/64kB"]; "a policer")]
#[test_case(&["path.release=1ms..5ms"]; "release in groups")]
#[test_case(&["path.changes=500ms rate=5Mbit + 1s outage=300ms + 1500ms rtt=20ms + 1600ms loss=1%"]; "a schedule")]
#[test_case(&["path.changes=500ms rtt=200ms"]; "a longer way")]
#[test_case(&["path.changes=500ms outage=2s", "path.queue=fq_codel"]; "an outage behind a managed queue")]
#[test_case(&["path.changes=500ms mtu=1400"]; "smaller packets")]
#[test_case(&["path.changes=0s mtu=576"]; "small packets from the beginning")]
#[test_case(&["path.changes=500ms mtu=600 + 600ms mtu=1500", "path.queue=fq_codel"]; "small packets for a while")]
#[test_case(&["path.model=leo every=500ms"]; "satellites")]
#[test_case(&["path.model=lte mean=8Mbit"]; "a cell")]
#[test_case(&["path.model=5g"]; "a cell of the fifth generation")]
#[test_case(&["path.model=wifi"]; "wifi")]
#[test_case(&["path.back.rate=100kbit"]; "a slow way back")]
#[test_case(&["path.back.rate=100kbit", "path.back.buffer=10pkt"]; "a slow way back with a short buffer")]
#[test_case(&["path.back.loss=10%"]; "lost ACKs")]
#[test_case(&["path.back.release=5ms"]; "ACKs in groups")]
#[test_case(&["path.back.thin=5ms"]; "fewer ACKs")]
#[test_case(&["path.back.thin=5ms", "path.back.rate=100kbit", "path.bursts=1%/4", "path.release=2ms"]; "all at once")]
fn a_transfer_comes_through(settings: &[&str]) {
    let (found, plain) = (run(settings), run(&[]));
    assert_eq!(found.bytes, 2_000_000);
    assert_ne!(found.elapsed_ns, plain.elapsed_ns, "the setting has no effect");
    let efficiency = found.efficiency(&point(settings));
    assert!(efficiency > 0.0 && efficiency <= 1.0, "{efficiency} of what no sender can beat");
}

#[test]
fn bursts_lose_packets() {
    assert!(run(&["path.bursts=1%/4"]).dropped > 4);
}

#[test]
fn a_report_of_a_smaller_largest_packet_is_believed_after_a_timeout() {
    let (found, plain) = (run(&["path.changes=1s mtu=1400"]), run(&[]));
    // The window is lost once. Larger packets got through before, so that a single timeout confirms the report (RFC 5927 §7.2).
    assert!(found.rtos.unwrap() <= 1 && found.dropped > plain.dropped + 10, "{found:?}");
    let later = found.elapsed_ns.saturating_sub(plain.elapsed_ns);
    assert!((100_000_000..1_000_000_000).contains(&later), "{later} ns");
    // From the beginning on, the SYN's answer is believed at once.
    let narrow = run(&["path.changes=0s mtu=1400"]);
    assert!(narrow.rtos == Some(0) && narrow.elapsed_ns < plain.elapsed_ns * 11 / 10, "{narrow:?}");
}

#[test]
fn a_sender_gets_through_a_black_hole_if_it_looks_for_one() {
    let hole = "path.changes=1s blackhole=1400";
    let RunFailure(stalled) = SimBackend.run(&spec_of(&[hole])).unwrap_err();
    assert!(stalled.contains("Stalled"), "{stalled}");
    let found = run(&[hole, "longhaul.path_mtu.probing=after_black_hole"]);
    assert!(found.rtos >= Some(3), "it takes several timeouts to suspect one: {found:?}");
}
