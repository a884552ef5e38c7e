//! CoDel against the published schedule, and its marks.

use super::*;
use crate::ip::Ecn;
use crate::testing::Traveller;
use test_case::test_case;

const MS: u64 = 1_000_000;

fn packet(index: u64, ecn: Ecn) -> Traveller {
    Traveller { index, len: 1_500, flow: 1, ecn }
}

/// Asks for a packet each millisecond while each has waited `waited`; returns the milliseconds with a drop, and those with a
/// mark.
fn decisions(spec: Codel, ecn: Ecn, until_ms: u64, waited: impl Fn(u64) -> u64) -> (Vec<u64>, Vec<u64>) {
    let (mut control, mut decided) = (Control::new(spec), Decided::new());
    let (mut drops, mut marks, mut index) = (Vec::new(), Vec::new(), 0);
    for ms in 0..=until_ms {
        let before = decided.marks;
        control.dequeue(Instant::from_nanos(ms * MS), &mut decided, || {
            index += 1;
            Some((Duration::from_millis(waited(ms)), packet(index, ecn), 100 * FULL_PACKET))
        });
        drops.extend(decided.dropped.drain(..).map(|_| ms));
        marks.extend((before < decided.marks).then_some(ms));
    }
    (drops, marks)
}

/// A packet each millisecond that has always waited 20 ms: the control law of RFC 8289 §3.3 with the defaults of §4.2 and §4.3.
const SCHEDULE: [u64; 14] = [101, 201, 272, 330, 380, 425, 465, 503, 539, 572, 604, 634, 663, 690];

#[test_case(Signal::Drop, Ecn::NotEct, true)]
#[test_case(Signal::Drop, Ecn::Ect0, true; "capable, but not asked")]
#[test_case(Signal::Mark, Ecn::NotEct, true; "asked, but not capable")]
#[test_case(Signal::Mark, Ecn::Ect0, false)]
#[test_case(Signal::Mark, Ecn::Ect1, false)]
fn signals_come_at_the_times_of_the_control_law(signal: Signal, ecn: Ecn, drops: bool) {
    let spec = Codel { signal, ..Codel::default() };
    let (dropped, marked) = decisions(spec, ecn, 700, |_| 20);
    let (signals, other) = if drops { (dropped, marked) } else { (marked, dropped) };
    assert_eq!(signals, SCHEDULE);
    assert_eq!(other, [0; 0]);
}

/// RFC 8289 §5.5: soon after, the rate of signals continues; 16 intervals later it starts anew.
#[test_case(10, &[101, 201, 272, 330, 380, 425, 465, 577, 618, 656]; "soon after")]
#[test_case(1_700, &[101, 201, 272, 330, 380, 425, 465, 2_267, 2_367]; "much later")]
fn a_queue_that_stands_again_soon_meets_the_rate_it_had(pause_ms: u64, expected: &[u64]) {
    // The queue is short from 466 ms on, for a time.
    let waited = |ms| if (466..466 + pause_ms).contains(&ms) { 1 } else { 20 };
    let (dropped, _) = decisions(Codel::default(), Ecn::NotEct, expected[expected.len() - 1], waited);
    assert_eq!(dropped, expected);
}

#[test]
fn a_delay_at_the_target_or_a_queue_of_one_packet_is_left_alone() {
    for (waited, left) in [(4_999, u64::MAX), (50_000, FULL_PACKET)] {
        let (mut control, mut decided) = (Control::new(Codel::default()), Decided::new());
        for ms in 0..1_000 {
            let head = || Some((Duration::from_micros(waited), packet(ms, Ecn::NotEct), left));
            assert!(control.dequeue(Instant::from_nanos(ms * MS), &mut decided, head).is_some());
        }
        assert!(decided.dropped.is_empty());
    }
}

#[test]
fn an_emptied_queue_ends_the_dropping_state() {
    let (mut control, mut decided) = (Control::new(Codel::default()), Decided::new());
    let late = |index| Some((Duration::from_millis(20), packet(index, Ecn::NotEct), 10 * FULL_PACKET));
    for ms in 0..=101 {
        control.dequeue(Instant::from_nanos(ms * MS), &mut decided, || late(ms));
    }
    assert!(control.dropping);
    assert_eq!(control.dequeue(Instant::from_nanos(102 * MS), &mut decided, || None::<(_, Traveller, _)>), None);
    assert!(!control.dropping && control.first_above.is_none());
}
