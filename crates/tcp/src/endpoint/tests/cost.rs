//! The cost of an endpoint: memory when idle, work per ACK with a large window.

use crate::Endpoint;
use crate::config::{ReceiveWindowConfig, WindowScaleConfig};
use crate::testing::{MSS, Script, peer_options, quick};
use ::recovery::DetectorConfig;
use cc::SlowStartConfig;
use test_case::test_case;
use wire::Options;

#[test_case(DetectorConfig::DupThresh(Default::default()), SlowStartConfig::default(); "dup_thresh")]
#[test_case(DetectorConfig::Rack(Default::default()), SlowStartConfig::default(); "rack")]
#[test_case(DetectorConfig::Rack(Default::default()), SlowStartConfig::HystartPpCss(Default::default()); "rack with hystart_pp")]
#[test_case(DetectorConfig::Rack(Default::default()), SlowStartConfig::Hystart(Default::default()); "rack with hystart")]
fn an_idle_endpoint_with_its_boxes_fits_into_one_kibibyte(detector: DetectorConfig, slow_start: SlowStartConfig) {
    let mut cfg = quick();
    cfg.recovery.detector = detector;
    cfg.recovery.probe = Some(Default::default());
    cfg.cc.slow_start = slow_start;
    let script = Script::established(cfg);
    let size = script.stack.endpoint(script.conn).map(Endpoint::state_size).expect("exists");
    println!("an idle endpoint: {} bytes, with its boxes: {size}", size_of::<Endpoint>());
    assert!(size <= 1024, "{size} bytes");
}

/// What BBR adds to an endpoint with a loss-based controller; the parts that a connection shares with others do not grow.
#[test]
fn an_endpoint_with_bbr_takes_half_a_kibibyte_more_in_a_box_of_its_own() {
    let size = |controller| {
        let mut cfg = quick();
        cfg.cc.controller = controller;
        let script = Script::established(cfg);
        script.stack.endpoint(script.conn).map(Endpoint::state_size).expect("exists")
    };
    let without = size(cc::ControllerConfig::LossBased);
    let with = size(cc::ControllerConfig::Bbr3(Default::default()));
    println!("an idle endpoint: {without} bytes with its boxes; BBR's takes {} more", with - without);
    assert!(without <= 1024 && with > without && with - without <= 768, "{with} beside {without} bytes");
}

/// The cost of pacing: the rate in the controller, and the bucket.
#[test]
fn a_paced_endpoint_takes_sixty_four_bytes_more() {
    let size = |pacing| {
        let mut cfg = quick();
        cfg.cc.pacing = pacing;
        let mut script = Script::established(cfg);
        script.write(1);
        script.ack(2);
        script.write(1);
        script.ack(3);
        script.stack.endpoint(script.conn).map(Endpoint::state_size).expect("exists")
    };
    let pacing = cc::PacingConfig::Window { slow_start_percent: 200, avoidance_percent: 125, quantum_segments: 10 };
    let (without, with) = (size(cc::PacingConfig::Off), size(pacing));
    assert!(with > without && with <= without + 64, "{with} beside {without} bytes");
}

#[test]
fn a_connection_that_had_a_large_flight_is_as_small_as_before_once_it_is_idle() {
    const SEGMENTS: u32 = 1_000;
    let mut cfg = quick();
    cfg.cc.initial_window = cc::InitialWindow::plain(SEGMENTS);
    cfg.options.window_scale = WindowScaleConfig::Shift(14);
    let mut script = Script::connecting(cfg);
    script.pass(base::Duration::from_millis(100));
    script.finish_handshake(Options { window_scale: Some(14), ..peer_options() });
    script.ack(1);
    let size = |script: &Script| script.stack.endpoint(script.conn).map(Endpoint::state_size).expect("exists");
    let idle = size(&script);
    script.write(u64::from(SEGMENTS) * u64::from(MSS));
    let sent = 1 + script.data().len() as u32 * MSS;
    assert_eq!(sent, 1 + SEGMENTS * MSS);
    script.pass(base::Duration::from_millis(100));
    script.ack(sent - MSS);
    assert!(size(&script) > idle + SEGMENTS as usize * 64, "{} bytes while a segment is in flight", size(&script));
    script.ack(sent);
    assert!(size(&script) > idle, "the next flight uses the memory");
    script.pass(base::Duration::from_secs(3));
    assert_eq!(size(&script), idle, "none has followed");
}

/// A window of 200,000 segments with a hole at its start: an ACK that SACKs one more segment, and an ACK that proves one lost,
/// must not iterate over the window.
#[test_case(DetectorConfig::DupThresh(Default::default()); "dup_thresh")]
#[test_case(DetectorConfig::Rack(Default::default()); "rack")]
fn an_ack_visits_only_what_it_newly_acknowledges_or_proves_lost(detector: DetectorConfig) {
    const SEGMENTS: u32 = 200_000;
    let mut cfg = quick();
    cfg.recovery.detector = detector;
    cfg.send.buffer = 1 << 30;
    cfg.cc.initial_window = cc::InitialWindow::plain(SEGMENTS);
    cfg.options.window_scale = WindowScaleConfig::Shift(14);
    cfg.receive.window = ReceiveWindowConfig::Fixed { bytes: 1 << 20 };
    let mut script = Script::connecting(cfg);
    script.pass(base::Duration::from_millis(100));
    script.finish_handshake(Options { window_scale: Some(14), ..peer_options() });
    script.ack(1);
    script.write(u64::from(SEGMENTS) * u64::from(MSS));
    assert_eq!(script.data().len(), SEGMENTS as usize);
    script.pass(base::Duration::from_millis(100));
    let visited = |script: &Script| script.stack.endpoint(script.conn).map(Endpoint::records_visited).expect("exists");
    let at = |n: u32| 1 + n * MSS;
    // All segments arrive except each hundredth: a long list of holes, one more segment at a time.
    let (mut worst, mut lost_before) = (0, 0);
    for n in 1..2_000 {
        if n % 100 == 0 {
            continue;
        }
        let before = visited(&script);
        let newest = n - n % 100;
        script.sack_unaudited(1, &[(at(newest.max(1).max(if newest == 0 { 1 } else { newest + 1 })), at(n + 1))]);
        let lost = script.info().counters.bytes_lost / u64::from(MSS);
        let sent = script.data().len() as u64;
        let work = visited(&script) - before;
        let useful = 1 + (lost - lost_before) + sent;
        lost_before = lost;
        worst = worst.max(work.saturating_sub(8 * useful));
        assert!(work <= 16 + 8 * useful, "segment {n}: {work} records visited for {useful}");
    }
    println!("records visited beyond eight for each useful one, worst ACK: {worst}");
}
