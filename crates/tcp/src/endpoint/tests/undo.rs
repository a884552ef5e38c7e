//! Spurious episodes as a peer sees them.

use crate::Config;
use crate::config::TimestampConfig;
use crate::testing::{MSS, Script, peer_options, quick};
use ::recovery::UndoConfig;
use ::recovery::undo::{DsackUndo, Eifel, FrtoDetection};
use base::Duration;
use test_case::test_case;
use wire::{Options, Timestamps};

const RTT: Duration = Duration::from_millis(100);
const MS: Duration = Duration::from_millis(1);

fn at(n: u32) -> u32 {
    1 + n * MSS
}

fn undoing(undo: UndoConfig) -> Config {
    let mut cfg = quick();
    cfg.recovery.undo = undo;
    cfg
}

/// Ten segments in flight for one round trip.
fn ten_in_flight(cfg: Config, options: Options) -> Script {
    let mut script = Script::connecting(cfg);
    script.pass(RTT);
    script.finish_handshake(options);
    script.write(1_000_000);
    assert_eq!(script.data().len(), 10);
    script.pass(RTT);
    script
}

/// ... of which the first one is marked lost because the next three overtook it.
fn given_up(cfg: Config) -> Script {
    let mut script = ten_in_flight(cfg, peer_options());
    script.sack(at(0), &[(at(1), at(4))]);
    assert_eq!(script.info().episode.name(), "recovery");
    assert!(script.data().contains(&(at(0), MSS)));
    script
}

const BY_DSACK: UndoConfig = UndoConfig { dsack: DsackUndo::On, eifel: Eifel::Off, frto: FrtoDetection::Off };
const BY_TIME: UndoConfig =
    UndoConfig { dsack: DsackUndo::Off, eifel: Eifel::TimestampsOrRtt, frto: FrtoDetection::Off };
const BY_ECHO: UndoConfig = UndoConfig { dsack: DsackUndo::Off, eifel: Eifel::Timestamps, frto: FrtoDetection::Off };
const BY_FRTO: UndoConfig = UndoConfig { dsack: DsackUndo::Off, eifel: Eifel::Off, frto: FrtoDetection::On };

//= specs/rfc9438.md#spurious-congestion-events
//= type=test
//# Spurious fast retransmits are detected.
#[test]
fn slow_start_goes_on_when_every_retransmission_is_reported_as_a_duplicate_even_after_the_episode() {
    let mut script = given_up(undoing(BY_DSACK));
    let reduced = script.info();
    assert!(reduced.cwnd < 10 * MSS && reduced.ssthresh < 10 * MSS);
    // The late original fills the hole, and everything is acknowledged: the episode ends by itself.
    script.pass(MS * 5);
    let end = script.data().iter().map(|(seq, len)| seq + len).max().unwrap_or(0).max(at(10));
    script.ack(end);
    script.pass(RTT);
    assert_eq!((script.info().counters.undone, script.info().ssthresh), (0, reduced.ssthresh));
    script.sack(end, &[(at(0), at(1))]);
    let info = script.info();
    assert_eq!((info.counters.undone, info.episode.name()), (1, "open"));
    assert!(info.cwnd >= 10 * MSS, "{}", info.cwnd);
    assert_eq!(info.ssthresh, cc::Window::UNKNOWN, "slow start goes on");
}

//= specs/rfc9438.md#spurious-congestion-events
//= type=test
//# Spurious fast retransmits are detected.
#[test]
fn an_answer_in_less_than_half_a_round_trip_undoes_at_once_and_marks_the_path_as_reordering() {
    let mut script = given_up(undoing(BY_TIME));
    script.pass(MS * 5);
    script.ack(at(4));
    let info = script.info();
    assert_eq!((info.counters.undone, info.episode.name(), info.ssthresh), (1, "open", cc::Window::UNKNOWN));
    // The detector now waits for the next late segment although three overtook it.
    script.pass(RTT);
    script.sack(at(4), &[(at(5), at(9))]);
    assert_eq!(script.info().episode.name(), "open");
}

#[test]
fn an_answer_after_a_round_trip_undoes_nothing() {
    let mut script = given_up(undoing(BY_TIME));
    script.pass(RTT);
    script.ack(at(4));
    assert_eq!((script.info().counters.undone, script.info().episode.name()), (0, "recovery"));
}

fn echoing(script: &mut Script, ack: u32, tsecr: u32, blocks: &[(u32, u32)]) {
    let mut repr = script.segment(wire::Flags::NONE, script.peer_seq, Some(ack));
    repr.options.timestamps = Some(Timestamps { tsval: 1, tsecr });
    for &(start, end) in blocks {
        repr.options.sack.push(base::SeqRange::new(script.iss + start, script.iss + end));
    }
    script.deliver(repr, 0);
}

#[test_case(0, 1; "the original's")]
#[test_case(1, 0; "the copy's")]
fn the_echoed_timestamp_tells_which_copy_was_answered(whose: usize, undone: u16) {
    let mut cfg = undoing(BY_ECHO);
    cfg.options.timestamps = TimestampConfig::Offer;
    let options = Options { timestamps: Some(Timestamps { tsval: 1, tsecr: 0 }), ..peer_options() };
    let mut script = Script::connecting(cfg);
    script.pass(RTT);
    script.finish_handshake(options);
    script.write(1_000_000);
    let tsval = |script: &mut Script, seq: u32| {
        let sent = script.sent();
        sent.iter().find(|out| out.seq == seq).and_then(|out| out.options.timestamps).expect("sent").tsval
    };
    let size = MSS - 12;
    let original = tsval(&mut script, 1);
    script.pass(RTT);
    echoing(&mut script, 1, original, &[(1 + size, 1 + 4 * size)]);
    let copy = tsval(&mut script, 1);
    assert_ne!(original, copy);
    script.pass(RTT);
    echoing(&mut script, 1 + 4 * size, [original, copy][whose], &[]);
    assert_eq!(script.info().counters.undone, undone);
}

//= specs/rfc5682.md#basic-algorithm
//= type=test
//# A timeout sends the first unacknowledged segment again, and nothing is yet known of its cause.
//= specs/rfc5682.md#basic-algorithm
//= type=test
//# A first ACK that advances SND.UNA otherwise lets up to two new segments leave, and no retransmission.
//= specs/rfc5682.md#basic-algorithm
//= type=test
//# A second ACK that advances SND.UNA shows that the timeout was spurious.
//= specs/rfc5682.md#response
//= type=test
//# A timeout that proves spurious is answered by a response that the IETF has specified, such as Eifel's.
//= specs/rfc9438.md#spurious-congestion-events
//= type=test
//# Spurious timeouts are detected.
#[test]
fn a_timeout_is_undone_when_the_original_flight_arrives_after_all() {
    let mut script = ten_in_flight(undoing(BY_FRTO), peer_options());
    while script.info().counters.timeouts == 0 {
        script.pass(MS);
    }
    assert_eq!(script.data(), [(at(0), MSS)]);
    let ssthresh = script.info().ssthresh;
    // A delay of the whole path ends: the ACKs of the originals arrive one after the other.
    script.ack(at(2));
    assert_eq!(script.data(), [(at(10), MSS), (at(11), MSS)], "new data in place of retransmissions");
    assert_eq!((script.info().episode.name(), script.info().ssthresh), ("loss", ssthresh));
    script.ack(at(4));
    let info = script.info();
    assert_eq!((info.episode.name(), info.counters.undone, info.ssthresh), ("open", 1, cc::Window::UNKNOWN));
    assert!(info.cwnd >= 10 * MSS);
    assert!(script.data().iter().all(|(seq, _)| *seq >= at(12)), "nothing is sent again");
}

//= specs/rfc5682.md#basic-algorithm
//= type=test
//# A duplicate ACK as the second one shows that the timeout was genuine.
//= specs/rfc5682.md#basic-algorithm
//= type=test
//# A timeout found genuine at the second ACK leaves a window of at most three segments.
//= specs/rfc5682.md#basic-algorithm
//= type=test
//# While the test lasts, duplicate ACKs do not start fast recovery.
#[test]
fn a_timeout_after_a_real_loss_goes_on_as_usual() {
    let mut script = ten_in_flight(undoing(BY_FRTO), peer_options());
    while script.info().counters.timeouts == 0 {
        script.pass(MS);
    }
    script.sent();
    // The whole flight was lost: the ACK covers only the first segment.
    script.ack(at(1));
    assert_eq!(script.data(), [(at(10), MSS), (at(11), MSS)]);
    script.pass(RTT);
    script.sack(at(1), &[(at(10), at(11))]);
    assert_eq!((script.info().episode.name(), script.info().counters.undone), ("loss", 0));
    assert!(script.info().cwnd <= 3 * MSS, "{}", script.info().cwnd);
    assert_eq!(script.data().first(), Some(&(at(1), MSS)), "what is missing follows");
}

//= specs/rfc5682.md#basic-algorithm
//= type=test
//# Without new data, or without room in the peer's window, the test ends and recovery is conventional.
#[test_case(5, 20; "no new data")]
#[test_case(20, 5; "no room for it")]
fn without_anything_new_to_send_a_timeout_is_not_examined(written: u32, window: u32) {
    let mut script = Script::connecting(undoing(BY_FRTO));
    script.pass(RTT);
    script.peer_window = (window * MSS) as u16;
    script.finish_handshake(peer_options());
    script.write(u64::from(written * MSS));
    assert_eq!(script.data().len(), 5);
    while script.info().counters.timeouts == 0 {
        script.pass(MS);
    }
    script.sent();
    // The application has not read the first bytes, so the window's edge stays.
    script.peer_window -= MSS as u16;
    script.ack(at(1));
    assert_eq!(script.data().first(), Some(&(at(1), MSS)));
    script.ack(at(3));
    assert_eq!(script.info().counters.undone, 0);
}

//= specs/rfc5682.md#basic-algorithm
//= type=test
//# A timeout inside an earlier timeout's recovery is answered conventionally.
#[test]
fn a_timeout_inside_the_recovery_from_another_is_not_examined() {
    let mut script = ten_in_flight(undoing(BY_FRTO), peer_options());
    while script.info().counters.timeouts < 2 {
        script.pass(MS);
    }
    script.sent();
    script.ack(at(2));
    assert_eq!(script.data().first(), Some(&(at(2), MSS)), "no new data in place of retransmissions");
    script.ack(at(4));
    assert_eq!((script.info().episode.name(), script.info().counters.undone), ("loss", 0));
}

#[test]
fn nothing_is_undone_unless_asked_for() {
    let mut script = given_up(undoing(UndoConfig::default()));
    script.pass(MS * 5);
    script.sack(at(4), &[(at(0), at(1))]);
    assert_eq!(script.info().counters.undone, 0);
}
