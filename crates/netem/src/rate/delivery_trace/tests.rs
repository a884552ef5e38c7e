//! Traces against mahimahi's own behaviour, worked out by hand, and against a walk through every line.

use super::*;
use crate::hop::{DropCause, Hop};
use crate::path::Path;
use crate::queue::droptail::Buffer;
use crate::queue::{Codel, QueueSpec};
use crate::rate::Bottleneck;
use crate::rate::managed::ManagedBottleneck;
use crate::testing::{Outcome, Parcel, drive, ns, path_of};
use base::Rng;
use proptest::prelude::*;
use test_case::test_case;

const MS: u64 = NANOS_PER_MS;

fn trace(times: &[u32]) -> Arc<DeliveryTrace> {
    let text: String = times.iter().map(|time| format!("{time}\n")).collect();
    Arc::new(DeliveryTrace::parse(&text).expect("a valid trace"))
}

fn link(times: &[u32]) -> TraceLink {
    TraceLink::new(trace(times))
}

fn plain(times: &[u32]) -> Path<Parcel> {
    path_of(Bottleneck::of(link(times), Buffer::Unlimited))
}

/// Behind a queue whose manager never has a reason to act.
fn managed(times: &[u32]) -> Path<Parcel> {
    let spec = QueueSpec::Codel(Codel { target: ns(u64::MAX), ..Codel::default() });
    path_of(ManagedBottleneck::new(link(times), &spec, Buffer::Unlimited, &Rng::new(1)).expect("it is managed"))
}

/// Arrivals of packets in milliseconds.
fn arrivals(path: &mut Path<Parcel>, offers: &[(u64, u32)]) -> Vec<u64> {
    let offers: Vec<_> = offers.iter().map(|(ms, len)| (ms * MS, *len)).collect();
    let Outcome { arrivals, drops } = drive(path, &offers);
    assert_eq!(drops, [] as [(u64, DropCause); 0]);
    arrivals
        .into_iter()
        .map(|(ns, _)| ns.checked_div(MS).filter(|ms| ms * MS == ns).expect("whole milliseconds"))
        .collect()
}

/// What mahimahi's link does with these packets (its trace format and its `LinkQueue`).
#[test_case(&[1, 1, 3, 6], &[(0, 1_500), (0, 1_500), (0, 1_500), (0, 1_500), (2, 700), (2, 700), (2, 700)], &[1, 1, 3, 6, 7, 7, 7]; "two at seven")]
#[test_case(&[1], &[(0, 1_500); 5], &[1, 2, 3, 4, 5]; "12 Mbit/s")]
#[test_case(&[5], &[(0, 700), (0, 700), (5, 90), (5, 90)], &[5, 5, 5, 10]; "the rest of an opportunity, and beyond it")]
#[test_case(&[2, 4], &[(0, 700), (3, 700), (3, 700)], &[2, 4, 4]; "a rest without a packet is lost")]
#[test_case(&[0, 10], &[(0, 1_500), (0, 1_500), (0, 1_500), (0, 1_500)], &[0, 10, 10, 20]; "at zero, too")]
#[test_case(&[3], &[(0, 4_000)], &[9]; "a packet larger than an opportunity")]
fn packets_leave_as_from_mahimahi(times: &[u32], offers: &[(u64, u32)], expected: &[u64]) {
    assert_eq!(arrivals(&mut plain(times), offers), expected);
    assert_eq!(arrivals(&mut managed(times), offers), expected);
}

#[test_case(&[1, 1, 3, 6], 8_000_000)]
#[test_case(&[1], 12_000_000)]
#[test_case(&[4_000_000_000], 1; "a bit a second at least")]
fn the_mean_rate_is_lines_by_time(times: &[u32], bits_per_sec: u64) {
    assert_eq!(trace(times).mean_rate().bits_per_sec(), bits_per_sec);
}

#[test_case("", 1, "the file has no line"; "an empty file")]
#[test_case("1\n\n2\n", 2, "the line is empty"; "a blank line")]
#[test_case("1\n2\n\n", 3, "the line is empty"; "a blank line at the end")]
#[test_case("1\n-2\n", 2, "`-2` is not a whole number"; "a minus sign")]
#[test_case("+1\n", 1, "`+1` is not a whole number"; "a plus sign")]
#[test_case("1\n2\n2.5\n", 3, "`2.5` is not a whole number"; "a fraction")]
#[test_case("# ms\n1\n", 1, "`# ms` is not a whole number"; "a comment")]
#[test_case("1\n4294967296\n", 2, "`4294967296` is not a whole number of milliseconds below 2^32"; "too large")]
#[test_case("5\n4\n", 2, "4 comes after 5"; "a decrease")]
#[test_case("0\n0\n", 2, "the last time is 0"; "no time passes")]
fn a_wrong_trace_is_refused_by_line(text: &str, line: usize, problem: &str) {
    let found = DeliveryTrace::parse(text).unwrap_err();
    assert_eq!(found.line, line);
    assert!(found.to_string().starts_with(&format!("line {line}: {problem}")), "{found}");
}

#[test]
fn a_silent_day_is_one_step_and_a_line_costs_four_bytes() {
    let day_ms = 86_400_000;
    let mut link = link(&[1, day_ms]);
    let late = Instant::from_nanos(1_000 * u64::from(day_ms) * MS + 2 * MS);
    assert_eq!(link.exit(late, 1_500), Instant::from_nanos(1_001 * u64::from(day_ms) * MS));
    assert_eq!(core::mem::size_of_val(link.trace.times_ms()), 8);
}

#[test]
fn a_new_link_begins_behind_what_waits_in_the_old_one() {
    for make in [plain, managed] {
        let (mut old, mut new) = (make(&[10]), make(&[3]));
        for index in 0..3 {
            old.offer(Instant::ZERO, Parcel { index, len: 1_500 }, &mut |_, _, _| {});
        }
        new.take_over(&mut old);
        assert_eq!(arrivals(&mut new, &[(5, 1_500)]), [30], "the old packets leave at 10, 20 and 30 ms");
    }
}

#[test]
fn a_trace_can_begin_later_than_time_does() {
    for make in [plain, managed] {
        let mut path = make(&[1, 1, 3, 6]);
        path.begin(Instant::from_nanos(1_000 * MS));
        let offers: Vec<_> = [1_000, 1_000, 1_000, 1_000, 1_007].map(|ms| (ms, 1_500)).into();
        assert_eq!(arrivals(&mut path, &offers), [1_001, 1_001, 1_003, 1_006, 1_007]);
    }
}

#[test]
fn an_idle_link_hands_nothing_over() {
    let mut old = managed(&[1, 50]);
    assert_eq!(arrivals(&mut old, &[(0, 1_500)]), [1]);
    let mut new = plain(&[3]);
    new.take_over(&mut old);
    assert_eq!(arrivals(&mut new, &[(5, 1_500)]), [6], "the old link's next opportunity does not matter");
}

proptest! {
    /// Against mahimahi's loop, opportunity by opportunity.
    #[test]
    fn exits_are_those_of_a_walk_through_every_line(
        gaps in proptest::collection::vec(0u32..6, 1..20),
        packets in proptest::collection::vec((0u64..9, 1u32..3_000), 1..60),
    ) {
        let mut times: Vec<u32> = gaps.iter().scan(0, |ms, gap| { *ms += gap; Some(*ms) }).collect();
        times.push(times[times.len() - 1] + 1);
        let offers: Vec<_> = packets.iter().scan(0, |ms, (gap, len)| { *ms += gap; Some((*ms, *len)) }).collect();
        let period = u64::from(times[times.len() - 1]);
        let mut opportunities = (0..).flat_map(|n| times.iter().map(move |time| n * period + u64::from(*time)));
        let (mut expected, mut next, mut in_transit) = (Vec::new(), 0, 0);
        while expected.len() < offers.len() {
            let (now, mut budget) = (opportunities.next().expect("the trace begins anew after its end"), BUDGET);
            while budget > 0 && next < offers.len() && offers[next].0 <= now {
                if in_transit == 0 {
                    in_transit = offers[next].1 + PER_PACKET;
                }
                let sent = in_transit.min(budget);
                (in_transit, budget) = (in_transit - sent, budget - sent);
                if in_transit == 0 {
                    expected.push(now);
                    next += 1;
                }
            }
        }
        prop_assert_eq!(&arrivals(&mut plain(&times), &offers), &expected);
        prop_assert_eq!(&arrivals(&mut managed(&times), &offers), &expected);
    }
}

#[test]
fn a_full_buffer_drops_while_the_link_is_silent() {
    let mut path = path_of(Bottleneck::of(link(&[1, 100]), Buffer::Packets(3)));
    let Outcome { arrivals, drops } = drive(&mut path, &[(2 * MS, 1_500); 5]);
    assert_eq!(arrivals, [(100 * MS, 0), (101 * MS, 1), (200 * MS, 2)]);
    assert_eq!(drops, [(3, DropCause::Tail), (4, DropCause::Tail)]);
    let hop = Bottleneck::of(link(&[1]), Buffer::Unlimited);
    assert_eq!(Hop::<Parcel>::backlog(&hop, Instant::ZERO), 0);
}

/// A packet a millisecond, nothing from 3.5 until 6 ms, then three.
#[test]
fn a_course_becomes_its_opportunities() {
    let stretch = |us: u64, packets: u64| {
        let rate = base::Rate::from_bits_per_sec(packets * 12_000_000);
        crate::stretch::Stretch { from: base::Duration::from_micros(us), rate, delay: None }
    };
    let course = Course::given(vec![stretch(0, 1), stretch(3_500, 0), stretch(6_000, 3)]).unwrap();
    let times = |ms: u64| DeliveryTrace::of_course(&course, Duration::from_millis(ms)).map(|trace| trace.times);
    assert_eq!(times(7), Some(vec![1, 2, 3, 7, 7, 7]), "the fourth began before the gap and ends 167 us behind it");
    assert_eq!(times(8), Some(vec![1, 2, 3, 7, 7, 7, 8, 8, 8]));
    assert_eq!(times(0), None);
}
