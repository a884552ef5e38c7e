//! When data is acknowledged, and what the ACK says.

use crate::config::{AckConfig, AckTimer, Config, QuickAgain};
use crate::testing::{MSS, Script, quick};
use crate::{AckPace, StackCx};
use base::Duration;
use trace::Off;
use wire::Flags;

fn delayed(ms: u64) -> Config {
    let mut cfg = quick();
    cfg.ack = AckConfig { delay: Duration::from_millis(ms), quick_segments: 0, ..AckConfig::default() };
    cfg
}

fn data(script: &mut Script, seq: u32, len: u32) {
    let repr = script.segment(Flags::NONE, seq, Some(1));
    script.deliver(repr, len);
}

//= specs/rfc9293.md#acknowledgements
//= type=test
//# Every second full segment is acknowledged.
//= specs/rfc5681.md#acknowledging
//= type=test
//# At least every second full-sized segment is acknowledged at once.
#[test]
fn every_second_full_segment_is_acknowledged_at_once() {
    let mut script = Script::established(delayed(40));
    data(&mut script, 1, MSS);
    assert!(script.sent().is_empty());
    data(&mut script, 1 + MSS, MSS);
    assert_eq!(script.sent()[0].ack, Some(1 + 2 * MSS));
}

//= specs/rfc9293.md#acknowledgements
//= type=test
//# An acknowledgement is delayed by less than half a second.
//= specs/rfc5681.md#acknowledging
//= type=test
//# An ACK is delayed by less than 500 ms.
#[test]
fn a_single_segment_is_acknowledged_when_the_delay_is_over() {
    let mut script = Script::established(delayed(40));
    data(&mut script, 1, MSS);
    script.pass(Duration::from_millis(39));
    assert!(script.sent().is_empty());
    script.pass(Duration::from_millis(1));
    assert_eq!(script.sent()[0].ack, Some(1 + MSS));
}

#[test]
fn an_acknowledgement_rides_on_data_when_there_is_some() {
    let mut script = Script::established(delayed(40));
    data(&mut script, 1, MSS);
    script.write(10);
    assert_eq!(script.sent()[0].ack, Some(1 + MSS));
    script.pass(Duration::from_millis(100));
    assert!(script.sent().iter().all(|out| out.len > 0), "no second ACK");
}

//= specs/rfc9293.md#acceptance
//= type=test
//# Data ahead of a gap is kept.
//= specs/rfc5681.md#acknowledging
//= type=test
//# An out-of-order segment is acknowledged at once.
//= specs/rfc5681.md#acknowledging
//= type=test
//# A segment that fills all or part of a gap is acknowledged at once.
//= specs/rfc2018.md#receiver
//= type=test
//# While data waits out of order, every ACK carries SACK blocks.
#[test]
fn a_hole_is_reported_at_once_newest_block_first_and_its_filling_too() {
    let mut script = Script::established(delayed(40));
    data(&mut script, 1001, 100);
    data(&mut script, 2001, 100);
    let sent = script.sent();
    let rel = |out: &crate::testing::Out| -> Vec<u32> {
        let base = crate::testing::PEER_ISS;
        out.options.sack.as_slice().iter().map(|block| block.start.distance_from(base)).collect()
    };
    assert_eq!(sent.iter().map(rel).collect::<Vec<_>>(), [vec![1001], vec![2001, 1001]]);
    data(&mut script, 1, 1000);
    assert_eq!(script.sent()[0].ack, Some(1101));
}

//= specs/rfc2883.md#receiver
//= type=test
//# A segment that brings bytes a second time is reported by a block, in the next ACK and in no later one.
#[test]
fn a_duplicate_is_reported_once_as_d_sack() {
    let mut script = Script::established(delayed(40));
    data(&mut script, 1, MSS);
    data(&mut script, 1 + MSS, MSS);
    script.out.clear();
    data(&mut script, 1, MSS);
    let block = script.sent()[0].options.sack.as_slice()[0];
    assert_eq!((block.start, block.len()), (crate::testing::PEER_ISS + 1, MSS));
    data(&mut script, 1 + 2 * MSS, MSS);
    data(&mut script, 1 + 3 * MSS, MSS);
    assert!(script.sent()[0].options.sack.is_empty());
    assert_eq!(script.info().counters.dsacks_sent, 1);
}

#[test]
fn a_duplicate_is_acknowledged_without_a_report_where_reports_are_off() {
    let mut cfg = delayed(40);
    cfg.options.sack = crate::config::SackConfig::WithoutDuplicates;
    let mut script = Script::established(cfg);
    data(&mut script, 1, MSS);
    data(&mut script, 1 + MSS, MSS);
    data(&mut script, 1 + 3 * MSS, MSS);
    assert_eq!(script.sent().last().map(|ack| ack.options.sack.as_slice().len()), Some(1), "SACK itself is in use");
    data(&mut script, 1, MSS);
    data(&mut script, 1 + 3 * MSS, MSS);
    let acks = script.sent();
    assert_eq!(acks.iter().map(|ack| ack.options.sack.as_slice().len()).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(script.info().counters.dsacks_sent, 0);
}

#[test]
fn overlapping_segments_deliver_every_byte_once_and_in_order() {
    let mut script = Script::established(delayed(40));
    for (seq, len) in [(501, 800), (101, 500), (1, 300), (1200, 400), (1, 1700)] {
        data(&mut script, seq, len);
    }
    assert_eq!(script.read(10_000), Ok(crate::Read::Data(1700)));
    assert_eq!(script.info().mismatches, 0);
    assert_eq!(script.info().counters.bytes_received, 1700);
}

#[test]
fn segments_that_report_holes_still_fit_the_mtu_and_full_retransmissions_report_apart() {
    let mut script = Script::established(delayed(40));
    script.write(100_000);
    script.pass(Duration::from_millis(10));
    script.out.clear();
    // Holes in the peer's stream, while our own window still allows sending.
    for n in 1..4 {
        data(&mut script, n * 3000, 1000);
    }
    script.out.clear();
    script.ack(1 + 4 * MSS);
    let sent = script.sent();
    assert!(sent.len() >= 4, "{sent:?}");
    for out in &sent {
        let blocks = out.options.sack.as_slice().len() as u32;
        assert!(blocks == 3 && out.len + 4 + 8 * blocks == MSS, "{out:?}");
    }
    script.pass(Duration::from_secs(3));
    let sent = script.sent();
    let retransmission = sent.iter().position(|out| out.len == MSS).expect("a timeout");
    assert!(sent[retransmission].options.sack.is_empty());
}

#[test]
fn a_heartbeat_acknowledges_what_has_come_since_the_last() {
    let mut cfg = delayed(200);
    cfg.ack.timer = AckTimer::Heartbeat;
    let mut script = Script::established(cfg);
    // The script begins on a tick.
    script.pass(Duration::from_millis(150));
    data(&mut script, 1, 100);
    script.pass(Duration::from_millis(49));
    assert!(script.sent().is_empty());
    script.pass(Duration::from_millis(1));
    assert_eq!(script.sent()[0].ack, Some(101));
}

#[test]
fn after_a_pause_the_first_segment_is_acknowledged_at_once_where_the_policy_says_so() {
    for (again, acks) in [(QuickAgain::Never, 0), (QuickAgain::AfterIdle, 1)] {
        let mut cfg = delayed(200);
        cfg.ack.quick_segments = 1;
        cfg.ack.quick_again = again;
        let mut script = Script::established(cfg);
        for nth in 0..4 {
            data(&mut script, 1 + nth * MSS, MSS);
        }
        script.pass(Duration::from_secs(5));
        script.out.clear();
        data(&mut script, 1 + 4 * MSS, MSS);
        assert_eq!(script.sent().len(), acks, "{again:?}");
    }
}

/// A receiver whose delay adapts, past the segments it acknowledges one by one: the peer's next byte is number 301.
fn adaptive() -> Script {
    let mut cfg = quick();
    cfg.ack = AckConfig { timer: AckTimer::Adaptive, quick_segments: 2, ..AckConfig::default() };
    let mut script = Script::connecting(cfg);
    script.pass(Duration::from_millis(500));
    script.finish_handshake(crate::testing::peer_options());
    for nth in 0..3 {
        script.pass(Duration::from_millis(300));
        data(&mut script, 1 + 100 * nth, 100);
        script.read(100).expect("readable");
    }
    script.pass(Duration::from_millis(300));
    script.out.clear();
    script
}

#[test]
fn with_an_adaptive_delay_a_small_segment_is_acknowledged_when_it_is_read() {
    let mut script = adaptive();
    data(&mut script, 301, 100);
    assert!(script.sent().is_empty());
    script.read(100).expect("readable");
    assert_eq!(script.sent().iter().map(|out| out.ack).collect::<Vec<_>>(), [Some(401)]);
}

#[test]
fn with_an_adaptive_delay_two_full_segments_are_acknowledged_when_that_offers_the_window_again() {
    let mut script = adaptive();
    data(&mut script, 301, MSS);
    data(&mut script, 301 + MSS, MSS);
    assert!(script.sent().is_empty(), "what is not read narrows the window");
    script.read(u64::from(2 * MSS)).expect("readable");
    assert_eq!(script.sent().iter().map(|out| out.ack).collect::<Vec<_>>(), [Some(301 + 2 * MSS)]);
}

#[test]
fn with_an_adaptive_delay_a_reply_carries_the_ack_and_the_next_waits_for_one() {
    let mut script = adaptive();
    data(&mut script, 301, 100);
    script.write(10);
    script.read(100).expect("readable");
    assert_eq!(script.sent().iter().map(|out| (out.len, out.ack)).collect::<Vec<_>>(), [(10, Some(401))]);
    let repr = script.segment(Flags::NONE, 401, Some(11));
    script.deliver(repr, 100);
    script.read(100).expect("readable");
    assert!(script.sent().is_empty(), "reading it does not send the ACK any more");
    script.pass(Duration::from_millis(40));
    assert_eq!(script.sent().len(), 1);
}

#[test]
fn with_an_adaptive_delay_the_ack_of_a_fin_waits_for_ours() {
    let mut script = adaptive();
    let fin = script.segment(Flags::FIN, 301, Some(1));
    script.deliver(fin, 0);
    assert!(script.sent().is_empty());
    script.shutdown();
    assert_eq!(script.sent().iter().map(|out| (out.flags, out.ack)).collect::<Vec<_>>(), [(Flags::FIN, Some(302))]);
}

#[test]
fn with_an_adaptive_delay_a_fin_after_a_repetition_reports_no_duplicate() {
    let mut script = adaptive();
    let fin = script.segment(Flags::FIN, 201, Some(1));
    script.deliver(fin, 100);
    script.pass(Duration::from_millis(40));
    let sent = script.sent();
    assert_eq!(sent.iter().map(|out| (out.ack, out.options.sack.is_empty())).collect::<Vec<_>>(), [(Some(302), true)]);
}

#[test]
fn the_application_may_ask_for_the_ack_that_waits() {
    let mut script = adaptive();
    data(&mut script, 301, MSS);
    script.read(u64::from(MSS)).expect("readable");
    assert!(script.sent().is_empty(), "another full segment may follow");
    script.stack.set_ack_pace(&mut StackCx::new(script.now, &mut Off), script.conn, AckPace::Quick);
    script.pass(Duration::ZERO);
    assert_eq!(script.sent().len(), 1);
}
