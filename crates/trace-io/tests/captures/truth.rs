//! The ends' counters, and what the captures at either of them show.

use super::*;
use test_case::test_case;
use trace::BlockClass;

/// The analysis of a sender's behaviour.
#[derive(Debug, PartialEq)]
struct Deeds {
    payload: u64,
    retransmissions: u64,
    retransmitted: u64,
    timeouts: u64,
    dsacks: u64,
    lost_retransmissions: u64,
}

impl Deeds {
    fn found(found: &DirectionReport) -> Self {
        Self {
            payload: found.payload_bytes,
            retransmissions: found.retransmissions,
            retransmitted: found.retransmitted_bytes,
            timeouts: found.timeouts,
            dsacks: found.dsacks,
            lost_retransmissions: found.lost_retransmissions,
        }
    }
    fn truth(outcome: &Outcome) -> Self {
        let counters = &outcome.ends[0].counters;
        Self {
            payload: counters.bytes_sent,
            retransmissions: counters.segments_retransmitted.into(),
            retransmitted: counters.bytes_retransmitted,
            timeouts: counters.timeouts.into(),
            // Not every sender recognises them.
            dsacks: outcome.ends[1].counters.dsacks_sent.into(),
            lost_retransmissions: counters.lost_retransmissions.into(),
        }
    }
}

#[test_case(&lossy("longhaul", 1); "losses of longhaul")]
#[test_case(&lossy("linux", 2); "losses of linux")]
#[test_case(&lossy("server-2022", 2); "losses of server-2022")]
#[test_case(&jittery("linux"); "losses and jitter")]
#[test_case(&lost_again("linux"); "a lost retransmission")]
#[test_case(&tail("linux", 1, 1); "the last segment")]
#[test_case(&tail("linux", 3, 1); "the last three segments")]
#[test_case(&tail("linux", 1, 3); "the last segment and its probes")]
#[test_case(&reordering("windows-11-21h2", ms(15)); "reordering that the sender does not learn from")]
#[test_case(&reordering("linux", ms(15)); "reordering that is learnt from")]
#[test_case(&narrow("linux"); "a narrow window")]
#[test_case(&slow_reader("linux"); "a slow reader")]
fn a_capture_at_the_sender_shows_what_it_did(story: &Story) {
    let outcome = run(story);
    let found = data(&outcome.captures[0]);
    assert_eq!(Deeds::found(&found), Deeds::truth(&outcome), "{found:#?}");
}

/// A retransmission that is not lost again arrives, and a packet delayed by the network is not counted as one.
#[test_case(&lossy("longhaul", 1); "losses of longhaul")]
#[test_case(&lossy("linux", 2); "losses of linux")]
#[test_case(&lost_again("linux"); "a lost retransmission")]
#[test_case(&reordering("windows-11-21h2", ms(15)); "reordering that the sender does not learn from")]
#[test_case(&reordering("linux", ms(15)); "reordering that is learnt from")]
#[test_case(&slow_reader("linux"); "a slow reader")]
fn a_capture_at_the_receiver_shows_what_arrived(story: &Story) {
    let outcome = run(story);
    let found = data(&outcome.captures[1]);
    let counters = &outcome.ends[0].counters;
    let arrived = counters.segments_retransmitted - counters.lost_retransmissions;
    assert_eq!(found.retransmissions, u64::from(arrived), "{found:#?}");
    assert_eq!(found.dsacks, u64::from(outcome.ends[1].counters.dsacks_sent));
    assert_eq!(found.reordering_before.packets > 0, story.forward.reorder != ReorderSpec::None);
}

/// The last segment shows no sign of having been sent before; for earlier ones, the hole does.
#[test]
fn a_probe_whose_original_was_lost_before_the_capture_looks_like_new() {
    let outcome = run(&tail("linux", 3, 1));
    assert_eq!(outcome.ends[0].counters.segments_retransmitted, 3);
    assert_eq!(data(&outcome.captures[1]).retransmissions, 2);
}

#[test]
fn both_ends_are_known_by_their_distance() {
    let outcome = run(&lossy("linux", 1));
    let [sender, receiver] = [0, 1].map(|end: usize| flow(&outcome.captures[end]));
    assert_eq!((sender.vantage, receiver.vantage), ("sender", "receiver"));
    for found in [sender, receiver] {
        // 40 ms of delay, and 1500 bytes at 20 Mbit/s.
        let min = found.rtt.unwrap().min_ms;
        assert!((40.0..41.0).contains(&min), "{min} ms");
    }
}

#[test_case("linux", 1 => (0, 1); "seen where it happens: at the receiver")]
#[test_case("linux", 0 => (1, 0); "reported to the sender")]
fn reordering_has_its_extent(profile: &str, end: usize) -> (u32, u32) {
    let outcome = run(&reordering(profile, ms(5)));
    let found = data(&outcome.captures[end]);
    let (before, behind) = (&found.reordering_before, &found.reordering_behind);
    let extent = if end == 1 { before } else { behind };
    // A packet delayed by 5 ms is behind its successors by nearly that.
    assert!((4.0..=5.0).contains(&extent.extent_ms), "{found:#?}");
    assert!((10..=21).contains(&extent.extent_packets), "5 ms at 50 Mbit/s are 20 packets: {found:#?}");
    let some = |count: u64| u32::from(count > 0);
    (some(behind.packets), some(before.packets))
}

#[test]
fn probes_and_timeouts_are_distinguished() {
    let outcome = run(&tail("linux", 1, 3));
    let found = data(&outcome.captures[0]);
    let counters = &outcome.ends[0].counters;
    assert_eq!(found.tail_probes, u64::from(counters.probes), "{found:#?}");
    assert!(counters.probes > 0 && counters.timeouts > 0 && found.timeouts == u64::from(counters.timeouts));
    assert!(found.time.waiting_for_timers_ms > 100.0);
}

#[test]
fn a_narrow_window_is_blamed_at_either_end() {
    let outcome = run(&narrow("linux"));
    for capture in &outcome.captures {
        let found = flow(capture);
        let first = &found.verdict[0];
        assert_eq!(first.limit, "receive_window", "{found:#?}");
        assert!(first.says.ends_with("window scaling is off"), "{}", first.says);
        assert!(first.says.starts_with("receiver window of 62 KB limits this path to 5.1 Mbit/s"), "{}", first.says);
        assert!(first.cost_pct > 60.0, "slow start takes the rest: {first:?}");
    }
}

#[test]
fn a_slow_reader_is_blamed_at_either_end() {
    let outcome = run(&slow_reader("linux"));
    for capture in &outcome.captures {
        let found = flow(capture);
        assert_eq!(found.verdict[0].limit, "slow_reader", "{:#?}", found.verdict);
        assert!(found.directions[0].window.zero_windows >= 10);
    }
}

#[test]
fn a_sender_that_does_not_learn_is_named() {
    let mut story = reordering("windows-11-21h2", ms(25));
    story.bytes = 4_000_000;
    let outcome = run(&story);
    let found = flow(&outcome.captures[0]);
    let proved = found.directions[0].spurious_by_dsack;
    assert_eq!(proved, u64::from(outcome.ends[1].counters.dsacks_sent));
    let finding = found.verdict.iter().find(|finding| finding.limit == "spurious_retransmissions").unwrap();
    let beginning =
        format!("D-SACKs prove {proved} of {} retransmissions spurious: packets are reordered by up to ", proved);
    assert!(finding.says.starts_with(&beginning), "{}", finding.says);
    assert!(finding.says.ends_with("the sender does not adapt"), "{}", finding.says);
}

#[test]
fn a_flow_becomes_a_trace_that_counts_the_same() {
    let outcome = run(&reordering("windows-11-21h2", ms(15)));
    let trace = records(&outcome.captures[0][..], &Only::default(), 1).unwrap().unwrap();
    assert_eq!(trace.meta.ends[0].name, flow(&outcome.captures[0]).client);
    let of_sender = |is: fn(&Event) -> bool| {
        let sender = trace.records.iter().filter(|record| record.conn == ConnId(0) && is(&record.event));
        sender.count() as u64
    };
    let counters = &outcome.ends[0].counters;
    let again = of_sender(|event| matches!(event, Event::SegmentSent { retransmit: 1.., .. }));
    assert_eq!(again, u64::from(counters.segments_retransmitted));
    let dsacks = of_sender(|event| matches!(event, Event::BlockReceived { class: BlockClass::Dsack, .. }));
    assert_eq!(dsacks, u64::from(outcome.ends[1].counters.dsacks_sent));
    let sent = of_sender(|event| matches!(event, Event::SegmentSent { .. }));
    assert_eq!(sent, counters.segments_sent);
    assert!(trace.records.is_sorted_by_key(|record| record.at));
    assert!(of_sender(|event| matches!(event, Event::RttUpdated { .. })) > 0);
    assert!(records(&outcome.captures[0][..], &Only::default(), 2).unwrap().is_none());
}
