//! How an unused congestion window shrinks (RFC 5681 §4.1, RFC 7661 §4.4), and what leaves after a pause.

use crate::testing::{MSS, Script, peer_options, quick};
use base::Duration;
use cc::{ClassicConfig, IdleRestart, PacingConfig, SlowStartConfig};
use test_case::test_case;

const RTT: Duration = Duration::from_millis(100);

fn at(segment: u32) -> u32 {
    1 + segment * MSS
}

/// Grows the window to forty segments with thirty of them; nothing is in flight.
fn grown(restart: IdleRestart, pacing: PacingConfig) -> Script {
    let mut cfg = quick();
    cfg.cc.slow_start = SlowStartConfig::Classic(ClassicConfig { limit_segments: None });
    (cfg.cc.idle_restart, cfg.cc.pacing) = (restart, pacing);
    let mut script = Script::connecting(cfg);
    script.pass(RTT);
    script.finish_handshake(peer_options());
    for (segments, acked) in [(10, 10), (20, 30)] {
        script.write(u64::from(segments * MSS));
        script.pass(RTT);
        script.ack(at(acked));
    }
    assert_eq!((script.info().cwnd, script.data().len()), (40 * MSS, 30));
    script
}

//= specs/rfc5681.md#restart-after-idle
//= type=test
//# After more than an RTO without sending, the window is no larger than the initial one.
#[test_case(-1, 40; "not within the timeout")]
#[test_case(0, 40; "not at its end")]
#[test_case(1, 10; "after it")]
#[test_case(3_600_000, 10; "after an hour")]
fn a_sender_that_was_silent_for_a_timeout_begins_with_the_initial_window(beyond_ms: i64, segments: usize) {
    let mut script = grown(IdleRestart::InitialWindow, PacingConfig::Off);
    // The last segments left a round trip ago.
    let pause_ms = script.info().rto.as_millis() as i64 - RTT.as_millis() as i64 + beyond_ms;
    script.pass(Duration::from_millis(pause_ms as u64));
    script.write(u64::from(60 * MSS));
    assert_eq!(script.data().len(), segments);
    assert!(script.info().ssthresh > 30 * MSS, "what is known of the path is not forgotten");
}

/// RFC 2861 §3.2, in timeouts of the pause and milliseconds beyond them.
#[test_case(1, 0, 40; "one timeout is none")]
#[test_case(1, 1, 20; "more than one")]
#[test_case(2, 0, 20; "two at most")]
#[test_case(2, 1, 10; "more than two")]
#[test_case(1_000, 0, 10; "many")]
fn a_window_is_halved_for_each_timeout_of_a_pause(timeouts: u64, beyond_ms: u64, segments: usize) {
    let mut script = grown(IdleRestart::HalvePerRto, PacingConfig::Off);
    // The last segments left a round trip ago.
    let pause_ms = script.info().rto.as_millis() * timeouts + beyond_ms - RTT.as_millis();
    script.pass(Duration::from_millis(pause_ms));
    script.write(u64::from(60 * MSS));
    assert_eq!(script.data().len(), segments);
}

#[test_case(IdleRestart::Off, 3_600, 40; "without limit")]
#[test_case(IdleRestart::HalvePerFiveMinutes, 299, 40; "five minutes")]
#[test_case(IdleRestart::HalvePerFiveMinutes, 302, 20; "half of it for five more")]
#[test_case(IdleRestart::HalvePerFiveMinutes, 3_600, 10; "and never less than the initial one")]
fn a_window_survives_silence_for(restart: IdleRestart, pause_s: u64, segments: usize) {
    let mut script = grown(restart, PacingConfig::Off);
    script.pass(Duration::from_secs(pause_s));
    script.write(u64::from(60 * MSS));
    assert_eq!(script.data().len(), segments);
}

#[test]
fn an_application_that_uses_little_of_its_window_loses_half_of_it_every_five_minutes() {
    let mut script = grown(IdleRestart::HalvePerFiveMinutes, PacingConfig::Off);
    // Something is in flight at every acknowledgement, so a pause never occurs.
    script.write(u64::from(MSS));
    let mut acked = 30;
    let mut use_little = |seconds: u32| {
        for _ in 0..5 * seconds {
            script.write(u64::from(MSS));
            script.pass(RTT * 2);
            acked += 1;
            script.ack(at(acked));
        }
        script.info().cwnd / MSS
    };
    assert_eq!((use_little(299), use_little(3)), (40, 20));
}

#[test]
fn what_leaves_after_a_pause_is_paced() {
    let pacing = PacingConfig::Window { slow_start_percent: 200, avoidance_percent: 125, quantum_segments: 10 };
    let mut script = grown(IdleRestart::Off, pacing);
    script.pass(Duration::from_secs(3_600));
    script.write(u64::from(60 * MSS));
    assert_eq!(script.data().len(), 10, "one bucket");
    script.pass(RTT / 4);
    // Forty segments at twice the window per round trip: twenty in a quarter of it.
    assert!((18..=20).contains(&script.data().len()));
    script.pass(RTT / 4);
    assert_eq!(script.info().flight_size, 40 * MSS);
}
