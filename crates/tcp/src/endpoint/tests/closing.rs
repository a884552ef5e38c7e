//! Every way a connection ends (RFC 9293 §3.6).

use crate::config::Config;
use crate::event::{CloseReason, Read, ReadError};
use crate::testing::{Script, quick};
use crate::{ConnEvent, StackCx};
use base::Duration;
use test_case::test_case;
use trace::Off;
use wire::Flags;

fn fin(script: &mut Script, seq: u32, ack: u32) {
    let repr = script.segment(Flags::FIN, seq, Some(ack));
    script.deliver(repr, 0);
    script.peer_seq = seq + 1;
}

//= specs/rfc9293.md#closing
//= type=test
//# Who closes first waits in TIME-WAIT for twice the maximum segment lifetime.
#[test]
fn the_active_closer_waits_in_time_wait_and_then_forgets() {
    let mut script = Script::established(quick());
    script.write(100);
    script.shutdown();
    let sent = script.sent();
    assert_eq!(sent.last().map(|out| (out.flags.contains(Flags::FIN), out.seq)), Some((true, 101)));
    assert_eq!(script.state(), "FIN-WAIT-1");
    script.ack(102);
    assert_eq!(script.state(), "FIN-WAIT-2");
    fin(&mut script, 1, 102);
    assert_eq!(script.state(), "TIME-WAIT");
    assert_eq!(script.sent().last().and_then(|out| out.ack), Some(2));
    assert!(script.saw(ConnEvent::Closed(CloseReason::Normal)));
    script.pass(Config::default().timers.time_wait);
    assert_eq!(script.state(), "CLOSED");
}

#[test]
fn a_repeated_fin_in_time_wait_is_acknowledged_and_restarts_the_wait() {
    let mut script = Script::established(quick());
    script.shutdown();
    script.ack(2);
    fin(&mut script, 1, 2);
    script.pass(Duration::from_secs(50));
    script.out.clear();
    fin(&mut script, 1, 2);
    assert_eq!(script.sent().last().and_then(|out| out.ack), Some(2));
    script.pass(Duration::from_secs(50));
    assert_eq!(script.state(), "TIME-WAIT");
    script.pass(Duration::from_secs(10));
    assert_eq!(script.state(), "CLOSED");
}

#[test]
fn a_reset_does_not_cut_time_wait_short() {
    let mut script = Script::established(quick());
    script.shutdown();
    script.ack(2);
    fin(&mut script, 1, 2);
    let reset = script.segment(Flags::RST, 2, None);
    script.deliver(reset, 0);
    assert_eq!(script.state(), "TIME-WAIT");
}

#[test]
fn the_passive_closer_may_go_on_writing_and_ends_with_last_ack() {
    let mut script = Script::established(quick());
    fin(&mut script, 1, 1);
    assert_eq!(script.state(), "CLOSE-WAIT");
    assert_eq!(script.read(10), Ok(Read::Fin));
    script.out.clear();
    script.write(50);
    assert_eq!(script.data(), [(1, 50)]);
    script.shutdown();
    assert_eq!(script.state(), "LAST-ACK");
    script.ack(52);
    assert_eq!(script.state(), "CLOSED");
    assert!(script.saw(ConnEvent::Closed(CloseReason::Normal)));
}

//= specs/rfc9293.md#closing
//= type=test
//# Two FINs that cross end the connection on both sides.
#[test]
fn both_sides_closing_at_once_pass_through_closing() {
    let mut script = Script::established(quick());
    script.shutdown();
    fin(&mut script, 1, 1);
    assert_eq!(script.state(), "CLOSING");
    script.ack(2);
    assert_eq!(script.state(), "TIME-WAIT");
}

#[test]
fn a_fin_that_acknowledges_ours_goes_straight_to_time_wait() {
    let mut script = Script::established(quick());
    script.shutdown();
    fin(&mut script, 1, 2);
    assert_eq!(script.state(), "TIME-WAIT");
}

//= specs/rfc9293.md#closing
//= type=test
//# A FIN ahead of missing data waits for it.
#[test]
fn a_fin_ahead_of_missing_data_waits_for_it() {
    let mut script = Script::established(quick());
    fin(&mut script, 101, 1);
    assert_eq!(script.state(), "ESTABLISHED");
    let missing = script.segment(Flags::NONE, 1, Some(1));
    script.deliver(missing, 100);
    assert_eq!(script.state(), "CLOSE-WAIT");
    assert_eq!(script.read(1000), Ok(Read::Data(100)));
    assert_eq!(script.read(1000), Ok(Read::Fin));
    assert_eq!(script.info().mismatches, 0);
}

#[test]
fn a_lost_fin_is_sent_again() {
    let mut script = Script::established(quick());
    script.shutdown();
    script.out.clear();
    script.pass(Duration::from_secs(4));
    let sent = script.sent();
    assert!(!sent.is_empty() && sent.iter().all(|out| out.flags.contains(Flags::FIN) && out.seq == 1), "{sent:?}");
}

//= specs/rfc9293.md#closing
//= type=test
//# The application can tell a normal end from an aborted one.
#[test]
fn an_exact_reset_ends_the_connection_and_the_reader_learns_it() {
    let mut script = Script::established(quick());
    let data = script.segment(Flags::NONE, 1, Some(1));
    script.deliver(data, 10);
    let reset = script.segment(Flags::RST, 11, None);
    script.deliver(reset, 0);
    assert!(script.saw(ConnEvent::Closed(CloseReason::Reset)));
    assert_eq!(script.read(100), Ok(Read::Data(10)));
    assert_eq!(script.read(100), Err(ReadError::Closed(CloseReason::Reset)));
}

#[test]
fn an_abort_sends_a_reset_and_frees_after_release() {
    let mut script = Script::established(quick());
    script.out.clear();
    script.stack.abort(&mut StackCx::new(script.now, &mut Off), script.conn);
    script.pass(Duration::ZERO);
    assert_eq!(script.sent()[0].flags, Flags::RST);
    script.stack.release(&mut StackCx::new(script.now, &mut Off), script.conn);
    assert_eq!((script.state(), script.stack.connections()), ("gone", 0));
}

#[test]
fn a_released_connection_does_not_stay_in_fin_wait_2() {
    let mut script = Script::established(quick());
    script.stack.release(&mut StackCx::new(script.now, &mut Off), script.conn);
    script.pass(Duration::ZERO);
    script.ack(2);
    assert_eq!(script.state(), "FIN-WAIT-2");
    script.pass(Config::default().timers.fin_wait_2);
    assert_eq!(script.stack.connections(), 0);
}

#[test]
fn a_half_closed_connection_in_use_stays_in_fin_wait_2() {
    let mut script = Script::established(quick());
    script.shutdown();
    script.ack(2);
    script.pass(Duration::from_secs(24 * 3600));
    assert_eq!(script.state(), "FIN-WAIT-2");
}

//= specs/rfc9293.md#closing
//= type=test
//# When data that arrived is lost to a close, a reset says so.
#[test]
fn what_was_not_read_when_the_application_releases_it_is_answered_with_a_reset_instead_of_a_fin() {
    let mut script = Script::established(quick());
    let data = script.segment(Flags::NONE, 1, Some(1));
    script.deliver(data, 100);
    assert_eq!(script.read(99), Ok(Read::Data(99)));
    script.out.clear();
    script.release();
    let sent = script.sent();
    assert_eq!(sent.iter().map(|out| (out.flags, out.seq)).collect::<Vec<_>>(), [(Flags::RST, 1)]);
    assert_eq!(script.stack.connections(), 0);
}

#[test]
fn a_peer_that_goes_on_sending_after_the_application_has_released_it_is_reset() {
    let mut script = Script::established(quick());
    script.release();
    script.out.clear();
    let data = script.segment(Flags::NONE, 1, Some(2));
    script.deliver(data, 100);
    let sent = script.sent();
    assert_eq!(sent.iter().map(|out| (out.flags, out.seq, out.ack)).collect::<Vec<_>>(), [(Flags::RST, 2, None)]);
    assert_eq!(script.stack.connections(), 0);
}

#[test]
fn a_repetition_of_what_was_read_before_does_not_cause_a_reset() {
    let mut script = Script::established(quick());
    let data = script.segment(Flags::NONE, 1, Some(1));
    script.deliver(data, 100);
    assert_eq!(script.read(100), Ok(Read::Data(100)));
    script.release();
    script.out.clear();
    script.deliver(data, 100);
    assert!(script.sent().iter().all(|out| !out.flags.contains(Flags::RST)));
    assert_eq!(script.state(), "FIN-WAIT-1");
}

#[test]
fn who_reads_no_more_but_may_write_takes_data_until_this_direction_is_closed_too() {
    let mut script = Script::established(quick());
    script.stack.stop_reading(&mut StackCx::new(script.now, &mut Off), script.conn);
    let data = script.segment(Flags::NONE, 1, Some(1));
    script.out.clear();
    script.deliver(data, 100);
    assert_eq!(script.sent().last().and_then(|out| out.ack), Some(101));
    script.shutdown();
    script.out.clear();
    let data = script.segment(Flags::NONE, 101, Some(1));
    script.deliver(data, 100);
    assert_eq!(script.sent().last().map(|out| out.flags), Some(Flags::RST));
    assert!(script.saw(ConnEvent::Closed(CloseReason::Aborted)));
}

#[test]
fn where_fin_wait_2_takes_no_time_the_peer_is_reset() {
    let mut cfg = quick();
    cfg.timers.fin_wait_2 = Duration::ZERO;
    let mut script = Script::established(cfg);
    script.release();
    script.out.clear();
    script.ack(2);
    let sent = script.sent();
    assert_eq!(sent.iter().map(|out| (out.flags, out.seq, out.ack)).collect::<Vec<_>>(), [(Flags::RST, 2, None)]);
    assert_eq!(script.stack.connections(), 0);
}

#[test]
fn a_release_in_fin_wait_2_that_takes_no_time_resets_the_peer() {
    let mut cfg = quick();
    cfg.timers.fin_wait_2 = Duration::ZERO;
    let mut script = Script::established(cfg);
    script.shutdown();
    script.ack(2);
    script.out.clear();
    script.release();
    assert_eq!(script.sent().last().map(|out| (out.flags, out.ack)), Some((Flags::RST, Some(1))));
    assert_eq!(script.stack.connections(), 0);
}

/// RFC 9293 §3.10.5. In LAST-ACK the peer has closed and our FIN is in flight, unless data still precedes it.
#[test_case(0, 0 => false; "last-ack")]
#[test_case(100_000, 0 => true; "last-ack with data that waits for the window")]
#[test_case(0, 1 => false; "closing")]
fn an_abort_resets_where_the_peer_may_still_wait_for_something(bytes: u64, simultaneous: u32) -> bool {
    let mut script = Script::established(quick());
    if simultaneous == 1 {
        script.shutdown();
        fin(&mut script, 1, 1);
        assert_eq!(script.state(), "CLOSING");
    } else {
        fin(&mut script, 1, 1);
        if bytes > 0 {
            script.write(bytes);
        }
        script.shutdown();
        assert_eq!(script.state(), "LAST-ACK");
    }
    script.out.clear();
    script.abort();
    script.sent().iter().any(|out| out.flags.contains(Flags::RST))
}
