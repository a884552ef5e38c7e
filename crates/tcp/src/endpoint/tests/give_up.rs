//! When to give up on an unresponsive peer (RFC 9293 §3.8.3, §3.8.4).

use crate::ConnEvent;
use crate::config::{Config, CountedFrom, Farewell, KeepAliveConfig, RetryLimit, WindowProbe};
use crate::event::CloseReason;
use crate::testing::{MSS, Script, quick};
use base::{Duration, Instant};
use test_case::{test_case, test_matrix};
use wire::Flags;

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

fn secs(s: u64) -> Duration {
    Duration::from_secs(s)
}

fn keeping_alive(idle: u64, interval: u64, count: u32) -> Config {
    let mut cfg = quick();
    cfg.keepalive = KeepAliveConfig::On { idle: secs(idle), interval: secs(interval), count };
    cfg
}

/// Returns when segments left within `span`, in milliseconds from now, with their flags and sequence numbers.
fn departures(script: &mut Script, span: Duration) -> Vec<(u64, Flags, u32)> {
    let (start, mut out) = (script.now, Vec::new());
    script.out.clear();
    while script.now.since(start) < span {
        let next = script.stack.next_deadline().unwrap_or(Instant::MAX).max(script.now);
        let left = span.saturating_sub(script.now.since(start));
        script.pass(next.since(script.now).min(left));
        out.extend(script.sent().iter().map(|sent| (script.now.since(start).as_millis(), sent.flags, sent.seq)));
        if script.state() == "gone" || script.state() == "CLOSED" {
            break;
        }
    }
    out
}

fn timed_out(script: &Script) -> bool {
    script.saw(ConnEvent::Closed(CloseReason::TimedOut))
}

//= specs/rfc9293.md#keep-alive
//= type=test
//# Keep-alive can be turned on and off for each connection, and is off unless asked for.
#[test]
fn without_keep_alive_a_connection_at_rest_is_silent_for_a_day() {
    let mut script = Script::established(quick());
    assert!(departures(&mut script, secs(24 * 3600)).is_empty());
    assert_eq!(script.state(), "ESTABLISHED");
}

#[test]
fn a_connection_at_rest_is_probed_below_what_was_acknowledged_and_reset_without_an_answer() {
    let mut script = Script::established(keeping_alive(10, 3, 4));
    script.write(100);
    script.ack(101);
    let sent = departures(&mut script, secs(60));
    let probe = |at| (at, Flags::NONE, 100);
    assert_eq!(sent, [probe(10_000), probe(13_000), probe(16_000), probe(19_000), (22_000, Flags::RST, 101)]);
    assert!(timed_out(&script));
}

//= specs/rfc9293.md#keep-alive
//= type=test
//# One probe without an answer does not end a connection.
#[test]
fn an_answer_to_the_last_probe_is_enough_and_the_count_begins_anew() {
    let mut script = Script::established(keeping_alive(10, 3, 2));
    for _ in 0..20 {
        assert_eq!(departures(&mut script, secs(13)).len(), 2);
        script.ack(1);
    }
    assert_eq!(script.state(), "ESTABLISHED");
}

#[test]
fn what_is_heard_puts_the_first_probe_off_and_what_is_said_does_not() {
    let mut script = Script::established(keeping_alive(10, 3, 9));
    script.pass(secs(4));
    let data = script.segment(Flags::NONE, 1, Some(1));
    script.deliver(data, 10);
    script.pass(secs(1));
    script.read(10).expect("readable");
    assert_eq!(departures(&mut script, secs(9)).first().map(|sent| sent.0), Some(9_000));
}

//= specs/rfc9293.md#keep-alive
//= type=test
//# A probe leaves only after nothing was heard for a while, with nothing unacknowledged.
#[test]
fn what_is_unacknowledged_is_the_retransmission_timers_business() {
    let mut script = Script::established(keeping_alive(1, 1, 2));
    script.write(10);
    let sent = departures(&mut script, secs(20));
    assert!(!sent.is_empty() && sent.iter().all(|sent| sent.2 == 1), "{sent:?}");
    script.ack(11);
    assert_eq!(departures(&mut script, secs(2)).first(), Some(&(1_000, Flags::NONE, 10)));
}

//= specs/rfc9293.md#keep-alive
//= type=test
//# The time before the first probe can be set, and is two hours at least when it is not.
#[test]
fn keep_alive_that_is_switched_on_later_counts_from_what_was_heard_last() {
    let mut script = Script::established(quick());
    script.ack(1);
    script.pass(secs(6));
    script.reconfigure(keeping_alive(10, 3, 9));
    assert_eq!(departures(&mut script, secs(5)), [(4_000, Flags::NONE, 0)]);
    script.reconfigure(quick());
    assert!(departures(&mut script, secs(60)).is_empty());
    // More time has passed than the new settings allow: the probe leaves at once.
    script.reconfigure(keeping_alive(5, 3, 9));
    assert_eq!(script.sent().iter().map(|out| (out.flags, out.seq)).collect::<Vec<_>>(), [(Flags::NONE, 0)]);
}

/// The user timeout replaces the count, whichever is longer.
#[test_case(12, &[10_000, 11_000]; "shorter")]
#[test_case(15, &[10_000, 11_000, 12_000, 13_000, 14_000]; "longer")]
#[test_case(2, &[10_000]; "not before a probe has failed")]
fn with_a_user_timeout_keep_alive_ends_when_it_is_over(limit: u64, probes_ms: &[u64]) {
    let mut cfg = keeping_alive(10, 1, 3);
    cfg.retries.user_timeout = Some(secs(limit));
    let mut script = Script::established(cfg);
    script.ack(1);
    let sent = departures(&mut script, secs(60));
    let (reset, probes) = sent.split_last().expect("a reset");
    assert_eq!(probes.iter().map(|sent| sent.0).collect::<Vec<_>>(), probes_ms);
    assert_eq!((reset.0, reset.1), (limit.max(11) * 1_000, Flags::RST));
    assert!(timed_out(&script));
}

#[test]
fn keep_alive_ends_with_the_connection() {
    let mut script = Script::established(keeping_alive(10, 3, 2));
    script.release();
    script.ack(2);
    assert_eq!(script.state(), "FIN-WAIT-2");
    assert!(departures(&mut script, secs(59)).is_empty());
    script.pass(secs(2));
    assert_eq!(script.stack.connections(), 0);
}

/// Returns how long it took to give up on a vanished peer, and how often the data was retransmitted.
fn until_given_up(cfg: Config) -> (Duration, usize) {
    let mut script = Script::established(cfg);
    let start = script.now;
    script.write(10);
    let sent = departures(&mut script, secs(4_000));
    assert!(timed_out(&script));
    (script.now.since(start), sent.iter().filter(|sent| sent.2 == 1).count())
}

#[test]
fn the_count_of_retransmissions_limits_them() {
    let mut cfg = quick();
    cfg.retries.data = 3;
    // 1 + 2 + 4 + 8 seconds.
    assert_eq!(until_given_up(cfg), (secs(15), 3));
}

//= specs/rfc9293.md#retransmission
//= type=test
//# SYNs have thresholds, too, and are not given up before three minutes.
//= specs/rfc9293.md#retransmission
//= type=test
//# The second threshold is at least 100 s.
#[test]
fn the_default_gives_up_a_silent_peer_after_a_hundred_seconds_at_least_and_a_syn_after_three_minutes() {
    assert!(until_given_up(quick()).0 >= secs(100));
    let mut script = Script::connecting(quick());
    let start = script.now;
    departures(&mut script, secs(4_000));
    assert!(timed_out(&script) && script.now.since(start) >= secs(180));
}

/// With timeouts from 200 ms to 120 s, eight retransmissions stand for 102.2 s, whatever the current timeout is; they count from
/// the first one.
#[test_case(200; "a short timeout")]
#[test_case(3_000; "a long one")]
fn a_limit_in_time_does_not_depend_on_the_round_trip(rtt_ms: u64) {
    let mut cfg = quick();
    cfg.rto.min = Duration::from_millis(200);
    cfg.rto.max = secs(120);
    cfg.retries.data = 8;
    cfg.retries.limit = RetryLimit::Time;
    cfg.retries.counted_from = CountedFrom::Retransmission;
    let mut script = Script::connecting(cfg);
    script.pass(Duration::from_millis(rtt_ms));
    script.finish_handshake(crate::testing::peer_options());
    script.write(10);
    let start = script.now;
    let sent = departures(&mut script, secs(4_000));
    let (first, last) = (sent.first().expect("sent again").0, sent.last().expect("sent again").0);
    assert!(timed_out(&script));
    // The next timer to fire notices it.
    assert!(last - first < 102_200, "{sent:?}");
    assert!(script.now.since(start).as_millis() - first >= 102_200, "{sent:?}");
}

//= specs/rfc9293.md#retransmission
//= type=test
//# There are two thresholds: from the first on the application is notified, at the second the connection is closed.
#[test]
fn the_application_is_notified_once_that_the_peer_does_not_answer() {
    let mut script = Script::established(quick());
    script.write(10);
    script.pass(secs(1 + 2) + MS);
    assert!(!script.saw(ConnEvent::Unresponsive));
    script.pass(secs(4));
    assert!(script.saw(ConnEvent::Unresponsive));
    script.pass(secs(100));
    let notices = script.events.iter().filter(|event| format!("{event:?}").contains("Unresponsive")).count();
    assert_eq!((notices, script.state()), (1, "ESTABLISHED"));
    script.ack(11);
    assert!(script.data().len() > 3);
}

#[test_case(Farewell::Silence, 0)]
#[test_case(Farewell::Reset, 1)]
fn a_peer_that_is_given_up_gets_a_reset_or_nothing(farewell: Farewell, resets: usize) {
    let mut cfg = quick();
    cfg.retries.data = 3;
    cfg.retries.farewell = farewell;
    let mut script = Script::established(cfg);
    script.write(10);
    let sent = departures(&mut script, secs(60));
    assert_eq!(sent.iter().filter(|sent| sent.1.contains(Flags::RST)).count(), resets);
}

//= specs/rfc9293.md#retransmission
//= type=test
//# The application can set the second threshold.
/// The data of this test times out after one second, and then after twice as long each time.
#[test_case(CountedFrom::Transmission, 500, 500; "shorter than the first timeout")]
#[test_case(CountedFrom::Transmission, 4_000, 4_000; "the timer is cut to it")]
#[test_case(CountedFrom::Transmission, 100_000, 100_000; "longer than the count would take")]
#[test_case(CountedFrom::Retransmission, 500, 1_500; "counted from the first retransmission")]
#[test_case(CountedFrom::Retransmission, 4_000, 5_000)]
fn the_user_timeout_ends_what_is_not_acknowledged(from: CountedFrom, limit_ms: u64, ends_ms: u64) {
    let mut cfg = quick();
    cfg.retries.data = 3;
    cfg.retries.user_timeout = Some(Duration::from_millis(limit_ms));
    cfg.retries.counted_from = from;
    assert_eq!(until_given_up(cfg).0, Duration::from_millis(ends_ms));
}

#[test]
fn a_tail_loss_probe_does_not_put_the_user_timeout_off() {
    let mut cfg = quick();
    cfg.recovery.probe = Some(Default::default());
    cfg.retries.user_timeout = Some(secs(4));
    let mut script = Script::connecting(cfg);
    script.pass(Duration::from_millis(100));
    script.finish_handshake(crate::testing::peer_options());
    script.write(u64::from(4 * MSS));
    let start = script.now;
    let sent = departures(&mut script, secs(100));
    assert!(sent.len() >= 2 && timed_out(&script), "{sent:?}");
    assert_eq!(script.now.since(start), secs(4));
}

#[test]
fn progress_begins_the_user_timeout_anew() {
    let mut cfg = quick();
    cfg.retries.user_timeout = Some(secs(5));
    let mut script = Script::established(cfg);
    script.write(30);
    script.pass(secs(4));
    script.ack(11);
    script.pass(secs(4));
    script.ack(21);
    script.pass(secs(4));
    assert_eq!(script.state(), "ESTABLISHED");
    script.pass(SECOND);
    assert!(timed_out(&script));
}

#[test]
fn a_user_timeout_set_while_data_waits_for_its_acknowledgement_counts_from_its_transmission() {
    let mut script = Script::established(quick());
    script.write(10);
    script.pass(secs(4));
    let mut cfg = quick();
    cfg.retries.user_timeout = Some(secs(5));
    script.reconfigure(cfg);
    script.pass(secs(5));
    assert!(timed_out(&script));
}

#[test]
fn a_syn_is_given_up_when_the_user_timeout_is_over() {
    let mut cfg = quick();
    cfg.retries.user_timeout = Some(secs(8));
    let mut script = Script::connecting(cfg);
    let start = script.now;
    let sent = departures(&mut script, secs(60));
    assert_eq!(sent.iter().map(|sent| sent.0).collect::<Vec<_>>(), [1_000, 3_000, 7_000]);
    assert!(timed_out(&script) && script.now.since(start) == secs(8));
}

#[test]
fn the_first_syns_may_leave_at_even_intervals() {
    let mut cfg = quick();
    cfg.retries.syn = 2;
    cfg.retries.syn_linear = 4;
    let mut script = Script::connecting(cfg);
    let start = script.now;
    let sent = departures(&mut script, secs(600));
    assert_eq!(sent.iter().map(|sent| sent.0).collect::<Vec<_>>(), [1_000, 2_000, 3_000, 4_000, 5_000, 7_000]);
    assert!(timed_out(&script) && script.now.since(start) == secs(11));
}

#[test]
fn a_number_of_syns_that_stands_for_a_time_is_not_exceeded_by_even_intervals() {
    let mut cfg = quick();
    cfg.retries.limit = RetryLimit::Time;
    cfg.retries.syn = 1;
    cfg.retries.syn_linear = 4;
    let mut script = Script::connecting(cfg);
    let start = script.now;
    let sent = departures(&mut script, secs(600));
    assert_eq!(sent.iter().map(|sent| sent.0).collect::<Vec<_>>(), [1_000, 2_000]);
    assert!(timed_out(&script) && script.now.since(start) == secs(3));
}

/// Sets up a window that stays closed.
fn closed_window(mut cfg: Config, probe: WindowProbe) -> Script {
    cfg.send.window_probe = probe;
    let mut script = Script::established(cfg);
    script.peer_window = 0;
    script.ack(1);
    script.write(10_000);
    script
}

//= specs/rfc9293.md#windows
//= type=test
//# As long as probes are answered a window may stay closed indefinitely.
#[test_matrix([WindowProbe::Byte, WindowProbe::Empty])]
fn a_window_that_is_closed_for_an_hour_ends_nothing_as_long_as_probes_are_answered(probe: WindowProbe) {
    let mut script = closed_window(quick(), probe);
    let mut probes = 0;
    for _ in 0..3_600 {
        script.pass(SECOND);
        if !script.sent().is_empty() {
            probes += 1;
            script.ack(1);
        }
    }
    assert!((50..80).contains(&probes), "{probes}");
    assert_eq!(script.state(), "ESTABLISHED");
    script.peer_window = 20_000;
    script.ack(1);
    assert_eq!(script.data().iter().map(|sent| sent.1).sum::<u32>(), 10_000);
}

#[test_matrix([WindowProbe::Byte, WindowProbe::Empty])]
fn unanswered_probes_are_limited_like_retransmissions(probe: WindowProbe) {
    let mut cfg = quick();
    cfg.retries.data = 4;
    let mut script = closed_window(cfg, probe);
    let sent = departures(&mut script, secs(600));
    assert_eq!(sent.iter().map(|sent| sent.0).collect::<Vec<_>>(), [1_000, 3_000, 7_000, 15_000]);
    assert!(timed_out(&script));
}

#[test_matrix([WindowProbe::Byte, WindowProbe::Empty])]
fn old_acknowledgements_are_not_answers_to_probes(probe: WindowProbe) {
    let mut cfg = quick();
    cfg.retries.data = 4;
    let mut script = closed_window(cfg, probe);
    script.peer_window = 5_000;
    script.ack(1);
    let sent: u32 = script.data().iter().map(|sent| sent.1).sum();
    script.peer_window = 0;
    script.ack(1 + sent);
    // A third party acknowledged data in the peer's name that it never received: the peer answers every probe with its own state.
    let mut probes = 0;
    for _ in 0..60 {
        script.pass(SECOND);
        if !script.sent().is_empty() {
            probes += 1;
            script.ack(1);
        }
    }
    assert!(timed_out(&script), "after {probes} probes");
}

#[test_case(WindowProbe::Byte, CountedFrom::Transmission, 10; "from when it closed")]
#[test_case(WindowProbe::Empty, CountedFrom::Transmission, 10; "likewise")]
#[test_case(WindowProbe::Empty, CountedFrom::Retransmission, 11; "from the first probe")]
fn the_user_timeout_limits_how_long_a_window_is_closed_though_it_is_answered(
    probe: WindowProbe,
    from: CountedFrom,
    ends: u64,
) {
    let mut cfg = quick();
    cfg.retries.user_timeout = Some(secs(10));
    cfg.retries.counted_from = from;
    let mut script = closed_window(cfg, probe);
    let start = script.now;
    while !timed_out(&script) && script.now.since(start) < secs(60) {
        script.pass(MS);
        if !script.sent().is_empty() && !timed_out(&script) {
            script.ack(1);
        }
    }
    assert_eq!(script.now.since(start), secs(ends));
}

#[test]
fn an_orphan_ends_when_its_window_stays_closed_until_probes_are_at_their_slowest() {
    let mut cfg = quick();
    cfg.retries.orphan = Some(8);
    let mut script = closed_window(cfg, WindowProbe::Empty);
    script.release();
    let start = script.now;
    while script.stack.connections() > 0 && script.now.since(start) < secs(600) {
        script.pass(SECOND);
        if !script.sent().is_empty() && script.stack.connections() > 0 {
            script.ack(1);
        }
    }
    // 1, 2, 4, 8, 16 and 32 seconds, and finally one minute.
    assert_eq!(script.now.since(start), secs(63 + 60));
}

#[test]
fn data_of_an_orphan_is_retransmitted_less_often() {
    let mut cfg = quick();
    cfg.retries.orphan = Some(3);
    let mut script = Script::established(cfg);
    let start = script.now;
    script.write(10);
    script.release();
    departures(&mut script, secs(600));
    assert_eq!((script.state(), script.now.since(start)), ("gone", secs(15)));
}

//= specs/rfc9293.md#windows
//= type=test
//# A window that the peer takes back does not harm the connection.
#[test]
fn a_window_taken_back_over_a_flight_turns_retransmissions_into_probes() {
    let mut cfg = quick();
    cfg.retries.data = 3;
    let mut script = Script::established(cfg);
    script.write(1_000);
    script.peer_window = 0;
    script.ack(1);
    for _ in 0..600 {
        script.pass(SECOND);
        if !script.sent().is_empty() {
            script.ack(1);
        }
    }
    assert_eq!(script.state(), "ESTABLISHED", "a limit of three retransmissions does not count here");
    script.peer_window = 2_000;
    script.ack(1_001);
    assert_eq!(script.info().flight_size, 0);
    // Without answers the connection ends, though later.
    script.peer_window = 0;
    script.ack(1_001);
    script.peer_window = 2_000;
    script.ack(1_001);
    script.write(1_000);
    script.peer_window = 0;
    script.ack(1_001);
    script.pass(secs(600));
    assert!(timed_out(&script));
}

#[test]
fn empty_probes_lie_below_what_was_acknowledged_and_wait_anew_after_each_answer() {
    let mut script = closed_window(quick(), WindowProbe::Empty);
    let mut gaps = Vec::new();
    let mut answered = script.now;
    for _ in 0..6 {
        while script.out.is_empty() {
            script.pass(MS);
        }
        gaps.push(script.now.since(answered).as_millis());
        assert!(script.sent().iter().all(|sent| (sent.seq, sent.len, sent.ack) == (0, 0, Some(1))));
        script.pass(Duration::from_millis(300));
        script.ack(1);
        answered = script.now;
    }
    assert_eq!(gaps, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000]);
}

/// A connection whose probes are empty, to a peer whose window takes `window` bytes.
fn probing_without_data(window: u16) -> Script {
    let mut cfg = quick();
    cfg.send.window_probe = WindowProbe::Empty;
    let mut script = Script::established(cfg);
    script.peer_window = window;
    script.ack(1);
    script
}

#[test]
fn with_empty_probes_a_window_too_narrow_is_used_when_a_probe_is_due() {
    let mut script = probing_without_data(200);
    script.write(10_000);
    assert!(script.data().is_empty());
    script.pass(SECOND);
    let sent = script.sent();
    assert_eq!(sent.iter().map(|out| (out.seq, out.len, out.flags)).collect::<Vec<_>>(), [(1, 200, Flags::NONE)]);
}

#[test]
fn with_empty_probes_what_a_narrow_window_took_is_data_and_probes_begin_anew_behind_it() {
    let mut script = probing_without_data(200);
    script.write(10_000);
    script.pass(SECOND);
    assert_eq!(script.data(), [(1, 200)]);
    script.peer_window = 0;
    script.ack(201);
    assert_eq!(departures(&mut script, secs(4)), [(1_000, Flags::NONE, 200), (3_000, Flags::NONE, 200)]);
}

#[test]
fn with_empty_probes_a_window_that_opens_too_little_does_not_hurry_them() {
    let mut script = closed_window(quick(), WindowProbe::Empty);
    assert_eq!(departures(&mut script, secs(3)).len(), 2);
    script.peer_window = 200;
    script.ack(1);
    assert_eq!(departures(&mut script, secs(4) + MS), [(4_000, Flags::NONE, 1)]);
    script.ack(201);
    script.peer_window = 20_000;
    script.ack(201);
    assert_eq!(script.data().len(), 7, "a window that is wide enough is used at once");
}

#[test]
fn with_empty_probes_a_fin_waits_for_the_window_too() {
    let mut script = probing_without_data(0);
    script.shutdown();
    assert_eq!(departures(&mut script, secs(3)), [(1_000, Flags::NONE, 0), (3_000, Flags::NONE, 0)]);
    script.peer_window = 1;
    script.ack(1);
    assert_eq!(script.sent().iter().map(|out| (out.flags, out.seq)).collect::<Vec<_>>(), [(Flags::FIN, 1)]);
}
