//! An endpoint's reports about itself, each checked in a situation with known values.

use crate::testing::{MSS, Script, peer_options, quick, tso_device};
use crate::{CongestionState, Details, FlightSegments, Origin, RateLimit};
use base::Duration;

fn details(script: &Script) -> Details {
    script.stack.details(script.conn, script.now).expect("the connection exists")
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// The peer's ACK with this window.
fn ack_with_window(script: &mut Script, ack: u32, window: u16) {
    script.peer_window = window;
    script.ack(ack);
}

/// `len` bytes from the peer, from number `seq` on.
fn bring(script: &mut Script, seq: u32, len: u32) {
    let segment = script.segment(wire::Flags::NONE, seq, Some(1));
    script.deliver(segment, len);
}

const fn at(segment: u32) -> u32 {
    1 + segment * MSS
}

/// Five segments in flight on a path with a round trip of 100 ms.
fn five_in_flight() -> Script {
    let mut script = Script::connecting(quick());
    script.pass(ms(100));
    script.finish_handshake(peer_options());
    script.write(u64::from(5 * MSS));
    assert_eq!(script.data().len(), 5);
    script
}

#[test]
fn a_connection_that_was_just_opened_has_nothing_to_report() {
    let report = details(&Script::established(quick()));
    assert_eq!(
        (report.origin, report.congestion, report.rate_limit),
        (Origin::Active, CongestionState::Open, RateLimit::Application)
    );
    assert_eq!((report.flight, report.unsent, report.delivery_rate), (FlightSegments::default(), 0, None));
    assert_eq!((report.consecutive_timeouts, report.back_off, report.window_probes), (0, 0, 0));
    assert_eq!(
        (report.busy, report.window_limited, report.buffer_limited),
        (Duration::ZERO, Duration::ZERO, Duration::ZERO)
    );
    let counters = report.info.counters;
    assert_eq!((counters.segments_sent, counters.segments_received), (2, 1), "SYN and ACK, SYN-ACK");
    assert_eq!((counters.data_segments_sent, counters.segments_delivered, counters.bytes_sent), (0, 0, 0));
}

#[test]
fn times_are_counted_from_the_end_of_the_handshake() {
    let mut script = Script::connecting(quick());
    script.pass(ms(100));
    script.finish_handshake(peer_options());
    script.pass(ms(7));
    let report = details(&script);
    assert_eq!((report.since_data_sent, report.since_data_received, report.since_ack_received), (ms(7), ms(7), ms(7)));
}

#[test]
fn a_fin_is_something_to_send_but_no_data() {
    let mut script = Script::connecting(quick());
    script.finish_handshake(peer_options());
    script.pass(ms(30));
    script.shutdown();
    script.pass(ms(20));
    let report = details(&script);
    assert_eq!((report.busy, report.since_data_sent, report.info.counters.data_segments_sent), (ms(20), ms(50), 0));
    script.ack(2);
    script.pass(ms(20));
    assert_eq!(details(&script).busy, ms(20));
}

#[test]
fn a_burst_is_as_many_segments_as_the_device_makes_of_it() {
    let mut script = Script::connecting_on(quick(), tso_device());
    script.finish_handshake(peer_options());
    let before = details(&script).info.counters;
    script.write(u64::from(4 * MSS));
    let (frames, counters) = (script.data().len(), details(&script).info.counters);
    assert!(frames < 4, "{frames} frames");
    assert_eq!((counters.segments_sent - before.segments_sent, counters.data_segments_sent), (4, 4));
}

#[test]
fn data_is_counted_as_it_leaves_and_as_it_is_acknowledged() {
    let mut script = five_in_flight();
    let report = details(&script);
    assert_eq!(report.flight.outstanding, 5);
    assert_eq!((report.info.counters.bytes_sent, report.info.counters.bytes_acked), (u64::from(5 * MSS), 0));
    assert_eq!((report.info.counters.data_segments_sent, report.info.counters.segments_delivered), (5, 0));
    script.pass(ms(100));
    script.ack(at(3));
    let report = details(&script);
    assert_eq!((report.flight.outstanding, report.info.counters.segments_delivered), (2, 3));
    assert_eq!(report.info.counters.bytes_acked, u64::from(3 * MSS));
    assert_eq!((report.since_data_sent, report.since_ack_received), (ms(100), ms(0)));
    assert!(report.delivery_rate.is_some());
}

#[test]
fn the_flight_is_counted_by_what_became_of_it() {
    let mut script = five_in_flight();
    script.pass(ms(100));
    script.sack(1, &[(at(1), at(2))]);
    assert_eq!(details(&script).congestion, CongestionState::Disorder);
    script.sack(1, &[(at(1), at(5))]);
    let report = details(&script);
    assert_eq!(report.congestion, CongestionState::Recovery);
    assert_eq!(report.flight, FlightSegments { outstanding: 5, sacked: 4, lost: 1, retransmitted: 1 });
    let counters = report.info.counters;
    assert_eq!((counters.segments_retransmitted, counters.bytes_retransmitted), (1, u64::from(MSS)));
    assert_eq!((counters.bytes_sent, counters.segments_delivered), (u64::from(6 * MSS), 4));
}

#[test]
fn a_segment_that_comes_late_is_reordering_and_one_sent_again_is_not() {
    let mut script = five_in_flight();
    script.pass(ms(100));
    script.sack(1, &[(at(1), at(3))]);
    assert_eq!(details(&script).reorderings, 0, "a hole may be a loss");
    script.ack(at(3));
    let report = details(&script);
    assert_eq!((report.reorderings, report.reordering_extent), (1, 3 * MSS));

    let mut script = five_in_flight();
    script.pass(ms(100));
    script.sack(1, &[(at(1), at(5))]);
    script.pass(ms(100));
    script.ack(at(5));
    assert_eq!(details(&script).reorderings, 0);
}

#[test]
fn within_an_episode_the_window_is_what_is_in_flight_and_what_may_leave() {
    let mut script = five_in_flight();
    assert_eq!(details(&script).window, details(&script).info.cwnd);
    script.pass(ms(100));
    script.sack(1, &[(at(2), at(5))]);
    let report = details(&script);
    assert_eq!(report.congestion, CongestionState::Recovery);
    assert!(report.window >= report.info.pipe && report.window < 10 * MSS, "{report:?}");
    script.pass(ms(100));
    script.ack(at(5));
    assert_eq!(details(&script).window, details(&script).info.cwnd);
}

#[test]
fn a_timeout_is_counted_with_the_time_until_its_recovery_ends() {
    let mut script = five_in_flight();
    while details(&script).all_timeouts < 2 {
        script.pass(ms(1));
    }
    let report = details(&script);
    assert_eq!((report.congestion, report.consecutive_timeouts, report.back_off), (CongestionState::Loss, 2, 2));
    assert_eq!(report.timeout_recoveries, 1);
    assert!(report.timeout_time > Duration::ZERO, "the present one counts");
    script.pass(ms(7));
    script.ack(at(5));
    let over = details(&script);
    assert_eq!((over.congestion, over.consecutive_timeouts), (CongestionState::Open, 0));
    assert_eq!(over.timeout_time, report.timeout_time + ms(7));
    script.pass(ms(50));
    assert_eq!(details(&script).timeout_time, over.timeout_time);
}

#[test]
fn time_is_booked_on_the_window_while_it_alone_holds_data_back() {
    let mut script = Script::established(quick());
    ack_with_window(&mut script, 1, 2 * MSS as u16);
    script.write(u64::from(4 * MSS));
    assert_eq!(script.data().len(), 2);
    script.pass(ms(100));
    let report = details(&script);
    assert_eq!((report.busy, report.window_limited, report.unsent), (ms(100), ms(100), 2 * MSS));
    ack_with_window(&mut script, at(2), 65_535);
    script.pass(ms(40));
    let report = details(&script);
    assert_eq!((report.busy, report.window_limited), (ms(140), ms(100)));
    script.ack(at(4));
    script.pass(ms(500));
    assert_eq!(details(&script).busy, ms(140), "nothing to send is not busy");
}

/// `segments` of the peer's window are full, and more waits. The congestion window has ten.
fn held_by_window(segments: u32) -> Details {
    let mut script = Script::established(quick());
    ack_with_window(&mut script, 1, (segments * MSS) as u16);
    script.write(u64::from(20 * MSS));
    assert_eq!(script.data().len() as u32, segments);
    script.pass(ms(100));
    details(&script)
}

#[test]
fn time_is_booked_on_the_window_only_while_the_congestion_window_takes_a_segment() {
    assert_eq!((held_by_window(9).busy, held_by_window(9).window_limited), (ms(100), ms(100)));
    assert_eq!((held_by_window(10).busy, held_by_window(10).window_limited), (ms(100), ms(0)));
}

#[test]
fn time_that_nagles_rule_holds_data_back_is_not_booked_on_a_window_that_would_take_it() {
    let mut cfg = quick();
    cfg.send.nagle = crate::config::NagleConfig::Rfc896;
    let mut script = Script::established(cfg);
    ack_with_window(&mut script, 1, MSS as u16 + 50);
    script.write(u64::from(MSS));
    script.write(50);
    assert_eq!(script.data().len(), 1);
    script.pass(ms(100));
    assert_eq!((details(&script).busy, details(&script).window_limited), (ms(100), ms(0)));
}

#[test]
fn time_is_booked_on_the_buffer_while_the_writer_waits_and_the_window_has_room() {
    let mut cfg = quick();
    cfg.send.buffer = 3 * MSS;
    let mut script = Script::established(cfg);
    script.write(u64::from(4 * MSS));
    assert_eq!(script.data().len(), 3);
    script.pass(ms(100));
    assert_eq!((details(&script).buffer_limited, details(&script).busy), (ms(100), ms(100)));
}

#[test]
fn what_arrives_is_counted_by_its_order() {
    let mut script = Script::established(Default::default());
    bring(&mut script, 1, 100);
    bring(&mut script, 301, 100);
    bring(&mut script, 101, 100);
    let counters = details(&script).info.counters;
    assert_eq!((counters.data_segments_received, counters.segments_out_of_order, counters.bytes_received), (3, 1, 200));
    script.pass(ms(30));
    assert_eq!(details(&script).since_data_received, ms(30));
}

#[test]
fn a_lost_syn_is_a_timeout_and_its_recovery_ends_with_the_answer() {
    let mut script = Script::connecting(quick());
    while details(&script).all_timeouts == 0 {
        script.pass(ms(10));
    }
    assert_eq!(details(&script).consecutive_timeouts, 1);
    script.finish_handshake(peer_options());
    let over = details(&script);
    assert_eq!((over.consecutive_timeouts, over.timeout_recoveries, over.info.counters.timeouts), (0, 1, 0));
    script.pass(ms(100));
    assert_eq!(details(&script).timeout_time, over.timeout_time);
}
