//! Short packet sequences, and the resulting counts.

use crate::capture::flow::{Flow, Interface};
use crate::capture::reordering::Extent;
use crate::capture::stream::Counts;
use crate::capture::testing::{FULL, MS, from, opened};
use test_case::test_case;

/// Ten full segments from the client, sent at 200 ms, one a microsecond.
fn ten() -> Flow {
    let mut flow = opened([Some(7), Some(7)]);
    for nth in 0..10 {
        flow.on_segment(200 * MS + u64::from(nth) * 1_000, &from(0).full(nth));
    }
    flow
}

fn counts(flow: &Flow) -> Counts {
    flow.streams[0].counts
}

#[test]
fn a_clean_transfer_has_a_round_trip_and_nothing_else() {
    let mut flow = ten();
    flow.on_segment(300 * MS, &from(1).got(10));
    let counts = counts(&flow);
    assert_eq!((counts.data_packets, counts.payload, counts.retransmissions, counts.dup_acks), (10, 10_000, 0, 0));
    assert_eq!(flow.streams[0].delivered(), 10_000);
    assert_eq!(flow.streams[0].rtt.min(), Some(100 * MS - 9_000));
    assert_eq!(flow.half(0), Some(0), "the capture is made at the client");
}

#[test]
fn a_hole_that_the_receiver_reports_is_repaired_fast() {
    let mut flow = ten();
    for upto in 2..=4 {
        flow.on_segment(300 * MS + u64::from(upto), &from(1).got(0).sack(&[(1, upto)]));
    }
    flow.on_segment(301 * MS, &from(0).full(0));
    flow.on_segment(401 * MS, &from(1).got(10));
    let counts = counts(&flow);
    assert_eq!((counts.retransmissions, counts.fast, counts.dup_acks), (1, 1, 3));
    assert_eq!((counts.retransmitted, counts.proved_spurious, counts.original_arrived), (1_000, 0, 0));
    assert_eq!(flow.streams[0].behind_capture(), Extent::default());
}

#[test]
fn a_segment_that_is_reported_late_was_overtaken_behind_the_capture() {
    let mut flow = ten();
    flow.on_segment(300 * MS, &from(1).got(0).sack(&[(1, 4)]));
    flow.on_segment(304 * MS, &from(1).got(4));
    assert_eq!(flow.streams[0].behind_capture(), Extent { packets: 1, overtaken_by: 3, late: 4 * MS });
    assert_eq!(counts(&flow).retransmissions, 0);
}

#[test]
fn a_retransmission_that_a_d_sack_answers_was_needless() {
    let mut flow = ten();
    flow.on_segment(300 * MS, &from(1).got(0).sack(&[(1, 4)]));
    flow.on_segment(300 * MS, &from(0).full(0));
    flow.on_segment(304 * MS, &from(1).got(4));
    flow.on_segment(400 * MS, &from(1).got(10).sack(&[(0, 1)]));
    let counts = counts(&flow);
    assert_eq!((counts.dsacks, counts.proved_spurious, counts.original_arrived), (1, 1, 1));
    assert_eq!(flow.streams[0].behind_capture(), Extent { packets: 1, overtaken_by: 3, late: 4 * MS });
}

#[test]
fn a_duplicate_inside_a_block_is_one_too() {
    let mut flow = ten();
    flow.on_segment(300 * MS, &from(1).got(0).sack(&[(3, 6)]));
    flow.on_segment(301 * MS, &from(1).got(0).sack(&[(4, 5), (3, 6)]));
    assert_eq!((counts(&flow).dsacks, counts(&flow).proved_spurious), (1, 0));
}

// Time of the retransmission after the last segment was sent at 200 ms, which segment, and whether it was the second.
#[test_case(500, 9, false => (1, 0, 0); "the last of ten is a probe")]
#[test_case(900, 0, false => (0, 1, 0); "the first of ten is a timeout")]
#[test_case(900, 9, true => (1, 1, 1); "a probe, and then the timeout")]
fn silence_tells_timers(at_ms: u64, nth: u32, twice: bool) -> (u64, u64, u64) {
    let mut flow = ten();
    flow.on_segment(at_ms * MS, &from(0).full(nth));
    if twice {
        flow.on_segment((at_ms + 1_000) * MS, &from(0).full(nth));
    }
    let counts = counts(&flow);
    (counts.tail_probes, counts.timeouts, counts.lost_retransmissions)
}

#[test]
fn what_follows_a_timeout_belongs_to_it() {
    let mut flow = ten();
    flow.on_segment(900 * MS, &from(0).full(0));
    flow.on_segment(1_000 * MS, &from(1).got(1));
    flow.on_segment(1_000 * MS, &from(0).full(1));
    flow.on_segment(1_000 * MS, &from(0).full(2));
    let counts = counts(&flow);
    assert_eq!((counts.timeouts, counts.after_timeouts, counts.retransmissions), (1, 2, 3));
}

#[test]
fn a_lost_retransmission_costs_the_time_until_the_next() {
    let mut flow = ten();
    flow.on_segment(300 * MS, &from(1).got(0).sack(&[(1, 10)]));
    flow.on_segment(300 * MS, &from(0).full(0));
    flow.on_segment(610 * MS, &from(0).full(0));
    assert_eq!(counts(&flow).lost_retransmissions, 1);
    assert_eq!(flow.streams[0].lost_retransmissions.total(), 310 * MS);
}

#[test]
fn lost_retransmissions_that_wait_together_cost_the_time_once() {
    let mut flow = ten();
    flow.on_segment(300 * MS, &from(1).got(0).sack(&[(5, 10)]));
    (0..5).for_each(|nth| flow.on_segment(300 * MS, &from(0).full(nth)));
    (0..5).for_each(|nth| flow.on_segment((610 + u64::from(nth)) * MS, &from(0).full(nth)));
    flow.on_segment(720 * MS, &from(1).got(10));
    assert_eq!(counts(&flow).lost_retransmissions, 5);
    assert_eq!(flow.streams[0].lost_retransmissions.total(), 314 * MS);
}

/// As it looks at the receiver: the acknowledgement follows at once, the sender's answer a round trip later.
fn at_receiver() -> Flow {
    let mut flow = Flow::new(1, Interface::default(), 0, &from(0).syn(None));
    flow.on_segment(0, &from(0).syn(None));
    flow.on_segment(0, &from(1).syn_ack(None));
    flow.on_segment(100 * MS, &from(0));
    flow
}

#[test_case(104, (1, 0); "late, it was overtaken before the capture")]
#[test_case(205, (0, 1); "a round trip later, it was sent again")]
fn a_hole_at_the_receiver_is_filled(at_ms: u64, expected: (u64, u64)) {
    let mut flow = at_receiver();
    for nth in [0, 2, 3, 4] {
        flow.on_segment(100 * MS, &from(0).full(nth));
        flow.on_segment(100 * MS, &from(1).got(1));
    }
    flow.on_segment(at_ms * MS, &from(0).full(1));
    let late = flow.streams[0].before_capture;
    assert_eq!((late.packets, counts(&flow).retransmissions), expected);
    if late.packets > 0 {
        assert_eq!((late.overtaken_by, late.late), (3, 4 * MS));
    } else {
        assert_eq!(counts(&flow).fast, 1, "the receiver had reported it");
    }
}

#[test]
fn sequence_numbers_wrap() {
    let mut flow = Flow::new(1, Interface::default(), 0, &from(0));
    let first = u32::MAX - 2_499;
    for nth in 0..5 {
        let seq = first.wrapping_add(nth * FULL);
        flow.on_segment(u64::from(nth) * MS, &from(0).seq(seq).len(FULL));
        flow.on_segment(u64::from(nth) * MS + 1_000, &from(1).ack(seq.wrapping_add(FULL)));
    }
    assert_eq!((flow.streams[0].delivered(), counts(&flow).retransmissions, counts(&flow).strange), (5_000, 0, 0));
}

#[test]
fn bytes_that_the_capture_missed_are_counted_not_guessed() {
    let mut flow = opened([None, None]);
    flow.on_segment(200 * MS, &from(0).full(0));
    flow.on_segment(200 * MS, &from(0).full(3));
    flow.on_segment(300 * MS, &from(1).got(6));
    let counts = counts(&flow);
    assert_eq!((counts.unseen, counts.retransmissions, counts.payload), (4_000, 0, 2_000));
    assert_eq!(flow.streams[0].delivered(), 6_000);
}

#[test]
fn keep_alives_are_no_retransmissions() {
    let mut flow = ten();
    flow.on_segment(300 * MS, &from(1).got(10));
    flow.on_segment(60_000 * MS, &from(0).seq(10 * FULL).len(1));
    flow.on_segment(120_000 * MS, &from(0).seq(10 * FULL));
    assert_eq!((counts(&flow).keep_alives, counts(&flow).retransmissions), (2, 0));
}

#[test]
fn what_is_sent_into_a_closed_window_is_a_probe() {
    let mut flow = ten();
    flow.on_segment(300 * MS, &from(1).got(9).window(0));
    flow.on_segment(700 * MS, &from(0).full(9));
    assert_eq!((counts(&flow).window_probes, counts(&flow).timeouts), (1, 0));
}

#[test]
fn numbers_of_no_window_change_nothing() {
    let mut flow = ten();
    flow.on_segment(300 * MS, &from(0).seq(0x7000_0000).len(FULL));
    flow.on_segment(300 * MS, &from(1).ack(0x7000_0000));
    flow.on_segment(301 * MS, &from(1).got(10));
    assert_eq!((counts(&flow).strange, flow.streams[0].delivered()), (2, 10_000));
}

/// A request and its answer, and two minutes later the next: the next answer echoes the client's bare ACK.
#[test]
fn an_echo_that_waited_for_the_application_is_not_a_round_trip() {
    let mut flow = opened([Some(7), Some(7)]);
    for (nth, at) in [200, 120_200, 240_200].into_iter().enumerate() {
        let (sent, ts) = (nth as u32, at as u32);
        let (ask, answer) = (from(0).len(10).seq(1 + 10 * sent), from(1).len(10).seq(1 + 10 * sent));
        flow.on_segment(at * MS, &ask.ack(1 + 10 * sent).stamped(ts, ts.saturating_sub(119_900)));
        flow.on_segment((at + 100) * MS, &answer.ack(11 + 10 * sent).stamped(ts + 50, ts));
        flow.on_segment((at + 100) * MS, &from(0).seq(11 + 10 * sent).ack(11 + 10 * sent).stamped(ts + 100, ts + 50));
    }
    let longest =
        |flow: &Flow| [0, 1].map(|side: usize| flow.streams[side].stamped.distribution().map(|all| all.max_ms));
    assert_eq!(longest(&flow), [Some(100.0), Some(0.0)]);
    // The client's ACK is echoed with something new only by the next answer, which is none of it.
    flow.on_segment(300_000 * MS, &from(1).seq(31).len(10).ack(31).stamped(300_000, 240_300));
    assert_eq!(longest(&flow), [Some(100.0), Some(0.0)]);
    assert_eq!(flow.half(0), Some(0));
}
