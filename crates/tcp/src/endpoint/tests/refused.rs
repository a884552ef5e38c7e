//! A local device that rejects packets, and accepts them again.

use crate::ConnEvent;
use crate::config::{Config, WindowProbe};
use crate::event::CloseReason;
use crate::info::Details;
use crate::testing::{MSS, Script, quick};
use base::Duration;
use test_case::test_case;

const HALF: Duration = Duration::from_millis(500);

/// Rejected data waits half a second; no tail probes, which would leave in between.
fn half_second_retries() -> Config {
    let mut cfg = quick();
    cfg.retries.refused = Some(HALF);
    cfg.send.window_probe = WindowProbe::Empty;
    cfg.recovery.probe = None;
    cfg
}

fn details(script: &Script) -> Details {
    script.stack.details(script.conn, script.now).expect("the connection exists")
}

/// A connection whose device rejects packets from now on.
fn refusing(cfg: Config) -> Script {
    let mut script = Script::established(cfg);
    script.stack.set_device_refuses(true);
    script
}

#[test]
fn refused_data_was_not_sent_and_is_tried_again_as_a_probe() {
    let mut script = refusing(half_second_retries());
    let rto = script.info().rto;
    script.write(300);
    script.pass(rto + HALF * 3);
    let report = details(&script);
    assert_eq!((report.window_probes, report.back_off, report.unsent, report.flight.outstanding), (4, 0, 300, 0));
    assert_eq!((script.sent(), script.info().counters.data_segments_sent), (vec![], 0));
    script.stack.set_device_refuses(false);
    script.pass(HALF / 2);
    assert_eq!(script.sent(), [], "until its time has come");
    script.pass(HALF / 2);
    assert_eq!(script.data(), [(1, 300)]);
    script.ack(301);
    assert_eq!((details(&script).window_probes, script.info().flight_size), (0, 0));
}

#[test]
fn a_write_or_a_segment_tries_refused_data_once_the_device_takes_it() {
    for by_write in [true, false] {
        let mut script = refusing(half_second_retries());
        script.write(300);
        script.stack.set_device_refuses(false);
        if by_write {
            script.write(100);
            assert_eq!(script.data(), [(1, 400)]);
        } else {
            script.ack(1);
            assert_eq!(script.data(), [(1, 300)]);
        }
        // The timer covers the flight as usual: unacknowledged data leaves again after a timeout.
        script.pass(script.info().rto);
        assert_eq!((script.data().len(), details(&script).window_probes), (1, 0));
    }
}

#[test]
fn a_refused_retransmission_is_not_in_flight_and_doubles_no_timeout() {
    let mut script = Script::established(half_second_retries());
    script.write(300);
    script.out.clear();
    script.stack.set_device_refuses(true);
    let rto = script.info().rto;
    script.pass(rto + HALF * 2);
    let report = details(&script);
    assert_eq!((report.consecutive_timeouts, report.back_off), (3, 0));
    assert_eq!((report.flight.lost, report.flight.retransmitted, script.info().pipe), (1, 0, 0));
    assert_eq!((script.sent(), script.info().counters.segments_retransmitted), (vec![], 0));
    script.stack.set_device_refuses(false);
    script.pass(HALF);
    assert_eq!((script.data(), details(&script).back_off), (vec![(1, 300)], 1));
    script.ack(301);
    assert_eq!(details(&script).consecutive_timeouts, 0);
}

#[test]
fn a_refused_fast_retransmission_leaves_with_the_next_acknowledgement() {
    let mut script = Script::established(half_second_retries());
    script.write(u64::from(8 * MSS));
    script.out.clear();
    script.stack.set_device_refuses(true);
    script.sack(1, &[(1 + MSS, 1 + 5 * MSS)]);
    assert_eq!((details(&script).flight.lost, details(&script).flight.retransmitted), (1, 0));
    script.stack.set_device_refuses(false);
    script.pass(Duration::ZERO);
    assert_eq!(script.sent(), []);
    script.sack(1, &[(1 + MSS, 1 + 6 * MSS)]);
    assert_eq!(script.data(), [(1, MSS)]);
}

#[test]
fn what_is_refused_for_longer_than_the_user_timeout_ends_the_connection() {
    let mut cfg = half_second_retries();
    cfg.retries.user_timeout = Some(HALF * 4);
    let mut script = refusing(cfg);
    script.write(300);
    script.pass(HALF * 7);
    assert!(script.saw(ConnEvent::Closed(CloseReason::TimedOut)));
}

/// Segments that leave when the device accepts packets again after 10 ms, including the ACK of received data.
#[test_case(Some(HALF) => 0; "the acknowledgement is lost")]
#[test_case(None => 0; "so it is where data is taken for sent")]
fn a_refused_acknowledgement_is_lost(refused: Option<Duration>) -> usize {
    let mut cfg = half_second_retries();
    cfg.retries.refused = refused;
    let mut script = refusing(cfg);
    let data = script.segment(wire::Flags::PSH, 1, Some(1));
    script.deliver(data, 100);
    script.pass(Duration::from_millis(10));
    script.out.clear();
    script.stack.set_device_refuses(false);
    script.pass(Duration::from_millis(10));
    script.sent().len()
}

#[test]
fn without_the_setting_refused_data_is_taken_for_sent() {
    let mut cfg = half_second_retries();
    cfg.retries.refused = None;
    let mut script = refusing(cfg);
    script.write(300);
    script.out.clear();
    assert_eq!((details(&script).flight.outstanding, details(&script).unsent), (1, 0));
    script.pass(script.info().rto);
    assert_eq!((details(&script).back_off, details(&script).consecutive_timeouts), (1, 1));
}

/// Milliseconds between the SYN's second and third departures, when the device rejects the second.
#[test]
fn a_refused_syn_is_tried_again_without_doubling() {
    let mut script = Script::connecting(half_second_retries());
    script.stack.set_device_refuses(true);
    script.out.clear();
    let rto = script.info().rto;
    script.pass(rto);
    assert_eq!(script.info().rto, rto);
    script.stack.set_device_refuses(false);
    script.pass(HALF);
    assert_eq!(script.sent().len(), 1);
}
