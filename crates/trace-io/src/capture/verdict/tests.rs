//! Short packet sequences, and the sentences about them.

use super::super::flow::{Flow, Interface};
use super::super::report::FlowReport;
use super::super::testing::{FULL, MS, from, opened};
use super::*;
use test_case::test_case;

fn report(mut flow: Flow) -> FlowReport {
    flow.finish();
    super::report(&flow)
}

/// Findings, and then notes.
fn verdict(flow: Flow) -> Vec<Finding> {
    let report = report(flow);
    [report.verdict, report.notes].concat()
}

fn says(flow: Flow) -> Vec<String> {
    verdict(flow).into_iter().map(|finding| finding.says).collect()
}

/// A full window of segments per 100 ms.
fn rounds(shifts: [Option<u8>; 2], field: u16, per_round: u32) -> Flow {
    let mut flow = opened(shifts);
    let mut sent = 0;
    for round in 1..=20 {
        let at = round * 100 * MS;
        flow.on_segment(at, &from(1).got(sent).window(field));
        for _ in 0..per_round {
            flow.on_segment(at, &from(0).full(sent));
            sent += 1;
        }
    }
    flow.on_segment(2_100 * MS, &from(1).got(sent).window(field));
    flow
}

#[test_case([None, None], "window scaling is off"; "neither has it")]
#[test_case([None, Some(7)], "window scaling is off, for the client does not offer it"; "the client has not")]
#[test_case([Some(7), None], "window scaling is off, for the server does not take it"; "the server has not")]
fn a_full_window_without_scaling_is_the_limit(shifts: [Option<u8>; 2], why: &str) {
    let flow = rounds(shifts, 65_535, 65);
    assert_eq!(says(flow)[0], format!("receiver window of 64 KB limits this path to 5.2 Mbit/s: {why}"));
}

#[test]
fn a_scaled_window_may_be_too_small_as_well() {
    let found = verdict(rounds([Some(1), Some(1)], 10_000, 20));
    assert_eq!(found[0].limit, "receive_window");
    assert!(
        found[0].says.starts_with("receiver window of 20 KB limits this path to 1.6 Mbit/s: it was full"),
        "{found:?}"
    );
    assert_eq!(found[0].evidence["window_bytes"], 20_000.0);
    assert!(found[0].cost_pct > 85.0);
}

#[test]
fn a_flat_flight_below_both_windows_is_the_senders_buffer() {
    let found = verdict(rounds([Some(7), Some(7)], 60_000, 40));
    assert_eq!(found[0].limit, "send_buffer", "{found:?}");
    assert!(
        found[0].says.starts_with("the sender's buffer of about 39 KB limits this path to 3.2 Mbit/s"),
        "{found:?}"
    );
}

#[test]
fn a_lost_retransmission_has_its_price() {
    let mut flow = rounds([Some(7), Some(7)], 60_000, 10);
    for nth in 200..210 {
        flow.on_segment(2_100 * MS, &from(0).full(nth));
    }
    flow.on_segment(2_200 * MS, &from(1).got(200).sack(&[(201, 210)]));
    flow.on_segment(2_200 * MS, &from(0).full(200));
    flow.on_segment(2_510 * MS, &from(0).full(200));
    flow.on_segment(2_610 * MS, &from(1).got(210));
    let found = says(flow);
    assert!(found.contains(&"a lost retransmission cost 310 ms".to_owned()), "{found:?}");
}

#[test]
fn needless_retransmissions_are_blamed_on_reordering_and_on_who_does_not_learn() {
    let mut flow = opened([Some(7), Some(7)]);
    for round in 0..43 {
        let (at, first) = ((200 + 200 * u64::from(round)) * MS, round * 10);
        for nth in first..first + 10 {
            flow.on_segment(at, &from(0).full(nth));
        }
        flow.on_segment(at + 100 * MS, &from(1).got(first).sack(&[(first + 1, first + 10)]));
        flow.on_segment(at + 100 * MS, &from(0).full(first));
        flow.on_segment(at + 104 * MS + 100_000, &from(1).got(first + 10));
        flow.on_segment(at + 199 * MS, &from(1).got(first + 10).sack(&[(first, first + 1)]));
    }
    let found = says(flow);
    let expected = "D-SACKs prove 43 of 43 retransmissions spurious: packets are reordered by up to 4.1 ms, \
                    the sender does not adapt";
    assert!(found.contains(&expected.to_owned()), "{found:?}");
}

#[test]
fn silence_of_the_application_is_distinguished_from_the_networks() {
    let mut flow = opened([Some(7), Some(7)]);
    for round in 0..4 {
        let at = (200 + 1_000 * u64::from(round)) * MS;
        flow.on_segment(at, &from(0).full(round));
        flow.on_segment(at + 100 * MS, &from(1).got(round + 1));
    }
    let found = verdict(flow);
    assert_eq!((found[0].limit, found[0].cost_ms), ("application", 3_100.0));
    assert_eq!(found[0].says, "the application had nothing to send 94 % of the time, 3100 ms altogether");
}

#[test]
fn a_closed_window_is_the_receivers_fault() {
    let mut flow = opened([Some(7), Some(7)]);
    flow.on_segment(200 * MS, &from(0).full(0));
    flow.on_segment(300 * MS, &from(1).got(1).window(0));
    flow.on_segment(900 * MS, &from(1).got(1).window(1_000));
    flow.on_segment(900 * MS, &from(0).full(1));
    flow.on_segment(1_000 * MS, &from(1).got(2).window(1_000));
    let found = says(flow);
    let expected = "receiver closed its window once for 600 ms altogether, 600 ms at the longest: \
                    its application reads too slowly";
    assert_eq!(found[0], expected);
}

#[test]
fn repeated_syns_and_missing_sack_are_reported() {
    let mut flow = Flow::new(1, Interface::default(), 0, &from(0).syn(None));
    let plain = |mut segment: crate::capture::headers::Segment| {
        segment.tcp.options.sack_permitted = false;
        segment
    };
    flow.on_segment(0, &plain(from(0).syn(None)));
    flow.on_segment(1_000 * MS, &plain(from(0).syn(None)));
    flow.on_segment(1_100 * MS, &plain(from(1).syn_ack(None)));
    flow.on_segment(1_100 * MS, &from(0).seq(1).len(FULL));
    flow.on_segment(2_500 * MS, &from(0).seq(1).len(FULL));
    flow.on_segment(2_600 * MS, &from(1).got(1));
    let found = says(flow);
    assert!(found.contains(&"the handshake took 1 SYN more and 1000 ms".to_owned()), "{found:?}");
    assert!(found.iter().any(|one| one.starts_with("1 timeout after")), "{found:?}");
    assert!(found.iter().any(|one| one.starts_with("selective acknowledgements are off")), "{found:?}");
}
